/** If-Match on every change of a versioned object (D7): records, fields with their options, forms. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, made } = service
const other = await service.another()
const ifMatch = (...tags: readonly unknown[]) => ({ 'if-match': tags.map(tag => `"${tag}"`).join(', ') })
const etagOf = (reply: Reply) => reply.headers.get('etag')!
const refused = (reply: Reply, version: unknown) =>
  assert.deepEqual([reply.status, reply.body?.code, etagOf(reply)], [412, 5001, `"${version}"`], reply.text)

test('a record is deleted and restored in the version that was read, or not at all', async () => {
  const { id } = await made('deal', dealBody(known))
  const path = `${v1}/deal/${id}`
  await call('PATCH', path, { title: 'Second' })
  const stale = await call('DELETE', path, undefined, ifMatch(1))
  refused(stale, 2)
  assert.deepEqual(stale.body.errors, [
    { field: 'version', path: '', code: 'changed_since_read', message: 'It is at version 2.', current: 2 },
  ])
  assert.equal((await get(path)).body.data.version, 2)
  assert.equal((await call('DELETE', path, undefined, ifMatch(2))).status, 200)
  assert.equal((await call('DELETE', path, undefined, ifMatch(3))).status, 404)
  const [deleted] = (await get(`${v1}/deal/view/list?deleted=only&filter=id:eq(${id})`)).body.data
  refused(await call('POST', `${path}/restore`, undefined, ifMatch(2)), 3)
  const restored = await call('POST', `${path}/restore`, undefined, ifMatch(deleted.version))
  assert.deepEqual([restored.status, etagOf(restored)], [200, '"4"'])
  assert.equal((await call('POST', `${path}/restore`, undefined, ifMatch(4))).status, 404)
})

test('what is in use is refused for its version first, and nothing is moved for a version that is not there', async () => {
  const pipeline = await made('pipeline', { name: 'Versioned' })
  const stage = await made('pipeline_stage', { pipeline: pipeline.id, name: 'Only' })
  const deal = await made('deal', dealBody(known, { pipeline: pipeline.id, pipeline_stage: stage.id }))
  const path = `${v1}/pipeline/${pipeline.id}`
  assert.equal((await call('DELETE', path, undefined, ifMatch(1))).status, 409)
  await call('PATCH', path, { position: 9 })
  refused(await call('DELETE', path, undefined, ifMatch(1)), 2)
  refused(await call('DELETE', `${path}?move_to=${known.pipeline}`, undefined, ifMatch(1)), 2)
  assert.equal((await get(`${v1}/deal/${deal.id}`)).body.data.pipeline, pipeline.id)
  assert.equal((await call('DELETE', `${path}?move_to=${known.pipeline}`, undefined, ifMatch(2))).status, 200)
})

test('several tags, any version, weak and unreadable ones', async () => {
  const { id } = await made('tag', { name: 'Tagged' })
  const path = `${v1}/tag/${id}`
  const patch = async (tags: string, name = 'Other') =>
    (await call('PATCH', path, { name }, { 'if-match': tags })).status
  assert.equal(await patch('"7", "1" ,"x,y"'), 200)
  assert.equal(await patch(' * ', 'Again'), 200)
  for (const tags of ['W/"2"', '"03"', '"3.0"', '""', '"\u00e9"']) assert.equal(await patch(tags), 412, tags)
  for (const tags of ['3', 'W/3', '"3', '"3" "4"', '*, "3"', '"3", 4', ',', '', 'w/"3"'])
    assert.equal(await patch(tags), 400, tags)
  assert.equal(await patch(',"3",, W/"9",'), 200)
})

test('what is made anew can not be of a version', async () => {
  for (const tags of ['*', '"1"']) {
    const deal = await call('POST', `${v1}/deal`, dealBody(known), { 'if-match': tags })
    const field = { source: 'deal', field_name: 'Never', type: 'TIME' }
    const refusals = [deal, await call('POST', `${v1}/field`, field, { 'if-match': tags })]
    assert.deepEqual(
      refusals.map(reply => [reply.status, reply.body.code]),
      [
        [412, 5001],
        [412, 5001],
      ],
    )
  }
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known), { 'if-match': 'x' })).status, 400)
})

test('a write judges the conditions of its head, or refuses them', async () => {
  const { data } = (await call('POST', `${v1}/deal`, dealBody(known))).body
  const patch = (headers: Record<string, string>) =>
    call('PATCH', `${v1}/deal/${data.id}`, { title: 'Never' }, headers)
  for (const headers of [
    { 'if-none-match': '*' },
    { 'if-unmodified-since': 'Wed, 21 Oct 2015 07:28:00 GMT' },
    { 'if-none-match': '"1"', 'if-match': `"${data.version}"` },
  ])
    assert.equal((await patch(headers)).status, 400)
  assert.equal((await get(`${v1}/deal/${data.id}`)).body.data.version, data.version)
  const without = { 'if-match': '"1"' }
  const writes: [string, Json][] = [
    ['deal/bulk', { filter: 'all', changes: { title: 'Never' } }],
    ['event/undo', { events: [1] }],
    ['job/1/cancel', {}],
  ]
  for (const [path, body] of writes)
    assert.equal((await call('POST', `${v1}/${path}`, body, without)).status, 412, path)
  // Reads by POST have no condition.
  assert.equal((await call('POST', `${v1}/deal/view/list`, {}, without)).status, 200)
})

test('a field counts its changes, those of its options too, and is changed in the version that was read', async () => {
  const body = { source: 'deal', field_name: 'Counted', type: 'DROPDOWN', options: ['A'] }
  const first = await call('POST', `${v1}/field`, body)
  const { id, version, options } = first.body.data
  const path = `${v1}/field/${id}`
  assert.deepEqual([version, etagOf(first), etagOf(await get(path))], [1, '"1"', '"1"'])
  const steps: readonly [string, string, Json | undefined][] = [
    ['PATCH', path, { field_name: 'Counted again' }],
    ['PUT', path, { is_required: true }],
    ['POST', `${path}/option`, { name: 'B' }],
    ['PATCH', `${path}/option/${options[0].id}`, { name: 'C' }],
    ['DELETE', `${path}/option/${options[0].id}`, undefined],
    ['DELETE', path, undefined],
    ['POST', `${path}/restore`, undefined],
  ]
  for (const [index, [method, where, sent]] of steps.entries()) {
    refused(await call(method, where, sent, ifMatch(index, index + 2)), index + 1)
    const done = await call(method, where, sent, ifMatch(index + 1))
    assert.ok(done.status < 300, done.text)
    if (method !== 'DELETE') assert.equal(etagOf(done), `"${index + 2}"`)
    const list = (await get(`${v1}/field/list?source=deal&include_deleted=true`)).body.data.fields.flat()
    assert.equal(list.find((field: { id: number }) => field.id === id).version, index + 2)
  }
  const events = await service.db.query(
    "SELECT version::text AS version FROM event WHERE resource = 'field' AND record_id = $1::bigint ORDER BY seq",
    [String(id)],
  )
  assert.deepEqual(
    events.map(event => Number(event.version)),
    [1, ...steps.map((_, index) => index + 2)],
  )
  // Writing it back changes nothing.
  const read = await get(path)
  const same = await call('PUT', path, read.body.data, ifMatch(steps.length + 1))
  assert.deepEqual([same.status, same.body.data], [200, read.body.data])
})

test("the service's own fields and the forms have versions, too", async () => {
  const [[title]] = (await get(`${v1}/field/list?source=company`)).body.data.fields.map(
    (section: { internal_name: string }[]) => section.filter(field => field.internal_name === 'website'),
  )
  const path = `${v1}/field/${title.id}`
  assert.equal(title.version, 1)
  assert.equal((await call('PATCH', path, { field_name: 'Home page' }, ifMatch(1))).status, 200)
  refused(await call('PATCH', path, { field_name: 'Site' }, ifMatch(1)), 2)
  const form = `${v1}/field/form?source=company`
  const read = await get(form)
  const arranged = read.body.data.toReversed()
  refused(await call('PUT', form, arranged, ifMatch(1)), etagOf(read).slice(1, -1))
  const written = await call('PUT', form, arranged, { 'if-match': etagOf(read) })
  assert.equal(written.status, 200, written.text)
  assert.notEqual(etagOf(written), etagOf(read))
  assert.equal(etagOf(await get(form)), etagOf(written))
  // A new field changes the form.
  await made('field', { source: 'company', field_name: 'Branch', type: 'SINGLE_STRING' })
  assert.equal((await call('PUT', form, arranged, { 'if-match': etagOf(written) })).status, 412)
})

test('of many who have read the same version one comes first', async () => {
  const { id } = await made('tag', { name: 'Contested' })
  const field = await made('field', { source: 'tag', field_name: 'Contested', type: 'TIME' })
  for (const [method, path, body] of [
    ['PATCH', `${v1}/field/${field.id}`, (name: number) => ({ field_name: `Name ${name}` })],
    ['PATCH', `${v1}/tag/${id}`, (name: number) => ({ name: `Name ${name}` })],
  ] as const) {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        (number % 2 ? service : other).call(method, path, body(number), ifMatch(1)),
      ),
    )
    assert.deepEqual(replies.map(reply => reply.status).toSorted(), [200, ...Array(7).fill(412)])
  }
  const replies = await Promise.all([
    call('DELETE', `${v1}/tag/${id}`, undefined, ifMatch(2)),
    other.call('PATCH', `${v1}/tag/${id}`, { name: 'Late' }, ifMatch(2)),
  ])
  const [status] = replies.map(reply => reply.status).toSorted()
  assert.equal(status, 200)
  assert.ok(
    replies.some(reply => reply.status === 412 || reply.status === 404),
    replies.map(reply => reply.text).join(),
  )
})
