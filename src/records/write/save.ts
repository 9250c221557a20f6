/**
 * Saves records: creations, changes (D5, D7) and upserts (D77), one or many. An attempt reads, validates,
 * plans and executes. It writes nothing if something has changed since it was read, and is repeated then.
 * Concurrent upserts of a value create one record, because the value can be taken only once.
 */
import { isTaken } from '../../db/constraint.ts'
import { busy, type Problem, Refusal } from '../../errors.ts'
import type { WriteParams } from '../../fields/caller-params.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Json } from '../../json.ts'
import { ask, param, sql } from '../../sql.ts'
import { storeResponse, writeIdempotently } from '../idempotency.ts'
import { onLatestCatalog } from '../on-latest-catalog.ts'
import type { Precondition } from '../precondition.ts'
import { retryOnConflict } from '../retry-on-conflict.ts'
import type { Transaction } from '../store.ts'
import { type Candidate, clashesOf, duplicate, takenInIndex, takenKey } from '../unique.ts'
import type { Work } from '../work.ts'
import { execute } from './execute.ts'
import { mergeableOf, rowsInOrder } from './merge.ts'
import type { Operation, Saved, WriteContext, WriteOptions } from './operation.ts'
import { planOf } from './plan.ts'
import { type Write, writeParamsOf } from './protocol.ts'
import { findTargets, parseBodies } from './read.ts'
import { findIdempotentResponse, savedOf, type WriteResponse } from './response.ts'
import { candidatesOf, type ValidOperation, validate } from './validate.ts'

const blank = { id: null, key: null, precondition: null } as const

/** Creates a record from a body (D1, D4 to D6). Throws as `saveRecord`. */
export function createRecord(work: Work, body: Json, options: WriteOptions = {}): Promise<Saved> {
  return saveRecord(work, { ...blank, op: 'create', body, options })
}

/**
 * Merges a body into a record (D5, D7). The resulting record must satisfy every rule; nothing changed =
 * nothing written. Throws as `saveRecord`.
 */
export function updateRecord(
  work: Work,
  id: number,
  body: Json,
  precondition: Precondition = null,
  options: WriteOptions = {},
): Promise<Saved> {
  return saveRecord(work, { ...blank, op: 'update', id, body, precondition, options })
}

/**
 * Carries out an operation that saves a record; again if others are quicker, up to a number of attempts.
 * Throws `validation_failed` with every problem, forbidden, duplicate, busy_record, idempotency_key_reused;
 * of a stored record also record_not_found and version_conflict; of an upsert also the errors of `bodyByKey`.
 * Then nothing was saved.
 */
export function saveRecord(work: Work, operation: Operation): Promise<Saved> {
  return onLatestCatalog(work, latest => save(latest, operation))
}

async function save(work: Work, operation: Operation): Promise<Saved> {
  const earlier = await findIdempotentResponse(work)
  if (earlier) return earlier
  if (operation.unidentified) throw operation.unidentified
  const act = (db: Transaction, recheck: boolean) => saveOne({ ...work, db }, operation, recheck)
  const saved = await retryOnConflict(work, operation, act)
  if (saved) return saved
  throw busy(whatChanges(work.schema, operation))
}

function whatChanges({ resource: { name } }: ResourceSchema, { op, id, key }: Operation): string {
  if (op === 'create') return 'What the record points to, or the configuration, keeps changing; try again.'
  return op === 'upsert'
    ? `The record with that ${key!.field.internal_name} keeps changing; try again.`
    : `The ${name} ${id} is being changed by many at once; try again.`
}

/** Reads and validates an operation. Throws its refusal. `recheck`: as of `Validation`. */
export async function validOperation(
  work: Work,
  operation: Operation,
  recheck: boolean,
): Promise<ValidOperation> {
  const read = await parseBodies(work, await findTargets(work, [operation]))
  const [valid] = await validate(work, read, { recheck })
  if (valid instanceof Refusal) throw valid
  return valid!
}

