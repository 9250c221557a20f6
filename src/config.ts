/** Every setting of the service (D41), read once from the environment. A bad value ends the start with one clear line. */

import { parseToken } from './accounts/token.ts'

export type Config = {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  readonly databaseUrl: string | null
  readonly token: string | null
  readonly sampleData: boolean
  readonly logLevel: string
}

/** A setting that can't be used. */
export class ConfigError extends Error {}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings. Throws ConfigError naming the variable and what it takes. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const databaseUrl = env.DATABASE_URL || null
  return {
    port: port(env.PORT || '3000'),
    host: env.HOST || '127.0.0.1',
    dataDir: env.DATA_DIR || './data',
    databaseUrl: databaseUrl && checkedUrl(databaseUrl),
    token: env.DEALWRIGHT_TOKEN ? checkedToken(env.DEALWRIGHT_TOKEN) : null,
    sampleData: env.SAMPLE_DATA ? oneOf('SAMPLE_DATA', env.SAMPLE_DATA, ['0', '1']) === '1' : databaseUrl === null,
    logLevel: oneOf('LOG_LEVEL', env.LOG_LEVEL || 'warn', logLevels),
  }
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new ConfigError(`PORT must be a number from 0 to 65535, not "${text}".`)
}

function oneOf(name: string, value: string, allowed: readonly string[]): string {
  if (allowed.includes(value)) return value
  throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`)
}

function checkedUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text
  throw new ConfigError('DATABASE_URL must look like postgres://user:password@host:5432/database.')
}

function checkedToken(text: string): string {
  if (/^[\x21-\x7e]{32,256}$/.test(text) && parseToken(text)?.account === 1) return text
  throw new ConfigError(
    'DEALWRIGHT_TOKEN must have 32 to 256 printable characters without spaces; one that begins with dw_ must be whole and of account 1.',
  )
}
