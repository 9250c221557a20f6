/**
 * What becomes of a cell: a function for each form of target, made once for a file. Each gives what the
 * interface takes, or undefined after a problem. Knows no record.
 */
import type { Catalog } from '../fields/catalog.ts'
import { decimal as decimalOf, plain } from '../fields/decimal.ts'
import { findOption } from '../fields/kinds/dropdown.ts'
import { isNumber, isObject, type Json, type JsonObject, type RawNumber } from '../json.ts'
import { Amount, currencyOf, isAmount, isCurrency } from './amounts.ts'
import { momentIn } from './local-times.ts'
import type { Cell } from './read.ts'
import type { Place } from './targets.ts'
import {
  type DateOrder,
  type DecimalMark,
  dayOf,
  itemsOf,
  json,
  momentOf,
  numberOf,
  timeOf,
} from './texts.ts'

export type Formats = { readonly date?: DateOrder; readonly decimal?: DecimalMark }
/** What texts stand for, as the user has chosen; null: they are left out. */
export type ChosenValues = { readonly [text: string]: Json }
/** Reports what is wrong with a cell: a predicate, "is no number", and what to do. */
export type Complain = (predicate: string, hint: string) => undefined
/** A cell that is not empty → a value; undefined: there is none. */
export type Convert = (cell: Cell, complain: Complain) => Json | Amount | undefined

type Given = { readonly catalog: Catalog; readonly formats: Formats; readonly values: ChosenValues }
type ConvertText = (text: string, complain: Complain) => Json | Amount | undefined

/** The function for cells of a target; it takes any JSON. */
export function convertOf(place: Place, given: Given): Convert {
  const ofText = textConversion(place, given)
  return (cell, complain) => {
    if (typeof cell === 'string') {
      // Blanks are a text, too, and nothing else.
      if (place.form !== 'text' && cell.trim() === '') return undefined
      return ofText(cell, complain)
    }
    if (isNumber(cell)) return ofNumber(cell, place, given.values, text => ofText(text, complain))
    if (typeof cell === 'boolean') {
      const isAsIs = place.form === 'option' && chosen(String(cell), given.values) === undefined
      return isAsIs ? cell : ofText(String(cell), complain)
    }
    if (cell === null) return undefined
    // What a file has as JSON is what the interface answers.
    if (place.member === null && !place.isNested) return mappedItems(cell, given.values)
    return complain('is an object or a list', `Map the column to ${place.own.internal_name}.`)
  }
}

/** A number is taken as it is, whatever mark the texts of the file have; and an id, too. */
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
  const isId = (form === 'option' || form === 'reference') && Number.isInteger(cell)
  return isId && chosen(text, values) === undefined ? cell : ofText(text)
}

