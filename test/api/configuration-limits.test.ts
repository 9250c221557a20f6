/**
 * Limits of an account's configuration (D110), checked on the whole catalog, also for concurrent requests.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService({ sampleData: false })
const { call, db, get, known, made } = service
const other = await service.another()

/** Inserts fields, as many changes would. Their ids are beyond any that the service assigns. */
async function makeFields(
  resource: string,
  count: number,
  more: { deleted?: boolean; indexed?: boolean; from?: number } = {},
) {
  const { deleted = false, indexed = false, from = 1 } = more
  await db.query(
    `WITH made AS (INSERT INTO field (account_id, id, resource, internal_name, field_name, type, config, is_required, is_active, is_indexed, deleted_at)
       SELECT 1, 1000000 + (SELECT count(*) FROM field) + n, $1::text, 'cf_made_' || n, 'Made ' || n, 'SINGLE_NUMBER', '{"max_digits":16}', false, true,
         $4::boolean, CASE WHEN $5::boolean THEN now() END
       FROM generate_series($2::int, $3::int) n RETURNING id)
     UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = 1 AND EXISTS (SELECT FROM made)`,
    [resource, String(from), String(from + count - 1), String(indexed), String(deleted)],
  )
}
async function removeFields() {
  await db.query('DELETE FROM field WHERE account_id = 1')
  await db.query('UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = 1')
}
const field = (name: string, more: { [member: string]: Json } = {}) => ({
  source: 'deal',
  field_name: name,
  type: 'SINGLE_NUMBER',
  ...more,
})
const create = async (body: Json, by: Pick<typeof other, 'call'> = service) =>
  by.call('POST', `${v1}/field`, body)
const refusal = async (asked: ReturnType<typeof create>) => {
  const reply = await asked
  assert.equal(reply.status, 422, reply.text)
  return [problemsOf(reply).join(), reply.body.errors[0].message]
}

test('500 custom fields of a resource, also when two processes make the last one at once', async () => {
  await makeFields('deal', 499)
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) => create(field(`Last ${index}`), index % 2 ? other : service)),
  )
  assert.deepEqual(replies.map(reply => reply.status).toSorted(), [201, 422, 422, 422, 422, 422, 422, 422])
  assert.deepEqual(await refusal(create(field('Another'))), [
    ' too_many',
    'An account may have 500 custom fields of deal; this would be one more.',
  ])
  // Another resource has its own limit; existing fields can be changed; a deleted one makes room, until it is
  // restored.
  assert.equal((await create({ ...field('Elsewhere'), source: 'contact' })).status, 201)
  const made = replies.find(reply => reply.status === 201)!.body.data
  assert.equal((await call('PATCH', `${v1}/field/${made.id}`, { field_name: 'Renamed' })).status, 200)
  assert.equal((await call('DELETE', `${v1}/field/${made.id}`)).status, 200)
  assert.equal((await create(field('Instead'))).status, 201)
  assert.deepEqual((await refusal(call('POST', `${v1}/field/${made.id}/restore`)))[0], ' too_many')
  await removeFields()
})

test('1 000 custom fields of an account, and 2 000 with the deleted ones', async () => {
  await makeFields('deal', 499)
  await makeFields('contact', 500)
  assert.equal((await create(field('The thousandth'))).status, 201)
  const one = { ...field('One more'), source: 'company' }
  assert.deepEqual(
    (await refusal(create(one)))[1],
    'An account may have 1000 custom fields; this would be one more.',
  )
  await removeFields()
  await makeFields('deal', 1999, { deleted: true })
  const last = await create(field('The last'))
  assert.equal(last.status, 201, last.text)
  assert.equal((await call('DELETE', `${v1}/field/${last.body.data.id}`)).status, 200)
  assert.match((await refusal(create(one)))[1]!, /2000 custom fields, including deleted ones/)
  // A deleted field can be restored.
  assert.equal((await call('POST', `${v1}/field/${last.body.data.id}/restore`)).status, 200)
  await removeFields()
})

