/**
 * Reads a page of records, its total, and the cursor of the next page. order.ts and where.ts print the rows'
 * SQL; here they become one row of bytes, which pass through unread if possible. Knows no HTTP and no text of
 * a query.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { expanded, namesOf } from '../records/expand.ts'
import { isShownWhole, renderedSql, shownMembers } from '../records/rendered-record.ts'
import type { RawReader } from '../records/store.ts'
import { type Caller, callerParamsOf, callerParamValues } from '../rights/visibility.ts'
import { compile, type Param, prepared, type Sql, type Statement, sql } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import { digestOf } from './digest.ts'
import type { ListRequest } from './list-request.ts'
import { cursorText, rowsSql, sortKeysSql } from './order.ts'
import { dependsOnValues } from './plan.ts'
import { withSelectivity } from './selectivity.ts'
import { lastSeqSql, totalOf } from './total.ts'

export type Page = {
  /** the records as the inside of a JSON array, in UTF-8, which may be in several pieces */
  readonly records: readonly Uint8Array[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

/** Builds the statement of a known list for any caller and moment. */
export type StatementOf = (caller: Caller, clock: string) => Statement

/**
 * Reads the requested page, with a total if requested. `statementOf`: builds its statement, if cached
 * (list-cache.ts).
 */
export async function listRecords(
  db: RawReader,
  caller: Caller,
  request: ListRequest,
  statementOf: StatementOf | null = null,
): Promise<Page> {
  const marked = await withSelectivity(db, caller, request)
  // Marked conditions are printed otherwise.
  const isCached = statementOf && marked === request
  const { text, values } = isCached ? statementOf(caller, request.clock) : pageStatement(caller, marked)
  const [row] = await db.queryBytes(text, values, dependsOnValues(request.filter))
  const { records, found, seq, ...more } = decodePage(row!, request, () => digestOf(request.identity))
  const page = { records: (await rendered(db, caller, request, [records]))[0]!, ...more }
  if (request.count === 'none') return { ...page, total: null, totalIsEstimate: false }
  const before = request.cursor ? null : (request.page - 1) * request.pageSize
  const isLast = !page.hasMore && before !== null && (found > 0 || before === 0)
  if (isLast) return { ...page, total: before + found, totalIsEstimate: false }
  // Not `marked`: a count reads all records that match, and the index finds those of a common value, too.
  const counted = await totalOf(db, caller, request, seq)
  return {
    ...page,
    ...counted,
    total: counted.totalIsEstimate ? agreed(counted.total, before ?? 0, found) : counted.total,
  }
}

/**
 * Makes an estimate agree with a page after `before` records on which `found` were read, the extra one
 * included: it is at least their sum, and a page beyond the end proves that there are no more than skipped.
 */
function agreed(total: number, before: number, found: number): number {
  if (found > 0) return Math.max(total, before + found)
  return before > 0 ? Math.min(total, before) : total
}

export type ValuePage = Pick<Page, 'records' | 'hasMore' | 'nextCursor'>

/**
 * Reads a page of the records of a list with `id` in the field `by`, for each of the ids, in their order. The
 * cursor of a page is that of the list with a further filter, `by:eq(id)`, after its own.
 */
export async function pagesByValue(
  db: RawReader,
  caller: Caller,
  request: ListRequest,
  by: Field,
  ids: readonly number[],
): Promise<readonly ValuePage[]> {
  const marked = await withSelectivity(db, caller, request)
  const { text, values } = pagesByValueStatement(caller, marked, by, ids)
  const rows = await db.queryBytes(text, values, dependsOnValues(request.filter))
  const pages = rows.map((row, index) =>
    decodePage(row, request, () => digestOf([...request.identity, `${by.internal_name}:eq(${ids[index]})`])),
  )
  const texts = pages.map(({ records }) => records)
  const records = await rendered(db, caller, request, texts)
  return pages.map(({ hasMore, nextCursor }, index) => ({ records: records[index]!, hasMore, nextCursor }))
}

/** One row for each id: the filter and the order are in the statement once, however many ids there are. */
export function pagesByValueStatement(
  caller: Caller,
  request: ListRequest,
  by: Field,
  ids: readonly number[],
): Statement {
  const params = callerParamsOf(caller)
  const value = kinds[by.type].term(by, '')!.sql(recordRow(params.account))
  const page = pageSql(params, request, { within: sql`${value} = parted.id` })
  return compile(sql`SELECT page.*
FROM unnest(${`{${ids.join(',')}}`}::bigint[]) WITH ORDINALITY parted (id, place)
CROSS JOIN LATERAL (${page}) page ORDER BY parted.place`)
}

/** Used once; list-cache.ts keeps `preparedPageStatement` for a list that is repeated. */
export function pageStatement(caller: Caller, request: ListRequest): Statement {
  return compile(pageSql(callerParamsOf(caller), request))
}

/** A function that makes the statement of a page, built once for any caller and moment. */
export function preparedPageStatement({ catalog: { resources } }: Caller, request: ListRequest): StatementOf {
  const statement = prepared((account, actor, territories, clock) =>
    pageSql({ account, actor, territories, resources }, request, { clock }),
  )
  return (caller, clock) => statement(...callerParamValues(caller), clock)
}

/**
 * SQL of the row of a page. One row, because twenty-five rows would cost the client more than the database:
 * the records' texts joined to one text, with up to one record beyond the page; their number; the bytes of
 * the extra record; the sort keys of the page's last record; and the account's last `seq`, which shows
 * whether a cached total still holds. `within`: a further condition over the row `r`.
 */
function pageSql(
  params: CallerParams,
  request: ListRequest,
  { clock, within }: { clock?: Param; within?: Sql } = {},
): Sql {
  const { pageSize } = request
  const keys = sortKeysSql(params, request, clock)
  const namedKeys = keys.map(({ value }, index) => ({ value, name: sql.id(`key${index}`) }))
  const columns = [
    renderedLate(request.schema, params.account),
    ...namedKeys.map(({ value, name }) => sql`${value} AS ${name}`),
  ]
  const at = (column: Sql, place: number) => sql`(array_agg(${column}))[${sql.integer(place)}]`
  // JSON text here never contains a line feed, so it separates records that are read one by one.
  const between = isPassedOn(request) ? sql`','` : sql`E'\\n'`
  return sql`SELECT string_agg(p.record, ${between}) AS records, count(*)::text AS found,
  ${at(sql`octet_length(p.record)`, pageSize + 1)}::text AS extra_bytes,
  json_build_array(${sql.join(namedKeys.map(({ name }) => at(sql`p.${name}`, pageSize)))})::text AS position,
  ${lastSeqSql(params.account)} AS seq
FROM (${rowsSql(params, request, { keys, columns: sql.join(columns), within })}) p`
}

/**
 * SQL of the record's text as a column. As a subquery it is computed for the page's rows only: PostgreSQL
 * takes a plain expression for cheap, and computes it for every row that it sorts.
 */
export function renderedLate(schema: ResourceSchema, account: Param): Sql {
  return sql`(SELECT ${renderedSql(schema, account)}) AS record`
}

/** True if the response has the records as stored. Then their bytes pass through unread. */
function isPassedOn({ schema, expand, only }: ListRequest): boolean {
  return expand.length === 0 && isShownWhole(schema, only)
}

/** The columns of pageSql, as bytes. */
type PageColumns = readonly [
  records: Uint8Array | null,
  found: Uint8Array,
  extraBytes: Uint8Array | null,
  position: Uint8Array,
  seq: Uint8Array,
]

/** Decodes the row of a page: its records' texts, their number, the cursor of the next page, and `seq`. */
function decodePage(
  row: readonly (Uint8Array | null)[],
  { pageSize, clock }: ListRequest,
  identity: () => string,
) {
  const [records, number, extraBytes, position, seq] = row as unknown as PageColumns
  const found = Number(decoded(number))
  const hasMore = found > pageSize
  return {
    // Without the extra record and its separator.
    records: hasMore ? records!.subarray(0, -1 - Number(decoded(extraBytes!))) : (records ?? nothing),
    found,
    hasMore,
    nextCursor: hasMore ? cursorText(identity(), decoded(position), clock) : null,
    seq: decoded(seq),
  }
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
async function rendered(
  db: RawReader,
  caller: Caller,
  request: ListRequest,
  pages: readonly Uint8Array[],
): Promise<readonly (readonly Uint8Array[])[]> {
  if (isPassedOn(request)) return pages.map(page => [page])
  const { schema, expand, only } = request
  const isWhole = isShownWhole(schema, only)
  const read = await mapYielding(linesOf(pages), ({ page, line }) => {
    const record = parseJson(decoded(line)) as JsonObject
    const ids = Object.fromEntries(expand.map(({ internal_name: name }) => [name, record[name] ?? null]))
    // The text of a whole record stays as it is. Parsed, all records of the page would be in memory again.
    return { page, ids, text: isWhole ? line : textOf(shownMembers(schema, record, only)) }
  })
  const all = read.map(({ ids }) => ids)
  const names = await namesOf(db, caller, all, expand)
  const written = pages.map((): Uint8Array[] => [])
  await mapYielding(read, ({ page, ids, text }) => {
    const records = written[page]!
    if (records.length > 0) records.push(comma)
    if (expand.length === 0) records.push(text)
    else {
      // The member comes last, in place of the brace behind the others.
      const member = textOf({ _expanded: expanded(ids, expand, names) }).subarray(1)
      records.push(text.subarray(0, -1), comma, member)
    }
  })
  return written
}

const comma = Buffer.from(',')

function textOf(object: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(object))
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
