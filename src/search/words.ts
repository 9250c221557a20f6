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
  if (!/^[-+\d\s().,/#*]+$/u.test(text)) return null
  const digits = text.replace(/\D/g, '')
  return digits.length < 3 ? null : digits
}

/** How well the best of a record's texts fits; of texts `ofDigits` only the digits count. */
export function fitOf(wanted: Wanted, texts: readonly string[], ofDigits: readonly string[]): number {
  const asked = comparedName(wanted.text)
  const known = texts.map(comparedName)
  const numbers = ofDigits.map(text => text.replace(/\D/g, ''))
  const { digits } = wanted
  if (known.includes(asked) || (digits && numbers.includes(digits))) return fits.whole
  if (known.some(text => text.startsWith(asked)) || (digits && numbers.some(text => text.startsWith(digits))))
    return fits.beginning
  const all = [...known, ...numbers]
  const isBegun = (word: string) => all.some(text => beginsWord(text, word))
  return wanted.words.every(ways => ways.some(way => isBegun(comparedName(way)))) ? fits.words : fits.parts
}

/** Whether one of the words is a part of the text. */
export function hasWord({ words, digits }: Wanted, text: string): boolean {
  const known = comparedName(text)
  const number = text.replace(/\D/g, '')
  return (
    words.some(ways => ways.some(way => known.includes(comparedName(way)) || number.includes(way))) ||
    (digits !== null && number.includes(digits))
  )
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
