/**
 * Every setting of the service (D41), read once from the environment. A bad value ends the start with one
 * clear line.
 */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { Pooler } from './db/open.ts'
import { misspelt } from './setting-names.ts'
import {
  ConfigError,
  checkedCurrency,
  checkedNetwork,
  checkedOrigin,
  checkedTimeZone,
  checkedToken,
  checkedUrl,
  checkedWebUrl,
  duration,
  type Environment,
  isLoopback,
  isLoopbackName,
  isOn,
  listed,
  oneOf,
  wholeNumber,
} from './setting-values.ts'
import { type TraceSettings, traceSettings } from './trace-settings.ts'

/** The limits of requests, and the retention of deleted records and events. */
export type Limits = {
  /** retention of deleted records and fields, in days */
  readonly retentionDays: number
  /** retention of events, in days; null: forever (D71) */
  readonly eventRetentionDays: number | null
  readonly bodyLimitBytes: number
  /** requests per minute and token; 0: unlimited */
  readonly rateLimit: number
  /** maximum of open connections: in all, and per address */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** time for a request to arrive */
  readonly requestTimeoutMs: number
}

/** The OpenID provider by which people sign in (D61). */
export type OpenIdSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

export type BackupSettings = {
  readonly directory: string
  readonly everyMs: number
  /** number of backups to keep */
  readonly keep: number
}

export type Config = Limits & {
  readonly port: number
  readonly host: string
  /** number of processes that serve (D167) */
  readonly workers: number
  /** an absolute path */
  readonly dataDir: string
  readonly databaseUrl: string | null
  /** a streaming replica of it for reads (D172) */
  readonly databaseReadUrl: string | null
  /** true if a write of one record is a transaction of several statements, too (D164) */
  readonly hasOnlyTransactions: boolean
  readonly token: string | null
  /** the token of the agent that "dealwright mcp" serves */
  readonly agentToken: string | null
  /** the pooler in front of the server (D166) */
  readonly pooler: Pooler | null
  readonly sampleData: boolean
  /** settings of the account that the first start makes; null: UTC and USD */
  readonly timeZone: string | null
  readonly baseCurrency: string | null
  readonly logLevel: string
  readonly logRequests: boolean
  /** port of the metrics, or the path of a Unix socket; null: none */
  readonly metricsPort: number | string | null
  readonly metricsHost: string
  /** traces by OpenTelemetry (D169); null: none */
  readonly traces: TraceSettings | null
  /** backups by schedule (D155); null: none */
  readonly backups: BackupSettings | null
  /** addresses and networks of the reverse proxies whose X-Forwarded-* headers count (D151) */
  readonly trustedProxies: readonly string[]
  /** the origin under which browsers reach the service; null: the one that a request names */
  readonly publicUrl: string | null
  /** origins whose pages may call the service with a token (D89) */
  readonly corsOrigins: readonly string[]
  readonly openId: OpenIdSettings | null
  /** true if webhooks may reach addresses that are not public (D72) */
  readonly webhookAllowPrivate: boolean
}

/** The values of DATABASE_POOLER. */
const poolers = { 0: null, 1: { prepares: false }, prepared: { prepares: true } }

/** More are slower: they wait for the same cores and the same server. */
const workersMax = 64

function workersOf(env: Environment, databaseUrl: string | null): number {
  const isAuto = env.WORKERS === 'auto'
  const workers = isAuto ? availableParallelism() : wholeNumber(env, 'WORKERS', 1, 1, workersMax, 'auto')
  if (workers > 1 && !databaseUrl)
    throw new ConfigError('WORKERS is for a server: the embedded database has one process. Set DATABASE_URL.')
  return workers
}

function poolerOf(given: string, databaseUrl: string | null): Pooler | null {
  const pooler = poolers[oneOf('DATABASE_POOLER', given, Object.keys(poolers)) as keyof typeof poolers]
  if (pooler && !databaseUrl)
    throw new ConfigError('DATABASE_POOLER is for a server: set DATABASE_URL to the address of the pooler.')
  return pooler
}

