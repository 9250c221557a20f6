/**
 * Rows of a file → bodies of a resource (D80): those of POST, with names in place of ids (D75) and contacts
 * and companies to find or create; and the times that an import preserves. Pure.
 */
import type { Problem } from '../../errors.ts'
import { type Catalog, type ResourceSchema, shownField } from '../../fields/catalog.ts'
import type { Cell } from '../../files/read.ts'
import { itemsOf, jsonList, plainText } from '../../files/texts.ts'
import { isNumber, isObject, type Json, type JsonObject, pointerStep } from '../../json.ts'
import { Amount, currencyOf, isAmount, isSignOf } from './amounts.ts'
import { asObject, type ChosenValues, type Convert, convertOf, type Formats } from './cell-values.ts'
import { type Closing, close } from './closing.ts'
import { givePrice } from './column-currency.ts'
import { type EntryFields, entryForms, formOfWhole } from './entries.ts'
import { currencyOfRow, finishersOf } from './finish.ts'
import type { Mapping } from './guess.ts'
import { type Form, type Place, placesOf } from './targets.ts'

export type Plan = {
  readonly mapping: Mapping
  /** target → text of the file → its value; null: none */
  readonly values: { readonly [field: string]: ChosenValues }
  readonly formats: Formats
}

export type Converted = {
  readonly body: JsonObject
  /** the times and the author that the import sets beside the record, in UTC; only those that are mapped */
  readonly kept: JsonObject
  readonly problems: readonly Problem[]
  /** fields of which the row has single entries, not the whole list */
  readonly told: EntryFields
  /** fields that follow from others of the row: the record's stored values win */
  readonly derived: readonly string[]
  /** set if the row says that a deal is won or lost, and names neither its pipeline nor its stage */
  readonly closedBy: Closing['by']
}

type Step = {
  readonly column: number
  readonly name: string
  readonly place: Place
  readonly convert: Convert
}
type Draft = {
  readonly body: JsonObject
  readonly kept: JsonObject
  readonly problems: Problem[]
  /** the records that fields point to, by the field */
  readonly nested: Map<
    string,
    { readonly place: Place; readonly objects: JsonObject[]; readonly first: { step: Step; cell: Cell } }
  >
  /** the signs and codes beside amounts, with the objects that contain the amounts */
  readonly units: {
    readonly step: Step
    readonly cell: Cell
    readonly unit: string
    readonly object: JsonObject
  }[]
  readonly told: Map<string, { readonly form: Form; readonly types: Set<string> }>
  /** prices from columns in a currency of their own, by field */
  readonly prices: Map<string, JsonObject[]>
}

const shownMax = 100
/** Bounds of a cell, as each of its values is converted. */
const [listMax, itemsMax] = [50_000, 1000]

/**
 * Creates the function that converts a row. Unknown targets are left out. `columns`: the column names for
 * problems; default: a column's number.
 */
export function converter(
  catalog: Catalog,
  schema: ResourceSchema,
  plan: Plan,
  columns: readonly string[] = [],
): (cells: readonly Cell[]) => Converted {
  const places = placesOf(catalog, schema)
  const steps = plan.mapping.flatMap(({ column, field }): Step[] => {
    const place = places.get(field)
    if (!place) return []
    const values = Object.hasOwn(plan.values, field) ? plan.values[field]! : {}
    const name = columns[column] ?? String(column + 1)
    const convert = convertOf(place, { catalog, formats: plan.formats, values, isOurs: name === field })
    return [{ column, name, place, convert }]
  })
  const targets = steps.map(({ place }) => place)
  const byRecord = Map.groupBy(targets, ({ isNested, own }) => (isNested ? own.internal_name : null))
  const finishers = [...byRecord].map(([own, its]) => ({ own, all: finishersOf(its, catalog) }))
  return cells => {
    const draft: Draft = {
      ...{ body: {}, kept: {}, problems: [], units: [] },
      ...{ nested: new Map(), told: new Map(), prices: new Map() },
    }
    for (const step of steps) {
      const cell = cells[step.column]
      if (cell !== undefined && cell !== null && cell !== '') take(step, cell, draft, catalog)
    }
    for (const unit of draft.units) setCurrency(unit, draft, catalog)
    const currency = currencyOfRow(draft.body, targets)
    for (const { own, all } of finishers)
      for (const record of own === null ? [draft.body] : (draft.nested.get(own)?.objects ?? []))
        for (const finish of record ? all : []) finish(record, currency, draft.prices)
    const isDeal = schema.resource.name === 'deal'
    const { isDated, by } = isDeal ? close(draft.body, draft.kept, catalog) : openOrNone
    if (draft.nested.size) addNested(draft, catalog)
    const { body, kept, problems, told } = draft
    return { body, kept, problems, told, closedBy: by, derived: isDated ? ['deal_closed_on'] : [] }
  }
}

