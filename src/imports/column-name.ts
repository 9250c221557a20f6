/** What the name of a column says beside what it calls: which of several, of what kind, and of whom. Pure. */
import { bareName, ourNames, ourResource } from '../fields/synonyms.ts'

/** "E-mail 2", "email_work" and "AccountId" as words, in small letters. */
export function wordsOf(name: string): string[] {
  const words = name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').split(/[^\p{L}\p{N}]+/u)
  return words.filter(word => word !== '').map(word => word.toLowerCase())
}

/** Whether a name asks: "In stock?" is yes or no, whatever else it calls. */
export function isQuestion(name: string): boolean {
  return /\?\s*$/.test(name) || /^(?:is|has)$/.test(wordsOf(name)[0] ?? '')
}

/** The names that are left when their ending "Id" is taken away; null where they end otherwise. */
export function namedById(name: string): string | null {
  const words = wordsOf(name)
  if (words.length > 0 && /^ids?$/.test(words.at(-1)!)) return words.slice(0, -1).join('')
  // Nothing tells where the words of ACCOUNTID end but that they are known.
  const base = words.length === 1 ? /^(\p{L}{3,})ids?$/u.exec(words[0]!)?.[1] : undefined
  const isKnown = base !== undefined && (ourResource(base) ?? ourNames(base)[0] ?? ourNames(words[0]!)[0])
  return isKnown ? base : null
}

export function isFax(name: string): boolean {
  return wordsOf(name).some(word => /fax$/.test(word))
}

export type Reading = {
  /** the name as it is looked up */
  readonly bare: string
  /** of several alike: 2 of "Phone 2" */
  readonly nth: number
}

/**
 * The part of a name that is known. What is in brackets may be a part of it, else it is a unit or a count;
 * a number says which of several, and some words say of what kind a phone or an address is. `others`: what
 * else may be meant.
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

/** What people call the parts of an address, in English, German, French and Spanish. */
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

/** What stands for the names of a person behind what they are to the record: "Contact first". */
export const nameParts: { readonly [word: string]: string } = {
  first: 'first_name',
  last: 'last_name',
  surname: 'last_name',
}

/** What says the whole name of a person, and no part of it. */
export const wholeNames: readonly string[] = [
  'fullname',
  'displayname',
  'vollständigername',
  'nomcomplet',
  'nombrecompleto',
]
