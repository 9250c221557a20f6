/**
 * Reads a page of records, its total, and the cursor of the next page. Knows no HTTP and no text of a query.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { expanded, namesOf } from '../records/expand.ts'
import { isShownWhole, renderedSql, shownMembers } from '../records/rendered-record.ts'
import { type RawReader, tableOf } from '../records/store.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { compile, type Param, param, type Sql, type Statement, sql } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import { cursorText, listIdentity } from './cursor.ts'
import { type KeyRange, keyRangesOf, type SortKey } from './key-ranges.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues } from './resolve.ts'
import { withSelectivity } from './selectivity.ts'
import { afterSql, sortSql, whereSql } from './sql.ts'
import { totalOf } from './total.ts'

/** The database interface of a list. Records come as bytes, so that they pass through without decoding. */
export type Page = {
  /** the records as the inside of a JSON array, in UTF-8, which may be in several pieces */
  readonly records: readonly Uint8Array[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

/** Builds the statement of a known list for any caller and moment. */
export type StatementOf = (caller: Caller, asOf: string) => Statement

/** The statement of a page, reusable for any caller and moment. */
export function pageStatement(schema: ResourceSchema, caller: Caller, request: ListRequest): Statement {
  return compile(countedPageSql(schema, callerParamsOf(caller), request, param(request.asOf)))
}

/**
 * SQL of the row of a page, with the account's last `seq`, which shows whether a cached total still holds.
 */
export function countedPageSql(
  schema: ResourceSchema,
  params: CallerParams,
  request: ListRequest,
  asOf: Param,
): Sql {
  const seq = sql`,
  (SELECT last_seq::text FROM counter WHERE account_id = ${params.account}::bigint) AS seq`
  return pageSql(schema, params, request, { asOf, more: seq })
}

/**
 * SQL of the row of a page. One row, because twenty-five rows would cost the client more than the database:
 * the records' texts joined to one text, with up to one record beyond the page; their number; the bytes of
 * the extra record; the sort keys of the page's last record; and further columns. `within`: a further
 * condition over the row `r`.
 */
export function pageSql(
  schema: ResourceSchema,
  params: CallerParams,
  request: ListRequest,
  { asOf, more = sql.none, within = null }: { asOf: Param; more?: Sql; within?: Sql | null },
): Sql {
  const { pageSize } = request
  const keys = keysOf(request, params, asOf)
  const namedKeys = keys.map(({ value }, index) => ({ value, name: sql.id(`key${index}`) }))
  const columns = [renderedLate(schema), ...namedKeys.map(({ value, name }) => sql`${value} AS ${name}`)]
  const at = (column: Sql, place: number) => sql`(array_agg(${column}))[${sql.integer(place)}]`
  // JSON text here never contains a line feed, so it separates records that are read one by one.
  const between = isPassedOn(schema, request) ? sql`','` : sql`E'\\n'`
  return sql`SELECT string_agg(p.record, ${between}) AS records, count(*)::text AS found,
  ${at(sql`octet_length(p.record)`, pageSize + 1)}::text AS beyond,
  json_build_array(${sql.join(namedKeys.map(({ name }) => at(sql`p.${name}`, pageSize)))})::text AS position${more}
FROM (${rowsSql(schema, params, request, { keys, columns: sql.join(columns), within })}) p`
}

/**
 * SQL of the record's text as a column. As a subquery it is computed for the page's rows only: PostgreSQL
 * takes a plain expression for cheap, and computes it for every row that it sorts.
 */
export function renderedLate(schema: ResourceSchema): Sql {
  return sql`(SELECT ${renderedSql(schema)}) AS record`
}

/** The columns of pageSql, as bytes. */
type PageColumns = readonly [
  records: Uint8Array | null,
  found: Uint8Array,
  beyond: Uint8Array | null,
  position: Uint8Array,
]

/** Decodes the row of a page: its records' texts, their number, and the cursor of the next page. */
export function pageOf(
  row: readonly (Uint8Array | null)[],
  { pageSize, asOf }: ListRequest,
  identity: () => string,
) {
  const [records, found, isMore, position] = row as unknown as PageColumns
  const count = Number(decoded(found))
  const hasMore = count > pageSize
  return {
    // Without the extra record and its separator.
    records: hasMore ? records!.subarray(0, -1 - Number(decoded(isMore!))) : (records ?? nothing),
    count,
    hasMore,
    nextCursor: hasMore ? cursorText(identity(), decoded(position), asOf) : null,
  }
}

/** True if the response has the records as stored. Then their bytes pass through unread. */
function isPassedOn(schema: ResourceSchema, { expand, only }: ListRequest): boolean {
  return expand.length === 0 && isShownWhole(schema, only)
}

/**
 * Reads the requested page, with a total if requested. `statementOf`: builds its statement, if cached
 * (list-cache.ts).
 */
export async function listRecords(
  db: RawReader,
  schema: ResourceSchema,
  caller: Caller,
  request: ListRequest,
  statementOf: StatementOf | null = null,
): Promise<Page> {
  const asked = await withSelectivity(db, schema, caller, request)
  const isKnown = statementOf && asked === request
  const { text, values } = isKnown ? statementOf(caller, request.asOf) : pageStatement(schema, caller, asked)
  const [row] = await db.queryBytes(text, values, request.filter !== null && dependsOnValues(request.filter))
  const { records, count, ...more } = pageOf(row!, request, () => listIdentity(request.identity))
  const page = { records: (await rendered(db, schema, caller, request, [records]))[0]!, ...more }
  if (request.count === 'none') return { ...page, total: null, totalIsEstimate: false }
  const before = request.cursor ? null : (request.page - 1) * request.pageSize
  const isLast = !page.hasMore && before !== null && (count > 0 || before === 0)
  if (isLast) return { ...page, total: before + count, totalIsEstimate: false }
  const counted = await totalOf(db, schema, caller, request, decoded(row!.at(-1)!))
  return {
    ...page,
    ...counted,
    total: counted.totalIsEstimate ? agreed(counted.total, before ?? 0, count) : counted.total,
  }
}

/**
 * Makes an estimate agree with a page of `count` records after `before` others: it is at least the number
 * shown, and a page beyond the end proves that there are no more than were skipped.
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
 * The records of pages with the requested fields and names. Usually neither is requested, and the bytes pass
 * through unread. A page may have hundreds of megabytes, so records are read and written one by one, yielding
 * to other requests.
 */
export async function rendered(
  db: RawReader,
  schema: ResourceSchema,
  caller: Caller,
  request: ListRequest,
  pages: readonly Uint8Array[],
): Promise<readonly (readonly Uint8Array[])[]> {
  if (isPassedOn(schema, request)) return pages.map(page => [page])
  const { expand, only } = request
  const read = await mapYielding(linesOf(pages), ({ page, line }) => {
    const record = parseJson(decoded(line)) as JsonObject
    const ids = Object.fromEntries(expand.map(({ internal_name: name }) => [name, record[name] ?? null]))
    return { page, ids, members: shownMembers(schema, record, only) }
  })
  const all = read.map(({ ids }) => ids)
  const names = await namesOf(db, caller, all, expand)
  const written = pages.map((): Buffer[] => [])
  await mapYielding(read, ({ page, ids, members }) => {
    const withNames = expand.length ? { ...members, _expanded: expanded(ids, expand, names) } : members
    const records = written[page]!
    records.push(Buffer.from(`${records.length ? ',' : ''}${JSON.stringify(withNames)}`))
  })
  return written
}

/** Yields the records one by one, with the index of their page. No record's JSON contains a line feed. */
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
 * The sort keys as SQL, as of the moment of the first page: a record must not move between two pages because
 * time passes.
 */
export function keysOf({ sort }: ListRequest, params: CallerParams, asOf: Param): SortKey[] {
  const row = { ...recordRow, now: sql`${asOf}::timestamptz` }
  return sort.map(key => ({
    ...key,
    value: key.order.sql(row, (resource, alias) => visible(resource, params, alias)),
    column: key.order.ranked?.column(row) ?? null,
  }))
}

/** The columns read of each row `r`, and a further condition `within`; null: all of a list. */
type Rows = { readonly keys: readonly SortKey[]; readonly columns: Sql; readonly within: Sql | null }

/**
 * SQL of the rows of a page in their order, with one extra. The columns are selected beside the limit, as
 * passing whole rows from step to step would be slower.
 */
export function rowsSql(
  schema: ResourceSchema,
  params: CallerParams,
  request: ListRequest,
  { keys, columns, within }: Rows,
): Sql {
  const table = tableOf(schema)
  const selected = whereSql(schema.resource.name, params, request)
  const where = within ? sql`${selected} AND ${within}` : selected
  const offset = (request.page - 1) * request.pageSize
  // The limit is in the statement's text: with a parameter, PostgreSQL would plan every request anew, because
  // the planner could not see the number.
  const limit = sql.integer(request.pageSize + 1)
  const skip = offset ? sql`${param(String(offset))}::bigint` : null
  const ranges = keyRangesOf(keys, request.cursor?.position ?? null)
  const [range] = ranges as [KeyRange]
  const rows = (columns: Sql) => sql`
      SELECT ${columns} FROM ${table} r
      WHERE ${inKeyRange(range, where)}
      ORDER BY ${sortSql(range.keys)} LIMIT ${limit}`
  if (ranges.length === 1 && !skip) return rows(columns)
  // Skipped rows are read from the index only.
  const ids =
    ranges.length > 1
      ? idsOfKeyRanges(table, where, ranges, limit, skip)
      : sql`SELECT x.id, row_number() OVER () AS n FROM (${rows(sql`r.id`)} OFFSET ${skip}) x`
  return sql`
    SELECT ${columns} FROM (${ids}) x
      JOIN ${table} r ON r.account_id = ${params.account}::bigint AND r.id = x.id
    ORDER BY x.n LIMIT ${limit}`
}

function inKeyRange({ where, keys, fixed, after }: KeyRange, selected: Sql): Sql {
  const conditions = [selected, where, after && afterSql(keys.slice(fixed), after)]
  return sql.join(
    conditions.filter(condition => condition !== null),
    sql` AND `,
  )
}

/**
 * The ids of a page that spans several key ranges, numbered in their order. A range is read only if the
 * ranges before it did not fill the page.
 */
function idsOfKeyRanges(
  table: Sql,
  where: Sql,
  ranges: readonly KeyRange[],
  limit: Sql,
  skip: Sql | null,
): Sql {
  const wanted = skip ? sql`${limit} + ${skip}` : limit
  const ctes = ranges.map((range, index) => ({
    range,
    name: sql.id(`range${index}`),
    before: index ? sql`(SELECT n FROM ${sql.id(`before${index}`)})` : sql`0`,
    needed: index ? sql` AND (SELECT n FROM ${sql.id(`before${index}`)}) < ${wanted}` : sql.none,
    next: sql.id(`before${index + 1}`),
  }))
  const read = ctes.map(
    ({ range, name, before, needed, next }) => sql`${name} AS MATERIALIZED (
      SELECT x.id, ${before} + row_number() OVER () AS n FROM (
        SELECT r.id FROM ${table} r WHERE ${inKeyRange(range, where)}${needed}
        ORDER BY ${sortSql(range.keys)} LIMIT ${wanted}) x
    ),
    ${next} AS MATERIALIZED (SELECT ${before} + (SELECT count(*) FROM ${name}) AS n)`,
  )
  const all = ctes.map(({ name }) => sql`SELECT id, n FROM ${name}`)
  return sql`
    WITH ${sql.join(read, sql`,\n    `)}
    SELECT x.id, x.n FROM (${sql.join(all, sql` UNION ALL `)}) x
    WHERE x.n <= ${wanted}${skip ? sql` AND x.n > ${skip}` : sql.none}`
}
