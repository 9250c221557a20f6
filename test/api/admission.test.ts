/** Checks on the head of a request, before a byte of its body is read (D107, D108). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { byQueries } from '../support/by-queries.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, head, rawClient, statusOf } from '../support/raw.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const bodyLimitBytes = 1_048_576
const service = await startService({ limits: { bodyLimitBytes } })
const { db, known, token, url } = service
const tx = byQueries(db)
const isServer = process.env.TEST_ENGINE === 'postgres'
const bearer = (of: string) => ({ authorization: `Bearer ${of}` })

async function tokenOf(account: number, user: number, scopes: string[]): Promise<string> {
  const made = newSecret('token', account)
  await createToken(tx, { account, user, name: 'Test', scopes, token: made })
  return made
}

async function anotherAccount(name: string): Promise<string> {
  const { account, owner } = await createAccount(tx, {
    name,
    ownerName: name,
    ownerEmail: `${name}@example.com`,
  })
  return tokenOf(account, owner, ['admin'])
}

/**
 * Sends only the head of a request with a body; returns the whole answer, and whether the connection was
 * closed.
 */
async function refusedUnread(
  method: string,
  path: string,
  headers: Record<string, string | number>,
): Promise<string> {
  const client = await rawClient(url)
  client.send(head(method, path, headers))
  const answer = await client.ended
  assert.match(answer, /\r\nconnection: close\r\n/i, answer)
  assert.match(answer, /\r\ncontent-type: application\/problem\+json;/i, answer)
  return answer
}

test('a body that comes byte by byte takes hardly more memory than it has bytes', async () => {
  const bytes = 400_000
  const client = await rawClient(url)
  const before = heldBytes()
  client.send(
    head('POST', `${v1}/tag`, { ...bearer(token), 'transfer-encoding': 'chunked', connection: 'close' }),
  )
  for (let sent = 0; sent < bytes; sent += 10_000) {
    client.send('1\r\n \r\n'.repeat(10_000))
    await new Promise(resolve => setImmediate(resolve))
  }
  client.send('2\r\n{}\r\n')
  await new Promise(resolve => setTimeout(resolve, 500))
  const grown = heldBytes() - before
  client.send('0\r\n\r\n')
  assert.equal(statusOf(await client.ended), 422)
  // Buffered as received, each of these bytes would take about a hundred.
  assert.ok(grown < 50 * bytes, `${grown} bytes for ${bytes}`)
})

test('who may not ask is refused by the head alone, with the whole answer, and the connection ends', async () => {
  const reader = await tokenOf(1, known.owner, ['deal:read'])
  const body = { 'content-length': 100_000 }
  for (const [method, path, headers, status, code] of [
    ['POST', `${v1}/deal`, body, 401, 3001],
    ['POST', `${v1}/deal`, { ...body, ...bearer('nonsense') }, 401, 3001],
    ['POST', `${v1}/deal`, { ...body, 'content-type': 'text/plain' }, 401, 3001],
    ['POST', `${v1}/deal`, { 'transfer-encoding': 'chunked' }, 401, 3001],
    ['POST', `${v1}/deal`, { 'content-length': 5_000_000_000 }, 401, 3001],
    ['POST', `${v1}/deal`, { ...body, ...bearer(reader) }, 403, 3002],
    ['POST', `${v1}/nothing`, body, 404, 4001],
    ['POST', `${v1}/nothing`, { ...body, ...bearer(token) }, 404, 4001],
    ['POST', `${v1}/deal/1`, body, 405, 4004],
    ['POST', `${v1}/%zz`, body, 400, 1004],
    ['POST', `${v1}/deal`, { ...body, ...bearer(token), accept: 'text/csv' }, 406, 1006],
    ['POST', `${v1}/deal`, { 'content-length': bodyLimitBytes + 1, ...bearer(token) }, 413, 6001],
    ['POST', `${v1}/deal`, { ...body, ...bearer(token), 'content-type': 'text/plain' }, 415, 1007],
    ['POST', `${v1}/deal`, { ...body, ...bearer(token), 'content-encoding': 'gzip' }, 415, 1007],
  ] as const) {
    const answer = await refusedUnread(method, path, headers)
    assert.deepEqual(
      [statusOf(answer), codeOf(answer)],
      [status, code],
      `${method} ${path} ${JSON.stringify(headers)}`,
    )
  }
})

