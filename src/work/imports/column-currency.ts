/**
 * The currency in the name of a column: "Price (EUR)", "price_usd", "USD price" (D80). It tells several
 * prices of one product apart. Pure.
 */
import type { Catalog } from '../../fields/catalog.ts'
import { bareName } from '../../fields/synonyms.ts'
import type { Json } from '../../json.ts'
import { Amount, currencyOf, isInUse, isSignOf } from './amounts.ts'
import type { AddProblem } from './cell-values.ts'
import { namedById } from './column-name.ts'
import type { Contents } from './contents.ts'
import { type Place, priceTarget } from './targets.ts'

export type NamedCurrency = {
  readonly code: string
  /** the name without the currency */
  readonly rest: string
}

/**
 * A currency in brackets, or as the first or last word. As a word it must have a rate in the account: a "top
 * price" is not in paʻanga.
 */
export function currencyNamed(name: string, catalog: Catalog): NamedCurrency | null {
  const bracket = /^(.*\S)\s*[([]([^()[\]]*)[)\]]\s*$/.exec(name)
  const inBrackets = bracket && currencyOf(bracket[2]!.trim(), catalog)
  if (inBrackets?.is_active) return { code: inBrackets.code, rest: bracket![1]! }
  const words = name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .split(/[\s_.:/-]+/)
    .filter(word => word !== '')
  if (words.length < 2) return null
  for (const at of [words.length - 1, 0]) {
    const found = currencyOf(words[at]!, catalog)
    if (!found || !isInUse(found, catalog)) continue
    const others = words.toSpliced(at, 1)
    const rest = at > 0 && /^in$/i.test(others.at(-1)!) ? others.slice(0, -1) : others
    return { code: found.code, rest: rest.join(' ') }
  }
  return null
}

/** The name without its qualifiers: a currency, or "Id" if the cells are no ids. */
export function lessSaid(name: string, contents: Contents, catalog: Catalog): string[] {
  const named = contents.isEmpty || contents.areCodes ? null : namedById(name)
  const { rest } = currencyNamed(name, catalog) ?? {}
  return [rest ?? '', named ?? ''].map(bareName).filter(bare => bare !== '')
}

type ColumnCandidates<C> = {
  readonly candidates: readonly C[]
  readonly unmapped: { readonly field: string | null }
}

/**
 * The candidates of columns if several are prices of one product: each column that names a currency is the
 * price in it. `columns`: their names, in the order of `looked`.
 */
export function pricesApart<C extends { readonly field: string }, L extends ColumnCandidates<C>>(
  looked: readonly L[],
  columns: readonly string[],
  { places, catalog }: { readonly places: ReadonlyMap<string, Place>; readonly catalog: Catalog },
): readonly L[] {
  const priceOf = ({ field }: C) => {
    const place = places.get(field)
    return place && (place.form === 'prices' || place.member === 'price') ? place.of.internal_name : undefined
  }
  const counts = new Map<string, number>()
  for (const { candidates } of looked)
    for (const name of new Set(candidates.map(priceOf)))
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  if (![...counts.values()].some(count => count > 1)) return looked
  return looked.map((one, index) => {
    const code = currencyNamed(columns[index]!, catalog)?.code
    const candidates = one.candidates.map(candidate => {
      const name = priceOf(candidate)
      if (name === undefined || counts.get(name) === 1) return candidate
      const own = code === undefined ? `${name}.price` : priceTarget(name, code)
      return places.has(own) ? { ...candidate, field: own } : candidate
    })
    const field = candidates[0]?.field ?? one.unmapped.field
    return { ...one, candidates, unmapped: { ...one.unmapped, field } }
  })
}

/** Adds one of several prices, in the currency of its column. */
export function givePrice(
  { of, currency }: Place,
  value: Json | Amount,
  prices: Map<string, Json[]>,
  catalog: Catalog,
  addProblem: AddProblem,
): void {
  if (!(value instanceof Amount)) addProblem('is more than a price', `Map the column to ${of.internal_name}.`)
  else if (value.unit !== '' && !isSignOf(value.unit, currency, catalog))
    addProblem(`is not in ${currency}, as its column is`, 'Correct one of the two, or leave the sign out.')
  else {
    const entries = prices.get(of.internal_name) ?? []
    prices.set(of.internal_name, [...entries, { currency, unit_price: value.number }])
  }
}
