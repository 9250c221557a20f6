/** Unique values that identify records: in paths, in batches and for upserts (D77). */
import { memberProblem, Refusal, requireRefusal } from '../errors.ts'
import { isBlank } from '../fields/blank.ts'
import { type Catalog, type ResourceSchema, shownField, shownFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { numberAsText } from '../fields/kinds/text.ts'
import { kinds } from '../fields/kinds.ts'
import { asText, isObject, type Json, type RawNumber } from '../json.ts'
import { ask } from '../sql.ts'
import { newParseState, parseContextOf } from './parse.ts'
import { type Read, readOf } from './read.ts'
import { clash, comparedTexts, duplicate, holdersSelect } from './unique.ts'
import type { ReadWork, Work } from './work.ts'
import type { Operation, UniqueKey, WriteContext } from './write/operation.ts'
import { refuseUnwritable } from './write/rules.ts'

/**
 * Identifies the record of a write that may be a repeated one: the role may hide the field since the first
 * one, or an administrator may have deleted it. A number is its decimal text, as in fields of text (D15).
 */
export function targetByKey(
  schema: ResourceSchema,
  name: string,
  sent: string | number | RawNumber,
): Pick<Operation, 'key' | 'unidentified'> {
  try {
    const field = uniqueField(schema, name)
    const key = keyIn(field, asText(numberAsText(sent)))
    return key ? { key } : { key, unidentified: impossible(field) }
  } catch (error) {
    return { key: null, unidentified: requireRefusal(error) }
  }
}

/** The field of that name. Throws `malformed_path` if it is not unique. */
function uniqueField(schema: ResourceSchema, name: string): Field {
  const field = shownField(schema, name)
  if (field?.is_unique) return field
  const told = shownFields(schema).filter(one => one.is_unique)
  const known = told.map(one => one.internal_name).join(', ') || 'none'
  const message = `"${name}" is not a unique field of ${schema.resource.name}. Its unique fields: ${known}.`
  throw new Refusal('malformed_path', message)
}

/** Null for a value that the field can't have. */
function keyIn(field: Field, text: string): UniqueKey | null {
  const unique = kinds[field.type].unique!
  const value = isBlank(text) ? null : unique.value(text)
  return value === null ? null : { field, value, text: unique.texts(value)[0]! }
}

/**
 * The record that has the value. Throws `malformed_path` if the field is not unique, and `record_not_found`,
 * also for a value that the field can't have.
 */
export async function readByUniqueKey(work: ReadWork, name: string, text: string): Promise<Read> {
  const field = uniqueField(work.schema, name)
  const key = keyIn(field, text)
  if (!key) throw noHolder(work.schema, { field })
  return readOf(work.schema, await foundBy(work, key))
}

/**
 * The body of an upsert: that of the request, to which a creation adds the value. `row`: the record that has
 * the value, without an id if the caller doesn't see it. Throws `validation_failed` if the body has another
 * value, and `duplicate` if the caller doesn't see the record. If there is none, it throws `malformed_path`
 * for a value that no record can have, `version_conflict` for a condition that no new record meets, and
 * `forbidden` if the role locks the field: the new record would lack the value, and the next request would
 * make another.
 */
export function bodyByKey(
  { schema, context }: Work,
  { key, body, precondition, isConditional = precondition !== null }: Operation,
  row: { readonly id?: string | null } | undefined,
): Json {
  const { internal_name: name } = key!.field
  refuseOther(body, key!, context)
  if (row && !row.id) throw duplicate(schema, [clash(schema, key!.field, '', null)])
  if (row) return body
  const isWhole = !isObject(body) || Object.hasOwn(body, name)
  // Only now: a stored record may have a value from before its field was narrowed. If the body has the value,
  // too, it is reported with the other problems of the body.
  if (!isWhole) {
    const { problems } = parsedAlone(key!.field, key!.value, context.catalog)
    if (problems.count > 0) throw impossible(key!.field, problems.listed[0]!.message)
  }
  if (isConditional)
    throw new Refusal(
      'version_conflict',
      `${noHolder(schema, key!).message} So it has no version that If-Match could name.`,
    )
  refuseUnwritable(schema, [name], 'Your role does not let you create a record with that value')
  return isWhole ? body : { ...body, [name]: key!.value }
}

/** The holder of the value, whom the caller sees. Throws `record_not_found`. */
export async function foundBy(work: ReadWork, key: UniqueKey) {
  const [found] = await ask(work.db, holdersSelect(work, key.field, [key.text]))
  if (!found?.id) throw noHolder(work.schema, key)
  return found
}

function impossible({ internal_name: name }: Field, why = ''): Refusal {
  const message = `The value in the path is none that ${name} can have. ${why}`.trimEnd()
  return new Refusal('malformed_path', message)
}

/** Parses a single value of a field, as in a body. */
function parsedAlone(field: Field, sent: Json, catalog: Catalog) {
  const state = newParseState(catalog)
  const context = parseContextOf(field, `/${field.internal_name}`, state)
  const parsed = sent === null ? null : kinds[field.type].parse(sent, context, null)
  return { parsed, problems: state.problems }
}

/** Throws `validation_failed` if the body has another value than the path. */
function refuseOther(body: Json, key: UniqueKey, { catalog }: WriteContext): void {
  const { internal_name: name } = key.field
  if (!isObject(body) || !Object.hasOwn(body, name)) return
  const { parsed } = parsedAlone(key.field, body[name]!, catalog)
  // An unreadable value is reported with the other problems of the body.
  if (parsed === undefined) return
  const { compared } = kinds[key.field.type].unique!
  if (comparedTexts({ after: { [name]: parsed } }, key.field).has(compared(key.text, key.field))) return
  const message = `${name} differs from the value in the path; leave it out.`
  const problem = memberProblem(name, 'contradiction', message)
  throw new Refusal('validation_failed', 'The record was not saved: one problem.', [problem])
}

export function noHolder({ resource }: ResourceSchema, { field }: Pick<UniqueKey, 'field'>): Refusal {
  return new Refusal('record_not_found', `There is no ${resource.name} with that ${field.internal_name}.`)
}
