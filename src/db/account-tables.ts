/**
 * The tables that belong to accounts, read from the database's own catalog: their columns, and the order in
 * which their rows can be loaded. Names no table but the history of migrations.
 */
import { migrationTable } from './migrate.ts'
import { StartupError } from './startup-error.ts'

export type Column = { readonly name: string; readonly type: string }
export type Table = {
  readonly name: string
  readonly columns: readonly Column[]
  /** estimated number of rows */
  readonly estimate: number
}

type Row = { readonly [column: string]: string | null }

/** A name in SQL text. Unlike names in the code, these names come from the catalog or from a file. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The tables of accounts, each after those that it refers to, and the names of other tables in the database.
 * A table belongs to accounts if it names them (test/api/schema.test.ts). Throws a StartupError when tables
 * refer to each other in a circle.
 */
export async function accountTables(
  query: (text: string) => Promise<readonly Row[]>,
): Promise<{ tables: Table[]; others: string[] }> {
  const rows = await query(`
    SELECT c.relname AS name, greatest(c.reltuples, 0)::bigint::text AS estimate,
      (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
         ORDER BY a.attnum)
       FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')::text
        AS columns,
      (SELECT coalesce(json_agg(DISTINCT t.relname), '[]')
       FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
       WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid)::text AS needs,
      EXISTS (SELECT 1 FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnotnull)::text AS is_ours
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> '${migrationTable}'
    ORDER BY c.relname`)
  const ours = rows.filter(row => row.is_ours === 'true')
  const tables = ours.map(({ name, columns, needs, estimate }) => ({
    name: name!,
    columns: JSON.parse(columns!) as Column[],
    needs: JSON.parse(needs!) as string[],
    estimate: Number(estimate),
  }))
  return { tables: inOrder(tables), others: rows.filter(row => !ours.includes(row)).map(row => row.name!) }
}

function inOrder(tables: readonly (Table & { readonly needs: readonly string[] })[]): Table[] {
  const placed: Table[] = []
  const left = new Map(tables.map(table => [table.name, table]))
  while (left.size > 0) {
    const next = [...left.values()].filter(table => !table.needs.some(name => left.has(name)))
    if (next.length === 0)
      throw new StartupError(`The tables ${[...left.keys()].join(', ')} refer to each other in a circle.`)
    for (const { name, columns, estimate } of next) {
      placed.push({ name, columns, estimate })
      left.delete(name)
    }
  }
  return placed
}
