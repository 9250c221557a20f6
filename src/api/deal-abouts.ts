/** What the routes are that tell of many deals at once, for the OpenAPI document (D90). */
import { boardParameters, pageSizes } from '../deals/board.ts'
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

/** Those that a board has in common with lists go by their names in the document. */
const own: { readonly [name: string]: About['parameters'] } = {
  pipeline: [pipeline],
  pageSize: [size],
  fields: ['deal_fields'],
  expand: ['deal_expand'],
}

/** GET /deal/view/board */
export const boardAbout: About = {
  ...{ id: 'deal_board', summary: 'Shows the stages of a pipeline with their deals.', tag: 'deal' },
  description:
    'Each open or closed stage has its sums and its first deals. To go on in a stage, list deals with the same filter and sort, the stage as a further filter after them, such as filter=pipeline_stage:eq(3), and its nextCursor as cursor.',
  parameters: boardParameters.flatMap(name => own[name] ?? [name]),
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
