/**
 * Nothing lost, nothing twice (D7 to D9): versions, idempotency keys, restoring deleted records, and their
 * purge.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { forgetOldKeys } from '../../src/records/idempotency.ts'
import { purgeRecords } from '../../src/records/purge.ts'
import { resources } from '../../src/resources/resources.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService()
const { call, db, get, known, made } = service
const other = await service.another()
const keyed = (key: string) => ({ 'idempotency-key': key })
const purge = async () => {
  const before = new Date(Date.now() - 30 * 86_400_000)
  return purgeRecords(db, await loadCatalog(db, resources, 1), before)
}
/** Sets the deletion some days back. */
const age = (resource: string, id: number, days: number) =>
  db.query(`UPDATE ${resource} SET deleted_at = deleted_at - interval '${days} days' WHERE id = $1::bigint`, [
    String(id),
  ])
const traces = async () =>
  (
    await db.query(`SELECT (SELECT count(*) FROM event)::text AS events, (SELECT count(*) FROM idempotency)::text AS keys,
      (SELECT md5(string_agg(md5(d::text), '' ORDER BY id)) FROM deal d) AS deals`)
  )[0]!

test('a write sent again with its key is answered as before, and not carried out again', async () => {
  const body = dealBody(known, {
    title: 'Once',
    primary_contact: { last_name: 'Once too' },
    product_amount: 3,
  })
  const first = await call('POST', `${v1}/deal`, body, keyed('create-1'))
  assert.equal(first.status, 201)
  const before = await traces()
  for (const one of [service, other]) {
    const again = await one.call('POST', `${v1}/deal`, body, keyed('create-1'))
    assert.deepEqual([again.status, again.text], [201, first.text])
    assert.deepEqual(
      ['location', 'etag', 'idempotency-replayed'].map(name => again.headers.get(name)),
      [first.headers.get('location'), first.headers.get('etag'), 'true'],
    )
  }
  assert.deepEqual(await traces(), before)
  const path = `${v1}/deal/${first.body.data.id}`
  const update = await call('PATCH', path, { title: 'Changed' }, keyed('update-1'))
  await call('PATCH', path, { title: 'By another' })
  // Its If-Match would fail now; the stored answer is returned.
  const again = await call('PATCH', path, { title: 'Changed' }, { ...keyed('update-1') })
  assert.equal(again.text, update.text)
  assert.equal((await get(path)).body.data.title, 'By another')
  // A write without a change is stored, too: a retry does not undo later changes.
  const same = await call('PATCH', path, { title: 'By another' }, keyed('update-2'))
  assert.equal(same.body.data.version, 3)
  await call('PATCH', path, { title: 'Later' })
  assert.equal((await call('PATCH', path, { title: 'By another' }, keyed('update-2'))).text, same.text)
  assert.equal((await get(path)).body.data.title, 'Later')
  const gone = await call('DELETE', path, undefined, keyed('delete-1'))
  assert.deepEqual([gone.status, (await call('DELETE', path)).status], [200, 404])
  assert.equal((await call('DELETE', path, undefined, keyed('delete-1'))).text, gone.text)
  const back = await call('POST', `${path}/restore`, undefined, keyed('restore-1'))
  assert.equal((await call('POST', `${path}/restore`, undefined, keyed('restore-1'))).text, back.text)
})

