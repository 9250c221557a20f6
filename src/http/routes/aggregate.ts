/** GET and POST /deal/aggregate and /product/aggregate (D55, D85). */
import type { Database } from '../../db/open.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import { asOfDay } from '../../history/as-of-day.ts'
import { aggregate } from '../../lists/aggregate.ts'
import { aggregateParameters, plainSums, readAggregateQuery } from '../../lists/aggregate-query.ts'
import { namedFields } from '../../lists/groups.ts'
import { counting } from '../../lists/measures.ts'
import { requireReadScopes } from '../../lists/needed-scopes.ts'
import { resolveNames } from '../../records/names.ts'
import { aggregateDeals } from '../../resources/deals/aggregate.ts'
import { dealSums } from '../../resources/deals/sums.ts'
import { okAnswer } from '../answer.ts'
import { envelope, type Operation, ok } from '../openapi/operation.ts'
import { parametersOf, withPaths } from '../parameters.ts'
import { fieldsOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { queryLimit } from './record-routes.ts'
import { inTurn } from './records.ts'

const listed = { type: ['string', 'array', 'null'], items: { type: 'string' } }
const body = {
  type: 'object',
  properties: {
    ...{ group_by: listed, measures: listed, filter: listed, deleted: { enum: ['only', null] } },
    as_of: { type: ['string', 'null'], format: 'date' },
  },
  additionalProperties: false,
}
const meta = {
  type: 'object',
  properties: { group_by: { type: ['string', 'null'] }, hasMore: { type: 'boolean' } },
  required: ['group_by', 'hasMore'],
}
const groups = { type: 'array', items: schemaRef('aggregate_group') }

/** Sums, with their parameters in the query or in the body. */
export function aggregateRoutes(db: Database, resource: 'deal' | 'product'): AccountRoute[] {
  const [url, read] = [`${base}/${resource}/aggregate`, `${resource}:read`] as const
  const handler = aggregateHandler(db, resource)
  const sums: Omit<Operation, 'id' | 'summary'> = {
    tag: resource,
    description:
      'One answer has the counts and sums of all records that the filter finds, or of each group of them.',
    parameters: [`${resource}_group_by`, 'measures', 'filter', 'deleted', 'as_of'],
    responses: [ok('The groups, the largest first.', envelope(groups, meta, true))],
    errors: ['history_too_short'],
  }
  return [
    route('GET', url, read, handler, {
      ...{ ...sums, id: `${resource}_aggregate`, summary: `Sums records: ${resource}.` },
    }),
    {
      ...route('POST', url, read, handler, {
        ...{ ...sums, id: `${resource}_aggregate_post` },
        summary: `Sums records, with the parameters in the body: ${resource}.`,
        body: { schema: body, isOptional: true },
      }),
      bodyLimit: queryLimit,
    },
  ]
}

/** Sums over the records of a resource; the parameters are in the query, in the body, or in both (D32). */
function aggregateHandler(db: Database, resource: 'deal' | 'product'): Handler {
  return withPaths(async request => {
    const { caller } = request
    const schema = fieldsOf(request, resource)
    const sums = resource === 'deal' ? dealSums : plainSums
    const asked = await resolveNames(db, caller, names =>
      readAggregateQuery(
        parametersOf(request, aggregateParameters, schema),
        schema,
        caller.catalog,
        sums,
        names,
      ),
    )
    requireReadScopes(caller.rights, namedFields(asked.keys), asked)
    const { at } = await asOfDay(inTurn(db, request), schema, caller, asked.day)
    const { groups, hasMore } =
      resource === 'deal' && !asked.measures
        ? await aggregateDeals(at, caller, asked)
        : await aggregate(at, schema, caller, asked, asked.measures ?? [counting])
    const group_by = asked.keys.map(({ text }) => text).join() || null
    return okAnswer(JSON.stringify(groups), { group_by, hasMore })
  })
}
