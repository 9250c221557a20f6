/** Dry runs (D79): a write is validated and answered, and nothing is saved. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db, known } = service
const dry = (path: string) => `${v1}/${path}${path.includes('?') ? '&' : '?'}dry_run=1`

/**
 * All possible effects of a write: the counter, the events, the idempotency keys, and the number of records.
 * The background jobs of the start write the counter's oldest_version.
 */
async function state(): Promise<string> {
  const [row] = await db.query(`SELECT concat_ws(' ',
    (SELECT json_agg(to_jsonb(c) - 'oldest_version') FROM counter c),
    (SELECT count(*) FROM event), (SELECT count(*) FROM idempotency), (SELECT count(*) FROM deal),
    (SELECT count(*) FROM contact), (SELECT count(*) FROM unique_value),
    (SELECT catalog_version FROM account), (SELECT json_agg(f ORDER BY id) FROM field f),
    (SELECT json_agg(o ORDER BY id) FROM option o), (SELECT json_agg(m) FROM form m)) AS state`)
  return row!.state!
}

/** Sends a dry run and asserts that it has no effect. */
async function tried(...asked: Parameters<typeof call>) {
  const before = await state()
  const reply = await call(...asked)
  assert.equal(await state(), before, 'a dry run saves nothing')
  return reply
}

test('a create answers as it would, without an id', async () => {
  const body = dealBody(known)
  const reply = await tried('POST', dry('deal'), body)
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.data.id, null)
  assert.equal(reply.body.data.version, 1)
  assert.equal(reply.body.meta.dryRun, true)
  assert.deepEqual([reply.headers.get('etag'), reply.headers.get('location')], [null, null])
  const made = await call('POST', `${v1}/deal`, body)
  const {
    id: _,
    last_assigned_at: _____,
    created_at: __,
    updated_at: ___,
    deal_stage_updated_at: ____,
    ...record
  } = made.body.data
  for (const [name, value] of Object.entries(record)) assert.deepEqual(reply.body.data[name], value, name)
})

test('records made within another have no ids either', async () => {
  const body = { ...dealBody(known), primary_contact: { last_name: 'New' } }
  const reply = await tried('POST', dry('deal'), body)
  assert.equal(reply.status, 201, reply.text)
  assert.deepEqual(reply.body.meta.created, [{ resource: 'contact', id: null }])
  assert.equal(reply.body.data.primary_contact, null)
  const expanded = await tried('POST', `${dry('deal')}&expand=primary_contact`, body)
  assert.deepEqual(expanded.body.data._expanded.primary_contact, { id: null, name: 'New' }, expanded.text)
})

test('changes, deletions, restorations and upserts are tried', async () => {
  const { id } = (await call('POST', `${v1}/product`, { name: 'Kept' })).body.data
  const changed = await tried('PATCH', dry(`product/${id}`), { name: 'Changed' })
  assert.deepEqual([changed.status, changed.body.data.name, changed.body.data.version], [200, 'Changed', 2])
  assert.equal(changed.body.data.id, id)
  const removed = await tried('DELETE', dry(`product/${id}`))
  assert.deepEqual(removed.body, { code: 0, data: { id, deleted: true }, meta: { dryRun: true } })
  const read = await get(`${v1}/product/${id}`)
  assert.deepEqual([read.body.data.name, read.body.data.version], ['Kept', 1])
  await call('DELETE', `${v1}/product/${id}`)
  const restored = await tried('POST', dry(`product/${id}/restore`))
  assert.deepEqual([restored.status, restored.body.data.deleted_at], [200, null])
  assert.equal((await get(`${v1}/product/${id}`)).status, 404)
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  const upserted = await tried('PUT', dry('product/by/product_code/A1'), { name: 'By code' })
  assert.deepEqual([upserted.status, upserted.body.data.id], [201, null])
})

