/**
 * Compares names. This is the only code that decides when two names are equal (D127); the database's function
 * `compared_name` (the migration unseen-letters) does the same. Knows no field and no resource.
 */
import { fold, lowered, unseen } from '../fold.ts'
import { codePoints } from './code-points.ts'

/** A name has at most 255 characters, each at most four code units when decomposed. */
const longest = 4 * 255

/**
 * Letters with at most thirty marks each, as in Unicode's Stream-Safe Text Format (UAX #15). Sorting marks
 * takes quadratic time: without a bound, one text could take minutes.
 */
const letters = /^\P{M}*(?:\p{M}{1,30}(?:\P{M}+|$))*$/u

/**
 * Removes invisible characters and surrounding blanks, composes (NFC), and ignores case. A text that can't be
 * a name stays otherwise unchanged: it is too long, or has too many marks on a letter.
 */
export function comparedName(text: string): string {
  const name = seenName(text)
  return canNormalize(name) ? lowered(name.normalize('NFC')) : name
}

/** Like `comparedName`, but case-sensitive, as `cased_name` in the database. */
export function casedName(text: string): string {
  return composed(seenName(text))
}

/** The bounds of a unique text that is compared as a name, as in the database. */
const uniqueMax = { characters: 320, bytes: 1280 }

/**
 * A unique text (D76) as the database's `unique_key` and `cased_unique_key` compare it: a long one but for
 * its case and the blanks around it. No text has a NUL, so none looks like a long one.
 */
export function uniqueKey(text: string, isCased: boolean): string {
  const isShort = codePoints(text) <= uniqueMax.characters
  const name = isShort ? seenName(text).normalize('NFC') : ''
  const key = isCased ? name : lowered(name)
  if (isShort && Buffer.byteLength(key) <= uniqueMax.bytes) return key
  const long = withoutSpaces(text)
  return `\0${isCased ? long : lowered(long)}`
}

function withoutSpaces(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === ' ') from++
  while (to > from && text[to - 1] === ' ') to--
  return text.slice(from, to)
}

function seenName(text: string): string {
  return (isPlain.test(text) ? text : text.replace(control, '').replace(unseen, '')).trim()
}

const isPlain = /^[ -~]*$/
const control = /(?![\t-\r])\p{Cc}/gu

/**
 * The Unicode forms of a text that fold differently: unchanged, with each letter and its marks composed
 * (NFC), and decomposed (NFD).
 */
export function spellings(text: string): string[] {
  if (!canNormalize(text)) return [text]
  const ways = [text.normalize('NFD'), text.normalize('NFC'), text]
  return [...new Map(ways.map(way => [fold(way), way])).values()].reverse()
}

/** Each letter and its marks composed (NFC); a text that can't be a name stays unchanged. */
export function composed(text: string): string {
  return canNormalize(text) ? text.normalize('NFC') : text
}

function canNormalize(text: string): boolean {
  return text.length <= longest && letters.test(text)
}

/** True if two names look the same to a reader. */
export function isSameName(one: string, other: string): boolean {
  return comparedName(one) === comparedName(other)
}

/**
 * The words of a name in lowercase without marks. Internal names are made from them: "Größe (Café)" → grosse,
 * cafe.
 */
export function plainWords(name: string): string[] {
  // Existing marks are removed first; the remaining letters decompose into few marks.
  const bare = name.replace(marks, '').normalize('NFKD').replace(marks, '')
  return (
    bare
      .toLowerCase()
      .replaceAll('ß', 'ss')
      .match(/[a-z0-9]+/g) ?? []
  )
}

const marks = /\p{M}+/gu
