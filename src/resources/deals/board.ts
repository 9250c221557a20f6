/**
 * A board, GET /deal/view/board (D129): the stages of a pipeline, each with its sums and its first deals. It
 * is made of the lists and sums of deals and adds no rule of its own. Knows no HTTP.
 */
import type { Problems } from '../../errors.ts'
import type { Stage } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import {
  arrayOf,
  day,
  madeOfFields,
  number,
  openObject,
  orNull,
  schemaRef,
  text,
  whole,
} from '../../fields/kinds/schemas.ts'
import { kinds } from '../../fields/kinds.ts'
import type { JsonObject } from '../../json.ts'
import { idKey } from '../../lists/aggregate-query.ts'
import type { ListRequest } from '../../lists/list-request.ts'
import { pagesByValue, type ValuePage } from '../../lists/page.ts'
import { addProblem, dayOf, type Parameters } from '../../lists/parameters.ts'
import type { Plan } from '../../lists/plan.ts'
import { listRequestOf } from '../../lists/query.ts'
import { type Report, requireShown } from '../../lists/report.ts'
import type { RawReader } from '../../records/store.ts'
import type { Caller } from '../../rights/visibility.ts'
import { type DealGroup, dealGroups, dealMoney, type SumName, seesSum } from './aggregate.ts'
import {
  namedByStages,
  type OfPipeline,
  ofPipeline,
  pipelineParameter,
  shownPipeline,
  shownStage,
  stageMembers,
} from './of-pipeline.ts'

type BoardRequest = OfPipeline &
  ListRequest & {
    /** the list of Won and Lost stages if it leaves out deals closed long ago; null: that of the others */
    readonly closed: ListRequest | null
  }

/** A stage as the board shows it, and its first deals. */
type Lane = { readonly stage: JsonObject; readonly page: ValuePage }

/** Maximum number of deals of a stage, and of all stages. */
const pageSizes = { usual: 30, max: 100 }
const dealsMax = 3000

const ofCurrency = { currency: whole, currency_code: orNull(text), value: number, count: whole }

const boardSchema: Schema = openObject({
  pipeline: orNull(schemaRef('named')),
  currency: openObject({ id: whole, code: text }),
  stages: arrayOf(schemaRef('board_stage')),
})

const boardStageSchema: Schema = madeOfFields(
  ['pipeline_stage', 'deal'],
  openObject(
    {
      ...stageMembers,
      count: whole,
      value: { ...number, description: 'What the deals are worth in the base currency.' },
      weighted_value: { ...number, description: 'The same by their probability.' },
      by_currency: arrayOf(openObject(ofCurrency)),
      without_rate: { ...whole, description: 'How many deals have a value that no rate converts.' },
      hasMore: { type: 'boolean' },
      nextCursor: orNull(text),
      records: arrayOf(schemaRef('deal')),
    },
    ['id', 'name', 'count', 'hasMore', 'nextCursor', 'records'],
  ),
)

