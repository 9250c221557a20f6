/**
 * The changes between two moments, GET /deal/changes (D161): the forecast then and now, and the steps from
 * one to the other, each with its deals. changes-statement.ts reads them. Knows no HTTP.
 */
import { parameterProblem, Refusal } from '../../errors.ts'
import { isShown, type ResourceSchema, shownField } from '../../fields/catalog.ts'
import { type Decimal, decimal, decimalJson, rounded } from '../../fields/decimal.ts'
import type { Field } from '../../fields/field.ts'
import { isoDate, isoInstant } from '../../fields/iso8601.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import { pastOf } from '../../history/past.ts'
import { type Json, type JsonObject, parseJson } from '../../json.ts'
import { groupsMax } from '../../lists/aggregate.ts'
import type { QueryContext } from '../../lists/list-request.ts'
import { addProblem, oneOf, periodOf, type Query, single, wholeNumber } from '../../lists/parameters.ts'
import { selectionOf } from '../../lists/query.ts'
import { periodParameters, type Report, requireShown } from '../../lists/report.ts'
import { namesOf } from '../../records/expand.ts'
import type { Reader } from '../../records/store.ts'
import type { Caller } from '../../rights/visibility.ts'
import { ask } from '../../sql.ts'
import { seesSum } from './aggregate.ts'
import {
  type ChangesRequest,
  dealPageSizes,
  nobody,
  type SeenParts,
  type StepKind,
  stepKinds,
} from './changes-request.ts'
import { changesSchemas } from './changes-schemas.ts'
import { changesSql } from './changes-statement.ts'

const dayOrMoment = { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] }

export const changes: Report<ChangesRequest> = {
  ...{ resource: 'deal', name: 'changes', path: 'changes' },
  summary: 'Shows what changed in the forecast between two moments.',
  description:
    'The forecast is the open deals, as at each of the two moments. The steps between them add up to the difference exactly: deals that are new, won or lost, that grew or slipped, and so on. A rate or a probability that was changed is no change of a deal: both moments have it until the value or the stage of the deal is changed next.',
  parameters: {
    from: {
      schema: dayOrMoment,
      description: "The first day, in the account's time zone, or a moment with its offset. It is needed.",
    },
    to: { schema: dayOrMoment, description: 'The last day, or a moment; without it, now.' },
    ...periodParameters(
      'expected_from',
      'expected_to',
      which => `The ${which} expected_close_date of the forecast; without it, the forecast has no such end.`,
    ),
    filter: 'filter',
    by: { schema: { enum: ['owner'] }, description: 'Answers the same for each sales owner, too.' },
    kind: { schema: { enum: stepKinds }, description: 'Answers only this step.' },
    after: {
      schema: { type: 'integer' },
      description: 'The id of the last deal that was answered of a kind: its deals go on behind it.',
    },
    pageSize: {
      schema: { type: 'integer', minimum: 1, maximum: dealPageSizes.max },
      description: `How many deals of each step are answered at most; default: ${dealPageSizes.usual}.`,
    },
  },
  response: { description: 'The forecast then and now, and the steps between.', data: schemaRef('changes') },
  schemas: changesSchemas,
  readsHistory: true,
  shows: namedOf,
  read: readChanges,
  answer: async (db, caller, request) => ({ data: await changesOf(db, caller, request) }),
}

/** The fields of a deal whose names the changes show. */
function namedOf({ byName }: ResourceSchema): readonly Field[] {
  return ['sales_owner', 'pipeline_stage'].map(name => byName.get(name)!)
}

