/**
 * Reads a page of records, its total, and the cursor of the next page. Knows no HTTP and no text of a query.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import { inTurns } from '../in-turns.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { expanded, namesOf } from '../records/expand.ts'
import { isShownWhole, renderedSql, shownMembers } from '../records/rendered-record.ts'
import { type BytesReader, type Reader, tableOf } from '../records/store.ts'
import { type Sight, sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { compile, type Param, param, type Sql, type Statement, sql } from '../sql.ts'
import { cursorText, listIdentity } from './cursor.ts'
import { type KeyRange, keyRangesOf, type SortKey } from './key-ranges.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues } from './resolve.ts'
import { withSelectivity } from './selectivity.ts'
import { afterSql, sortSql, whereSql } from './sql.ts'
import { totalOf } from './total.ts'

/**
 * What a list needs of a database. Records come as bytes, so that they are passed on without being decoded.
 */
export type ListDatabase = Reader & BytesReader

export type Page = {
  /** the records as the inside of a JSON array, in UTF-8 */
  readonly records: Uint8Array
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

/**
 * The statement of a page. It answers one row: the records' texts joined to one text; how many were found, up
 * to one more than the page has, which tells whether there is a next page; the sort keys of the last record;
 * and the account's last `seq`, which tells whether a remembered total still holds. One row, because
 * twenty-five rows would cost the client more than the database.
 */
export function pageStatement(fields: ResourceFields, viewer: Viewer, request: ListRequest): Statement {
  const sight = sightOf(viewer)
  const seq = sql`,
  (SELECT last_seq::text FROM counter WHERE account_id = ${sight.account}::bigint) AS seq`
  return compile(pageSql(fields, sight, request, { more: seq }))
}

/**
 * SQL of the row of a page: `records`, `found`, `position` and further columns. `within`: a further condition
 * over the row `r`.
 */
export function pageSql(
  fields: ResourceFields,
  sight: Sight,
  request: ListRequest,
  { more = sql.none, within = null }: { readonly more?: Sql; readonly within?: Sql | null },
): Sql {
  const keys = keysOf(request, sight)
  const size = sql.integer(request.pageSize)
  // A line feed separates records that are read one by one, because JSON text here never has one.
  const between = isPassedOn(fields, request) ? sql`','` : sql`E'\\n'`
  const position = sql`json_build_array(${sql.join(keys.map(key => key.value))})::text`
  return sql`SELECT string_agg(p.record, ${between}) FILTER (WHERE p.n <= ${size}) AS records,
  count(*)::text AS found, max(p.position) AS position${more}
FROM (
  SELECT ${renderedSql(fields)} AS record, r.n, CASE WHEN r.n = ${size} THEN ${position} END AS position
  FROM (${rowsSql(fields, sight, request, keys, within)}) r) p`
}

/** Whether the response has the records as they are stored. Then their bytes are passed on unread. */
function isPassedOn(fields: ResourceFields, { expand, only }: ListRequest): boolean {
  return expand.length === 0 && isShownWhole(fields, only)
}

/** Reads the page that the request asks for, with a total if it asks for one. */
export async function listRecords(
  db: ListDatabase,
  fields: ResourceFields,
  viewer: Viewer,
  request: ListRequest,
): Promise<Page> {
  const { text, values } = pageStatement(fields, viewer, await withSelectivity(db, fields, viewer, request))
  const [row] = await db.queryBytes(text, values, request.filter !== null && dependsOnValues(request.filter))
  const [records, found, position, seq] = row as [
    Uint8Array | null,
    Uint8Array,
    Uint8Array | null,
    Uint8Array,
  ]
  const count = Number(decoded(found))
  const hasMore = count > request.pageSize
  const page = {
    records: (await seen(db, fields, viewer, request, [records ?? nothing]))[0]!,
    hasMore,
    nextCursor: hasMore ? cursorText(listIdentity(request.identity), decoded(position!), request.asOf) : null,
  }
  if (request.count === 'none') return { ...page, total: null, totalIsEstimate: false }
  const before = request.cursor ? null : (request.page - 1) * request.pageSize
  const isLast = !hasMore && before !== null && (count > 0 || before === 0)
  if (isLast) return { ...page, total: before + count, totalIsEstimate: false }
  const counted = await totalOf(db, fields, viewer, request, decoded(seq))
  return {
    ...page,
    ...counted,
    total: counted.totalIsEstimate ? agreed(counted.total, before ?? 0, count) : counted.total,
  }
}

/**
 * An estimate that agrees with a page of `count` records after `before` others: it is never less than what
 * was shown, and a page beyond the end says that there are no more than were passed over.
 */
function agreed(total: number, before: number, count: number): number {
  if (count > 0) return Math.max(total, before + count)
  return before > 0 ? Math.min(total, before) : total
}

const nothing = new Uint8Array()
const utf8 = new TextDecoder()

function decoded(bytes: Uint8Array): string {
  return utf8.decode(bytes)
}

/**
 * The records of pages with the fields and names that the request asks for. Mostly it asks for neither, and
 * the bytes are passed on unread. A page may have hundreds of megabytes, so records are read and written one
 * by one, in turns with other requests.
 */
export async function seen(
  db: ListDatabase,
  fields: ResourceFields,
  viewer: Viewer,
  request: ListRequest,
  pages: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  if (isPassedOn(fields, request)) return pages
  const { expand, only } = request
  const read = await inTurns(linesOf(pages), ({ page, line }) => {
    const record = parseJson(decoded(line)) as JsonObject
    const ids = Object.fromEntries(expand.map(({ internal_name: name }) => [name, record[name] ?? null]))
    return { page, ids, members: shownMembers(fields, record, only) }
  })
  const all = read.map(({ ids }) => ids)
  const names = await namesOf(db, viewer, all, expand)
  const written = pages.map((): Buffer[] => [])
  await inTurns(read, ({ page, ids, members }) => {
    const named = expand.length ? { ...members, _expanded: expanded(ids, expand, names) } : members
    written[page]!.push(Buffer.from(`,${JSON.stringify(named)}`))
  })
  return written.map(records => Buffer.concat(records).subarray(1))
}

/** Yields the records one by one, with the place of their page. No record's JSON has a line feed in it. */
function* linesOf(pages: readonly Uint8Array[]): Generator<{ page: number; line: Uint8Array }> {
  for (const [page, records] of pages.entries()) {
    for (let from = 0; from < records.length; ) {
      const end = records.indexOf(10, from)
      const to = end < 0 ? records.length : end
      yield { page, line: records.subarray(from, to) }
      from = to + 1
    }
  }
}

/**
 * The sort keys as SQL. In them the clock stands at the moment of the first page: a record must not move
 * between two pages because time goes on.
 */
export function keysOf({ sort, asOf }: ListRequest, sight: Sight): SortKey[] {
  const row = { ...recordRow, now: sql`${param(asOf)}::timestamptz` }
  return sort.map(key => ({
    ...key,
    value: key.order.sql(row, (resource, alias) => visible(resource, sight, alias)),
    column: key.order.ranked?.column(row) ?? null,
  }))
}

/** SQL of the rows `r` of a page, one more than the page has. `n` numbers them from 1 in their order. */
export function rowsSql(
  fields: ResourceFields,
  sight: Sight,
  request: ListRequest,
  keys: readonly SortKey[],
  within: Sql | null,
): Sql {
  const table = tableOf(fields)
  const selected = whereSql(fields.resource.name, sight, request)
  const where = within ? sql`${selected} AND ${within}` : selected
  const offset = (request.page - 1) * request.pageSize
  // The limit stands in the statement's text. If it were a parameter, PostgreSQL would plan every request
  // anew, because the planner could not see the number.
  const limit = sql.integer(request.pageSize + 1)
  const skip = offset ? sql`${param(String(offset))}::bigint` : null
  const ranges = keyRangesOf(keys, request.cursor?.position ?? null)
  if (ranges.length > 1) return rowsOfKeyRanges(table, sight.account, where, ranges, limit, skip)
  const [range] = ranges as [KeyRange]
  const rows = (columns: Sql) => sql`SELECT ${columns} FROM ${table} r
      WHERE ${inKeyRange(range, where)}
      ORDER BY ${sortSql(range.keys)} LIMIT ${limit}`
  if (!skip)
    return sql`
    SELECT r.*, row_number() OVER () AS n FROM (
      ${rows(sql`*`)}) r`
  // What is passed over is read from the index alone.
  return sql`
    SELECT r.*, x.n FROM (
      SELECT x.id, row_number() OVER () AS n FROM (
      ${rows(sql`r.id`)} OFFSET ${skip}) x) x
      JOIN ${table} r ON r.account_id = ${sight.account}::bigint AND r.id = x.id
    ORDER BY x.n`
}

function inKeyRange({ where, keys, fixed, after }: KeyRange, selected: Sql): Sql {
  const conditions = [selected, where, after && afterSql(keys.slice(fixed), after)]
  return sql.join(
    conditions.filter(condition => condition !== null),
    sql` AND `,
  )
}

/**
 * The rows of a page that is read from several key ranges. A range is read only when the ranges before it did
 * not fill the page. The ranges give ids, which are few; the records are looked up at the end.
 */
function rowsOfKeyRanges(
  table: Sql,
  account: Param,
  where: Sql,
  ranges: readonly KeyRange[],
  limit: Sql,
  skip: Sql | null,
): Sql {
  const wanted = skip ? sql`${limit} + ${skip}` : limit
  const named = ranges.map((range, index) => ({
    range,
    name: sql.id(`range${index}`),
    before: index ? sql`(SELECT n FROM ${sql.id(`before${index}`)})` : sql`0`,
    needed: index ? sql` AND (SELECT n FROM ${sql.id(`before${index}`)}) < ${wanted}` : sql.none,
    next: sql.id(`before${index + 1}`),
  }))
  const read = named.map(
    ({ range, name, before, needed, next }) => sql`${name} AS MATERIALIZED (
      SELECT x.id, ${before} + row_number() OVER () AS n FROM (
        SELECT r.id FROM ${table} r WHERE ${inKeyRange(range, where)}${needed}
        ORDER BY ${sortSql(range.keys)} LIMIT ${wanted}) x
    ),
    ${next} AS MATERIALIZED (SELECT ${before} + (SELECT count(*) FROM ${name}) AS n)`,
  )
  const all = named.map(({ name }) => sql`SELECT id, n FROM ${name}`)
  return sql`
    WITH ${sql.join(read, sql`,\n    `)}
    SELECT r.*, x.n${skip ? sql` - ${skip}` : sql.none} AS n
    FROM (${sql.join(all, sql` UNION ALL `)}) x
      JOIN ${table} r ON r.account_id = ${account}::bigint AND r.id = x.id
    WHERE x.n <= ${wanted}${skip ? sql` AND x.n > ${skip}` : sql.none} ORDER BY x.n`
}
