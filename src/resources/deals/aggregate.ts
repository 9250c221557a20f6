/**
 * The sums over deals (GET /deal/aggregate, D55, D85) beyond those of any resource: product lines as parts of
 * a deal, amounts in the base currency, those of a closed deal by the rate of its closing, and what is
 * answered if no measures are requested. That is, for each group, the number of deals, their value in each
 * currency, weighted and in the base currency, and the number without a rate; boards show it, too. Knows no
 * HTTP.
 */
import { type ResourceSchema, shownField } from '../../fields/catalog.ts'
import { halfEven } from '../../fields/decimal.ts'
import { plainField, type Schema } from '../../fields/field.ts'
import { arrayOf, madeOfFields, openObject, orNull, text, whole } from '../../fields/kinds/schemas.ts'
import { type Json, parseJson } from '../../json.ts'
import { aggregateReport, type Groups, groupsMax, shownGroups } from '../../lists/aggregate.ts'
import type { AggregateOptions, AggregateRequest } from '../../lists/aggregate-query.ts'
import { dependsOnValues } from '../../lists/plan.ts'
import type { Report } from '../../lists/report.ts'
import { whereSql } from '../../lists/where.ts'
import type { Reader } from '../../records/store.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask, type Sql, sql } from '../../sql.ts'
import { statusOf } from './deal.ts'

const money = openObject({ currency: whole, currency_code: orNull(text), value: { type: 'number' } })
const groupMembers = { group: { type: ['integer', 'string', 'null'] }, name: orNull(text) }

/** Sums of a group: those of deals, or the requested measures, each under its own text. */
const aggregateGroupSchema: Schema = madeOfFields(['deal'], {
  ...openObject(
    {
      ...groupMembers,
      groups: arrayOf(openObject({ group_by: text, ...groupMembers })),
      count: whole,
      deal_value: arrayOf(money),
      weighted_value: arrayOf(money),
      deal_value_in_base_currency: money,
      weighted_value_in_base_currency: money,
      without_rate: whole,
    },
    [],
  ),
  additionalProperties: true,
})

const dealSums: AggregateOptions = {
  parts: (schema, catalog) => {
    const value = shownField(schema, 'deal_value')
    if (!value) return null
    const name = value.lines_of!
    const related_name = catalog.resources.get(name)!.resource.shownAs
    // A reference like that of a field, to the product of a line.
    const field = { ...value, ...plainField, internal_name: name, related: name, related_name }
    const currency = sql`r.deal_value_currency`
    const inBase = isBaseSeen(schema) ? (rate: Sql) => sql`line.amount * ${rateOf(currency, rate)}` : null
    return {
      key: { text: name, field, sql: sql`line.product`, isNamed: true },
      join: sql`
        CROSS JOIN LATERAL jsonb_to_recordset(r.deal_value_products)
          AS line (product bigint, quantity numeric, amount numeric)`,
      measured: {
        quantity: { amount: sql`line.quantity`, currency: null, inBase: null },
        revenue: { amount: sql`line.amount`, currency, inBase },
      },
    }
  },
  inBase: ({ internal_name: name, in_base }, schema, { amount, currency }) => {
    if (in_base || !isBaseSeen(schema)) return in_base ? undefined : null
    if (name === 'weighted_value')
      return () => sql`r.deal_value_in_base_currency_value * r.stage_probability * 0.01`
    return rate => sql`${amount} * ${rateOf(currency, rate)}`
  },
  defaultGroups: aggregateDeals,
}

export const dealAggregate: Report<AggregateRequest> = {
  ...aggregateReport('deal', dealSums),
  schemas: { aggregate_group: aggregateGroupSchema },
}

function isBaseSeen({ byName }: ResourceSchema): boolean {
  return !byName.get('deal_value_in_base_currency')!.is_hidden
}

/** The rate of an amount of the deal: a closed deal keeps the rate of its stored base amount. */
function rateOf(currency: Sql, rate: Sql): Sql {
  return sql`CASE WHEN r.status <> ${sql.integer(statusOf.open)} AND r.deal_value_value <> 0
    AND r.deal_value_currency = ${currency} THEN r.deal_value_in_base_currency_value / r.deal_value_value
    ELSE ${rate} END`
}

/** The fields from which sums are made: a role that hides them does not see the sums either (D64). */
const derivedFrom = {
  deal_value: ['deal_value'],
  weighted_value: ['weighted_value'],
  deal_value_in_base_currency: ['deal_value_in_base_currency'],
  weighted_value_in_base_currency: ['deal_value_in_base_currency', 'weighted_value'],
  without_rate: ['deal_value_in_base_currency'],
} as const satisfies { readonly [sum: string]: readonly string[] }

export type SumName = keyof typeof derivedFrom

/** True if the caller's role sees a sum of deals. */
export function seesSum(name: SumName, { catalog }: Caller): boolean {
  const { byName } = catalog.resources.get('deal')!
  return !derivedFrom[name].some(field => byName.get(field)!.is_hidden)
}

