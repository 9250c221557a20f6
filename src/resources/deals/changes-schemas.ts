/** The schemas of the changes between two moments (D161). */
import type { Schema } from '../../fields/field.ts'
import {
  arrayOf,
  day,
  madeOfFields,
  moment,
  number,
  openObject,
  orNull,
  schemaRef,
  text,
  whole,
} from '../../fields/kinds/schemas.ts'
import { stepKinds } from './changes-request.ts'

const amounts = {
  value: { ...number, description: 'In the base currency.' },
  weighted_value: { ...number, description: 'The same by the probability.' },
}

const forecastSchema: Schema = madeOfFields(
  ['deal'],
  openObject(
    {
      count: { ...whole, description: 'How many deals were open.' },
      ...amounts,
      without_rate: { ...whole, description: 'How many deals have a value that no rate converts.' },
    },
    ['count'],
  ),
)

const dealStateSchema: Schema = madeOfFields(
  ['deal'],
  openObject(
    {
      sales_owner: orNull(schemaRef('named')),
      pipeline_stage: orNull(schemaRef('named')),
      expected_close_date: orNull(day),
      ...{ value: orNull(number), weighted_value: orNull(number) },
    },
    [],
  ),
)

const stepSchema: Schema = madeOfFields(
  ['deal'],
  openObject(
    {
      kind: { enum: stepKinds },
      count: { ...whole, description: 'How many deals changed so.' },
      open: { ...whole, description: 'What it adds to the number of open deals.' },
      value: { ...number, description: 'What it adds to the forecast, in the base currency.' },
      weighted_value: { ...number, description: 'The same by the probability.' },
      deal_value: { ...number, description: 'What these deals are worth, in the base currency.' },
      deals: arrayOf(
        openObject({
          ...{ id: whole, title: text },
          before: orNull(schemaRef('deal_state')),
          after: orNull(schemaRef('deal_state')),
        }),
      ),
      hasMore: { type: 'boolean' },
    },
    ['kind', 'count', 'open'],
  ),
)

const waterfall = {
  before: schemaRef('forecast'),
  after: schemaRef('forecast'),
  steps: arrayOf(schemaRef('change_step')),
}

const changesSchema: Schema = openObject(
  {
    ...{ from: moment, to: moment },
    currency: openObject({ id: whole, code: text }),
    ...waterfall,
    owners: arrayOf(openObject({ sales_owner: orNull(schemaRef('named')), ...waterfall })),
    hasMore: { type: 'boolean', description: 'True if there are more owners.' },
  },
  ['from', 'to', 'currency', 'before', 'after', 'steps'],
)

export const changesSchemas: { readonly [name: string]: Schema } = {
  changes: changesSchema,
  change_step: stepSchema,
  deal_state: dealStateSchema,
  forecast: forecastSchema,
}
