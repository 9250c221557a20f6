/**
 * Secrets (D38, D61): `<prefix>_<account>_<random>_<checksum>`, of tokens, sessions and one-time links. The
 * account can be read from the secret, so that the statement that looks it up names its account; the checksum
 * tells a typing mistake from an unknown secret without asking the database.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Each kind has a form of its own: a link is no session, and a session no token. */
const kinds = {
  /** 33 characters of 62: 196 bits */
  token: { prefix: 'dw', length: 33 },
  /** 256 bits */
  session: { prefix: 'dws', length: 43 },
  link: { prefix: 'dwl', length: 43 },
}
export type SecretKind = keyof typeof kinds

/**
 * The account of tokens that an operator preset, and that have another form: the account made at the first
 * start.
 */
const defaultAccount = 1

type RandomBytes = (count: number) => Uint8Array

/** A new secret. `randomBytes` gives that many random bytes. */
export function newSecret(kind: SecretKind, account: number, randomBytes: RandomBytes): string {
  const { prefix, length } = kinds[kind]
  let random = ''
  while (random.length < length) {
    // Bytes from 248 on would make the first characters of the alphabet more likely than the others.
    for (const byte of randomBytes(64))
      if (byte < 248 && random.length < length) random += alphabet[byte % 62]
  }
  const body = `${prefix}_${account}_${random}`
  return `${body}_${checksum(body)}`
}

export function newToken(account: number, randomBytes: RandomBytes): string {
  return newSecret('token', account, randomBytes)
}

/** The account of a secret of this kind; null for text that can't be one. */
export function accountOf(kind: SecretKind, text: string): number | null {
  const match = forms[kind].exec(text)
  return match && checksum(match[1]!) === match[3] ? Number(match[2]) : null
}

const forms = { token: formOf('token'), session: formOf('session'), link: formOf('link') }

function formOf(kind: SecretKind): RegExp {
  const { prefix, length } = kinds[kind]
  return new RegExp(`^(${prefix}_(\\d{1,15})_[0-9A-Za-z]{${length}})_([0-9a-z]{7})$`)
}

/**
 * The account of a token; null for text that can't be a token. Text of 32 characters or more without a prefix
 * is taken for a token that DEALWRIGHT_TOKEN preset, which belongs to the default account.
 */
export function parseToken(text: string): { account: number } | null {
  if (!/^dw[sl]?_/.test(text)) return text.length >= 32 ? { account: defaultAccount } : null
  const account = accountOf('token', text)
  return account === null ? null : { account }
}

/**
 * What is stored. A fast hash is enough: 196 random bits can't be guessed, however fast the guesses are
 * hashed.
 */
export function hashToken(text: string): string {
  return hash('sha256', text)
}

function checksum(body: string): string {
  return crc32(body).toString(36).padStart(7, '0')
}

/** What is shown of a token to tell it from others: too little to guess the rest from. */
export function prefixOf(text: string): string {
  return text.slice(0, text.startsWith('dw_') ? text.indexOf('_', 3) + 7 : 4)
}
