/**
 * The role: what its users may do (D62), which records they see and change (D63), and which fields are hidden
 * from them or locked (D64). Every account has four built-in roles, which may be renamed. Fields as data;
 * pure.
 */
import { type Catalog, type ResourceSchema, type Visibility, visibilities } from '../fields/catalog.ts'
import { authorFields, defineFields, field, idField, nameField, recordFields } from '../fields/define.ts'
import type { Values } from '../fields/field.ts'
import { textsOf } from '../fields/kinds/string-list.ts'
import { suggestion } from '../fields/nearest.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { isObject, type Json, pointerStep } from '../json.ts'
import { mustBeGiven } from '../records/fill.ts'
import { forbiddenRoleChange } from '../rights/grants.ts'
import { adminScope, checkScopes } from '../rights/scopes.ts'
import { isByRole, isWider } from '../rights/visibility.ts'
import { withoutRole } from './user-access.ts'

const lists = { max_limit: 500 }

export const role: Resource = {
  name: 'role',
  source: { id: 11, name: 'Role' },
  shownAs: ['name'],
  unique: { role_name: 'name' },
  options: ({ roles }) =>
    roles.map(({ id, name }, index) => ({
      id,
      name,
      position: index + 1,
      is_active: true,
      is_default: false,
    })),
  isConfiguration: true,
  whyForbidden: forbiddenRoleChange,
  whyUndeletable: ({ built_in }) =>
    built_in === null ? null : 'This role comes with the account; it can be renamed.',
  invariant: (before, after) =>
    before && isAdministrative(before) && !isAdministrative(after) ? withoutRole(before.id as number) : null,
  fields: defineFields('role', {
    'Basic information': [
      idField(521),
      nameField(522, { is_unique: true }),
      field(523, 'built_in', 'Comes with the account', 'SINGLE_STRING', { is_read_only: true }),
      field(524, 'scopes', 'Scopes', 'STRING_LIST', { config: lists }),
      field(525, 'visibility', 'Sees', 'JSON'),
      field(526, 'may_change', 'May change', 'JSON'),
      field(527, 'hidden_fields', 'Hidden fields', 'STRING_LIST', { config: lists }),
      field(528, 'locked_fields', 'Locked fields', 'STRING_LIST', { config: lists }),
    ],
    Record: [...authorFields(529), ...recordFields(533)],
  }),
  quota: { count: 100, what: 'roles of an account' },
  applyRules: draft => {
    const { before, after, problem } = draft
    checkScopes(textsOf(after.scopes), draft)
    checkVisibility(draft)
    checkFields(draft, 'hidden_fields')
    checkFields(draft, 'locked_fields')
    if (before?.built_in === 'administrator' && !isAdministrative(after))
      problem('scopes', 'immutable', 'must contain admin in the role that comes with the account', {
        hint: 'Make a role of your own, and give it to the user.',
      })
    if (isAdministrative(after) && isNarrowed(after))
      problem('scopes', 'contradiction', 'contains admin, which sees and changes everything', {
        hint: 'Leave out visibility, may_change, hidden_fields and locked_fields, or the scope admin.',
      })
  },
}

/** Resources that are left out have `all`. Nobody changes records that they don't see. */
function checkVisibility({ after, catalog, problem }: Draft): void {
  const limited = [...catalog.resources.values()].flatMap(({ resource }) =>
    isByRole(resource.ownership) ? [resource.name] : [],
  )
  for (const member of ['visibility', 'may_change'] as const) {
    for (const [name, value] of Object.entries(membersOf(after[member]))) {
      const at = `/${pointerStep(name)}`
      if (!limited.includes(name))
        problem(member, 'unknown_resource', 'is not a known member', {
          at,
          hint: `It has: ${limited.join(', ')}.`,
        })
      else if (!visibilities.includes(value as Visibility))
        problem(member, 'invalid_value', `must be one of ${visibilities.join(', ')}`, { at })
    }
  }
  const [seen, changed] = [membersOf(after.visibility), membersOf(after.may_change)]
  for (const name of limited) {
    const [sees = 'all', changes] = [seen[name], changed[name]] as (Visibility | undefined)[]
    if (changes && isWider(changes, sees))
      problem('may_change', 'wider_than_visibility', 'is wider than what the role sees', {
        at: `/${name}`,
        because: 'visibility',
        hint: `The role sees ${sees}.`,
      })
  }
}

/** Refuses to hide or lock fields without which records could not be identified, shown or created. */
function checkFields(
  { before, after, catalog, problem }: Draft,
  member: 'hidden_fields' | 'locked_fields',
): void {
  const verb = member === 'hidden_fields' ? 'hidden' : 'locked'
  const kept = new Set(textsOf(before?.[member]))
  for (const [index, text] of textsOf(after[member]).entries()) {
    const dot = text.indexOf('.')
    const [resource, name] = [text.slice(0, dot), text.slice(dot + 1)]
    const schema = catalog.resources.get(resource)
    // A caller who may not see a field can only make roles that may not either (D62).
    const field = schema?.whole.byName.get(name)
    const at = `/${index}`
    const isKept = kept.has(text)
    if (!schema || !field || field.is_hidden) {
      // The field may have been deleted since.
      if (isKept) continue
      problem(member, 'unknown_field', `is ${JSON.stringify(text)}, but there is no such field`, {
        at,
        hint: () => suggestion(text, namesOf(catalog), 'For example "deal.deal_value".'),
      })
    } else if (verb === 'hidden' && !isKept && isNeeded(schema, name)) {
      problem(
        member,
        'not_hideable',
        `is ${text}, which can't be hidden: records are known and shown by it, or amounts made of it`,
        { at },
      )
    } else if (mustBeGiven(field) && textsOf(after.scopes).includes(`${resource}:write`)) {
      problem(
        member,
        'required_field',
        `is ${text}, which can't be ${verb}: whoever creates records must give it`,
        {
          at,
          because: 'scopes',
          hint: `Give the field a default value, or leave out the scope ${resource}:write.`,
        },
      )
    }
  }
}

function isNeeded({ resource, byName }: ResourceSchema, name: string): boolean {
  const { shownAs, shownElsewhere = [] } = resource
  return [...shownAs, ...shownElsewhere].includes(name) || byName.get(name)!.is_of_store
}

function isAdministrative({ scopes }: Values): boolean {
  return textsOf(scopes).includes(adminScope)
}

function isNarrowed({ visibility, may_change, hidden_fields, locked_fields }: Values): boolean {
  const limits = [...Object.values(membersOf(visibility)), ...Object.values(membersOf(may_change))]
  return (
    [...textsOf(hidden_fields), ...textsOf(locked_fields), ...limits.filter(is => is !== 'all')].length > 0
  )
}

function* namesOf({ resources }: Catalog): Generator<string> {
  for (const [resource, { fields }] of resources) {
    for (const field of fields) if (!field.is_hidden) yield `${resource}.${field.internal_name}`
  }
}

function membersOf(value: Json | undefined): { readonly [name: string]: Json } {
  return value !== undefined && isObject(value) ? value : {}
}
