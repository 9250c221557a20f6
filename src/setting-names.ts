/**
 * Names of settings in the environment (D152): finds those that are misspelt. An environment has variables of
 * other programs too, so only a name that begins as ours do, or is very near to one of ours, is one.
 */
import { nearest } from './fields/nearest.ts'

/** The settings of the exporter: each is there for traces and for all signals. */
const ofExporter = [
  ...['HEADERS', 'ENDPOINT', 'PROTOCOL', 'TIMEOUT', 'COMPRESSION'],
  ...['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'],
]

/** Names of all settings, and of one that is the client's (client/README.md). */
export const known: readonly string[] = [
  ...['PORT', 'HOST', 'DATA_DIR'],
  ...['DATABASE_URL', 'DATABASE_READ_URL', 'DATABASE_WRITES', 'WORKERS', 'DATABASE_POOLER'],
  ...['DEALWRIGHT_TOKEN', 'DEALWRIGHT_AGENT_TOKEN', 'DEALWRIGHT_URL'],
  ...['SAMPLE_DATA', 'TIME_ZONE', 'BASE_CURRENCY', 'EVENT_RETENTION_DAYS', 'RETENTION_DAYS'],
  ...['BODY_LIMIT_BYTES', 'RATE_LIMIT', 'MAX_CONNECTIONS', 'MAX_CONNECTIONS_PER_ADDRESS'],
  ...['CORS_ORIGINS', 'WEBHOOK_ALLOW_PRIVATE', 'PUBLIC_URL', 'TRUSTED_PROXIES'],
  ...['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
  ...['BACKUP_DIR', 'BACKUP_EVERY', 'BACKUP_KEEP'],
  ...['METRICS_PORT', 'METRICS_HOST', 'LOG_REQUESTS', 'LOG_LEVEL'],
  ...['OTEL_SDK_DISABLED', 'OTEL_TRACES_EXPORTER', 'OTEL_PROPAGATORS'],
  ...ofExporter.flatMap(name => [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]),
  ...['OTEL_RESOURCE_ATTRIBUTES', 'OTEL_SERVICE_NAME', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
  ...['OTEL_BSP_MAX_QUEUE_SIZE', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
  ...['OTEL_BSP_SCHEDULE_DELAY', 'OTEL_BSP_EXPORT_TIMEOUT'],
]

/** Variables of OpenTelemetry that are near to ours, but of another signal. */
const ofLogs = /^OTEL_BLRP_/

/** Variables that Kubernetes sets for a service named dealwright, or dealwright-…. */
const ofKubernetes = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** A shorter name is too near to many others; a long one may have two edits. */
const [shortest, long] = [8, 12]

/** The sentence about the first misspelt name; null if there is none. */
export function misspelt(env: Readonly<Record<string, string | undefined>>): string | null {
  for (const [name, value] of Object.entries(env)) {
    if (known.includes(name) || !value) continue
    if (name.startsWith('DEALWRIGHT_')) {
      if (ofKubernetes.test(name) && (name !== 'DEALWRIGHT_PORT' || value.includes('://'))) continue
      const plain = name.slice('DEALWRIGHT_'.length)
      const meant = known.includes(plain) ? plain : (nearest(name, known) ?? nearest(plain, known))
      return meant
        ? `${name} is not a setting: it is called ${meant}.`
        : `${name} is not a setting: docs/operating.md lists them.`
    }
    const meant = nearlyOf(name)
    if (meant) return `${name} is not a setting: it is called ${meant}.`
  }
  return null
}

function nearlyOf(name: string): string | null {
  if (name.length < shortest || !name.includes('_') || ofLogs.test(name)) return null
  const names = known.filter(one => one.length >= shortest)
  return nearest(name, names, name.length < long ? 1 : 2)
}
