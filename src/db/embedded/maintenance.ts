/**
 * The work of PostgreSQL's background processes, which the embedded engine lacks: checkpoints, vacuum and
 * statistics. Owns its schedule. Knows the database only through its client.
 */
import { type Interval, interval } from '../../waiting/interval.ts'
import type { Log } from '../open.ts'
import { failureLog } from '../operational-errors.ts'
import type { Pool } from '../postgres/pool.ts'
import { analyzeGrownTables, tablesWith } from '../statistics.ts'
import type { Engine } from './engine.ts'

const lookEveryMs = 5_000
const checkpointEveryMs = 60_000
const checkpointBytes = 64n * 1024n * 1024n
const vacuumEveryMs = 60_000
/** A busy engine is vacuumed too, only less often. */
const vacuumAtLeastEveryMs = 300_000

/** Begins the regular maintenance. */
export function maintain(engine: Engine, sql: Pool, log: Log): Interval {
  let checkpointed: bigint | undefined
  let checkpointAt = performance.now()
  let vacuumAt = performance.now()
  let batches = 0

  const look = async () => {
    if (!engine.available) return
    const now = performance.now()
    const idle = engine.batches === batches
    const written = await walPosition(sql)
    checkpointed ??= written
    if (written - checkpointed > (now - checkpointAt > checkpointEveryMs ? 0n : checkpointBytes)) {
      await sql.query('CHECKPOINT')
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

  return interval(lookEveryMs, look, failureLog('Maintenance of the embedded database', log))
}

/**
 * VACUUM (ANALYZE) of the tables that need it, by autovacuum's own threshold (PostgreSQL, "The Autovacuum
 * Daemon"). Each table is a statement of its own, so that requests can run in between. Returns the names of
 * these tables.
 */
export async function vacuumDueTables(sql: Pool): Promise<string[]> {
  const due = await tablesWith(
    sql,
    `s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
      OR s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
      OR s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
      OR age(c.relfrozenxid) > 100000000`,
  )
  for (const name of due) await sql.query(`VACUUM (ANALYZE) ${name}`)
  return due
}

/** Bytes written to the write-ahead log since the cluster was made. */
async function walPosition(sql: Pool): Promise<bigint> {
  const [row] = await sql.query<{ position: string }[]>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS position`,
  )
  return BigInt(row!.position)
}
