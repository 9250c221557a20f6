/** The schemas of what is answered about many deals at once: boards and funnels. Data only. */
import type { Schema } from '../fields/field.ts'
import { opened, orNull } from '../fields/kinds/schemas.ts'
import { named } from './about.ts'

const [text, whole, number] = [{ type: 'string' }, { type: 'integer' }, { type: 'number' }]

/** A stage as the catalog has it; a role may hide some of it. */
const stage = {
  ...{ id: whole, name: text, position: whole, kind: { enum: ['open', 'won', 'lost'] } },
  ...{ probability: number, rotting_days: orNull(whole) },
}
const moment = { type: 'string', format: 'date-time' }
const day = { type: 'string', format: 'date' }
const ofCurrency = { currency: whole, currency_code: orNull(text), value: number, count: whole }

export const reportShapes: { readonly [name: string]: Schema } = {
  board: opened({
    pipeline: orNull(named('named')),
    currency: opened({ id: whole, code: text }),
    stages: { type: 'array', items: named('board_stage') },
  }),
  board_stage: opened(
    {
      ...stage,
      count: whole,
      value: { ...number, description: 'What the deals are worth in the base currency.' },
      weighted_value: { ...number, description: 'The same by their probability.' },
      by_currency: { type: 'array', items: opened(ofCurrency) },
      without_rate: { ...whole, description: 'How many deals have a value that no rate converts.' },
      hasMore: { type: 'boolean' },
      nextCursor: orNull(text),
      records: { type: 'array', items: named('deal') },
    },
    ['id', 'name', 'count', 'hasMore', 'nextCursor', 'records'],
  ),
  funnel: opened({
    pipeline: orNull(named('named')),
    ...{ from: orNull(day), to: orNull(day) },
    since: { ...orNull(moment), description: 'The oldest event that is kept: what was before is not known.' },
    deals: { ...whole, description: 'How many deals entered the pipeline in the period.' },
    ...{ won: whole, lost: whole },
    stages: { type: 'array', items: named('funnel_stage') },
  }),
  funnel_stage: opened(
    {
      ...stage,
      entered: { ...whole, description: 'Deals that came to this stage or further.' },
      went_on: { ...whole, description: 'Those of them that came further.' },
      lost_from: { ...whole, description: 'Deals that are lost and were in this open stage last.' },
      conversion: { ...orNull(number), description: 'went_on by entered; null where nothing entered.' },
      median_days: { ...orNull(number), description: 'Of the stays in the stage that ended.' },
    },
    ['id', 'name', 'entered', 'went_on', 'lost_from', 'conversion', 'median_days'],
  ),
}
