/**
 * The order of a list as SQL, and its cursors: the places where a next page begins (D27). By a cursor (keyset
 * pagination) no row is read to be skipped; a numbered page skips rows. Nulls are last in both directions
 * (D29), and no single index of PostgreSQL has that order. So it is cut into key ranges that are read one
 * after the other: the records with a value, then those without; or one dropdown option after the other,
 * unless the list is of live records and the ids are in that order. An index returns each range in order.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import { isStorable } from '../fields/code-points.ts'
import { recordRow } from '../fields/columns.ts'
import { decimal, plain } from '../fields/decimal.ts'
import { isoDate, isoInstant } from '../fields/iso8601.ts'
import { isObject, type Json, jsonIn } from '../json.ts'
import { tableOf } from '../records/store.ts'
import { visible } from '../rights/visibility.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'
import type { Cursor, ListRequest, Position } from './list-request.ts'
import type { PlannedSortKey } from './plan.ts'
import { whereSql } from './where.ts'

/** A sort key as SQL: its value in a row and, if its values have ranks, the underlying column. */
export type PrintedSortKey = PlannedSortKey & { readonly value: Sql; readonly column: Sql | null }

/** The keys and columns to read of each row `r`, and a further condition over it. */
type RowOptions = {
  readonly keys: readonly PrintedSortKey[]
  readonly columns: Sql
  readonly within?: Sql | undefined
}

/**
 * The sort keys as SQL, as of the moment of the first page: a record must not move between two pages because
 * time passes.
 */
export function sortKeysSql(
  params: CallerParams,
  request: ListRequest,
  clock: Param = param(request.clock),
): PrintedSortKey[] {
  const row = { ...recordRow(params.account), now: sql`${clock}::timestamptz` }
  return request.sort.map(key => ({
    ...key,
    value: key.order.sql(row, (resource, alias) => visible(resource, params, alias)),
    column: key.order.ranked?.column(row) ?? null,
  }))
}

/**
 * SQL of the rows of a page in their order, with one extra. The columns are selected beside the limit, as
 * passing whole rows from step to step would be slower.
 */
export function rowsSql(
  params: CallerParams,
  request: ListRequest,
  { keys, columns, within }: RowOptions,
): Sql {
  const table = tableOf(request.schema)
  const selected = whereSql(params, request)
  const where = within ? sql`${selected} AND ${within}` : selected
  const offset = (request.page - 1) * request.pageSize
  // The limit is in the statement's text: with a parameter, PostgreSQL would plan every request anew, because
  // the planner could not see the number. A numbered page accepts that.
  const limit = sql.integer(request.pageSize + 1)
  const skip = offset ? sql`${param(String(offset))}::bigint` : null
  const ranges = keyRangesOf(keys, request)
  const [range] = ranges as [KeyRange]
  const rows = (columns: Sql) => sql`
      SELECT ${columns} FROM ${table} r
      WHERE ${inKeyRange(range, where)}
      ORDER BY ${orderBySql(range.keys)} LIMIT ${limit}`
  if (ranges.length === 1 && !skip) return rows(columns)
  // Rows that are skipped are not rendered: only their ids are read.
  const ids =
    ranges.length > 1
      ? idsOfRanges(table, where, ranges, limit, skip)
      : sql`SELECT x.id, row_number() OVER () AS n FROM (${rows(sql`r.id`)} OFFSET ${skip}) x`
  return sql`
    SELECT ${columns} FROM (${ids}) x
      JOIN ${table} r ON r.account_id = ${params.account}::bigint AND r.id = x.id
    ORDER BY x.n LIMIT ${limit}`
}

/** A part of the order that one index returns in order. */
type KeyRange = {
  /** the condition of the range; null = all records */
  readonly where: Sql | null
  readonly keys: readonly PrintedSortKey[]
  /**
   * how many of `keys`, from the first on, are null in the whole range: 0 or 1. It stays in the ORDER BY:
   * without it the index of the sort would not be used
   */
  readonly nullKeys: number
  /** the range begins after these values of the other keys; null = at its start */
  readonly after: Position | null
}

