/**
 * Idempotent requests (D8): a write also stores the Idempotency-Key, with the row that it returns, for a day,
 * and a repeated request gets that response. Knows no HTTP and no resource.
 *
 * Further parts of it: http/middleware.ts refuses a request while another with its key is carried out;
 * http/routes/record-writes.ts ignores an `expand` that a repeated request may not read by now;
 * write/response.ts replays the response as its reader may see it by now.
 */
import { isTaken } from '../db/constraint.ts'
import { busy, Refusal } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import type { Transaction } from './store.ts'
import { execute } from './write/execute.ts'
import { lockOnly, lockStatement, type Write, writeStatement } from './write/protocol.ts'

/** A request with an Idempotency-Key. */
export type IdempotentRequest = {
  /** the user and the key that they sent: neither users nor accounts share keys */
  readonly key: string
  /** hash of method, address, If-Match and body */
  readonly hash: string
  /** True if the response is that of an earlier request; `storedResponse` sets it when it finds one */
  isReplayed: boolean
}

/** The response to a write, in two parts. Each has a column. */
export type Written<T> = {
  /** the row that the write returned, its `answer` (the column `answer`) */
  readonly row: Record<string, string | null>
  /** the rest of the response, such as warnings and created records (the column `told`) */
  readonly response: T
}

/** The context of a request: its account and its key, by which an earlier response is found. */
type RequestContext = {
  readonly catalog: { readonly account: { readonly id: number } }
  readonly idempotency?: IdempotentRequest | null
}

/** Uses the database's clock, because the clocks of processes may differ. */
const isOld = sql`created_at < now() - interval '24 hours'`

/**
 * The stored response to the same request; null if it has no key or was not carried out. Throws
 * `idempotency_key_reused`.
 */
export async function storedResponse<T>(
  db: Transaction,
  { catalog, idempotency }: RequestContext,
): Promise<Written<T> | null> {
  if (!idempotency) return null
  const account = String(catalog.account.id)
  const statement = sql`SELECT request_hash, answer, told, (${isOld})::text AS is_old
FROM idempotency WHERE account_id = ${account}::bigint AND key = ${idempotency.key}::text`
  const [stored] = await ask(db, statement)
  if (!stored) return null
  if (stored.is_old === 'true') {
    await forget(db, account, idempotency.key)
    return null
  }
  if (stored.request_hash !== idempotency.hash) {
    throw new Refusal(
      'idempotency_key_reused',
      'The Idempotency-Key was used for another request within the last 24 hours. Take a new one.',
    )
  }
  idempotency.isReplayed = true
  return { row: JSON.parse(stored.answer!), response: JSON.parse(stored.told!) }
}

/**
 * Carries out a write and stores the request's key with it. Returns the row of its answer; undefined if
 * nothing was written, and no key is stored.
 */
export async function writeIdempotently<T extends object>(
  db: Transaction,
  params: WriteParams,
  context: RequestContext,
  write: Write,
  response: T,
): Promise<Written<T> | undefined> {
  const { idempotency } = context
  if (!idempotency) {
    const [row] = await execute(db, params, write)
    return row && { row, response }
  }
  const answer = sql`row_to_json(answer)::text FROM counted, answer`
  const insert = responseInsert(sql`counted.account`, idempotency, response, answer)
  return orStoredResponse(db, context, async () => {
    const [row] = await execute(db, params, write, { after: [{ name: 'stored', change: insert }] })
    return row && { row, response }
  })
}

/**
 * Stores the response to a request with a key that changes nothing: the same request, sent again later, must
 * not undo what came between.
 */
export async function storeResponse<T extends object>(
  db: Transaction,
  context: RequestContext,
  written: Written<T>,
): Promise<Written<T>> {
  const { catalog, idempotency } = context
  if (!idempotency) return written
  const own = param(String(catalog.account.id))
  const answer = sql`${JSON.stringify(written.row)}::text`
  const insert = responseInsert(sql`${own}::bigint`, idempotency, written.response, answer)
  return orStoredResponse(db, context, async () => {
    await writeStatement(db, own, insert, true)
    return written
  })
}

/**
 * Carries out a request of several writes in the transaction `tx`, and stores its key there if they are
 * committed (`commits`). `result` is the whole response, also when it is replayed. Throws
 * `idempotency_key_reused`.
 */
export async function oncePerKey<T extends object>(
  tx: Transaction,
  context: RequestContext,
  act: () => Promise<{ readonly commits: boolean; readonly result: T }>,
): Promise<{ readonly commits: boolean; readonly result: T }> {
  const { catalog, idempotency } = context
  if (!idempotency) return act()
  // Under the lock, a concurrent request with the same key is either done or waits.
  await ask(tx, lockStatement(String(catalog.account.id)))
  const before = await storedResponse<T>(tx, context)
  if (before) return { commits: false, result: before.response }
  const outcome = await act()
  if (outcome.commits) await storeResponse(tx, context, { row: {}, response: outcome.result })
  return outcome
}

/** The result of `act`; if another process has carried out the same request meanwhile, its response. */
async function orStoredResponse<W extends Written<object> | undefined>(
  db: Transaction,
  context: RequestContext,
  act: () => Promise<W>,
): Promise<W> {
  try {
    return await act()
  } catch (error) {
    if (!isTaken(error, 'idempotency_pkey')) throw error
    // This one has saved nothing.
    const quicker = await storedResponse(db, context)
    if (quicker) return quicker as W
    throw busy('The Idempotency-Key expired at this moment; try again.')
  }
}

/** An INSERT of a response, of which `answer` is the row, as SQL of JSON text. */
function responseInsert(account: Sql, { key, hash }: IdempotentRequest, response: object, answer: Sql): Sql {
  return sql`
  INSERT INTO idempotency (account_id, key, request_hash, told, created_at, answer)
  SELECT ${account}, ${key}::text, ${hash}::text, ${JSON.stringify(response)}::text, now(), ${answer}
`
}

/** Deletes the keys that are older than a day. */
export async function forgetOldKeys(db: Transaction, account: string): Promise<void> {
  const own = sql`SELECT 1 FROM idempotency WHERE account_id = ${account}::bigint AND ${isOld} LIMIT 1`
  // Where nothing is old, nothing waits for a lock.
  if ((await ask(db, own)).length === 0) return
  while ((await forget(db, account, null)) > 0);
}

/** Deletes a batch of old keys, or only the old key `key`; returns their number. */
async function forget(db: Transaction, account: string, key: string | null): Promise<number> {
  const [own, only] = [param(account), param(key)]
  const statement = sql`WITH ${lockOnly(own)}
DELETE FROM idempotency USING locked
WHERE account_id = ${own}::bigint AND key = ANY(ARRAY(
  SELECT key FROM idempotency
  WHERE account_id = ${own}::bigint AND ${isOld} AND (${only}::text IS NULL OR key = ${only}::text)
  LIMIT 1000))
RETURNING 1`
  return (await writeStatement(db, own, statement)).length
}
