/**
 * The schema of a database for backups: the service's tables, the history of its migrations, and session
 * settings that make the text of values the same everywhere. Names no table but that history.
 */
import { accountTables, type Table } from '../db/account-tables.ts'
import { migrationTable } from '../db/migrate.ts'
import type { PoolTransaction } from '../db/open.ts'
import type { AppliedMigration } from './format.ts'

/**
 * Makes the session of the transaction print and read values in one way, regardless of settings of the
 * database or the role. Removes its time limits.
 */
export async function configureSession(tx: PoolTransaction): Promise<void> {
  await tx.query(`SELECT set_config(name, value, true)
    FROM (VALUES ('TimeZone', 'UTC'), ('DateStyle', 'ISO, MDY'), ('IntervalStyle', 'postgres'),
      ('extra_float_digits', '1'), ('bytea_output', 'hex'), ('statement_timeout', '0'), ('lock_timeout', '0'),
      ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0')) s (name, value)
    WHERE name IN (SELECT name FROM pg_settings)`)
}

/** The tables of the service in loading order, and the names of others. */
export function readTables(tx: PoolTransaction): Promise<{ tables: Table[]; others: string[] }> {
  return accountTables(text => tx.query(text))
}

/** The applied migrations in order; null if there are none. */
export async function readHistory(tx: PoolTransaction): Promise<AppliedMigration[] | null> {
  const [there] = await tx.query<{ there: string }[]>(
    `SELECT (to_regclass('${migrationTable}') IS NOT NULL)::text AS there`,
  )
  if (there!.there !== 'true') return null
  const rows = await tx.query<{ version: string; name: string; checksum: string }[]>(
    `SELECT m.version::text AS version, m.name, m.checksum FROM ${migrationTable} m ORDER BY m.version`,
  )
  return rows.map(row => ({ ...row, version: Number(row.version) }))
}