function inKeyRange({ where, keys, nullKeys, after }: KeyRange, selected: Sql): Sql {
  const begin = after ? afterSql(keys.slice(nullKeys), after) : sql.none
  return sql.join([selected, where ?? sql.none, begin], sql` AND `)
}

/**
 * The ids of a page that spans several key ranges, numbered in their order. A range is read only if the
 * ranges before it did not fill the page.
 */
function idsOfRanges(table: Sql, where: Sql, ranges: readonly KeyRange[], limit: Sql, skip: Sql | null): Sql {
  const wanted = skip ? sql`${limit} + ${skip}` : limit
  const ctes = ranges.map((range, index) => {
    const before = index ? sql`(SELECT n FROM ${sql.id(`before${index}`)})` : null
    const [plus, needed] = before
      ? [sql`${before} + `, sql` AND ${before} < ${wanted}`]
      : [sql.none, sql.none]
    const name = sql.id(`range${index}`)
    const read = sql`${name} AS MATERIALIZED (
      SELECT x.id, ${plus}row_number() OVER () AS n FROM (
        SELECT r.id FROM ${table} r WHERE ${inKeyRange(range, where)}${needed}
        ORDER BY ${orderBySql(range.keys)} LIMIT ${wanted}) x
    )`
    if (index === ranges.length - 1) return read
    return sql`${read},
    ${sql.id(`before${index + 1}`)} AS MATERIALIZED (SELECT ${plus}(SELECT count(*) FROM ${name}) AS n)`
  })
  const all = ranges.map((_range, index) => sql`SELECT id, n FROM ${sql.id(`range${index}`)}`)
  return sql`
    WITH ${sql.join(ctes, sql`,\n    `)}
    SELECT x.id, x.n FROM (${sql.join(all, sql` UNION ALL `)}) x
    WHERE x.n <= ${wanted}${skip ? sql` AND x.n > ${skip}` : sql.none}`
}

/** A dropdown with more options is sorted by rank instead of one range for each option. */
const rankedMax = 40

/** The key ranges of a list, in its order. With a cursor: the ranges from its position on. */
function keyRangesOf(keys: readonly PrintedSortKey[], { cursor, day }: ListRequest): KeyRange[] {
  const position = cursor?.position ?? null
  const whole: KeyRange = { where: null, keys, nullKeys: 0, after: position }
  // The records of a past day have no index, and each range would make them anew (D74).
  if (day !== null) return [whole]
  const [first, ...rest] = keys as [PrintedSortKey, ...PrintedSortKey[]]
  const { ranked, looksUp } = first.order
  if (ranked && ranked.values.length <= rankedMax) return rankedKeyRanges(first, rest, position)
  if (!first.nullable || looksUp) return [whole]
  const bare = [{ ...first, nullable: false }, ...rest]
  const filled: KeyRange = { ...whole, where: sql`${first.value} IS NOT NULL`, keys: bare }
  const empty: KeyRange = { where: sql`${first.value} IS NULL`, keys: bare, nullKeys: 1, after: null }
  return position && position[0] === null ? [{ ...empty, after: position.slice(1) }] : [filled, empty]
}

function rankedKeyRanges(
  first: PrintedSortKey,
  rest: readonly PrintedSortKey[],
  position: Position | null,
): KeyRange[] {
  const { values } = first.order.ranked!
  const column = first.column!
  const inOrder = first.direction === 'asc' ? values : values.toReversed()
  const range = (where: Sql): KeyRange => ({ where, keys: rest, nullKeys: 0, after: null })
  const none = sql`(${column} IS NULL OR ${column} <> ALL(${sql.text(`{${values.join(',')}}`)}))`
  const ranges = [...inOrder.map(value => range(sql`${column} = ${sql.integer(value)}`)), range(none)]
  if (!position) return ranges
  const place = position[0] === null ? undefined : values[Number(position[0]) - 1]
  const index = place === undefined ? values.length : inOrder.indexOf(place)
  return [{ ...ranges[index]!, after: position.slice(1) }, ...ranges.slice(index + 1)]
}

