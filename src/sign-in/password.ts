/** Which passwords are taken (D61). Pure. Knows no hash; hashing.ts does. */
import { codePoints } from '../fields/code-points.ts'
import { composed } from '../fields/name.ts'
import { fold } from '../fold.ts'
import common from './common-passwords.json' with { type: 'json' }

/** Of whom a password is. */
export type Owner = { readonly name: string; readonly email: string }

const [fewest, most] = [12, 1000]

/** The one form of a password that is hashed: a keyboard composes letters (NFC), or does not. */
export function plainPassword(text: string): string {
  return composed(text)
}

/**
 * Whether a text can be a password: other texts are not worth being looked at. All halves of surrogate pairs
 * would be hashed alike (D15).
 */
export function canBePassword(text: string): boolean {
  return codePoints(text) <= most && hasOnlyCharacters(text)
}

function hasOnlyCharacters(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

export type PasswordProblem = { readonly code: string; readonly message: string; readonly hint: string }

/** Why a password is not taken; null where it is. */
export function passwordProblem(password: string, owner: Owner): PasswordProblem | null {
  const length = codePoints(password)
  const hint = 'Three or four words that nobody connects with you are long, and easy to keep in mind.'
  if (!hasOnlyCharacters(password)) {
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

/** In small letters, without accents and blanks, as passwords and names are compared. */
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

/** Signs that stand for letters. */
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

/**
 * Passwords that are guessed first; only those of twelve characters or more matter. These are made along the
 * keys, or of a phrase. Folded, without blanks.
 */
const commonPasswords: ReadonlySet<string> = new Set(common.passwords)
/**
 * Words that most of the others are made of. One or two of them, with digits and signs around and between
 * them, are a common password: `Password2026!`, `welcome_welcome`, `iloveyou12345`.
 */
const word = `(?:${common.words.toSorted((a, b) => b.length - a.length).join('|')})`
/** One common word or two, with anything but letters around and between them. */
const madeOfWords = new RegExp(`^[^\\p{L}]{0,1000}?${word}[^\\p{L}]{0,20}${word}?[^\\p{L}]*$`, 'u')

/**
 * Few characters, or a piece again and again that is short or common: aaaaaaaaaaaa, abcabcabcabc, and
 * welcome1 three times.
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

/** Rows of which a password may be a stretch, forwards or backwards. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1234567890',
  '0123456789',
]

/** Made of a few stretches of rows, each of three characters or more: 123456abcdef, qwertyasdf54321. */
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

/** What of an owner's name and e-mail a password must not contain, where it is long enough to mean them. */
function namesOf({ name, email }: Owner): string[] {
  const address = bare(email)
  return [bare(name), address, address.split('@')[0]!].filter(text => text.length >= 4)
}
