/** Qualifiers in the name of a column: a number, a kind, or the person or record it belongs to. Pure. */
import { bareName, ourNames, ourResource } from '../../fields/synonyms.ts'

/** "E-mail 2", "email_work" and "AccountId" as lowercase words. */
export function wordsOf(name: string): string[] {
  const words = name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').split(/[^\p{L}\p{N}]+/u)
  return words.filter(word => word !== '').map(word => word.toLowerCase())
}

/** True if a name is a question: "In stock?" is yes or no, whatever its other words mean. */
export function isQuestion(name: string): boolean {
  return /\?\s*$/.test(name) || /^(?:is|has)$/.test(wordsOf(name)[0] ?? '')
}

/** The name without its ending "Id"; null if it has another ending. */
export function namedById(name: string): string | null {
  const words = wordsOf(name)
  if (words.length > 0 && /^ids?$/.test(words.at(-1)!)) return words.slice(0, -1).join('')
  // In ACCOUNTID only a known word shows where a word ends.
  const base = words.length === 1 ? /^(\p{L}{3,})ids?$/u.exec(words[0]!)?.[1] : undefined
  const isKnown = base !== undefined && (ourResource(base) ?? ourNames(base)[0] ?? ourNames(words[0]!)[0])
  return isKnown ? base : null
}

export function isFax(name: string): boolean {
  return wordsOf(name).some(word => /fax$/.test(word))
}

export type Reading = {
  /** the name to look up */
  readonly bare: string
  /** the position among several alike: 2 of "Phone 2" */
  readonly nth: number
}

/**
 * The known part of a name. Text in brackets may belong to it, else it is a unit or a count; a number gives
 * the position among several, and some words give the kind of a phone or an address. `others`: further
 * possible readings.
 */
export function readingOf(
  name: string,
  isKnown: (bare: string) => boolean,
  others: readonly string[] = [],
): Reading {
  const whole = bareName(name)
  if (isKnown(whole)) return { bare: whole, nth: 1 }
  const words = wordsOf(name)
  const [last = ''] = words.slice(1).slice(-1)
  const isNumbered = /^\d$/.test(last)
  const plain = bareName(name.replace(/\s*[([][^()[\]]*[)\]]\s*$/, ''))
  const counted = words.slice(0, -1).join('')
  const kindless = words.filter(word => !kinds.test(word) && !/^\d$/.test(word)).join('')
  const all = [plain, ...others, ...(isNumbered ? [counted] : []), ...(kindless === '' ? [] : [kindless])]
  return { bare: all.find(isKnown) ?? plain, nth: isNumbered ? Number(last) : 1 }
}

const kinds =
  /^(?:work|business|office|home|private|personal|mobile|cell|other|main|primary|billing|mailing|registered)$/

/** Common names of the parts of an address, in English, German, French and Spanish. */
export const addressParts: { readonly [member: string]: readonly string[] } = {
  address_line1:
    'street streetaddress address1 addressline1 streetname straße strasse rue calle domicilio'.split(' '),
  address_line2: 'street2 streetaddress2 address2 addressline2 adresszusatz'.split(' '),
  city: 'city town ort stadt ville ciudad localidad'.split(' '),
  state: 'state province stateprovince stateregion county bundesland provincia'.split(' '),
  zipcode: 'zip zipcode zippostalcode postalcode postcode plz postleitzahl codepostal códigopostal cp'.split(
    ' ',
  ),
  country: 'country countryregion countrycode land pays país'.split(' '),
}

/** Words for the parts of a person's name after the person's role: "Contact first". */
export const nameParts: { readonly [word: string]: string } = {
  first: 'first_name',
  last: 'last_name',
  surname: 'last_name',
}

/** Names of columns with the whole name of a person. */
export const wholeNames: readonly string[] = [
  'fullname',
  'displayname',
  'vollständigername',
  'nomcomplet',
  'nombrecompleto',
]
