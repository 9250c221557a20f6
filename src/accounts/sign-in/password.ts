/** The rules of passwords (D61). Pure. Knows no hash; hashing.ts does. */
import type { ProblemCode } from '../../errors.ts'
import { codePoints, isStorable } from '../../fields/code-points.ts'
import { composed } from '../../fields/name.ts'
import { fold } from '../../fold.ts'
import common from './common-passwords.json' with { type: 'json' }

/** The owner of a password. */
export type Owner = { readonly name: string; readonly email: string }

const [fewest, most] = [12, 1000]

/** Normalizes a password to NFC before hashing: keyboards differ in composing letters. */
export function plainPassword(text: string): string {
  return composed(text)
}

/**
 * True if a text can be a password; others are not hashed. All lone surrogates would be hashed alike (D15).
 */
export function canBePassword(text: string): boolean {
  return codePoints(text) <= most && isStorable(text)
}

export type PasswordProblem = { readonly code: ProblemCode; readonly message: string; readonly hint: string }

/** The reason why a password is rejected; null if it is accepted. */
export function passwordProblem(password: string, owner: Owner): PasswordProblem | null {
  const length = codePoints(password)
  const hint = 'Three or four words that nobody connects with you are long, and easy to keep in mind.'
  if (!isStorable(password)) {
    const message = 'A password must not contain NUL or half of a surrogate pair.'
    return { code: 'invalid_characters', message, hint }
  }
  if (length < fewest)
    return { code: 'too_short', message: `A password has at least ${fewest} characters.`, hint }
  if (length > most) return { code: 'too_long', message: `A password has at most ${most} characters.`, hint }
  const plain = bare(password)
  if (isCommon(plain))
    return { code: 'common_password', message: 'The password is among those that are guessed first.', hint }
  if (namesOf(owner).some(name => plain.includes(name)))
    return { code: 'common_password', message: 'The password contains your name or your e-mail.', hint }
  return null
}

/** The form in which passwords and names are compared: lower case, without accents and blanks. */
function bare(text: string): string {
  return fold(composed(text)).replace(/\s+/gu, '')
}

function isCommon(plain: string): boolean {
  const letters = plain.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '').replace(/[@013457$!]/g, sign => spelt[sign]!)
  return (
    commonPasswords.has(plain) ||
    madeOfWords.test(plain) ||
    madeOfWords.test(letters) ||
    isRepeated(plain) ||
    isSequence(plain)
  )
}

/** Signs that replace letters ("leet"). */
const spelt: { readonly [sign: string]: string } = {
  '@': 'a',
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  $: 's',
  '!': 'i',
}

/** The most common passwords of twelve characters or more: keyboard walks, phrases. Folded, no blanks. */
const commonPasswords: ReadonlySet<string> = new Set(common.passwords)
/**
 * The words of most other common passwords. One or two of them, with digits and signs around and between,
 * make a common password: `Password2026!`, `welcome_welcome`, `iloveyou12345`.
 */
const word = `(?:${common.words.toSorted((a, b) => b.length - a.length).join('|')})`
/** One or two common words, with non-letters around and between. */
const madeOfWords = new RegExp(`^[^\\p{L}]{0,1000}?${word}[^\\p{L}]{0,20}${word}?[^\\p{L}]*$`, 'u')

/**
 * True for up to three different characters, or a repeated piece that is short or common: aaaaaaaaaaaa,
 * abcabcabcabc, and welcome1 three times.
 */
function isRepeated(plain: string): boolean {
  if (new Set(plain).size <= 3) return true
  for (let length = 1; length <= plain.length / 2; length++) {
    const piece = plain.slice(0, length)
    const isAll = piece.repeat(Math.ceil(plain.length / length)).startsWith(plain)
    if (isAll) return length <= 6 || isCommon(piece)
  }
  return false
}

/** Alphabet and keyboard rows of which a password may be a stretch, forwards or backwards. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1234567890',
  '0123456789',
]

/** True for a few stretches of rows, each of three characters or more: 123456abcdef, qwertyasdf54321. */
function isSequence(plain: string): boolean {
  let stretches = 1
  let direction: string | null = null
  let length = 1
  for (let at = 1; at < plain.length; at++) {
    const pair = plain.slice(at - 1, at + 1)
    const found = rows.findIndex(row => `${row}${row[0]}`.includes(pair))
    const turned = rows.findIndex(row => `${row}${row[0]}`.includes(pair[1]! + pair[0]!))
    const next = found >= 0 ? 'up' : turned >= 0 ? 'down' : null
    if (next !== null && (direction === null || direction === next)) {
      direction = next
      length++
      continue
    }
    if (length < 3) return false
    stretches++
    direction = null
    length = 1
  }
  return length >= 3 && stretches <= 3
}

/** The parts of an owner's name and e-mail that a password must not contain, from four characters on. */
function namesOf({ name, email }: Owner): string[] {
  const address = bare(email)
  return [bare(name), address, address.split('@')[0]!].filter(text => text.length >= 4)
}
