/**
 * Converts cells: a function for each form of target, created once for a file. Each returns a value that the
 * interface takes, or undefined after a problem. Knows no record.
 */
import { type Catalog, shownField } from '../../fields/catalog.ts'
import { findOption, writtenId } from '../../fields/kinds/dropdown.ts'
import { momentIn } from '../../fields/local-times.ts'
import type { Cell } from '../../files/read.ts'
import {
  type DateOrder,
  type DecimalMark,
  dayOf,
  isWritten,
  json,
  jsonList,
  markedItemsOf,
  momentOf,
  numberOf,
  plainText,
  shownNumber,
  timeOf,
  type WrittenNumber,
} from '../../files/texts.ts'
import { isNumber, isObject, type Json, type JsonObject, type RawNumber } from '../../json.ts'
import { Amount, currencyOf, isAmount, isCurrency } from './amounts.ts'
import { emailsOf, phonesOf, splitName } from './cell-contacts.ts'
import { optionValue } from './cell-options.ts'
import { rangeReader } from './cell-ranges.ts'
import type { Place } from './targets.ts'

export type Formats = { readonly date?: DateOrder; readonly decimal?: DecimalMark }
/** The user's choice of a value for each text; null: the text is left out. */
export type ChosenValues = { readonly [text: string]: Json }
/** Reports a problem of a cell: a predicate, such as "is no number", and a hint. */
export type AddProblem = (predicate: string, hint: string) => undefined
/** Converts a cell that is not empty; undefined: no value. */
export type Convert = (cell: Cell, addProblem: AddProblem) => Json | Amount | undefined

type ConversionContext = {
  readonly catalog: Catalog
  readonly formats: Formats
  readonly values: ChosenValues
  /** true if the column is called as the field, as in our exports */
  readonly isOurs: boolean
}
type ConvertText = (text: string, addProblem: AddProblem) => Json | Amount | undefined

/** The converter for cells of a target. It takes any JSON. */
export function convertOf(place: Place, given: ConversionContext): Convert {
  const ofText = textConversion(place, given)
  return (cell, addProblem) => {
    if (isWritten(cell) && place.form !== 'json') return ofUnit(cell, place, addProblem, ofText)
    if (typeof cell === 'string') {
      // Blanks are a text, and no value of any other form.
      if (place.form !== 'text' && cell.trim() === '') return undefined
      return ofText(cell, addProblem)
    }
    if (isNumber(cell)) return ofNumber(cell, place, given.values, text => ofText(text, addProblem))
    if (typeof cell === 'boolean') {
      const isAsIs = place.form === 'option' && chosen(String(cell), given.values) === undefined
      return isAsIs ? cell : ofText(String(cell), addProblem)
    }
    if (cell === null) return undefined
    // JSON in a file has the form of the interface's answers, even in the column of an amount's number.
    if ((place.member === null || isAmount(place)) && !place.isNested) return mappedItems(cell, given.values)
    if (Object.keys(cell).length === 0) return undefined
    return addProblem('is an object or a list', `Map the column to ${place.own.internal_name}.`)
  }
}

/** A number whose format shows a unit is converted like the text that a person would have typed. */
function ofUnit(
  written: WrittenNumber,
  place: Place,
  addProblem: AddProblem,
  ofText: ConvertText,
): Json | Amount | undefined {
  if (isAmount(place)) return new Amount(written.number, written.unit)
  return place.form === 'number' ? written.number : ofText(shownNumber(written), addProblem)
}

/** A number needs no decimal mark: the formats of the file don't apply. It may be an id. */
function ofNumber(
  cell: number | RawNumber,
  place: Place,
  values: ChosenValues,
  ofText: (text: string) => Json | Amount | undefined,
): Json | Amount | undefined {
  if (isAmount(place)) return new Amount(cell, '')
  const { form } = place
  if (form === 'number') return cell
  const text = plainText(cell)
  const isId =
    Number.isInteger(cell) &&
    (form === 'reference' || (form === 'option' && writtenId(text, place.of.options) !== undefined))
  return isId && chosen(text, values) === undefined ? cell : ofText(text)
}

function mappedItems(cell: Json, values: ChosenValues): Json {
  if (!Array.isArray(cell)) return cell
  return cell.flatMap(item => {
    const text = isNumber(item) ? plainText(item) : typeof item === 'string' ? item.trim() : null
    const value = text === null ? undefined : chosen(text, values)
    return value === null ? [] : [value ?? item]
  })
}

function chosen(text: string, values: ChosenValues): Json | undefined {
  return Object.hasOwn(values, text) ? values[text] : undefined
}

function textConversion(place: Place, given: ConversionContext): ConvertText {
  const { catalog, formats } = given
  const mapped =
    (otherwise: (text: string) => string): ConvertText =>
    text => {
      const value = chosen(text.trim(), given.values)
      return value === undefined ? otherwise(text.trim()) : (value ?? undefined)
    }
  switch (place.form) {
    case 'text':
      return (text, addProblem) => (isShortened(text) ? shortened(addProblem) : text)
    case 'number':
      return (text, addProblem) => {
        const found = amount(text, catalog, formats, addProblem)
        return isAmount(place) ? found : found?.number
      }
    case 'date':
      return (text, addProblem) =>
        dateOrProblem(dayOf(text.trim(), formats.date), 'date', '2026-03-31', addProblem)
    case 'moment': {
      const local = momentIn(catalog.account.time_zone)
      return (text, addProblem) =>
        dateOrProblem(
          momentOf(text.trim(), formats.date, local),
          'date and time',
          '2026-03-31 09:30',
          addProblem,
        )
    }
    case 'time':
      return (text, addProblem) =>
        dateOrProblem(timeOf(text)?.slice(0, 5) ?? null, 'time', '09:30', addProblem)
    case 'currency':
      return mapped(text => currencyOf(text, catalog)?.code ?? text)
    case 'status':
      return mapped(text => text)
    case 'option':
      return choices(place, given.values, text => optionValue(text, place.of, given.isOurs))
    case 'reference':
      return choices(place, given.values, referenceOf(place, given.catalog))
    case 'word':
      return choices(place, given.values, text => text)
    case 'name':
      return namesOrEmails(place, catalog)
    default:
      return structured(place, given)
  }
}

