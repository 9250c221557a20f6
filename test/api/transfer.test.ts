/** HTTP encoding of answers (D89): compression, conditional requests, CORS. */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { eventually } from '../support/eventually.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const origin = 'https://crm.example.com'
const service = await startService({ corsOrigins: [origin] })
const { call, get, known, token, db } = service

type Reply = { status: number; headers: { [name: string]: string | undefined }; bytes: Buffer }

/** A raw request, without fetch's additions. */
function ask(path: string, headers: { [name: string]: string } = {}, method = 'GET'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, ...headers }
    const sent = httpRequest(service.url + path, { method, headers: all, agent: false }, async response => {
      const read = response.headers as Reply['headers']
      resolve({ status: response.statusCode!, headers: read, bytes: await buffer(response) })
    })
    sent.on('error', reject).end()
  })
}

test('an answer above a kilobyte is compressed for whoever asks, as they like it best', async () => {
  const path = `${v1}/deal/view/list`
  const plain = await ask(path)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.equal(plain.headers.vary, 'Origin')
  const likes: [string, string | undefined][] = [
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=nonsense', undefined],
    [`${'x,'.repeat(3000)}gzip`, undefined],
  ]
  for (const [accepted, coding] of likes) {
    const { headers, bytes } = await ask(path, { 'accept-encoding': accepted })
    assert.equal(headers['content-encoding'], coding, accepted.slice(0, 40))
    assert.equal(headers.vary, 'Origin, accept-encoding')
    assert.equal(headers['content-length'], String(bytes.length))
    const read = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? ((all: Buffer) => all)
    // Its cursor contains the time.
    const recordsOf = (text: Buffer) => JSON.stringify(JSON.parse(text.toString()).data)
    assert.ok(recordsOf(read(bytes)) === recordsOf(plain.bytes))
    if (coding) assert.ok(bytes.length < plain.bytes.length / 2)
  }
  const small = await ask(`${v1}/me`, { 'accept-encoding': 'gzip' })
  assert.equal(small.headers['content-encoding'], undefined)
  const problem = await ask(`${v1}/deal/view/list?filter=${'titel:eq(1),'.repeat(20)}id:eq(1)`, {
    'accept-encoding': 'gzip',
  })
  assert.equal(problem.headers['content-type'], 'application/problem+json')
  assert.equal(JSON.parse(gunzipSync(problem.bytes).toString()).code, 1002)
})

/** The bytes of a page up to its cursor, which contains the time. */
function recordsIn(page: Buffer): Buffer {
  const end = page.lastIndexOf('],"meta":')
  assert.ok(end > 0)
  return page.subarray(0, end)
}

test('a page of megabytes is sent in pieces: the same bytes, compressed or not, as stored or written anew', async () => {
  // Texts of removed fields, different in each deal.
  await db.query(`UPDATE deal SET document = document || ',"cf_gone":"' || repeat(id || 'ä\u{1F600}', 9000) || '"'
    WHERE account_id = 1 AND id IN (SELECT id FROM deal WHERE account_id = 1 ORDER BY id LIMIT 30)`)
  const list = `${v1}/deal/view/list?sort=id:asc&pageSize=30`
  const page = await ask(list)
  const { data } = JSON.parse(page.bytes.toString())
  assert.equal(data.length, 30)
  for (const { id, cf_gone } of data) assert.ok(cf_gone === `${id}ä\u{1F600}`.repeat(9000))
  for (const path of [list, `${list}&expand=source`]) {
    const { headers, bytes } = path === list ? page : await ask(path)
    const records = JSON.parse(bytes.toString()).data.map(
      ({ _expanded, ...stored }: { _expanded?: object }) => stored,
    )
    assert.ok(JSON.stringify(records) === JSON.stringify(data))
    assert.equal(headers['content-length'], String(bytes.length))
    const head = await ask(path, {}, 'HEAD')
    assert.deepEqual([head.headers['content-length'], head.bytes.length], [String(bytes.length), 0])
    for (const [coding, read] of Object.entries({ br: brotliDecompressSync, gzip: gunzipSync })) {
      const compressed = await ask(path, { 'accept-encoding': coding })
      assert.equal(compressed.headers['content-encoding'], coding)
      assert.ok(compressed.bytes.length < bytes.length / 10)
      assert.ok(recordsIn(read(compressed.bytes)).equals(recordsIn(bytes)))
    }
  }
})

