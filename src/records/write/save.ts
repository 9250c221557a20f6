/**
 * Saves records: creations, changes (D5, D7) and upserts (D77), one or many. An attempt reads, validates,
 * plans and executes. It writes nothing if something has changed since it was read, and is repeated then.
 * Concurrent upserts of a value create one record, because the value can be taken only once.
 */
import { busy, type Problem, Refusal } from '../../errors.ts'
import type { WriteParams } from '../../fields/caller-params.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Json } from '../../json.ts'
import { ask, param, sql } from '../../sql.ts'
import { constraintRefusal } from '../constraint.ts'
import { keepResponse, type Written, writeIdempotently } from '../idempotency.ts'
import type { Precondition } from '../precondition.ts'
import { retryOnConflict } from '../retry-on-conflict.ts'
import type { Transaction } from '../store.ts'
import { type Candidate, clashesOf, duplicate, isTaken } from '../unique.ts'
import { findIdempotentResponse, savedOf, type WriteResponse } from './answer.ts'
import { execute } from './execute.ts'
import type { Operation, Saved, WriteContext, WriteOptions } from './operation.ts'
import { planOf } from './plan.ts'
import { author, type Write } from './protocol.ts'
import { findTargets, parseBodies, type StoredRow } from './read.ts'
import { candidatesOf, type ValidOperation, validate } from './validate.ts'

const blank = { id: null, key: null, precondition: null } as const

/**
 * Creates a record from a body (D1, D4 to D6). Throws `validation_failed` with every problem; then nothing
 * was saved.
 */
export function createRecord(
  db: Transaction,
  schema: ResourceSchema,
  body: Json,
  context: WriteContext,
  options: WriteOptions = {},
): Promise<Saved> {
  return saveRecord(db, schema, { ...blank, op: 'create', body, options }, context)
}

/**
 * Merges a body into a record (D5, D7). The resulting record must satisfy every rule; nothing changed =
 * nothing written. Throws record_not_found, validation_failed, version_conflict, busy_record.
 */
export function updateRecord(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
  precondition: Precondition = null,
  options: WriteOptions = {},
): Promise<Saved> {
  return saveRecord(db, schema, { ...blank, op: 'update', id, body, precondition, options }, context)
}

/**
 * Carries out an operation that saves a record, as often as others are quicker. Throws the errors of
 * createRecord and updateRecord; for an upsert also those of `bodyByKey`.
 */
export async function saveRecord(
  db: Transaction,
  schema: ResourceSchema,
  operation: Operation,
  context: WriteContext,
): Promise<Saved> {
  const earlier = await findIdempotentResponse(db, schema, context)
  if (earlier) return earlier
  const act = (on: Transaction, recheck: boolean) => saveOne(on, schema, operation, context, recheck)
  const saved = await retryOnConflict(db, schema, operation, context, act)
  if (saved) return saved
  throw busy(whatChanges(schema, operation))
}

function whatChanges({ resource: { name } }: ResourceSchema, { op, id, key }: Operation): string {
  if (op === 'create') return 'What the record points to, or the configuration, keeps changing; try again.'
  return op === 'upsert'
    ? `The record with that ${key!.field.internal_name} keeps changing; try again.`
    : `The ${name} ${id} is being changed by many at once; try again.`
}

/** Validates an update and writes nothing. Throws its refusal. */
export async function validateUpdate(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
): Promise<void> {
  const operation: Operation = { ...blank, op: 'update', id, body }
  await validOperation(db, schema, operation, context, true)
}

/** Reads and validates an operation. Throws its refusal. `recheck`: as of `Validation`. */
export async function validOperation(
  db: Transaction,
  schema: ResourceSchema,
  operation: Operation,
  context: WriteContext,
  recheck: boolean,
): Promise<ValidOperation> {
  const targets = await findTargets(db, schema, [operation], context)
  const read = await parseBodies(db, schema, targets, context)
  const [valid] = await validate(db, schema, read, context, { recheck })
  if (valid instanceof Refusal) throw valid
  return valid!
}

/**
 * One attempt to save a record: null if something has changed since it was read, and then nothing is written.
 * Throws its refusal.
 */
