/**
 * Sums over deals (GET /deal/aggregate): for each group how many there are, what they are worth in each currency, weighted and in base currency,
 * and how many have no rate. Feeds boards and forecasts; the filter is that of lists. Knows no HTTP.
 */
import { type Problem, Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import type { ListRequest, Parameters } from '../list/query.ts'
import { readListQuery } from '../list/query.ts'
import { dependsOnValues } from '../list/resolve.ts'
import { params } from '../list/sql.ts'
import { whereSql } from '../list/total.ts'
import type { Queryable } from '../records/store.ts'

/** The fields by which deals can be grouped: those of one id or code. */
const groupings: { readonly [name: string]: string } = {
  pipeline: 'r.pipeline',
  pipeline_stage: 'r.pipeline_stage',
  status: 'r.status',
  sales_owner: 'r.sales_owner',
  company: 'r.company',
  territory: 'r.territory',
  source: 'r.source',
  type: 'r.type',
  payment_status: 'r.payment_status',
  forecast_category: 'r.forecast_category',
  won_reason: 'r.won_reason',
  lost_reason: 'r.lost_reason',
}

export type AggregateRequest = { readonly groupBy: string | null; readonly list: ListRequest }

/** Reads `group_by` and the filter. Throws as a list's query does. */
export function readAggregateQuery(
  parameters: Parameters,
  fields: ResourceFields,
  catalog: Catalog,
  now: string,
): AggregateRequest {
  const problems: Problem[] = []
  const groupBy = parameters.get('group_by')?.[0] || null
  if ((parameters.get('group_by')?.length ?? 0) > 1 || (groupBy !== null && !Object.hasOwn(groupings, groupBy))) {
    const hint = `One of: ${Object.keys(groupings).join(', ')}.`
    problems.push({
      field: null,
      path: '',
      parameter: 'group_by',
      code: 'invalid_value',
      message: 'group_by must name one field.',
      hint,
    })
  }
  const others = ['group_by', 'filter', 'deleted']
  const rest = new Map([...parameters].filter(([name]) => name !== 'group_by'))
  for (const name of rest.keys()) {
    if (others.includes(name)) continue
    const message = `There is no parameter "${name}".`
    problems.push({
      field: null,
      path: '',
      parameter: name,
      code: 'unknown_parameter',
      message,
      hint: `The parameters: ${others.join(', ')}.`,
    })
    rest.delete(name)
  }
  const list = tried(() => readListQuery(rest, fields, catalog, now), problems)
  if (problems.length || !list) throw new Refusal('malformed_query', 'The query could not be read.', problems)
  return { groupBy, list }
}

/** The groups, largest in base currency first, as JSON text of an array. */
export async function aggregate(
  db: Queryable,
  fields: ResourceFields,
  { account, currencies }: Catalog,
  { groupBy, list }: AggregateRequest,
): Promise<string> {
  const collected = params(String(account.id))
  const group = groupBy ? groupings[groupBy]! : 'NULL::bigint'
  const text =
    `SELECT ${group} AS g, r.deal_value_currency AS currency, count(*) AS n, sum(r.deal_value_value) AS value, ` +
    'sum(r.weighted_value_value) AS weighted, sum(r.deal_value_in_base_currency_value) AS base, ' +
    'count(*) FILTER (WHERE r.deal_value_value IS NOT NULL AND r.deal_value_in_base_currency_value IS NULL) AS unrated ' +
    `FROM deal r WHERE ${whereSql(list, collected)} GROUP BY 1, 2`
  const whole =
    `SELECT coalesce(json_agg(json_build_object('group', x.g, 'count', x.n, 'base', trim_scale(x.base), 'unrated', x.unrated, 'sums', x.sums) ` +
    `ORDER BY x.base DESC NULLS LAST, x.g), '[]')::text AS groups FROM (SELECT y.g, sum(y.n) AS n, sum(y.base) AS base, sum(y.unrated) AS unrated, ` +
    `json_agg(json_build_array(y.currency, trim_scale(y.value), trim_scale(y.weighted)) ORDER BY y.currency) FILTER (WHERE y.currency IS NOT NULL) AS sums ` +
    `FROM (${text}) y GROUP BY y.g) x`
  const [row] = await db.query(whole, collected.values, list.filter !== null && dependsOnValues(list.filter))
  const base = currencies.get(account.base_currency)!
  const names = groupBy ? (fields.byName.get(groupBy)?.options ?? []) : []
  const money = (id: number, value: JsonObject[string]) => ({
    currency: id,
    currency_code: currencies.get(id)?.code ?? null,
    value,
  })
  const groups = (parseJson(row!.groups!) as JsonObject[]).filter(isObject).map(found => {
    const sums = (found.sums ?? []) as [number, JsonObject[string], JsonObject[string]][]
    return {
      group: found.group!,
      ...nameOf(groupBy ? fields.byName.get(groupBy)! : null, found.group as number | null, names),
      count: found.count!,
      deal_value: sums.map(([id, value]) => money(id, value)),
      weighted_value: sums.map(([id, , weighted]) => money(id, weighted)),
      deal_value_in_base_currency: money(base.id, found.base ?? 0),
      without_rate: found.unrated!,
    }
  })
  return JSON.stringify(groups)
}

function nameOf(field: Field | null, id: number | null, options: Field['options']): { name?: string } {
  if (!field || field.options.length === 0) return {}
  const name = options.find(option => option.id === id)?.name
  return name === undefined ? {} : { name }
}

function tried<T>(act: () => T, problems: Problem[]): T | null {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    problems.push(...error.problems)
    return null
  }
}
