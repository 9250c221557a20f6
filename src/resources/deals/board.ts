/**
 * A board (D129): the stages of a pipeline, each with its sums and its first deals. It is made of the lists
 * and sums of deals and adds no rule of its own. Knows no HTTP.
 */
import type { Problems } from '../../errors.ts'
import type { Catalog, ResourceSchema, Stage } from '../../fields/catalog.ts'
import type { Field, Schema } from '../../fields/field.ts'
import { madeOfFields, openObject, orNull, schemaRef } from '../../fields/kinds/schemas.ts'
import { kinds } from '../../fields/kinds.ts'
import type { JsonObject } from '../../json.ts'
import { foreignParameterHint } from '../../lists/foreign-parameters.ts'
import { idKey } from '../../lists/groups.ts'
import { pagesByValue, type ValuePage } from '../../lists/pages-by-value.ts'
import {
  addProblem,
  type Parameters,
  throwProblems,
  unknownParameters,
  unreadable,
} from '../../lists/parameters.ts'
import { dayOf, type ListRequest, listRequestOf } from '../../lists/query.ts'
import type { Plan } from '../../lists/resolve.ts'
import type { NameLookup } from '../../records/name-lookup.ts'
import type { RawReader } from '../../records/store.ts'
import type { Caller } from '../../rights/visibility.ts'
import { type DealGroup, dealGroups, dealMoney, type SumName, seesSum } from './aggregate.ts'
import { type OfPipeline, ofPipeline, shownStage, stageMembers } from './of-pipeline.ts'

export type BoardRequest = OfPipeline & {
  readonly list: ListRequest
  /** the list of Won and Lost stages, which may leave out deals closed long ago */
  readonly closed: ListRequest
}

/** A stage as the board shows it, and its first deals. */
export type Lane = { readonly stage: JsonObject; readonly page: ValuePage }

export const boardParameters = [
  ...(['pipeline', 'closed_since', 'filter', 'sort', 'pageSize', 'fields', 'expand'] as const),
]
/** Maximum number of deals of a stage, and of all stages. */
export const pageSizes = { usual: 30, max: 100 }
const dealsMax = 3000

/** Reads the parameters of a board. Throws as readListQuery does, with every problem. */
export function readBoardQuery(
  parameters: Parameters,
  schema: ResourceSchema,
  catalog: Catalog,
  now: string,
  names: NameLookup,
): BoardRequest {
  const problems = unknownParameters(
    parameters,
    boardParameters,
    foreignParameterHint(schema, boardParameters),
  )
  const context = { schema, catalog, problems, names }
  const list = listRequestOf(parameters, context, now, pageSizes)
  const since = dayOf(parameters, 'closed_since', problems)
  // Reports the problems of the list only once.
  const closed =
    since && problems.count === 0
      ? listRequestOf(withFilter(parameters, `deal_closed_on:gte(${since})`), context, now, pageSizes)
      : list
  const of = ofPipeline(parameters, context)
  const { stages } = of
  if (list.pageSize * stages.length > dealsMax) refuseSize(stages.length, problems)
  throwProblems(problems, unreadable)
  return { ...of, list, closed }
}

function withFilter(parameters: Parameters, filter: string): Parameters {
  return new Map([...parameters, ['filter', [...(parameters.get('filter') ?? []), filter]]])
}

function refuseSize(stages: number, problems: Problems): void {
  const message = `pageSize may be at most ${Math.floor(dealsMax / stages)} for ${stages} stages.`
  addProblem(problems, 'pageSize', 'invalid_value', message)
}

/** The stages of a board, each with its sums and its first deals, in their order. */
export async function boardLanes(
  db: RawReader,
  schema: ResourceSchema,
  caller: Caller,
  request: BoardRequest,
): Promise<readonly Lane[]> {
  const { stages, list, closed, by } = request
  const [open, others] = [true, false].map(isOpen =>
    stages.filter(({ kind }) => (list === closed || kind === 'open') === isOpen),
  ) as [Stage[], Stage[]]
  const lanes = [
    ...(await lanesOf(db, schema, caller, list, by, open)),
    ...(await lanesOf(db, schema, caller, closed, by, others)),
  ]
  const byStage = new Map(lanes.map(lane => [lane.stage.id, lane]))
  return stages.map(({ id }) => byStage.get(id)!)
}

/** The lanes of stages that share one filter. */
async function lanesOf(
  db: RawReader,
  schema: ResourceSchema,
  caller: Caller,
  list: ListRequest,
  by: Field,
  stages: readonly Stage[],
): Promise<readonly Lane[]> {
  if (stages.length === 0) return []
  const ids = stages.map(({ id }) => id)
  const pages = await pagesByValue(db, schema, caller, list, by, ids)
  const keys = [idKey(by, by.internal_name)]
  const filter = withinStages(list.filter, by, ids)
  const groups = await dealGroups(db, caller, { keys, filter, isOfDeleted: false })
  const byStage = new Map(groups.map(group => [Number(group.keys[0]), group]))
  return stages.map((stage, index) => ({
    stage: { ...shownStage(stage, caller), ...shownSums(byStage.get(stage.id) ?? nothing, caller) },
    page: pages[index]!,
  }))
}

const nothing: DealGroup = { keys: [], count: 0, sums: null, base: 0, weighted: 0, without_rate: 0 }

function withinStages(filter: Plan | null, by: Field, ids: readonly number[]): Plan {
  const term = kinds[by.type].term(by, '')!
  const within: Plan = { type: 'condition', term, operator: 'in', values: ids.map(String) }
  return filter ? { type: 'and', of: [filter, within] } : within
}

/** The sums of a stage, in the base currency and in each; without those that the role hides (D64). */
function shownSums({ count, sums, base, weighted, without_rate }: DealGroup, caller: Caller): JsonObject {
  const by_currency = (sums ?? []).map(([currency, value, , deals]) => ({
    ...dealMoney(currency, value, caller),
    count: deals,
  }))
  const all: { readonly [name: string]: readonly [SumName, JsonObject[string]] } = {
    value: ['deal_value_in_base_currency', base],
    weighted_value: ['weighted_value_in_base_currency', weighted],
    by_currency: ['deal_value', by_currency],
    without_rate: ['without_rate', without_rate],
  }
  const seen = Object.entries(all).filter(([, [sum]]) => seesSum(sum, caller))
  return { count, ...Object.fromEntries(seen.map(([name, [, value]]) => [name, value])) }
}

const [text, whole, number] = [{ type: 'string' }, { type: 'integer' }, { type: 'number' }]
const ofCurrency = { currency: whole, currency_code: orNull(text), value: number, count: whole }

export const boardSchema: Schema = openObject({
  pipeline: orNull(schemaRef('named')),
  currency: openObject({ id: whole, code: text }),
  stages: { type: 'array', items: schemaRef('board_stage') },
})

export const boardStageSchema: Schema = madeOfFields(
  ['pipeline_stage', 'deal'],
  openObject(
    {
      ...stageMembers,
      count: whole,
      value: { ...number, description: 'What the deals are worth in the base currency.' },
      weighted_value: { ...number, description: 'The same by their probability.' },
      by_currency: { type: 'array', items: openObject(ofCurrency) },
      without_rate: { ...whole, description: 'How many deals have a value that no rate converts.' },
      hasMore: { type: 'boolean' },
      nextCursor: orNull(text),
      records: { type: 'array', items: schemaRef('deal') },
    },
    ['id', 'name', 'count', 'hasMore', 'nextCursor', 'records'],
  ),
)