/**
 * One attempt to save a record: null if something has changed since it was read, and then nothing is written.
 * Throws its refusal.
 */
async function saveOne(work: Work, operation: Operation, recheck: boolean): Promise<Saved | null> {
  const { db, schema, context } = work
  const valid = await validOperation(work, operation, recheck)
  const response = responseOf(valid, null)
  if (response.isUnchanged) {
    return savedOf(work, await storeResponse(db, context, { row: valid.row!, response }))
  }
  const params = writeParamsOf(context)
  const isRivalled = (problems: readonly Problem[]) =>
    operation.op === 'upsert' &&
    !valid.before &&
    problems.some(({ path }) => path === `/${operation.key!.field.internal_name}`)
  const write = { ...planOf(work, params, [valid]), mergeable: mergeableOf(work, params, valid) }
  return writeRecord(work, { params, write, response, candidates: candidatesOf(schema, valid), isRivalled })
}

/** The write of a record, its response, and what may clash with the unique values of other records. */
type RecordWrite = {
  readonly params: WriteParams
  readonly write: Write
  readonly response: WriteResponse
  readonly candidates: readonly Candidate[]
  /** clashes of records that are written along with it */
  readonly furtherClashes?: () => Promise<readonly Problem[]>
  /** true if another upsert of the same value has created its record meanwhile */
  readonly isRivalled?: (problems: readonly Problem[]) => boolean
}

/**
 * Writes a record and the response; null if something has changed since it was read. Throws `duplicate` if a
 * unique value of one of the candidates is taken (D76). If `isRivalled`, it is null, too: the upsert is tried
 * again, and finds the record that the other request has created.
 */
export async function writeRecord(
  work: Work,
  { params, write, response, candidates, furtherClashes, isRivalled = () => false }: RecordWrite,
): Promise<Saved | null> {
  const { db, schema, context } = work
  try {
    const written = await writeIdempotently(db, params, context, write, response)
    return written ? savedOf(work, written) : null
  } catch (error) {
    if (!isTaken(error, takenKey)) {
      const refusal = takenInIndex(error, context.catalog.resources.values())
      if (refusal && isRivalled(refusal.problems)) return null
      throw refusal ?? error
    }
    const clashes = [...(await clashesOf(db, context, candidates)), ...((await furtherClashes?.()) ?? [])]
    // The value may have become free meanwhile.
    if (clashes.length === 0 || isRivalled(clashes)) return null
    throw duplicate(schema, clashes)
  }
}

/**
 * Saves several records at once, in a transaction with the account's lock; null if one of them can't be saved
 * so, and then none is.
 */
export async function saveMany(work: Work, operations: readonly ValidOperation[]): Promise<Saved[] | null> {
  const { db, context } = work
  const params = writeParamsOf(context)
  const changed = operations.filter(one => !isUnchanged(one))
  const hasNested = operations.some(({ nested }) => nested.length > 0)
  let lastId = hasNested ? await lastIdOf(db, context) : null
  const write = changed.length ? planOf(work, params, changed, { isLocked: true, lastId }) : null
  const rows = write ? await execute(db, params, write, { isLocked: true }).catch(nullIfBroken) : []
  if (!rows) return null
  const written = rowsInOrder(changed, rows).values()
  return operations.map(one => {
    const response = responseOf(one, lastId)
    if (lastId !== null) lastId += response.created.length + (one.before ? 0 : 1)
    const row = response.isUnchanged ? one.row! : written.next().value!
    return savedOf(work, { row, response })
  })
}

/** Null for an error of a constraint, which a record has broken. */
function nullIfBroken(error: { code?: unknown }): null {
  if (String(error.code).startsWith('23')) return null
  throw error
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

async function lastIdOf(db: Transaction, { catalog }: WriteContext): Promise<number> {
  const account = param(String(catalog.account.id))
  const statement = sql`SELECT last_id::text AS last FROM counter WHERE account_id = ${account}::bigint`
  const [row] = await ask(db, statement)
  return Number(row!.last)
}
