/** How the values of settings are read: each takes the text of a variable, or refuses it in one line. */
import { currencyCode } from './accounts/currencies.ts'
import { parseToken } from './accounts/token.ts'
import { namingSetting, readServerUrl } from './db/postgres/server-url.ts'
import { isTimeZone } from './fields/locale.ts'

export class ConfigError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>

/** `word`: a text that the setting takes, too. */
export function wholeNumber(
  env: Environment,
  name: string,
  fallback: number,
  min: number,
  max: number,
  word = '',
): number {
  const text = env[name]
  if (!text) return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const otherwise = word && `${word} or `
  throw new ConfigError(`${name} must be ${otherwise}a whole number from ${min} to ${max}, not "${text}".`)
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time such as 30m, 6h or 1d, in milliseconds. */
export function duration(name: string, text: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  if (count) return Number(count) * units[unit as keyof typeof units]
  throw new ConfigError(`${name} must be a time like 30m, 6h or 1d, not "${text}".`)
}

export function oneOf(name: string, value: string, allowed: readonly string[]): string {
  if (allowed.includes(value)) return value
  throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`)
}

/** A setting that is 0 or 1. */
export function isOn(env: Environment, name: string, fallback: boolean): boolean {
  const text = env[name]
  return text ? oneOf(name, text, ['0', '1']) === '1' : fallback
}

export function listed(text = ''): string[] {
  return text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
}

export function checkedOrigin(name: string, text: string): string {
  const { origin, pathname, search, hash } = checkedWebUrl(name, text)
  if (pathname + search + hash === '/') return origin
  throw new ConfigError(`${name} must have no path, query or fragment: set "${origin}".`)
}

/** An https address; on this machine http is enough. Null for any other text. */
export function webUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackName(url.hostname))
  return isSafe ? url : null
}

export function checkedWebUrl(name: string, text: string): URL {
  const url = webUrl(text)
  if (url) return url
  throw new ConfigError(
    `${name} must begin with https:// (http:// on this machine only), like https://crm.example.com, not "${text}".`,
  )
}

export function checkedUrl(name: string, text: string): string {
  try {
    namingSetting(name, () => readServerUrl(text))
    return text
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error })
  }
}

/** An address, or a network such as 10.0.0.0/8. */
export function checkedNetwork(text: string): string {
  const [address = '', bits, ...more] = text.split('/')
  const isV4 = /^(\d{1,3}\.){3}\d{1,3}$/.test(address) && address.split('.').every(part => Number(part) < 256)
  const isV6 = address.includes(':') && URL.canParse(`http://[${address}]`)
  const most = isV4 ? 32 : 128
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
  if ((isV4 || isV6) && isNetwork && more.length === 0) return text
  throw new ConfigError(
    `TRUSTED_PROXIES must list addresses or networks like 10.0.0.0/8, with commas between, not "${text}".`,
  )
}

export function checkedTimeZone(text: string): string {
  if (isTimeZone(text)) return text
  throw new ConfigError(`TIME_ZONE must be a time zone of the IANA list, like Europe/Paris, not "${text}".`)
}

export function checkedCurrency(text: string): string {
  const code = currencyCode(text)
  if (code !== null) return code
  throw new ConfigError(`BASE_CURRENCY must be the code of a currency (ISO 4217), like EUR, not "${text}".`)
}

export function checkedToken(text: string): string {
  if (/^[\x21-\x7e]{32,256}$/.test(text) && parseToken(text)?.account === 1) return text
  throw new ConfigError(
    'DEALWRIGHT_TOKEN must have 32 to 256 printable characters without spaces; one that begins with dw_ must be whole and of account 1.',
  )
}

/** True if the host name means this machine. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || isLoopback(name)
}

export function isLoopback(host: string): boolean {
  return host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
