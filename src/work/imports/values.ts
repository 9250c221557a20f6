/**
 * The texts of columns that name no option, stage, currency, user, tag or territory, with suggestions (D80).
 */
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import { findOption } from '../../fields/kinds/dropdown.ts'
import { comparedName } from '../../fields/name.ts'
import { nearest } from '../../fields/nearest.ts'
import { bareName } from '../../fields/synonyms.ts'
import { jsonList, markedItemsOf } from '../../files/texts.ts'
import { fullNames } from '../../records/like-names.ts'
import { memoize } from '../../waiting/memoize.ts'
import { currencyOf } from './amounts.ts'
import { isYesNo } from './cell-options.ts'
import { divided } from './cell-values.ts'
import type { Mapping } from './guess.ts'
import { type Place, placesOf } from './targets.ts'

/** a text may name what is inactive, but the guess never does */
export type Choice = {
  readonly id: number
  readonly name: string
  readonly email?: string
  readonly isInactive?: boolean
}

/** The records of resources, by their names; texts of an absent resource can't be judged. */
export type Choices = ReadonlyMap<string, readonly Choice[]>

/** `guess`: the id of an option or record, or the code of a currency; null: no match. */
export type UnknownText = { readonly text: string; readonly guess: number | string | null }
export type ValuesToMap = readonly {
  readonly column: number
  readonly field: string
  readonly texts: readonly UnknownText[]
}[]

/** Maximum number of unknown texts returned for a column; one with more is no list of options. */
const textsMax = 500
/**
 * Limits for all columns: distinct texts examined, guesses made, guesses by spelling, and names compared for
 * these.
 */
const limits = { looked: 20_000, guessed: 1000, near: 30, compared: 500_000 }
const choicesMax = 200

/**
 * `values`: the distinct texts of each column. `choices`: the records whose names and e-mails are known;
 * columns of other resources are left out.
 */
export function valuesToMap(
  catalog: Catalog,
  schema: ResourceSchema,
  mapping: Mapping,
  values: ReadonlyMap<number, Iterable<string>>,
  choices: Choices = new Map(),
): ValuesToMap {
  const places = placesOf(catalog, schema)
  const left = { ...limits }
  return mapping.flatMap(({ column, field }) => {
    const place = places.get(field)
    const known = place && knowing(place, catalog, choices)
    if (!known) return []
    const unknown = new Set<string>()
    for (const cell of values.get(column) ?? [])
      for (const text of place.isSeveral ? severalOf(cell, place, known) : [cell.trim()])
        if (text !== '' && unknown.size < textsMax && left.looked-- > 0 && !known.has(text)) unknown.add(text)
    const texts = [...unknown].map(text => {
      const isGuessed = left.guessed-- > 0 && left.compared > 0
      if (isGuessed) left.compared -= known.count
      return { text, guess: isGuessed ? known.guess(text, left.near-- > 0) : null }
    })
    return texts.length ? [{ column, field, texts }] : []
  })
}

/** The values of a cell, split as convertOf splits them. */
function severalOf(cell: string, place: Place, known: TextMatcher): string[] {
  const list = jsonList(cell)
  if (list) return list.flatMap(item => (typeof item === 'string' ? [item.trim()] : []))
  const isOne = (item: string) => place.of.related === null && known.has(item)
  return markedItemsOf(cell).flatMap(({ item, isMarked }) =>
    isMarked ? [item] : divided(item, place, isOne),
  )
}

type TextMatcher = {
  /** how many names a text is compared with for a guess */
  readonly count: number
  has(text: string): boolean
  guess(text: string, isNear: boolean): number | string | null
}

function knowing({ form, of }: Place, catalog: Catalog, choices: Choices): TextMatcher | null {
  if (form === 'currency') {
    const codes = bared(catalog.currencyList.map(({ code, name }) => ({ id: code, name })))
    return {
      count: codes.length,
      has: text => currencyOf(text, catalog) !== undefined || catalog.currencies.has(idOf(text)),
      guess: (text, isNear) => likest(text, codes, isNear),
    }
  }
  if (form === 'option') {
    const options = of.options.filter(option => option.is_active)
    const bareOptions = bared(options)
    if (isYesNo(options)) return null
    return {
      count: bareOptions.length,
      has: text => findOption(text, options) !== undefined,
      guess: (text, isNear) => likest(text, bareOptions, isNear),
    }
  }
  const records = form === 'reference' ? choices.get(of.related!) : undefined
  if (!records) return null
  const { named, names } = namesOf(records)
  const { isPerson } = catalog.resources.get(of.related!)!.resource
  const waysOf = isPerson ? fullNames : (text: string) => [comparedName(text)]
  return {
    count: named.length,
    has: text => /^\d{1,15}$/.test(text) || waysOf(text).some(one => names.has(one)),
    guess: (text, isNear) => likest(text, named, isNear),
  }
}

/** The names that texts are compared with: computed once, however many columns name some of the records. */
const namesOf = memoize((records: readonly Choice[]) => ({
  named: bared(records.filter(({ isInactive }) => !isInactive)),
  names: new Set(records.flatMap(({ name, email }) => [name, email ?? name]).map(comparedName)),
}))

function idOf(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}

type NamedChoice<Id> = { readonly id: Id; readonly name: string; readonly bare: string }

function bared<Id>(
  choices: readonly { readonly id: Id; readonly name: string }[],
): readonly NamedChoice<Id>[] {
  return choices.map(({ id, name }) => ({ id, name, bare: bareName(name) }))
}

/** The choice whose name is the text, is in it or contains it; or is spelled alike. */
function likest<Id>(text: string, choices: readonly NamedChoice<Id>[], isNear: boolean): Id | null {
  const bare = bareName(text.slice(0, 300))
  if (bare === '') return null
  const same = choices.find(choice => choice.bare === bare)
  const within = choices.find(
    choice =>
      choice.bare.length > 2 &&
      (bare.includes(choice.bare) || (bare.length > 2 && choice.bare.includes(bare))),
  )
  if (same ?? within) return (same ?? within)!.id
  const near = isNear
    ? nearest(
        text,
        choices.slice(0, choicesMax).map(({ name }) => name),
      )
    : null
  return choices.find(({ name }) => name === near)?.id ?? null
}
