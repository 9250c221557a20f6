/**
 * Limits of a connection before authentication (D107): its time to send a request, and the number of
 * connections.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../support/eventually.ts'
import { codeOf, head, type RawClient, rawClient, statusOf } from '../support/raw.ts'
import { startService, v1 } from '../support/service.ts'

const lines: string[] = []
const log = pino(
  { level: 'warn' },
  new Writable({
    write: (line, _encoding, done) => {
      lines.push(String(line))
      done()
    },
  }),
)
const requestTimeoutMs = 2000
const slow = await startService({ limits: { requestTimeoutMs } })
const bearer = { authorization: `Bearer ${slow.token}` }

test('a request that does not arrive in time is ended then, however it is sent', async () => {
  const complete = head('POST', `${v1}/tag`, { ...bearer, 'content-length': 1000 })
  const sends: { readonly [how: string]: (client: RawClient) => Slow | undefined } = {
    nothing: () => undefined,
    'half a head': client => void client.send(complete.slice(0, 60)),
    'a head, slowly': client => slowly(client, complete),
    'half a body': client => void client.send(`${complete}{"name":`),
    'a body, slowly': client => {
      client.send(complete)
      return slowly(client, ' '.repeat(1000))
    },
    'a second request, slowly': client => {
      client.send(head('GET', '/healthz', {}))
      return slowly(client, complete)
    },
  }
  const ends = Object.entries(sends).map(async ([how, send]) => {
    const begun = performance.now()
    const client = await rawClient(slow.url)
    const sending = send(client)
    const answer = await client.ended
    clearInterval(sending?.timer)
    const last = answer.slice(answer.lastIndexOf('HTTP/1.1 '))
    assert.deepEqual([statusOf(last), codeOf(last)], [408, 6006], how)
    // A time limit that restarts with each byte would have let it finish.
    assert.ok(!sending?.isThrough(), how)
    return { how, took: (performance.now() - begun) / requestTimeoutMs }
  })
  for (const { how, took } of await Promise.all(ends))
    assert.ok(took > 0.9, `${how}: ${took} times the limit`)
})

test('a file may take longer to arrive, as long as it comes', async () => {
  const text = `name\n${Array.from({ length: 60 }, (_, index) => `Slow ${index}\n`).join('')}`
  const headers = { ...bearer, 'content-type': 'text/csv', 'content-length': text.length }
  const complete = head('POST', `${v1}/import?resource=tag&format=csv`, headers)
  const [steady, stalled] = await Promise.all([rawClient(slow.url), rawClient(slow.url)])
  const begun = performance.now()
  for (const client of [steady, stalled]) client.send(complete + text.slice(0, 10))
  for (let sent = 10; sent < text.length; sent += 60) {
    await later(requestTimeoutMs / 4)
    steady.send(text.slice(sent, sent + 60))
  }
  await eventually(() => steady.answered() !== '', 'an answer')
  assert.ok(performance.now() - begun > 1.5 * requestTimeoutMs)
  assert.equal(statusOf(steady.answered()), 201)
  const answer = await stalled.ended
  assert.deepEqual([statusOf(answer), codeOf(answer)], [408, 6006])
  // The next request over the same connection has the same time limit.
  steady.send(complete.slice(0, 60))
  assert.match(await steady.ended, /408/)
})

test('who sends a file that can not be read gets to know why, however much is still to come', async () => {
  const size = 30_000_000
  const client = await rawClient(slow.url)
  const headers = { ...bearer, 'content-type': 'text/csv', 'content-length': size }
  client.send(`${head('POST', `${v1}/import?resource=tag&format=csv&encoding=utf-8`, headers)}name\n`)
  client.socket.write(Buffer.from([0x41, 0xff, 0x0a]))
  const more = setInterval(() => client.socket.write(Buffer.alloc(100_000, 'A\n')), 10)
  const answer = await client.ended
  clearInterval(more)
  assert.equal(statusOf(answer), 400, answer)
})

test('a client that does not read its answers is cut off', async () => {
  const client = await rawClient(slow.url)
  client.socket.pause()
  const closed = new Promise(resolve => client.socket.once('close', resolve))
  const asks = 2000
  client.send(head('GET', `${v1}/field/list?source=deal`, bearer).repeat(asks))
  await later(6 * requestTimeoutMs)
  client.socket.resume()
  await closed
  const answers = client.answered().split('HTTP/1.1 200').length - 1
  assert.ok(answers > 0 && answers < asks / 2, `${answers} of ${asks} answers`)
})

type Unread = { readonly answered: Promise<IncomingMessage>; readonly end: () => void }

/** A request whose answer is not read. */
function unread(url: string, headers: { readonly [name: string]: string }): Unread {
  const sent = request(url, { headers, agent: false })
  const answered = once(sent.end(), 'response').then(([answer]) => (answer as IncomingMessage).pause())
  return { answered, end: () => sent.destroy() }
}

