/**
 * Upsert: changes the live record that has a unique value, or creates it (D77). Concurrent requests create
 * one record, because the value can be taken only once.
 */
import { Problems, Refusal } from '../errors.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { isObject, type Json } from '../json.ts'
import type { Caller } from '../rights/visibility.ts'
import { ask } from '../sql.ts'
import { createRecord } from './create.ts'
import { parseContextOf } from './parse.ts'
import type { Precondition } from './precondition.ts'
import { type Read, readOf } from './read.ts'
import { findIdempotentResponse, type Saved, type WriteContext } from './save.ts'
import type { Transaction } from './store.ts'
import { clash, duplicate, holderSelect } from './unique.ts'
import { refuseUnwritable } from './unwritable.ts'
import { updateRecord } from './update.ts'

/** A unique field, and the value in it that identifies a record. */
export type UniqueKey = { readonly field: Field; readonly value: Json; readonly text: string }

/** Number of attempts while the value keeps changing hands. */
const attempts = 5

/** The field and value of a path. Throws `malformed_path` if they can identify no record. */
export function uniqueKeyOf(schema: ResourceSchema, name: string, text: string): UniqueKey {
  const field = schema.byName.get(name)
  if (!field?.is_active || field.is_hidden || !field.is_unique) {
    const told = schema.fields.filter(one => one.is_active && !one.is_hidden && one.is_unique)
    const known = told.map(one => one.internal_name).join(', ') || 'none'
    throw new Refusal(
      'malformed_path',
      `"${name}" is not a unique field of ${schema.resource.name}. Its unique fields: ${known}.`,
    )
  }
  const unique = kinds[field.type].unique!
  const value = unique.value(text)
  if (value === null || text.trim() === '') throw impossible(field)
  return { field, value, text: unique.texts(value)[0]! }
}

/** The record that has the value. Throws `record_not_found`. */
export async function readByUniqueKey(
  db: Transaction,
  schema: ResourceSchema,
  caller: Caller,
  key: UniqueKey,
): Promise<Read> {
  return readOf(schema, await foundBy(db, schema, caller, key))
}

/** The id of the record that has the value. Throws `record_not_found`. */
export async function idByUniqueKey(
  db: Transaction,
  schema: ResourceSchema,
  caller: Caller,
  key: UniqueKey,
): Promise<number> {
  return Number((await foundBy(db, schema, caller, key)).holder)
}

/** The body with the identifying value. Throws `validation_failed` if it has another. */
export function withUniqueKey(body: Json, key: UniqueKey, context: WriteContext): Json {
  const { internal_name: name } = key.field
  refuseOther(body, key, context)
  return isObject(body) && !Object.hasOwn(body, name) ? { ...body, [name]: key.value } : body
}

/**
 * Changes the record or creates it. `isConditional`: there is an If-Match, which no new record meets. Throws
 * the errors of createRecord and updateRecord, and `forbidden` if no record has the value and the role locks
 * its field: the new record would not have it, and the next request would make another.
 */
export async function upsertRecord(
  db: Transaction,
  schema: ResourceSchema,
  key: UniqueKey,
  body: Json,
  context: WriteContext,
  precondition: Precondition,
  isConditional: boolean,
  bodyOn?: (before: Values) => Json,
): Promise<Saved> {
  const before = await findIdempotentResponse(db, schema, context)
  if (before) return before
  const { internal_name: name } = key.field
  const whole = withUniqueKey(body, key, context)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await holderOf(db, schema, context, key)
    if (found?.holder === null) throw duplicate(schema, [clash(schema, key.field, '', null)])
    // If the body has the value, too, it is reported with the other problems of the body.
    if (!found && whole !== body) refuseImpossible(key, context)
    if (!found && isConditional)
      throw new Refusal(
        'version_conflict',
        `${nobody(schema, key).message} So it has no version that If-Match could name.`,
      )
    if (!found) refuseUnwritable(schema, [name], 'Your role does not let you create a record with that value')
    const isIt = (record: Values) => has(record, key)
    const given = { isIt, ...(found ? { read: found } : {}), ...(bodyOn ? { bodyOn } : {}) }
    const saved = found
      ? updateRecord(db, schema, Number(found.holder), body, context, precondition, given)
      : createRecord(db, schema, whole, context)
    const done = await saved.catch(error => {
      if (!hasChangedHands(error, name, found !== null)) throw error
      return null
    })
    if (done) return done
  }
  throw new Refusal('busy_record', `The record with that ${name} keeps changing; try again.`, [], {
    'retry-after': '1',
  })
}

/** True if the value was taken or freed since its holder was looked up. */
function hasChangedHands(error: unknown, name: string, wasHeld: boolean): boolean {
  if (!(error instanceof Refusal)) return false
  if (wasHeld) return error.slug === 'record_not_found'
  return error.slug === 'duplicate' && error.problems.some(({ field }) => field === name)
}

/** The holder of the value: null if there is none; `holder` is null if the caller doesn't see it. */
async function holderOf(db: Transaction, schema: ResourceSchema, caller: Caller, { field, text }: UniqueKey) {
  const [row] = await ask(db, holderSelect(caller, schema, field, text))
  return row ?? null
}

/** Like `holderOf`, for a holder that the caller sees. Throws `record_not_found`. */
async function foundBy(db: Transaction, schema: ResourceSchema, caller: Caller, key: UniqueKey) {
  const found = await holderOf(db, schema, caller, key)
  if (!found?.holder) throw nobody(schema, key)
  return found
}

/**
 * Throws `malformed_path` for a value that no record can have. Called after the lookup: a record may have a
 * value from before its field was narrowed.
 */
function refuseImpossible({ field, value }: UniqueKey, { catalog }: WriteContext): void {
  const { problems } = parsedAlone(field, value, catalog)
  if (problems.count > 0) throw impossible(field, problems.kept[0]!.message)
}

function impossible({ internal_name: name }: Field, why = ''): Refusal {
  return new Refusal(
    'malformed_path',
    `The value in the path is none that ${name} can have. ${why}`.trimEnd(),
  )
}

/** Parses a single value of a field, as in a body. */
function parsedAlone(field: Field, sent: Json, catalog: Catalog) {
  const found = { problems: new Problems(), warnings: [], references: [], nested: [] }
  const context = parseContextOf(field, `/${field.internal_name}`, catalog, found)
  const parsed = sent === null ? null : kinds[field.type].parse(sent, context, null)
  return { parsed, problems: found.problems }
}

/** Throws `validation_failed` if the body has another value than the path. */
function refuseOther(body: Json, key: UniqueKey, { catalog }: WriteContext): void {
  const { internal_name: name } = key.field
  if (!isObject(body) || !Object.hasOwn(body, name)) return
  const { parsed } = parsedAlone(key.field, body[name]!, catalog)
  // An unreadable value is reported with the other problems of the body.
  if (parsed === undefined || has({ [name]: parsed }, key)) return
  const message = `${name} differs from the value in the path; leave it out.`
  const problem = { field: name, path: `/${name}`, code: 'contradiction', message }
  throw new Refusal('validation_failed', 'The record was not saved: one problem.', [problem])
}

/** True if a record has the identifying value. */
function has(values: Values, { field, text }: UniqueKey): boolean {
  const { texts, compared } = kinds[field.type].unique!
  const key = compared(text, field)
  return texts(values[field.internal_name] ?? null).some(one => compared(one, field) === key)
}

function nobody({ resource }: ResourceSchema, { field }: UniqueKey): Refusal {
  return new Refusal('record_not_found', `There is no ${resource.name} with that ${field.internal_name}.`)
}
