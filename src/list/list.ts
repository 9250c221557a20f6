/** A page of records, its total and the cursor to the next. Knows no HTTP and no text of a query. */
import type { ResourceFields } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import { inTurns } from '../in-turns.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { documentSql, isShownWhole, shownMembers } from '../records/document.ts'
import { expanded, namesOf } from '../records/expand.ts'
import type { Reader } from '../records/store.ts'
import { branchesOf } from './branches.ts'
import { weighed } from './common.ts'
import { cursorText } from './cursor.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues, type PlannedSort } from './resolve.ts'
import { afterSql, type Params, params, sortSql } from './sql.ts'
import { totalOf, whereSql } from './total.ts'

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
export function pageStatement(
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): { text: string; values: readonly (string | null)[] } {
  const list = params(String(account))
  const keys = keysAsOf(request, list)
  const size = request.pageSize
  const position = `json_build_array(${keys.map(key => key.order.sql).join(', ')})::text`
  const text =
    `SELECT string_agg(p.record, ${isPassedOn(fields, request) ? "','" : "E'\\n'"}) FILTER (WHERE p.n <= ${size}) AS records, count(*)::text AS found, max(p.position) AS position, ` +
    '(SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS seq ' +
    `FROM (SELECT ${documentSql(fields)} AS record, r.n, CASE WHEN r.n = ${size} THEN ${position} END AS position ` +
    `FROM (${rowsSql(fields, request, keys, list)}) r) p`
  return { text, values: list.values }
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
 * The sort keys, with the moment of the first page for the clock: what follows it must not move between two
 * pages.
 */
function keysAsOf({ sort, asOf }: ListRequest, list: Params): readonly PlannedSort[] {
  if (!sort.some(({ order }) => order.sql.includes('now()'))) return sort
  const moment = `${list.add(asOf)}::timestamptz`
  return sort.map(key => ({
    ...key,
    order: { ...key.order, sql: key.order.sql.replaceAll('now()', moment) },
  }))
}

/** The rows `r` of a page in order, numbered from 1 as `n`, one more than the page has. */
function rowsSql(
  fields: ResourceFields,
  request: ListRequest,
  keys: readonly PlannedSort[],
  list: Params,
): string {
  const table = identifier(fields.resource.name)
  const where = whereSql(request, list)
  const offset = (request.page - 1) * request.pageSize
  const branches = branchesOf(keys, request.cursor?.position ?? null).map(branch => {
    const conditions = [
      where,
      branch.where,
      branch.after && afterSql(branch.keys.slice(branch.fixed), branch.after, list),
    ]
    return { where: conditions.filter(Boolean).join(' AND '), order: sortSql(branch.keys) }
  })
  // Numbers that most requests share stand in the text: a limit that the planner can't see makes it plan each
  // request anew.
  const limit = request.pageSize + 1
  const skip = offset ? `${list.add(String(offset))}::bigint` : ''
  if (branches.length === 1) {
    const [{ where, order }] = branches as [{ where: string; order: string }]
    const paged = `ORDER BY ${order} LIMIT ${limit}${skip && ` OFFSET ${skip}`}`
    return `SELECT r.*, row_number() OVER () AS n FROM (SELECT * FROM ${table} r WHERE ${where} ${paged}) r`
  }
  const wanted = skip ? `${limit} + ${skip}` : String(limit)
  // A branch is read only when those before it did not fill the page; their ids are few, so the records are
  // looked up at the end.
  const read = branches.map(({ where, order }, index) => {
    const before = index ? `(SELECT n FROM before${index})` : '0'
    const needed = index ? ` AND ${before} < ${wanted}` : ''
    const ids = `SELECT r.id FROM ${table} r WHERE ${where}${needed} ORDER BY ${order} LIMIT ${wanted}`
    const sum = `SELECT ${before} + (SELECT count(*) FROM branch${index}) AS n`
    return (
      `branch${index} AS MATERIALIZED (SELECT x.id, ${before} + row_number() OVER () AS n FROM (${ids}) x), ` +
      `before${index + 1} AS MATERIALIZED (${sum})`
    )
  })
  const all = branches.map((_, index) => `SELECT id, n FROM branch${index}`).join(' UNION ALL ')
  return (
    `WITH ${read.join(', ')} SELECT r.*, x.n${skip && ` - ${skip}`} AS n FROM (${all}) x ` +
    `JOIN ${table} r ON r.account_id = $1::bigint AND r.id = x.id WHERE x.n <= ${wanted}${skip && ` AND x.n > ${skip}`} ORDER BY x.n`
  )
}