function readChanges(query: QueryContext): ChangesRequest {
  const { problems } = query
  requireShown(query, 'from', 'status')
  const [from, to] = [momentOf(query, 'from'), momentOf(query, 'to')]
  if (single(query, 'from') === null)
    addProblem(problems, 'from', 'required', 'from must be given: a day or a moment.')
  // The end of a day is the beginning of the next one: as moments both would be equal.
  if (from?.length === 10 && to?.length === 10 && from > to)
    addProblem(problems, 'to', 'contradiction', 'to must not be before from.')
  const [expectedFrom, expectedTo] = periodOf(query, 'expected_from', 'expected_to')
  if (expectedFrom !== null) requireShown(query, 'expected_from', 'expected_close_date')
  if (expectedTo !== null) requireShown(query, 'expected_to', 'expected_close_date')
  const kind = oneOf(query, 'kind', stepKinds)
  const after = query.parameters.has('after')
    ? wholeNumber(query, ['after'], 0, Number.MAX_SAFE_INTEGER)
    : null
  if (after !== null && kind === null)
    addProblem(problems, 'after', 'contradiction', 'after needs a kind: it goes on in the deals of one.')
  const isByOwner = oneOf(query, 'by', ['owner']) !== null
  if (isByOwner) requireShown(query, 'by', 'sales_owner')
  const ofKind = kind && fieldOf[kind]
  if (ofKind) requireShown(query, 'kind', ofKind)
  return {
    ...selectionOf(query),
    ...{ from: from ?? '', to, expectedFrom, expectedTo, kind, after, isByOwner },
    pageSize: wholeNumber(query, ['pageSize'], dealPageSizes.usual, dealPageSizes.max),
  }
}

/** The field whose changes alone are a kind, if there is one: without it no deal is of the kind. */
const fieldOf: { readonly [kind in StepKind]?: string } = {
  ...{ grown: 'deal_value_in_base_currency', shrunk: 'deal_value_in_base_currency' },
  ...{ rates: 'deal_value_in_base_currency' },
  ...{ slipped: 'expected_close_date', pulled_in: 'expected_close_date' },
}

/** A day, or an instant in UTC. */
function momentOf(query: Query, name: string): string | null {
  const given = single(query, name)
  const found = given === null ? null : (isoDate(given) ?? isoInstant(given, true))
  if (given !== null && found === null)
    addProblem(
      query.problems,
      name,
      'invalid_value',
      `${name} must be a day such as 2026-06-30, or a moment such as 2026-06-30T09:00:00Z.`,
    )
  return found
}

