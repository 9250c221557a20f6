/**
 * All records of a resource as of the end of a past day (D74, `as_of`): the current ones, with later events
 * reverted. Lists and sums run their usual statements, in which the table's name stands for these records,
 * and the clock for that day's end. Columns to filter, sort and sum by are reverted for all records at once;
 * others for each record of the page: the planner evaluates their subqueries last. as-of-event.ts is for
 * single records after single events, whose later events this would read each time. Knows no HTTP.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { type Row, recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { jsonInstant } from '../fields/moment.ts'
import type { Selection } from '../lists/list-request.ts'
import { renderedSql } from '../records/rendered-record.ts'
import { type RawReader, tableOf } from '../records/store.ts'
import type { Work } from '../records/work.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { compile, param, type Sql, sql, withCtes } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { isWriting } from './as-of-event.ts'
import { type Past, pastOf } from './past.ts'
import { copyOf, fromAllEvents, fromOwnEvents, type PastColumn, revertedColumn } from './reverted-columns.ts'

/**
 * The database as of the end of a day (a date, in the account's time zone), and that moment; the current one
 * without a day. Throws `history_too_short` if the account's events do not reach that far back, and
 * `malformed_query` for a future day.
 */
export async function asOfDay(
  db: RawReader,
  caller: Caller,
  { schema, day }: Pick<Selection, 'schema' | 'day'>,
): Promise<{ reader: RawReader; moment: string | null }> {
  if (day === null) return { reader: db, moment: null }
  const past = await pastOf(db, caller, { parameter: 'as_of', text: day, isEnd: true })
  return { reader: databaseAsOf({ db, schema, context: caller }, past), moment: past.moment }
}

/** The row `r` of a statement that `asOfSql` runs. */
export function pastRow({ account }: CallerParams): Row {
  return { ...recordRow(account), now: sql`(SELECT moment FROM past)` }
}

/**
 * A SELECT that reads the table of the resource, as SQL in which that name stands for the records as of
 * `past`, as the caller sees them. Its filters are made for `pastRow`. `changes`: a SELECT of the changes to
 * revert, for the statement's own CTE. `records`: the SELECT, with the name of that CTE and a join that
 * limits the current records `d`.
 */
export function asOfSql(
  schema: ResourceSchema,
  params: CallerParams,
  past: Past,
  select: Sql,
): { readonly changes: Sql; readonly records: (changes: Sql, among: Sql) => Sql } {
  const { text, values } = compile(select)
  const { moment, changes, records } = pastSql(schema, params, past, [text, ...values].join('\n'))
  return {
    changes,
    records: (name, among) => sql`WITH past AS MATERIALIZED (${moment}),
${tableOf(schema)} AS NOT MATERIALIZED (
  ${records(name, among)})
${select}`,
  }
}

/** The same database with the records of the resource as of `past`, as the caller sees them. */
function databaseAsOf({ db, schema, context }: Work<RawReader, Caller>, past: Past): RawReader {
  const callerParams = callerParamsOf(context)
  const shown = compile(renderedSql(schema, callerParams.account)).text
  const ofPast = (text: string, params: readonly (string | null)[]) => {
    const compared = [text.replaceAll(shown, ''), ...params].join('\n')
    const { moment, changes, records } = pastSql(schema, callerParams, past, compared)
    const ctes = [
      sql`past AS MATERIALIZED (${moment})`,
      sql`reverted AS MATERIALIZED (${changes})`,
      sql`${tableOf(schema)} AS NOT MATERIALIZED (${records(sql`reverted`, sql.none)})`,
    ]
    const then = text.replaceAll('now()', '(SELECT moment FROM past)')
    const statement = withCtes(ctes, { text: then, values: params })
    return [statement.text, statement.values, true] as const
  }
  return {
    query: (text, params = []) => db.query(...ofPast(text, params)),
    queryBytes: (text, params) => db.queryBytes(...ofPast(text, params)),
  }
}

/**
 * The moment, the changes to revert for all records, and the records. `comparedText`: the statement's text
 * without the columns that it only shows, and its parameters.
 */
