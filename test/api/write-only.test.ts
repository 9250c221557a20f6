/** A token that may write records and not read them: the content of its answers (D65). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, known, made } = service

const tokenOf = async (...scopes: string[]) => {
  const { token } = await made('token', { name: 'Write only', scopes })
  return { authorization: `Bearer ${token}` }
}
const writing = await tokenOf('deal:write')
const asked = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
  call(method, `${v1}/${path}`, body, { ...writing, ...headers })
const secret = { description: 'Secret terms', deal_value: { currency: 'EUR', value: 5 } }
const deal = () => made('deal', dealBody(known, secret))

test('what is created is answered whole: whoever made it wrote it', async () => {
  const { status, body } = await asked('POST', 'deal', dealBody(known, { title: 'Own' }))
  assert.deepEqual([status, body.data.title, body.data.version], [201, 'Own', 1])
  assert.equal((await asked('GET', `deal/${body.data.id}`)).status, 403)
})

test('an update, a restoration and an undo answer id and version alone', async () => {
  const { id } = await deal()
  const data = async (method: string, path: string, body?: Json) => {
    const reply = await asked(method, path, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data
  }
  for (const body of [{}, { title: 'A deal' }, { age: 1 }])
    assert.deepEqual(await data('PATCH', `deal/${id}`, body), { id, version: 1 })
  assert.deepEqual(await data('PATCH', `deal/${id}?dry_run=1`, { title: 'B' }), { id, version: 2 })
  // A merge would reveal stored values.
  assert.deepEqual(await data('PUT', `deal/${id}`, { deal_value: { value: 6 } }), { id, version: 2 })
  const update = { op: 'update', id }
  const operations = [
    { ...update, data: {} },
    { ...update, data: { title: 'C' } },
  ]
  const told = (await data('POST', 'deal/batch', { operations })).map((one: JsonObject) => one.data)
  assert.deepEqual(told, [
    { id, version: 2 },
    { id, version: 3 },
  ])
  const [changed] = (await call('GET', `${v1}/deal/${id}/history`)).body.data
  assert.deepEqual(await data('POST', `event/${changed.seq}/undo`), { id, version: 4 })
  await data('DELETE', `deal/${id}`)
  assert.deepEqual(await data('POST', `deal/${id}/restore`), { id, version: 6 })
  const reading = await tokenOf('deal:write', 'deal:read')
  const whole = await call('PATCH', `${v1}/deal/${id}`, {}, reading)
  assert.equal(whole.body.data.description, 'Secret terms')
})

test('what becomes of values that were there is no warning to whoever may not read them', async () => {
  const { id: product } = await made('product', { name: 'P' })
  const lines = { currency: 'EUR', products: [{ product, quantity: 1, unit_price: 7 }] }
  const change = { deal_value: lines }
  const told = async (headers: Record<string, string>) => {
    const { id } = await deal()
    return (await call('PATCH', `${v1}/deal/${id}`, change, headers)).body.meta?.warnings
  }
  assert.equal(await told(writing), undefined)
  assert.match((await told({}))[0].message, /was 5 /)
})

test('why a status is ignored tells nothing of the deal to whoever may not read it', async () => {
  const { id: pipeline } = await made('pipeline', { name: 'Elsewhere' })
  const stage = async (name: string, kind: string) =>
    (await made('pipeline_stage', { pipeline, name, kind })).id as number
  const [begun] = [await stage('Begun', 'Open'), await stage('Elsewhere won', 'Won')]
  const closed = { won_reason: 'Price', deal_closed_on: '2026-03-31' }
  const deals = await Promise.all(
    [{}, { pipeline_stage: known.stages.Won!, ...closed }, { pipeline, pipeline_stage: begun }].map(more =>
      made('deal', dealBody(known, more)),
    ),
  )
  const told = (headers: Record<string, string>, status: Json) =>
    Promise.all(
      deals.map(async ({ id }) => {
        const { body } = await call('PATCH', `${v1}/deal/${id}`, { status }, headers)
        return body.meta.warnings.map(({ code, message }: JsonObject) => `${code} ${message}`).join()
      }),
    )
  for (const status of [2, 'Won']) {
    const unread = await told(writing, status)
    assert.equal(new Set(unread).size, 1, unread.join('\n'))
    assert.match(unread[0]!, /^read_only .*\(Won\) or .*\(Elsewhere won\)/)
  }
  // So it is for a role that hides the pipeline of deals. It may, if the field has a default.
  const { fields } = (await call('GET', `${v1}/field/list?source=deal`)).body.data
  const { id } = fields.flat().find((one: JsonObject) => one.internal_name === 'pipeline')
  const filled = await call('PATCH', `${v1}/field/${id}`, { default_value: known.pipeline })
  assert.equal(filled.status, 200, filled.text)
  const scopes = ['deal:read', 'deal:write']
  const role = await made('role', { name: 'No pipelines', scopes, hidden_fields: ['deal.pipeline'] })
  const user = await made('user', { name: 'No pipelines', email: 'np@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const hiding = await told({ authorization: `Bearer ${token}` }, 'Won')
  assert.equal(hiding[0], hiding[2])
  assert.equal(new Set(await told({}, 'Won')).size, 2)
})

test('an upsert that finds its record tells its id and version', async () => {
  const field = { source: 'deal', field_name: 'Ledger', type: 'SINGLE_STRING', is_unique: true }
  await made('field', field)
  const path = 'deal/by/cf_ledger/L-1'
  const first = await asked('PUT', path, dealBody(known))
  assert.deepEqual([first.status, first.body.data.title], [201, 'A deal'])
  const { id } = first.body.data
  assert.deepEqual((await asked('PUT', path, {})).body.data, { id, version: 1 })
})

test('a write that is sent again tells a narrower token no more', async () => {
  const { id } = await deal()
  const reading = await tokenOf('deal:write', 'deal:read')
  for (const [path, body] of [
    [`deal/${id}`, { title: 'Again' }],
    ['deal/batch', { operations: [{ op: 'update', id, data: { title: 'And again' } }] }],
  ] as [string, Json][]) {
    const key = { 'idempotency-key': path }
    const method = path === 'deal/batch' ? 'POST' : 'PATCH'
    const whole = await call(method, `${v1}/${path}`, body, { ...reading, ...key })
    assert.match(whole.text, /Secret terms/)
    const again = await asked(method, path, body, key)
    assert.equal(again.headers.get('idempotency-replayed'), 'true', again.text)
    assert.doesNotMatch(again.text, /Secret terms/)
  }
})

test('a refusal tells no values of what the token may not read', async () => {
  const { id } = await deal()
  const conflict = await asked('PATCH', `deal/${id}`, { description: 'Mine' }, { 'if-match': '"7"' })
  assert.equal(conflict.status, 412, conflict.text)
  assert.doesNotMatch(conflict.text, /Secret terms/)
  const change = (description: string) => call('PATCH', `${v1}/deal/${id}`, { description })
  await change('Secret too')
  const [{ seq }] = (await call('GET', `${v1}/deal/${id}/history`)).body.data
  await change('Secret again')
  const since = await asked('POST', `event/${seq}/undo`)
  assert.equal(since.status, 409, since.text)
  assert.doesNotMatch(since.text, /Secret|description/)
})

test('whoever may not read users changes their own settings all the same', async () => {
  const role = await made('role', { name: 'Write only', scopes: ['deal:write'] })
  const user = await made('user', { name: 'Jo', email: 'jo@example.com', role: role.id })
  const { token } = await made('token', { name: 'Jo', scopes: role.scopes, user: user.id })
  const change = (headers: Record<string, string>) => asked('PATCH', 'me', { locale: 'de-CH' }, headers)
  const { status, body } = await change({ authorization: `Bearer ${token}` })
  assert.deepEqual([status, body.data.user.name, body.data.user.locale], [200, 'Jo', 'de-CH'])
  // Nor does an administrator's token need the scope of users.
  assert.equal((await change({})).status, 200)
})
