/** The tool of sums: groups of records, the funnel of a pipeline, the forecast by months and its changes. */
import type { ResourceSchema } from '../fields/catalog.ts'
import { dateIn } from '../fields/iso8601.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { meantField } from '../fields/unknown-field.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { businessData } from '../resources/resources.ts'
import { fitting } from './answer.ts'
import type { Api } from './api.ts'
import { daysMeant } from './days.ts'
import { filtersFor, itemsOf, textsOf } from './find.ts'
import { singleBlanks } from './phrases.ts'
import { where } from './read.ts'
import { ToolRefusal } from './refusal.ts'
import { cut, shownValue } from './shown.ts'
import { callText, schemaOf, type Tool, type ToolResult } from './tool.ts'

const texts = { type: 'array', items: { type: 'string', maxLength: 120 }, maxItems: 3 } as const

export const report: Tool = {
  name: 'report',
  title: 'Sums, funnel, forecast and its changes',
  description:
    'sums: counts and sums of records, by up to three fields. funnel: how far deals come. forecast: open deals by month of expected close, and what was won. changes: what came into the forecast, grew, slipped, was won or lost in a period. Amounts are in the base currency.',
  input: {
    properties: {
      report: { type: 'string', enum: ['sums', 'funnel', 'forecast', 'changes'] },
      resource: { type: 'string', enum: businessData, description: 'of sums; deal if left out' },
      where,
      group_by: {
        ...texts,
        description: '["stage", "owner", "expected_close_date by month", "product"]; changes by owner only',
      },
      measures: {
        ...{ ...texts, maxItems: 6 },
        description: '["count", "sum of deal_value", "average age", "median", "min", "max"]',
      },
      pipeline: { type: 'string', maxLength: 255, description: 'of the funnel' },
      period: {
        ...{ type: 'string', maxLength: 40 },
        description: 'of funnel, forecast and changes: "this quarter", "last 90 days", "2026-03"',
      },
    },
    required: ['report'],
  },
  run: async (args, api) => {
    const { report, resource = 'deal' } = args
    if (report === 'sums') return sums(api, String(resource), args)
    if (resource !== 'deal') throw new ToolRefusal(`The report ${String(report)} is of deals only.`)
    if (report === 'changes') return changes(api, args)
    return report === 'funnel' ? funnel(api, args) : forecast(api, args)
  },
}

async function sums(api: Api, resource: string, args: JsonObject): Promise<ToolResult> {
  const schema = schemaOf(api, resource)
  const groups = textsOf(args.group_by).map(text => groupOf(text, schema))
  const areLines = groups.some(group => group === linesNamed(group, schema))
  const asked = textsOf(args.measures).map(text => measureOf(text, schema, areLines))
  const ofDeals =
    resource === 'deal' && schema.byName.get('deal_value')?.is_hidden === false
      ? ['count', 'sum:deal_value']
      : ['count']
  const usual = areLines ? ['count', ...ofLines.map(name => `sum:${name}`)] : ofDeals
  const measures = asked.length ? asked : usual
  const { filter, notes } = await filtersFor(api, resource, textsOf(args.where))
  const answer = await api.call({
    operation: `${resource}_aggregate_post`,
    body: { filter: [...filter], measures, ...(groups.length ? { group_by: groups } : {}) },
  })
  const rows = itemsOf(answer).map(group => [
    ...namesOf(group),
    ...measures.map(name => amountOf(group[name])),
  ])
  const shown = fitting(rows)
  const isMore = shown.length < rows.length || (answer.meta as JsonObject).hasMore === true
  return {
    summary: {
      ...(isMore ? { left_out: 'smaller groups: add conditions, or group by less' } : {}),
      ...(notes.length ? { notes: [...notes] } : {}),
    },
    stored: { columns: [...groups, ...measures], rows: [...shown] },
  }
}

/** "expected_close_date by month" → expected_close_date:month; "product" is a group of its own. */
function groupOf(text: string, schema: ResourceSchema): string {
  const groupNamed = (name: string) => linesNamed(name, schema) ?? meantField(name.trim(), schema)
  // A name may end in a unit of time itself, such as "Fiscal year".
  const whole = groupNamed(text)
  if (whole) return whole
  const [, name = '', unit] =
    /^(.*?)(?: by | ?: ?| )(day|week|month|quarter|year)$/i.exec(singleBlanks(text)) ?? []
  return unit ? `${groupNamed(name) ?? name.trim()}:${unit.toLowerCase()}` : text.trim()
}