const openOrNone: Closing = { isDated: false, by: null }

function take(step: Step, cell: Cell, draft: Draft, catalog: Catalog): void {
  const { place, convert } = step
  const addProblem = (predicate: string, hint: string) => {
    draft.problems.push(problemOf(step, cell, predicate, hint))
    return undefined
  }
  const give = (object: JsonObject, value: Json | Amount) => {
    if (!(value instanceof Amount)) {
      // A whole amount in the column of its number.
      if (isAmount(place) && typeof value === 'object') object[place.of.internal_name] = value
      else put(object, place, value)
      return
    }
    const { of, form, member } = place
    const name = member ?? (form === 'money' ? 'value' : 'price')
    object[of.internal_name] = { ...asObject(object[of.internal_name]), [name]: value.number }
    if (value.unit !== '') draft.units.push({ step, cell, unit: value.unit, object })
  }
  if ((place.isListed || place.isSeveral) && isTooLong(cell)) {
    addProblem('has too many values', `Several values have at most ${listMax} characters.`)
    return
  }
  const own = place.own.internal_name
  if (place.isListed) {
    const items =
      typeof cell === 'string' ? (jsonList(cell) ?? itemsOf(cell)) : Array.isArray(cell) ? cell : [cell]
    const ids: number[] = []
    for (const [index, item] of items.entries()) {
      const id = ownId(step, item)
      const value = id ?? convert(item, addProblem)
      if (id !== null) ids.push(id)
      else if (value !== undefined) give(nestedObject(draft, step, cell, index), value)
    }
    const before = draft.body[own]
    if (ids.length) draft.body[own] = Array.isArray(before) ? [...before, ...ids] : ids
    return
  }
  const id = ownId(step, cell)
  if (id !== null) {
    draft.body[own] = id
    return
  }
  const value = convert(cell, addProblem)
  if (value === undefined) return
  if (!place.isNested && entryForms.has(formOfWhole(place)) && !isWhole(cell)) noteEntryField(draft, place)
  if (place.currency !== null) givePrice(place, value, draft.prices, catalog, addProblem)
  else if (place.isKept && !(value instanceof Amount)) draft.kept[place.field] = value
  else give(place.isNested ? nestedObject(draft, step, cell, 0) : draft.body, value)
}

/**
 * The id in a cell of a column that has our field's name and names the records it points to. Digits are an id
 * there (D75), as in our exports of records without a unique name (D81).
 */
