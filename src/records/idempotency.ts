/**
 * Idempotent requests (D8): the statement that writes also stores the Idempotency-Key, with the row that it
 * returns, for a day, and a repeated request gets that response. Knows no HTTP and no resource.
 */
import { constraintOf } from '../db/constraint.ts'
import { Refusal } from '../errors.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Transaction } from './store.ts'
import { carryOut, locked, lockFirst, statementOf } from './write.ts'

/** A request with an Idempotency-Key. */
export type IdempotentRequest = {
  /** the user and the key that they sent: neither users nor accounts share keys */
  readonly key: string
  /** hash of the whole request */
  readonly hash: string
  /** True if the response is that of an earlier request */
  isReplayed: boolean
}

/** The row that a write returned, and the rest of the response (the column `told`). */
export type Written<T> = { readonly row: Record<string, string | null>; readonly response: T }

type RequestKey = { readonly idempotency?: IdempotentRequest | null; readonly account: string }

/** Uses the database's clock, because the clocks of processes may differ. */
const isOld = sql`created_at < now() - interval '24 hours'`

/**
 * The stored response to the same request; null if it has no key or was not carried out. Throws
 * `idempotency_key_reused`.
 */
export async function storedResponse<T>(
  db: Transaction,
  { idempotency, account }: RequestKey,
): Promise<Written<T> | null> {
  if (!idempotency) return null
  const [kept] = await ask(
    db,
    sql`SELECT request_hash, answer, told, (${isOld})::text AS is_old
FROM idempotency WHERE account_id = ${account}::bigint AND key = ${idempotency.key}::text`,
  )
  if (!kept) return null
  if (kept.is_old === 'true') {
    await forget(db, account, idempotency.key)
    return null
  }
  if (kept.request_hash !== idempotency.hash) {
    throw new Refusal(
      'idempotency_key_reused',
      'The Idempotency-Key was used for another request within the last 24 hours. Take a new one.',
    )
  }
  idempotency.isReplayed = true
  return { row: JSON.parse(kept.answer!), response: JSON.parse(kept.told!) }
}

/**
 * Carries out a write and stores the request's key with it. The last CTE is `answer`; if its `id` is null,
 * nothing was written and no key is stored. Returns its row, or undefined. `first` as in Transaction.
 */
export async function writeIdempotently<T extends object>(
  db: Transaction,
  account: Param,
  idempotency: IdempotentRequest | null,
  ctes: readonly Sql[],
  response: T,
  first?: string,
): Promise<Written<T> | undefined> {
  const statement = statementOf(idempotency ? [...ctes, kept(account, idempotency, response)] : ctes)
  try {
    const [row] = await carryOut(db, account, statement, first)
    return row && { row, response }
  } catch (error) {
    if (!idempotency || !isKeyTaken(error)) throw error
    // Another process has carried out the same request; this one has saved nothing.
    const quicker = await storedResponse<T>(db, { idempotency, account: account.value! })
    if (quicker) return quicker
    throw new Refusal('busy_record', 'The Idempotency-Key expired at this moment; try again.', [], {
      'retry-after': '1',
    })
  }
}

/**
 * Carries out a request of several writes in the transaction `tx`, and stores its key there if they are
 * committed (`isKept`). `result` is the whole response, also when it is replayed. Throws
 * `idempotency_key_reused`.
 */
export async function onceByKey<T extends object>(
  tx: Transaction,
  key: RequestKey,
  act: () => Promise<{ readonly isKept: boolean; readonly result: T }>,
): Promise<{ readonly isKept: boolean; readonly result: T }> {
  const { idempotency, account } = key
  if (!idempotency) return act()
  // Under the lock, a concurrent request with the same key is either done or waits.
  await tx.query(lockFirst, [account])
  const before = await storedResponse<T>(tx, key)
  if (before) return { isKept: false, result: before.response }
  const outcome = await act()
  if (outcome.isKept) {
    const own = param(account)
    const answer = sql`SELECT '' AS id FROM locked`
    await carryOut(tx, own, statementOf([...unchanged(own, answer), kept(own, idempotency, outcome.result)]))
  }
  return outcome
}

/**
 * The CTEs of a write that changes nothing and only returns `answer`, a SELECT over `locked`. Its key is
 * stored too: the same request, sent again later, must not undo what came between.
 */
export function unchanged(account: Param, answer: Sql): Sql[] {
  return [locked(account), sql`answer AS (${answer})`]
}

function kept(account: Param, { key, hash }: IdempotentRequest, response: object): Sql {
  return sql`kept AS (
  INSERT INTO idempotency (account_id, key, request_hash, told, created_at, answer)
  SELECT ${account}::bigint, ${key}::text, ${hash}::text, ${JSON.stringify(response)}::text, now(),
    row_to_json(answer)::text
  FROM answer WHERE answer.id IS NOT NULL
)`
}

/** Deletes the keys that are older than a day. */
export async function forgetOldKeys(db: Transaction, account: string): Promise<void> {
  while ((await forget(db, account, null)) > 0);
}

/** Deletes a batch of old keys, or only the old key `key`; returns their number. */
async function forget(db: Transaction, account: string, key: string | null): Promise<number> {
  const [own, only] = [param(account), param(key)]
  const statement = sql`WITH ${locked(own)}
DELETE FROM idempotency USING locked
WHERE account_id = ${own}::bigint AND key = ANY(ARRAY(
  SELECT key FROM idempotency
  WHERE account_id = ${own}::bigint AND ${isOld} AND (${only}::text IS NULL OR key = ${only}::text)
  LIMIT 1000))
RETURNING 1`
  return (await carryOut(db, own, statement)).length
}

function isKeyTaken(error: unknown): boolean {
  return (error as { code?: string }).code === '23505' && constraintOf(error) === 'idempotency_pkey'
}