/**
 * The keys of an ORDER BY, nulls last (D29). Only keys that may be null have NULLS LAST, which no index
 * serves. The first key of a list seldom has it: the records without a value are a key range of their own.
 */
export function orderBySql(keys: readonly PrintedSortKey[]): Sql {
  return sql.join(
    keys.map(({ value, direction, nullable }) => {
      const order = direction === 'asc' ? sql`ASC` : sql`DESC`
      return sql`${value} ${order}${nullable ? sql` NULLS LAST` : sql.none}`
    }),
  )
}

/**
 * The condition for the rows after a row, from the values of its sort keys. Keys that all have the same
 * direction and no nulls are compared as one row value, so that an index can begin there. Otherwise the bound
 * of the first key alone lets the index begin at the first row that has the same first key.
 */
function afterSql(keys: readonly PrintedSortKey[], values: Position): Sql {
  const given = keys.map(({ order: { type } }, index) => {
    const value = values[index]
    return value === null || value === undefined ? null : sql`${param(value)}::${sql.type(type)}`
  })
  const first = keys[0]!
  if (keys.every(key => !key.nullable && key.direction === first.direction)) {
    const row = sql.join(keys.map(({ value }) => value))
    return sql`(${row}) ${comparisonSign(first)} (${sql.join(given.map(value => value!))})`
  }
  const after = keys.reduceRight<Sql | null>((rest, key, index) => {
    const [bound, { value, nullable }] = [given[index], key]
    const tied = rest && sql`${value} ${bound ? sql`= ${bound}` : sql`IS NULL`} AND (${rest})`
    const later =
      bound && sql`${value} ${comparisonSign(key)} ${bound}${nullable ? sql` OR ${value} IS NULL` : sql.none}`
    const either = [later, tied].filter(condition => condition !== null && condition !== undefined)
    return either.length ? sql.join(either, sql` OR `) : sql`false`
  }, null)!
  if (first.nullable || !given[0]) return sql`(${after})`
  return sql`${first.value} ${comparisonSign(first)}= ${given[0]} AND (${after})`
}

function comparisonSign({ direction }: PrintedSortKey): Sql {
  return direction === 'asc' ? sql`>` : sql`<`
}

/** `values` is the JSON array of the last record's sort keys. */
export function cursorText(identity: string, values: string, clock: string): string {
  return Buffer.from(`{"list":"${identity}","at":"${clock}","after":${values}}`).toString('base64url')
}

/** Reads a cursor. Null if `text` is none, 'other' if it belongs to another list. */
export function readCursor(
  text: string,
  identity: string,
  keys: readonly PlannedSortKey[],
): Cursor | 'other' | null {
  const cursor = jsonIn(Buffer.from(text, 'base64url').toString())
  if (!isObject(cursor) || typeof cursor.list !== 'string') return null
  if (cursor.list !== identity) return 'other'
  const { at, after } = cursor
  const clock = typeof at === 'string' ? isoInstant(at, true) : null
  if (!Array.isArray(after) || after.length !== keys.length || clock === null) return null
  const position = after.map((value, index) =>
    value === null && keys[index]!.nullable ? null : keyText(value, keys[index]!),
  )
  return position.includes(undefined) ? null : { position: position as Position, clock }
}

/** A sort key's value in PostgreSQL's format for its type. Undefined if the type can't hold it. */
function keyText(value: Json, { order }: PlannedSortKey): string | undefined {
  const text = typeof value === 'string' ? value : undefined
  switch (order.type) {
    case 'numeric':
    case 'bigint': {
      const number = text === undefined ? decimal(value) : null
      const digits = number ? plain(number) : ''
      return (order.type === 'bigint' ? /^-?\d{1,18}$/ : /./).test(digits) ? digits : undefined
    }
    case 'date':
      return isoDate(text ?? '') ?? undefined
    case 'timestamptz':
      return isoInstant(text ?? '', true) ?? undefined
    default:
      return text !== undefined && isStorable(text) ? text : undefined
  }
}
