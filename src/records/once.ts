/**
 * A request that is sent again is not carried out again (D8): its key is kept by the very statement that
 * writes, with the row that this statement answers, for a day. Knows no HTTP and no resource.
 */
import { Refusal } from '../errors.ts'
import type { Queryable } from './store.ts'
import { locked } from './write.ts'

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
const isOld = "created_at < now() - interval '24 hours'"

/**
 * What the request has done before; null when it has no key or was not carried out. Throws
 * `idempotency_key_reused`.
 */
export async function recall<T>(db: Queryable, { once, account }: Asked): Promise<Written<T> | null> {
  if (!once) return null
  const [kept] = await db.query(
    `SELECT request_hash, answer, told, (${isOld})::text AS is_old FROM idempotency WHERE account_id = $1::bigint AND key = $2::text`,
    [account, once.key],
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
 * Carries out a write statement that ends with a CTE `answer`, whose `id` is null when nothing was written,
 * and keeps the request's key in it. Its parameters begin with the account. The row; undefined without one.
 * `first` as in Queryable.
 */
export async function writeOnce<T extends object>(
  db: Queryable,
  asked: Asked,
  statement: string,
  params: readonly (string | null)[],
  told: T,
  first?: string,
): Promise<Written<T> | undefined> {
  const { once, account } = asked
  if (!once) {
    const [row] = await db.write(account, `${statement} SELECT * FROM answer`, params, first)
    return row && { row, told }
  }
  const next = params.length + 1
  const keeping =
    `, kept AS (INSERT INTO idempotency (account_id, key, request_hash, told, created_at, answer) SELECT $1::bigint, $${next}::text, ` +
    `$${next + 1}::text, $${next + 2}::text, now(), row_to_json(answer)::text FROM answer WHERE answer.id IS NOT NULL)`
  const keyed = [...params, once.key, once.hash, JSON.stringify(told)]
  try {
    const [row] = await db.write(account, `${statement}${keeping} SELECT * FROM answer`, keyed, first)
    return row && { row, told }
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    // The same request came over another process and was quicker; nothing of this one was saved.
    const quicker = await recall<T>(db, asked)
    if (quicker) return quicker
    throw new Refusal('busy_record', 'The Idempotency-Key ended at this moment; try again.', [], {
      'retry-after': '1',
    })
  }
}

/** Forgets the keys that are older than a day. */
export async function forgetOldKeys(db: Queryable, account: string): Promise<void> {
  while ((await forget(db, account, null)) > 0);
}

/** Forgets a batch of old keys, or the one: how many. */
async function forget(db: Queryable, account: string, key: string | null): Promise<number> {
  const old = `SELECT key FROM idempotency WHERE account_id = $1::bigint AND ${isOld} AND ($2::text IS NULL OR key = $2::text) LIMIT 1000`
  const gone = await db.write(
    account,
    `WITH ${locked} DELETE FROM idempotency USING locked WHERE account_id = $1::bigint AND key = ANY(ARRAY(${old})) RETURNING 1`,
    [account, key],
  )
  return gone.length
}

function isKeyTaken(error: unknown): boolean {
  const { code, constraint_name: constraint = '' } = error as { code?: string; constraint_name?: string }
  return code === '23505' && constraint.startsWith('idempotency_pkey')
}