test('20 fields with an index of their own, over all resources', async () => {
  await makeFields('deal', 10, { indexed: true })
  await makeFields('contact', 9, { indexed: true })
  const replies = await Promise.all(
    Array.from({ length: 4 }, (_, index) =>
      create(field(`Indexed ${index}`, { is_indexed: true }), index % 2 ? other : service),
    ),
  )
  assert.deepEqual(replies.map(reply => reply.status).toSorted(), [201, 422, 422, 422])
  const plain = (await create(field('Plain'))).body.data
  const indexing = () => call('PATCH', `${v1}/field/${plain.id}`, { is_indexed: true })
  assert.deepEqual(await refusal(indexing()), [
    '/is_indexed too_many',
    'is_indexed can be true for at most 20 fields of an account.',
  ])
  const made = replies.find(reply => reply.status === 201)!.body.data
  assert.equal(
    (await call('PATCH', `${v1}/field/${made.id}`, { is_indexed: true, field_name: 'Still' })).status,
    200,
  )
  assert.equal((await call('PATCH', `${v1}/field/${made.id}`, { is_indexed: false })).status, 200)
  assert.equal((await indexing()).status, 200)
  await removeFields()
})

test('100 such indexes on a table, whatever accounts they are of', async () => {
  for (let count = 0; count < 100; count++) {
    await db.queryWithoutTimeLimit(
      `CREATE INDEX custom_77_${count} ON product (((custom ->> 'cf_x')::numeric), id) WHERE account_id = 77`,
    )
  }
  const body = { ...field('Too many'), source: 'product', is_indexed: true }
  assert.match(
    (await refusal(create(body))).join(),
    /^\/is_indexed too_many,is_indexed can't be true for another field of product/,
  )
  assert.equal((await create({ ...body, source: 'deal' })).status, 201)
  assert.equal((await create({ ...body, is_indexed: false })).status, 201)
  await removeFields()
})

test('500 options of a field and 5 000 of an account, in use or not', async () => {
  const made = (await create(field('Dropdown', { type: 'DROPDOWN', options: ['One'] }))).body.data
  const option = (name: string) => call('POST', `${v1}/field/${made.id}/option`, { name, is_active: false })
  const makeOptions = async (name: string, count: number) => {
    await db.query(
      `INSERT INTO option (account_id, id, resource, field, name, position, is_active, is_default)
       SELECT 1, 2000000 + (SELECT count(*) FROM option) + n, 'deal', $1::text, 'Option ' || n, n + 1, false, false FROM generate_series(1, $2::int) n`,
      [name, String(count)],
    )
    await db.query('UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = 1')
  }
  await makeOptions(made.internal_name, 498)
  assert.equal((await option('The last')).status, 201)
  assert.match((await refusal(option('Too many')))[1]!, /A field may have 500 options/)
  const id = made.options[0].id
  assert.equal((await call('PATCH', `${v1}/field/${made.id}/option/${id}`, { name: 'Renamed' })).status, 200)
  await makeOptions('source', 4500)
  const second = create(field('Another dropdown', { type: 'DROPDOWN', options: ['One', 'Two'] }))
  assert.match((await refusal(second))[1]!, /An account may have 5000 options in all its fields/)
  await db.query('DELETE FROM option WHERE id > 2000000')
  await removeFields()
})

test('a default has at most 4 000 characters', async () => {
  const body = (length: number) =>
    field(`Default ${length}`, { type: 'TEXT', default_value: 'x'.repeat(length) })
  assert.equal((await create(body(3998))).status, 201)
  assert.deepEqual((await refusal(create(body(3999))))[0], '/default_value too_long')
  await removeFields()
})

/** Sends requests to two processes at once: the statuses, and the number of created records. */
async function atOnce(count: number, ask: (by: Pick<typeof other, 'call'>, index: number) => Reply) {
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) => ask(index % 2 ? other : service, index)),
  )
  const made = replies.filter(({ status }) => status === 201).map(({ body }) => body.data)
  const others = new Set(
    replies.filter(({ status }) => status !== 201).map(reply => problemsOf(reply).join()),
  )
  return { made, others: [...others] }
}
type Reply = ReturnType<typeof call>

