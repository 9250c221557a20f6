/**
 * Which accounts are to be looked after: each notes when a process last began with it, and the configuration
 * that its records follow.
 */
import { askEverywhere, type Everywhere } from '../../accounts/everywhere.ts'
import type { Database } from '../../db/open.ts'
import { ask, param, type Sql, sql } from '../../sql.ts'

/** The accounts, by id, that no process has looked after for this long. */
export async function accountsDue(db: Everywhere, notSinceMs: number): Promise<string[]> {
  const { rows } = await askEverywhere(
    db,
    isAsked => sql`SELECT account_id::text AS account FROM account
      WHERE ${isDue(notSinceMs)} AND ${isAsked(sql`account_id`)} ORDER BY account_id`,
  )
  return rows.map(({ account }) => account!)
}

/** Begins with an account; `isChanged`: its configuration has changed since. Null if another process has. */
export async function beginWith(
  db: Everywhere,
  account: string,
  notSinceMs: number,
): Promise<{ isChanged: boolean } | null> {
  const statement = sql`UPDATE account SET looked_after_at = now()
      WHERE account_id = ${account}::bigint AND ${isDue(notSinceMs)}
      RETURNING (settled_version < catalog_version)::text AS changed`
  const [row] = await ask(db, statement)
  return row ? { isChanged: row.changed === 'true' } : null
}

/** Records the configuration version up to which an account's jobs are done. */
export async function noteDone(db: Database, account: number, version: string): Promise<void> {
  const done = param(version)
  const statement = sql`UPDATE account SET settled_version = ${done}::bigint,
        derived_version = greatest(derived_version, ${done}::bigint)
      WHERE account_id = ${String(account)}::bigint AND settled_version < ${done}::bigint`
  await ask(db, statement)
}

function isDue(notSinceMs: number): Sql {
  return sql`looked_after_at <= now() - make_interval(secs => ${sql.integer(notSinceMs)} / 1000.0)`
}