test('what would be refused is refused in the same words', async () => {
  const wrong = { title: '', deal_value: { value: 'x' }, nothing: 1 }
  const [real, reply] = [await call('POST', `${v1}/deal`, wrong), await tried('POST', dry('deal'), wrong)]
  assert.equal(reply.status, 422)
  assert.deepEqual(reply.body.errors, real.body.errors)
  await call('POST', `${v1}/product`, { name: 'Taken', product_code: 'T1' })
  const taken = await tried('POST', dry('product'), { name: 'Other', product_code: ' t1' })
  assert.deepEqual([taken.status, taken.body.type], [409, '/docs/errors#duplicate'])
  const stale = await tried('PATCH', dry('deal/1'), { title: 'x' }, { 'if-match': '"99"' })
  assert.ok([404, 412].includes(stale.status), stale.text)
})

test('it keeps no key, and takes only 1', async () => {
  const key = { 'idempotency-key': 'tried' }
  const body = { name: 'Keyed' }
  assert.equal((await tried('POST', dry('product'), body, key)).status, 201)
  const real = await call('POST', `${v1}/product`, body, key)
  assert.deepEqual([real.status, real.headers.get('idempotency-replayed')], [201, null])
  for (const value of ['0', 'true', '', '1&dry_run=1']) {
    const reply = await tried('POST', `${v1}/product?dry_run=${value}`, body)
    assert.deepEqual([reply.status, reply.body.type], [400, '/docs/errors#malformed_query'], value)
  }
  const list = await get(`${v1}/product/view/list?dry_run=1`)
  assert.equal(list.body.type, '/docs/errors#unknown_parameter')
  const other = await call('DELETE', `${v1}/product/1?move_to=2`)
  assert.match(other.body.errors[0].message, /There is no parameter "move_to"\. The parameters: dry_run\./)
})

test('no token, configuration or right is left by a dry run', async () => {
  const token = await tried('POST', dry('token'), { name: 'Tried', scopes: ['deal:read'] })
  assert.deepEqual([token.status, token.body.data.id, token.body.data.token], [201, null, null], token.text)
  const stage = await tried('POST', dry('tag'), { name: 'Tried' })
  assert.equal(stage.status, 201)
  const pipeline = await tried('POST', dry('pipeline'), { name: 'Tried' })
  assert.equal(pipeline.status, 201, pipeline.text)
  assert.equal((await get(`${v1}/pipeline/view/list?filter=name:eq(Tried)`)).body.data.length, 0)
  assert.equal((await call('POST', `${v1}/deal`, { title: 'After', pipeline: 'Tried' })).status, 422)
})

test('fields, options and forms are tried; what is new has no ids', async () => {
  const field = {
    source: 'deal',
    field_name: 'Tried',
    type: 'DROPDOWN',
    options: [{ name: 'Yes' }],
  }
  const made = await tried('POST', dry('field'), field)
  assert.equal(made.status, 201, made.text)
  assert.deepEqual([made.body.data.id, made.body.data.internal_name], [null, 'cf_tried'])
  assert.deepEqual(made.body.data.options, [{ name: 'Yes', id: null }])
  assert.deepEqual([made.body.meta, made.headers.get('location')], [{ dryRun: true }, null])
  for (const [type, default_value, answered] of [
    ['DROPDOWN', 'Yes', null],
    ['MULTISELECT', ['Yes'], [null]],
  ] as [string, Json, Json][]) {
    const { body } = await tried('POST', dry('field'), { ...field, type, default_value })
    assert.deepEqual(body.data.default_value, answered)
  }
  const other = { source: 'deal', field_name: 'Number', type: 'SINGLE_NUMBER', default_value: 7 }
  assert.equal((await tried('POST', dry('field'), other)).body.data.default_value, 7)
  assert.equal((await tried('POST', dry('field'), field)).status, 201, 'the name is still free')
  const { id, options } = (await call('POST', `${v1}/field`, field)).body.data
  const twice = await tried('POST', dry('field'), field)
  assert.deepEqual([twice.status, twice.body.type], [409, '/docs/errors#duplicate'])

  const renamed = await tried('PATCH', dry(`field/${id}`), { field_name: 'Renamed' })
  assert.equal(renamed.status, 200, renamed.text)
  const { data } = renamed.body
  assert.deepEqual([data.id, data.field_name, data.version], [id, 'Renamed', 2])
  assert.deepEqual(data.options, options)
  const option = await tried('POST', dry(`field/${id}/option`), { name: 'Perhaps' })
  assert.deepEqual([option.status, option.body.data.id, option.body.data.name], [201, null, 'Perhaps'])
  const changed = await tried('PATCH', dry(`field/${id}/option/${options[0].id}`), { name: 'Oui' })
  assert.deepEqual(
    [changed.status, changed.body.data.id, changed.body.data.name],
    [200, options[0].id, 'Oui'],
  )
  const dropped = await tried('DELETE', dry(`field/${id}/option/${options[0].id}`))
  assert.deepEqual([dropped.status, dropped.body.meta], [200, { dryRun: true }], dropped.text)
  const removed = await tried('DELETE', dry(`field/${id}`))
  assert.deepEqual(removed.body, { code: 0, data: { id, deleted: true }, meta: { dryRun: true } })
  const form = (await get(`${v1}/field/form?source=deal`)).body.data
  const arranged = await tried('PUT', dry('field/form?source=deal'), form.toReversed())
  assert.equal(arranged.status, 200, arranged.text)
  assert.deepEqual((await get(`${v1}/field/form?source=deal`)).body.data, form)
  const whyUndeletable = (await get(`${v1}/field/${id}`)).body.data
  assert.deepEqual(
    [whyUndeletable.field_name, whyUndeletable.version, whyUndeletable.options],
    ['Tried', 1, options],
  )
  assert.equal((await get(`${v1}/field/${id}?dry_run=1`)).body.type, '/docs/errors#unknown_parameter')
})

