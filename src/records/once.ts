/**
 * A request that is sent again is not carried out again (D8): its key is kept by the very statement that
 * writes, with the row that this statement answers, for a day. Knows no HTTP and no resource.
 */
import { constraintOf } from '../constraint.ts'
import { Refusal } from '../errors.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Queryable } from './store.ts'
import { carryOut, locked, statementOf } from './write.ts'

/** What a request is known by. */
export type Once = {
  /** as the caller chose it; one account's keys are apart from another's */
  readonly key: string
  /** of all that was asked */
  readonly hash: string
  /** set when the answer is that of an earlier request */
  isReplayed: boolean
}

/** The row a write answered, and what its answer says besides. */
export type Written<T> = { readonly row: Record<string, string | null>; readonly told: T }

type Asked = { readonly once?: Once | null; readonly account: string }

/** Told by the database's clock, as processes may differ. */
const isOld = sql`created_at < now() - interval '24 hours'`

/**
 * What the request has done before; null when it has no key or was not carried out. Throws
 * `idempotency_key_reused`.
 */
export async function recall<T>(db: Queryable, { once, account }: Asked): Promise<Written<T> | null> {
  if (!once) return null
  const [kept] = await ask(
    db,
    sql`SELECT request_hash, answer, told, (${isOld})::text AS is_old
FROM idempotency WHERE account_id = ${account}::bigint AND key = ${once.key}::text`,
  )
  if (!kept) return null
  if (kept.is_old === 'true') {
    await forget(db, account, once.key)
    return null
  }
  if (kept.request_hash !== once.hash) {
    throw new Refusal(
      'idempotency_key_reused',
      'The Idempotency-Key was used for another request within the last 24 hours. Take a new one.',
    )
  }
  once.isReplayed = true
  return { row: JSON.parse(kept.answer!), told: JSON.parse(kept.told!) }
}

/**
 * Carries out a write, whose CTEs end with `answer`, and keeps the request's key in it unless the answer's
 * `id` is null: nothing was written then. The answered row; undefined without one. `first` as in Queryable.
 */
export async function writeOnce<T extends object>(
  db: Queryable,
  account: Param,
  once: Once | null,
  ctes: readonly Sql[],
  told: T,
  first?: string,
): Promise<Written<T> | undefined> {
  const statement = statementOf(once ? [...ctes, kept(account, once, told)] : ctes)
  try {
    const [row] = await carryOut(db, account, statement, first)
    return row && { row, told }
  } catch (error) {
    if (!once || !isKeyTaken(error)) throw error
    // The same request came over another process and was quicker; nothing of this one was saved.
    const quicker = await recall<T>(db, { once, account: account.value! })
    if (quicker) return quicker
    throw new Refusal('busy_record', 'The Idempotency-Key ended at this moment; try again.', [], {
      'retry-after': '1',
    })
  }
}

/**
 * The CTEs of a write that changes nothing and answers `answer`, a SELECT over `locked`. The key is kept of
 * those, too: sent again later, it must not undo what came between.
 */
export function unchanged(account: Param, answer: Sql): Sql[] {
  return [locked(account), sql`answer AS (${answer})`]
}

function kept(account: Param, { key, hash }: Once, told: object): Sql {
  return sql`kept AS (
  INSERT INTO idempotency (account_id, key, request_hash, told, created_at, answer)
  SELECT ${account}::bigint, ${key}::text, ${hash}::text, ${JSON.stringify(told)}::text, now(),
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