function readUrlOf(given: string, databaseUrl: string | null): string {
  if (!databaseUrl)
    throw new ConfigError(
      'DATABASE_READ_URL is for a server: it names a replica of the one that DATABASE_URL names. Set both.',
    )
  return checkedUrl('DATABASE_READ_URL', given)
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings. Throws ConfigError naming the variable and what it takes. */
export function readConfig(env: Environment): Config {
  const wrongName = misspelt(env)
  if (wrongName) throw new ConfigError(wrongName)
  const databaseUrl = env.DATABASE_URL || null
  // Listening on ::1 as well would need a second server.
  const host = !env.HOST || env.HOST === 'localhost' ? '127.0.0.1' : env.HOST
  const port = wholeNumber(env, 'PORT', 3000, 0, 65_535)
  const publicUrl = env.PUBLIC_URL ? checkedOrigin('PUBLIC_URL', env.PUBLIC_URL) : null
  const trustedProxies = listed(env.TRUSTED_PROXIES).map(checkedNetwork)
  const isLocal = isForThisMachine({ host, publicUrl, trustedProxies })
  return {
    ...limits,
    ...connectionLimits(env, host),
    port,
    host,
    ...{ publicUrl, trustedProxies },
    workers: workersOf(env, databaseUrl),
    ...{ dataDir: resolve(env.DATA_DIR || './data'), agentToken: env.DEALWRIGHT_AGENT_TOKEN || null },
    databaseUrl: databaseUrl && checkedUrl('DATABASE_URL', databaseUrl),
    databaseReadUrl: env.DATABASE_READ_URL ? readUrlOf(env.DATABASE_READ_URL, databaseUrl) : null,
    token: env.DEALWRIGHT_TOKEN ? checkedToken(env.DEALWRIGHT_TOKEN) : null,
    hasOnlyTransactions: env.DATABASE_WRITES
      ? oneOf('DATABASE_WRITES', env.DATABASE_WRITES, ['statement', 'transaction']) === 'transaction'
      : false,
    pooler: env.DATABASE_POOLER ? poolerOf(env.DATABASE_POOLER, databaseUrl) : null,
    sampleData: isOn(env, 'SAMPLE_DATA', databaseUrl === null),
    timeZone: env.TIME_ZONE ? checkedTimeZone(env.TIME_ZONE) : null,
    baseCurrency: env.BASE_CURRENCY ? checkedCurrency(env.BASE_CURRENCY) : null,
    corsOrigins: listed(env.CORS_ORIGINS).map(text => checkedOrigin('CORS_ORIGINS', text)),
    ...metricsSettings(env, port, host),
    traces: traceSettings(env),
    backups: backupSettings(env),
    openId: openIdSettings(env),
    webhookAllowPrivate: isOn(env, 'WEBHOOK_ALLOW_PRIVATE', isLocal),
    logRequests: isOn(env, 'LOG_REQUESTS', false),
    logLevel: oneOf('LOG_LEVEL', env.LOG_LEVEL || 'warn', logLevels),
    retentionDays: wholeNumber(env, 'RETENTION_DAYS', limits.retentionDays, 1, 3650),
    eventRetentionDays: env.EVENT_RETENTION_DAYS
      ? wholeNumber(env, 'EVENT_RETENTION_DAYS', 0, 7, 36_500)
      : limits.eventRetentionDays,
    bodyLimitBytes: wholeNumber(env, 'BODY_LIMIT_BYTES', limits.bodyLimitBytes, 1024, 104_857_600),
    rateLimit: wholeNumber(env, 'RATE_LIMIT', isLocal ? 0 : 6000, 0, 1_000_000_000),
  }
}

/**
 * True if other machines don't reach the service: it listens on loopback, and no setting names a proxy that
 * makes it public.
 */
export function isForThisMachine({
  host,
  publicUrl,
  trustedProxies,
}: Pick<Config, 'host' | 'publicUrl' | 'trustedProxies'>): boolean {
  const isHere = !publicUrl || isLoopbackName(new URL(publicUrl).hostname)
  return isLoopback(host) && isHere && trustedProxies.length === 0
}

function connectionLimits(env: Environment, host: string) {
  const most = 1_000_000
  const maxConnections = wholeNumber(env, 'MAX_CONNECTIONS', limits.maxConnections, 10, most)
  // On loopback a proxy on this machine may carry the connections of all clients.
  const perAddress = isLoopback(host) ? maxConnections : Math.ceil(maxConnections / 4)
  return {
    maxConnections,
    maxConnectionsPerAddress: wholeNumber(env, 'MAX_CONNECTIONS_PER_ADDRESS', perAddress, 1, most),
  }
}

/** The default limits. */
export const limits: Limits = {
  retentionDays: 30,
  eventRetentionDays: null,
  bodyLimitBytes: 1_048_576,
  rateLimit: 0,
  maxConnections: 2000,
  maxConnectionsPerAddress: 2000,
  requestTimeoutMs: 30_000,
}

function metricsSettings(
  env: Environment,
  port: number,
  host: string,
): Pick<Config, 'metricsPort' | 'metricsHost'> {
  const text = env.METRICS_PORT
  const metricsHost = env.METRICS_HOST || '127.0.0.1'
  if (!text) {
    if (env.METRICS_HOST) throw new ConfigError('METRICS_HOST needs METRICS_PORT, the port of the metrics.')
    return { metricsPort: null, metricsHost }
  }
  if (text.startsWith('/')) {
    if (env.METRICS_HOST) throw new ConfigError('METRICS_HOST is for a port: METRICS_PORT is a path.')
    return { metricsPort: text, metricsHost }
  }
  const metricsPort = wholeNumber(env, 'METRICS_PORT', 0, 0, 65_535)
  if (metricsPort > 0 && metricsPort === port && (metricsHost === host || !isLoopback(host)))
    throw new ConfigError(`METRICS_PORT must be another than PORT, which is ${port}.`)
  return { metricsPort, metricsHost }
}

function backupSettings(env: Environment): BackupSettings | null {
  if (!env.BACKUP_DIR) {
    const alone = env.BACKUP_EVERY ? 'BACKUP_EVERY' : env.BACKUP_KEEP ? 'BACKUP_KEEP' : null
    if (alone) throw new ConfigError(`${alone} needs BACKUP_DIR, the directory of the backups.`)
    return null
  }
  return {
    directory: env.BACKUP_DIR,
    everyMs: duration('BACKUP_EVERY', env.BACKUP_EVERY || '1d'),
    keep: wholeNumber(env, 'BACKUP_KEEP', 7, 1, 10_000),
  }
}

function openIdSettings(env: Environment): OpenIdSettings | null {
  const given = [env.OIDC_ISSUER, env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET]
  if (!given.some(Boolean)) return null
  const [issuer, clientId, clientSecret] = given
  if (!issuer || !clientId || !clientSecret || !env.PUBLIC_URL) {
    throw new ConfigError(
      'OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL are needed together.',
    )
  }
  return { issuer: checkedWebUrl('OIDC_ISSUER', issuer).href, clientId, clientSecret }
}

/**
 * The origin under which browsers reach the service. Null if no setting names it and the service listens
 * beyond loopback, or if the system has not chosen a port yet.
 */
export function originOf({ publicUrl, host }: Config, port: number): string | null {
  if (publicUrl || !isLoopback(host) || port === 0) return publicUrl
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`).origin
}
