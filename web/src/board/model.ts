/**
 * The board as data: its columns, their sums and their loaded cards. Pure functions, each of which returns a
 * new board; an unloaded card is undefined.
 */
import type { AnyRecord } from '../api/api.ts'
import { type StageKind, stageKinds } from '../api/stage-kind.ts'

export type Amount = { readonly value: number; readonly currency_code: string | null; readonly count: number }

export type Deal = AnyRecord & { readonly title: string }

export type Column = {
  readonly id: number
  readonly name: string
  readonly kind: StageKind
  readonly probability: number
  readonly rotting_days: number | null
  readonly count: number
  /** in the base currency; absent if the user may not see values */
  readonly value?: number
  readonly weighted_value?: number
  readonly by_currency?: readonly Amount[]
  readonly without_rate?: number
  /** in the order of the list, as far as they are loaded */
  readonly cards: readonly (Deal | undefined)[]
  /** ids of the cards that were read before the board was */
  readonly old: readonly number[]
}

export type BoardData = {
  readonly pipeline: { readonly id: number; readonly name: string } | null
  readonly currency: { readonly id: number; readonly code: string }
  readonly columns: readonly Column[]
  /** number of the reading that it comes from */
  readonly reading: number
}

/** The response of `GET /deal/view/board`. */
export type BoardAnswer = Omit<BoardData, 'columns' | 'reading'> & {
  readonly stages: readonly (Omit<Column, 'cards' | 'old' | 'kind'> & {
    readonly kind: keyof typeof stageKinds
    readonly records: readonly Deal[]
  })[]
}

/** A place on the board. */
export type Place = { readonly column: number; readonly row: number }

export function boardOf({ stages, ...head }: BoardAnswer, reading: number): BoardData {
  const columns = stages.map(({ records, kind, ...stage }) => ({
    ...stage,
    kind: stageKinds[kind],
    cards: sized(records, stage.count),
    old: [],
  }))
  return { ...head, columns, reading }
}

export function sized<T>(known: readonly T[], count: number): (T | undefined)[] {
  return Array.from({ length: Math.max(count, known.length) }, (_, index) => known[index])
}

/** The place of a deal, or null if it is not known. */
export function placeOf({ columns }: BoardData, id: number): Place | null {
  for (const [column, { cards }] of columns.entries()) {
    const row = cards.findIndex(card => card?.id === id)
    if (row >= 0) return { column, row }
  }
  return null
}

/** The board without the cards of some stages. */
export function withoutCards(board: BoardData, stages: readonly number[]): BoardData {
  return stages.reduce((found, stage) => mapColumn(found, stage, column => ({ ...column, cards: [] })), board)
}

/** The board with a deal in another column, at `row`; the sums follow by that deal. */
export function moved(board: BoardData, id: number, stage: number, row: number): BoardData {
  const place = placeOf(board, id)
  if (!place) return board
  const from = board.columns[place.column]!
  const deal = from.cards[place.row]!
  const without = mapColumn(board, from.id, column => added(column, deal, -1, board.currency.code, place.row))
  return mapColumn(without, stage, column =>
    added(column, { ...deal, pipeline_stage: stage }, 1, board.currency.code, row),
  )
}

/** The board with a saved deal in its place. */
export function replaced(board: BoardData, deal: Deal): BoardData {
  const place = placeOf(board, deal.id)
  if (!place) return board
  const { id, cards } = board.columns[place.column]!
  const before = cards[place.row]!
  const names = { ...before._expanded, ...deal._expanded }
  const card = { ...before, ...deal, _expanded: names }
  return mapColumn(board, id, column => ({ ...column, cards: cards.with(place.row, card) }))
}

/** The column with a deal more or less. */
function added(column: Column, deal: Deal, sign: 1 | -1, baseCode: string, row: number): Column {
  const at = Math.min(row, column.cards.length)
  const cards = sign === 1 ? column.cards.toSpliced(at, 0, deal) : column.cards.toSpliced(at, 1)
  const { value: base } = (deal.deal_value_in_base_currency ?? {}) as { value?: number }
  const { value: own, currency_code: code } = (deal.deal_value ?? {}) as {
    value?: number
    currency_code?: string
  }
  const count = column.count + sign
  const counted = { ...column, count, cards }
  if (column.value === undefined || column.weighted_value === undefined) return counted
  const digits = decimalsOf(baseCode)
  const value = exactSum(column.value, sign * (base ?? 0), digits)
  return {
    ...counted,
    value,
    // As in the service: the sum is weighted, then rounded.
    weighted_value: weigh(value, column.probability, digits),
    by_currency: withAmount(
      column.by_currency ?? [],
      code ?? null,
      sign * (own ?? 0),
      own === undefined ? 0 : sign,
    ),
    without_rate: (column.without_rate ?? 0) + (own !== undefined && base === undefined ? sign : 0),
  }
}

function withAmount(
  amounts: readonly Amount[],
  code: string | null,
  value: number,
  count: number,
): readonly Amount[] {
  if (count === 0) return amounts
  const index = amounts.findIndex(({ currency_code }) => currency_code === code)
  const before = amounts[index] ?? { value: 0, currency_code: code, count: 0 }
  const after = {
    ...before,
    value: exactSum(before.value, value, decimalsOf(code)),
    count: before.count + count,
  }
  const others = amounts.filter((_, at) => at !== index)
  return after.count === 0 ? others : [...others, after]
}

const decimals = new Map<string, number>()

/** Number of a currency's decimals: 2 for EUR, 0 for JPY, 3 for KWD. */
function decimalsOf(code: string | null): number {
  if (!code) return 2
  if (!decimals.has(code)) {
    const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
    }).resolvedOptions()
    decimals.set(code, maximumFractionDigits)
  }
  return decimals.get(code)!
}

/** The sum of two amounts, without errors of binary fractions. */
function exactSum(one: number, other: number, digits: number): number {
  const unit = 10 ** digits
  return Math.round(one * unit + other * unit) / unit
}

/** The share of an amount, rounded half to even as the service does (D24). */
function weigh(value: number, percent: number, digits: number): number {
  const unit = 10 ** digits
  // Hundredths of a percent of the smallest unit, as a whole number.
  const product = BigInt(Math.round(value * unit)) * BigInt(Math.round(percent * 100))
  const [whole, rest] = [product / 10_000n, product % 10_000n]
  const isUp = rest > 5000n || (rest === 5000n && whole % 2n === 1n)
  return Number(isUp ? whole + 1n : whole) / unit
}

/**
 * Row of a deal in a column with the list's order: before the first known card that follows it. Without a
 * known order it comes first, where it is visible.
 */
export function rowFor(column: Column, deal: Deal, sort: string): number {
  const [field = '', direction = 'asc'] = sort.split(',')[0]!.split(':')
  const key = ({ [field]: value }: Deal) =>
    value !== null && typeof value === 'object' ? (value as { value?: unknown }).value : value
  const own = key(deal)
  if (own === undefined || field === 'updated_at' || field === 'deal_stage_updated_at') return 0
  const isAfter = (card: Deal) => {
    const other = key(card)
    if (other === null || other === undefined) return false
    if (own === null) return true
    const difference = own < other ? -1 : own > other ? 1 : 0
    return direction === 'desc' ? difference < 0 : difference > 0
  }
  const row = column.cards.findIndex(card => !card || !isAfter(card))
  return row < 0 ? column.cards.length : row
}

export function mapColumn(board: BoardData, id: number, change: (column: Column) => Column): BoardData {
  return { ...board, columns: board.columns.map(column => (column.id === id ? change(column) : column)) }
}
