/**
 * The keys of a field whose uniqueness, or the comparison of its values, changes (D76), and the duplicates
 * that prevent it. The statement that saves the field inserts or deletes the keys (save.ts).
 */
import { type Catalog, type FieldRow, fieldOf } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { isCased } from '../fields/kinds/text.ts'
import { kinds } from '../fields/kinds.ts'
import type { JsonObject } from '../json.ts'
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

/**
 * Reports a field that can't be unique (D76). A unique one is written by requests, has values that can be
 * compared, and has no default.
 */
export function judgeUnique(
  sent: JsonObject,
  before: FieldRow,
  row: FieldRow,
  field: Field,
  validation: Validation,
): void {
  const { unique } = kinds[field.type]
  if (row.is_unique && (unique === undefined || field.is_read_only || field.computed))
    validation.reject('/is_unique', 'not_configurable', 'can only be true for a text, number, e-mail or date')
  // The second record without a value would be refused. A field that was so before may stay so.
  const hasBoth = ({ is_unique, default_value }: FieldRow) => is_unique && default_value !== null
  if (!hasBoth(row) || hasBoth(before)) return
  if (sent.is_unique === undefined)
    validation.reject('/default_value', 'not_configurable', "can't be set on a unique field")
  else validation.reject('/is_unique', 'not_configurable', "can't be true for a field with a default")
}

/** The change of a field's keys; null if there is none. */
export function changeOfKeys({ row }: Shape, catalog: Catalog): KeysChange | null {
  const schema = catalog.resources.get(row.resource)!
  const before = schema.fields.find(({ id }) => id === row.id)
  const of = fieldOf(row, schema, catalog)
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
  const statement = sql`SELECT k.key,
    json_agg(x.id ORDER BY x.id) FILTER (WHERE ${visible(resource, params, x)})::text AS ids
    FROM ${sql.id(resource)} x, LATERAL (${storedKeys([field])}) k
    WHERE x.account_id = ${params.account}::bigint AND x.deleted_at IS NULL
    GROUP BY k.key HAVING count(*) > 1 ORDER BY count(*) DESC, k.key LIMIT ${sql.integer(examplesMax)}`
  const rows = await ask(db, statement)
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
