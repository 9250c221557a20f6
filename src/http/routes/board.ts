/** GET /deal/view/board (D129). */
import type { Database } from '../../db/open.ts'
import type { Schema } from '../../fields/field.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import type { JsonObject } from '../../json.ts'
import { requireReadScopes } from '../../lists/needed-scopes.ts'
import { resolveNames } from '../../records/names.ts'
import { boardLanes, type boardParameters, pageSizes, readBoardQuery } from '../../resources/deals/board.ts'
import { namedByStages } from '../../resources/deals/of-pipeline.ts'
import { envelope, ok, queryParameter } from '../openapi/operation.ts'
import { fieldsOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { inTurn } from './records.ts'

export const pipelineParameter = queryParameter(
  'pipeline',
  "The pipeline, by its id or name; the account's first if not said.",
  { type: 'string' },
)

/** The OpenAPI parameters; those in common with lists are referred to by name. */
const parameters: { readonly [name in (typeof boardParameters)[number]]: string | Schema } = {
  pipeline: pipelineParameter,
  closed_since: {
    ...{ name: 'closed_since', in: 'query', schema: { type: 'string', format: 'date' } },
    description: 'Stages of the kind Won or Lost show the deals that were closed on that day or later.',
  },
  ...{ filter: 'filter', sort: 'sort' },
  pageSize: queryParameter(
    'pageSize',
    `How many deals of each stage are answered at most; ${pageSizes.usual} if not said.`,
    { type: 'integer', minimum: 1, maximum: pageSizes.max },
  ),
  ...{ fields: 'deal_fields', expand: 'deal_expand' },
}

export function boardRoute(db: Database): AccountRoute {
  const meta = { type: 'object', properties: { pageSize: { type: 'integer' } }, required: ['pageSize'] }
  return route('GET', `${base}/deal/view/board`, 'deal:read', boardHandler(db), {
    ...{ id: 'deal_board', summary: 'Shows the stages of a pipeline with their deals.', tag: 'deal' },
    description:
      'Each open or closed stage has its sums and its first deals. To go on in a stage, list deals with the same filter and sort, the stage as a further filter after them, and its nextCursor as cursor. An example: filter=pipeline_stage:eq(3). With closed_since, a stage of the kind Won or Lost has filter=deal_closed_on:gte(DAY) before its own.',
    parameters: Object.values(parameters),
    responses: [ok('The stages in their order.', envelope(schemaRef('board'), meta, true))],
    errors: [],
  })
}

/** The board of a pipeline. Names of stages require scopes (D65). */
function boardHandler(db: Database): Handler {
  return async request => {
    const { caller, query, now } = request
    const schema = fieldsOf(request, 'deal')
    requireReadScopes(caller.rights, namedByStages(schema))
    const asked = await resolveNames(db, caller, names =>
      readBoardQuery(query, schema, caller.catalog, now.toISOString(), names),
    )
    const { pipeline, list } = asked
    requireReadScopes(caller.rights, list.expand, list)
    const lanes = await boardLanes(inTurn(db, request), schema, caller, asked)
    const { account, currencies } = caller.catalog
    const { id, code } = currencies.get(account.base_currency)!
    const head = {
      pipeline: pipeline && { id: pipeline.id, name: pipeline.name },
      currency: { id, code },
    }
    const stages = lanes.map(({ stage, page }, index) => {
      const { records, hasMore, nextCursor } = page
      const around: JsonObject = { ...stage, hasMore, nextCursor }
      const before = `${index ? ',' : ''}${unclosedJson(around)},"records":[`
      return [Buffer.from(before), ...records, Buffer.from(']}')]
    })
    const meta = JSON.stringify({ pageSize: list.pageSize })
    // Records pass through as the database's bytes.
    const body = [
      Buffer.from(`{"code":0,"data":${unclosedJson(head)},"stages":[`),
      ...stages.flat(),
      Buffer.from(`]},"meta":${meta}}`),
    ]
    return { status: 200, body }
  }
}

/** The JSON of an object, without its closing brace. */
function unclosedJson(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}
