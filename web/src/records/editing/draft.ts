/** Unsaved changes of a record, their validation, and conflicts with what others have saved meanwhile. */
import { type AnyRecord, callApi, type Field, UserError, VersionConflict } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'

export type Values = { readonly [field: string]: unknown }
export type Problems = { readonly [field: string]: string }

/** True for null, an empty text and an empty list, which a required field refuses (D6). */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (typeof value === 'string') return value.trim() === ''
  return Array.isArray(value) && value.length === 0
}

/** Absent and null are the same (D43). */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
}

/** True if the user may fill in the field. */
export const isWritable = (field: Field): boolean => field.is_active && !field.is_read_only

/** The values that differ from those of the record. */
export function changesOf(record: Values, values: Values): Values {
  const changed = Object.entries(values).filter(([name, value]) => !isSame(value, record[name]))
  return Object.fromEntries(changed.map(([name, value]) => [name, value ?? null]))
}

/** Values in the form to send; members that are no fields, such as a parameter, are unchanged. */
export function serializeValues(values: Values, fields: readonly Field[]): Values {
  const byName = new Map(fields.map(field => [field.internal_name, field]))
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const field = byName.get(name)
      return [name, field ? serializeValue(field, value) : value]
    }),
  )
}

/** The values of fields as their inputs show them. */
export function valuesAsShown(values: Values, fields: readonly Field[]): Values {
  const shown = fields.flatMap((field): [string, unknown][] => {
    const value = values[field.internal_name] ?? null
    const { asShown } = kindOf(field)
    return [[field.internal_name, value !== null && asShown ? asShown(value) : value]]
  })
  return Object.fromEntries(shown)
}

/** A value in the form that the service accepts. */
export function serializeValue(field: Field, value: unknown): unknown {
  const { write } = kindOf(field)
  if (value === null || value === undefined) return null
  return write ? write(value) : value
}

/** Validates values by the limits of their fields, and `required` for presence. */
export function problemsOf(
  values: Values,
  fields: readonly Field[],
  required: ReadonlySet<string>,
): Problems {
  const found: { [field: string]: string } = {}
  for (const field of fields) {
    const name = field.internal_name
    const value = values[name]
    if (isEmpty(value)) {
      if (required.has(name)) found[name] = `${field.field_name} is required.`
      continue
    }
    const wrong = kindOf(field).check?.(value, field)
    if (wrong) found[name] = wrong
    const inner = kindOf(field).fieldsWithin?.(value, field)
    if (!inner) continue
    const innerRequired = inner
      .filter(({ is_required }) => is_required)
      .map(({ internal_name }) => internal_name)
    for (const [member, problem] of Object.entries(
      problemsOf(value as Values, inner, new Set(innerRequired)),
    ))
      found[`${name}.${member}`] = problem
  }
  return found
}

/**
 * The input of a problem's path: a field, or within a new related record one of its members, as in
 * `primary_contact.emails`.
 */
export function placeOf(
  [name, ...rest]: readonly string[],
  values: Values,
  fields: readonly Field[],
): string | undefined {
  const field = fields.find(({ internal_name }) => internal_name === name)
  const value = values[name ?? '']
  if (!field || isEmpty(value)) return name
  const inner = kindOf(field).fieldsWithin?.(value, field) ?? []
  if (!inner.some(({ internal_name }) => internal_name === rest[0])) return name
  return `${name}.${placeOf(rest, value as Values, inner)}`
}

/** The first place with a problem, in the order of the form. */
export function firstPlace(problems: Problems, fields: readonly Field[]): string | undefined {
  const places = Object.keys(problems)
  const order = fields.map(({ internal_name }) => internal_name)
  return order.flatMap(name => places.filter(place => place.split('.')[0] === name))[0]
}

/** The problems without those of a value that was changed since. */
export function problemsLeft(problems: Problems, name: string, before: unknown, after: unknown): Problems {
  const at = (value: unknown, members: readonly string[]): unknown =>
    members.reduce((found, member) => (found as Values | null | undefined)?.[member], value)
  return Object.fromEntries(
    Object.entries(problems).filter(([place]) => {
      const [field, ...members] = place.split('.')
      return field !== name || (members.length > 0 && isSame(at(before, members), at(after, members)))
    }),
  )
}

/** Another user has changed the same fields since the record was read. */
export class EditConflict extends UserError {
  readonly theirs: AnyRecord
  readonly fields: readonly string[]
  constructor(theirs: AnyRecord, fields: readonly string[]) {
    super('Somebody else has changed the same fields meanwhile.')
    this.theirs = theirs
    this.fields = fields
  }
}

/** The fields that both sides have changed, to different values. */
export function conflictingFields(base: Values, theirs: Values, changes: Values): string[] {
  return Object.keys(changes).filter(
    name => !isSame(theirs[name], base[name]) && !isSame(theirs[name], changes[name]),
  )
}

/**
 * Saves changes of a record based on a version. Others' changes of other fields stay; others' changes of the
 * same ones throw an `EditConflict`.
 */
export async function update(
  resource: string,
  base: AnyRecord,
  changes: Values,
  expand: string,
): Promise<AnyRecord> {
  const path = `/${resource}/${base.id}`
  const query = expand ? { expand } : {}
  let version = base.version
  for (;;) {
    const headers: { [name: string]: string } = {}
    if (version !== undefined) headers['if-match'] = `"${version}"`
    try {
      return await callApi<AnyRecord>('PATCH', path, { body: changes, headers, query })
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      const theirs = await callApi<AnyRecord>('GET', path, { query })
      const fields = conflictingFields(base, theirs, changes)
      if (fields.length > 0 || theirs.version === version) throw new EditConflict(theirs, fields)
      version = theirs.version
    }
  }
}
