/**
 * Webhooks against hostile receivers (D72): whatever they do, each event is delivered or among the dead
 * letters, it delays no other receiver, and no private address is reached.
 */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { type Answering, answering, startReceiver, verified } from '../support/receiver.ts'
import { startService, v1 } from '../support/service.ts'

let ahead = 0
const now = () => new Date(Date.now() + ahead)
/** Time limit of an answer. */
const timeoutMs = 400
const { get, db, made } = await startService({
  now,
  sampleData: false,
  webhooks: { allowPrivate: true, everyMs: 20, timeoutMs },
})
const deliveriesOf = async (id: number, query = ''): Promise<{ [member: string]: Json }[]> =>
  (await get(`${v1}/webhook/${id}/deliveries?pageSize=100${query}`)).body.data

const elsewhere = await startReceiver()
const hostile: { readonly [name: string]: Answering } = {
  hangs: () => {},
  'hangs in the middle': (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half')
  },
  'fails always': answering(500),
  'fails now and then': (got, response) => {
    response.writeHead(Number(got.body.data.seq) % 2 ? 500 : 200).end()
  },
  redirects: answering(302, '', { location: `${elsewhere.url}/inside` }),
  'redirects for good': answering(308, '', { location: `${elsewhere.url}/inside` }),
  'says far too much': (_, response) => {
    const more = () => {
      while (response.write('x'.repeat(65_536)));
      response.once('drain', more)
    }
    response.writeHead(200)
    more()
  },
  'sends endless headers': (_, response) => {
    response.writeHead(200, { 'x-long': 'x'.repeat(60_000) }).end()
  },
  'closes at once': (_, __, request) => void request.socket.destroy(),
  'closes in the middle': (_, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('part')
    setTimeout(() => response.destroy(), 10)
  },
  'speaks another protocol': (_, __, request) => void request.socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'drips a byte at a time': (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  },
}
/** Receivers that accept: the status counts once the answer is read, or enough of it. */
const takes = new Set(['says far too much'])

test('each event is delivered or a dead letter, whatever receivers do, and a healthy one gets all of them', async () => {
  const healthy = await startReceiver()
  const good = await made('webhook', { url: healthy.url, events: ['tag.created'] })
  const bad: { name: string; id: number }[] = []
  const receivers = await Promise.all(Object.values(hostile).map(answer => startReceiver(answer)))
  for (const [index, name] of Object.keys(hostile).entries())
    bad.push({
      name,
      id: (await made('webhook', { name, url: receivers[index]!.url, events: ['tag.created'] })).id,
    })
  const gone = await startReceiver(answering(410))
  const ended = await made('webhook', { url: gone.url, events: ['tag.created'] })
  const tags = await Promise.all(Array.from({ length: 20 }, (_, n) => made('tag', { name: `Hostile ${n}` })))
  // An answer that is read too late counts as none, and the event comes again.
  const received = () => new Set(healthy.got.map(({ body }) => body.data.id)).size
  await eventually(() => received() === 20, 'all events at the healthy one')
  for (const got of healthy.got) verified(got, good.secret)
  // No receiver delayed it: deliveries to hanging ones are still open, or sent one at a time.
  const waiting = await db.query("SELECT count(*)::text AS n FROM webhook_delivery WHERE state = 'waiting'")
  assert.ok(Number(waiting[0]!.n) > 20, waiting[0]!.n!)
  // Months pass.
  const isOver = async () => {
    ahead += 7_200_000
    const [row] = await db.query(`SELECT count(*)::text AS n FROM (
      SELECT 1 FROM webhook_delivery WHERE state = 'waiting' UNION ALL
      SELECT 1 FROM webhook_progress p JOIN counter c USING (account_id)
      WHERE p.is_active AND p.seq < c.last_seq) x`)
    return row!.n === '0'
  }
  await eventually(isOver, 'an end of all deliveries')
  for (const { name, id } of bad) {
    const all = await deliveriesOf(id)
    assert.deepEqual(
      all.map(({ record }) => record).toSorted(),
      tags.map(({ id: tag }) => tag).toSorted(),
      name,
    )
    const states = new Set(all.map(({ state }) => state))
    if (takes.has(name)) assert.deepEqual([...states], ['delivered'], name)
    else if (name !== 'fails now and then')
      assert.deepEqual([...states], ['dead'], `${name} ${JSON.stringify(all[0])}`)
    assert.ok(all.every(({ answer }) => answer === null || (answer as string).length <= 1024))
    assert.ok(
      all.every(({ error, state }) => state === 'delivered' || error),
      name,
    )
  }
  // Events after its first answer are not delivered to it any more.
  const given = await deliveriesOf(ended.id)
  assert.deepEqual([...new Set(given.map(({ state }) => state))], ['dead'])
  assert.equal(elsewhere.got.length, 0)
  assert.ok((await deliveriesOf(good.id)).every(({ state }) => state === 'delivered'))
})

