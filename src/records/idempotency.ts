/**
 * A request that is sent again is not carried out again (D8). The statement that writes also stores the
 * request's key, together with the row that it answers, for a day. Knows no HTTP and no resource.
 */
import { constraintOf } from '../constraint.ts'
import { Refusal } from '../errors.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Queryable } from './store.ts'
import { carryOut, locked, lockFirst, statementOf } from './write.ts'

/** A request with an Idempotency-Key. */
export type IdempotentRequest = {
  /** the user and the key as they sent it: neither users nor accounts share keys */
  readonly key: string
  /** of the whole request */
  readonly hash: string
  /** set when the answer is that of an earlier request */
  isReplayed: boolean
}

/** The row that a write answered, and what the response says besides (the column `told`). */
export type Written<T> = { readonly row: Record<string, string | null>; readonly response: T }

type RequestKey = { readonly idempotency?: IdempotentRequest | null; readonly account: string }

/** Uses the database's clock, because the clocks of processes may differ. */
const isOld = sql`created_at < now() - interval '24 hours'`

/**
 * The response to the same request, sent earlier; null when it has no key or was not carried out. Throws
 * `idempotency_key_reused`.
 */
export async function storedResponse<T>(
  db: Queryable,
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
 * Carries out a write and stores the request's key with it. The last CTE is `answer`; when its `id` is null,
 * nothing was written and no key is stored. Returns the answered row, undefined without one. `first` as in
 * Queryable.
 */
export async function writeIdempotently<T extends object>(
  db: Queryable,
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
    // The same request came to another process and was quicker there; this one has saved nothing.
    const quicker = await storedResponse<T>(db, { idempotency, account: account.value! })
    if (quicker) return quicker
    throw new Refusal('busy_record', 'The Idempotency-Key expired at this moment; try again.', [], {
      'retry-after': '1',
    })
  }
}

/**
 * Carries out, in the transaction `tx`, a request that makes several writes, and stores its key there if they
 * are kept. Its answer is all in `result`, that of the same request sent earlier too. Throws
 * `idempotency_key_reused`.
 */
export async function onceByKey<T extends object>(
  tx: Queryable,
  key: RequestKey,
  act: () => Promise<{ readonly isKept: boolean; readonly result: T }>,
): Promise<{ readonly isKept: boolean; readonly result: T }> {
  const { idempotency, account } = key
  if (!idempotency) return act()
  // Under the lock, the same request that came at the same time has been carried out, or waits.
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
 * The CTEs of a write that changes nothing and only answers `answer`, a SELECT over `locked`. Its key is
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

/** Forgets the keys that are older than a day. */
export async function forgetOldKeys(db: Queryable, account: string): Promise<void> {
  while ((await forget(db, account, null)) > 0);
}

/** Forgets a batch of old keys, or the one: how many. */
async function forget(db: Queryable, account: string, key: string | null): Promise<number> {
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