function pastSql(schema: ResourceSchema, params: CallerParams, { moment, seq }: Past, comparedText: string) {
  const { name } = schema.resource
  const later = laterEvents(name, params, seq)
  const isCompared = (column: string) => new RegExp(`\\b${column}\\b`).test(comparedText)
  const columns = columnsOf(schema.whole)
  const custom = schema.whole.fields
    .filter(field => field.is_custom && isCompared(field.internal_name))
    .map(field => field.internal_name)
  const stored = columns.filter(({ field, name }) => field && isCompared(name)).map(({ field }) => field!)
  const comparedFields = [...new Set([...stored, ...custom])]
  const before = fromAllEvents(custom)
  const was = columns.map(column => {
    const isForAll = column.name === 'custom' || stored.includes(column.field!)
    return sql`${isForAll ? revertedColumn(column, before, params.account) : later.shownColumn(column)} AS ${sql.id(column.name)}`
  })
  return {
    moment: sql`SELECT ${moment}::timestamptz AS moment`,
    changes: sql`SELECT e.record_id AS id, ${sql.join(later.firstOf(comparedFields))}
  FROM event e
  WHERE ${later.are} AND (e.changes ?| ${`{${comparedFields.join()}}`}::text[] OR ${later.areOfDeletion})
  GROUP BY e.record_id`,
    records: (changes: Sql, among: Sql) => sql`SELECT ${sql.join(was)}
  FROM past, ${tableOf(schema)} d ${among} LEFT JOIN ${changes} t ON t.id = d.id
  WHERE ${visible(name, params, sql`d`)} AND d.created_at < past.moment
    AND NOT ${isCreatedAfter(name, params, seq)}`,
  }
}

/**
 * `are`: the condition on events `e` after the past; `areOfDeletion`: on those that delete or restore;
 * `firstOf`: columns with the value of each of these fields of a record before its first change, as the text
 * of its JSON, and with whether it was deleted; `shownColumn`: a past column of the record
 * `d`, by its own events, one record at a time; `t` has the changes for all.
 */
function laterEvents(name: string, { account }: CallerParams, seq: string) {
  const last = param(seq)
  const verb = (of: string) => sql.text(`${name}.${of}`)
  const ofResource = sql`e.account_id = ${account}::bigint AND e.resource = ${sql.text(name)}`
  // Other events, such as a new password, don't change the record.
  const are = sql`${ofResource} AND e.seq > ${last}::bigint
    AND e.type IN (${verb('updated')}, ${verb('deleted')}, ${verb('restored')})`
  const ofRecord = sql`FROM event e WHERE ${are} AND e.record_id = d.id`
  const lastBefore = (value: Sql, type: Sql) => sql`(
    SELECT ${value} FROM event e WHERE ${ofResource} AND e.record_id = d.id AND e.seq <= ${last}::bigint AND ${type}
    ORDER BY e.seq DESC LIMIT 1)`
  // An account's initial records have no event, and old events may be deleted.
  const written = (of: 'at' | 'by') => sql`CASE WHEN EXISTS (SELECT ${ofRecord})
    THEN d.${sql.id(`created_${of}`)} ELSE d.${sql.id(`updated_${of}`)} END`
  const isWritten = isWriting(sql`e`)
  const updatedAt = sql`coalesce(${lastBefore(sql`e.at`, isWritten)}, ${written('at')})`
  const updatedBy = sql`coalesce(${lastBefore(sql`e.actor`, isWritten)}, ${written('by')})`
  const areOfDeletion = sql`e.type IN (${verb('deleted')}, ${verb('restored')})`
  // The least text is that of the first event, so the events need no order and can be read in parallel. All
  // numbers have 19 digits then.
  const first = (key: string, before: Sql, isOne: Sql) => sql`
    substr(min((e.seq + 1000000000000000000)::text || (${before})::text COLLATE "C")
      FILTER (WHERE ${isOne}), 20) AS ${sql.id(key)}`
  const firstOf = (fields: readonly string[]) => {
    const updates = fields.map(field => {
      const key = sql.text(field)
      return first(
        field,
        sql`coalesce(e.changes -> ${key} -> 'before', 'null')`,
        sql`e.changes ? ${key} AND NOT ${areOfDeletion}`,
      )
    })
    return [...updates, first('was_deleted', sql`e.type = ${verb('restored')}`, areOfDeletion)]
  }
  const merged = sql`(SELECT merged(e.changes ORDER BY e.seq DESC) AS changes ${ofRecord}) later`
  const wasDeletedThen = sql`t.was_deleted`
  const shownColumn = (column: PastColumn): Sql => {
    if (column.isAsNow) return sql`d.${sql.id(column.name)}`
    switch (column.name) {
      case 'updated_at':
        return updatedAt
      case 'updated_by':
        return updatedBy
      case 'deleted_at':
        return sql`CASE WHEN ${wasDeletedThen} = 'false' THEN NULL
          WHEN ${wasDeletedThen} = 'true' THEN ${lastBefore(sql`e.at`, sql`e.type = ${verb('deleted')}`)}
          ELSE d.deleted_at END`
      case 'deleted_by':
        return lastBefore(sql`CASE WHEN e.type = ${verb('deleted')} THEN e.actor END`, areOfDeletion)
      case 'version':
        return sql`coalesce((SELECT min(e.version) - 1 ${ofRecord}), d.version)`
      case 'document':
        return sql`(SELECT ${documentSql(updatedAt, updatedBy)} FROM ${merged})`
      default:
        return sql`(SELECT ${revertedColumn(column, fromOwnEvents, account)} FROM ${merged})`
    }
  }
  return { are, areOfDeletion, firstOf, shownColumn }
}