test('a write sent again tells nothing that the role does not show by now', async () => {
  const scopes = ['deal:read', 'deal:write', 'contact:read', 'contact:write']
  const role = await made('role', { name: 'Sees less and less', scopes })
  const user = await made('user', { name: 'Less', email: 'seesless@example.com', role: role.id })
  const { token } = await made('token', { name: 'Theirs', user: user.id, scopes })
  const as = (key: string) => ({ ...keyed(key), authorization: `Bearer ${token}` })
  const secret = { description: 'A secret', deal_value: { currency: 'USD', value: 4711 } }
  const data = dealBody(known, { ...secret, sales_owner: known.owner })
  const operations: Json = [
    { op: 'create', data },
    { op: 'create', data: { ...data, description: 7 } },
    { op: 'create', data: { ...data, title: null, probabilty: 5 } },
  ]
  const inBatch = () => call('POST', `${v1}/deal/batch`, { operations }, as('less-1'))
  const contact = { last_name: 'Warned', emails: [{ email_value: 'w@example.com', email_type: 'Nonsense' }] }
  const alone = () => call('POST', `${v1}/deal`, { ...data, primary_contact: contact }, as('less-2'))
  const [batch, single] = [await inBatch(), await alone()]
  assert.deepEqual([batch.status, batch.body.meta], [200, { succeeded: 1, failed: 2 }], batch.text)
  assert.deepEqual([single.status, single.body.meta.warnings.length], [201, 1], single.text)
  assert.equal((await inBatch()).text, batch.text)
  assert.equal((await alone()).text, single.text)
  const becomes = async (more: Json) =>
    assert.equal((await call('PATCH', `${v1}/role/${role.id}`, more)).status, 200)
  await becomes({ hidden_fields: ['deal.description', 'deal.deal_value', 'contact.emails'] })
  const [less, lessAlone] = [await inBatch(), await alone()]
  for (const { text } of [less, lessAlone])
    assert.doesNotMatch(text, /secret|4711|["/]description|["/]deal_value|emails/)
  const [first, wrong, unnamed] = less.body.data
  const was = batch.body.data
  assert.deepEqual([first.status, first.data.id, first.data.title], [201, was[0].data.id, was[0].data.title])
  assert.deepEqual(
    [wrong.status, wrong.errors.map(({ code }: { code: string }) => code)],
    [422, ['not_allowed']],
  )
  assert.deepEqual(
    unnamed.errors.map(({ path }: { path: string }) => path),
    was[2].errors.map(({ path }: { path: string }) => path),
  )
  assert.equal(less.headers.get('idempotency-replayed'), 'true')
  await becomes({ visibility: { deal: 'own' } })
  assert.equal((await call('GET', `${v1}/deal/${first.data.id}`, undefined, as('x'))).status, 404)
  const [unseen, unseenAlone] = [await inBatch(), await alone()]
  assert.deepEqual(unseen.body.data[0], { status: 201, data: { id: first.data.id } })
  assert.deepEqual([unseenAlone.status, unseenAlone.body.data], [201, { id: single.body.data.id }])
  // A caller who sees it gets the stored answer, also if it was deleted since.
  const own = await call('POST', `${v1}/deal`, { ...dealBody(known), sales_owner: user.id }, as('less-3'))
  assert.equal((await call('DELETE', `${v1}/deal/${own.body.data.id}`)).status, 200)
  const again = await call('POST', `${v1}/deal`, { ...dealBody(known), sales_owner: user.id }, as('less-3'))
  assert.deepEqual([again.status, again.text], [201, own.text])
})

test('an answer that is sent again has the warnings about all fields that its reader sees by now', async () => {
  const scopes = ['deal:read', 'deal:write', 'contact:read', 'contact:write', 'company:read', 'company:write']
  const role = await made('role', { name: 'Warned again', scopes })
  const user = await made('user', { name: 'Warned', email: 'warnedagain@example.com', role: role.id })
  const { token } = await made('token', { name: 'Theirs', user: user.id, scopes })
  const created_at = '2020-01-01T00:00:00Z'
  const company = { name: 'Warned', created_at }
  const primary_contact = { last_name: 'Warned', created_at, company }
  const body = dealBody(known, { sales_owner: user.id, created_at, primary_contact })
  const warned = async () => {
    const headers = { ...keyed('warned-1'), authorization: `Bearer ${token}` }
    const reply = await call('POST', `${v1}/deal`, body, headers)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.meta.warnings.map(({ path }: { path: string }) => path)
  }
  const [own, ofContact] = ['/created_at', '/primary_contact/created_at']
  const ofCompany = '/primary_contact/company/created_at'
  assert.deepEqual(await warned(), [ofContact, ofCompany, own])
  for (const [hidden, seen] of [
    ['contact', [ofCompany, own]],
    ['company', [ofContact, own]],
    ['deal', [ofContact, ofCompany]],
  ] as const) {
    const change = { hidden_fields: [`${hidden}.created_at`] }
    assert.equal((await call('PATCH', `${v1}/role/${role.id}`, change)).status, 200)
    assert.deepEqual(await warned(), seen)
  }
})