/** The resource of the lines that a name means, such as "products" of deals; null for another name. */
function linesNamed(name: string, { fields }: ResourceSchema): string | null {
  const bare = name.trim().toLowerCase()
  return fields.find(({ lines_of: of }) => of && [of, pluralOf(of)].includes(bare))?.lines_of ?? null
}

/** The measures of lines; a field of the record may have such a name in other systems. */
const ofLines: readonly string[] = ['quantity', 'revenue']

const functions: { readonly [word: string]: string } = {
  ...{ sum: 'sum', total: 'sum', average: 'avg', avg: 'avg', mean: 'avg', median: 'median' },
  ...{ min: 'min', minimum: 'min', smallest: 'min', max: 'max', maximum: 'max', largest: 'max' },
}

/** "sum of deal_value" → sum:deal_value */
function measureOf(text: string, schema: ResourceSchema, areLines: boolean): string {
  const [, word = '', name = ''] = /^([a-z]+)(?: of | ?: ?| )?(.*)$/is.exec(singleBlanks(text)) ?? []
  const what = functions[word.toLowerCase()]
  const field =
    areLines && ofLines.includes(name.toLowerCase()) ? name.toLowerCase() : meantField(name, schema)
  return what && name ? `${what}:${field ?? name}` : text.trim()
}

/** The names of a group; of an empty value null. */
function namesOf({ groups, group, name }: JsonObject): Json[] {
  if (Array.isArray(groups)) return groups.filter(isObject).map(one => one.name ?? one.group ?? null)
  return group === undefined ? [] : [name ?? group]
}

/** A measure: an amount in the base currency, or a number. */
function amountOf(value: Json | undefined): Json {
  if (!isObject(value)) return value ?? null
  const { in_base_currency, without_rate } = value
  const amount = shownValue(in_base_currency ?? null)
  return without_rate ? `${String(amount)} (${JSON.stringify(without_rate)} without a rate)` : amount
}

async function funnel(api: Api, { pipeline, period, where }: JsonObject): Promise<ToolResult> {
  const days = period === undefined ? null : daysOf(api, String(period))
  const { filter, notes } = await filtersFor(api, 'deal', textsOf(where))
  const { data } = await api.call({
    operation: 'deal_funnel',
    query: {
      ...(pipeline === undefined ? {} : { pipeline: pipelineNamed(api, String(pipeline)) }),
      ...(days ? { from: days[0], to: days[1] } : {}),
      filter,
    },
  })
  const { stages, deals, won, lost, pipeline: of } = data as JsonObject
  const columns = ['name', 'entered', 'went_on', 'lost_from', 'conversion', 'median_days']
  return {
    summary: { deals: deals!, won: won!, lost: lost!, ...(notes.length ? { notes: [...notes] } : {}) },
    stored: {
      pipeline: isObject(of ?? null) ? (of as JsonObject).name! : null,
      columns,
      rows: (stages as JsonObject[]).map(stage => columns.map(name => stage[name] ?? null)),
    },
  }
}

/** The pipeline's id as text. A name that no pipeline has passes, and is refused by the service. */
function pipelineNamed({ caller }: Api, name: string): string {
  const all = [...caller.catalog.pipelines.values()]
  const found = all.find(one => one.name.toLowerCase() === name.trim().toLowerCase())
  return found ? String(found.id) : name
}

function daysOf({ caller, now }: Api, period: string) {
  const days = daysMeant(period, dateIn(caller.catalog.account.time_zone, now)!)
  if (days) return days
  const hint = 'For example "this quarter", "last 90 days", "2026-03" or "Q1 2026".'
  throw new ToolRefusal('The period could not be read.', [{ at: 'period', message: period, hint }])
}