/** A person whom a field points to may also be named by an e-mail, as our exports do (D81). */
function namesOrEmails(place: Place, catalog: Catalog): ConvertText {
  const related = place.isNested ? catalog.resources.get(place.own.related!) : undefined
  const areTaken = related && shownField(related, 'emails') !== null
  return text =>
    areTaken && isEmail.test(text.trim())
      ? { emails: emailsOf(text, { ...place, member: null }) }
      : splitName(text, place)
}

const isEmail = /^[^\s@<>;,"]{1,64}@[^\s@<>;,"]{1,255}$/

/** Forms that may also be written as JSON, as in our exports. */
function structured(place: Place, { catalog, formats }: ConversionContext): ConvertText {
  const range = place.form === 'range' ? rangeReader(place, formats, catalog) : null
  const plain: ConvertText = (text, addProblem) => {
    switch (place.form) {
      case 'emails':
        return emailsOf(text, place)
      case 'phones':
        return isShortened(text) ? shortened(addProblem) : phonesOf(text, place)
      case 'address':
        return { address_line1: text.trim() }
      case 'range':
        return dateOrProblem(range!(text), 'range', '08:00/18:00', addProblem)
      case 'money':
      case 'prices':
        return amount(text, catalog, formats, addProblem)
      default:
        return addProblem('is no JSON', 'Write it as our exports do.')
    }
  }
  return (text, addProblem) => {
    const value = /^\s*[[{]/.test(text) ? json(text) : undefined
    return value === undefined ? plain(text, addProblem) : value
  }
}

function dateOrProblem(value: Json, what: string, example: string, addProblem: AddProblem): Json | undefined {
  if (value === 'unclear') return addProblem('may be two dates', 'Choose the order of day and month.')
  return value ?? addProblem(`is no ${what}`, `Write it as ${example}.`)
}

/** A number and its unit, which must be the sign or the code of a currency, or %. */
function amount(
  text: string,
  catalog: Catalog,
  { decimal }: Formats,
  addProblem: AddProblem,
): Amount | undefined {
  const found = numberOf(text, decimal)
  if (found === 'unclear')
    return addProblem(
      'may be two numbers',
      'Choose whether numbers are written with a point or with a comma.',
    )
  return (
    (found && amountOf(found, catalog)) ??
    addProblem('is no number', decimal === ',' ? 'Write it as 1250,50.' : 'Write it as 1250.50.')
  )
}

/** A number whose unit is empty, %, or the sign or code of a currency. */
function amountOf({ number, unit }: WrittenNumber, catalog: Catalog): Amount | undefined {
  const isKnown = /^(?:%|\p{Sc}|)$/u.test(unit) || isCurrency(unit, catalog)
  return isKnown ? new Amount(number, unit) : undefined
}

/** True if a spreadsheet shortened the digits of a name or a phone number: 4.47701E+11. The rest is lost. */
function isShortened(text: string): boolean {
  return /^\s*\d(?:[.,]\d+)?E\+\d{2}\s*$/.test(text)
}

function shortened(addProblem: AddProblem): undefined {
  const hint = 'Format the column as text in the spreadsheet, and type the digits again.'
  return addProblem('is a number that a spreadsheet has shortened: digits of it are lost', hint)
}

/** One choice, or several. */
function choices(place: Place, values: ChosenValues, otherwise: (text: string) => Json): ConvertText {
  const one = (text: string): Json[] => {
    const value = chosen(text, values)
    return value === null ? [] : [value ?? otherwise(text)]
  }
  if (!place.isSeveral) return text => one(text.trim())[0]
  const isOne = (item: string) =>
    chosen(item, values) !== undefined || findOption(item, place.of.options) !== undefined
  return text => {
    const list = jsonList(text)
    if (list) return mappedItems(list, values)
    // An item in quotation marks is a single value, so it is not split.
    const items = markedItemsOf(text)
      .flatMap(({ item, isMarked }) => (isMarked ? [item] : divided(item, place, isOne)))
      .flatMap(one)
    return items.length ? items : undefined
  }
}

/**
 * Splits an item at its commas, as some write options and tags; an option's name may contain one, too.
 * `isOne`: true if the whole item is one value.
 */
export function divided(item: string, { of }: Place, isOne: (item: string) => boolean): string[] {
  if (!item.includes(',') || (of.options.length === 0 && of.related !== 'tag') || isOne(item)) return [item]
  return item
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

/** A name or an id; an id alone if the resource has no name that finds records. */
function referenceOf({ of }: Place, { resources }: Catalog): (text: string) => Json {
  const isNamed = (resources.get(of.related!)?.resource.namedBy ?? []).length > 0
  return text => (!isNamed && /^\d{1,15}$/.test(text) ? Number(text) : text)
}

/** The value as an object that more can be added to. */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
