/**
 * The service's tables, read from the database's own catalog: their columns, and the order in which rows can
 * be loaded. Owns which tables are the service's, and the settings of the session that make the text of a
 * value the same everywhere. Names no table but the history of migrations.
 */
import { migrationTable } from '../db/migrate.ts'
import type { Transaction } from '../db/open.ts'
import { BackupError } from './backup-error.ts'
import type { AppliedMigration } from './format.ts'

export type Column = { readonly name: string; readonly type: string }
export type Table = {
  readonly name: string
  readonly columns: readonly Column[]
  /** a guess of how many rows it has */
  readonly estimate: number
}

/** A name in SQL text. Unlike names in the code, these names come from the catalog or from a file. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Makes the session of the transaction print and read values in one way, whatever is set for the database or
 * the role. Removes its time limits.
 */
export async function settle(tx: Transaction): Promise<void> {
  await tx.unsafe(`SELECT set_config(name, value, true)
    FROM (VALUES ('TimeZone', 'UTC'), ('DateStyle', 'ISO, MDY'), ('IntervalStyle', 'postgres'), ('extra_float_digits', '1'), ('bytea_output', 'hex'),
      ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0')) s (name, value)
    WHERE name IN (SELECT name FROM pg_settings)`)
}

/**
 * The tables of the service, each after those that it refers to, and the names of other tables in the
 * database. A table is the service's if it belongs to accounts (test/api/schema.test.ts). Throws a
 * BackupError when tables refer to each other in a circle.
 */
export async function readTables(tx: Transaction): Promise<{ tables: Table[]; others: string[] }> {
  const rows = await tx.unsafe<
    { name: string; columns: string; needs: string; estimate: string; is_ours: string }[]
  >(`
    SELECT c.relname AS name, greatest(c.reltuples, 0)::bigint::text AS estimate,
      (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum) FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')::text AS columns,
      (SELECT coalesce(json_agg(DISTINCT t.relname), '[]') FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
       WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid)::text AS needs,
      EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnotnull)::text AS is_ours
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> '${migrationTable}'
    ORDER BY c.relname`)
  const ours = rows.filter(row => row.is_ours === 'true')
  const tables = ours.map(({ name, columns, needs, estimate }) => ({
    name,
    columns: JSON.parse(columns) as Column[],
    needs: JSON.parse(needs) as string[],
    estimate: Number(estimate),
  }))
  return { tables: inOrder(tables), others: rows.filter(row => !ours.includes(row)).map(row => row.name) }
}

function inOrder(tables: readonly (Table & { readonly needs: readonly string[] })[]): Table[] {
  const placed: Table[] = []
  const left = new Map(tables.map(table => [table.name, table]))
  while (left.size > 0) {
    const next = [...left.values()].filter(table => !table.needs.some(name => left.has(name)))
    if (next.length === 0)
      throw new BackupError(`The tables ${[...left.keys()].join(', ')} refer to each other in a circle.`)
    for (const { name, columns, estimate } of next) {
      placed.push({ name, columns, estimate })
      left.delete(name)
    }
  }
  return placed
}

/** The migrations that were applied to the database, in order; null if none ever was. */
export async function readHistory(tx: Transaction): Promise<AppliedMigration[] | null> {
  const [there] = await tx.unsafe<{ there: string }[]>(
    `SELECT (to_regclass('${migrationTable}') IS NOT NULL)::text AS there`,
  )
  if (there!.there !== 'true') return null
  const rows = await tx.unsafe<{ version: string; name: string; checksum: string }[]>(
    `SELECT version::text AS version, name, checksum FROM ${migrationTable} ORDER BY ${migrationTable}.version`,
  )
  return rows.map(row => ({ ...row, version: Number(row.version) }))
}
