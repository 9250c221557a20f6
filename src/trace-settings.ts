/**
 * The settings of traces (D169): the variables of OpenTelemetry's specification. One that the service can't
 * follow ends the start, as the specification's own way is to go on with a default.
 */
import { readFileSync } from 'node:fs'
import { ConfigError, type Environment, listed, oneOf, wholeNumber } from './setting-values.ts'

export type Sampler = {
  readonly kind: 'always_on' | 'always_off' | 'traceidratio'
  /** part of the traces that `traceidratio` keeps */
  readonly ratio: number
  /** true if the sender of a `traceparent` decides for its traces */
  readonly isParentBased: boolean
}

export type TraceSettings = {
  /** address that takes traces by OTLP over HTTP */
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  /** may hold secrets; never to be logged */
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly isCompressed: boolean
  /** PEM texts: the authorities that the collector's certificate may come from, and the service's own */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** attributes of the service, such as service.name */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Sampler
  readonly queue: {
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
    readonly scheduledDelayMillis: number
    readonly exportTimeoutMillis: number
  }
}

/** Null if traces are off. Without an endpoint the variables are for other programs. */
export function traceSettings(env: Environment): TraceSettings | null {
  const endpoint = exporterSetting(env, 'ENDPOINT')
  if (!endpoint.text) return null
  if (isTrue('OTEL_SDK_DISABLED', env.OTEL_SDK_DISABLED)) return null
  if (exporterOf(env.OTEL_TRACES_EXPORTER) === 'none') return null
  const url = urlOf(endpoint)
  checkPropagators(env.OTEL_PROPAGATORS)
  return {
    url,
    protocol: protocolOf(env),
    headers: {
      ...pairs('OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS),
      ...pairs('OTEL_EXPORTER_OTLP_TRACES_HEADERS', env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    ...connectionOf(env),
    resource: {
      'service.name': 'dealwright',
      ...pairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES),
      ...(env.OTEL_SERVICE_NAME ? { 'service.name': env.OTEL_SERVICE_NAME } : {}),
    },
    sampler: samplerOf(env.OTEL_TRACES_SAMPLER, env.OTEL_TRACES_SAMPLER_ARG),
    queue: queueOf(env),
  }
}

function isTrue(name: string, text = ''): boolean {
  return text !== '' && oneOf(name, text.toLowerCase(), ['true', 'false']) === 'true'
}

const off = 'OTEL_TRACES_EXPORTER=none starts the service without traces.'

function exporterOf(text: string | undefined): string | undefined {
  if (!text || text === 'otlp' || text === 'none') return text
  throw new ConfigError(`OTEL_TRACES_EXPORTER must be otlp or none, not "${text}". ${off}`)
}

/** An exporter's variable for traces, or else the one for all signals, with its name. */
function exporterSetting(env: Environment, name: string): { name: string; text: string } {
  const [own, ofAll] = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]
  const text = env[own]
  return text ? { name: own, text } : { name: ofAll, text: env[ofAll] ?? '' }
}

/** The path of traces is added to the endpoint of all signals, not to the one of traces. */
function urlOf({ name, text }: { name: string; text: string }): string {
  const url = checkedEndpoint(name, text)
  if (!name.includes('TRACES')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url.href
}

/** The text is not shown: it may hold a password. */
function checkedEndpoint(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.username || url?.password)
    throw new ConfigError(`${name} has a user or password: set OTEL_EXPORTER_OTLP_HEADERS instead.`)
  if ((url?.protocol === 'http:' || url?.protocol === 'https:') && !url.search && !url.hash) return url
  throw new ConfigError(`${name} must be an address like http://localhost:4318. ${off}`)
}

const protocols = ['http/protobuf', 'http/json']

function protocolOf(env: Environment): TraceSettings['protocol'] {
  const { name, text } = exporterSetting(env, 'PROTOCOL')
  if (!text || protocols.includes(text)) return (text || protocols[0]) as TraceSettings['protocol']
  throw new ConfigError(
    `${name} must be http/protobuf or http/json, not "${text}": collectors take those on port 4318. ${off}`,
  )
}

function connectionOf(env: Environment): Pick<TraceSettings, 'timeoutMs' | 'isCompressed' | 'tls'> {
  const timeout = exporterSetting(env, 'TIMEOUT')
  const compression = exporterSetting(env, 'COMPRESSION')
  const ca = pemOf(exporterSetting(env, 'CERTIFICATE'))
  const cert = pemOf(exporterSetting(env, 'CLIENT_CERTIFICATE'))
  const key = pemOf(exporterSetting(env, 'CLIENT_KEY'))
  if (!cert !== !key)
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY are needed together.',
    )
  return {
    timeoutMs: wholeNumber(env, timeout.name, 10_000, 1, 60_000),
    isCompressed: oneOf(compression.name, compression.text || 'none', ['none', 'gzip']) === 'gzip',
    tls: { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) },
  }
}

/** The PEM text in a file; null without one. */
function pemOf({ name, text: file }: { name: string; text: string }): string | null {
  if (!file) return null
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${name}: ${file} can't be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (text.includes('-----BEGIN ')) return text
  throw new ConfigError(`${name}: ${file} is not in the PEM format.`)
}

/** `key=value,…` with percent-encoded values (W3C Baggage). No value is shown: it may be secret. */
function pairs(name: string, text: string | undefined): Record<string, string> {
  return Object.fromEntries(
    listed(text).map(pair => {
      const [, key, value] = /^([^\s=]+)\s*=\s*(.*)$/.exec(pair) ?? []
      try {
        if (key && isFit(name, key)) return [key, decodeURIComponent(value!)]
      } catch {
        // Told below.
      }
      throw new ConfigError(
        `${name} must be pairs like key=value with commas between; "%" and "," in a value are %25 and %2C.`,
      )
    }),
  )
}

/** Only a token can be the name of a header (RFC 9110 §5.1). */
function isFit(name: string, key: string): boolean {
  return !name.endsWith('HEADERS') || /^[\w!#$%&'*+.^`|~-]+$/.test(key)
}

const samplers = ['always_on', 'always_off', 'traceidratio']

function samplerOf(name = '', argument = ''): Sampler {
  const text = name || 'parentbased_always_on'
  const all = [...samplers, ...samplers.map(one => `parentbased_${one}`)]
  const kind = oneOf('OTEL_TRACES_SAMPLER', text, all).replace('parentbased_', '') as Sampler['kind']
  const ratio = argument === '' ? 1 : Number(argument)
  if (kind === 'traceidratio' && !(/^[\d.]+$/.test(argument || '1') && ratio >= 0 && ratio <= 1))
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${argument}".`)
  return { kind, ratio, isParentBased: text.startsWith('parentbased_') }
}

/** Baggage holds values of the caller, so it is not passed on; its name is the specification's default. */
function checkPropagators(text: string | undefined): void {
  const names = listed(text)
  if (names.length === 0) return
  if (names.includes('tracecontext') && names.every(one => one === 'tracecontext' || one === 'baggage'))
    return
  throw new ConfigError(`OTEL_PROPAGATORS must be tracecontext, not "${text}". ${off}`)
}

function queueOf(env: Environment): TraceSettings['queue'] {
  const maxQueueSize = wholeNumber(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048, 1, 65_536)
  const usual = Math.min(512, maxQueueSize)
  return {
    maxQueueSize,
    maxExportBatchSize: wholeNumber(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', usual, 1, maxQueueSize),
    scheduledDelayMillis: wholeNumber(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000, 1, 600_000),
    exportTimeoutMillis: wholeNumber(env, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000, 1, 600_000),
  }
}
