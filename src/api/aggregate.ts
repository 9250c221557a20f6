/** GET and POST /deal/aggregate and /product/aggregate over HTTP (D55, D85). */
import { aggregateDeals } from '../deals/aggregate.ts'
import { dealSums } from '../deals/sums.ts'
import { aggregate } from '../list/aggregate.ts'
import { aggregateParameters, plainSums, readAggregateQuery } from '../list/aggregate-query.ts'
import { namedFields } from '../list/groups.ts'
import { counting } from '../list/measures.ts'
import { needNames } from '../list/needed-scopes.ts'
import { withNames } from '../records/names.ts'
import { success } from './answer.ts'
import { inPast } from './past.ts'
import { inTurn, type ServedDatabase } from './records.ts'
import { fieldsOf, parametersOf, withPaths } from './request.ts'
import type { Handler } from './route.ts'

/** Sums over the records of a resource; the parameters are in the address, in the body, or in both (D32). */
export function aggregateHandler(db: ServedDatabase, resource: 'deal' | 'product'): Handler {
  return withPaths(async request => {
    const { caller } = request
    const fields = fieldsOf(request, resource)
    const sums = resource === 'deal' ? dealSums : plainSums
    const asked = await withNames(db, caller, names =>
      readAggregateQuery(
        parametersOf(request, aggregateParameters, fields),
        fields,
        caller.catalog,
        sums,
        names,
      ),
    )
    needNames(caller.rights, namedFields(asked.keys), asked)
    const { at } = await inPast(inTurn(db, request), fields, caller, asked.day)
    const { groups, hasMore } =
      resource === 'deal' && !asked.measures
        ? await aggregateDeals(at, caller, asked)
        : await aggregate(at, fields, caller, asked, asked.measures ?? [counting])
    const group_by = asked.keys.map(({ text }) => text).join() || null
    return success(JSON.stringify(groups), { group_by, hasMore })
  })
}
