/** How many indexes of single custom fields there are (D36, D110). */
import type { Transaction } from '../records/store.ts'
import { ask, compile, sql } from '../sql.ts'

/** Number of custom fields with an index on a table, in all accounts. */
export async function countIndexes(db: Transaction, table: string): Promise<number> {
  const quoted = compile(sql.id(table)).text
  const statement = sql`SELECT count(*)::text AS count FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = to_regclass(${quoted}::text) AND c.relname LIKE 'custom\\_%'`
  const [row] = await ask(db, statement)
  return Number(row!.count)
}
