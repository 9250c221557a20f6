/** Resolves a name that no field has: as people write it, and as other systems call it. Pure. */
import { memoize } from '../waiting/memoize.ts'
import { type Catalog, type ResourceSchema, shownField, shownFields } from './catalog.ts'
import type { Field } from './field.ts'
import { formOf } from './kinds/how-to-write.ts'
import { suggestion } from './nearest.ts'
import type { Draft } from './resource.ts'
import { bareName, ourNames } from './synonyms.ts'

/**
 * True if the caller sees a field of that name; else adds the problem. The name is at `at` in the value of
 * the draft's field `of`.
 */
export function isFieldOf(
  schema: ResourceSchema,
  name: string,
  { problem }: Draft,
  of: string,
  at: string,
): boolean {
  if (shownField(schema, name)) return true
  const hint = () => unknownFieldHint(name, schema)
  problem(of, 'unknown_field', `is "${name}", but there is no such field`, { at, hint })
  return false
}

/** The hint for an unknown field name: the field that is meant, or the one with the nearest name. */
export function unknownFieldHint(name: string, schema: ResourceSchema): string {
  const meant = meantField(name, schema)
  if (meant) return `Did you mean "${meant}"?`
  const names = shownFields(schema).map(field => field.internal_name)
  if (name.length <= longestName && customFields.test(bareName(name))) {
    const own = names.find(one => one.startsWith('cf_')) ?? 'cf_…'
    return `Custom fields stand beside the others, under their own names, such as "${own}".`
  }
  return suggestion(
    name,
    names,
    `The field list of ${schema.resource.name} names them: GET …/field/list?source=${schema.resource.name}.`,
  )
}

/** The field with this name in another spelling, with this label, or with this name in other systems. */
export function meantField(name: string, schema: ResourceSchema): string | undefined {
  if (name.length > longestName) return undefined
  const shown = shownFields(schema)
  return alike(name, shown) ?? ourNames(name).find(ours => shown.some(field => field.internal_name === ours))
}

/** The hint for a member of a body that is no field: its place here, or the field that is meant. */
export function unknownMemberHint(name: string, schema: ResourceSchema, catalog: Catalog): string {
  const place = placeOf(name)
  const shown = shownFields(schema).map(field => field.internal_name)
  const found = place?.fields.split(' ').filter(one => shown.includes(one)) ?? []
  if (place && found.length > 0) return place.says(found.map(one => `"${one}"`).join(', '))
  const meant = meantField(name, schema)
  if (!meant) return unknownFieldHint(name, schema)
  const field = schema.byName.get(meant)!
  // Without this, a read-only field would only lead to a second refusal.
  if (field.is_read_only) {
    const why = schema.resource.whyReadOnly?.(meant, null, {}, catalog)
    return `"${meant}" says that here, and is read-only.${why ? ` ${why}` : ''}`
  }
  return `Did you mean "${meant}"?${formOf(field)}`
}

/** Members that other systems send beside the fields of a record; undefined for others. */
export function placeOf(name: string): (typeof places)[number] | undefined {
  return name.length > longestName ? undefined : places.find(({ names }) => names.test(bareName(name)))
}

const places = [
  {
    names: /^(associat(ions?|edobjects)|relationships?|relations?|relatedrecords?)$/,
    fields: 'primary_contact related_contacts contact company deal',
    says: (names: string) => `Related records stand in fields of their own: ${names}.`,
  },
  {
    names: /^((deal)?products?|lines?|(opportunity)?lineitems?)$/,
    fields: 'deal_value',
    says: (name: string) =>
      `Products stand in ${name}, as {"currency": "EUR", "products": [{"product": 7, "quantity": 2}]}.`,
  },
]

const longestName = 64
/** The container of custom fields in other systems. */
const customFields = /^custom(fields?|properties|attributes|values)?$/

/** A request may have many unknown names, each of which is compared with all fields. */
const bareNamesOf = memoize(({ internal_name, is_custom, field_name }: Field) => ({
  names: [internal_name, ...(is_custom ? [internal_name.slice(3)] : [])].map(bareName),
  label: bareName(field_name),
}))

function alike(name: string, shown: readonly Field[]): string | undefined {
  const bare = bareName(name)
  const named = shown.find(field => bareNamesOf(field).names.includes(bare))
  return (named ?? shown.find(field => bareNamesOf(field).label === bare))?.internal_name
}
