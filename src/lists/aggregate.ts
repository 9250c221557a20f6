/**
 * Sums of a resource's records, GET /{resource}/aggregate (D55, D85): one statement reads the records once,
 * groups them, and groups them again by the currency of each amount. aggregate-query.ts reads the parameters.
 * Knows no HTTP and no resource.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { Currency } from '../fields/catalog.ts'
import { decimal, decimalJson, rounded } from '../fields/decimal.ts'
import { withRate } from '../fields/kinds/money.ts'
import { arrayOf, closedObject, openObject, schemaRef } from '../fields/kinds/schemas.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { namesOf } from '../records/expand.ts'
import { type Reader, tableOf } from '../records/store.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import {
  type AggregateOptions,
  type AggregateRequest,
  aggregateRequestOf,
  counting,
  type GroupKey,
  type Measure,
  type Measured,
} from './aggregate-query.ts'
import { dependsOnValues } from './plan.ts'
import type { Report } from './report.ts'
import { whereSql } from './where.ts'

/** Maximum number of groups in a response. */
export const groupsMax = 1000

/** Maximum decimals of averages of numbers; averages of amounts have their currency's. */
const decimalsMax = 6

export type Groups = { readonly groups: readonly JsonObject[]; readonly hasMore: boolean }

/** One row of the result: a group as a whole, or the amounts of a group in one currency. */
type Row = {
  readonly keys: readonly Json[]
  /** the index of the measured amount by whose currency the row is grouped; -1: a whole group */
  readonly of: number
  readonly in: number | null
  /** for each measure: its value, its value in the base currency, and the number of amounts without a rate */
  readonly values: readonly (readonly [Json, Json, number])[]
}

const listed = { type: ['string', 'array', 'null'], items: { type: 'string' } }

/** The report of the sums of a resource's records. */
export function aggregateReport(resource: string, options: AggregateOptions): Report<AggregateRequest> {
  return {
    ...{ resource, name: 'aggregate', path: 'aggregate' },
    summary: `Sums records: ${resource}.`,
    description:
      'One answer has the counts and sums of all records that the filter finds, or of each group of them.',
    parameters: {
      group_by: `${resource}_group_by`,
      ...{ measures: 'measures', filter: 'filter', deleted: 'deleted', as_of: 'as_of' },
    },
    body: {
      summary: `Sums records, with the parameters in the body: ${resource}.`,
      schema: closedObject({
        ...{ group_by: listed, measures: listed, filter: listed, deleted: { enum: ['only', null] } },
        as_of: { type: ['string', 'null'], format: 'date' },
      }),
    },
    response: {
      description: 'The groups, the largest first.',
      // Defined with the sums of deals; those of other resources have `count` and measures of it.
      data: arrayOf(schemaRef('aggregate_group')),
      meta: openObject({ group_by: { type: ['string', 'null'] }, hasMore: { type: 'boolean' } }),
    },
    read: query => aggregateRequestOf(query, options),
    answer: async (db, caller, request) => {
      const { keys, measures } = request
      const { groups, hasMore } =
        options.defaultGroups && !measures
          ? await options.defaultGroups(db, caller, request)
          : await aggregate(db, caller, request, measures ?? [counting])
      return { data: groups, meta: { group_by: keys.map(({ text }) => text).join() || null, hasMore } }
    },
  }
}

/**
 * The measures of each group, the largest by the first measure first, at most a thousand; and whether there
 * are more.
 */
async function aggregate(
  db: Reader,
  caller: Caller,
  request: AggregateRequest,
  measures: readonly Measure[],
): Promise<Groups> {
  const amounts = [...new Set(measures.flatMap(({ of }) => of ?? []))]
  const statement = measuresSql(callerParamsOf(caller), request, measures, amounts)
  const found = await ask(db, statement, dependsOnValues(request.filter))
  // There may be as many rows as groups and currencies.
  const rows = await mapYielding(found, row => {
    return { place: Number(row.place), ...(parseJson(row.found!) as unknown as Row) }
  })
  const places = [...Map.groupBy(rows, ({ place }) => place).values()]
  const answered = places.slice(0, groupsMax)
  const keys = answered.map(([first]) => first!.keys)
  const shown = await shownGroups(db, caller, request, keys)
  const groups = await mapYielding(answered.entries(), ([index, ofGroup]) => {
    const values = measures.map((measure, at): [string, Json] => [
      measure.text,
      shownMeasure(caller, ofGroup, at, measure, amounts),
    ])
    return { ...shown[index]!, ...Object.fromEntries(values) }
  })
  return { groups, hasMore: places.length > groupsMax }
}

function shownMeasure(
  { catalog: { account, currencies } }: Caller,
  rows: readonly Row[],
  at: number,
  { of, text }: Measure,
  amounts: readonly Measured[],
): Json {
  const whole = rows.find(row => row.of === -1)!
  const [value, base, without_rate] = whole.values[at]!
  if (!of) return value
  if (!of.currency) return text.startsWith('avg:') ? roundedTo(value, decimalsMax) : value
  const money = (currency: Currency | undefined, id: number, amount: Json) => ({
    currency: id,
    currency_code: currency?.code ?? null,
    value: roundedTo(amount, currency?.decimals ?? decimalsMax),
  })
  const place = amounts.indexOf(of)
  const by_currency = rows
    .filter(row => row.of === place && row.in !== null)
    .sort((one, other) => one.in! - other.in!)
    .map(row => money(currencies.get(row.in!), row.in!, row.values[at]![0]))
  if (!of.inBase) return { by_currency }
  const inBase = money(currencies.get(account.base_currency), account.base_currency, base)
  return { by_currency, in_base_currency: base === null ? null : inBase, without_rate }
}

