/**
 * Bulk write (D78): one statement writes many records of one resource, new ones with their keys, and changed
 * ones, with their events in the order of the drafts. It needs no concurrency checks: the caller has the
 * account's lock, and has read under it.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { arrayLiteral, param, type Sql, sql } from '../sql.ts'
import type { NestedDraft } from './nested.ts'
import { renderedMembers } from './rendered-record.ts'
import {
  answerOf,
  customOf,
  type FieldColumns,
  type RecordToWrite,
  setByUpdate,
  shapeOf,
  stateOf,
  tableOf,
  valuesOf,
} from './store.ts'
import { restoredKeys } from './unique.ts'
import { columnValue, dated, type Write } from './write.ts'

/** A record to be written; `read` is its stored version, null for a new one. */
export type DraftOfMany = RecordToWrite & {
  readonly id: number
  readonly read: { readonly version: string; readonly state: string } | null
  /** aliases of its event */
  readonly aliases: readonly string[]
  /** its nested records */
  readonly within: readonly NestedDraft[]
}

/** A row of a CTE of drafts; `nth` numbers its event. */
type Row = Omit<DraftOfMany, 'within'> & { readonly nth: number }

/** The columns of a CTE of drafts, before those of the record. The first are JSON. */
const own = ['custom', 'document', 'changes', 'id', 'nth', 'version', 'state', 'unset', 'also']
const jsons = 3

/**
 * The write of all drafts. It returns a row for each: id, version, record ({} if `unread`). New ones, and
 * those nested in others, get the account's next ids. No two drafts are of one record, and none changes a
 * unique value: in one statement there is no order in which a value is freed and taken.
 */
export function writeOfMany(
  params: WriteParams,
  schema: ResourceSchema,
  drafts: readonly DraftOfMany[],
  unread?: true,
): Write {
  const changed = drafts.filter(({ read }) => read !== null)
  const ids = changed.map(({ id }) => id)
  const names = new Set(changed.flatMap(({ changes }) => Object.keys(changes)))
  const isMade = changed.length < drafts.length
  const written = shapeOf(schema.whole).columns.filter(
    ({ field }) =>
      isMade || field.is_hidden || names.has(field.internal_name) || setByUpdate.has(field.internal_name),
  )
  const { rows, inner, count } = rowsOf(drafts)
  const within = inner.map(([resource, of]) => withinOf(params, resource, of))
  const r = sql`r`
  return {
    changes: [
      draftsOf(sql`drafts`, schema, rows, written),
      ...within.map(one => one.drafts),
      changedRows(params, schema, written, names, ids),
    ],
    when: sql`(SELECT count(*) FROM changed) = ${String(changed.length)}::bigint`,
    ids: param(String(count - changed.length)),
    rows: [
      ...within.flatMap(one => one.rows),
      isMade
        ? madeRows(params, schema, written, sql`drafts`, sql`made`)
        : sql`made AS (SELECT * FROM ${tableOf(schema)} WHERE false)`,
      sql`r AS (SELECT * FROM made UNION ALL SELECT * FROM changed)`,
      ...restoredKeys(params, schema, sql`made`, 'taken_by_new'),
      ...(schema.resource.updatesOthers?.(params, r) ?? []),
    ],
    events: [
      {
        type: sql`e.resource || CASE WHEN e.is_new THEN '.created' ELSE '.updated' END`,
        aliases: sql`e.also`,
        resource: sql`e.resource`,
        of: sql`(${sql.join([happened(schema, sql`drafts`, r), ...within.map(one => one.happened)], sql` UNION ALL `)})`,
        count: param(String(count)),
        order: sql`e.nth`,
        changes: dated(sql`e.changes`, sql`counted.at`),
      },
    ],
    answer: answerOf(schema, unread),
  }
}

/** The rows of the drafts, those of their nested records by resource, and the number of all. */
function rowsOf(drafts: readonly DraftOfMany[]) {
  let count = 0
  const all = drafts.map(({ within, ...draft }) => {
    const inner = within.map(({ schema, draft, id }) => {
      return { schema, row: { ...draft, id, nth: ++count, read: null, aliases: [] } }
    })
    return { inner, row: { ...draft, nth: ++count } }
  })
  const inner = Map.groupBy(
    all.flatMap(one => one.inner),
    ({ schema }) => schema,
  )
  return {
    rows: all.map(({ row }) => row),
    inner: [...inner].map(([schema, of]) => [schema, of.map(({ row }) => row)] as const),
    count,
  }
}

