/**
 * What becomes of the keys of a field that becomes unique, or ceases to be, or whose values are compared in
 * another way (D76), and the doubles that are in its way. The statement that saves the field makes or
 * forgets the keys (save.ts).
 */
import { type Catalog, fieldOf } from '../fields/catalog.ts'
import { isCased } from '../fields/kinds/text.ts'
import { hasKeys, storedKeys } from '../records/unique.ts'
import { mayRead } from '../rights/rights.ts'
import { sightOf, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { Shape } from './field.ts'
import type { Findings } from './findings.ts'
import type { Administrator } from './retry-on-conflict.ts'
import type { KeysChange } from './save.ts'

/** How many doubles are told, and how many records of each. */
const examplesMax = 10

/** What a change means for the keys of its field; null where they stay as they are. */
export function changeOfKeys({ row }: Shape, { resources, ...catalog }: Catalog): KeysChange | null {
  const fields = resources.get(row.resource)!
  const before = fields.fields.find(({ id }) => id === row.id)
  const of = fieldOf(row, fields, { resources, ...catalog })
  const [isUnique, wasUnique] = [hasKeys(of), before !== undefined && hasKeys(before)]
  const isSame = isUnique === wasUnique && (!isUnique || isCased(of) === isCased(before!))
  return isSame ? null : { of, isUnique, wasUnique }
}

/**
 * Adds a problem with examples where live records have the same value. What isn't read or seen is not told.
 */
export async function refuseDoubles(
  { db, viewer, actor }: Administrator,
  catalog: Catalog,
  { of: field, wasUnique }: KeysChange,
  { problems, isHidden }: Findings,
): Promise<void> {
  const { resource, internal_name: name } = field
  const sight = sightOf(viewer ?? { catalog, actor })
  const x = sql`x`
  const rows = await ask(
    db,
    sql`SELECT k.key, json_agg(x.id ORDER BY x.id) FILTER (WHERE ${visible(resource, sight, x)})::text AS ids
    FROM ${sql.id(resource)} x, LATERAL (${storedKeys([field])}) k
    WHERE x.account_id = ${sight.account}::bigint AND x.deleted_at IS NULL
    GROUP BY k.key HAVING count(*) > 1 ORDER BY count(*) DESC, k.key LIMIT ${sql.integer(examplesMax)}`,
  )
  if (rows.length === 0) return
  const examples = rows.flatMap(({ key, ids }) =>
    isHidden(field) || !mayRead(viewer ?? {}, resource) || ids === null
      ? []
      : [{ value: key, ids: (JSON.parse(ids!) as number[]).slice(0, examplesMax) }],
  )
  const path = wasUnique ? '/config/case_sensitive' : '/is_unique'
  const said = wasUnique ? `case_sensitive can't be ${isCased(field)}` : "is_unique can't be true"
  const message = `${said}: several records of ${resource} have the same ${name}.`
  problems.add(() => ({ field: path.split('/')[1]!, path, code: 'value_taken', message, examples }))
}
