/** PUT and GET of /{resource}/by/{field}/{value} (D77): one record for one value, also in a race. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db } = service
const fields: { [name: string]: number } = { product_code: 203, emails: 306 }
for (const id of Object.values(fields)) {
  const reply = await call('PATCH', `${v1}/field/${id}`, { is_unique: true })
  assert.equal(reply.status, 200, reply.text)
}
const at = (resource: string, field: string, value: string) =>
  `${v1}/${resource}/by/${field}/${encodeURIComponent(value)}`
const product = (code: string, body: Json, headers?: Record<string, string>) =>
  call('PUT', at('product', 'product_code', code), body, headers)
const count = async (sql: string) => Number((await db.query(sql))[0]!.count)

test('creates the record with the value of the path, then changes it', async () => {
  const made = await product('K 1/ä', { name: 'New' })
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.data
  assert.equal(made.body.data.product_code, 'K 1/ä')
  assert.equal(made.headers.get('location'), `${v1}/product/${id}`)
  const changed = await product(' k 1/Ä', { name: 'Changed' })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual([changed.body.data.id, changed.body.data.version], [id, 2])
  assert.equal((await product('k 1/ä', { name: 'Changed' })).body.data.version, 2)
  const read = await get(at('product', 'product_code', 'K 1/Ä'))
  assert.equal(read.body.data.name, 'Changed')
  assert.equal(read.headers.get('etag'), '"2"')
  await call('DELETE', `${v1}/product/${id}`)
  assert.equal((await get(at('product', 'product_code', 'K 1/Ä'))).status, 404)
  assert.equal((await product('K 1/ä', { name: 'Again' })).status, 201)
})

test('one of a hundred at the same moment creates it', async () => {
  const other = await service.another()
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 ? service : other).call('PUT', at('contact', 'emails', `Once@Example.com`), {
        last_name: `L${index % 10}`,
      }),
    ),
  )
  const wrong = replies.filter(({ status }) => status !== 200 && status !== 201)
  assert.deepEqual(
    wrong.map(({ text }) => text),
    [],
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 1)
  assert.equal(new Set(replies.flatMap(({ body }) => body.data?.id ?? [])).size, 1)
  assert.equal(
    await count(`SELECT count(*)::text AS count FROM contact WHERE emails::text ILIKE '%once@example.com%'`),
    1,
  )
})

test('forty changes of one record at the same moment are all made', async () => {
  const other = await service.another()
  const { id } = (await product('Forty', { name: 'Forty' })).body.data
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? service : other).call('PATCH', `${v1}/product/${id}`, {
        metadata: { [`m${index}`]: index },
      }),
    ),
  )
  assert.deepEqual(
    replies.flatMap(({ status, text }) => (status === 200 ? [] : [text])),
    [],
  )
  const { data } = (await get(`${v1}/product/${id}`)).body
  assert.equal(data.version, 41)
})

test('an e-mail of several tells its contact and keeps the others', async () => {
  const path = at('contact', 'emails', 'one@example.com')
  const made = await call('PUT', path, {
    last_name: 'Two',
    emails: [1, 2].map(n => ({ email_type: 1, email_value: `${n === 1 ? 'ONE' : 'two'}@example.com` })),
  })
  assert.equal(made.status, 201, made.text)
  const changed = await call('PUT', at('contact', 'emails', 'TWO@example.com'), { last_name: 'Three' })
  assert.equal(changed.body.data.emails.length, 2)
  assert.equal(changed.body.data.id, made.body.data.id)
  const other = await call('PUT', path, { emails: [{ email_type: 1, email_value: 'else@example.com' }] })
  assert.equal(other.status, 422)
  assert.deepEqual([other.body.errors[0].code, other.body.errors[0].path], ['contradiction', '/emails'])
})

test('If-Match counts for a change, and refuses to create', async () => {
  await product('M-1', { name: 'M' })
  assert.equal((await product('M-1', { name: 'N' }, { 'if-match': '"7"' })).status, 412)
  assert.equal((await product('M-1', { name: 'N' }, { 'if-match': '"1"' })).status, 200)
  for (const tag of ['"1"', '*'])
    assert.equal((await product('M-2', { name: 'N' }, { 'if-match': tag })).status, 412)
  assert.equal((await get(at('product', 'product_code', 'M-2'))).status, 404)
})

test('an Idempotency-Key answers the same again', async () => {
  const key = { 'idempotency-key': 'upsert-1' }
  const first = await product('I-1', { name: 'I' }, key)
  await product('I-1', { name: 'Later' })
  const again = await product('I-1', { name: 'I' }, key)
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(again.body.data, first.body.data)
})

test('a repeated upsert is answered again once the role hides what it names', async () => {
  const scopes = ['product:read', 'product:write', 'currency:read']
  const role = await service.made('role', { name: 'Upserts', scopes })
  const user = await service.made('user', { name: 'Up', email: 'up@example.com', role: role.id })
  const { token } = await service.made('token', { name: 'Up', user: user.id, scopes: ['admin'] })
  const as = (key?: string) => ({
    authorization: `Bearer ${token}`,
    ...(key ? { 'idempotency-key': key } : {}),
  })
  const expanding = `${v1}/product?expand=created_by`
  const put = (key?: string) => product('Hidden-1', { name: 'H' }, as(key))
  const post = (key?: string) => call('POST', expanding, { name: 'E' }, as(key))
  await call('PATCH', `${v1}/role/${role.id}`, { scopes: [...scopes, 'user:read'] })
  const [first, expanded] = [await put('hidden-1'), await post('hidden-2')]
  assert.deepEqual([first.status, expanded.status], [201, 201], first.text + expanded.text)
  assert.equal(expanded.body.data._expanded.created_by.name, 'Up')
  await call('PATCH', `${v1}/role/${role.id}`, { scopes, hidden_fields: ['product.product_code'] })
  const again = await put('hidden-1')
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true'], again.text)
  assert.equal(again.body.data.id, first.body.data.id)
  assert.doesNotMatch(again.text, /product_code|Hidden-1/)
  const unread = await post('hidden-2')
  assert.deepEqual([unread.status, unread.headers.get('idempotency-replayed')], [201, 'true'], unread.text)
  assert.equal(unread.body.data._expanded, undefined)
  // Without a key that was stored, both are refused.
  for (const key of [undefined, 'hidden-3']) {
    assert.equal((await put(key)).status, 400)
    assert.equal((await post(key)).status, 403)
  }
})

test('what the schema keeps unique tells records too', async () => {
  const made = await call('PUT', at('tag', 'name', 'Hot'), {})
  assert.equal(made.status, 201, made.text)
  assert.equal(
    (await call('PUT', at('tag', 'name', ' HOT'), { name: 'hot' })).body.data.id,
    made.body.data.id,
  )
  const user = await call('PUT', at('user', 'email', 'put@example.com'), { name: 'Put' })
  assert.equal(user.status, 201, user.text)
  const both = await Promise.all([1, 2, 3, 4].map(() => call('PUT', at('tag', 'name', 'Race'), {})))
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 200, 200, 201])
})

test('long texts are told apart as the database does, so that the same request finds the same record', async () => {
  const field = { source: 'deal', field_name: 'Long', type: 'TEXT', is_unique: true }
  assert.equal((await call('POST', `${v1}/field`, { ...field, source: 'company' })).status, 201)
  for (const [path, body, isSame] of [
    ['e\u0301'.repeat(160), 'É'.repeat(160), true],
    [`${'e\u0301'.repeat(160)}x`, `${'é'.repeat(160)}x`, false],
    ['x'.repeat(1100), 'X'.repeat(1100), true],
    [`e${'\u0301'.repeat(40)}`, `é${'\u0301'.repeat(39)}`, true],
  ] as const) {
    const put = () => call('PUT', at('company', 'cf_long', path), { name: 'Long', cf_long: body })
    const statuses = [(await put()).status, (await put()).status]
    assert.deepEqual(statuses, isSame ? [201, 200] : [422, 422], path.slice(0, 3))
  }
})

test('bad paths and bodies are refused', async () => {
  const status = async (path: string, body: Json = { name: 'x' }) => (await call('PUT', path, body)).status
  assert.equal(await status(at('product', 'name', 'x')), 400)
  assert.equal(await status(at('product', 'nobody', 'x')), 400)
  assert.equal(await status(at('product', 'product_code', 'a\0b')), 400)
  // Blanks, and characters that nobody sees.
  for (const blank of [' ', '\u3000', '\u200b', '\u2800', '\u0001'])
    assert.equal(await status(at('product', 'product_code', blank)), 400)
  // A value that is too long, or malformed for the field.
  for (const path of [at('product', 'product_code', 'x'.repeat(21)), at('contact', 'emails', 'nobody')]) {
    assert.equal(await status(path), 400)
    assert.equal((await get(path)).status, 404)
  }
  assert.equal(await status(at('product', 'product_code', 'x'), []), 422)
  assert.equal(await status(at('product', 'product_code', 'x'), { name: 'x', product_code: null }), 422)
  assert.equal((await get(at('product', 'product_code', 'x'.repeat(300)))).status, 404)
  assert.equal((await get(at('deal', 'title', 'x'))).status, 400)
  const both = await product('y', { name: '', nobody: 1 })
  assert.equal(both.body.errors.length, 2)
})

test('nobody has a value that the field can not have, for who reads it', async () => {
  const unique = { source: 'product', is_unique: true }
  for (const type of ['SINGLE_NUMBER', 'DATE']) {
    const field_name = `Unique ${type.toLowerCase()}`
    const made = await call('POST', `${v1}/field`, { ...unique, field_name, type })
    assert.equal(made.status, 201, made.text)
    for (const value of ['abc', ' ', '9'.repeat(200)]) {
      const path = at('product', made.body.data.internal_name, value)
      const read = await get(path)
      assert.deepEqual([read.status, read.body.type], [404, '/docs/errors#record_not_found'], read.text)
      assert.equal((await call('PUT', path, { name: 'x' })).status, 400)
    }
    await call('PATCH', `${v1}/field/${made.body.data.id}`, { is_unique: false })
  }
  for (const value of ['a\0b', ' '])
    assert.equal((await get(at('product', 'product_code', value))).status, 404)
})

test('who does not see the holder does not change it, and is not told who it is', async () => {
  await call('PUT', at('contact', 'emails', 'seen@example.com'), { last_name: 'S' })
  const scopes = ['contact:read', 'contact:write']
  const role = await call('POST', `${v1}/role`, { name: 'Own', scopes, visibility: { contact: 'own' } })
  const user = { name: 'Own', email: 'own@example.com', role: role.body.data.id }
  const { id } = (await call('POST', `${v1}/user`, user)).body.data
  const { token } = (await call('POST', `${v1}/token`, { name: 'x', user: id, scopes })).body.data
  const as = { authorization: `Bearer ${token}` }
  const path = at('contact', 'emails', 'seen@example.com')
  const reply = await call('PUT', path, { last_name: 'Mine' }, as)
  assert.equal(reply.status, 409)
  assert.ok(!reply.text.includes('holder'))
  assert.equal((await call('GET', path, undefined, as)).status, 404)
})