function roundedTo(value: Json, decimals: number): Json {
  const exact = decimal(value)
  return exact && decimalJson(rounded(exact, decimals))
}

/**
 * Groups in responses, each from the values of its keys: the value and its name or, with several keys, those
 * of each.
 */
export async function shownGroups(
  db: Reader,
  caller: Caller,
  { keys, expand }: Pick<AggregateRequest, 'keys' | 'expand'>,
  groups: readonly (readonly Json[])[],
): Promise<JsonObject[]> {
  const records = groups.map(values =>
    Object.fromEntries(keys.map(({ field }, index): [string, Json] => [field.internal_name, values[index]!])),
  )
  const names = await namesOf(db, caller, records, expand)
  const one = ({ field }: GroupKey, group: Json) => ({
    group,
    name: names.get(field)?.get(Number(group))?.name ?? null,
  })
  return groups.map(values => {
    if (keys.length === 0) return { group: null, name: null }
    if (keys.length === 1) return one(keys[0]!, values[0]!)
    return { groups: keys.map((key, index) => ({ group_by: key.text, ...one(key, values[index]!) })) }
  })
}

function measuresSql(
  params: CallerParams,
  request: AggregateRequest,
  measures: readonly Measure[],
  amounts: readonly Measured[],
): Sql {
  const keys = request.keys.map((_key, index) => sql.id(`key${index}`))
  const inCurrencies = amounts.flatMap((of, index) => (of.currency ? [index] : []))
  const currencies = inCurrencies.map(index => sql.id(`currency${index}`))
  const sets = [keys, ...currencies.map(currency => [...keys, currency])].map(set => sql`(${sql.join(set)})`)
  const of = inCurrencies.map(
    index => sql` WHEN grouping(${sql.id(`currency${index}`)}) = 0 THEN ${sql.integer(index)}`,
  )
  // A record with several parts counts once.
  const count = request.parts ? sql`count(DISTINCT x.id)` : sql`count(*)`
  const first = measures[0]!
  const leads = first.of?.currency && !first.of.inBase ? count : measureSql(first, amounts, count).lead
  const values = measures.map(measure => measureSql(measure, amounts, count).json)
  const inGroup = keys.length ? sql`PARTITION BY ${sql.join(keys)}` : sql.none
  return sql`SELECT place::text AS place,
  json_build_object('keys', json_build_array(${sql.join(keys)}), 'of', of_amount, 'in', currency,
    'values', measured)::text AS found
FROM (
  SELECT *, dense_rank() OVER (ORDER BY ${sql.join([sql`lead DESC NULLS LAST`, ...keys])}) AS place
  FROM (
    SELECT *, max(leads) FILTER (WHERE of_amount = -1) OVER (${inGroup}) AS lead
    FROM (
      SELECT ${sql.join([...keys, sql`count(*) AS records`])},
        CASE${of.length ? sql.join(of, sql.none) : sql` WHEN false THEN 0`} ELSE -1 END AS of_amount,
        ${currencies.length ? sql`coalesce(${sql.join(currencies)})` : sql`NULL::int`} AS currency,
        ${leads} AS leads, json_build_array(${sql.join(values)}) AS measured
      FROM (${rowsSql(params, request, amounts)}) x
      GROUP BY GROUPING SETS (${sql.join(sets)})) g
    WHERE records > 0) g) g
WHERE g.place <= ${sql.integer(groupsMax + 1)} ORDER BY g.place`
}

/** The rows to group: their keys and, for each amount, the value, its currency and its base value. */
function rowsSql(params: CallerParams, request: AggregateRequest, amounts: readonly Measured[]): Sql {
  const { keys, parts } = request
  const columns = amounts.flatMap(({ amount, currency, inBase }, index) => {
    const rate = sql`${sql.id(`rate${index}`)}.rate`
    return [
      sql`${amount} AS ${sql.id(`value${index}`)}`,
      ...(currency ? [sql`${currency} AS ${sql.id(`currency${index}`)}`] : []),
      ...(inBase ? [sql`${inBase(rate)} AS ${sql.id(`base${index}`)}`] : []),
    ]
  })
  const rates = amounts.map(({ currency, inBase }, index) => {
    if (!currency || !inBase) return sql.none
    return withRate(sql.id(`rate${index}`), currency, (resource, row) => visible(resource, params, row))
  })
  const named = keys.map((key, index) => sql`${key.sql} AS ${sql.id(`key${index}`)}`)
  return sql`
        SELECT ${sql.join([sql`r.id`, ...named, ...columns])}
        FROM ${tableOf(request.schema)} r${parts?.join ?? sql.none}${sql.join(rates, sql.none)}
        WHERE ${whereSql(params, request)}`
}

/** A measure aggregated over the rows: the JSON of its values, and the number that sorts the groups. */
function measureSql(
  measure: Measure,
  amounts: readonly Measured[],
  count: Sql,
): { readonly json: Sql; readonly lead: Sql } {
  if (!measure.of) {
    return { json: sql`json_build_array(${count}, NULL, 0)`, lead: count }
  }
  const { of, aggregateSql } = measure
  const index = amounts.indexOf(of)
  const [own, base] = [sql.id(`value${index}`), sql.id(`base${index}`)]
  const value = sql`trim_scale(${aggregateSql(own)})`
  if (!of.inBase) return { json: sql`json_build_array(${value}, NULL, 0)`, lead: value }
  const inBase = sql`trim_scale(${aggregateSql(base)})`
  const without = sql`count(*) FILTER (WHERE ${own} IS NOT NULL AND ${base} IS NULL)`
  return { json: sql`json_build_array(${value}, ${inBase}, ${without})`, lead: inBase }
}
