/** A page of records and its total. Knows no HTTP and no text of a query. */
import type { ResourceFields } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import { documentSql, shownList } from '../records/document.ts'
import type { Queryable } from '../records/store.ts'
import type { ListRequest } from './query.ts'
import { filterSql, params, sortSql } from './sql.ts'

export type Page = {
  /** the records as the inside of a JSON array */
  readonly records: string
  readonly hasMore: boolean
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

/** Totals are exact up to here, beyond it the planner's estimate (D28). */
const exactUpTo = 10_000

/**
 * The statement of a page: one row with the records' text joined (twenty-five rows would cost the client more than the database),
 * how many were found, one more than the page so that a next page is known, and the account's last event: while it stays, so
 * does the total.
 */
export function pageStatement(
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): { text: string; values: readonly (string | null)[] } {
  const list = params(String(account))
  const where = whereSql(request, list)
  const size = list.add(String(request.pageSize))
  const offset = list.add(String((request.page - 1) * request.pageSize))
  const text =
    `SELECT string_agg(p.record, ',') FILTER (WHERE p.n <= ${size}::bigint) AS records, count(*)::text AS found, ` +
    '(SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS seq ' +
    `FROM (SELECT ${documentSql(fields)} AS record, row_number() OVER () AS n ` +
    `FROM (SELECT * FROM ${identifier(fields.resource.name)} r WHERE ${where} ORDER BY ${sortSql(request.sort)} ` +
    `LIMIT ${size}::bigint + 1 OFFSET ${offset}::bigint) r) p`
  return { text, values: list.values }
}

/** Totals by resource, filter and way of counting, each with the event up to which it holds. */
export type Totals = Map<string, { seq: string; total: number; totalIsEstimate: boolean }>
const totalsMax = 1000

/** A page of the records that the request asks for, with the total as it asks for it. */
export async function listRecords(
  db: Queryable,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
  totals: Totals,
): Promise<Page> {
  const { text, values } = pageStatement(fields, account, request)
  // Whether a word is rare or common decides between the trigram index and walking the order: planned with the word in sight.
  const [row] = await db.query(text, values, /:like\(/.test(request.filterText))
  const found = Number(row!.found)
  const hasMore = found > request.pageSize
  const records = shownList(fields, row!.records ?? '', request.only)
  const before = (request.page - 1) * request.pageSize
  if (request.count === 'none') return { records, hasMore, total: null, totalIsEstimate: false }
  if (!hasMore && (found > 0 || before === 0)) return { records, hasMore, total: before + found, totalIsEstimate: false }
  return { records, hasMore, ...(await total(db, fields, account, request, row!.seq!, totals)) }
}

async function total(db: Queryable, fields: ResourceFields, account: number, request: ListRequest, seq: string, totals: Totals) {
  const key = `${account} ${fields.resource.name} ${request.count} ${request.filterText}`
  const remembered = totals.get(key)
  if (remembered?.seq === seq && !dependsOnTime(request)) return remembered
  const list = params(String(account))
  const where = whereSql(request, list)
  const table = identifier(fields.resource.name)
  const bound = request.count === 'exact' ? '' : ` LIMIT ${(request.count === 'estimate' ? 0 : exactUpTo) + 1}`
  const [row] = await db.query(
    `SELECT (SELECT count(*) FROM (SELECT FROM ${table} r WHERE ${where}${bound}) x)::text AS total, ` +
      '(SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS seq',
    list.values,
  )
  const counted = Number(row!.total)
  const isExact = request.count === 'exact' || counted <= (request.count === 'estimate' ? 0 : exactUpTo)
  const found = {
    total: isExact ? counted : Math.max(counted, await estimate(db, `SELECT FROM ${table} r WHERE ${where}`, list.values)),
    totalIsEstimate: !isExact,
  }
  if (totals.size >= totalsMax) totals.clear()
  totals.set(key, { seq: row!.seq!, ...found })
  return found
}

/** How many rows the planner expects. */
async function estimate(db: Queryable, text: string, values: readonly (string | null)[]): Promise<number> {
  const [row] = await db.query(`EXPLAIN (FORMAT JSON) ${text}`, values)
  const [{ Plan }] = JSON.parse(row!['QUERY PLAN']!) as [{ Plan: { 'Plan Rows': number } }]
  return Plan['Plan Rows']
}

function whereSql(request: ListRequest, list: ReturnType<typeof params>): string {
  const filter = request.filter ? ` AND ${filterSql(request.filter, list)}` : ''
  return `r.account_id = $1::bigint AND r.deleted_at IS NULL${filter}`
}

/** Such a total changes without an event: age and rotting_days follow the clock. */
function dependsOnTime(request: ListRequest): boolean {
  return /\b(age|rotting_days):/.test(request.filterText)
}
