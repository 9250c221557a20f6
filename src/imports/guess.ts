/**
 * What the columns of a file are: guessed by our names and labels, by the names that other systems write in
 * their exports, by synonyms, and by what stands in the cells (D80). A person looks at it before it counts.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { findOption } from '../fields/kinds/dropdown.ts'
import { comparedName } from '../fields/name.ts'
import { nearest } from '../fields/nearest.ts'
import { bareName } from '../fields/synonyms.ts'
import { inTurns } from '../in-turns.ts'
import { currencyOf } from './amounts.ts'
import { candidatesFor, indexOf, scores } from './candidates.ts'
import { Contents } from './contents.ts'
import type { Cell } from './read.ts'
import { type Place, placesOf, type Target } from './targets.ts'
import { type System, type Template, templates } from './templates.ts'
import { itemsOf } from './texts.ts'

/** A column that is not there is ignored, and so is the second of two with the same target. */
export type Mapping = readonly { readonly column: number; readonly field: string }[]

type Candidate = { readonly column: number; readonly field: string; readonly score: number }

/** What a guess is worth whose cells are something else. */
const misfit = 0.3
const scoreMin = 0.35
/** How many names of a system's export a file must have to be one. */
const systemMin = 2

/** All that a column may be mapped to, in the order of the form. */
export function targetsOf(catalog: Catalog, fields: ResourceFields): readonly Target[] {
  return [...placesOf(catalog, fields).values()].map(({ field, label, type, isRequired, options }) => ({
    ...{ field, label, type, isRequired },
    ...(options ? { options } : {}),
  }))
}

/**
 * The likeliest target of each column; each target once. `samples`: the first rows. `system`: whose export it
 * is; found out when it is left out.
 */
export async function guessMapping(
  catalog: Catalog,
  fields: ResourceFields,
  columns: readonly string[],
  samples: readonly (readonly Cell[])[],
  system: System | null = systemOf(fields.resource.name, columns),
): Promise<Mapping> {
  const places = placesOf(catalog, fields)
  const template = system ? (templates[system][fields.resource.name] ?? {}) : {}
  const index = indexOf(places, fields, template)
  const candidates = await inTurns([...columns.entries()], ([column, name]): Candidate[] => {
    // The name that a field or a part of it has in the interface leaves no doubt, whatever the cells are.
    const isExact = index.byName.has(name) || places.has(name)
    const contents = new Contents(
      samples.map(cells => cells[column]),
      catalog,
    )
    return candidatesFor(name, contents, index).map(({ field, score }) => {
      const place = places.get(field)!
      // What may not be named can be told by ids alone.
      const isNamed = place.form !== 'reference' || catalog.resources.has(place.of.related!)
      const fits = contents.fit(place.form) && (isNamed || contents.isEmpty || contents.areIds)
      if (isExact && score >= scores.same) return { column, field, score: scores.exact }
      return { column, field, score: fits ? score : score * misfit }
    })
  })
  return chosen(candidates.flat())
}

/** The system whose export has most of the columns; null where none has two of them. */
export function systemOf(resource: string, columns: readonly string[]): System | null {
  const names = new Set(columns.map(bareName))
  const counts = (Object.keys(templates) as System[]).map(system => {
    const template: Template = templates[system][resource] ?? {}
    return { system, count: Object.keys(template).filter(name => names.has(bareName(name))).length }
  })
  const best = counts.reduce((one, other) => (other.count > one.count ? other : one))
  return best.count >= systemMin ? best.system : null
}

/** The best first; a column and a target have one guess. */
function chosen(candidates: readonly Candidate[]): Mapping {
  const [columns, targets, wholes] = [new Set<number>(), new Set<string>(), new Set<string>()]
  const taken: Candidate[] = []
  for (const one of candidates.toSorted((a, b) => b.score - a.score || a.column - b.column)) {
    if (one.score < scoreMin || columns.has(one.column) || targets.has(one.field)) continue
    if (one.score < scores.exact && isSaidBetter(one.field, targets, wholes)) continue
    columns.add(one.column)
    targets.add(one.field)
    wholes.add(wholeOf(one.field))
    taken.push(one)
  }
  return taken.sort((a, b) => a.column - b.column).map(({ column, field }) => ({ column, field }))
}

