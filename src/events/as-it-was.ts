/**
 * Records as they were at the end of a past day (D74): as they are now, with the changes of later events
 * taken back. Lists and sums ask the same statements of them as ever: in these, the name of the table stands
 * for the records as they were, and the clock for the end of that day. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { kinds } from '../fields/kinds.ts'
import { jsonInstant } from '../fields/moment.ts'
import type { ListDatabase } from '../list/list.ts'
import { madeOnce } from '../made-once.ts'
import { type Reader, tableOf } from '../records/store.ts'
import { type Sight, sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql, withCtes } from '../sql.ts'

/** The end of a day, as the account's history has it. */
export type Past = {
  /** the first moment after the day: UTC, with milliseconds */
  readonly moment: string
  /** the last event before it */
  readonly seq: string
}

/**
 * The end of `day` (a date, in the account's time zone). Throws `history_too_short` where the account's
 * events do not reach that far.
 */
export async function pastOf(db: Reader, { catalog: { account } }: Viewer, day: string): Promise<Past> {
  const own = param(String(account.id))
  const [row] = await ask(
    db,
    sql`WITH past AS (SELECT (${day}::date + 1)::timestamp AT TIME ZONE ${account.time_zone}::text AS moment)
SELECT to_char(past.moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS moment,
  (SELECT e.seq FROM event e WHERE e.account_id = ${own}::bigint AND e.at < past.moment
    ORDER BY e.seq DESC LIMIT 1)::text AS seq,
  (SELECT to_char(e.at AT TIME ZONE ${account.time_zone}::text, 'YYYY-MM-DD') FROM event e
    WHERE e.account_id = ${own}::bigint ORDER BY e.seq LIMIT 1) AS first,
  (${day}::date > (now() AT TIME ZONE ${account.time_zone}::text)::date)::text AS is_future
FROM past`,
  )
  const { moment, seq, first, is_future: isFuture } = row!
  if (isFuture === 'true') {
    const message = `${day} has not come yet: as_of takes a day up to today.`
    const problem = { field: null, path: '', parameter: 'as_of', code: 'invalid_value', message }
    throw new Refusal('malformed_query', message, [problem])
  }
  if (seq) return { moment: moment!, seq }
  const detail = `There is no history of ${day}: the events of this account begin on ${first ?? day}.`
  const problem = { field: null, path: '', parameter: 'as_of', code: 'history_too_short', message: detail }
  throw new Refusal('history_too_short', detail, [problem])
}

/** The same database, in which the records of the resource are as the viewer sees them in the past. */
export function asItWas(db: ListDatabase, fields: ResourceFields, viewer: Viewer, past: Past): ListDatabase {
  const ctes = pastSql(fields, sightOf(viewer), past)
  const ofPast = (text: string, params: readonly (string | null)[]) => {
    const then = text.replaceAll('now()', '(SELECT moment FROM past)')
    const statement = withCtes(ctes, { text: then, values: params })
    return [statement.text, statement.values, true] as const
  }
  return {
    query: (text, params = []) => db.query(...ofPast(text, params)),
    queryBytes: (text, params) => db.queryBytes(...ofPast(text, params)),
  }
}

/** The CTEs: the moment, what is taken back of each record, and the records under the name of their table. */
function pastSql(fields: ResourceFields, sight: Sight, { moment, seq }: Past): Sql[] {
  const { name } = fields.resource
  const [table, last] = [tableOf(fields), param(seq)]
  const columns = columnsOf(fields.whole)
  const was = columns.map(column => sql`${wasSql(column, name, sight, last)} AS ${sql.id(column)}`)
  const seen = sql`${visible(name, sight, sql`d`)} AND d.created_at < past.moment`
  return [
    sql`past AS MATERIALIZED (SELECT ${moment}::timestamptz AS moment)`,
    sql`taken_back AS MATERIALIZED (
  SELECT x.record_id AS id, x.fields || coalesce(m.members, '{}') AS fields
  FROM (
    SELECT e.record_id, jsonb_object_agg(c.key, c.value -> 'before' ORDER BY e.seq DESC) AS fields
    FROM event e, LATERAL jsonb_each(${changesSql(name)}) c
    WHERE e.account_id = ${sight.account}::bigint AND e.resource = ${sql.text(name)}
      AND e.seq > ${last}::bigint AND e.type <> ${sql.text(`${name}.created`)}
    GROUP BY e.record_id) x
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(c."column", x.fields -> c.field -> c.member) AS members
      FROM ${membersSql(fields.whole)} WHERE x.fields ? c.field) m)`,
    sql`${table} AS NOT MATERIALIZED (
  SELECT ${sql.join(columns.map(column => sql`d.${sql.id(column)}`))}
  FROM past, ${table} d
  WHERE ${seen} AND NOT EXISTS (SELECT 1 FROM taken_back t WHERE t.id = d.id)
  UNION ALL
  SELECT ${sql.join(was)}
  FROM past, taken_back t JOIN ${table} d ON d.account_id = ${sight.account}::bigint AND d.id = t.id,
    LATERAL jsonb_populate_record(d, t.fields) r
  WHERE ${seen})`,
  ]
}