async function saveOne(
  db: Transaction,
  schema: ResourceSchema,
  operation: Operation,
  context: WriteContext,
  recheck: boolean,
): Promise<Saved | null> {
  const valid = await validOperation(db, schema, operation, context, recheck)
  const { idempotency = null } = context
  const response = responseOf(valid, null)
  if (response.isUnchanged) {
    const written = { row: storedAnswer(valid), response }
    const account = String(context.catalog.account.id)
    return savedOf(
      schema,
      context,
      idempotency ? await keepResponse(db, account, idempotency, written) : written,
    )
  }
  const params = author(context)
  const write = planOf(params, schema, [valid], context)
  const isRivalled = (problems: readonly Problem[]) =>
    operation.op === 'upsert' &&
    !valid.before &&
    problems.some(({ field }) => field === operation.key!.field.internal_name)
  const candidates = candidatesOf(schema, valid)
  const written = await writeRecord(db, schema, context, params, write, response, candidates, isRivalled)
  return written ? savedOf(schema, context, written) : null
}

/**
 * Writes a record and the response; undefined if something has changed since it was read. Throws `duplicate`
 * if a unique value of one of the candidates is taken (D76), unless another request did the same
 * (`isRivalled`).
 */
export async function writeRecord(
  db: Transaction,
  schema: ResourceSchema,
  context: WriteContext,
  params: WriteParams,
  write: Write,
  response: WriteResponse,
  candidates: readonly Candidate[],
  isRivalled: (problems: readonly Problem[]) => boolean = () => false,
): Promise<Written<WriteResponse> | undefined> {
  const { idempotency = null } = context
  try {
    return await writeIdempotently(db, params, idempotency, write, response)
  } catch (error) {
    if (!isTaken(error)) {
      const refusal = constraintRefusal(error, context.catalog)
      if (refusal && isRivalled(refusal.problems)) return undefined
      throw refusal ?? error
    }
    const clashes = await clashesOf(db, context, candidates)
    // The value may have become free meanwhile.
    if (clashes.length === 0 || isRivalled(clashes)) return undefined
    throw duplicate(schema, clashes)
  }
}

/**
 * Saves several records at once, in a transaction with the account's lock; null if one of them can't be saved
 * so, and then none is.
 */
export async function saveMany(
  db: Transaction,
  schema: ResourceSchema,
  operations: readonly ValidOperation[],
  context: WriteContext,
): Promise<Saved[] | null> {
  const params = author(context)
  const changed = operations.filter(one => !isUnchanged(one))
  const hasNested = operations.some(({ nested }) => nested.length > 0)
  let lastId = hasNested ? await lastIdOf(db, context) : null
  const rows = changed.length
    ? await execute(db, params, planOf(params, schema, changed, context, { isLocked: true, lastId }), {
        isLocked: true,
      }).catch(error => {
        if (String((error as { code?: unknown }).code).startsWith('23')) return null
        throw error
      })
    : []
  if (!rows) return null
  if (rows.length !== changed.length) throw new Error('Records changed under the lock of their account')
  const byId = new Map(rows.map(row => [row.id!, row]))
  // New ids are in the order of the records.
  const known = new Set(changed.flatMap(({ row }) => row?.id ?? []))
  const made = rows
    .filter(({ id }) => !known.has(id!))
    .sort((one, other) => Number(one.id) - Number(other.id))
    .values()
  return operations.map(one => {
    const response = responseOf(one, lastId)
    if (lastId !== null) lastId += response.created.length + (one.before ? 0 : 1)
    const row = response.isUnchanged
      ? storedAnswer(one)
      : one.row
        ? byId.get(one.row.id!)!
        : made.next().value!
    return savedOf(schema, context, { row, response })
  })
}

function isUnchanged({ before, changes }: ValidOperation): boolean {
  return before !== null && Object.keys(changes).length === 0
}

/** `lastId`: the last id before the record and its nested ones, if known. */
function responseOf(one: ValidOperation, lastId: number | null): WriteResponse {
  const { before, nested, parsed } = one
  const { warnings } = parsed
  if (isUnchanged(one)) return { warnings, created: [], isUnchanged: true }
  const created = nested.map(({ schema: { resource } }, index) => {
    const nth = index + 1
    return { resource: resource.name, ...(lastId === null ? { nth } : { id: lastId + nth }) }
  })
  return { warnings, created, ...(before ? {} : { isNew: true }) }
}

/** The stored record, in the form of a write's answer. */
function storedAnswer({ row }: ValidOperation): StoredRow {
  const { id, version, record } = row!
  return { id: id!, version: version!, record: record! }
}

async function lastIdOf(db: Transaction, { catalog }: WriteContext): Promise<number> {
  const account = param(String(catalog.account.id))
  const [row] = await ask(
    db,
    sql`SELECT last_id::text AS last FROM counter WHERE account_id = ${account}::bigint`,
  )
  return Number(row!.last)
}
