/**
 * The keys of a field whose uniqueness, or the comparison of its values, changes (D76), and the duplicates
 * that prevent it. The statement that saves the field inserts or deletes the keys (save.ts).
 */
import { type Catalog, fieldOf } from '../fields/catalog.ts'
import { isCased } from '../fields/kinds/text.ts'
import { hasKeys, storedKeys } from '../records/unique.ts'
import { mayRead } from '../rights/rights.ts'
import { callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { Shape } from './field.ts'
import type { ConfigurationContext } from './retry-on-conflict.ts'
import type { KeysChange } from './save.ts'
import type { Validation } from './validation.ts'

/** Maximum of reported duplicates, and of records per duplicate. */
const examplesMax = 10

/** The change of a field's keys; null if there is none. */
export function changeOfKeys({ row }: Shape, { resources, ...catalog }: Catalog): KeysChange | null {
  const schema = resources.get(row.resource)!
  const before = schema.fields.find(({ id }) => id === row.id)
  const of = fieldOf(row, schema, { resources, ...catalog })
  const [isUnique, wasUnique] = [hasKeys(of), before !== undefined && hasKeys(before)]
  const isSame = isUnique === wasUnique && (!isUnique || isCased(of) === isCased(before!))
  return isSame ? null : { of, isUnique, wasUnique }
}

/** Adds a problem with examples if live records have the same value. Hidden values are not shown. */
export async function refuseDoubles(
  { db, caller, actor }: ConfigurationContext,
  catalog: Catalog,
  { of: field, wasUnique }: KeysChange,
  { problems, isHidden }: Validation,
): Promise<void> {
  const { resource, internal_name: name } = field
  const params = callerParamsOf(caller ?? { catalog, actor })
  const x = sql`x`
  const rows = await ask(
    db,
    sql`SELECT k.key, json_agg(x.id ORDER BY x.id) FILTER (WHERE ${visible(resource, params, x)})::text AS ids
    FROM ${sql.id(resource)} x, LATERAL (${storedKeys([field])}) k
    WHERE x.account_id = ${params.account}::bigint AND x.deleted_at IS NULL
    GROUP BY k.key HAVING count(*) > 1 ORDER BY count(*) DESC, k.key LIMIT ${sql.integer(examplesMax)}`,
  )
  if (rows.length === 0) return
  const examples = rows.flatMap(({ key, ids }) =>
    isHidden(field) || !mayRead(caller ?? {}, resource) || ids === null
      ? []
      : [{ value: key, ids: (JSON.parse(ids!) as number[]).slice(0, examplesMax) }],
  )
  const path = wasUnique ? '/config/case_sensitive' : '/is_unique'
  const refusal = wasUnique ? `case_sensitive can't be ${isCased(field)}` : "is_unique can't be true"
  const message = `${refusal}: several records of ${resource} have the same ${name}.`
  problems.add(() => ({ field: path.split('/')[1]!, path, code: 'value_taken', message, examples }))
}