/** What an event `e` of a resource changed, as {field: {before}}; also what it did to the whole record. */
function changesSql(name: string): Sql {
  const before = (field: string, value: Sql) =>
    sql`jsonb_build_object(${sql.text(field)}, jsonb_build_object('before', ${value}))`
  return sql`CASE e.type
      WHEN ${sql.text(`${name}.deleted`)} THEN ${before('deleted_at', sql`NULL::text`)}
        || ${before('deleted_by', sql`NULL::text`)}
      WHEN ${sql.text(`${name}.restored`)} THEN ${before('deleted_at', sql`e.at`)}
      ELSE e.changes END || ${before('version', sql`e.version - 1`)}`
}

const ofStore = ['account_id', 'id', 'custom', 'document', 'version', 'deleted_at', 'deleted_by']

/** The names of the columns that lists and sums may read. */
const columnsOf = madeOnce(({ fields }: ResourceFields): readonly string[] => {
  const stored = fields.filter(field => !field.is_custom && !field.computed && !field.is_of_store)
  const names = stored.flatMap(field => kinds[field.type].columns(field).map(column => column.name))
  return [...ofStore, ...names]
})

/** SQL of a column as it was, from the row `d` of now, `r` with what is taken back, and that itself, `t`. */
function wasSql(column: string, name: string, { account }: Sight, last: Param): Sql {
  const isCustom = sql`k LIKE 'cf\\_%'`
  const lastChange = (value: Sql) => sql`(
    SELECT ${value} FROM event e WHERE e.account_id = ${account}::bigint AND e.record_id = d.id
      AND e.resource = ${sql.text(name)} AND e.seq <= ${last}::bigint ORDER BY e.seq DESC LIMIT 1)`
  switch (column) {
    case 'updated_at':
      return lastChange(sql`e.at`)
    case 'updated_by':
      return lastChange(sql`e.actor`)
    case 'custom':
      return sql`(d.custom - ARRAY(SELECT k FROM jsonb_object_keys(t.fields) k WHERE ${isCustom})) || coalesce((
    SELECT jsonb_object_agg(k, v) FROM jsonb_each(t.fields) x (k, v) WHERE ${isCustom} AND v <> 'null'), '{}')`
    case 'document':
      return sql`(
    SELECT string_agg(concat(to_json(m.k), ':', m.text), ',' ORDER BY m.place)
    FROM (
      SELECT k, CASE WHEN t.fields ? k THEN (t.fields -> k)::text
        WHEN k = 'updated_at' THEN ${lastChange(jsonInstant(sql`e.at`))}
        WHEN k = 'updated_by' THEN ${lastChange(sql`e.actor::text`)} ELSE v::text END AS text, place
      FROM json_each(concat('{', d.document, '}')::json) WITH ORDINALITY x (k, v, place)
      WHERE NOT (${isCustom} AND t.fields ? k AND t.fields -> k = 'null')
      UNION ALL
      SELECT k, v::text, 1000000000 FROM jsonb_each(t.fields) x (k, v)
      WHERE ${isCustom} AND v <> 'null' AND NOT d.custom ? k) m)`
    default:
      return sql`r.${sql.id(column)}`
  }
}

/** The columns that hold members of a field's value, as rows: field, column, member. */
const membersSql = madeOnce(({ fields }: ResourceFields): Sql => {
  const rows = fields.flatMap(field => {
    if (field.is_custom || field.computed || field.is_of_store) return []
    const { internal_name: name, type } = field
    const parts = kinds[type].columns(field).filter(column => column.name !== name)
    return parts.map(
      part => sql`(${sql.text(name)}, ${sql.text(part.name)}, ${sql.text(part.name.slice(name.length + 1))})`,
    )
  })
  const none = sql`(NULL::text, NULL::text, NULL::text)`
  return sql`(VALUES ${rows.length ? sql.join(rows) : none}) AS c (field, "column", member)`
})