/** The parts of a write for the nested records of one resource. */
function withinOf(params: WriteParams, schema: ResourceSchema, rows: readonly Row[]) {
  const { name } = schema.resource
  const [drafts, made] = [sql.id(`drafts_${name}`), sql.id(`made_${name}`)]
  const { columns } = shapeOf(schema.whole)
  return {
    drafts: draftsOf(drafts, schema, rows, columns),
    rows: [
      madeRows(params, schema, columns, drafts, made),
      ...restoredKeys(params, schema, made, `taken_by_${name}`),
    ],
    happened: happened(schema, drafts, made),
  }
}

/** SELECT of the events of the rows `r` of these drafts. */
function happened({ resource }: ResourceSchema, drafts: Sql, r: Sql): Sql {
  return sql`
    SELECT r.id, r.version, ${sql.text(resource.name)} AS resource, d.version IS NULL AS is_new, d.also::text[],
      d.changes, d.nth::int
    FROM ${drafts} d, ${r} r WHERE r.id = d.id::bigint`
}

/** The CTE `name` with a row for each draft, in their order; all its columns are texts. */
function draftsOf(
  name: Sql,
  schema: ResourceSchema,
  drafts: readonly Row[],
  written: readonly FieldColumns[],
): Sql {
  const rows = drafts.map(({ id, nth, read, changes, after, aliases }) => {
    const { set, unset } = customOf(schema, changes)
    const values = written.flatMap(column => valuesOf(column, after))
    return [
      ...[set, renderedMembers(schema, after), JSON.stringify(changes)],
      ...[String(id), String(nth), read?.version ?? null, read?.state ?? null],
      ...[unset, `{${aliases.join()}}`],
      ...values.map(value => (value === null || typeof value === 'string' ? value : value.value)),
    ]
  })
  const names = [...own, ...columnsOf(written).map((_, index) => `c${index}`)]
  const arrays = names.map((_, index) => {
    const texts = rows.map(row => row[index]!)
    return index < jsons ? arrayOfJson(texts as string[]) : sql`${arrayLiteral(texts)}::text[]`
  })
  return sql`${name} AS MATERIALIZED (
  SELECT * FROM unnest(${sql.join(arrays)})
    WITH ORDINALITY d (${sql.join(names.map(name => sql.id(name)))}, place)
)`
}

/** The CTE that updates the existing rows. */
function changedRows(
  { account }: WriteParams,
  schema: ResourceSchema,
  written: readonly FieldColumns[],
  names: ReadonlySet<string>,
  ids: readonly number[],
): Sql {
  const table = tableOf(schema)
  if (ids.length === 0) return sql`changed AS (SELECT * FROM ${table} WHERE false)`
  const at = sql`locked.at`
  const isSet = ({ field }: FieldColumns) =>
    field.is_hidden || names.has(field.internal_name) || setByUpdate.has(field.internal_name)
  const all = columnsOf(written)
  const set = all.flatMap(({ of, name, type }, index) =>
    isSet(of) ? [sql`${name} = ${columnValue(sql`d.${sql.id(`c${index}`)}`, type, at)}`] : [],
  )
  return sql`changed AS (
  UPDATE ${table} t SET version = t.version + 1, document = ${dated(sql`d.document`, at)},
    custom = (t.custom || d.custom::jsonb) - d.unset::text[],
    ${sql.join(set, sql`,\n    `)}
  FROM locked, drafts d
  WHERE t.account_id = ${account}::bigint AND t.id = ANY(${`{${ids.join()}}`}::bigint[])
    AND t.id = d.id::bigint AND t.version = d.version::int
    AND ${stateOf(sql`t.document`)} = d.state::bigint AND t.deleted_at IS NULL
  RETURNING t.*
)`
}

/** The CTE `made`, which inserts the new records of these drafts. */
function madeRows(
  { account }: WriteParams,
  schema: ResourceSchema,
  written: readonly FieldColumns[],
  drafts: Sql,
  made: Sql,
): Sql {
  const at = sql`counted.at`
  const all = columnsOf(written)
  const values = all.map(({ type }, index) => columnValue(sql`d.${sql.id(`c${index}`)}`, type, at))
  return sql`${made} AS (
  INSERT INTO ${tableOf(schema)} (account_id, id, custom, document,
    ${sql.join(all.map(({ name }) => name))})
  SELECT ${account}::bigint, d.id::bigint, d.custom::jsonb, ${dated(sql`d.document`, at)},
    ${sql.join(values, sql`,\n    `)}
  FROM counted, ${drafts} d WHERE d.version IS NULL ORDER BY d.place RETURNING *
)`
}

function columnsOf(written: readonly FieldColumns[]) {
  return written.flatMap(of => of.columns.map(({ type }, index) => ({ of, type, name: of.names[index]! })))
}

/** SQL of an array of JSON texts. They have no bare control characters, so no escaping is needed. */
function arrayOfJson(texts: readonly string[]): Sql {
  return sql`string_to_array(${texts.join('\x1f')}::text, chr(31))`
}
