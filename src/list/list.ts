/** A page of records, its total and the cursor to the next. Knows no HTTP and no text of a query. */
import type { ResourceFields } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import { inTurns } from '../in-turns.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { documentSql, isShownWhole, shownMembers } from '../records/document.ts'
import { expanded, namesOf } from '../records/expand.ts'
import { type Reader, tableOf } from '../records/store.ts'
import { compile, type Param, param, type Sql, type Statement, sql } from '../sql.ts'
import { type Branch, branchesOf, type SortKey } from './branches.ts'
import { weighed } from './common.ts'
import { cursorText } from './cursor.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues } from './resolve.ts'
import { afterSql, sortSql, whereSql } from './sql.ts'
import { totalOf } from './total.ts'

/** What a list needs of a database: the text of its records comes as bytes, to be passed on unread. */
export type ListDatabase = Reader & {
  queryBytes(
    text: string,
    params: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly (readonly (Uint8Array | null)[])[]>
}

export type Page = {
  /** the records as the inside of a JSON array, in UTF-8 */
  readonly records: Uint8Array
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

/**
 * The statement of a page: one row with the records' text joined (twenty-five rows would cost the client more
 * than the database), how many were found, one more than the page so that a next page is known, the last
 * record's sort keys, and the account's last event: while it stays, so does the total.
 */
export function pageStatement(fields: ResourceFields, account: number, request: ListRequest): Statement {
  const own = param(String(account))
  const keys = keysOf(request, own)
  const size = sql.integer(request.pageSize)
  // Records that are read one by one are told apart by a line feed, which no JSON has.
  const between = isPassedOn(fields, request) ? sql`','` : sql`E'\\n'`
  const position = sql`json_build_array(${sql.join(keys.map(key => key.value))})::text`
  return compile(sql`SELECT string_agg(p.record, ${between}) FILTER (WHERE p.n <= ${size}) AS records,
  count(*)::text AS found, max(p.position) AS position,
  (SELECT last_seq::text FROM counter WHERE account_id = ${own}::bigint) AS seq
FROM (
  SELECT ${documentSql(fields)} AS record, r.n, CASE WHEN r.n = ${size} THEN ${position} END AS position
  FROM (${rowsSql(fields, own, request, keys)}) r) p`)
}

/** Whether records are answered as they are stored, their bytes unread. */
function isPassedOn(fields: ResourceFields, { expand, only }: ListRequest): boolean {
  return expand.length === 0 && isShownWhole(fields, only)
}

/** A page of the records that the request asks for, with the total as it asks for it. */
export async function listRecords(
  db: ListDatabase,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): Promise<Page> {
  const { text, values } = pageStatement(fields, account, await weighed(db, fields, account, request))
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
    records: records ? await seen(db, fields, account, request, records) : nothing,
    hasMore,
    nextCursor: hasMore ? cursorText(request.identity, decoded(position!), request.asOf) : null,
  }
  if (request.count === 'none') return { ...page, total: null, totalIsEstimate: false }
  const before = request.cursor ? null : (request.page - 1) * request.pageSize
  const isLast = !hasMore && before !== null && (count > 0 || before === 0)
  if (isLast) return { ...page, total: before + count, totalIsEstimate: false }
  const counted = await totalOf(db, fields, account, request, decoded(seq))
  // An estimate is never less than what is on the page.
  return {
    ...page,
    ...counted,
    total: counted.totalIsEstimate ? Math.max(counted.total, (before ?? 0) + count) : counted.total,
  }
}

const nothing = new Uint8Array()
const utf8 = new TextDecoder()

function decoded(bytes: Uint8Array): string {
  return utf8.decode(bytes)
}

/**
 * The records as the request wants to see them; mostly that is what was stored, which then is not even read.
 * A page may have hundreds of megabytes: its records are read and written one by one, in turns with other
 * requests.
 */
async function seen(
  db: ListDatabase,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
  records: Uint8Array,
): Promise<Uint8Array> {
  if (isPassedOn(fields, request)) return records
  const { expand, only } = request
  const read = await inTurns(lines(records), line => {
    const record = parseJson(decoded(line)) as JsonObject
    const ids = Object.fromEntries(expand.map(({ internal_name: name }) => [name, record[name] ?? null]))
    return { ids, members: shownMembers(fields, record, only) }
  })
  const all = read.map(({ ids }) => ids)
  const names = await namesOf(db, account, all, expand)
  const written = await inTurns(read, ({ ids, members }) => {
    const named = expand.length ? { ...members, _expanded: expanded(ids, expand, names) } : members
    return Buffer.from(`,${JSON.stringify(named)}`)
  })
  return Buffer.concat(written).subarray(1)
}

/** Records one by one: no JSON has a line feed in it. */
function* lines(records: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < records.length; ) {
    const end = records.indexOf(10, from)
    const to = end < 0 ? records.length : end
    yield records.subarray(from, to)
    from = to + 1
  }
}

