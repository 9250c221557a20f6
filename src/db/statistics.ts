/**
 * Keeps the statistics of fast-growing tables up to date. Plans of prepared statements and of foreign keys
 * are cached: the plan for a small table scans a large one sequentially until there are new statistics. A
 * server's autovacuum runs once a minute, in which an import makes tens of thousands of records.
 */
import { type Interval, interval } from '../waiting/interval.ts'
import type { Log } from './open.ts'
import { failureLog } from './operational-errors.ts'
import type { ConnectionPool, Pool } from './postgres/pool.ts'

const lookEveryMs = 2000
/** So long after a write a table may still be found grown: sessions report what they wrote with a delay. */
const afterWriteMs = 30_000

/**
 * Looks regularly for tables that have grown, as long as `sql` writes. On a cluster its batches don't count:
 * the coordinator holds no rows.
 */
export function keepStatistics(sql: ConnectionPool, log: Log): Interval {
  const onError = failureLog('A look at the statistics of the database', log)
  const look = async () => {
    if (performance.now() - sql.wroteAt < afterWriteMs) await analyzeGrownTables(sql)
  }
  return interval(lookEveryMs, look, onError)
}

/**
 * ANALYZE of the service's tables that have more than doubled since the last one. Rows that were rolled back
 * don't count: statistics would call their table empty. Returns their names.
 */
export async function analyzeGrownTables(sql: Pool): Promise<string[]> {
  const grown = await tablesWith(
    sql,
    's.n_live_tup > 500 + 2 * greatest(c.reltuples, 0) AND s.schemaname = current_schema()',
  )
  // Another process may do the same at this moment.
  for (const name of grown) await sql.query(`ANALYZE (SKIP_LOCKED) ${name}`)
  return grown
}

/** The tables that meet a condition on their statistics `s` and their row `c` of pg_class. */
export async function tablesWith(sql: Pool, condition: string): Promise<string[]> {
  // Otherwise the statistics get this session's counts only after it was idle.
  await sql.query('SELECT pg_stat_force_next_flush()')
  const tables = await sql.query<{ name: string }[]>(`
    SELECT format('%I.%I', s.schemaname, s.relname) AS name
    FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND (${condition})
    ORDER BY s.n_dead_tup DESC`)
  return tables.map(({ name }) => name)
}