/** Whether other columns have the parts, where this one has the whole; or the other way round. */
function isSaidBetter(field: string, targets: ReadonlySet<string>, wholes: ReadonlySet<string>): boolean {
  // Addresses and numbers of several kinds stand beside each other.
  const isList = (one: string) => /(?:emails|phones)$/.test(one)
  const whole = wholeOf(field)
  if (whole !== field && targets.has(whole) && !isList(whole)) return true
  if (/(?:^|\.)name$/.test(field)) return targets.has(field.replace(/name$/, 'last_name'))
  if (/(?:^|\.)(?:first|last)_name$/.test(field))
    return targets.has(field.replace(/(?:first|last)_name$/, 'name'))
  return !isList(field) && !targets.has(field) && wholes.has(field)
}

/** `deal_value` of `deal_value.currency`; what is no part is its own whole. */
function wholeOf(field: string): string {
  return field.replace(/\.[^.]*$/, '')
}

export type Choice = { readonly id: number; readonly name: string; readonly email?: string }

/** `guess`: the id of an option or record, or the code of a currency; null: none is like it. */
export type UnknownText = { readonly text: string; readonly guess: number | string | null }
export type ValuesToMap = readonly {
  readonly column: number
  readonly field: string
  readonly texts: readonly UnknownText[]
}[]

/** How many unknown texts of a column are told; a column with more is not one of a list. */
const textsMax = 500
/** Of all columns: how many texts are looked at, for how many something like them is looked for, and how. */
const limits = { looked: 20_000, guessed: 1000, near: 30 }
const choicesMax = 200

/**
 * `values`: the different texts of each column. `people`: those whose names and e-mails are known, for
 * columns of users; without them such columns are left out, as those of other records are.
 */
export function valuesToMap(
  catalog: Catalog,
  fields: ResourceFields,
  mapping: Mapping,
  values: ReadonlyMap<number, Iterable<string>>,
  people: readonly Choice[] = [],
): ValuesToMap {
  const places = placesOf(catalog, fields)
  const left = { ...limits }
  return mapping.flatMap(({ column, field }) => {
    const place = places.get(field)
    const known = place && knowing(place, catalog, people)
    if (!known) return []
    const unknown = new Set<string>()
    for (const cell of values.get(column) ?? [])
      for (const text of place.isSeveral ? itemsOf(cell) : [cell.trim()])
        if (text !== '' && unknown.size < textsMax && left.looked-- > 0 && !known.has(text)) unknown.add(text)
    const texts = [...unknown].map(text => ({
      text,
      guess: left.guessed-- > 0 ? known.guess(text, left.near-- > 0) : null,
    }))
    return texts.length ? [{ column, field, texts }] : []
  })
}

type Knowing = { has(text: string): boolean; guess(text: string, isNear: boolean): number | string | null }

function knowing({ form, of }: Place, catalog: Catalog, people: readonly Choice[]): Knowing | null {
  if (form === 'currency') {
    const codes = bared(catalog.currencyList.map(({ code, name }) => ({ id: code, name })))
    return {
      has: text => currencyOf(text, catalog) !== undefined || catalog.currencies.has(idOf(text)),
      guess: (text, isNear) => likest(text, codes, isNear),
    }
  }
  if (form === 'option') {
    const options = of.options.filter(option => option.is_active)
    const named = bared(options)
    const isYesNo = options.length === 2 && options.some(({ name }) => name === 'Yes')
    if (isYesNo) return null
    return {
      has: text => findOption(text, options) !== undefined,
      guess: (text, isNear) => likest(text, named, isNear),
    }
  }
  if (form !== 'reference' || of.related !== 'user' || people.length === 0) return null
  const named = bared(people)
  const names = new Set(people.flatMap(({ name, email }) => [name, email ?? name]).map(comparedName))
  return {
    has: text => /^\d{1,15}$/.test(text) || names.has(comparedName(text)),
    guess: (text, isNear) => likest(text, named, isNear),
  }
}

function idOf(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}

type Named<Id> = { readonly id: Id; readonly name: string; readonly bare: string }

function bared<Id>(choices: readonly { readonly id: Id; readonly name: string }[]): readonly Named<Id>[] {
  return choices.map(({ id, name }) => ({ id, name, bare: bareName(name) }))
}

/** The choice whose name is the text, is in it or has it within; or that is spelt alike. */
function likest<Id>(text: string, choices: readonly Named<Id>[], isNear: boolean): Id | null {
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