/**
 * The sort keys. For them the clock says the moment of the first page: what follows it must not move between
 * two pages.
 */
function keysOf({ sort, asOf }: ListRequest, account: Param): SortKey[] {
  const row = { ...recordRow, now: sql`${param(asOf)}::timestamptz` }
  return sort.map(key => ({
    ...key,
    value: key.order.sql(row, account),
    column: key.order.ranked?.column(row) ?? null,
  }))
}

/** The rows `r` of a page in order, numbered from 1 as `n`, one more than the page has. */
function rowsSql(
  fields: ResourceFields,
  account: Param,
  request: ListRequest,
  keys: readonly SortKey[],
): Sql {
  const table = tableOf(fields)
  const where = whereSql(account, request)
  const offset = (request.page - 1) * request.pageSize
  // Numbers that most requests share stand in the text: a limit that the planner can't see makes it plan each
  // request anew.
  const limit = sql.integer(request.pageSize + 1)
  const skip = offset ? sql`${param(String(offset))}::bigint` : null
  const branches = branchesOf(keys, request.cursor?.position ?? null)
  if (branches.length > 1) return branchedRows(table, account, where, branches, limit, skip)
  const [branch] = branches as [Branch]
  return sql`
    SELECT r.*, row_number() OVER () AS n FROM (
      SELECT * FROM ${table} r
      WHERE ${inBranch(branch, where)}
      ORDER BY ${sortSql(branch.keys)} LIMIT ${limit}${skip ? sql` OFFSET ${skip}` : sql.none}) r`
}

function inBranch({ where, keys, fixed, after }: Branch, selected: Sql): Sql {
  const conditions = [selected, where, after && afterSql(keys.slice(fixed), after)]
  return sql.join(
    conditions.filter(condition => condition !== null),
    sql` AND `,
  )
}

/**
 * The same of several branches. One is read only when those before it did not fill the page; their ids are
 * few, so the records are looked up at the end.
 */
function branchedRows(
  table: Sql,
  account: Param,
  where: Sql,
  branches: readonly Branch[],
  limit: Sql,
  skip: Sql | null,
): Sql {
  const wanted = skip ? sql`${limit} + ${skip}` : limit
  const named = branches.map((branch, index) => ({
    branch,
    name: sql.id(`branch${index}`),
    before: index ? sql`(SELECT n FROM ${sql.id(`before${index}`)})` : sql`0`,
    needed: index ? sql` AND (SELECT n FROM ${sql.id(`before${index}`)}) < ${wanted}` : sql.none,
    next: sql.id(`before${index + 1}`),
  }))
  const read = named.map(
    ({ branch, name, before, needed, next }) => sql`${name} AS MATERIALIZED (
      SELECT x.id, ${before} + row_number() OVER () AS n FROM (
        SELECT r.id FROM ${table} r WHERE ${inBranch(branch, where)}${needed}
        ORDER BY ${sortSql(branch.keys)} LIMIT ${wanted}) x
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
