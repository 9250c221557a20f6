/** GET /deal/funnel over HTTP (D131). */
import { funnel, readFunnelQuery } from '../deals/funnel.ts'
import { namedByStages } from '../deals/of-pipeline.ts'
import { needNames } from '../list/needed-scopes.ts'
import { withNames } from '../records/names.ts'
import { success } from './answer.ts'
import { funnelAbout } from './deal-abouts.ts'
import { inTurn, type ServedDatabase } from './records.ts'
import { fieldsOf } from './request.ts'
import type { AccountRoute, Handler } from './route.ts'

export function funnelRoute(db: ServedDatabase): AccountRoute {
  const url = '/rest/api/v1/deal/funnel'
  return { method: 'GET', url, scope: 'deal:read', handler: funnelHandler(db), about: funnelAbout }
}

/** How far deals came in a pipeline. Its stages have names, for which one needs the scopes (D65). */
function funnelHandler(db: ServedDatabase): Handler {
  return async request => {
    const { caller, query } = request
    const fields = fieldsOf(request, 'deal')
    needNames(caller.rights, namedByStages(fields))
    const asked = await withNames(db, caller, names => readFunnelQuery(query, fields, caller.catalog, names))
    needNames(caller.rights, [], { filter: asked.selection.filter })
    return success(JSON.stringify(await funnel(inTurn(db, request), caller, asked)))
  }
}