test('a compressed record has a weak tag, which If-Match and If-None-Match take', async () => {
  const made = await call('POST', `${v1}/deal`, dealBody(known))
  const path = `${v1}/deal/${made.body.data.id}`
  const { headers } = await ask(path, { 'accept-encoding': 'gzip' })
  assert.equal(headers.etag, 'W/"1"')
  const known304 = await ask(path, { 'if-none-match': 'W/"1"', 'accept-encoding': 'gzip' })
  assert.deepEqual([known304.status, known304.bytes.length], [304, 0])
  // A 304 has the headers that its 200 would have (RFC 9110 §15.4.5).
  assert.deepEqual([known304.headers.etag, known304.headers.vary], [headers.etag, headers.vary])
  assert.match(headers.vary!, /accept-encoding/)
  const update = await call('PATCH', path, { title: 'Other' }, { 'if-match': 'W/"1"' })
  assert.equal(update.status, 200)
  assert.equal((await call('PATCH', path, { title: 'Third' }, { 'if-match': 'W/"1"' })).status, 412)
})

test('a record that the client has is not sent again', async () => {
  const made = await call('POST', `${v1}/deal`, dealBody(known))
  const path = `${v1}/deal/${made.body.data.id}`
  assert.equal(made.headers.get('etag'), '"1"')
  for (const tags of ['"1"', '"7", "1"', 'W/"1"', '*']) {
    const reply = await ask(path, { 'if-none-match': tags })
    assert.deepEqual([reply.status, reply.headers.etag, reply.bytes.length], [304, '"1"', 0], tags)
  }
  for (const tags of ['"2"', '1', '""', 'nonsense,,', '"1'])
    assert.equal((await ask(path, { 'if-none-match': tags })).status, 200, tags)
  await call('PATCH', path, { title: 'Other' })
  assert.equal((await ask(path, { 'if-none-match': '"1"' })).status, 200)
  assert.equal((await ask(`${v1}/deal/999999999`, { 'if-none-match': '*' })).status, 404)
  assert.equal((await ask(path, { 'if-none-match': '*', authorization: 'Bearer none' })).status, 401)
  assert.equal((await ask(`${v1}/deal/view/list`, { 'if-none-match': '*' })).status, 200)
})

test('a field that is shown otherwise without a version has another tag', async () => {
  const made = await call('POST', `${v1}/field`, { source: 'tag', field_name: 'Hue', type: 'SINGLE_STRING' })
  const path = `${v1}/field/${made.body.data.id}`
  const tag = made.headers.get('etag')!
  assert.equal((await ask(path, { 'if-none-match': tag })).status, 304)
  const form = (await get(`${v1}/field/form?source=tag`)).body.data as { section: string; fields: string[] }[]
  const moved = form.map(part => (part.section === 'Custom fields' ? { ...part, section: 'Looks' } : part))
  assert.equal((await call('PUT', `${v1}/field/form?source=tag`, moved)).status, 200)
  const after = await ask(path, { 'if-none-match': tag })
  assert.equal(after.status, 200)
  assert.equal((await ask(path, { 'if-none-match': after.headers.etag! })).status, 304)
  // A record whose field is out of use, too.
  const record = (await call('POST', `${v1}/tag`, { name: 'Blue', cf_hue: 'dark' })).body.data
  const shown = (await get(`${v1}/tag/${record.id}`)).headers.get('etag')!
  assert.equal((await call('PATCH', path, { is_active: false })).status, 200)
  assert.equal((await ask(`${v1}/tag/${record.id}`, { 'if-none-match': shown })).status, 200)
})

test('a record whose values have moved without a version has another tag, for one and the same version', async () => {
  const made = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, { deal_value: { currency: 'EUR', value: 100 } }),
  )
  const path = `${v1}/deal/${made.body.data.id}`
  const before = await get(path)
  const euro = (await get(`${v1}/currency/view/list?filter=code:eq(EUR)`)).body.data[0]
  assert.equal((await call('PATCH', `${v1}/currency/${euro.id}`, { rate: euro.rate * 2 })).status, 200)
  // A background job applies the rate.
  await eventually(
    async () => (await get(path)).headers.get('etag') !== before.headers.get('etag'),
    'an amount by the new rate',
  )
  const after = await ask(path, { 'if-none-match': before.headers.get('etag')! })
  assert.equal(after.status, 200)
  assert.match(after.headers.etag!, /^"1\.[1-9]\d*"$/)
  const { data } = JSON.parse(after.bytes.toString())
  assert.notDeepEqual(data.deal_value_in_base_currency, before.body.data.deal_value_in_base_currency)
  assert.equal((await ask(path, { 'if-none-match': after.headers.etag! })).status, 304)

  await db.query(
    "UPDATE deal SET created_at = now() - interval '3 days', updated_at = now() - interval '1 day'",
  )
  const older = await get(path)
  assert.match(older.headers.get('etag')!, /^"1\.[1-9]\d*"$/)
  const update = await call('PATCH', path, { title: 'Other' }, { 'if-match': older.headers.get('etag')! })
  assert.deepEqual([update.status, update.headers.get('etag')], [200, '"2"'])
  const [plain, named] = [await get(path), await get(`${path}?expand=sales_owner`)]
  assert.equal(plain.headers.get('etag'), '"2"')
  assert.match(named.headers.get('etag')!, /^"2\.[1-9]\d*"$/)
})