/** A number without an exponent, where it has one that can be written out. */
export function plainText(number: number | RawNumber): string {
  const text = JSON.stringify(number)
  const value = text.includes('e') ? decimalOf(number) : null
  return value ? plain(value) : text
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

function textConversion(place: Place, given: Given): ConvertText {
  const { catalog, formats } = given
  switch (place.form) {
    case 'text':
      return text => text
    case 'number':
      return (text, complain) => {
        const found = amount(text, catalog, formats, complain)
        return isAmount(place) ? found : found?.number
      }
    case 'date':
      return (text, complain) => told(dayOf(text.trim(), formats.date), 'date', '2026-03-31', complain)
    case 'moment': {
      const local = momentIn(catalog.account.time_zone)
      return (text, complain) =>
        told(momentOf(text.trim(), formats.date, local), 'date and time', '2026-03-31 09:30', complain)
    }
    case 'time':
      return (text, complain) => told(timeOf(text)?.slice(0, 5) ?? null, 'time', '09:30', complain)
    case 'currency':
      return text => {
        const value = chosen(text.trim(), given.values)
        return value === undefined
          ? (currencyOf(text.trim(), catalog)?.code ?? text.trim())
          : (value ?? undefined)
      }
    case 'status':
      return text => chosen(text.trim(), given.values) ?? text.trim()
    case 'option':
      return choices(place, given.values, text => optionValue(text, place))
    case 'reference':
      return choices(place, given.values, text => text)
    case 'word':
      return choices(place, given.values, text => text)
    case 'name':
      return text => splitName(text, place)
    default:
      return structured(place, given)
  }
}

/** Forms that may also be written as JSON, as the exports do. */
function structured(place: Place, { catalog, formats }: Given): ConvertText {
  const plain: ConvertText = (text, complain) => {
    switch (place.form) {
      case 'emails':
        return itemsOf(text, /[;,\r\n]/).map(item => ({
          email_type: place.member ?? 'work',
          email_value: bareEmail(item),
        }))
      case 'phones':
        return itemsOf(text).map(item => ({
          phone_type: place.member ?? 'work',
          phone_number: item.replace(/^tel:/i, ''),
        }))
      case 'address':
        return { address_line1: text.trim() }
      case 'money':
      case 'prices':
        return amount(text, catalog, formats, complain)
      default:
        return complain('is no JSON', 'Write it as our exports do.')
    }
  }
  return (text, complain) => {
    const value = /^\s*[[{]/.test(text) ? json(text) : undefined
    return value === undefined ? plain(text, complain) : value
  }
}

function told(value: string | null, what: string, example: string, complain: Complain): Json | undefined {
  if (value === 'unclear') return complain('may be two dates', 'Choose the order of day and month.')
  return value ?? complain(`is no ${what}`, `Write it as ${example}.`)
}

/** A number and what stands beside it, which must be the sign or the code of a currency, or %. */
function amount(
  text: string,
  catalog: Catalog,
  { decimal }: Formats,
  complain: Complain,
): Amount | undefined {
  const found = numberOf(text, decimal)
  if (found === 'unclear')
    return complain('may be two numbers', 'Choose whether numbers are written with a point or with a comma.')
  if (found && (/^(?:%|\p{Sc}|)$/u.test(found.unit) || isCurrency(found.unit, catalog)))
    return new Amount(found.number, found.unit)
  return complain('is no number', decimal === ',' ? 'Write it as 1250,50.' : 'Write it as 1250.50.')
}

/** One choice, or several. */
function choices(place: Place, values: ChosenValues, otherwise: (text: string) => Json): ConvertText {
  const one = (text: string): Json[] => {
    const value = chosen(text, values)
    return value === null ? [] : [value ?? otherwise(text)]
  }
  if (!place.isSeveral) return text => one(text.trim())[0]
  return text => {
    const items = itemsOf(text)
      .flatMap(item => divided(item, place, values))
      .flatMap(one)
    return items.length ? items : undefined
  }
}

/** Names of options divided by commas, as some write them; a name may have a comma, too. */
function divided(item: string, { of }: Place, values: ChosenValues): string[] {
  if (!item.includes(',') || of.options.length === 0) return [item]
  if (chosen(item, values) !== undefined || findOption(item, of.options)) return [item]
  return item
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

const yes = /^(?:y|yes|true|t|x|1|on|ja|oui|si|sí|sim)$/i
const no = /^(?:n|no|false|f|0|off|nein|non|não)$/i

/** A name or an id; where the options are Yes and No, what else says so. */
function optionValue(text: string, { of: { options } }: Place): Json {
  const isYesNo = options.length === 2 && options.every(({ name }) => name === 'Yes' || name === 'No')
  if (!isYesNo || options.some(({ name }) => name.toLowerCase() === text.toLowerCase())) return text
  return yes.test(text) ? 'Yes' : no.test(text) ? 'No' : text
}

/** An address with a name before it is not longer. */
const addressMax = 600

/** "Jo <jo@example.com>" → jo@example.com */
function bareEmail(text: string): string {
  if (text.length > addressMax) return text
  const address = /<([^<>]+@[^<>]+)>\s*$/.exec(text)?.[1] ?? text
  return address.trim().replace(/^mailto:/i, '')
}

/**
 * The first and the last name: the last word, the words from a small letter on (van der Berg), or what stands
 * before a comma.
 */
function splitName(text: string, { of, member }: Place): JsonObject {
  const name = text.trim().replace(/\s+/g, ' ')
  const [before, ...behind] = name.split(/,\s*/)
  const words = name.split(' ')
  const small = words.findIndex(
    (word, index) => index > 0 && index < words.length - 1 && /^\p{Ll}/u.test(word),
  )
  const at = small > 0 ? small : words.length - 1
  const isTurned = behind.length === 1 && behind[0] !== ''
  const first = isTurned ? behind[0]! : words.slice(0, at).join(' ')
  const last = isTurned ? before! : words.slice(at).join(' ')
  return { ...(first ? { [member!]: first } : {}), [of.internal_name]: last }
}

/** A value as an object that more can be added to. */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
