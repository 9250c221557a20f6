/**
 * A body → typed values (D4, D5, D6): every problem at once, nothing thrown, no I/O. Knows fields, no particular resource.
 * Which references exist is asked later, in the statement that reads the record.
 */
import type { Problem, Warning } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { emptyValue, type Field, type Place, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { nearest } from '../fields/nearest.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'

/** A related record whose existence is still to be checked. */
export type Reference = { readonly resource: string; readonly id: number; readonly field: string; readonly path: string }

export type Parsed = {
  /** only the members that were sent, in stored form; null clears */
  readonly values: Values
  readonly sent: ReadonlySet<string>
  readonly problems: Problem[]
  readonly warnings: Warning[]
  readonly references: Reference[]
  /** records to be created with this one (D11), those that others of them point to first */
  readonly nested: Nested[]
}

/** A record to be created with another. Until it has an id, `stand_in`, a number below zero, takes its place in values. */
export type Nested = {
  readonly stand_in: number
  readonly fields: ResourceFields
  readonly parsed: Parsed
  /** where it stands in the body */
  readonly path: string
  /** what was sent: the same twice is one record */
  readonly payload: string
}

/** Members that a read may add and a write ignores without a word (D11). */
const silentlyIgnored = new Set(['_expanded'])

/** Parses a body against the account's fields. `before` is the stored record of an update, null on create. */
export function parseRecord(
  body: Json,
  fields: ResourceFields,
  catalog: Catalog,
  before: Values | null,
  nested: Nested[] = [],
): Parsed {
  const parsed: Parsed = {
    values: {},
    sent: new Set(isObject(body) ? Object.keys(body) : []),
    problems: [],
    warnings: [],
    references: [],
    nested,
  }
  if (!isObject(body)) {
    parsed.problems.push({ field: null, path: '', code: 'wrong_type', message: 'The body must be a JSON object of fields.' })
    return parsed
  }
  const record = { ...before, ...body }
  for (const name of Object.keys(body)) {
    const field = fields.byName.get(name)
    if (!field?.is_active || field.is_hidden) refuseUnknown(name, fields, parsed)
    else if (field.is_read_only)
      parsed.warnings.push({ field: name, code: 'read_only', message: 'The field is read-only; what was sent is ignored.' })
    else parseMember(field, record, catalog, before, parsed)
  }
  for (const field of fields.fields) if (!parsed.sent.has(field.internal_name)) fillOrRequire(field, before, catalog, parsed)
  return parsed
}

/** `record` is what is stored, under what was sent. */
function parseMember(field: Field, record: Values, catalog: Catalog, before: Values | null, parsed: Parsed): void {
  const place = placeOf(field, `/${field.internal_name}`, catalog, parsed, record)
  const input = record[field.internal_name]!
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
    const value = kinds[field.type].parse(fallback, placeOf(field, `/${field.internal_name}`, catalog, parsed), null)
    if (value !== undefined) parsed.values[field.internal_name] = value
  } else if (field.is_required && (before === null || isBlank(before[field.internal_name] ?? null))) {
    const rule = field.rules.includes(1) ? { rule: 1 } : {}
    parsed.problems.push({
      field: field.internal_name,
      path: `/${field.internal_name}`,
      code: 'required',
      message: `${field.internal_name} is required.`,
      ...rule,
    })
  }
}

function defaultOf(field: Field): Json {
  if (!kinds[field.type].hasOptions || field.default_value !== null) return field.default_value
  // A pipeline that is the default to look at is no default to write: the interface wants the pipeline in every new deal.
  return field.related ? null : (field.options.find(option => option.is_default && option.is_active)?.id ?? null)
}

/** The place at which a field's value is read, in a record if there is one; what it reports goes into `parsed`. */
export function placeOf(
  field: Field,
  path: string,
  catalog: Catalog,
  parsed: Pick<Parsed, 'problems' | 'warnings' | 'references' | 'nested'>,
  record: Values = {},
): Place {
  return {
    field,
    path,
    catalog,
    beside: name => record[name] ?? null,
    problem: (code, message, { at = '', ...more } = {}) => {
      parsed.problems.push({
        field: field.internal_name,
        path: path + at,
        code,
        message: `${field.internal_name} ${message}.`,
        ...more,
      })
      return undefined
    },
    warn: (code, message) => void parsed.warnings.push({ field: field.internal_name, code, message: `${message}.` }),
    create: (resource, payload, at = '') => createNested(resource, payload, path + at, catalog, parsed),
    reference: (resource, id, at = '') =>
      void parsed.references.push({ resource, id, field: field.internal_name, path: path + at }),
  }
}

/** Parses a record to be created with this one; what is wrong with it is said with its path. The same person twice is one contact. */
function createNested(
  resource: string,
  payload: JsonObject,
  path: string,
  catalog: Catalog,
  parsed: Pick<Parsed, 'problems' | 'warnings' | 'references' | 'nested'>,
): number {
  const fields = catalog.resources.get(resource)!
  const text = JSON.stringify(payload)
  const same = parsed.nested.find(other => other.fields === fields && other.payload === text)
  if (same) return same.stand_in
  const inner = parseRecord(payload, fields, catalog, null, parsed.nested)
  const below = <T extends { path: string; field: string | null }>(found: T): T => ({ ...found, path: path + found.path })
  parsed.problems.push(...inner.problems.map(below))
  parsed.warnings.push(...inner.warnings)
  parsed.references.push(...inner.references.map(below))
  const stand_in = -1 - parsed.nested.length
  parsed.nested.push({ stand_in, fields, parsed: inner, path, payload: text })
  return stand_in
}

function refuseUnknown(name: string, fields: ResourceFields, parsed: Parsed): void {
  if (silentlyIgnored.has(name)) return
  const known = fields.fields.filter(field => field.is_active && !field.is_hidden).map(field => field.internal_name)
  const near = nearest(name, known)
  parsed.problems.push({
    field: name,
    path: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    code: 'unknown_field',
    message: `There is no field "${name}".`,
    hint: near ? `Did you mean "${near}"?` : `GET /rest/api/v1/field/list?source=${fields.resource.name} names the fields.`,
  })
}

/** Nothing, to a person: null, blanks, no entries. */
export function isBlank(value: Json): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '') || (Array.isArray(value) && value.length === 0)
}
