/**
 * The end of deleted records (D9): after a while they can't be restored any more, and are gone with what
 * their history tells of them. The events themselves stay, so that `seq` has no gaps.
 */
import type { Catalog } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import type { Resource } from './resource.ts'
import { pointersTo, type Queryable } from './store.ts'
import { appended, counted, lockAccount, lockedAt } from './write.ts'

export type Purge = {
  readonly purged: number
  /** how many of a resource stay although they are due, because a record that is not due points to them */
  readonly kept: { readonly [resource: string]: number }
}

const batch = 200

/** Who writes what no user has asked for. */
const service = '0'

/** Purges what was deleted before `before`. Users stay: the records that they have made name them. */
export async function purgeRecords(db: Queryable, catalog: Catalog, before: Date): Promise<Purge> {
  let purged = 0
  const kept: { [resource: string]: number } = {}
  for (const { resource, fields } of purgeOrder(catalog)) {
    if (resource.isActor || !fields.some(field => field.internal_name === 'deleted_at')) continue
    const params = [String(catalog.account.id), service, null, catalog.version, before.toISOString()]
    const text = statement(resource, catalog)
    for (;;) {
      const [row] = await db.write(String(catalog.account.id), text, params, lockAccount)
      const [count, left] = [Number(row!.purged), Number(row!.due) - Number(row!.purged)]
      purged += count
      if (count > 0 && left > 0) continue
      if (left > 0) kept[resource.name] = left
      break
    }
  }
  return { purged, kept }
}

/** What points to others goes before them. */
function purgeOrder({ resources }: Catalog) {
  const pointedTo = (name: string) =>
    new Set(resources.get(name)!.fields.flatMap(field => field.related ?? []))
  const ordered: string[] = []
  const place = (name: string, above: readonly string[]) => {
    if (ordered.includes(name) || above.includes(name) || !resources.has(name)) return
    for (const other of pointedTo(name)) place(other, [...above, name])
    ordered.unshift(name)
  }
  for (const name of resources.keys()) place(name, [])
  return ordered.map(name => resources.get(name)!)
}

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 deleted before → how many were due and how many of
 * them are gone. What a record points to stays as long as that record does, deleted or not: it would be
 * missed when that is restored, and a foreign key would refuse them all.
 */
function statement(resource: Resource, catalog: Catalog): string {
  const { name } = resource
  const free = pointersTo(resource, catalog, 't.id').map(
    ({ resource: other, condition }) =>
      ` AND NOT EXISTS (SELECT FROM ${identifier(other)} x WHERE x.account_id = $1::bigint AND (${condition}))`,
  )
  const due = `FROM ${identifier(name)} t WHERE t.account_id = $1::bigint AND t.deleted_at < $5::timestamptz`
  const told = appended('logged', {
    type: `'${name}.purged'`,
    resource: `'${name}'`,
    of: '(SELECT id, version + 1 AS version FROM r)',
    before: '(row_number() OVER (ORDER BY e.id DESC) - 1)',
  })
  return `WITH ${lockedAt},
    r AS (DELETE FROM ${identifier(name)} d USING locked WHERE d.account_id = $1::bigint
      AND d.id IN (SELECT t.id ${due}${free.join('')} ORDER BY t.id LIMIT ${batch}) RETURNING d.id, d.version),
    wiped AS (UPDATE event e SET changes = '{}' FROM r WHERE e.account_id = $1::bigint AND e.record_id = r.id AND e.resource = '${name}'),
    ${counted('(SELECT count(*) FROM r)')},
    ${told}
    SELECT (SELECT count(*) FROM r)::text AS purged, (SELECT count(*) ${due})::text AS due`
}