test('the days of an open deal move its tag when the next one begins; a closed deal stays as it is', async () => {
  const { body } = await call('POST', `${v1}/deal`, dealBody(known))
  const path = `${v1}/deal/${body.data.id}`
  // The other dependencies of deals have not changed for long.
  for (const table of ['pipeline_stage', 'currency'])
    await db.query(`UPDATE ${table} SET updated_at = now() - interval '1 year'`)
  const field = { source: 'deal', field_name: 'Region', type: 'SINGLE_STRING' }
  assert.equal((await call('POST', `${v1}/field`, field)).status, 201, 'the configuration is read anew')
  const tagAfter = async (changes: string) => {
    await db.query(`UPDATE deal SET ${changes} WHERE id = ${body.data.id}`)
    return (await get(path)).headers.get('etag')
  }
  const moved = /^"1\.[1-9]\d*"$/
  const days = (created: string, staged: string, updated: string) =>
    `created_at = now() - interval '${created}', deal_stage_updated_at = now() - interval '${staged}',
     stage_rotting_days = 1, updated_at = now() - interval '${updated}'`
  assert.equal(await tagAfter(days('71 hours', '71 hours', '22 hours')), '"1"')
  assert.match((await tagAfter(days('73 hours', '71 hours', '2 hours')))!, moved)
  assert.match((await tagAfter(days('71 hours', '49 hours', '2 hours')))!, moved)
  assert.equal(await tagAfter(days('71 hours', '49 hours', '0 hours')), '"1"')
  assert.equal(
    await tagAfter(`${days('73 hours', '49 hours', '2 hours')}, status = 2, won_time = now()`),
    '"1"',
  )
})

test('what is delivered moves the tag of a webhook', async () => {
  const { body } = await call('POST', `${v1}/webhook`, { url: 'https://example.com/', events: ['deal.won'] })
  const path = `${v1}/webhook/${body.data.id}`
  const before = (await get(path)).headers.get('etag')!
  assert.equal((await ask(path, { 'if-none-match': before })).status, 304)
  await db.query(`UPDATE webhook_progress SET failing_since = now() WHERE webhook = ${body.data.id}`)
  const after = await ask(path, { 'if-none-match': before })
  assert.equal(after.status, 200)
  assert.notEqual(JSON.parse(after.bytes.toString()).data.failing_since, null)
})

test('pages of allowed origins may ask, also what is refused; others may not', async () => {
  const preflight = {
    origin,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'if-match',
  }
  const allowed = await ask(`${v1}/deal/1`, preflight, 'OPTIONS')
  assert.equal(allowed.status, 204)
  assert.equal(allowed.headers['access-control-allow-origin'], origin)
  assert.match(allowed.headers['access-control-allow-methods']!, /PATCH/)
  assert.equal(allowed.headers['access-control-allow-headers'], 'if-match')
  assert.equal(allowed.headers['access-control-allow-credentials'], undefined)
  for (const path of [`${v1}/me`, `${v1}/deal/999999999`, `${v1}/nothing`, '/readyz']) {
    const reply = await ask(path, { origin })
    assert.equal(reply.headers['access-control-allow-origin'], origin, path)
    for (const name of ['etag', 'idempotency-replayed', 'content-disposition'])
      assert.ok(reply.headers['access-control-expose-headers']!.includes(name), name)
    const other = await ask(path, { origin: 'https://other.example.com' })
    assert.equal(other.headers['access-control-allow-origin'], undefined, path)
  }
  const refused = await ask(`${v1}/me`, { origin, authorization: 'Bearer none' })
  assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, origin])
})

test('without allowed origins no page of another origin may ask', async () => {
  const { url } = await startService({ sampleData: false })
  const reply = await fetch(`${url}${v1}/deal`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  assert.equal(reply.status, 405)
  assert.equal(reply.headers.get('access-control-allow-origin'), null)
})
