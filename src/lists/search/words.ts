/**
 * The words of a search (D86), each with its spellings, and the rank of a text. Pure; knows no field, no
 * record and no SQL.
 */
import { composed, spellings } from '../../fields/name.ts'
import { fold } from '../../fold.ts'

export type SearchWord = {
  /** with single blanks between the words */
  readonly text: string
  /** spellings of each word, with the digits alone if it may be a part of a phone number */
  readonly words: readonly (readonly string[])[]
  /** spellings of the digits of the whole, if it may be a phone number */
  readonly digits: readonly string[]
}

/** Ranks of a text, the best first. */
export const fits = { whole: 0, beginning: 1, words: 2, parts: 3 } as const

/** The words of a search text. */
export function searchWordsOf(text: string): SearchWord {
  const words = wordsOf(text)
  return {
    text: words.join(' '),
    words: words.map(word => [...new Set([...spellings(word), ...digitsOf(word)])]),
    digits: digitsOf(words.join(' ')),
  }
}

/** The words of a text: its parts between blanks that have a visible character. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter(word => fold(word) !== '')
}

/** A text in the form in which the search compares it. */
function compared(text: string): string {
  return fold(composed(text.trim()))
}

/** A phone number or a part of it, with an extension: "ext. 5", "x5", "#5", ";ext=5", ",5" or "-5". */
const phone = /^[-+\s()./\d]*(?:(?:;?ext(?:ension)?[.=]?|x|#|,+)\s*\d+)?$/iu

/** The codes of countries (E.164): all others have three digits. */
const countryCode = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/

/** A part of a number with so many digits counts as a number of its own. */
const fewestDigits = 7

/**
 * The spellings of the digits of what may be a phone number or a part of one, at least three: 030… within a
 * country is +49 30… from abroad.
 */
function digitsOf(text: string): string[] {
  if (!phone.test(text)) return []
  const digits = digitsAlone(text)
  if (digits.length < 3) return []
  if (digits.length < fewestDigits) return [digits]
  const [, abroad] = /^\s*(?:\+|00)(.*)$/su.exec(text.replace('(0)', '')) ?? []
  if (abroad === undefined) return digits.startsWith('0') ? [digits, digits.slice(1)] : [digits]
  const whole = digitsAlone(abroad)
  return [whole, `0${whole.replace(countryCode, '')}`].filter(way => way.length >= fewestDigits)
}

/** The digits of a phone number; the database's function `phone_digits` takes them, too. */
function digitsAlone(text: string): string {
  return text.replace(/\D/g, '')
}

/**
 * The best rank of a record's texts, or null if they lack a word; `numbers` are phone numbers, compared by
 * their digits.
 */
export function fitOf(
  wanted: SearchWord,
  texts: readonly string[],
  numbers: readonly string[],
): number | null {
  const { text, words, digits } = wanted
  const known = texts.map(compared)
  const bare = numbers.map(digitsAlone)
  const all = [...known, ...bare]
  const has = (isThere: (text: string, word: string) => boolean) =>
    words.every(ways => ways.map(compared).some(way => all.some(one => isThere(one, way))))
  const isNumber = (is: (number: string, way: string) => boolean, among = bare) =>
    digits.some(way => among.some(one => is(one, way)))
  const isIn = (one: string, part: string) => one.includes(part)
  if (!isNumber(isIn, all) && !has(isIn)) return null
  const asked = compared(text)
  if (known.includes(asked) || isNumber((one, way) => one === way)) return fits.whole
  if (known.some(one => one.startsWith(asked)) || isNumber((one, way) => one.startsWith(way)))
    return fits.beginning
  return has(beginsWord) ? fits.words : fits.parts
}

/** The text that contains a word: best one that the name lacks. Undefined if none does. */
export function textWithWord({ words, digits }: SearchWord, name: string, texts: readonly string[]) {
  const has = (text: string) => {
    const [known, bare] = [compared(text), digitsAlone(text)]
    return (part: string) => known.includes(compared(part)) || bare.includes(part)
  }
  const parts = digits.length ? [...words, digits] : words
  const isInName = has(name)
  const lacking = parts.filter(ways => !ways.some(isInName))
  return [lacking, parts].flatMap(some => texts.find(text => some.flat().some(has(text))) ?? [])[0]
}

/** At the end of two code units, which any character has at most. */
const wordCharacter = /[\p{L}\p{M}\p{N}]$/u

function beginsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!wordCharacter.test(text.slice(Math.max(0, at - 2), at))) return true
  return false
}

/** True if a trigram index can find the word: it has three letters or digits in a row. */
export function isIndexed(word: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(composed(word))
}
