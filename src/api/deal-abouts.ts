/** What the routes are that tell of many deals at once, for the OpenAPI document (D90). */
import { boardParameters, pageSizes } from '../deals/board.ts'
import { funnelParameters } from '../deals/funnel.ts'
import { type About, enveloped, named, ok } from '../openapi/about.ts'

const pipeline = {
  name: 'pipeline',
  in: 'query',
  description: "The pipeline, by its id or name; the account's first if not said.",
  schema: { type: 'string' },
}

const size = {
  name: 'pageSize',
  in: 'query',
  description: `How many deals of each stage are answered at most; ${pageSizes.usual} if not said.`,
  schema: { type: 'integer', minimum: 1, maximum: pageSizes.max },
}

const day = (name: string, which: string) => ({
  ...{ name, in: 'query', schema: { type: 'string', format: 'date' } },
  description: `The ${which} day of the period, in the account's time zone; without it, it has no such end.`,
})

const closedSince = {
  ...{ name: 'closed_since', in: 'query', schema: { type: 'string', format: 'date' } },
  description: 'Stages of the kind Won or Lost show the deals that were closed on that day or later.',
}

/** Those that are in common with lists go by their names in the document. */
const own: { readonly [name: string]: About['parameters'] } = {
  pipeline: [pipeline],
  closed_since: [closedSince],
  pageSize: [size],
  fields: ['deal_fields'],
  expand: ['deal_expand'],
  from: [day('from', 'first')],
  to: [day('to', 'last')],
}

function described(names: readonly string[]): NonNullable<About['parameters']> {
  return names.flatMap(name => own[name] ?? [name])
}

/** GET /deal/view/board */
export const boardAbout: About = {
  ...{ id: 'deal_board', summary: 'Shows the stages of a pipeline with their deals.', tag: 'deal' },
  description:
    'Each open or closed stage has its sums and its first deals. To go on in a stage, list deals with the same filter and sort, the stage as a further filter after them, and its nextCursor as cursor. An example: filter=pipeline_stage:eq(3). With closed_since, a stage of the kind Won or Lost has filter=deal_closed_on:gte(DAY) before its own.',
  parameters: described(boardParameters),
  answers: [
    ok(
      'The stages in their order.',
      enveloped(
        named('board'),
        { type: 'object', properties: { pageSize: { type: 'integer' } }, required: ['pageSize'] },
        true,
      ),
    ),
  ],
  refuses: [],
}

/** GET /deal/funnel */
export const funnelAbout: About = {
  ...{ id: 'deal_funnel', summary: 'Shows how far deals come in a pipeline.', tag: 'deal' },
  description:
    'It counts the deals that entered the pipeline in the period, and follows them until now: how many came to each open stage, went on, or were lost from it.',
  parameters: described(funnelParameters),
  answers: [ok('The open stages in their order.', enveloped(named('funnel')))],
  refuses: [],
}