const statusesOf = async (clients: readonly Unread[]) =>
  (await Promise.all(clients.map(({ answered }) => answered))).map(({ statusCode }) => statusCode)

/** True if all are answered; ends them. */
async function areTaken(clients: readonly Unread[]): Promise<boolean> {
  const statuses = await statusesOf(clients)
  for (const { end } of clients) end()
  return statuses.every(status => status === 200)
}

test('long answers that are not read are an account’s own share of memory', async () => {
  // Its clients are not cut off while the others are still being answered.
  const patient = await slow.another({ limits: {} })
  const { body } = await patient.call('POST', `${v1}/tag`, { name: 'Long' })
  await slow.db.query(`UPDATE tag SET document = document || ',"cf_long":"' || repeat('x', 30000000) || '"'
    WHERE account_id = 1 AND id = ${body.data.id}`)
  const asked = () => unread(`${patient.url}${v1}/tag/view/list?filter=name:eq(Long)`, bearer)
  const clients = Array.from({ length: 8 }, asked)
  const statuses = await statusesOf(clients)
  assert.deepEqual(statuses.toSorted(), [200, 200, 200, 200, 503, 503, 503, 503])
  assert.equal((await patient.get(`${v1}/tag/${body.data.id + 1}`)).status, 404)
  for (const { end } of clients) end()
  // So are those that wait behind another on a connection, until it ends.
  const ask = head('GET', `${v1}/tag/view/list?filter=name:eq(Long)`, bearer)
  for (let times = 0; times < 3; times++) {
    const client = await rawClient(patient.url)
    client.socket.pause()
    client.send(ask.repeat(6))
    await later(requestTimeoutMs / 4)
    client.socket.destroy()
  }
  await eventually(() => areTaken(Array.from({ length: 4 }, asked)), 'room for as many answers as before')
  await patient.call('DELETE', `${v1}/tag/${body.data.id}`)
})

test('pages of a stream that are not read count for the same share', async () => {
  const patient = await slow.another({ limits: {} })
  const ids: number[] = []
  for (let count = 0; count < 10; count++)
    ids.push((await patient.call('POST', `${v1}/tag`, { name: `Long ${count}` })).body.data.id)
  await slow.db.query(`UPDATE tag SET document = document || ',"cf_long":"' || repeat('x', 1000000) || '"'
    WHERE account_id = 1 AND id = ANY('{${ids}}')`)
  const last = Number((await patient.get(`${v1}/event?after=999999999999`)).body.meta.last)
  const headers = { ...bearer, accept: 'text/event-stream' }
  const asked = () => unread(`${patient.url}${v1}/event?record=1&after=${last - 10}`, headers)
  const clients = Array.from({ length: 24 }, asked)
  const statuses = await statusesOf(clients)
  assert.ok(statuses.includes(200) && statuses.includes(503), statuses.join())
  for (const { end } of clients) end()
  await eventually(() => areTaken(Array.from({ length: 8 }, asked)), 'room for as many streams as before')
})

