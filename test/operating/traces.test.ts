/**
 * Traces (D169), with a collector that takes OTLP over HTTP: what a span says and what it does not, how a
 * trace goes on at the receivers of webhooks, and what it costs if the collector is away or there is none.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { answering, startReceiver } from '../support/receiver.ts'
import { type Running, runService, temporaryFolder } from '../support/running-service.ts'

const folder = temporaryFolder('traces')
const v1 = '/rest/api/v1'

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Attribute[]
  status: { code?: number; message?: string }
}
type Sent = { headers: IncomingHttpHeaders; body: Buffer }

/** Kinds and codes of OTLP. */
const [server, client, failed] = [2, 3, 2]

function listening(one: Server): Promise<string> {
  after(() => one.close())
  return new Promise(resolve =>
    one.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(one.address() as AddressInfo).port}`)),
  )
}

async function startCollector() {
  const sent: Sent[] = []
  const collector = createServer(async (request, response) => {
    sent.push({ headers: request.headers, body: await buffer(request) })
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' })
    response.end('{}')
  })
  after(() => collector.closeAllConnections())
  const url = await listening(collector)
  // biome-ignore lint/suspicious/noExplicitAny: as the collector gets it
  const resources = (): any[] => sent.flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans)
  const spans = (): Span[] =>
    resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((one: { spans: Span[] }) => one.spans))
  return {
    ...{ url, sent, resources, spans },
    /** The span of a trace that fits, once it is there. */
    async spanOf(traceId: string, isIt: (span: Span) => boolean): Promise<Span> {
      const find = () => spans().find(span => span.traceId === traceId && isIt(span))
      await eventually(() => find() !== undefined, 'a span')
      return find()!
    },
  }
}

const traced = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

function valuesOf({ attributes }: Span): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue)]),
  )
}

/** A traceparent of a caller, and its parts. */
function caller(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } }
}

async function created(answer: Response): Promise<number> {
  assert.equal(answer.status, 201)
  const { data } = (await answer.json()) as { data: { id: number } }
  return data.id
}

const secret = 'Ten of spades'
const postgres = await startPostgres()
after(() => postgres?.stop())

for (const engine of ['embedded', 'postgres'] as const)
  test(`${engine}: a request has a span with its route, and spans of its statements; nothing has a value`, {
    skip: engine === 'postgres' && !postgres,
  }, async () => {
    const collector = await startCollector()
    const service = await runService({
      ...traced(collector.url),
      ...{ DATA_DIR: join(folder, engine), SAMPLE_DATA: '0', LOG_REQUESTS: '1' },
      DATABASE_URL: engine === 'postgres' ? await createDatabase(postgres!.url) : '',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%2Cb',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_SERVICE_NAME: 'crm',
    })
    const [writing, reading, listing] = [caller(), caller(), caller()]
    const id = await created(await service.post(`${v1}/tag`, { name: secret }, writing.headers))
    assert.equal((await service.get(`${v1}/tag/${id}?x=${secret}`, reading.headers)).status, 400)
    assert.equal(
      (await service.get(`${v1}/tag/view/list?filter=name:eq(${secret})`, listing.headers)).status,
      200,
    )

    const isServer = ({ kind }: Span) => kind === server
    const write = await collector.spanOf(writing.traceId, isServer)
    assert.equal(write.name, `POST ${v1}/tag`)
    assert.equal(write.parentSpanId, writing.spanId)
    assert.deepEqual(valuesOf(write), {
      'http.request.method': 'POST',
      'http.route': `${v1}/tag`,
      'http.response.status_code': '201',
    })
    const read = await collector.spanOf(reading.traceId, isServer)
    assert.equal(read.name, `GET ${v1}/tag/:id`)
    // A refusal is not a failure of the service.
    assert.deepEqual([valuesOf(read)['http.response.status_code'], read.status.code ?? 0], ['400', 0])
    const insert = await collector.spanOf(writing.traceId, ({ name }) => name === 'INSERT tag')
    assert.deepEqual([insert.kind, insert.parentSpanId], [client, write.spanId])
    assert.deepEqual(valuesOf(insert), {
      'db.system.name': 'postgresql',
      'db.operation.name': 'INSERT',
      'db.collection.name': 'tag',
    })
    const list = await collector.spanOf(listing.traceId, isServer)
    const select = await collector.spanOf(listing.traceId, ({ name }) => name === 'SELECT tag')
    assert.equal(select.parentSpanId, list.spanId)

    const { resource } = collector.resources()[0]
    const of = (key: string) =>
      resource.attributes.find((one: Attribute) => one.key === key)?.value.stringValue
    assert.deepEqual(['service.name', 'deployment.environment.name', 'telemetry.sdk.language'].map(of), [
      'crm',
      'test',
      'nodejs',
    ])
    assert.ok(of('service.version') && of('service.instance.id'))
    assert.equal(collector.sent[0]!.headers['x-key'], 'a,b')
    await service.end()
    const all = Buffer.concat(collector.sent.map(({ body }) => body)).toString()
    for (const value of [
      secret,
      'spades',
      service.token,
      service.token.slice(0, 8),
      `tag/${id}`,
      '127.0.0.1',
    ])
      assert.ok(!all.includes(value), value)
    assert.match(service.log(), new RegExp(`"route":"${v1}/tag","status":201.*"trace":"${writing.traceId}"`))
  })

test('a transaction has a span with those of its statements', async () => {
  const collector = await startCollector()
  const service = await runService({
    ...traced(collector.url),
    ...{ DATA_DIR: join(folder, 'transactions'), SAMPLE_DATA: '0' },
  })
  const batch = caller()
  const operations = ['a', 'b', 'c'].map(name => ({ op: 'create', data: { name } }))
  const body = { operations, atomic: true }
  assert.equal((await service.post(`${v1}/tag/batch`, body, batch.headers)).status, 200)
  await service.end()
  const spans = collector.spans().filter(({ traceId }) => traceId === batch.traceId)
  const request = spans.find(({ name }) => name === `POST ${v1}/tag/batch`)!
  const transaction = spans.find(({ name }) => name === 'transaction')!
  assert.equal(transaction.parentSpanId, request.spanId)
  const inner = spans.filter(({ parentSpanId }) => parentSpanId === transaction.spanId)
  assert.ok(
    inner.some(({ name }) => name === 'INSERT tag'),
    spans.map(({ name }) => name).join(),
  )
})

test('a webhook gets the traceparent of the request that wrote the event, also after a failed attempt', async () => {
  const collector = await startCollector()
  const receiver = await startReceiver(answering(500))
  const service = await runService({
    ...traced(collector.url),
    ...{ DATA_DIR: join(folder, 'webhooks'), SAMPLE_DATA: '0', WEBHOOK_ALLOW_PRIVATE: '1' },
  })
  const webhook = { name: 'Hook', url: `${receiver.url}/secret-path`, events: ['tag.created'] }
  await created(await service.post(`${v1}/webhook`, webhook))
  const writing = caller()
  await created(await service.post(`${v1}/tag`, { name: secret }, writing.headers))
  await receiver.until(1)
  receiver.answer = answering(204)
  const unsampled = caller('00')
  await created(await service.post(`${v1}/tag`, { name: 'Other' }, unsampled.headers))
  await receiver.until(3)
  const write = await collector.spanOf(writing.traceId, ({ kind }) => kind === server)
  for (const [tries, status] of [
    [0, '500'],
    [1, '204'],
  ] as const) {
    const isIt = (span: Span) =>
      span.name === 'POST webhook' && Number(valuesOf(span)['http.request.resend_count'] ?? 0) === tries
    const span = await collector.spanOf(writing.traceId, isIt)
    assert.deepEqual([span.kind, span.parentSpanId], [client, write.spanId])
    assert.equal(valuesOf(span)['http.response.status_code'], status)
    assert.equal(span.status.code ?? 0, status === '500' ? failed : 0)
    const header = `00-${writing.traceId}-${span.spanId}-01`
    assert.ok(receiver.got.some(({ headers }) => headers.traceparent === header))
  }
  const other = receiver.got.find(({ text }) => text.includes('Other'))!.headers.traceparent!
  assert.match(other, new RegExp(`^00-${unsampled.traceId}-[0-9a-f]{16}-00$`))
  await service.end()
  assert.ok(!collector.spans().some(({ traceId }) => traceId === unsampled.traceId))
  assert.doesNotMatch(Buffer.concat(collector.sent.map(({ body }) => body)).toString(), /secret-path|spades/)
})

test('a traceparent that is malformed is ignored, and the request begins a trace', async () => {
  const collector = await startCollector()
  const service = await runService({
    ...traced(collector.url),
    ...{ DATA_DIR: join(folder, 'malformed'), SAMPLE_DATA: '0' },
  })
  const [id, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const malformed = [
    `ff-${id}-${parent}-01`,
    `00-${id}-${parent}-01-more`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `00-${id.toUpperCase()}-${parent}-01`,
    `00-${id}-${parent}-01, 00-${id}-${parent}-01`,
    'x'.repeat(5000),
  ]
  for (const traceparent of malformed) await service.get('/healthz', { traceparent })
  // A later version may have more parts.
  await service.get('/healthz', { traceparent: `cc-${id}-${parent}-01-more` })
  await service.get('/readyz', { tracestate: 'a=b' })
  await service.end()
  const spans = collector.spans().filter(({ name }) => /(healthz|readyz)$/.test(name))
  const continued = spans.filter(({ traceId }) => traceId === id)
  assert.equal(spans.length, malformed.length + 2)
  assert.deepEqual(
    continued.map(({ parentSpanId }) => parentSpanId),
    [parent],
  )
})

test('the default protocol is protobuf, compressed where it is wished', async () => {
  const collector = await startCollector()
  const service = await runService({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    ...{ DATA_DIR: join(folder, 'protobuf'), SAMPLE_DATA: '0' },
  })
  await service.get(`${v1}/tag/view/list`)
  // The stop sends the spans that wait.
  await service.end()
  const [sent] = collector.sent
  assert.equal(sent!.headers['content-type'], 'application/x-protobuf')
  assert.equal(sent!.headers['content-encoding'], 'gzip')
  const { gunzipSync } = await import('node:zlib')
  assert.ok(gunzipSync(sent!.body).includes(`GET ${v1}/tag/view/list`))
})

/** Requests of every kind; each must succeed. */
async function work({ get, post }: Running): Promise<void> {
  for (let count = 0; count < 200; count++) await (await get(`${v1}/tag/view/list`)).text()
  await created(await post(`${v1}/tag`, { name: secret }))
}

test('a collector that is away or does not answer changes no answer; the log says so once', async () => {
  const silent = createSocketServer(() => {})
  const places = { silent: await listening(silent), away: 'http://127.0.0.1:9' }
  for (const [name, url] of Object.entries(places)) {
    const service = await runService({
      ...traced(url),
      ...{ DATA_DIR: join(folder, name), SAMPLE_DATA: '0', OTEL_BSP_MAX_QUEUE_SIZE: '100' },
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    })
    await work(service)
    await service.logged(/Traces: the collector did not take \d+ spans so far: [^"]+\. They are lost\./)
    await work({ ...service, post: () => service.post(`${v1}/tag`, { name: 'Another' }) })
    // A stop that hangs ends with 1.
    await service.end()
    assert.equal(service.child.exitCode, 0)
    assert.equal(service.log().match(/spans so far/g)!.length, 1)
    assert.doesNotMatch(service.log(), /"level":50/)
  }
})

/** Writes at its end which packages of OpenTelemetry a process has loaded. */
const told = `--import=data:text/javascript,${encodeURIComponent(`
import { writeSync } from 'node:fs'
import module from 'node:module'
process.on('exit', () => {
  const names = Object.keys(module._cache).filter(name => name.includes('@opentelemetry'))
  writeSync(2, 'loaded ' + names.length + '\\n')
})`)}`

test('where traces are off nothing is loaded, and a webhook gets no traceparent', async () => {
  const collector = await startCollector()
  const receiver = await startReceiver()
  const endings = [
    [{ ...traced(collector.url), OTEL_SDK_DISABLED: 'true' }, false],
    [traced(collector.url), true],
  ] as const
  for (const [index, [env, isOn]] of endings.entries()) {
    const service = await runService({
      ...{ ...env, NODE_OPTIONS: told, WEBHOOK_ALLOW_PRIVATE: '1' },
      ...{ DATA_DIR: join(folder, `off-${index}`), SAMPLE_DATA: '0' },
    })
    const webhook = { name: 'Hook', url: receiver.url, events: ['tag.created'] }
    await created(await service.post(`${v1}/webhook`, webhook))
    await created(await service.post(`${v1}/tag`, { name: secret }, caller().headers))
    await receiver.until(index + 1)
    assert.equal('traceparent' in receiver.got[index]!.headers, isOn)
    await service.end()
    const [, count] = await service.logged(/loaded (\d+)/)
    assert.equal(Number(count) > 0, isOn)
    assert.equal(collector.sent.length > 0, isOn)
  }
})
