/**
 * Traces by OpenTelemetry (D169): a span for each request, for each statement of it, and for each attempt to
 * deliver a webhook. Owns their names and attributes. None has an account, an id, a path, an address or a
 * value. Loaded only where traces are wanted; other folders import its types alone.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  type Context,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Database, Log } from '../db/open.ts'
import type { TraceSettings } from '../trace-settings.ts'
import { within } from '../waiting/timeout.ts'
import { tracedDatabase } from './database.ts'
import { openExporter, throttled } from './exporter.ts'

export type TracedResponse = {
  /** template of the route; null without a route of its own */
  readonly route: string | null
  /** null if the client hung up before it began */
  readonly status: number | null
}

export type RequestSpan = {
  /** header that carries the trace on (W3C Trace Context) */
  readonly traceparent: string
  readonly traceId: string
  /** Runs `act`, whose statements become children of the span until it ends. */
  run(act: () => void): void
  end(response: TracedResponse): void
}

/** The span of an attempt to deliver a webhook. */
export type DeliverySpan = {
  readonly traceparent: string
  /** `error`: a text without any value; null: delivered */
  end(status: number | null, error: string | null): void
}

export type Traces = {
  /** `traceparent`: the header; one that is malformed is ignored, as W3C Trace Context says */
  beginRequest(method: string, traceparent: string | undefined): RequestSpan
  /** `traceparent`: that of the request which wrote the event; null: a trace begins here */
  beginDelivery(traceparent: string | null, tries: number): DeliverySpan
  /** The database with a span for each statement of a request. */
  database(db: Database): Database
  /** Sends what is left, for at most two seconds. */
  stop(): Promise<void>
}

const sendWithinMs = 2000

/** Begins to trace. `version` is the program's own. */
export async function openTraces(settings: TraceSettings, version: string, log: Log): Promise<Traces> {
  const say = throttled(log)
  // The exporter reports failed exports; of the SDK's own messages only its warnings are logged.
  const silent = () => {}
  const logger = { error: silent, warn: say, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { suppressOverrideMessage: true })
  setGlobalErrorHandler(silent)
  const exporter = await openExporter(settings, say)
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': version,
        'service.instance.id': randomUUID(),
        ...settings.resource,
      }),
    ),
    sampler: samplerOf(settings.sampler),
    spanProcessors: [new BatchSpanProcessor({ ...settings.queue, exporter })],
  })
  const tracer = provider.getTracer('dealwright', version)
  const requests = new AsyncLocalStorage<TracedRequest>()
  return {
    beginRequest: (method, header) => beginRequest(tracer, requests, method, contextOf(header)),
    beginDelivery: (traceparent, tries) => beginDelivery(tracer, contextOf(traceparent), tries),
    database: db => tracedDatabase(db, tracer, () => requests.getStore()?.context ?? null),
    async stop() {
      const late = () => log('Traces: the collector did not take the last spans in time. They are lost.')
      await within(provider.shutdown(), sendWithinMs, late).catch(silent)
      diag.disable()
    },
  }
}

function samplerOf({ kind, ratio, isParentBased }: TraceSettings['sampler']): Sampler {
  const root =
    kind === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : kind === 'always_on'
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler()
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

/** The trace that a header continues; else none. */
function contextOf(traceparent: string | null | undefined): Context {
  const parent = traceparent ? parseTraceParent(traceparent) : null
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT
}

function headerOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`
}

/** `context`: null when the response is sent. Work that outlives the request is not part of it. */
type TracedRequest = { context: Context | null }

function beginRequest(
  tracer: Tracer,
  requests: AsyncLocalStorage<TracedRequest>,
  method: string,
  parent: Context,
): RequestSpan {
  const attributes = { 'http.request.method': method === 'other' ? '_OTHER' : method }
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent)
  const traced: TracedRequest = { context: span.isRecording() ? trace.setSpan(parent, span) : null }
  return {
    traceparent: headerOf(span),
    traceId: span.spanContext().traceId,
    run: act => requests.run(traced, act),
    end({ route, status }) {
      traced.context = null
      if (route !== null) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
      if (status !== null) span.setAttribute('http.response.status_code', status)
      if (status !== null && status >= 500) failed(span, String(status))
      span.end()
    },
  }
}

function beginDelivery(tracer: Tracer, parent: Context, tries: number): DeliverySpan {
  const attributes = {
    'http.request.method': 'POST',
    ...(tries > 0 ? { 'http.request.resend_count': tries } : {}),
  }
  const span = tracer.startSpan('POST webhook', { kind: SpanKind.CLIENT, attributes }, parent)
  return {
    traceparent: headerOf(span),
    end(status, error) {
      if (status !== null) span.setAttribute('http.response.status_code', status)
      if (error !== null) failed(span, status === null ? '_OTHER' : String(status), error)
      span.end()
    },
  }
}

function failed(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
}