test('a request whose token is revoked before its body is there is refused', async () => {
  const patient = await slow.another({ limits: {} })
  const { token, id } = await slow.made('token', { name: 'Slow', scopes: ['tag:read', 'tag:write'] })
  const body = JSON.stringify({ name: 'Of a revoked token' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  assert.equal((await patient.call('GET', `${v1}/tag/view/list`, undefined, headers)).status, 200)
  const client = await rawClient(patient.url)
  const length = { 'content-length': body.length, expect: '100-continue', connection: 'close' }
  client.send(head('POST', `${v1}/tag`, { ...headers, ...length }))
  // It is admitted as soon as it is known.
  await eventually(() => statusOf(client.answered()) === 100, 'an admitted head')
  assert.equal((await patient.call('DELETE', `${v1}/token/${id}`)).status, 200)
  slow.aSecondGoesBy()
  client.send(body)
  const answer = await client.ended
  const last = answer.slice(answer.lastIndexOf('HTTP/1.1 '))
  assert.equal(statusOf(last), 401, last)
})

test('the file of a token that is revoked meanwhile is not taken', async () => {
  const { token, id } = await slow.made('token', { name: 'Uploads', scopes: ['import:write', 'tag:write'] })
  const client = await rawClient(slow.url)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'text/csv',
    'content-length': 1_000_000,
  }
  client.send(`${head('POST', `${v1}/import?resource=tag&format=csv`, headers)}name\n`)
  const more = setInterval(() => client.send('A row\n'), 50)
  await later(requestTimeoutMs / 4)
  assert.equal((await slow.call('DELETE', `${v1}/token/${id}`)).status, 200)
  const answer = await client.ended
  clearInterval(more)
  assert.equal(statusOf(answer), 401, answer)
})

test('one network that signs in slowly leaves room for others', async () => {
  const at = new URL(slow.url)
  const signIn = (localAddress: string, length: number) => {
    const headers = { 'content-type': 'application/json', 'content-length': length }
    const to = { host: '127.0.0.1', port: at.port, path: `${v1}/session`, method: 'POST' }
    return request({ ...to, headers, localAddress, agent: false }).on('error', () => {})
  }
  const slowly = Array.from({ length: 300 }, () => signIn('127.0.0.1', 100))
  for (const one of slowly) one.flushHeaders()
  const [refused] = await Promise.race(slowly.map(one => once(one, 'response')))
  assert.equal((refused as IncomingMessage).statusCode, 503)
  const other = signIn('127.0.0.2', 2)
  other.end('{}')
  const [answer] = await once(other, 'response')
  assert.equal((answer as IncomingMessage).statusCode, 422)
  for (const one of slowly) one.destroy()
})

test('an answer is not taken for that of another request on its connection', async () => {
  // A valid request whose answer is in progress, followed by rubbish.
  const client = await rawClient(slow.url)
  client.send(`${head('GET', `${v1}/deal/view/list?pageSize=500`, bearer)}nonsense\r\n\r\n`)
  assert.equal(await client.ended, '')
})

test('connections: no more than the limit, and those without a valid token make room for those with one', async () => {
  const service = await startService({ limits: { maxConnections: 100 }, log })
  const idle = await Promise.all(Array.from({ length: 300 }, () => rawClient(service.url)))
  // Over a new connection each time.
  for (let count = 0; count < 20; count++) {
    const client = await rawClient(service.url)
    client.send(
      head('GET', `${v1}/tag/view/list`, { authorization: `Bearer ${service.token}`, connection: 'close' }),
    )
    assert.equal(statusOf(await client.ended), 200)
  }
  let left = idle.length
  for (const client of idle) void client.ended.then(() => left--)
  await eventually(() => left <= 100, 'at most a hundred')
  assert.ok(left > 0)
  // Logged once, even if it happened often.
  assert.deepEqual(
    lines.map(line => JSON.parse(line).msg.split(':')[0]),
    ['100 connections are open, as many as MAX_CONNECTIONS allows'],
  )
  for (const { socket } of idle) socket.destroy()
})

test('connections that are used with a valid token stay; the next is told to come again', async () => {
  const service = await startService({ limits: { maxConnections: 30, maxConnectionsPerAddress: 20 } })
  const used = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const client = await rawClient(service.url)
      client.send(head('GET', `${v1}/tag/1`, { authorization: `Bearer ${service.token}` }))
      await eventually(() => client.answered() !== '', 'an answer')
      return client
    }),
  )
  const refused = await rawClient(service.url)
  const answer = await refused.ended
  assert.deepEqual([statusOf(answer), codeOf(answer)], [503, 6005])
  assert.match(answer, /\r\nretry-after: 1\r\n/)
  // Another address has its own limit.
  const elsewhere = await rawClient(service.url, '127.0.0.2')
  elsewhere.send(head('GET', '/healthz', { connection: 'close' }))
  assert.equal(statusOf(await elsewhere.ended), 200)
  for (const { socket, answered } of used) {
    const before = answered().length
    socket.write(head('GET', `${v1}/tag/1`, { authorization: `Bearer ${service.token}` }))
    await eventually(() => answered().length > before, 'another answer')
    socket.destroy()
  }
  const isAnswered = () =>
    fetch(`${service.url}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await eventually(isAnswered, 'a free connection', 50)
})

type Slow = { readonly timer: NodeJS.Timeout; isThrough(): boolean }

/** Sends a text byte by byte, and never completes it. */
function slowly(client: RawClient, text: string): Slow {
  let sent = 0
  const isThrough = () => sent === text.length - 1
  return {
    timer: setInterval(() => isThrough() || client.send(text[sent++]!), requestTimeoutMs / 20),
    isThrough,
  }
}

function later(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