test('changes of fields, options and forms are carried out once, too', async () => {
  const body = { source: 'deal', field_name: 'Made once', type: 'DROPDOWN', options: ['A'] }
  const first = await call('POST', `${v1}/field`, body, keyed('field-1'))
  assert.equal(first.status, 201)
  const again = await other.call('POST', `${v1}/field`, body, keyed('field-1'))
  assert.deepEqual([again.status, again.text], [201, first.text])
  const path = `${v1}/field/${first.body.data.id}`
  const option = await call('POST', `${path}/option`, { name: 'B' }, keyed('option-1'))
  assert.equal((await call('POST', `${path}/option`, { name: 'B' }, keyed('option-1'))).text, option.text)
  const form = (await get(`${v1}/field/form?source=deal`)).body.data
  const arranged = await call('PUT', `${v1}/field/form?source=deal`, form, keyed('form-1'))
  assert.equal((await call('PUT', `${v1}/field/form?source=deal`, form, keyed('form-1'))).text, arranged.text)
  const gone = await call('DELETE', path, undefined, keyed('field-2'))
  assert.equal((await call('DELETE', path, undefined, keyed('field-2'))).text, gone.text)
})

test('a key belongs to its request, to a day, and to its account; a refused request leaves it free', async () => {
  const body = dealBody(known, { title: 'Keyed' })
  const first = await call('POST', `${v1}/deal`, body, keyed('key'))
  for (const [method, path, sent] of [
    ['POST', `${v1}/deal`, { ...body, title: 'Another' }],
    ['POST', `${v1}/deal?expand=source`, body],
    ['PATCH', `${v1}/deal/${first.body.data.id}`, body],
  ] as const) {
    const reply = await call(method, path, sent, keyed('key'))
    assert.deepEqual([reply.status, reply.body.code], [422, 2002], `${method} ${path}`)
  }
  const refused = await call('POST', `${v1}/deal`, { title: '' }, keyed('refused'))
  assert.equal(refused.status, 422)
  assert.equal((await call('POST', `${v1}/deal`, body, keyed('refused'))).status, 201)
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    assert.equal((await call('POST', `${v1}/deal`, body, keyed(key))).status, 400, JSON.stringify(key))
  }
  assert.equal((await call('GET', `${v1}/deal/view/list?pageSize=1`, undefined, keyed('key'))).status, 200)
  await db.query("UPDATE idempotency SET created_at = created_at - interval '25 hours' WHERE key = '1:key'")
  assert.equal((await call('POST', `${v1}/deal`, { ...body, title: 'Next day' }, keyed('key'))).status, 201)
  await db.query("UPDATE idempotency SET created_at = created_at - interval '25 hours'")
  await forgetOldKeys(db, '1')
  assert.equal((await db.query('SELECT key FROM idempotency')).length, 0)
})

test('a key belongs to the deletion, not to what is moved before it', async () => {
  const stage = async (name: string) =>
    (await made('pipeline_stage', { pipeline: known.pipeline, name })).id as number
  const [from, to] = [await stage('Emptied'), await stage('Filled')]
  const deals = await Promise.all(
    [1, 2, 3].map(() => made('deal', dealBody(known, { pipeline_stage: from }))),
  )
  const path = `${v1}/pipeline_stage/${from}?move_to=${to}`
  const first = await call('DELETE', path, undefined, keyed('move-1'))
  assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [200, null], first.text)
  assert.equal((await get(`${v1}/pipeline_stage/${from}`)).status, 404)
  for (const { id } of deals) assert.equal((await get(`${v1}/deal/${id}`)).body.data.pipeline_stage, to)
  // A retry after the stage was restored and is in use moves and deletes nothing.
  await call('POST', `${v1}/pipeline_stage/${from}/restore`)
  const late = await made('deal', dealBody(known, { pipeline_stage: from }))
  assert.equal((await call('DELETE', path, undefined, keyed('move-1'))).text, first.text)
  assert.equal((await get(`${v1}/deal/${late.id}`)).body.data.pipeline_stage, from)
})

