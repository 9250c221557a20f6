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
import { type Context, type Saved, savedBefore } from './save.ts'
import type { Queryable } from './store.ts'
import { clash, duplicate, holderSelect } from './unique.ts'
import { refuseUnwritable } from './unwritable.ts'
import { updateRecord } from './update.ts'

/** A unique field, and the value in it that identifies a record. */
export type Told = { readonly field: Field; readonly value: Json; readonly text: string }

/** Number of attempts while the value keeps changing hands. */
const attempts = 5

/** The field and value of a path. Throws `malformed_path` if they can identify no record. */
export function toldBy(schema: ResourceSchema, name: string, text: string): Told {
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
export async function readTold(
  db: Queryable,
  schema: ResourceSchema,
  caller: Caller,
  told: Told,
): Promise<Read> {
  return readOf(schema, await foundBy(db, schema, caller, told))
}

/** The id of the record that has the value. Throws `record_not_found`. */
export async function idTold(
  db: Queryable,
  schema: ResourceSchema,
  caller: Caller,
  told: Told,
): Promise<number> {
  return Number((await foundBy(db, schema, caller, told)).holder)
}

/** The body with the identifying value. Throws `validation_failed` if it has another. */
export function withTold(body: Json, told: Told, context: Context): Json {
  const { internal_name: name } = told.field
  refuseOther(body, told, context)
  return isObject(body) && !Object.hasOwn(body, name) ? { ...body, [name]: told.value } : body
}

/**
 * Changes the record or creates it. `isConditional`: there is an If-Match, which no new record meets. Throws
 * the errors of createRecord and updateRecord, and `forbidden` if no record has the value and the role locks
 * its field: the new record would not have it, and the next request would make another.
 */
export async function upsertRecord(
  db: Queryable,
  schema: ResourceSchema,
  told: Told,
  body: Json,
  context: Context,
  precondition: Precondition,
  isConditional: boolean,
  bodyOn?: (before: Values) => Json,
): Promise<Saved> {
  const before = await savedBefore(db, schema, context)
  if (before) return before
  const { internal_name: name } = told.field
  const whole = withTold(body, told, context)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await holderOf(db, schema, context, told)
    if (found?.holder === null) throw duplicate(schema, [clash(schema, told.field, '', null)])
    // If the body has the value, too, it is reported with the other problems of the body.
    if (!found && whole !== body) refuseImpossible(told, context)
    if (!found && isConditional)
      throw new Refusal(
        'version_conflict',
        `${nobody(schema, told).message} So it has no version that If-Match could name.`,
      )
    if (!found) refuseUnwritable(schema, [name], 'Your role does not let you create a record with that value')
    const isIt = (record: Values) => has(record, told)
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

/** The holder of the value: null if there is none; `holder` is null if the viewer doesn't see it. */
async function holderOf(db: Queryable, schema: ResourceSchema, caller: Caller, { field, text }: Told) {
  const [row] = await ask(db, holderSelect(caller, schema, field, text))
  return row ?? null
}

/** Like `holderOf`, for a holder that the viewer sees. Throws `record_not_found`. */
async function foundBy(db: Queryable, schema: ResourceSchema, caller: Caller, told: Told) {
  const found = await holderOf(db, schema, caller, told)
  if (!found?.holder) throw nobody(schema, told)
  return found
}

/**
 * Throws `malformed_path` for a value that no record can have. Called after the lookup: a record may have a
 * value from before its field was narrowed.
 */
function refuseImpossible({ field, value }: Told, { catalog }: Context): void {
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
function refuseOther(body: Json, told: Told, { catalog }: Context): void {
  const { internal_name: name } = told.field
  if (!isObject(body) || !Object.hasOwn(body, name)) return
  const { parsed } = parsedAlone(told.field, body[name]!, catalog)
  // An unreadable value is reported with the other problems of the body.
  if (parsed === undefined || has({ [name]: parsed }, told)) return
  const message = `${name} differs from the value in the path; leave it out.`
  const problem = { field: name, path: `/${name}`, code: 'contradiction', message }
  throw new Refusal('validation_failed', 'The record was not saved: one problem.', [problem])
}

/** True if a record has the identifying value. */
function has(values: Values, { field, text }: Told): boolean {
  const { texts, compared } = kinds[field.type].unique!
  const key = compared(text, field)
  return texts(values[field.internal_name] ?? null).some(one => compared(one, field) === key)
}

function nobody({ resource }: ResourceSchema, { field }: Told): Refusal {
  return new Refusal('record_not_found', `There is no ${resource.name} with that ${field.internal_name}.`)
}
