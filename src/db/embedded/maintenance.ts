/**
 * Does what PostgreSQL's background processes do on a server and the embedded engine lacks: checkpoints,
 * vacuum, statistics. Owns when it is done. Knows the database only through its client.
 */
import type { Log } from '../open.ts'
import type { Pool } from '../pool.ts'
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts'
import type { Engine } from './engine.ts'

const lookEveryMs = 5_000
const checkpointEveryMs = 60_000
const checkpointBytes = 64n * 1024n * 1024n
const vacuumEveryMs = 60_000
/** a busy engine is vacuumed too, only later */
const vacuumAtLeastEveryMs = 300_000

/** Begins the regular maintenance. The timer does not keep the process alive. */
export function maintain(engine: Engine, sql: Pool, log: Log): { stop(): void } {
  let checkpointed: bigint | undefined
  let checkpointAt = performance.now()
  let vacuumAt = performance.now()
  let batches = 0
  let running = false

  const look = async () => {
    const now = performance.now()
    const idle = engine.batches === batches
    const written = await walPosition(sql)
    checkpointed ??= written
    if (written - checkpointed > (now - checkpointAt > checkpointEveryMs ? 0n : checkpointBytes)) {
      await sql.unsafe('CHECKPOINT')
      checkpointed = await walPosition(sql)
      checkpointAt = now
    }
    if (!idle) await analyzeGrownTables(sql)
    // VACUUM writes to the log; the checkpoint has freed space there.
    if (engine.hasDiskSpace() && now - vacuumAt > (idle ? vacuumEveryMs : vacuumAtLeastEveryMs)) {
      await vacuumDueTables(sql)
      vacuumAt = now
    }
    batches = engine.batches
  }

  const timer = setInterval(() => {
    if (running || !engine.available) return
    running = true
    look()
      .catch(
        error =>
          asUnavailable(error) instanceof DatabaseUnavailable ||
          log(`Maintenance of the embedded database failed: ${error}`),
      )
      .finally(() => {
        running = false
      })
  }, lookEveryMs).unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * VACUUM (ANALYZE) of the tables that need it, by autovacuum's own measure (PostgreSQL, "The Autovacuum
 * Daemon"). Each table is a statement, so that requests get their turn in between. Returns the names of these
 * tables.
 */
export async function vacuumDueTables(sql: Pool): Promise<string[]> {
  const due = await tablesWith(
    sql,
    `s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
      OR s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
      OR s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
      OR age(c.relfrozenxid) > 100000000`,
  )
  for (const name of due) await sql.unsafe(`VACUUM (ANALYZE) ${name}`)
  return due
}

/**
 * ANALYZE of the tables that have more than doubled since the last one: a statement is planned once, and the
 * plan for a small table reads a large one from end to end until there are new statistics. So an import does
 * not wait for the vacuum. Returns the names of these tables.
 */
export async function analyzeGrownTables(sql: Pool): Promise<string[]> {
  const grown = await tablesWith(sql, 's.n_mod_since_analyze > 500 + greatest(c.reltuples, 0)')
  for (const name of grown) await sql.unsafe(`ANALYZE ${name}`)
  return grown
}

/** The tables that meet a condition on their statistics `s` and their row `c` of pg_class. */
async function tablesWith(sql: Pool, condition: string): Promise<string[]> {
  // Otherwise the statistics have this session's counts only after it was idle.
  await sql.unsafe('SELECT pg_stat_force_next_flush()')
  const tables = await sql.unsafe<{ name: string }[]>(`
    SELECT format('%I.%I', s.schemaname, s.relname) AS name
    FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND (${condition})
    ORDER BY s.n_dead_tup DESC`)
  return tables.map(({ name }) => name)
}

/** Bytes written to the write-ahead log since the cluster was made. */
async function walPosition(sql: Pool): Promise<bigint> {
  const [row] = await sql.unsafe<{ position: string }[]>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS position`,
  )
  return BigInt(row!.position)
}
