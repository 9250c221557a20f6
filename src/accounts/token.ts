/**
 * API tokens (D38): `dw_<account>_<random>_<checksum>`. The account can be read from the token, so that the
 * statement that looks it up names its account; the checksum tells a typing mistake from an unknown token
 * without asking the database.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 33 characters of 62: 196 bits. */
const randomLength = 33

/**
 * The account of tokens that an operator preset, and that have another form: the account made at the first
 * start.
 */
const defaultAccount = 1

/** A new token. `randomBytes` gives that many random bytes. */
export function newToken(account: number, randomBytes: (count: number) => Uint8Array): string {
  let random = ''
  while (random.length < randomLength) {
    // Bytes from 248 on would make the first characters of the alphabet more likely than the others.
    for (const byte of randomBytes(64))
      if (byte < 248 && random.length < randomLength) random += alphabet[byte % 62]
  }
  const body = `dw_${account}_${random}`
  return `${body}_${checksum(body)}`
}

/**
 * The account of a token; null for text that can't be a token. Text of 32 characters or more without the
 * prefix is taken for a token that DEALWRIGHT_TOKEN preset, which belongs to the default account.
 */
export function parseToken(text: string): { account: number } | null {
  if (!text.startsWith('dw_')) return text.length >= 32 ? { account: defaultAccount } : null
  const match = /^(dw_(\d{1,15})_[0-9A-Za-z]{33})_([0-9a-z]{7})$/.exec(text)
  return match && checksum(match[1]!) === match[3] ? { account: Number(match[2]) } : null
}

/**
 * What is stored. A fast hash is enough: 196 random bits can't be guessed, however fast the guesses are
 * hashed.
 */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function checksum(body: string): string {
  return crc32(body).toString(36).padStart(7, '0')
}