function ownId({ name, place: { of, own, form, isNested } }: Step, cell: Cell): number | null {
  const isNaming = form === 'name' || form === 'emails' || of.internal_name === 'name'
  if (!isNested || !isNaming || name !== own.internal_name) return null
  const text = isNumber(cell) ? plainText(cell) : typeof cell === 'string' ? cell.trim() : ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** JSON is the whole list; anything else is one entry. */
function isWhole(cell: Cell): boolean {
  return typeof cell === 'string' ? /^\s*[[{]/.test(cell) : Array.isArray(cell) || isObject(cell)
}

function noteEntryField({ told }: Draft, place: Place): void {
  const name = place.of.internal_name
  const types = told.get(name)?.types ?? new Set()
  if (place.member !== null) types.add(place.member)
  told.set(name, { form: formOfWhole(place), types })
}

function isTooLong(cell: Cell): boolean {
  return typeof cell === 'string'
    ? cell.length > listMax
    : Array.isArray(cell) && (cell.length > itemsMax || JSON.stringify(cell).length > listMax)
}

function problemOf({ name, place }: Step, cell: Cell, predicate: string, hint: string): Problem {
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  const shown = JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text)
  const path = place.field.split('.').map(step => `/${pointerStep(step)}`)
  const message = `Column "${name}": ${shown} ${predicate}.`
  return { field: place.field, path: path.join(''), code: 'unconvertible', message, hint, column: name }
}

function nestedObject({ nested }: Draft, step: Step, cell: Cell, index: number): JsonObject {
  const { place } = step
  const name = place.own.internal_name
  let found = nested.get(name)
  if (!found) {
    found = { place, objects: [], first: { step, cell } }
    nested.set(name, found)
  }
  found.objects[index] ??= {}
  return found.objects[index]
}

/** Adds a value to a record, or a part to one of its values. */
function put(object: JsonObject, { of, form, member }: Place, value: Json): void {
  const name = of.internal_name
  const before = object[name]
  // A part in a column of its own takes precedence.
  if (form === 'name') Object.assign(object, { ...asObject(value), ...object })
  else if (form === 'emails' || form === 'phones') {
    const items = Array.isArray(value) ? value : [value]
    object[name] = Array.isArray(before) ? [...before, ...items] : items
  } else if (member === null)
    object[name] = isObject(value) && isObject(before) ? { ...value, ...before } : value
  else object[name] = { ...asObject(before), [member]: value }
}

/** The sign beside an amount sets its currency if no other cell does. It must not contradict one. */
function setCurrency(
  { step, cell, unit, object }: Draft['units'][number],
  draft: Draft,
  catalog: Catalog,
): void {
  const { internal_name: name } = step.place.of
  const { currency: told, ...amount } = asObject(object[name])
  const currency = told === undefined ? currencyOf(unit, catalog)?.code : undefined
  if (currency) object[name] = { currency, ...amount }
  else if (told === undefined) {
    const hint = 'Write the code of the currency, such as 100 EUR, in place of the sign.'
    draft.problems.push(problemOf(step, cell, 'does not say in which currency of the account it is', hint))
  } else if (!isSignOf(unit, told, catalog)) {
    const predicate = `is not in ${JSON.stringify(told)}, as another column says`
    draft.problems.push(problemOf(step, cell, predicate, 'Correct one of the two, or leave the sign out.'))
  }
}

/** The records that fields point to: found by their names, or else created. */
function addNested({ nested, body, problems }: Draft, catalog: Catalog): void {
  for (const [name, { place, objects, first }] of nested) {
    if (body[name] === undefined && !objects.some(object => object && isNamed(object, place, catalog))) {
      const predicate = `is of a ${place.own.related} that the row does not name`
      problems.push(problemOf(first.step, first.cell, predicate, 'Name it in its own column.'))
      continue
    }
    const found = objects.filter(object => object !== undefined && Object.keys(object).length > 0)
    const all = found.map(object => withFindBy(object, place, catalog))
    if (all.length === 0) continue
    if (place.isListed) body[name] = [...(Array.isArray(body[name]) ? body[name] : []), ...all]
    // An id or a name in a column of its own takes precedence.
    else body[name] ??= all[0]!
  }
  for (const { place } of nested.values()) if (!place.isListed) join(body, place, catalog)
}

/** True if a record has any value that could name it. */
function isNamed(object: JsonObject, { own }: Place, catalog: Catalog): boolean {
  const { namedBy = [], shownAs } = catalog.resources.get(own.related!)!.resource
  return [...namedBy, ...shownAs].some(name => object[name] !== undefined)
}

/** If a person named by a row is created, the person belongs to the row's company. */
function join(body: JsonObject, { own }: Place, catalog: Catalog): void {
  const field = shownField(catalog.resources.get(own.related!)!, 'company')
  const person = body[own.internal_name]
  if (!field || field.is_read_only || !isObject(person)) return
  if (body.company !== undefined) person.company ??= body.company
}

function withFindBy(object: JsonObject, { own }: Place, catalog: Catalog): JsonObject {
  const { resource, byName } = catalog.resources.get(own.related!)!
  const by = resource.namedBy?.find(name => object[name] !== undefined)
  const last = resource.shownAs.at(-1)!
  const [email] = itemsWith(object.emails)
  // The e-mail serves as the name of a person if nothing else is known.
  const called = object[last] === undefined && byName.get(last)?.is_required && email
  const named = called ? { ...object, [last]: called.split('@')[0]! } : object
  return by === undefined ? named : { ...named, find_by: by.replace(/s$/, '') }
}

function itemsWith(emails: Json | undefined): string[] {
  return Array.isArray(emails)
    ? emails.flatMap(item =>
        isObject(item) && typeof item.email_value === 'string' ? [item.email_value] : [],
      )
    : []
}