test('a name that changes its mind, or leads inside, is not connected to', async () => {
  let connections = 0
  const inside = createServer(socket => {
    connections++
    socket.destroy()
  })
  await new Promise<void>(resolve => inside.listen(0, '127.0.0.1', resolve))
  after(() => inside.close())
  const { port } = inside.address() as AddressInfo
  const asked = new Map<string, number>()
  /** Public when the webhook is saved, private later. */
  const addresses: { readonly [host: string]: readonly (readonly string[])[] } = {
    'flips.example': [['8.8.8.8'], ['127.0.0.1']],
    'flips6.example': [['2606:4700:4700::1111'], ['::ffff:127.0.0.1']],
    'mixed.example': [['8.8.8.8'], ['8.8.8.8', '127.0.0.1']],
    'metadata.example': [['8.8.8.8'], ['169.254.169.254']],
    'vanishes.example': [['8.8.8.8'], []],
    'inside.example': [['10.0.0.1']],
  }
  const resolve = async (host: string) => {
    const times = asked.get(host) ?? 0
    asked.set(host, times + 1)
    const all = addresses[host] ?? []
    return all[Math.min(times, all.length - 1)] ?? []
  }
  // Its clock stands, so that no second attempt is due.
  const startedAt = now()
  const guarded = await startService({
    now: () => startedAt,
    sampleData: false,
    webhooks: { allowPrivate: false, everyMs: 20, timeoutMs, resolve },
  })
  const create = (url: string) => guarded.call('POST', `${v1}/webhook`, { url, events: ['tag.created'] })
  const refused = [
    ...[
      'inside.example',
      'unknown.example',
      'localhost',
      '127.0.0.1',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '169.254.169.254',
    ],
    ...['[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '10.0.0.1', '[fd00::1]', '0.0.0.0'],
  ]
  for (const host of refused) {
    const reply = await create(`https://${host}:${port}/`)
    assert.deepEqual(
      [reply.status, reply.body.errors[0].code],
      [422, 'address_refused'],
      `${host} ${reply.text}`,
    )
  }
  assert.equal((await create(`http://flips.example:${port}/`)).status, 422)
  assert.equal(asked.get('flips.example'), undefined)
  const saved = Object.keys(addresses).filter(host => host !== 'inside.example')
  const ids: number[] = []
  for (const host of saved) {
    const reply = await create(`https://${host}:${port}/`)
    assert.equal(reply.status, 201, reply.text)
    ids.push(reply.body.data.id)
  }
  for (const id of ids) {
    const { data } = (await guarded.call('POST', `${v1}/webhook/${id}/test`)).body
    assert.equal(data.state, 'dead')
    assert.match(data.error, /not public|no address/)
    const moved = await guarded.call('PATCH', `${v1}/webhook/${id}`, { url: `https://127.0.0.1:${port}/` })
    assert.equal(moved.status, 422)
  }
  await guarded.call('POST', `${v1}/tag`, { name: 'Told to nobody' })
  await eventually(async () => {
    const lists = await Promise.all(
      ids.map(id => guarded.get(`${v1}/webhook/${id}/deliveries?state=waiting`)),
    )
    return lists.every(({ body }) => body.data[0]?.attempts === 1)
  }, 'an attempt of each')
  assert.equal(connections, 0)
  // One look-up for saving, and one for each connection: the checked address is the one connected to.
  for (const host of saved) assert.equal(asked.get(host), 3, host)
})
