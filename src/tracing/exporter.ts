/**
 * Sends spans to the collector by OTLP over HTTP. One that is away or slow costs nothing but its spans: they
 * wait in a bounded queue, and a line of the log says how many were lost, at most once a minute.
 */
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { TraceSettings } from '../trace-settings.ts'

const sayEveryMs = 60_000

/** A log that takes one line a minute. */
export function throttled(log: (line: string) => void): (line: string) => void {
  let saidAt = Number.NEGATIVE_INFINITY
  return line => {
    if (performance.now() - saidAt < sayEveryMs) return
    saidAt = performance.now()
    log(`Traces: ${line}`)
  }
}

export async function openExporter(
  { url, protocol, headers, timeoutMs, isCompressed, tls }: TraceSettings,
  say: (line: string) => void,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  type Options = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>
  const exporter = new OTLPTraceExporter({
    ...{ url, headers, timeoutMillis: timeoutMs },
    compression: (isCompressed ? 'gzip' : 'none') as NonNullable<Options['compression']>,
    httpAgentOptions: { keepAlive: true, ...tls },
  })
  let lost = 0
  return {
    export(spans, done) {
      exporter.export(spans, result => {
        if (result.code !== 0) {
          lost += spans.length
          say(`the collector did not take ${lost} spans so far: ${reasonOf(result.error)}. They are lost.`)
        }
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

/** The reason without the collector's own words. */
function reasonOf(error: (Error & { readonly code?: number | string }) | undefined): string {
  if (!error) return 'unknown'
  return typeof error.code === 'number' ? `it answered ${error.code}` : (error.code ?? error.message)
}