export const board: Report<BoardRequest> = {
  ...{ resource: 'deal', name: 'board', path: 'view/board' },
  summary: 'Shows the stages of a pipeline with their deals.',
  description:
    'Each open or closed stage has its sums and its first deals. To go on in a stage, list deals with the same filter and sort, the stage as a further filter after them, and its nextCursor as cursor. An example: filter=pipeline_stage:eq(3). With closed_since, a stage of the kind Won or Lost has filter=deal_closed_on:gte(DAY) before its own.',
  parameters: {
    pipeline: pipelineParameter,
    closed_since: {
      schema: day,
      description: 'Stages of the kind Won or Lost show the deals that were closed on that day or later.',
    },
    ...{ filter: 'filter', sort: 'sort' },
    pageSize: {
      description: `How many deals of each stage are answered at most; default: ${pageSizes.usual}.`,
      schema: { type: 'integer', minimum: 1, maximum: pageSizes.max },
    },
    ...{ fields: 'deal_fields', expand: 'deal_expand' },
  },
  response: {
    description: 'The stages in their order.',
    data: schemaRef('board'),
    meta: { type: 'object', properties: { pageSize: whole }, required: ['pageSize'] },
  },
  schemas: { board: boardSchema, board_stage: boardStageSchema },
  shows: namedByStages,
  read: (query, now) => {
    const { parameters, problems } = query
    const list = listRequestOf(query, now, pageSizes)
    const since = dayOf(query, 'closed_since')
    // It leaves out deals of closed stages only, so their number tells which stages these are.
    if (since) requireShown(query, 'closed_since', 'status')
    // Reports the problems of the list only once.
    const closed =
      since && problems.count === 0
        ? listRequestOf(
            { ...query, parameters: withFilter(parameters, `deal_closed_on:gte(${since})`) },
            now,
            pageSizes,
          )
        : null
    const of = ofPipeline(query)
    const { stages } = of
    if (list.pageSize * stages.length > dealsMax) refuseSize(stages.length, problems)
    return { ...of, ...list, closed }
  },
  answer: async (db, caller, request) => {
    const lanes = await boardLanes(db, caller, request)
    const { account, currencies } = caller.catalog
    const { id, code } = currencies.get(account.base_currency)!
    const head = { pipeline: shownPipeline(request), currency: { id, code } }
    // Records pass through as the database's bytes.
    const stages = lanes.map(({ stage, page }, index) => {
      const { records, hasMore, nextCursor } = page
      const before = `${index ? ',' : ''}${unclosedJson({ ...stage, hasMore, nextCursor })},"records":[`
      return [Buffer.from(before), ...records, Buffer.from(']}')]
    })
    const data = [Buffer.from(`${unclosedJson(head)},"stages":[`), ...stages.flat(), Buffer.from(']}')]
    return { data, meta: { pageSize: request.pageSize } }
  },
}

/** The JSON of an object, without its closing brace. */
function unclosedJson(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}

function withFilter(parameters: Parameters, filter: string): Parameters {
  return new Map([...parameters, ['filter', [...(parameters.get('filter') ?? []), filter]]])
}

function refuseSize(stages: number, problems: Problems): void {
  const message = `pageSize may be at most ${Math.floor(dealsMax / stages)} for ${stages} stages.`
  addProblem(problems, 'pageSize', 'invalid_value', message)
}

/** The stages of a board, each with its sums and its first deals, in their order. */
async function boardLanes(db: RawReader, caller: Caller, request: BoardRequest): Promise<readonly Lane[]> {
  const { stages, closed } = request
  const isOpen = ({ kind }: Stage) => closed === null || kind === 'open'
  const others = stages.filter(stage => !isOpen(stage))
  const lanes = [
    ...(await lanesOf(db, caller, request, request, stages.filter(isOpen))),
    ...(await lanesOf(db, caller, request, closed ?? request, others)),
  ]
  const byStage = new Map(lanes.map(lane => [lane.stage.id, lane]))
  return stages.map(({ id }) => byStage.get(id)!)
}

/** The lanes of stages that share one filter. */
async function lanesOf(
  db: RawReader,
  caller: Caller,
  { stageField }: OfPipeline,
  list: ListRequest,
  stages: readonly Stage[],
): Promise<readonly Lane[]> {
  if (stages.length === 0) return []
  const ids = stages.map(({ id }) => id)
  const pages = await pagesByValue(db, caller, list, stageField, ids)
  const keys = [idKey(stageField, stageField.internal_name, caller.catalog)]
  const filter = withinStages(list.filter, stageField, ids)
  const groups = await dealGroups(db, caller, { ...list, keys, filter })
  const byStage = new Map(groups.map(group => [Number(group.keys[0]), group]))
  return stages.map((stage, index) => ({
    stage: { ...shownStage(stage, caller), ...shownSums(byStage.get(stage.id) ?? nothing, caller) },
    page: pages[index]!,
  }))
}

const nothing: DealGroup = { keys: [], count: 0, sums: null, base: 0, weighted: 0, without_rate: 0 }

function withinStages(filter: Plan | null, field: OfPipeline['stageField'], ids: readonly number[]): Plan {
  const term = kinds[field.type].term(field, '')!
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
