/**
 * Statements over all accounts, whatever node they are on (D178). On a cluster such a statement asks every
 * node, and is refused if one is away; it is then asked of the accounts on the others.
 */
import type { Database } from '../db/open.ts'
import { asUnavailable, DatabaseUnavailable } from '../db/unavailable.ts'
import { ask, param, type Sql, sql } from '../sql.ts'

/** A database that such a statement is asked of. */
export type Everywhere = Pick<Database, 'query' | 'isDistributed'>

/** `away`: null, or why some accounts could not be asked */
export type Answer = { readonly rows: Awaited<ReturnType<Database['query']>>; readonly away: Error | null }

/**
 * Asks a statement over all accounts. It has the condition `isAsked` on the account of each table in it, also
 * where one is compared with another: Citus asks all nodes for a table without. Throws if no node with
 * accounts answers.
 */
export async function askEverywhere(
  db: Everywhere,
  statement: (isAsked: (column: Sql) => Sql) => Sql,
): Promise<Answer> {
  const asked = (isAsked: (column: Sql) => Sql) => ask(db, statement(isAsked))
  try {
    return { rows: await asked(() => sql`TRUE`), away: null }
  } catch (error) {
    const away = asUnavailable(error)
    if (!db.isDistributed || !(away instanceof DatabaseUnavailable)) throw error
    const accounts = await accountsThatAnswer(db)
    if (accounts.length === 0) throw away
    const ids = param(`{${accounts.join()}}`)
    return { rows: await asked(column => sql`${column} = ANY(${ids}::bigint[])`), away }
  }
}

/** Age in seconds, since a column's time, of the oldest row in a state; of all accounts but deleted ones. */
export async function ageOfOldest(
  db: Everywhere,
  { table, since, state }: { readonly table: string; readonly since: string; readonly state: string },
): Promise<number> {
  const { rows } = await askEverywhere(
    db,
    isAsked => sql`SELECT extract(epoch FROM now() - min(x.${sql.id(since)}))::text AS seconds
FROM ${sql.id(table)} x JOIN account a ON a.account_id = x.account_id
WHERE x.state = ${sql.text(state)} AND a.deleted_at IS NULL AND ${isAsked(sql`x.account_id`)}
  AND ${isAsked(sql`a.account_id`)}`,
  )
  return Math.max(0, Number(rows[0]!.seconds ?? 0))
}

/** The ids of the accounts on nodes that answer. */
async function accountsThatAnswer(db: Everywhere): Promise<string[]> {
  const statement = sql`SELECT r.result AS ids FROM run_command_on_shards('account',
      $$SELECT string_agg(account_id::text, ',') FROM %s$$) r WHERE r.success AND r.result <> ''`
  const rows = await ask(db, statement)
  return rows.flatMap(({ ids }) => ids!.split(','))
}
