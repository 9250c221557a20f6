/**
 * All records of a list, in its order, for an export (D81): as one statement for a cursor, or in steps if no
 * cursor may stay open. Knows no HTTP and no format.
 */
import { digestOf } from '../../lists/digest.ts'
import type { Cursor, ListRequest } from '../../lists/list-request.ts'
import { cursorText, orderBySql, readCursor, rowsSql, sortKeysSql } from '../../lists/order.ts'
import { renderedLate } from '../../lists/page.ts'
import { whereSql } from '../../lists/where.ts'
import { renderedSql } from '../../records/rendered-record.ts'
import { type RawReader, tableOf } from '../../records/store.ts'
import { type Caller, callerParamsOf, visible } from '../../rights/visibility.ts'
import { compile, type Statement, sql } from '../../sql.ts'

/**
 * The statement of all records, in order: `line` is a record's text; `place`, which begins with a
 * parenthesis, identifies it for `lineStatement`.
 */
export function scanStatement(caller: Caller, request: ListRequest): Statement {
  const { schema } = request
  const params = callerParamsOf(caller)
  const keys = sortKeysSql(params, request)
  const [table, account] = [tableOf(schema), params.account]
  const ordered = (columns: typeof table) => sql`SELECT ${columns} FROM ${table} r
    WHERE ${whereSql(params, request)} ORDER BY ${orderBySql(keys)}`
  // Sorting whole records would spill all of them to the disk: only ids are sorted, and the records fetched
  // in that order. The id, always the last key, has an index.
  const rows =
    keys.length === 1
      ? ordered(sql`*`)
      : sql`SELECT r.* FROM (${ordered(sql`r.id`)} OFFSET 0) x, LATERAL (
      SELECT * FROM ${table} r WHERE r.account_id = ${account}::bigint AND r.id = x.id OFFSET 0) r`
  return compile(
    sql`SELECT concat('(', r.id) AS place, ${renderedSql(schema, account)} AS line FROM (${rows}) r`,
  )
}

/** The statement of one record's text, by its place. */
export function lineStatement(caller: Caller, { schema }: ListRequest, place: string): Statement {
  const params = callerParamsOf(caller)
  return compile(sql`SELECT ${renderedSql(schema, params.account)} AS line FROM ${tableOf(schema)} r
    WHERE ${visible(schema.resource.name, params, sql`r`)} AND r.id = ${place.slice(1)}::bigint`)
}

/** Bounds of a step: records, and the bytes after which it ends, unless it has one record only. */
const [fewest, most, stepBytes] = [50, 2000, 1_048_576]

/**
 * The texts of all records, in order, in steps: each begins after the last record of the one before. They are
 * a consistent snapshot only if nothing is written meanwhile.
 */
export async function* scanInSteps(
  db: RawReader,
  caller: Caller,
  request: ListRequest,
): AsyncGenerator<Uint8Array[]> {
  const identity = digestOf(request.identity)
  let cursor: Cursor | null = null
  for (let size = most; ; ) {
    const { text, values } = stepStatement(caller, { ...request, cursor, pageSize: size })
    const rows = (await db.queryBytes(text, values, true)) as readonly [Buffer, Buffer][]
    if (rows.length === 0) return
    yield rows.map(([record]) => record)
    // Records beyond the byte limit are read again, so the next step tries a little more than fitted.
    size = Math.min(most, Math.max(fewest, Math.ceil(1.25 * rows.length)))
    const position = Buffer.from(rows.at(-1)![1]).toString('utf8')
    cursor = readCursor(cursorText(identity, position, request.clock), identity, request.sort) as Cursor
  }
}

function stepStatement(caller: Caller, request: ListRequest): Statement {
  const { schema } = request
  const params = callerParamsOf(caller)
  const keys = sortKeysSql(params, request)
  const columns = sql`${renderedLate(schema, params.account)},
      json_build_array(${sql.join(keys.map(({ value }) => value))})::text AS position`
  return compile(sql`SELECT p.record, p.position FROM (
  SELECT q.*, row_number() OVER () AS n, sum(octet_length(q.record)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
  FROM (${rowsSql(params, request, { keys, columns })}) q) p
WHERE p.n = 1 OR p.bytes <= ${sql.integer(stepBytes)} ORDER BY p.n`)
}
