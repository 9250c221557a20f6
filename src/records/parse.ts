/**
 * A body → typed values (D4, D5, D6): every problem at once, nothing thrown, no I/O. Knows fields, no
 * particular resource. Which references exist is asked later, in the statement that reads the record.
 */
import { Problems, type Warning } from '../errors.ts'
import { type Catalog, type ResourceFields, unknownFieldHint } from '../fields/catalog.ts'
import { emptyValue, type Field, type Place, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../json.ts'

/** A related record whose existence is still to be checked. */
export type Reference = {
  readonly resource: string
  readonly id: number
  readonly field: string
  readonly path: string
}

export type Parsed = {
  /** only the members that were sent, in stored form; null clears */
  readonly values: Values
  readonly sent: ReadonlySet<string>
  readonly problems: Problems
  readonly warnings: Warning[]
  readonly references: Reference[]
  /** records to be created with this one (D11), those that others of them point to first */
  readonly nested: Nested[]
  /** where it stands in the body, as a JSON pointer */
  readonly path: string
}

/** What a body and the records within it share. */
type Found = Pick<Parsed, 'problems' | 'warnings' | 'references' | 'nested'>

/**
 * A record to be created with another. Until it has an id, `stand_in`, a number below zero, takes its place
 * in values.
 */
export type Nested = {
  readonly stand_in: number
  readonly fields: ResourceFields
  readonly parsed: Parsed
  /** what was sent: the same twice is one record */
  readonly payload: string
}

/** Members that a read may add and a write ignores without a word (D11). */
const silentlyIgnored = new Set(['_expanded'])

/**
 * Parses a body against the account's fields. `before` is the stored record of an update, null on create. For
 * a record within another, `found` is what that has found so far, and `path` the place where it stands.
 */
export function parseRecord(
  body: Json,
  fields: ResourceFields,
  catalog: Catalog,
  before: Values | null,
  found: Found = { problems: new Problems(), warnings: [], references: [], nested: [] },
  path = '',
): Parsed {
  const { problems, warnings, references, nested } = found
  const sent = new Set(isObject(body) ? Object.keys(body) : [])
  const parsed: Parsed = { values: {}, sent, problems, warnings, references, nested, path }
  if (!isObject(body)) {
    problems.add(() => ({
      field: null,
      path,
      code: 'wrong_type',
      message: 'The body must be a JSON object of fields.',
    }))
    return parsed
  }
  for (const name of sent) {
    const field = fields.byName.get(name)
    if (!field?.is_active || field.is_hidden) refuseUnknown(name, fields, parsed)
    else if (field.is_read_only)
      warnings.push({
        field: name,
        code: 'read_only',
        message: 'The field is read-only; what was sent is ignored.',
      })
    else parseMember(field, body, catalog, before, parsed)
  }
  for (const field of fields.fields)
    if (!sent.has(field.internal_name)) fillOrRequire(field, before, catalog, parsed)
  return parsed
}

function parseMember(
  field: Field,
  body: Values,
  catalog: Catalog,
  before: Values | null,
  parsed: Parsed,
): void {
  const beside = (name: string) => (Object.hasOwn(body, name) ? body[name]! : (before?.[name] ?? null))
  const place = placeOf(field, `${parsed.path}/${field.internal_name}`, catalog, parsed, beside)
  const input = body[field.internal_name]!
  if (field.is_required && isBlank(input)) {
    place.problem('required', 'must not be empty')
    return
  }
  const kind = kinds[field.type]
  const value = input === null ? null : kind.parse(input, place, before?.[field.internal_name] ?? null)
  if (value === undefined) return
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
  parsed.values[field.internal_name] = isEmpty ? emptyValue(field, kind) : value
}

/** What a request leaves out: filled by the default on create, and still required on update (D6). */
function fillOrRequire(field: Field, before: Values | null, catalog: Catalog, parsed: Parsed): void {
  if (!field.is_active || field.is_read_only || field.is_hidden) return
  const fallback = before ? null : defaultOf(field)
  if (!isBlank(fallback)) {
    const place = placeOf(field, `${parsed.path}/${field.internal_name}`, catalog, parsed)
    const value = kinds[field.type].parse(fallback, place, null)
    if (value !== undefined) parsed.values[field.internal_name] = value
  } else if (field.is_required && (before === null || isBlank(before[field.internal_name] ?? null))) {
    const rule = field.rules.includes(1) ? { rule: 1 } : {}
    const { internal_name: name } = field
    const path = `${parsed.path}/${name}`
    parsed.problems.add(() => ({
      field: name,
      path,
      code: 'required',
      message: `${name} is required.`,
      ...rule,
    }))
  }
}

function defaultOf(field: Field): Json {
  if (!kinds[field.type].hasOptions || field.default_value !== null) return field.default_value
  // A pipeline that is the default to look at is no default to write: the interface wants the pipeline in
  // every new deal.
  return field.related
    ? null
    : (field.options.find(option => option.is_default && option.is_active)?.id ?? null)
}

/** The place at which a field's value is read; what it reports goes into `found`. */
export function placeOf(
  field: Field,
  path: string,
  catalog: Catalog,
  found: Found,
  beside: Place['beside'] = () => null,
): Place {
  const { internal_name: name } = field
  return {
    field,
    path,
    catalog,
    beside,
    problem: (code, message, { at = '', hint } = {}) => {
      found.problems.add(() => ({ field: name, path: path + at, code, message: `${name} ${message}.` }), hint)
      return undefined
    },
    warn: (code, message) => void found.warnings.push({ field: name, code, message: `${message}.` }),
    create: (resource, payload, at = '') => createNested(resource, payload, path + at, catalog, found),
    reference: (resource, id, at = '') =>
      void found.references.push({ resource, id, field: name, path: path + at }),
  }
}

/**
 * Parses a record to be created with this one; what is wrong with it is said with its path. The same person
 * twice is one contact.
 */
function createNested(
  resource: string,
  payload: JsonObject,
  path: string,
  catalog: Catalog,
  found: Found,
): number {
  const fields = catalog.resources.get(resource)!
  const text = JSON.stringify(payload)
  const same = found.nested.find(other => other.fields === fields && other.payload === text)
  if (same) return same.stand_in
  const parsed = parseRecord(payload, fields, catalog, null, found, path)
  const stand_in = -1 - found.nested.length
  found.nested.push({ stand_in, fields, parsed, payload: text })
  return stand_in
}

function refuseUnknown(name: string, fields: ResourceFields, { problems, path }: Parsed): void {
  if (silentlyIgnored.has(name)) return
  const message = `There is no field "${name}".`
  problems.add(
    () => ({ field: name, path: `${path}/${pointerStep(name)}`, code: 'unknown_field', message }),
    () => unknownFieldHint(name, fields),
  )
}

/** Nothing, to a person: null, blanks, no entries. */
export function isBlank(value: Json): boolean {
  return (
    value === null ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  )
}
