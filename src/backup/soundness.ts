/**
 * Checks a database for everything at which a restore of it would fail (`dealwright check --database`): rows
 * that can't be read, rows that are too long, duplicate keys, references to nothing, and indexes that are not
 * valid. Names no table; reads them from the database's own catalog. Reads everything.
 */
import { quoted } from '../db/account-tables.ts'
import type { Database, PoolTransaction } from '../db/open.ts'
import { longestLine } from './format.ts'
import { configureSession, readTables } from './tables.ts'

/** The result of one check: what is wrong, or what was looked at. */
export type Soundness = { readonly what: string; readonly problems: readonly string[]; readonly seen: string }

type Constraint = {
  readonly type: 'p' | 'f'
  readonly name: string
  readonly table: string
  readonly target: string
  readonly columns: string
  readonly targets: string
}

export async function soundness(db: Pick<Database, 'sql'>): Promise<Soundness[]> {
  return db.sql.begin(async tx => {
    await configureSession(tx)
    // An index may be what is damaged.
    await tx.query(
      "SELECT set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true)",
    )
    await tx.query("SELECT set_config('enable_bitmapscan', 'off', true)")
    const { tables } = await readTables(tx)
    const all = await constraints(tx)
    return [
      await readable(
        tx,
        tables.map(({ name }) => name),
      ),
      await unique(tx, ofType(all, 'p')),
      await referring(tx, ofType(all, 'f')),
      await validIndexes(tx),
    ]
  }, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
}

async function readable(tx: PoolTransaction, tables: readonly string[]): Promise<Soundness> {
  const problems: string[] = []
  let rows = 0
  for (const table of tables) {
    try {
      const [found] = await attempt<{ rows: string; longest: string | null }>(
        tx,
        `SELECT count(*)::text AS rows, max(length(t::text))::text AS longest FROM ${quoted(table)} t`,
      )
      rows += Number(found!.rows)
      if (Number(found!.longest ?? 0) >= longestLine / 2) problems.push(`${table} has a row that is too long`)
    } catch (error) {
      const { cause = error } = error as Error
      const { code, message } = cause as Error & { code?: string }
      problems.push(`${table} can't be read (${code ?? message})`)
    }
  }
  return { what: 'rows', problems, seen: `all ${rows} rows of ${tables.length} tables can be read` }
}

async function unique(tx: PoolTransaction, keys: readonly Constraint[]): Promise<Soundness> {
  const problems: string[] = []
  for (const { table, columns } of keys) {
    const [found] = await tx.query<{ count: string }[]>(
      `SELECT count(*)::text AS count FROM (
        SELECT 1 FROM ${quoted(table)} GROUP BY ${columns} HAVING count(*) > 1) twice`,
    )
    if (found!.count !== '0') problems.push(`${table} has ${found!.count} keys twice`)
  }
  return { what: 'keys', problems, seen: `no key of ${keys.length} tables is there twice` }
}

async function referring(tx: PoolTransaction, references: readonly Constraint[]): Promise<Soundness> {
  const problems: string[] = []
  for (const { name, table, target, columns, targets } of references) {
    const own = columns.split(', ')
    const same = targets.split(', ').map((column, index) => `o.${column} = r.${own[index]}`)
    const filled = own.map(column => `r.${column} IS NOT NULL`)
    const [found] = await tx.query<{ count: string }[]>(
      `SELECT count(*)::text AS count FROM ${quoted(table)} r WHERE ${filled.join(' AND ')}
        AND NOT EXISTS (SELECT 1 FROM ${quoted(target)} o WHERE ${same.join(' AND ')})`,
    )
    const { count } = found!
    if (count !== '0')
      problems.push(`${table} has ${count} ${count === '1' ? 'row' : 'rows'} without ${target} (${name})`)
  }
  return { what: 'references', problems, seen: `${references.length} kinds lead to rows that are there` }
}

async function validIndexes(tx: PoolTransaction): Promise<Soundness> {
  const found = await tx.query<{ name: string }[]>(
    `SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND NOT i.indisvalid ORDER BY 1`,
  )
  const problems = found.map(({ name }) => `${name} is not valid: REINDEX it, or drop it if it is not ours`)
  return { what: 'indexes', problems, seen: 'all are valid' }
}

/** The primary keys, or the foreign keys. */
function ofType(all: readonly Constraint[], type: Constraint['type']): readonly Constraint[] {
  return all.filter(one => one.type === type)
}

function constraints(tx: PoolTransaction): Promise<readonly Constraint[]> {
  const columnsOf = (relation: string, numbers: string) =>
    `(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place)
      FROM unnest(f.${numbers}) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = f.${relation} AND a.attnum = k.number)`
  return tx.query<Constraint[]>(
    `SELECT f.contype::text AS type, f.conname AS name, c.relname AS "table", coalesce(t.relname, '') AS target,
      ${columnsOf('conrelid', 'conkey')} AS columns, coalesce(${columnsOf('confrelid', 'confkey')}, '') AS targets
     FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_class t ON t.oid = f.confrelid
     WHERE n.nspname = current_schema() AND f.contype IN ('p', 'f') ORDER BY c.relname, f.conname`,
  )
}

/** A query whose failure does not end the transaction. */
async function attempt<Row>(tx: PoolTransaction, text: string): Promise<readonly Row[]> {
  const [rows] = await tx.batch([[text, []]])
  return rows as unknown as readonly Row[]
}
