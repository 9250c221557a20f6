/**
 * Secrets (D38, D61): `<prefix>_<account>_<random>_<checksum>`, of tokens, sessions and one-time links. The
 * secret contains its account, so that the look-up names it; the checksum detects typing errors without a
 * query.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Each kind has its own form, so none is accepted in place of another. */
const kinds = {
  /** 33 characters of 62: 196 bits */
  token: { prefix: 'dw', length: 33 },
  /** 256 bits */
  session: { prefix: 'dws', length: 43 },
  link: { prefix: 'dwl', length: 43 },
  code: { prefix: 'dwc', length: 43 },
}
export type SecretKind = keyof typeof kinds

/** The account of preset tokens, which have another form: the account of the first start. */
const defaultAccount = 1

/** Generates a secret. `bytesOf` returns that many random bytes. */
export function newSecret(
  kind: SecretKind,
  account: number,
  bytesOf: (count: number) => Uint8Array = randomBytes,
): string {
  const { prefix, length } = kinds[kind]
  let random = ''
  while (random.length < length) {
    // Bytes from 248 on are rejected: they would cause modulo bias.
    for (const byte of bytesOf(64)) if (byte < 248 && random.length < length) random += alphabet[byte % 62]
  }
  const body = `${prefix}_${account}_${random}`
  return `${body}_${checksum(body)}`
}

/** The account in a secret of this kind; null for a text that is none. */
export function accountOf(kind: SecretKind, text: string): number | null {
  const match = forms[kind].exec(text)
  return match && checksum(match[1]!) === match[3] ? Number(match[2]) : null
}

const forms = {
  ...{ token: formOf('token'), session: formOf('session') },
  ...{ link: formOf('link'), code: formOf('code') },
}

function formOf(kind: SecretKind): RegExp {
  const { prefix, length } = kinds[kind]
  return new RegExp(`^(${prefix}_(\\d{1,15})_[0-9A-Za-z]{${length}})_([0-9a-z]{7})$`)
}

/**
 * The account of a token; null for a text that is no token. A text of 32 characters or more without a prefix
 * counts as a token preset by DEALWRIGHT_TOKEN, of the default account.
 */
export function parseToken(text: string): { account: number } | null {
  if (!/^dw[slc]?_/.test(text)) return text.length >= 32 ? { account: defaultAccount } : null
  const account = accountOf('token', text)
  return account === null ? null : { account }
}

/** The hash that is stored. A fast hash is enough: 196 random bits can't be guessed by brute force. */
export function hashToken(text: string): string {
  return hash('sha256', text)
}

function checksum(body: string): string {
  return crc32(body).toString(36).padStart(7, '0')
}

/** The prefix by which people recognize a token: too short to guess the rest. */
export function prefixOf(text: string): string {
  return text.slice(0, text.startsWith('dw_') ? text.indexOf('_', 3) + 7 : 4)
}
