/** GET /deal/funnel (D131). */
import type { Database } from '../../db/open.ts'
import type { Schema } from '../../fields/field.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import { requireReadScopes } from '../../lists/needed-scopes.ts'
import { resolveNames } from '../../records/names.ts'
import { funnel, type funnelParameters, readFunnelQuery } from '../../resources/deals/funnel.ts'
import { namedByStages } from '../../resources/deals/of-pipeline.ts'
import { okAnswer } from '../answer.ts'
import { envelope, ok } from '../openapi/operation.ts'
import { fieldsOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { pipelineParameter } from './board.ts'
import { inTurn } from './records.ts'

const day = (name: string, which: string) => ({
  ...{ name, in: 'query', schema: { type: 'string', format: 'date' } },
  description: `The ${which} day of the period, in the account's time zone; without it, it has no such end.`,
})

const parameters: { readonly [name in (typeof funnelParameters)[number]]: string | Schema } = {
  ...{ pipeline: pipelineParameter, from: day('from', 'first'), to: day('to', 'last'), filter: 'filter' },
}

export function funnelRoute(db: Database): AccountRoute {
  return route('GET', `${base}/deal/funnel`, 'deal:read', funnelHandler(db), {
    ...{ id: 'deal_funnel', summary: 'Shows how far deals come in a pipeline.', tag: 'deal' },
    description:
      'It counts the deals that entered the pipeline in the period, and follows them until now: how many came to each open stage, went on, or were lost from it.',
    parameters: Object.values(parameters),
    responses: [ok('The open stages in their order.', envelope(schemaRef('funnel')))],
    errors: [],
  })
}

/** The funnel of a pipeline. Names of stages require scopes (D65). */
function funnelHandler(db: Database): Handler {
  return async request => {
    const { caller, query } = request
    const schema = fieldsOf(request, 'deal')
    requireReadScopes(caller.rights, namedByStages(schema))
    const asked = await resolveNames(db, caller, names =>
      readFunnelQuery(query, schema, caller.catalog, names),
    )
    requireReadScopes(caller.rights, [], { filter: asked.selection.filter })
    return okAnswer(JSON.stringify(await funnel(inTurn(db, request), caller, asked)))
  }
}