test('a client that waits for 100 before it sends hears the refusal instead, and goes on where there is none', async () => {
  const expecting = { expect: '100-continue' }
  for (const [headers, status] of [
    [{ ...expecting, 'content-length': 1000 }, 401],
    [{ ...expecting, ...bearer(token), 'content-length': bodyLimitBytes + 1 }, 413],
  ] as const) {
    assert.equal(statusOf(await refusedUnread('POST', `${v1}/deal`, headers)), status)
  }
  const body = JSON.stringify({ name: 'Asked for' })
  const client = await rawClient(url)
  client.send(
    head('POST', `${v1}/tag`, {
      ...expecting,
      ...bearer(token),
      'content-length': body.length,
      connection: 'close',
    }),
  )
  client.socket.once('data', () => client.send(body))
  assert.match(await client.ended, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
})

test('a client that is still sending hears why it is refused', async () => {
  for (const [size, headers, status] of [
    [2_000_000, {}, 401],
    [2_000_000, bearer(token), 413],
  ] as const) {
    const client = await rawClient(url)
    client.send(head('POST', `${v1}/deal`, { ...headers, 'content-length': size }))
    for (let sent = 0; sent < size; sent += 100_000) {
      client.send(Buffer.alloc(100_000, ' '))
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.equal(statusOf(await client.ended), status)
  }
  // And it does not go on for ever.
  const client = await rawClient(url)
  client.send(head('POST', `${v1}/deal`, { 'content-length': 5_000_000_000 }))
  const closed = new Promise(resolve => client.socket.once('close', resolve))
  let sent = 0
  const more = () => {
    sent += 1_000_000
    if (!client.socket.destroyed) client.socket.write(Buffer.alloc(1_000_000), more)
  }
  more()
  await closed
  assert.ok(sent < 100_000_000, `${sent} bytes were taken`)
})

test('what follows a refused request on its connection is not carried out', async () => {
  const client = await rawClient(url)
  const second = JSON.stringify({ name: 'Smuggled' })
  client.send(head('POST', `${v1}/tag`, { 'content-length': 20_000 }))
  await client.ended
  client.send(
    ' '.repeat(20_000) +
      head('POST', `${v1}/tag`, { ...bearer(token), 'content-length': second.length }) +
      second,
  )
  // A write that comes after it is carried out.
  const later = await service.call('POST', `${v1}/tag`, { name: 'Sent later' }, bearer(token))
  assert.equal(later.status, 201, later.text)
  const [row] = await db.query("SELECT count(*)::text AS count FROM tag WHERE name = 'Smuggled'")
  assert.equal(row!.count, '0')
})

test('every request counts: refused bodies, unknown paths and unreadable ones, for the token or the address', async () => {
  const counting = await startService({ limits: { rateLimit: 4 } })
  const sent = async (headers: Record<string, string>, path: string, body?: string) =>
    (
      await fetch(counting.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        ...(body ? { body } : {}),
      })
    ).status
  const json = { 'content-type': 'application/json' }
  const mine = bearer(counting.token)
  assert.deepEqual(
    [
      await sent({ ...json, ...mine }, `${v1}/deal`, '{"title":'),
      await sent({ ...mine, 'content-type': 'text/plain' }, `${v1}/deal`, 'x'),
      await sent(mine, '/nothing'),
      await sent(mine, `${v1}/deal/%zz`),
      await sent(mine, `${v1}/deal/view/list`),
    ],
    [400, 415, 404, 400, 429],
  )
  // The address has a counter of its own.
  assert.deepEqual(
    [
      await sent({}, '/nothing'),
      await sent(json, `${v1}/deal`, '{'),
      await sent(bearer('nonsense'), '/nothing'),
      await sent({}, `${v1}/deal/%zz`),
      await sent({}, '/nothing'),
      await sent({}, `${v1}/deal/%zz`),
      await sent(json, `${v1}/deal`, '{'),
      await sent({}, '/healthz'),
    ],
    [404, 401, 404, 400, 429, 429, 429, 200],
  )
})

// The embedded engine runs one transaction at a time: while one is open, no caller can be authenticated.
test('large bodies of an account are judged one by one', { skip: !isServer }, async () => {
  const [valid, broken, blanks] = [JSON.stringify(dealBody(known)), '{"title":', ' '.repeat(70_000)]
  const create = (body: string) => service.call('POST', `${v1}/deal`, body)
  const [first, second] = await db.sql.begin(async tx => {
    await tx.query('SELECT FROM counter WHERE account_id = 1 FOR UPDATE', [])
    const waiting = create(valid + blanks)
    await sleep(300)
    const behind = create(broken + blanks)
    assert.equal((await create(broken)).status, 400)
    assert.equal(await Promise.race([behind, sleep(300)]), undefined)
    return [waiting, behind] as const
  })
  assert.deepEqual([(await first).status, (await second).status], [201, 400])
})

test('hundreds of unfinished bodies: an account keeps to its share, and its neighbour goes on', async () => {
  const [hog, neighbour] = [await anotherAccount('Hog'), await anotherAccount('Neighbour')]
  for (const round of [1, 2, 3]) {
    const clients = await Promise.all(
      Array.from({ length: 320 }, async () => {
        const client = await rawClient(url)
        client.send(head('POST', `${v1}/tag`, { ...bearer(hog), 'content-length': 900_000 }))
        // Some clients hang up at once, at any stage of the request; they hold nothing.
        if (round === 2) setTimeout(() => client.socket.destroy(), Math.random() * 20)
        return client
      }),
    )
    // One account alone may have half of all requests.
    const refused = () => clients.filter(client => statusOf(client.answered()) === 503)
    if (round !== 2) await eventually(() => refused().length >= 70, 'seventy that are refused')
    const reply = await service.call('POST', `${v1}/tag`, { name: `Goes on ${round}` }, bearer(neighbour))
    assert.equal(reply.status, 201, reply.text)
    for (const { socket } of clients) socket.destroy()
    const list = () => service.call('GET', `${v1}/tag/view/list`, undefined, bearer(hog))
    await eventually(async () => (await list()).status === 200, 'an answer for the hog', 50)
  }
})

test('the memory of unfinished bodies is limited, for an account and in all', async () => {
  const hogs = [await anotherAccount('One'), await anotherAccount('Two')]
  const neighbour = await anotherAccount('Three')
  const piece = Buffer.alloc(900_000, ' ')
  const clients = await Promise.all(
    hogs.flatMap(hog =>
      Array.from({ length: 60 }, async () => {
        const client = await rawClient(url)
        client.send(head('POST', `${v1}/tag`, { ...bearer(hog), 'transfer-encoding': 'chunked' }))
        client.send(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece]))
        return client
      }),
    ),
  )
  // Each of two accounts may hold a third of the 64 MB: about twenty of these bodies.
  await eventually(() => {
    const refused = clients.filter(client => statusOf(client.answered()) === 503)
    return (
      refused.length >= 60 &&
      refused.length <= 90 &&
      refused.every(client => codeOf(client.answered()) === 6005)
    )
  }, 'the limit of each')
  const large = dealBody(known, { name: 'Large enough', description: 'x'.repeat(500_000) })
  const reply = await service.call('POST', `${v1}/tag`, large, bearer(neighbour))
  assert.equal(reply.status, 422, reply.text)
  for (const { socket } of clients) socket.destroy()
})

function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