/** The result of the statement. Amounts are exact; the part 0 is the whole, others are owners. */
type Found = {
  /** [part, whether it is then, deals, value, weighted value, deals without a rate] */
  readonly totals: readonly (readonly [number, boolean, number, Json, Json, number])[]
  /** [part, kind, deals, open deals more, value, weighted value, worth] */
  readonly steps: readonly (readonly [number, StepKind, number, number, Json, Json, Json])[]
  readonly deals: readonly (readonly [StepKind, FoundDeal])[]
  /** false: the deal behind which they go on is none of the kind */
  readonly goes_on: boolean
}
type FoundDeal = {
  readonly id: number
  readonly title: string
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

async function changesOf(db: Reader, caller: Caller, request: ChangesRequest): Promise<JsonObject> {
  const { account, currencies } = caller.catalog
  const from = await pastOf(db, caller, { parameter: 'from', text: request.from, isEnd: false })
  const to = await pastOf(db, caller, { parameter: 'to', text: request.to, isEnd: true })
  refuseReversed(from.moment, to.moment)
  const seen = seenBy(caller, request)
  const [row] = await ask(db, changesSql(caller, request, { from, to, seen }), true)
  const found = parseJson(row!.found!) as unknown as Found
  if (!found.goes_on) throw notOfKind(request)
  const { id, code, decimals } = currencies.get(account.base_currency)!
  const named = await withNames(db, caller, request, found)
  const shown = (part: number) => waterfallOf(found, part, { seen, decimals, kind: request.kind })
  const { steps, ...ends } = shown(0)
  const deals = Map.groupBy(named.deals, ([kind]) => kind)
  const listed = steps.map(step => {
    const all = (deals.get(step.kind) ?? []).map(([, deal]) => deal)
    return { ...step, deals: all.slice(0, request.pageSize), hasMore: all.length > request.pageSize }
  })
  const head = { from: from.moment, to: to.moment, currency: { id, code }, ...ends, steps: listed }
  if (!request.isByOwner) return head
  const owners = named.owners.map(owner => ({
    sales_owner: owner === nobody ? null : { id: owner, name: named.nameOf('sales_owner', owner) },
    ...shown(owner),
  }))
  return { ...head, owners: owners.slice(0, groupsMax), hasMore: owners.length > groupsMax }
}

/** The parts of deals that the caller's role sees. */
function seenBy(caller: Caller, { schema }: ChangesRequest): SeenParts {
  const sees = (field: string) => shownField(schema, field) !== null
  return {
    value: seesSum('deal_value_in_base_currency', caller),
    weighted: seesSum('weighted_value_in_base_currency', caller),
    owner: sees('sales_owner'),
    date: sees('expected_close_date'),
  }
}

function refuseReversed(from: string, to: string): void {
  if (from <= to) return
  const message = `from (${from}) must not be after to (${to}).`
  throw new Refusal('malformed_query', message, [parameterProblem('to', 'contradiction', message)])
}

/** Its place among the others is not known, so nothing could go on behind it. */
function notOfKind({ after, kind }: ChangesRequest): Refusal {
  const message = `after: the deal ${after} is not, or no longer, in the step "${kind}". Begin the step again without it.`
  return new Refusal('malformed_query', message, [parameterProblem('after', 'invalid_value', message)])
}

/** The two forecasts of a part, and the steps between them. */
function waterfallOf(
  { totals, steps }: Found,
  part: number,
  { seen, decimals, kind }: { seen: SeenParts; decimals: number; kind: StepKind | null },
) {
  const own = steps.filter(([of]) => of === part)
  const ofKind = new Map(own.map(step => [step[1], step]))
  const ends = [true, false].map(isThen => {
    const [, , count, value, weighted, without] =
      totals.find(([of, is]) => of === part && is === isThen) ?? nothing
    return { count, value: exact(value), weighted: exact(weighted), without }
  })
  const [before, after] = ends.map(({ count, value, weighted, without }) => ({
    count,
    ...(seen.value ? { value: decimalJson(value), without_rate: without } : {}),
    ...(seen.weighted ? { weighted_value: decimalJson(rounded(weighted, decimals)) } : {}),
  }))
  let sum = ends[0]!.weighted
  const all = stepKinds.flatMap(name => {
    const [, , count, open, value, weighted, worth] = ofKind.get(name) ?? []
    if (!count) return []
    // The running sums are rounded, not the steps: so the steps add up exactly.
    const start = rounded(sum, decimals)
    sum = sum.plus(exact(weighted!))
    return {
      ...{ kind: name, count, open: open! },
      ...(seen.value ? { value: value!, deal_value: worth! } : {}),
      ...(seen.weighted ? { weighted_value: decimalJson(rounded(sum, decimals).minus(start)) } : {}),
    }
  })
  const shown = kind === null ? all : all.filter(step => step.kind === kind)
  return { before: before!, after: after!, steps: shown }
}

const nothing = [0, false, 0, 0, 0, 0] as const

function exact(value: Json): Decimal {
  return decimal(value)!
}

/** The owners, those with the most value now first, and the deals with the names behind their ids. */
async function withNames(db: Reader, caller: Caller, { schema }: ChangesRequest, found: Found) {
  const { totals, steps, deals } = found
  const fields = namedOf(schema).filter(isShown)
  // An owner of steps may have a deal in neither forecast.
  const parts = [...totals, ...steps].map(([part]) => part)
  const owners = [...new Set(parts)].filter(part => part !== 0)
  const states = deals.flatMap(([, { before, after }]) => [before ?? [], after ?? []].flat())
  const records = [...states, ...owners.map(owner => ({ sales_owner: owner }))]
  const names = await namesOf(db, caller, records, fields)
  const nameOf = (field: string, id: number) => names.get(schema.byName.get(field)!)?.get(id)?.name ?? null
  const named = (field: Field, id: Json) =>
    id === null ? null : { id, name: nameOf(field.internal_name, Number(id)) }
  const stateOf = (state: JsonObject | null) =>
    state && {
      ...state,
      ...Object.fromEntries(
        fields.map(field => [field.internal_name, named(field, state[field.internal_name]!)]),
      ),
    }
  return {
    owners,
    nameOf,
    deals: deals.map(([kind, { before, after, ...deal }]) => {
      return [kind, { ...deal, before: stateOf(before), after: stateOf(after) }] as const
    }),
  }
}
