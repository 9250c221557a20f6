/** GET /deal/aggregate over HTTP. */
import { aggregate, readAggregateQuery } from '../deals/aggregate.ts'
import type { Queryable } from '../records/store.ts'
import { success } from './answer.ts'
import type { Handler } from './records.ts'
import { fieldsOf } from './request.ts'

export function dealAggregate(db: Queryable): Handler {
  return async request => {
    const { catalog } = request.caller
    const fields = fieldsOf(request, 'deal')
    const asked = readAggregateQuery(request.query, fields, catalog, request.now.toISOString())
    return success(await aggregate(db, fields, catalog, asked), { group_by: asked.groupBy })
  }
}