test('100 pipelines, and 100 stages of each, also when two processes make the last ones at once', async () => {
  const { size } = (await loadCatalog(db, resources, 1)).pipelines
  const pipeline = (name: string, by: Pick<typeof other, 'call'> = service) =>
    by.call('POST', `${v1}/pipeline`, { name })
  const { made, others } = await atOnce(110 - size, (by, index) => pipeline(`Pipeline ${index}`, by))
  assert.deepEqual([made.length, others], [100 - size, [' too_many']])
  assert.deepEqual(await refusal(pipeline('Too many')), [
    ' too_many',
    'The pipeline would exceed the limit of 100 pipelines of an account.',
  ])
  const [first, second] = made
  assert.equal((await call('DELETE', `${v1}/pipeline/${first.id}`)).status, 200)
  assert.equal((await call('DELETE', `${v1}/pipeline/${second.id}`)).status, 200)
  assert.equal((await pipeline('Instead')).status, 201)
  const restored = await Promise.all(
    [first, second].map(({ id }, index) =>
      [service, other][index]!.call('POST', `${v1}/pipeline/${id}/restore`),
    ),
  )
  assert.deepEqual(restored.map(({ status }) => status).toSorted(), [200, 422])
  const left = restored[0]!.status === 422 ? first : second
  assert.deepEqual((await refusal(call('POST', `${v1}/pipeline/${left.id}/restore`)))[0], ' too_many')

  const stages = (await get(`${v1}/pipeline_stage/view/list?filter=pipeline:eq(${known.pipeline})`)).body.meta
    .total
  const stage = (name: string, by: Pick<typeof other, 'call'> = service) =>
    by.call('POST', `${v1}/pipeline_stage`, { name, pipeline: known.pipeline })
  const added = await atOnce(110 - stages, (by, index) => stage(`Stage ${index}`, by))
  assert.deepEqual([added.made.length, added.others], [100 - stages, [' too_many']])
  assert.match((await refusal(stage('Too many')))[1]!, /would exceed the limit of 100 stages of a pipeline/)
  const elsewhere = { name: 'Elsewhere', pipeline: made[2].id }
  assert.equal((await call('POST', `${v1}/pipeline_stage`, elsewhere)).status, 201)
})

test('100 roles, also when two processes make the last ones at once', async () => {
  const { size } = (await loadCatalog(db, resources, 1)).roles
  const role = (name: string, by: Pick<typeof other, 'call'> = service) =>
    by.call('POST', `${v1}/role`, { name, scopes: ['deal:read'] })
  const { made, others } = await atOnce(110 - size, (by, index) => role(`Role ${index}`, by))
  assert.deepEqual([made.length, others], [100 - size, [' too_many']])
  assert.deepEqual(await refusal(role('Too many')), [
    ' too_many',
    'The role would exceed the limit of 100 roles of an account.',
  ])
  assert.equal((await call('DELETE', `${v1}/role/${made[0].id}`)).status, 200)
  assert.equal((await role('Instead')).status, 201)
  assert.deepEqual((await refusal(call('POST', `${v1}/role/${made[0].id}/restore`)))[0], ' too_many')
})

test('262 144 characters in the custom fields of a record, and whoever has more may have less', async () => {
  const names = await Promise.all(
    Array.from({ length: 9 }, async (_, index) => {
      const reply = await create({ source: 'deal', field_name: `Long ${index}`, type: 'TEXT' })
      return reply.body.data.internal_name as string
    }),
  )
  const [last, ...others] = names as [string, ...string[]]
  const long = 'x'.repeat(32_000)
  const texts = Object.fromEntries(others.map(name => [name, long]))
  const { id: primary_contact } = await made('contact', { last_name: 'Long' })
  const whole = dealBody(known, { ...texts, [last]: 'x'.repeat(6144), primary_contact })
  const { id } = await made('deal', whole)
  const path = `${v1}/deal/${id}`
  const tooLong = 'The custom fields of a record have at most 262144 characters together.'
  const refused = [' too_long', tooLong]
  assert.deepEqual(await refusal(call('PATCH', path, { [last]: long })), refused)
  assert.deepEqual(await refusal(call('POST', `${v1}/deal`, { ...whole, [last]: long })), refused)
  assert.equal((await call('PATCH', path, { title: 'Renamed', [last]: null })).status, 200)
  // As a record of an earlier version has it.
  await db.query(
    `UPDATE deal SET custom = custom || $1::jsonb, document = document || $2::text
      WHERE account_id = 1 AND id = $3::bigint`,
    [JSON.stringify({ [last]: long }), `,"${last}":"${long}"`, String(id)],
  )
  assert.equal((await call('PATCH', path, { [others[0]!]: 'x'.repeat(31_999) })).status, 200)
  assert.deepEqual(await refusal(call('PATCH', path, { [others[0]!]: long })), refused)
  await removeFields()
})
