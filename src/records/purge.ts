/**
 * The end of deleted records (D9): after a while they can't be restored any more, and are gone with what their history tells of them. The events themselves
 * stay, so that `seq` has no gaps.
 */
import type { Catalog } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import type { Queryable } from './store.ts'

const batch = 200

/** Who writes what no user has asked for. */
const service = '0'

/** Purges what was deleted before `before`: how many records. Users stay: the records that they have made name them. */
export async function purgeRecords(db: Queryable, catalog: Catalog, before: Date, now: Date): Promise<number> {
  let purged = 0
  for (const { resource, fields } of purgeOrder(catalog)) {
    if (resource.isActor || !fields.some(field => field.internal_name === 'deleted_at')) continue
    for (let count = batch; count === batch; purged += count) {
      const params = [String(catalog.account.id), service, now.toISOString(), before.toISOString()]
      const [row] = await db.write(params[0]!, statement(resource.name), params)
      count = Number(row!.count)
    }
  }
  return purged
}

/** What points to others goes before them. */
function purgeOrder({ resources }: Catalog) {
  const pointedTo = (name: string) => new Set(resources.get(name)!.fields.flatMap(field => field.related ?? []))
  const ordered: string[] = []
  const place = (name: string, above: readonly string[]) => {
    if (ordered.includes(name) || above.includes(name) || !resources.has(name)) return
    for (const other of pointedTo(name)) place(other, [...above, name])
    ordered.unshift(name)
  }
  for (const name of resources.keys()) place(name, [])
  return ordered.map(name => resources.get(name)!)
}

/** $1 account, $2 actor, $3 time, $4 deleted before → count. */
function statement(resource: string): string {
  const table = identifier(resource)
  return `WITH locked AS MATERIALIZED (SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE),
    r AS (DELETE FROM ${table} USING locked WHERE account_id = $1::bigint AND deleted_at < $4::timestamptz AND id IN
      (SELECT id FROM ${table} WHERE account_id = $1::bigint AND deleted_at < $4::timestamptz ORDER BY id LIMIT ${batch}) RETURNING id, version),
    wiped AS (UPDATE event e SET changes = '{}' FROM r WHERE e.account_id = $1::bigint AND e.record_id = r.id AND e.resource = '${resource}'),
    counted AS (UPDATE counter SET last_seq = last_seq + (SELECT count(*) FROM r) WHERE account_id = $1::bigint AND EXISTS (SELECT FROM r) RETURNING last_seq),
    logged AS (INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes)
      SELECT $1::bigint, counted.last_seq + 1 - row_number() OVER (ORDER BY r.id DESC), '${resource}.purged', '${resource}', r.id, r.version + 1,
        $2::bigint, $3::timestamptz, '{}'::jsonb FROM counted, r)
    SELECT count(*)::text AS count FROM r`
}
