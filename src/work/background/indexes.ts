/**
 * Indexes of single custom fields (D36), for range filters and sorts. Equality uses the one index of all
 * custom values. Indexes are built and removed concurrently, without blocking writes. One index serves one
 * field of one account, because other accounts may have other values under that name.
 */
import { indexExpression } from '../../configuration/field.ts'
import type { Catalog } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import type { Transaction } from '../../records/store.ts'
import { ask, type Sql, sql } from '../../sql.ts'

/** State of an index build. `progress` goes from 0 to 1; null if the database reports none. */
export type IndexState = { readonly state: 'building' | 'ready' | 'failed'; readonly progress: number | null }

/**
 * A condition: the index `i` is being built. PostgreSQL reports the index's id with a short delay; until then
 * any build on the table counts.
 */
const isBuilding = sql`EXISTS (SELECT 1 FROM pg_stat_progress_create_index p
        WHERE p.datname = current_database()
          AND (p.index_relid = i.indexrelid OR p.relid = i.indrelid AND p.index_relid = 0))`

export async function indexState(db: Transaction, account: number, field: Field): Promise<IndexState> {
  const statement = sql`SELECT i.indisvalid::text AS valid, (
        SELECT greatest(p.blocks_done::float8 / nullif(p.blocks_total, 0),
          p.tuples_done::float8 / nullif(p.tuples_total, 0))
        FROM pg_stat_progress_create_index p
        WHERE p.datname = current_database() AND p.index_relid = i.indexrelid)::text AS progress,
      ${isBuilding}::text AS building
      FROM pg_index i WHERE i.indexrelid = to_regclass(${indexName(account, field)}::text)`
  const [row] = await ask(db, statement)
  if (row?.valid === 'true') return { state: 'ready', progress: 1 }
  if (row && row.building === 'false') return { state: 'failed', progress: null }
  return { state: 'building', progress: row?.progress ? Math.round(Number(row.progress) * 100) / 100 : null }
}

/**
 * Builds the missing indexes of an account's fields, and drops superfluous ones. Idempotent, and safe in
 * several processes at once: an index that another process is building is skipped. `query` must have no time
 * limit. `failed` is called for each index that can't be built.
 */
export async function arrangeIndexes(
  query: Transaction['query'],
  catalog: Pick<Catalog, 'resources'> & { readonly account: { readonly id: number } },
  failed: (name: string, error: unknown) => void,
): Promise<void> {
  const account = catalog.account.id
  const wanted = new Map<string, Sql>()
  for (const { resource, fields } of catalog.resources.values()) {
    for (const field of fields.filter(field => field.is_indexed && !field.deleted_at)) {
      wanted.set(
        indexName(account, field),
        sql`ON ${sql.id(resource.name)} ((${indexExpression(field)!}), id)
          WHERE account_id = ${sql.integer(account)} AND deleted_at IS NULL`,
      )
    }
  }
  const db = { query }
  const statement = sql`SELECT c.relname AS name, i.indisvalid::text AS valid, ${isBuilding}::text AS building
      FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
      WHERE c.relname LIKE ${`custom\\_${account}\\_%`}::text`
  const present = await ask(db, statement)
  for (const { name, valid, building } of present) {
    if (building === 'true' || (valid === 'true' && wanted.has(name!))) wanted.delete(name!)
    // An interrupted index stays invalid; it is dropped and built again.
    else await ask(db, sql`DROP INDEX CONCURRENTLY IF EXISTS ${sql.id(name!)}`)
  }
  for (const [name, definition] of wanted) {
    const made = ask(db, sql`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${sql.id(name)} ${definition}`)
    await made.catch(error => failed(name, error))
  }
}

function indexName(account: number, field: Field): string {
  return `custom_${account}_${field.id}`
}
