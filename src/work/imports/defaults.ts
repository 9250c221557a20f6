/**
 * Values for all rows (D80): defaults of fields that a row leaves empty. They are added to the rows as cells
 * of additional columns, so they are converted like cells. Pure.
 */
import { type ProblemCode, type Problems, problemAt } from '../../errors.ts'
import { isBlank } from '../../fields/blank.ts'
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import { isStorable } from '../../fields/code-points.ts'
import { kinds } from '../../fields/kinds.ts'
import type { Cell } from '../../files/read.ts'
import { numberOf } from '../../files/texts.ts'
import { asText, isNumber, isObject, type Json, type JsonObject, pointerStep } from '../../json.ts'
import type { NameLookup } from '../../records/name-lookup.ts'
import { parseContextOf } from '../../records/parse.ts'
import { currencyOf } from './amounts.ts'
import { isOutOfPlace } from './closing.ts'
import { currencyNamed } from './column-currency.ts'
import type { Mapping } from './guess.ts'
import { type Place, placesOf } from './targets.ts'

/** target → value, in the form of a body */
export type Defaults = { readonly [field: string]: Json }

/** True if a target is a field of the record itself, or a part of one, that can have a default. */
function takesDefault({ isNested, form, member }: Place): boolean {
  if (isNested || form === 'status' || form === 'name') return false
  return member === null || (form !== 'emails' && form !== 'phones')
}

/** The valid defaults of those sent; adds the problems. Blanks and null are left out. */
export function judgedDefaults(
  sent: Json,
  schema: ResourceSchema,
  catalog: Catalog,
  names: NameLookup,
  problems: Problems,
): Defaults {
  const defaults: { [field: string]: Json } = {}
  const wrong = (path: string, code: ProblemCode, message: string) =>
    void problems.add(() => problemAt(path, code, message))
  if (!isObject(sent)) {
    wrong('/defaults', 'wrong_type', 'defaults must be an object, from a target to its value.')
    return defaults
  }
  const places = placesOf(catalog, schema)
  const beside = (name: string) => (Object.hasOwn(sent, name) ? sent[name]! : null)
  // Collects the problems that the value would have in a body.
  const validate = ({ of }: Place, value: Json, path: string) => {
    const found = { catalog, problems, warnings: [], references: [], nested: [], names }
    kinds[of.type].parse(value, parseContextOf(of, path, found, beside), null)
    if (found.nested.length === 0) return
    const message = `${of.internal_name} must name a record that is there: each row would make another.`
    problems.add(() => ({ ...problemAt(path, 'wrong_type', message), field: of.internal_name }))
  }
  for (const [field, value] of Object.entries(sent)) {
    const place = places.get(field)
    const path = `/defaults/${pointerStep(field)}`
    if (!place || !takesDefault(place))
      wrong(path, 'unknown_field', `${field} is no field of the record of which all rows can have a value.`)
    else if (isBlank(value)) continue
    else if (place.member === null) {
      defaults[field] = value
      validate(place, value, path)
    } else {
      const part = partOf(place, value, catalog)
      if (part === undefined)
        wrong(path, 'invalid_value', `${place.label} can't be ${JSON.stringify(value)}.`)
      else defaults[field] = part
    }
  }
  return defaults
}

/** A part of a value: a currency by its code, an amount, or a text; undefined if it is invalid. */
function partOf({ form }: Place, value: Json, catalog: Catalog): Json | undefined {
  if (form === 'currency') {
    const known = typeof value === 'string' ? currencyOf(value.trim(), catalog) : undefined
    const found = known ?? catalog.currencies.get(Number(asText(value)))
    return found?.is_active ? found.code : undefined
  }
  if (form === 'number') return isNumber(value) ? value : undefined
  return typeof value === 'string' && isStorable(value) ? value : undefined
}

/** Currencies in column names, for all rows: "Amount (EUR)". `names`: the columns of the file. */
export function currenciesNamed(
  mapping: Mapping,
  names: readonly string[],
  places: ReadonlyMap<string, Place>,
  catalog: Catalog,
): Defaults {
  const named = mapping.flatMap(({ column, field }): [field: string, code: string][] => {
    const code = currencyNamed(names[column]!, catalog)?.code
    const target = `${field.replace(/\.(?:value|price)$/, '')}.currency`
    const place = places.get(target)
    const isOpen = place && takesDefault(place) && !mapping.some(one => one.field === target)
    return code !== undefined && isOpen ? [[target, code]] : []
  })
  return Object.fromEntries(named)
}

type FilledRow = { readonly cells: readonly Cell[]; readonly used: readonly string[] }

export type Filler = {
  /** the mapping, with the columns of the values for all rows */
  readonly mapping: Mapping
  readonly names: readonly string[]
  fill(cells: readonly Cell[]): FilledRow
}

/** `names`: the columns of the file. */
export function fillerOf(
  { mapping, defaults = {} }: { readonly mapping: Mapping; readonly defaults?: Defaults },
  names: readonly string[],
): Filler {
  const added = Object.entries(defaults).map(([field, value], index) => ({
    ...{ field, value, column: names.length + index },
    says: saying(field, mapping),
  }))
  if (added.length === 0) return { mapping, names, fill: cells => ({ cells, used: [] }) }
  return {
    // The row's own columns come later, so they override the defaults.
    mapping: [...added.map(({ column, field }) => ({ column, field })), ...mapping],
    names: [...names, ...added.map(() => 'for all rows')],
    fill: cells => {
      const all = names.map((_, column) => cells[column] ?? null)
      const used = added.filter(({ says }) => !says(cells))
      for (const { column, value } of used) all[column] = value
      return { cells: all, used: used.map(({ field }) => field) }
    },
  }
}

/** True if the cells of a row have a value of a target, a part of it, or a value that contains it. */
function saying(field: string, mapping: Mapping): (cells: readonly Cell[]) => boolean {
  const within = mapping.filter(one => one.field === field || one.field.startsWith(`${field}.`))
  const wholes = mapping.filter(one => field.startsWith(`${one.field}.`))
  return cells =>
    within.some(({ column }) => !isBlank(cells[column] ?? null)) ||
    wholes.some(({ column }) => hasParts(cells[column]))
}

/** True if a cell has an amount with its currency, or all of a value as JSON. */
function hasParts(cell: Cell | undefined): boolean {
  if (typeof cell !== 'string') return isObject(cell)
  const read = numberOf(cell.trim(), undefined)
  // Both readings of an unclear number have the same unit.
  const number = read === 'unclear' ? numberOf(cell.trim(), '.') : read
  return /^\s*[[{]/.test(cell) || Boolean(number?.unit)
}

/** Removes fields that only a deal closed that way has, if they came from the values for all rows. */
export function dropOutOfPlace(body: JsonObject, used: readonly string[], catalog: Catalog): void {
  for (const field of used.filter(one => isOutOfPlace(one, body, catalog))) delete body[field]
}