/**
 * The condition that the record `d` was created after the past: an import may give it the time of its
 * creation elsewhere (D80).
 */
function isCreatedAfter(name: string, { account }: CallerParams, seq: string): Sql {
  return sql`d.id IN (
    SELECT e.record_id FROM event e
    WHERE e.account_id = ${account}::bigint AND e.resource = ${sql.text(name)} AND e.seq > ${seq}::bigint
      AND e.type = ${sql.text(`${name}.created`)})`
}

/** The stored text of the record `d` before the changes of `later`, with the last change before these. */
function documentSql(updatedAt: Sql, updatedBy: Sql): Sql {
  const isCustom = sql`k LIKE 'cf\\_%'`
  const before = sql`later.changes -> k -> 'before'`
  return sql`(
    SELECT string_agg(concat(to_json(m.k), ':', m.text), ',' ORDER BY m.place)
    FROM (
      SELECT k, CASE WHEN later.changes ? k THEN (${before})::text
        WHEN k = 'updated_at' THEN ${jsonInstant(updatedAt)}
        WHEN k = 'updated_by' THEN coalesce((${updatedBy})::text, 'null') ELSE v::text END AS text, place
      FROM json_each(concat('{', d.document, '}')::json) WITH ORDINALITY x (k, v, place)
      WHERE NOT (${isCustom} AND later.changes ? k AND ${before} = 'null')
      UNION ALL
      SELECT k, (v -> 'before')::text, 1000000000 FROM jsonb_each(later.changes) x (k, v)
      WHERE ${isCustom} AND v -> 'before' <> 'null' AND NOT d.custom ? k) m)`
}

const storeTypes = {
  custom: 'jsonb',
  document: 'text',
  version: 'int',
  deleted_at: 'timestamptz',
  deleted_by: 'bigint',
} as const
const ofNoField = { field: null, member: '' }

/** The columns that lists and sums may read. */
const columnsOf = memoize((schema: ResourceSchema): readonly PastColumn[] => {
  const { fields, resource } = schema
  const { maintained } = resource
  const ofStore = Object.entries(storeTypes).map(([name, type]) => ({ name, type, ...ofNoField }))
  // No event reports them, such as `last_used_at` of a token.
  const ownOfStore = new Set(['id', ...ofStore.map(({ name }) => name)])
  const isAsNow = ({ maintained_by, is_of_store, internal_name }: Field) =>
    internal_name === 'created_at' || maintained_by || (is_of_store && !ownOfStore.has(internal_name))
  const ofFields = fields
    .filter(field => !field.is_custom && !field.computed && !field.is_of_store && !isAsNow(field))
    .flatMap(field => {
      const { internal_name: name, type } = field
      const copied = copyOf(field, schema)
      return kinds[type].columns(field).map(column => ({
        ...column,
        // Events don't report these two: they have them as their own time and user.
        field: name === 'updated_at' || name === 'updated_by' ? null : (copied?.of ?? name),
        member: column.name.slice(name.length + 1),
        copied,
      }))
    })
  const ofOthers = fields
    .filter(field => !field.is_custom && !field.computed && isAsNow(field))
    .flatMap(field => kinds[field.type].columns(field))
  const asNow = [
    'account_id',
    'id',
    ...ofOthers.map(({ name }) => name),
    ...(maintained ? [maintained.document] : []),
  ].map(name => ({ name, type: 'text' as const, ...ofNoField, isAsNow: true }))
  return [...ofStore, ...ofFields, ...asNow]
})