test('what is refused because the same request was quicker over another process gets its answer', async () => {
  for (let round = 0; round < 6; round++) {
    const name = `Raced tag ${round}`
    const both = async (method: string, path: string, body?: Json, more: Record<string, string> = {}) => {
      const headers = { ...keyed(`${method}-${round}-${path}`.replaceAll('/', '-')), ...more }
      return Promise.all([service, other].map(one => one.call(method, path, body, headers)))
    }
    const created = await both('POST', `${v1}/tag`, { name })
    assert.deepEqual(
      created.map(reply => reply.status),
      [201, 201],
      created.map(reply => reply.text).join(),
    )
    const path = `${v1}/tag/${created[0]!.body.data.id}`
    const changed = await both('PATCH', path, { name: `${name}!` }, { 'if-match': '"1"' })
    assert.deepEqual(
      changed.map(reply => reply.status),
      [200, 200],
      changed.map(reply => reply.text).join(),
    )
    const gone = await both('DELETE', path)
    assert.deepEqual(
      gone.map(reply => reply.status),
      [200, 200],
    )
    const back = await both('POST', `${path}/restore`)
    assert.deepEqual(
      back.map(reply => reply.status),
      [200, 200],
      back.map(reply => reply.text).join(),
    )
    assert.equal(back[0]!.body.data.version, 4)
  }
})

test('a request whose key is in flight is refused, and nothing of it is carried out', async () => {
  // Its cache of callers never expires: the embedded engine looks nobody up during a transaction.
  const held = await service.another({ clock: () => 0 })
  const create = (name: string) => held.call('POST', `${v1}/tag`, { name }, keyed(name))
  assert.equal((await create('taxiing')).status, 201)
  const both = await db.sql.begin(async tx => {
    // On a server, too, the first one waits: for the look-up of its key.
    await tx.query('LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE')
    const sent = [create('in-flight'), create('in-flight')]
    const { status, body, headers } = await Promise.race(sent)
    assert.deepEqual(
      [status, body.code, body.type, headers.get('retry-after')],
      [409, 5005, '/docs/errors#request_in_flight', '1'],
      body.detail,
    )
    return sent
  })
  const answers = await Promise.all(both)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409])
  const created = answers.find(({ status }) => status === 201)!
  const again = await create('in-flight')
  assert.deepEqual(
    [again.status, again.text, again.headers.get('idempotency-replayed')],
    [201, created.text, 'true'],
  )
  assert.equal((await get(`${v1}/tag/view/list?filter=name:eq(in-flight)`)).body.data.length, 1)
})

test('the same request at the same moment, over two processes: it is carried out once', async () => {
  for (let round = 0; round < 10; round++) {
    const body = dealBody(known, { title: `At once ${round}` })
    const send = (one: typeof other) => one.call('POST', `${v1}/deal`, body, keyed(`at-once-${round}`))
    const replies = await Promise.all([send(service), send(other), send(service), send(other)])
    const created = replies.filter(reply => reply.status === 201)
    assert.ok(created.length >= 1 && replies.every(reply => reply.status === 201 || reply.body.code === 5005))
    assert.equal(new Set(created.map(reply => reply.text)).size, 1)
    const [row] = await db.query('SELECT count(*)::text AS count FROM deal WHERE title = $1::text', [
      `At once ${round}`,
    ])
    assert.equal(row!.count, '1')
  }
})

test('what was deleted is restored as it was, with its events; what it points to must be there', async () => {
  const contact = await made('contact', { last_name: 'Comes back' })
  const deal = await made(
    'deal',
    dealBody(known, { title: 'Back again', primary_contact: contact.id, cf_custom_number_field: 7 }),
  )
  const path = `${v1}/deal/${deal.id}`
  assert.equal((await call('POST', `${path}/restore`)).status, 404)
  await call('DELETE', path)
  await call('DELETE', `${v1}/contact/${contact.id}`)
  const refused = await call('POST', `${path}/restore`)
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/primary_contact reference_not_found']])
  assert.equal((await call('POST', `${v1}/contact/${contact.id}/restore`)).status, 200)
  const restored = await call('POST', `${path}/restore?expand=primary_contact`)
  assert.equal(restored.status, 200, restored.text)
  const { _expanded, updated_at, ...record } = restored.body.data
  assert.deepEqual(_expanded, { primary_contact: { id: contact.id, name: 'Comes back' } })
  assert.deepEqual({ ...record, updated_at: deal.updated_at }, { ...deal, version: 3 })
  assert.ok(updated_at > deal.updated_at)
  assert.equal((await get(`${v1}/deal/view/list?filter=id:eq(${deal.id})`)).body.data.length, 1)
  const events = await db.query('SELECT type FROM event WHERE record_id = $1::bigint ORDER BY seq', [
    String(deal.id),
  ])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['deal.created', 'deal.deleted', 'deal.restored'],
  )
})

