/**
 * An account's catalog as a role sees it (D62 to D64): fields that the role hides are hidden, those that it
 * locks are read-only, and each resource says which of its records the role sees. Everything that reads,
 * parses, lists or describes records uses this catalog; they are stored by `whole`. Pure.
 */
import { byName, type Catalog, type ResourceSchema, type Role } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import type { Resource } from '../fields/resource.ts'
import { memoize } from '../waiting/memoize.ts'
import type { Rights } from './rights.ts'

/**
 * The catalog as a caller sees it: by their role, and by whether their token lets them administer. Memoized
 * for each of these.
 */
export function catalogAs(catalog: Catalog, { role, isAdmin }: Rights): Catalog {
  // A view of a view is one of the whole, and is made once for each role.
  const { whole = catalog } = catalog
  const known = catalogs(whole)[isAdmin ? 'ofAdministrators' : 'ofOthers']
  let asRole = known.get(role)
  if (!asRole) {
    asRole = { ...whole, resources: resourcesAs(whole, role, isAdmin), whole }
    known.set(role, asRole)
  }
  return asRole
}

const catalogs = memoize((_catalog: Catalog) => ({
  ofAdministrators: new Map<Role, Catalog>(),
  ofOthers: new Map<Role, Catalog>(),
}))

function resourcesAs({ resources }: Catalog, role: Role, isAdmin: boolean): Catalog['resources'] {
  return new Map([...resources].map(([name, schema]) => [name, schemaAs(schema, role, isAdmin)]))
}

function schemaAs(schema: ResourceSchema, role: Role, isAdmin: boolean): ResourceSchema {
  const { resource, whole } = schema
  const { visibility, mayChange } = limitsOf(resource, role, isAdmin)
  const hidden = hiddenOf(schema, role)
  const locked = new Set(role.locked_fields)
  const isLocked = (field: Field) => locked.has(`${resource.name}.${field.internal_name}`)
  if (hidden.size === 0 && !whole.fields.some(isLocked))
    return visibility === 'all' && mayChange === 'all' ? whole : { ...whole, visibility, mayChange }
  const fields = whole.fields.map(field => {
    if (hidden.has(field.internal_name)) return { ...field, is_hidden: true }
    return { ...field, in_base: seenBase(field, hidden), is_read_only: field.is_read_only || isLocked(field) }
  })
  return { resource, fields, byName: byName(fields), visibility, mayChange, whole }
}

/** The records of a resource that the role sees and may change. */
function limitsOf(
  { name, ownership }: Resource,
  role: Role,
  isAdmin: boolean,
): Pick<ResourceSchema, 'visibility' | 'mayChange'> {
  if (ownership?.sharedBy) return { visibility: 'own', mayChange: isAdmin ? 'all' : 'own' }
  if (ownership?.isPrivate && !isAdmin) return { visibility: 'own', mayChange: 'own' }
  const visibility = role.visibility[name] ?? 'all'
  return { visibility, mayChange: role.may_change[name] ?? visibility }
}

/**
 * The field of an amount in the base currency, if the role sees it. Else amounts compare by current rates: a
 * comparison by the stored amount would reveal it.
 */
function seenBase({ in_base }: Field, hidden: ReadonlySet<string>): string | null {
  return in_base !== null && hidden.has(in_base) ? null : in_base
}

/**
 * Names of the fields that the role hides, of those that derive from them, and of those that show one of
 * several records, if the role sees only some of these.
 */
function hiddenOf({ resource, whole }: ResourceSchema, role: Role): ReadonlySet<string> {
  const names = role.hidden_fields.filter(name => name.startsWith(`${resource.name}.`))
  const elsewhere = new Set(role.hidden_fields)
  const hidden = new Set(names.map(name => name.slice(resource.name.length + 1)))
  for (const { maintained_by, shows_one, internal_name } of whole.fields)
    if (maintained_by && shows_one && (role.visibility[maintained_by] ?? 'all') !== 'all')
      hidden.add(internal_name)
  for (let size = -1; hidden.size > size; ) {
    size = hidden.size
    for (const field of whole.fields) {
      if (field.derives_from.some(name => hidden.has(name) || elsewhere.has(name)))
        hidden.add(field.internal_name)
    }
  }
  return hidden
}
