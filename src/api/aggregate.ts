/** GET /deal/aggregate over HTTP. */
import { aggregateDeals } from '../deals/aggregate.ts'
import { readAggregateQuery } from '../list/query.ts'
import { withNames } from '../records/names.ts'
import { success } from './answer.ts'
import { inTurn, needNames, type ServedDatabase } from './records.ts'
import { fieldsOf } from './request.ts'
import type { Handler } from './routes.ts'

export function dealAggregate(db: ServedDatabase): Handler {
  return async request => {
    const { catalog } = request.caller
    const asked = await withNames(db, request.caller, names =>
      readAggregateQuery(request.query, fieldsOf(request, 'deal'), catalog, names),
    )
    needNames(request.caller, asked.groupBy ? [asked.groupBy] : [], asked)
    const { groups, hasMore } = await aggregateDeals(inTurn(db, request), request.caller, asked)
    return success(groups, { group_by: asked.groupBy?.internal_name ?? null, hasMore })
  }
}