/** Without a period: the six months that begin with this one. */
async function forecast(api: Api, { period, where }: JsonObject): Promise<ToolResult> {
  const [from, to] = period === undefined ? nextMonths(api) : daysOf(api, String(period))
  const { filter, notes } = await filtersFor(api, 'deal', textsOf(where))
  const sumsBy = async (status: string, date: string, measures: readonly string[]) =>
    itemsOf(
      await api.call({
        operation: 'deal_aggregate_post',
        body: {
          filter: [...filter, `status:eq(${status})`, `${date}:between(${from},${to})`],
          ...{ group_by: `${date}:month`, measures: [...measures] },
        },
      }),
    )
  const open = await sumsBy('Open', 'expected_close_date', ['count', 'sum:deal_value', 'sum:weighted_value'])
  const won = await sumsBy('Won', 'deal_closed_on', ['count', 'sum:deal_value'])
  const months = [...new Set([...open, ...won].map(({ group }) => String(group)))].sort()
  const rows = months.map((month): Json[] => {
    const [its, closed] = [open, won].map(groups => groups.find(({ group }) => group === month) ?? {})
    return [
      month.slice(0, 7),
      ...[its!.count ?? 0, amountOf(its!['sum:deal_value']), amountOf(its!['sum:weighted_value'])],
      ...[closed!.count ?? 0, amountOf(closed!['sum:deal_value'])],
    ]
  })
  return {
    summary: { from, to, ...(notes.length ? { notes: [...notes] } : {}) },
    stored: { columns: ['month', 'open', 'value', 'weighted', 'won', 'won_value'], rows },
  }
}

function nextMonths({ caller, now }: Api) {
  const today = dateIn(caller.catalog.account.time_zone, now)!
  const [first] = daysMeant('this month', today)!
  const month = daysMeant('in 5 months', today)![0].slice(0, 7)
  return [first, daysMeant(month, today)![1]] as const
}

/** Of each step so many deals are named. */
const namedMax = 3
const byOwner = { report: 'changes', group_by: ['owner'] }

/** Without a period: the last seven days. */
async function changes(api: Api, { period, where, group_by }: JsonObject): Promise<ToolResult> {
  const [from, to] = daysOf(api, period === undefined ? 'last 7 days' : String(period))
  const groups = textsOf(group_by).map(text => groupOf(text, schemaOf(api, 'deal')))
  if (groups.some(group => group !== 'sales_owner'))
    throw new ToolRefusal('Changes are grouped by owner only.', [], callText('report', byOwner))
  const { filter, notes } = await filtersFor(api, 'deal', textsOf(where))
  const isOver = to < dateIn(api.caller.catalog.account.time_zone, api.now)!
  const { data } = await api.call({
    operation: 'deal_changes',
    query: {
      ...{ from, to: isOver ? to : undefined, filter, pageSize: String(namedMax) },
      by: groups.length ? 'owner' : undefined,
    },
  })
  const whole = data as JsonObject
  const all = groups.length ? (whole.owners as JsonObject[]) : [whole]
  const rows = all.flatMap(one =>
    waterfallOf(one).map(step =>
      groups.length ? [(one.sales_owner as JsonObject | null)?.name ?? null, ...step] : step,
    ),
  )
  const shown = fitting(rows)
  const isMore = shown.length < rows.length || whole.hasMore === true
  return {
    summary: {
      ...{ from, to: isOver ? to : 'now' },
      ...(isMore ? { left_out: 'smaller groups: add conditions' } : {}),
      ...(notes.length ? { notes: [...notes] } : {}),
    },
    stored: { columns: [...groups, 'step', ...stepMembers, 'largest'], rows: [...shown] },
  }
}

const stepMembers = ['count', 'open', 'value', 'weighted_value', 'deal_value']

/** The forecast then, the steps from there, and the forecast now, each as a row. */
function waterfallOf({ before, steps, after }: JsonObject): Json[][] {
  const end = (kind: string, forecast: JsonObject): JsonObject => ({
    kind,
    ...forecast,
    open: forecast.count!,
  })
  const all = [
    end('before', before as JsonObject),
    ...(steps as JsonObject[]),
    end('after', after as JsonObject),
  ]
  return all.map(({ kind, deals, ...members }) => [
    kind!,
    ...stepMembers.map(name => members[name] ?? null),
    Array.isArray(deals)
      ? deals.filter(isObject).map(({ id, title }) => `#${Number(id)} ${String(cut(title!, 60))}`)
      : null,
  ])
}
