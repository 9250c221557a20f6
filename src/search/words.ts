/**
 * What a search looks for (D86): its words, each in the ways in which it may be written. Also says how well a
 * text fits. Pure; knows no field, no record and no SQL.
 */
import { comparedName, composed, spellings } from '../fields/name.ts'

export type Wanted = {
  /** with single blanks between the words */
  readonly text: string
  /** each in the ways to write it, with the digits alone where it may be a part of a phone number */
  readonly words: readonly (readonly string[])[]
  /** the digits of the whole, where it may be a phone number */
  readonly digits: string | null
}

/** How well a text fits, the best first. */
export const fits = { whole: 0, beginning: 1, words: 2, parts: 3 } as const

/** The words of a text that is asked for. */
export function wantedOf(text: string): Wanted {
  const words = wordsOf(text)
  return {
    text: words.join(' '),
    words: words.map(word => [...new Set([...spellings(word), digitsOf(word) ?? word])]),
    digits: digitsOf(words.join(' ')),
  }
}

/** The parts between blanks. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter(word => word !== '')
}

/** The digits of what may be a phone number or a part of one: three at least, and nothing but their marks. */
function digitsOf(text: string): string | null {
  const digits = withoutMarks(text)
  return /^\d{3,}$/.test(digits) ? digits : null
}

/** A phone number without the marks that people write between its digits. */
function withoutMarks(text: string): string {
  return text.replace(/[-+\s()./]/gu, '')
}

/**
 * How well the best of a record's texts fits, or null if they don't have the words; `numbers` are phone
 * numbers, of which the digits count.
 */
export function fitOf(wanted: Wanted, texts: readonly string[], numbers: readonly string[]): number | null {
  const { text, words, digits } = wanted
  const known = texts.map(comparedName)
  const bare = numbers.map(withoutMarks)
  const all = [...known, ...bare]
  const has = (isThere: (text: string, word: string) => boolean) =>
    words.every(ways => ways.map(comparedName).some(way => all.some(one => isThere(one, way))))
  const isNumber = digits !== null && all.some(one => one.includes(digits))
  if (!isNumber && !has((one, word) => one.includes(word))) return null
  const asked = comparedName(text)
  if (known.includes(asked) || (digits && bare.includes(digits))) return fits.whole
  if (known.some(one => one.startsWith(asked)) || (digits && bare.some(one => one.startsWith(digits))))
    return fits.beginning
  return has(beginsWord) ? fits.words : fits.parts
}

/** Whether one of the words is a part of the text. */
export function hasWord({ words, digits }: Wanted, text: string): boolean {
  const [known, bare] = [comparedName(text), withoutMarks(text)]
  const parts = [...words.flat().map(comparedName), ...(digits ? [digits] : [])]
  return parts.some(part => known.includes(part) || bare.includes(part))
}

const wordCharacter = /[\p{L}\p{M}\p{N}]$/u

function beginsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!wordCharacter.test(text.slice(0, at))) return true
  return false
}

/** Whether an index of trigrams knows the word: it has three letters or digits in a row. */
export function isIndexed(word: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(composed(word))
}
