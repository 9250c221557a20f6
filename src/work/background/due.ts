/** Which accounts are to be looked after: each account notes when a process last began with it. */
import { askEverywhere, type Everywhere } from '../../accounts/everywhere.ts'
import { ask, type Sql, sql } from '../../sql.ts'

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

function isDue(notSinceMs: number): Sql {
  return sql`looked_after_at <= now() - make_interval(secs => ${sql.integer(notSinceMs)} / 1000.0)`
}
