/** The periods, filters and sums of the reports. Pure. */
import type { Schemas } from '../../api/api.ts'

export type Group = Schemas['aggregate_group']
export type Amounts = NonNullable<Group['deal_value']>

export type Search = {
  readonly pipeline?: string
  readonly owner?: string
  readonly filter?: string
  readonly from?: string
  readonly months?: string
  readonly report?: string
  /** `table`: the numbers of the charts */
  readonly view?: string
  /** the first and the last day of the changes */
  readonly since?: string
  readonly until?: string
  /** `best`: amounts at their full value; without it, weighted */
  readonly measure?: string
}

/** Whole months: the first (YYYY-MM), and their number. */
export type Period = { readonly from: string; readonly months: number }

export const periodLengths = [3, 6, 12, 24, 36]

/** A month some months later: 2026-11 and 2 are 2027-01. */
export function monthAfter(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const count = year * 12 + number - 1 + by
  return `${String(Math.floor(count / 12)).padStart(4, '0')}-${String((count % 12) + 1).padStart(2, '0')}`
}

/** The period of an address; default: `months` that begin `back` months before today's. */
export function periodOf(
  { from, months }: Search,
  today: string,
  byDefault: { back: number; months: number },
): Period {
  const isMonth = from !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(from)
  const count = Number(months)
  return {
    from: isMonth ? from : monthAfter(today.slice(0, 7), -byDefault.back),
    months: Number.isInteger(count) && count >= 1 && count <= 60 ? count : byDefault.months,
  }
}

/** The months of a period, each by its first day. */
export function monthsOf({ from, months }: Period): string[] {
  return Array.from({ length: months }, (_, index) => `${monthAfter(from, index)}-01`)
}

const onDay = (month: string, day: number) => `${month.slice(0, 7)}-${String(day).padStart(2, '0')}`

/** The last day of the month of a day. */
export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return onDay(month, new Date(Date.UTC(year, number, 0)).getUTCDate())
}

export type Days = { readonly first: string; readonly last: string }

/** The first and the last day of a period. */
export function daysOf({ from, months }: Period): Days {
  return { first: `${from}-01`, last: lastDayOf(`${monthAfter(from, months - 1)}-01`) }
}

/**
 * The elapsed part of a period, and the same part of the previous period; null: nothing has elapsed. For a
 * period that has ended both are whole.
 */
export function comparablePeriods(period: Period, today: string): { passed: Days; before: Days } | null {
  const { first, last } = daysOf(period)
  if (today < first) return null
  const until = today < last ? today : last
  const month = monthAfter(until.slice(0, 7), -period.months)
  const end = lastDayOf(month)
  const same = onDay(month, Number(until.slice(8)))
  return {
    passed: { first, last: until },
    before: {
      first: `${monthAfter(period.from, -period.months)}-01`,
      // A month has elapsed when its last day has, whatever its length.
      last: until === lastDayOf(until) || same > end ? end : same,
    },
  }
}

export const within = (field: string, first: string, last: string) => `${field}:between(${first},${last})`

/** The conditions that the address sets for every report. */
export function chosen({ pipeline, owner, filter }: Search): string[] {
  return [pipeline && `pipeline:eq(${pipeline})`, owner && `sales_owner:eq(${owner})`, filter].flatMap(
    condition => condition || [],
  )
}

export const all = (...conditions: readonly string[]) => conditions.join(',')

export type ForecastFilters = {
  readonly open: string
  readonly won: string
  /** open deals that are expected to close in the period */
  readonly expected: string
  readonly openIn: (month: string) => string
  readonly wonIn: (month: string) => string
}

/** The filters of the forecast. Lost deals never count. */
export function forecastFilters(search: Search, period: Period): ForecastFilters {
  const open = all('status:eq(Open)', ...chosen(search))
  const won = all('status:eq(Won)', ...chosen(search))
  const { first, last } = daysOf(period)
  return {
    open,
    won,
    expected: all(open, within('expected_close_date', first, last)),
    openIn: month => all(open, within('expected_close_date', month, lastDayOf(month))),
    wonIn: month => all(won, within('deal_closed_on', month, lastDayOf(month))),
  }
}

/** The path of the table with the deals of a filter. */
export const dealsPath = (filter: string) => `/deals?${new URLSearchParams({ filter })}`

/** A condition for one group of a sum; the group of empty values is null. */
export function isGroup(field: string, group: unknown): string {
  return group === null || group === undefined ? `${field}:isnull(true)` : `${field}:eq(${group})`
}

export type MonthRow = {
  readonly month: string
  readonly count: number
  /** open deals at their full value, in base currency */
  readonly best: number
  readonly weighted: number
  readonly won: number
  readonly wonCount: number
}

/** The amount of a group at its full value, in the base currency. */
export const baseValueOf = (group: Group | undefined): number =>
  group?.deal_value_in_base_currency?.value ?? 0

/** The amount of a group weighted by the probability of each stage, in the base currency. */
export const weightedValueOf = (group: Group | undefined): number =>
  group?.weighted_value_in_base_currency?.value ?? 0

/** The sums of open and won deals of one month or owner. */
function sumsOf(open: Group | undefined, won: Group | undefined) {
  return {
    count: open?.count ?? 0,
    best: baseValueOf(open),
    weighted: weightedValueOf(open),
    won: baseValueOf(won),
    wonCount: won?.count ?? 0,
  }
}

/** A row for each month, including empty ones. */
export function monthRows(period: Period, open: readonly Group[], won: readonly Group[]): MonthRow[] {
  const find = (groups: readonly Group[], month: string) => groups.find(({ group }) => group === month)
  return monthsOf(period).map(month => {
    return { month, ...sumsOf(find(open, month), find(won, month)) }
  })
}

export type OwnerRow = Omit<MonthRow, 'month'> & {
  readonly owner: number | null
  readonly name: string | null
}

/** A row for each owner: open and won deals. The highest first. */
export function ownerRows(open: readonly Group[], won: readonly Group[]): OwnerRow[] {
  const owners = new Map([...open, ...won].map(({ group, name }) => [group ?? null, name ?? null]))
  return [...owners]
    .map(([owner, name]) => {
      const opened = open.find(({ group }) => (group ?? null) === owner)
      const closed = won.find(({ group }) => (group ?? null) === owner)
      return {
        owner: owner as number | null,
        name,
        ...sumsOf(opened, closed),
      }
    })
    .sort((a, b) => b.best + b.won - (a.best + a.won) || b.count + b.wonCount - (a.count + a.wonCount))
}

type CurrencyRow = { readonly code: string; readonly best: number; readonly weighted: number }

/** Open values in each currency, in alphabetical order of the codes. */
export function currencyRows(total: Group | undefined): CurrencyRow[] {
  const weighted = new Map(total?.weighted_value?.map(({ currency, value }) => [currency, value]))
  return (total?.deal_value ?? [])
    .map(({ currency, currency_code, value }) => ({
      code: currency_code ?? `No. ${currency}`,
      best: value,
      weighted: weighted.get(currency) ?? 0,
    }))
    .sort((a, b) => a.code.localeCompare(b.code))
}