test('a restoration says when and by whom in what it brings back, and in its parts', async () => {
  const user = await made('user', { name: 'Restorer', email: 'restorer@example.com', role: 'Administrator' })
  const token = newSecret('token', 1)
  await createToken(db, {
    account: 1,
    user: user.id,
    name: 'Restorer',
    scopes: ['admin'],
    token,
  })
  const metadata = '{"updated_at":"never","updated_by":0,"digits":1.0000000000000000000001}'
  const pipeline = await made('pipeline', `{"name":"Told","metadata":${metadata}}`)
  const stage = await made(
    'pipeline_stage',
    `{"pipeline":${pipeline.id},"name":"Told","metadata":${metadata}}`,
  )
  await call('DELETE', `${v1}/pipeline/${pipeline.id}`)
  const back = await call('POST', `${v1}/pipeline/${pipeline.id}/restore`, undefined, {
    authorization: `Bearer ${token}`,
  })
  assert.equal(back.status, 200, back.text)
  for (const [resource, before] of [
    ['pipeline', pipeline],
    ['pipeline_stage', stage],
  ] as const) {
    const read = await get(`${v1}/${resource}/${before.id}`)
    const { updated_at } = read.body.data
    assert.deepEqual(read.body.data, { ...before, version: 3, updated_at, updated_by: user.id })
    assert.ok(updated_at > before.updated_at && read.text.includes(`"metadata":${metadata}`), read.text)
    const by = `filter=updated_by:eq(${user.id})&filter=updated_at:eq(${updated_at})`
    assert.deepEqual(
      (await get(`${v1}/${resource}/view/list?${by}`)).body.data.map((record: { id: number }) => record.id),
      [before.id],
    )
  }
})

test('a name taken meanwhile, a pipeline with its stages, and what is too old', async () => {
  const tag = await made('tag', { name: 'taken' })
  await call('DELETE', `${v1}/tag/${tag.id}`)
  await made('tag', { name: 'Taken' })
  assert.equal((await call('POST', `${v1}/tag/${tag.id}/restore`)).status, 409)
  const pipeline = await made('pipeline', { name: 'Returns' })
  const [early, late] = [
    await made('pipeline_stage', { pipeline: pipeline.id, name: 'Early' }),
    await made('pipeline_stage', { pipeline: pipeline.id, name: 'Late' }),
  ]
  await call('DELETE', `${v1}/pipeline_stage/${early.id}`)
  await call('DELETE', `${v1}/pipeline/${pipeline.id}`)
  assert.equal((await call('POST', `${v1}/pipeline_stage/${early.id}/restore`)).status, 422)
  assert.equal((await call('POST', `${v1}/pipeline/${pipeline.id}/restore`)).status, 200)
  // The stage that was deleted before is not restored with it.
  const stages = (await get(`${v1}/pipeline_stage/view/list?filter=pipeline:eq(${pipeline.id})`)).body.data
  assert.deepEqual(
    stages.map((stage: { id: number; version: number }) => [stage.id, stage.version]),
    [[late.id, 3]],
  )
  assert.equal((await call('POST', `${v1}/pipeline_stage/${early.id}/restore`)).status, 200)
  const deal = await made('deal', dealBody(known))
  await call('DELETE', `${v1}/deal/${deal.id}`)
  await db.query("UPDATE deal SET deleted_at = now() - interval '31 days' WHERE id = $1::bigint", [
    String(deal.id),
  ])
  assert.equal((await call('POST', `${v1}/deal/${deal.id}/restore`)).status, 404)
})

