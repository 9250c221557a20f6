/** A page of records and its total. Knows no HTTP and no text of a query. */
import type { ResourceFields } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import { documentSql, shownList } from '../records/document.ts'
import type { Queryable } from '../records/store.ts'
import type { ListRequest } from './query.ts'
import { params, sortSql } from './sql.ts'
import { totalOf, whereSql } from './total.ts'

export type Page = {
  /** the records as the inside of a JSON array */
  readonly records: string
  readonly hasMore: boolean
  readonly total: number | null
  readonly totalIsEstimate: boolean
}

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

/** A page of the records that the request asks for, with the total as it asks for it. */
export async function listRecords(db: Queryable, fields: ResourceFields, account: number, request: ListRequest): Promise<Page> {
  const { text, values } = pageStatement(fields, account, request)
  // Whether a word is rare or common decides between the trigram index and walking the order: planned with the word in sight.
  const [row] = await db.query(text, values, /:like\(/.test(request.filterText))
  const found = Number(row!.found)
  const hasMore = found > request.pageSize
  const records = shownList(fields, row!.records ?? '', request.only)
  const before = (request.page - 1) * request.pageSize
  if (request.count === 'none') return { records, hasMore, total: null, totalIsEstimate: false }
  if (!hasMore && (found > 0 || before === 0)) return { records, hasMore, total: before + found, totalIsEstimate: false }
  return { records, hasMore, ...(await totalOf(db, fields, account, request, row!.seq!)) }
}
