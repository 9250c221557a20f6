/** GET /deal/aggregate over HTTP. */
import { aggregateDeals } from '../deals/aggregate.ts'
import { readAggregateQuery } from '../list/query.ts'
import type { Queryable } from '../records/store.ts'
import { success } from './answer.ts'
import type { Handler } from './records.ts'
import { fieldsOf } from './request.ts'

export function dealAggregate(db: Queryable): Handler {
  return async request => {
    const { catalog } = request.caller
    const asked = readAggregateQuery(request.query, fieldsOf(request, 'deal'), catalog)
    const { groups, hasMore } = await aggregateDeals(db, catalog, asked)
    return success(groups, { group_by: asked.groupBy?.internal_name ?? null, hasMore })
  }
}
