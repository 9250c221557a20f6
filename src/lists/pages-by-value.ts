/**
 * The first pages of several lists that differ in the value of one field, in one statement: the lanes of a
 * board. Knows no HTTP and no resource.
 */

import type { ResourceSchema } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import type { RawReader } from '../records/store.ts'
import { type Caller, callerParamsOf } from '../rights/visibility.ts'
import { compile, param, type Statement, sql } from '../sql.ts'
import { listIdentity } from './cursor.ts'
import { type Page, pageOf, pageSql, rendered } from './list.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues } from './resolve.ts'
import { withSelectivity } from './selectivity.ts'

export type ValuePage = Pick<Page, 'records' | 'hasMore' | 'nextCursor'>

/**
 * Reads a page of the records of a list with `id` in the field `by`, for each of the ids, in their order. The
 * cursor of a page is that of the list with a further filter, `by:eq(id)`, after its own.
 */
export async function pagesByValue(
  db: RawReader,
  schema: ResourceSchema,
  caller: Caller,
  request: ListRequest,
  by: Field,
  ids: readonly number[],
): Promise<readonly ValuePage[]> {
  const asked = await withSelectivity(db, schema, caller, request)
  const { text, values } = pagesByValueStatement(schema, caller, asked, by, ids)
  const rows = await db.queryBytes(text, values, request.filter !== null && dependsOnValues(request.filter))
  const pages = rows.map((row, index) =>
    pageOf(row, request, () => listIdentity([...request.identity, `${by.internal_name}:eq(${ids[index]})`])),
  )
  const texts = pages.map(({ records }) => records)
  const records = await rendered(db, schema, caller, request, texts)
  return pages.map(({ hasMore, nextCursor }, index) => ({ records: records[index]!, hasMore, nextCursor }))
}

/** One row for each id: the filter and the order are in the statement once, however many ids there are. */
export function pagesByValueStatement(
  schema: ResourceSchema,
  caller: Caller,
  request: ListRequest,
  by: Field,
  ids: readonly number[],
): Statement {
  const value = kinds[by.type].term(by, '')!.sql(recordRow)
  const page = pageSql(schema, callerParamsOf(caller), request, {
    asOf: param(request.asOf),
    within: sql`${value} = parted.id`,
  })
  return compile(sql`SELECT page.*
FROM unnest(${`{${ids.join(',')}}`}::bigint[]) WITH ORDINALITY parted (id, place)
CROSS JOIN LATERAL (${page}) page ORDER BY parted.place`)
}