test('an undo is tried, and so are one’s own settings', async () => {
  const { id } = (await call('POST', `${v1}/product`, { name: 'Before' })).body.data
  await call('PATCH', `${v1}/product/${id}`, { name: 'After' })
  const [{ seq }] = (await get(`${v1}/product/${id}/history`)).body.data
  const undone = await tried('POST', dry(`event/${seq}/undo`))
  assert.deepEqual(
    [undone.status, undone.body.data.name, undone.body.meta],
    [200, 'Before', { dryRun: true }],
  )
  assert.equal((await get(`${v1}/product/${id}`)).body.data.name, 'After')
  await call('PATCH', `${v1}/product/${id}`, { name: 'Later' })
  const late = await tried('POST', dry(`event/${seq}/undo`))
  assert.deepEqual([late.status, late.body.type], [409, '/docs/errors#changed_since'])

  const before = (await get(`${v1}/me`)).body.data
  const me = await tried('PATCH', dry('me'), { locale: 'fr-FR' })
  assert.deepEqual([me.status, me.body.data.user.locale, me.body.meta], [200, 'fr-FR', { dryRun: true }])
  assert.deepEqual(me.body.data.token, before.token)
  assert.deepEqual((await get(`${v1}/me`)).body.data, before)
})

test('a deletion that would move many records is not tried', async () => {
  const made = await call('POST', `${v1}/pipeline_stage`, { pipeline: known.pipeline, name: 'Crowded' })
  assert.equal(made.status, 201, made.text)
  const [crowded, other] = [made.body.data.id, known.stages.New]
  const operations = Array.from({ length: 201 }, (_, index) => ({
    ...{ op: 'create', data: { ...dealBody(known), title: `Moved ${index}`, pipeline_stage: crowded } },
  }))
  const batch = await call('POST', `${v1}/deal/batch`, { operations } as never)
  assert.equal(batch.status, 200, batch.text)
  assert.equal(batch.body.meta.failed, 0, batch.text)
  const path = `pipeline_stage/${crowded}?move_to=${other}`
  const refused = await tried('DELETE', dry(path))
  assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'too_many'], refused.text)
  const deleted = await call('DELETE', `${v1}/deal/${batch.body.data[0].data.id}`)
  assert.equal(deleted.status, 200)
  const answered = await tried('DELETE', dry(path))
  assert.deepEqual([answered.status, answered.body.meta], [200, { dryRun: true }], answered.text)
})