test('the purge: records and the values in their history are gone, the events themselves and everything live stay', async () => {
  const contact = await made('contact', { last_name: 'Forgotten person' })
  const [gone, whyUndeletable] = [
    await made('deal', dealBody(known, { title: 'Forgotten deal', primary_contact: contact.id })),
    await made('deal', dealBody(known, { title: 'Kept deal' })),
  ]
  await call('DELETE', `${v1}/deal/${gone.id}`)
  await call('DELETE', `${v1}/contact/${contact.id}`)
  await call('DELETE', `${v1}/deal/${whyUndeletable.id}`)
  await age('deal', gone.id, 40)
  await age('contact', contact.id, 40)
  // The background jobs may have run before.
  await purge()
  assert.deepEqual(await purge(), { purged: 0, kept: {} })
  const left = await db.query(
    'SELECT id::text FROM deal WHERE id = ANY($1::bigint[]) UNION SELECT id::text FROM contact WHERE id = ANY($1::bigint[])',
    [`{${gone.id},${contact.id},${whyUndeletable.id}}`],
  )
  assert.deepEqual(
    left.map(row => row.id),
    [String(whyUndeletable.id)],
  )
  const told = await db.query(
    'SELECT type, changes::text FROM event WHERE record_id = $1::bigint ORDER BY seq',
    [String(gone.id)],
  )
  assert.deepEqual(
    told.map(({ type, changes }) => [type, changes]),
    ['deal.created', 'deal.deleted', 'deal.purged'].map(type => [type, '{}']),
  )
  const [log] = await db.query(
    'SELECT count(*)::text AS n, max(seq)::text AS last, (SELECT last_seq FROM counter WHERE account_id = 1)::text AS counter FROM event WHERE account_id = 1',
  )
  assert.deepEqual([log!.n, log!.last], [log!.last, log!.counter])
  assert.equal((await call('POST', `${v1}/deal/${whyUndeletable.id}/restore`)).status, 200)
})

test('what a record points to is purged after it, and keeps nothing else from being purged', async () => {
  const contacts = await Promise.all(
    ['Held', 'Held too', 'Free'].map(last_name => made('contact', { last_name })),
  )
  const [held, heldToo, free] = contacts.map(({ id }) => id as number) as [number, number, number]
  const tag = await made('tag', { name: 'Held tag' })
  const pipeline = await made('pipeline', { name: 'Held pipeline' })
  const stage = await made('pipeline_stage', { pipeline: pipeline.id, name: 'Held stage' })
  const inPipeline = { pipeline: pipeline.id, pipeline_stage: stage.id }
  const deals = [
    await made('deal', dealBody(known, { ...inPipeline, primary_contact: held })),
    await made(
      'deal',
      dealBody(known, { tags: [tag.id], related_contacts: [heldToo], cf_custom_contact_field: heldToo }),
    ),
  ]
  for (const { id } of deals) await call('DELETE', `${v1}/deal/${id}`)
  for (const [resource, id] of [
    ...contacts.map(({ id }) => ['contact', id]),
    ['tag', tag.id],
    ['pipeline', pipeline.id],
  ]) {
    assert.equal((await call('DELETE', `${v1}/${resource}/${id}`)).status, 200)
    await age(String(resource), Number(id), 40)
  }
  await age('pipeline_stage', stage.id, 40)
  // The clock was ahead: they are due later than the records that they point to.
  for (const { id } of deals) await age('deal', id, 20)
  // The background jobs may have run before.
  const left = async (ids: readonly number[]) => {
    const rows = await db.query(
      'SELECT id::text AS id FROM contact WHERE id = ANY($1::bigint[]) ORDER BY id',
      [`{${ids}}`],
    )
    return rows.map(({ id }) => Number(id))
  }
  assert.deepEqual((await purge()).kept, { contact: 2, tag: 1, pipeline_stage: 1, pipeline: 1 })
  assert.deepEqual(
    await left([held, heldToo, free]),
    [held, heldToo].toSorted((one, other) => one - other),
  )
  for (const { id } of deals) await age('deal', id, 20)
  assert.deepEqual((await purge()).kept, {})
  assert.deepEqual(await left([held, heldToo, free]), [])
})
