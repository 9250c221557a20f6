/** The settings of traces (D169): what each takes, and the one line for what the service can't follow. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { ConfigError } from '../../src/setting-values.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const traces = (env: Record<string, string>) => readConfig({ ...endpoint, ...env }).traces!

test('traces are on where an endpoint is set, and nothing turns them off', () => {
  const others = {
    OTEL_SERVICE_NAME: 'crm',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'xray',
  }
  const unknown = { ...others, OTEL_SDK_DISABLED: '1', OTEL_TRACES_EXPORTER: 'console' }
  assert.equal(readConfig({ ...unknown, OTEL_EXPORTER_OTLP_ENDPOINT: '' }).traces, null)
  assert.equal(readConfig({ ...endpoint, ...others, OTEL_SDK_DISABLED: 'TRUE' }).traces, null)
  assert.equal(readConfig({ ...endpoint, ...others, OTEL_TRACES_EXPORTER: 'none' }).traces, null)
  assert.deepEqual(traces({ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }), {
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    timeoutMs: 10_000,
    isCompressed: false,
    tls: {},
    resource: { 'service.name': 'dealwright' },
    sampler: { kind: 'always_on', ratio: 1, isParentBased: true },
    queue: {
      maxQueueSize: 2048,
      maxExportBatchSize: 512,
      scheduledDelayMillis: 5000,
      exportTimeoutMillis: 30_000,
    },
  })
})

test('the endpoint of traces is taken as it stands, that of all signals gets their path', () => {
  const of = (env: Record<string, string>) => readConfig(env).traces!.url
  assert.equal(of({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' }), 'https://c/otlp/v1/traces')
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c:1/in' }
  assert.equal(of({ ...endpoint, ...own }), 'https://c:1/in')
})

test('a variable of traces comes before the one of all signals; headers and attributes are put together', () => {
  const both = traces({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '200',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b = x%2Cy%3D%25',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=x,k=v=w',
    OTEL_SERVICE_NAME: 'crm',
  })
  assert.deepEqual([both.protocol, both.timeoutMs, both.isCompressed], ['http/json', 200, true])
  assert.deepEqual(both.headers, { a: '2', b: 'x,y=%' })
  assert.deepEqual(both.resource, { 'service.name': 'crm', k: 'v=w' })
})

test('samplers, with their argument', () => {
  const of = (name: string, argument = '') =>
    traces({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }).sampler
  assert.deepEqual(of('always_off'), { kind: 'always_off', ratio: 1, isParentBased: false })
  assert.deepEqual(of('traceidratio', '.25'), { kind: 'traceidratio', ratio: 0.25, isParentBased: false })
  assert.deepEqual(of('parentbased_traceidratio', '0'), {
    kind: 'traceidratio',
    ratio: 0,
    isParentBased: true,
  })
})

test('what the service can not follow ends the start in one line that says what to do', () => {
  const refused: [string, string, RegExp][] = [
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /must be http\/protobuf or http\/json, not "grpc".*port 4318/],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc', /^OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be/],
    ['OTEL_TRACES_EXPORTER', 'jaeger', /must be otlp or none, not "jaeger"/],
    ['OTEL_TRACES_EXPORTER', 'otlp,console', /must be otlp or none/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', /must be an address like http:\/\/localhost:4318/],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'c', /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an address/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://u:secret@c', /has a user or password/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', /must be pairs like key=value/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=secret', /must be pairs/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a:=secret', /must be pairs/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%', /must be pairs/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team', /OTEL_RESOURCE_ATTRIBUTES must be pairs/],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '1s', /whole number/],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', /one of none, gzip/],
    ['OTEL_EXPORTER_OTLP_CLIENT_KEY', '/nowhere', /can't be read \(ENOENT\)/],
    ['OTEL_SDK_DISABLED', '1', /one of true, false/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /must be one of always_on/],
    ['OTEL_PROPAGATORS', 'b3', /must be tracecontext, not "b3"/],
    ['OTEL_PROPAGATORS', 'tracecontext,b3', /must be tracecontext/],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0', /whole number from 1/],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '4000', /whole number from 1 to 2048/],
    ['OTEL_EXPORTER_OTLP_ENDPIONT', 'x', /it is called OTEL_EXPORTER_OTLP_ENDPOINT/],
  ]
  const isClear = (form: RegExp) => (error: unknown) =>
    error instanceof ConfigError && form.test(error.message) && !/\n|secret/.test(error.message)
  for (const [name, value, form] of refused)
    assert.throws(() => traces({ [name]: value }), isClear(form), `${name}=${value}`)
  for (const ratio of ['1.1', '-1', 'half', '0x1'])
    assert.throws(
      () => traces({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio }),
      isClear(/must be a number from 0 to 1/),
    )
})

test('variables of other signals are left alone', () => {
  for (const name of [
    'LOGS_EXPORTER',
    'METRICS_EXPORTER',
    'BLRP_SCHEDULE_DELAY',
    'EXPORTER_OTLP_LOGS_ENDPOINT',
  ])
    assert.ok(traces({ [`OTEL_${name}`]: 'console' }))
  assert.ok(traces({ OTEL_PROPAGATORS: 'tracecontext,baggage' }))
})

test('certificates are files in the PEM format', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dealwright-pem-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const [pem, other] = [join(folder, 'pem'), join(folder, 'other')]
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n')
  writeFileSync(other, 'x')
  assert.deepEqual(traces({ OTEL_EXPORTER_OTLP_CERTIFICATE: pem }).tls, {
    ca: '-----BEGIN CERTIFICATE-----\n',
  })
  assert.throws(() => traces({ OTEL_EXPORTER_OTLP_CERTIFICATE: other }), /is not in the PEM format/)
  assert.throws(() => traces({ OTEL_EXPORTER_OTLP_CLIENT_KEY: pem }), /are needed together/)
})