export function dealMoney(currency: number, value: Json, { catalog: { currencies } }: Caller) {
  return { currency, currency_code: currencies.get(currency)?.code ?? null, value }
}

export type DealGroup = {
  readonly keys: readonly Json[]
  readonly count: number
  /** [currency, value, weighted value, deals] */
  readonly sums: readonly (readonly [number, Json, Json, number])[] | null
  /** the value in the base currency, plain and weighted */
  readonly base: Json
  readonly weighted: Json
  readonly without_rate: number
}

/** The groups, the largest in base currency first, at most a thousand; `hasMore`: true if there are more. */
async function aggregateDeals(db: Reader, caller: Caller, request: AggregateRequest): Promise<Groups> {
  const base = caller.catalog.account.base_currency
  const all = await dealGroups(db, caller, request)
  const found = all.slice(0, groupsMax)
  const keys = found.map(group => group.keys)
  const shownAs = await shownGroups(db, caller, request, keys)
  const money = (currency: number, value: Json) => dealMoney(currency, value, caller)
  const groups = found.map(({ count, sums, base: sum, weighted, without_rate }, index) => ({
    ...shownAs[index]!,
    count,
    deal_value: (sums ?? []).map(([currency, value]) => money(currency, value)),
    weighted_value: (sums ?? []).map(([currency, , value]) => money(currency, value)),
    deal_value_in_base_currency: money(base, sum),
    weighted_value_in_base_currency: money(base, weighted),
    without_rate,
  }))
  const isShown = ([name]: [string, unknown]) => !(name in derivedFrom) || seesSum(name as SumName, caller)
  const shown = groups.map(group => Object.fromEntries(Object.entries(group).filter(isShown)))
  return { groups: shown, hasMore: all.length > groupsMax }
}

/** The sums of each group, unfiltered by the caller's role: at most one group more than `groupsMax`. */
export async function dealGroups(
  db: Reader,
  caller: Caller,
  request: Pick<AggregateRequest, 'schema' | 'keys' | 'filter' | 'isOfDeleted'>,
): Promise<readonly DealGroup[]> {
  const { account, currencies } = caller.catalog
  const { filter } = request
  const statement = groupsSql(request, caller, currencies.get(account.base_currency)!.decimals)
  const rows = await ask(db, statement, dependsOnValues(filter))
  return rows.map(row => parseJson(row.found!) as unknown as DealGroup)
}

/** The sums of each currency in each group, put together by group. */
function groupsSql(
  request: Pick<AggregateRequest, 'schema' | 'keys' | 'filter' | 'isOfDeleted'>,
  caller: Caller,
  decimals: number,
): Sql {
  const named = request.keys.map((key, index) => ({ value: key.sql, name: sql.id(`key${index}`) }))
  // Without keys, all deals are one group, whose key is NULL.
  const keys = named.length ? named : [{ value: sql`NULL::bigint`, name: sql.id('nothing') }]
  const names = sql.join(keys.map(({ name }) => sql`c.${name}`))
  const values = sql.join(keys.map(({ value, name }) => sql`${value} AS ${name}`))
  const places = sql.join([...keys, null].map((_key, index) => sql.integer(index + 1)))
  // An order by a hidden amount would reveal it (D64).
  const isHidden = caller.catalog.resources.get('deal')!.byName.get('deal_value_in_base_currency')!.is_hidden
  const first = isHidden ? sql`sum(c.count)` : sql`coalesce(sum(c.base), 0)`
  const weighted = halfEven(sql`coalesce(sum(c.base_weighted), 0) * 0.01`, sql.integer(decimals))
  return sql`SELECT json_build_object(
  'keys', json_build_array(${names}), 'count', sum(c.count), 'without_rate', sum(c.without_rate),
  'base', trim_scale(coalesce(sum(c.base), 0)), 'weighted', ${weighted},
  'sums', json_agg(
    json_build_array(c.currency, trim_scale(c.value), trim_scale(c.weighted), c.count) ORDER BY c.currency)
    FILTER (WHERE c.currency IS NOT NULL))::text AS found
FROM (
  SELECT ${values}, r.deal_value_currency AS currency, count(*) AS count,
    sum(r.deal_value_value) AS value, sum(r.weighted_value_value) AS weighted,
    sum(r.deal_value_in_base_currency_value) AS base,
    sum(r.deal_value_in_base_currency_value * r.stage_probability) AS base_weighted,
    count(*) FILTER (
      WHERE r.deal_value_value IS NOT NULL AND r.deal_value_in_base_currency_value IS NULL) AS without_rate
  FROM deal r WHERE ${whereSql(callerParamsOf(caller), request)} GROUP BY ${places}) c
GROUP BY ${names} ORDER BY ${first} DESC, ${names} LIMIT ${sql.integer(groupsMax + 1)}`
}
