/** Webhooks (D72): who may make them, their events, and managing their deliveries. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Json } from '../../src/json.ts'
import { workOn } from '../../src/records/work.ts'
import { resources } from '../../src/resources/resources.ts'
import { replayDelivery } from '../../src/work/webhooks/deliveries.ts'
import { claim, release } from '../../src/work/webhooks/progress.ts'
import { giveUp } from '../../src/work/webhooks/queue.ts'
import { browser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { onServer } from '../support/held-lock.ts'
import { answering, startReceiver, verified } from '../support/receiver.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

/** Offset of the service's clock, so that no test waits for retries. */
let ahead = 0
/** Time at which the clock was stopped; null while it runs. */
let standsAt: number | null = null
const now = () => new Date((standsAt ?? Date.now()) + ahead)
/** Stops the clock for a test without replays, so that nothing becomes due because it took its time. */
function stopClock(context: TestContext): void {
  standsAt = Date.now()
  context.after(() => {
    standsAt = null
  })
}
/** Tests hold answers back: no attempt may end meanwhile, however slow the machine is. */
const webhooks = { allowPrivate: true, everyMs: 20, timeoutMs: 60_000 }
const service = await startService({ now, webhooks })
const { call, get, known, db, made } = service

const as = (token: string) => ({ authorization: `Bearer ${token}` })
const changed = async (path: string, body: Json, headers?: Record<string, string>) => {
  const reply = await call('PATCH', `${v1}/${path}`, body, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const deliveriesOf = async (id: number, query = ''): Promise<{ [member: string]: Json }[]> =>
  (await get(`${v1}/webhook/${id}/deliveries${query}`)).body.data
const statesOf = async (id: number) => (await deliveriesOf(id)).map(({ type, state }) => `${type} ${state}`)
const status = async (reply: Promise<Reply>) => (await reply).status
test('an object as a state is refused', async () => {
  const { id } = await made('webhook', { url: 'http://127.0.0.1:9/', events: ['tag.*'] })
  assert.equal(await status(call('PATCH', `${v1}/webhook/${id}`, { is_active: { toString: 1 } })), 422)
  await call('DELETE', `${v1}/webhook/${id}`)
})

/** A user with a role, and a token with all its scopes. */
let users = 0
async function userOf(role: Json) {
  const user = await made('user', { name: `User ${++users}`, email: `user${users}@example.com`, role })
  const { token } = await made('token', { name: 'All', user: user.id, scopes: ['admin'] })
  return { user, token: token as string }
}

test('an event reaches the receiver, signed, with the changes and the record as it was', async () => {
  const receiver = await startReceiver()
  const webhook = await made('webhook', { url: `${receiver.url}/deals?x=1`, events: ['deal.*'] })
  assert.match(webhook.secret, /^whsec_/)
  assert.deepEqual([webhook.name, webhook.is_active, webhook.user], ['127.0.0.1', 1, known.owner])
  const deal = await made('deal', dealBody(known, { title: 'First' }), { 'x-request-id': 'from-the-test' })
  const won = { pipeline_stage: known.stages.Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' }
  await Promise.all([changed(`deal/${deal.id}`, { title: 'Second' }), receiver.until(1)])
  const closed = await changed(`deal/${deal.id}`, won)
  await call('DELETE', `${v1}/deal/${deal.id}`)
  const [creation, change, closing, deletion] = await receiver.until(4)
  for (const got of [creation!, change!, closing!, deletion!]) {
    verified(got, webhook.secret)
    assert.equal(got.path, '/deals?x=1')
    assert.equal(got.headers['content-type'], 'application/json')
  }
  assert.equal(new Set(receiver.got.map(({ id }) => id)).size, 4)
  const { type, also, timestamp, data } = creation!.body
  assert.deepEqual([type, also, timestamp], ['deal.created', [], deal.created_at])
  assert.deepEqual([data.resource, data.id, data.version], ['deal', deal.id, 1])
  assert.deepEqual(data.record, deal)
  assert.equal(data.actor.request_id, 'from-the-test')
  const title = { field: 'title', label: 'Title', from: 'First', to: 'Second' }
  assert.deepEqual(change!.body.data.changes, [title])
  assert.deepEqual(closing!.body.also, ['deal.stage_changed', 'deal.won'])
  assert.deepEqual(closing!.body.data.record, closed)
  assert.equal(deletion!.body.type, 'deal.deleted')
  assert.deepEqual([deletion!.body.data.changes, deletion!.body.data.record.deleted_by], [[], known.owner])
  const [last] = (await get(`${v1}/event?after=${deletion!.body.data.seq - 1}`)).body.data
  assert.equal(last.type, 'deal.deleted')
  // No event from before the webhook was made.
  assert.ok(receiver.got.every(({ body }) => body.data.id === deal.id))
})

test('the secret is shown once, and is in no list, event, export or stored answer', async () => {
  const receiver = await startReceiver()
  const key = { 'idempotency-key': 'make-a-webhook' }
  const body = { url: receiver.url, events: ['tag.created'] }
  const first = await call('POST', `${v1}/webhook`, body, key)
  const again = await call('POST', `${v1}/webhook`, body, key)
  const { id, secret } = first.body.data
  assert.deepEqual([first.status, again.status, again.body.data.secret], [201, 201, null])
  assert.deepEqual([again.body.data.id, again.body.meta.warnings[0].code], [id, 'shown_once'])
  const bare = secret.slice('whsec_'.length)
  for (const path of [`webhook/${id}`, 'webhook/view/list', `webhook/${id}/history`, 'event?limit=1000'])
    assert.ok(!(await get(`${v1}/${path}`)).text.includes(bare), path)
  const holding: string[] = []
  const tables = await db.query(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  for (const { name } of tables) {
    const [row] = await db.query(`SELECT count(*)::text AS n FROM "${name}" t WHERE t::text LIKE $1::text`, [
      `%${bare}%`,
    ])
    if (row!.n !== '0') holding.push(name!)
  }
  assert.deepEqual(holding, ['webhook_secret'])
  assert.equal(await status(call('POST', `${v1}/webhook/${id}/restore`)), 404)
})

test('rotating: both secrets sign as long as asked, then the new one alone', async () => {
  const receiver = await startReceiver()
  const { id, secret: first, version } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  const path = `${v1}/webhook/${id}/rotate`
  const key = { 'idempotency-key': 'rotate-it' }
  const rotated = await call('POST', path, undefined, key)
  const second = rotated.body.data.secret
  assert.deepEqual([rotated.status, rotated.body.data.version], [200, version + 1], rotated.text)
  assert.equal((await call('POST', path, undefined, key)).body.data.secret, null)
  await made('tag', { name: 'Signed twice' })
  const [got] = await receiver.until(1)
  for (const secret of [first, second]) verified(got!, secret)
  const third = (await call('POST', path, { overlap_hours: 0 })).body.data.secret
  await new Promise(resolve => setTimeout(resolve, 550))
  await made('tag', { name: 'Signed once' })
  const [, last] = await receiver.until(2)
  verified(last!, third)
  for (const secret of [first, second]) assert.throws(() => verified(last!, secret))
  for (const body of [{ overlap_hours: 169 }, { overlap_hours: '1' }, { hours: 1 }] as Json[])
    assert.equal(await status(call('POST', path, body)), 422)
  assert.equal(await status(call('POST', path, {}, { 'if-match': '"1"' })), 412)
})

test('bad input is named, all of it, with what to do', async () => {
  const bad = await call('POST', `${v1}/webhook`, {
    url: 'ftp://example.com',
    events: ['deal.one', 'deal.*', 'tag.*'],
    filter: 'title:like(x)',
  })
  assert.deepEqual(problemsOf(bad), ['/events/0 unknown_event', '/filter contradiction', '/url invalid_url'])
  assert.match(bad.text, /Did you mean \\"deal\.won\\"/)
  const empty = await call('POST', `${v1}/webhook`, {})
  assert.deepEqual(problemsOf(empty), ['/events required', '/url required'])
  const url = 'http://127.0.0.1:9/'
  const blank = await call('POST', `${v1}/webhook`, { url, events: ['deal.*', ' '] })
  assert.deepEqual(problemsOf(blank), ['/events/1 required'])
  const filters: [events: string[], filter: string, problems: string[]][] = [
    [['deal.*'], 'titel:like(x)', ['/filter unknown_field']],
    [['deal.*'], 'title:like(x', ['/filter syntax']],
    [['deal.*'], 'title:gt', ['/filter syntax']],
    [['deal.*'], 'sales_owner:eq(nobody@example.com)', ['/filter reference_not_found']],
    [['*'], 'title:like(x)', ['/filter contradiction']],
    [['field.*'], 'title:like(x)', ['/filter contradiction']],
  ]
  for (const [events, filter, problems] of filters) {
    const reply = await call('POST', `${v1}/webhook`, { url, events, filter })
    assert.deepEqual(problemsOf(reply), problems, `${filter} ${reply.text}`)
  }
  for (const other of [
    'nonsense',
    'https://jo:secret@example.com/',
    'javascript:alert(1)',
    '//example.com',
  ]) {
    const reply = await call('POST', `${v1}/webhook`, { url: other, events: ['deal.*'] })
    assert.deepEqual(problemsOf(reply), ['/url invalid_url'], other)
    assert.ok(!reply.text.includes('jo:secret'))
  }
  const { id } = await made('webhook', { url, events: ['deal.*'], is_active: 'No' })
  const change = await call('PATCH', `${v1}/webhook/${id}`, { filter: 'titel:eq(a)', events: ['deal.x'] })
  assert.deepEqual(problemsOf(change), ['/events/0 unknown_event', '/filter unknown_field'])
  assert.deepEqual(problemsOf(await call('POST', `${v1}/webhook/${id}/replay`, {})), ['/after required'])
  for (const after of [-1, 1.5, '1'])
    assert.equal(await status(call('POST', `${v1}/webhook/${id}/replay`, { after })), 422)
  for (const query of ['state=odd', 'pageSize=0', 'pageSize=101', 'cursor=MA', 'page=1'])
    assert.equal(await status(get(`${v1}/webhook/${id}/deliveries?${query}`)), 400, query)
  assert.equal(await status(call('POST', `${v1}/webhook/${id}/deliveries/5/replay`)), 422)
  assert.equal(await status(call('PUT', `${v1}/webhook/by/name/x`, {})), 404)
})

test('a filter judges the record after the change, and before a deletion', async () => {
  const receiver = await startReceiver()
  const filter = 'title:like(big),deal_value:gt(100)'
  await made('webhook', { url: receiver.url, events: ['deal.*'], filter })
  const value = (amount: number) => ({ deal_value: { currency: 'USD', value: amount } })
  const deal = await made('deal', dealBody(known, { title: 'Big one', ...value(50) }))
  await changed(`deal/${deal.id}`, value(500))
  await changed(`deal/${deal.id}`, { title: 'Small one' })
  await changed(`deal/${deal.id}`, { title: 'Big again' })
  await call('DELETE', `${v1}/deal/${deal.id}`)
  const got = await receiver.until(3)
  await made('deal', dealBody(known, { title: 'Big, the end', ...value(1000) }))
  await receiver.until(4)
  assert.deepEqual(
    got.map(({ body }) => [body.type, body.data.version]),
    [
      ['deal.updated', 2],
      ['deal.updated', 4],
      ['deal.deleted', 5],
      ['deal.created', 1],
    ],
  )
})

test('a filter goes on when the stage that it names gets another name', async () => {
  const receiver = await startReceiver()
  const filter = 'pipeline_stage:eq(Proposal)'
  const webhook = await made('webhook', { url: receiver.url, events: ['deal.*'], filter })
  const rename = (name: string) => changed(`pipeline_stage/${known.stages.Proposal}`, { name })
  await rename('Quotation')
  await made('deal', dealBody(known, { title: 'After the new name', pipeline_stage: known.stages.Proposal! }))
  await receiver.until(1)
  assert.equal((await get(`${v1}/webhook/${webhook.id}`)).body.data.is_active, 1)
  await rename('Proposal')
})

test('options whose names are the ids of each other stay what a webhook filters by', async () => {
  const receiver = await startReceiver()
  const field = await made('field', {
    ...{ source: 'deal', field_name: 'Hall', type: 'DROPDOWN', options: ['A', 'B'] },
  })
  const [a, b] = field.options.map(({ id }: { id: number }) => id)
  const filter = `cf_hall:eq(${b})`
  const webhook = await made('webhook', { url: receiver.url, events: ['deal.*'], filter })
  await changed(`field/${field.id}/option/${a}`, { name: String(b) })
  await changed(`field/${field.id}/option/${b}`, { name: String(a) })
  for (const name of ['One', 'Two'])
    assert.equal((await changed(`webhook/${webhook.id}`, { name })).filter, filter)
  await made('deal', dealBody(known, { title: 'In A', cf_hall: a }))
  await made('deal', dealBody(known, { title: 'In B', cf_hall: b }))
  const [first] = await receiver.until(1)
  assert.equal(first!.body.data.record.title, 'In B')
})

test('a webhook tells what its user may read, sees and is shown, as of now', async () => {
  const receiver = await startReceiver()
  const role = await made('role', {
    name: 'Own deals',
    scopes: ['deal:read', 'webhook:read', 'webhook:write'],
    visibility: { deal: 'own' },
    hidden_fields: ['deal.deal_value', 'deal.description'],
  })
  const { user, token } = await userOf(role.id)
  const url = receiver.url
  const theirs = await made('webhook', { url, events: ['*'] }, as(token))
  const other = await made('deal', dealBody(known, { title: 'Of another', description: 'x' }))
  const value = { deal_value: { currency: 'USD', value: 5 } }
  const own = await made('deal', dealBody(known, { title: 'Own', sales_owner: user.id, ...value }))
  await changed(`deal/${own.id}`, { description: 'secret', title: 'Own, told' })
  await made('tag', { name: 'No scope for it' })
  await changed(`deal/${other.id}`, { sales_owner: user.id })
  await changed(`webhook/${theirs.id}`, { name: 'Mine' }, as(token))
  const got = await receiver.until(4)
  // The events of one record are in order; those of others may overtake them.
  got.sort((one, next) => one.body.data.seq - next.body.data.seq)
  assert.deepEqual(
    got.map(({ body }) => [body.type, body.data.id]),
    [
      ['deal.created', own.id],
      ['deal.updated', own.id],
      ['deal.updated', other.id],
      ['webhook.updated', theirs.id],
    ],
  )
  for (const { text } of got) assert.doesNotMatch(text, /"deal_value|weighted|"description"|whsec/)
  assert.deepEqual(got[1]!.body.data.changes.length, 1)
  await call('DELETE', `${v1}/webhook/${theirs.id}`, undefined, as(token))
})

test('nothing tells by its kind, or by a change of configuration, of what the role hides', async () => {
  const receiver = await startReceiver()
  const field = await made('field', { source: 'deal', field_name: 'Hidden', type: 'SINGLE_STRING' })
  const role = await made('role', {
    name: 'No stages',
    scopes: ['deal:read', 'field:read', 'webhook:read', 'webhook:write'],
    hidden_fields: ['deal.pipeline_stage', `deal.${field.internal_name}`],
  })
  const { token } = await userOf(role.id)
  const events = ['deal.won', 'deal.stage_changed', 'deal.owner_changed', 'field.updated']
  const { id } = await made('webhook', { url: receiver.url, events }, as(token))
  const deal = await made('deal', dealBody(known))
  const won = { pipeline_stage: known.stages.Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' }
  await changed(`deal/${deal.id}`, won)
  await changed(`field/${field.id}`, { field_name: 'Still hidden' })
  const { user } = await userOf('Manager')
  await changed(`deal/${deal.id}`, { pipeline_stage: known.stages.New!, sales_owner: user.id })
  const [got] = await receiver.until(1)
  assert.deepEqual([got!.body.type, got!.body.also], ['deal.updated', ['deal.owner_changed']])
  await call('DELETE', `${v1}/webhook/${id}`, undefined, as(token))
})

test('a delivery that is sent again while it is sent comes a second time, and both are told', async () => {
  const receiver = await startReceiver()
  const { id } = await made('webhook', { url: receiver.url, events: ['deal.created'] })
  const held = Promise.withResolvers<void>()
  receiver.answer = (got, response, request) =>
    void held.promise.then(() => answering(204)(got, response, request))
  await made('deal', dealBody(known, { title: 'Under way' }))
  await receiver.until(1)
  const [delivery] = await deliveriesOf(id)
  const path = `${v1}/webhook/${id}/deliveries/${delivery!.id}/replay`
  assert.equal(await status(call('POST', path)), 200)
  held.resolve()
  await receiver.until(2)
  await eventually(async () => {
    const [again] = await deliveriesOf(id)
    return again!.state === 'delivered' && again!.attempts === 2
  }, 'two attempts, the last of them delivered')
  await call('DELETE', `${v1}/webhook/${id}`)
})

test('a replay sends what is in flight once more, before the later events of its record', async () => {
  const receiver = await startReceiver()
  const { id } = await made('webhook', { url: receiver.url, events: ['deal.*'] })
  const held = Promise.withResolvers<void>()
  receiver.answer = (got, response, request) =>
    void held.promise.then(() => answering(204)(got, response, request))
  const deal = await made('deal', dealBody(known, { title: 'In flight' }))
  await receiver.until(1)
  await changed(`deal/${deal.id}`, { title: 'Later' })
  await eventually(async () => (await deliveriesOf(id)).length === 2, 'two deliveries')
  const { seq } = receiver.got[0]!.body.data
  const replayed = await call('POST', `${v1}/webhook/${id}/replay`, { after: seq - 1 })
  const progress = async () =>
    (await db.query(`SELECT seq::text AS seq FROM webhook_progress WHERE webhook = ${id}`))[0]!.seq
  await eventually(async () => (await progress()) === String(replayed.body.data.last), 'the replayed events')
  assert.equal(receiver.got.length, 1)
  held.resolve()
  await receiver.until(3)
  await eventually(async () => (await deliveriesOf(id, '?state=waiting')).length === 0, 'all delivered')
  const types = receiver.got.map(({ body }) => body.type)
  assert.deepEqual(types, ['deal.created', 'deal.created', 'deal.updated'])
  await call('DELETE', `${v1}/webhook/${id}`)
})

test('what has left the sight of its user is not told, whoever saw it when it happened', async () => {
  const receiver = await startReceiver()
  const own = { deal: 'own', activity: 'own' }
  const scopes = ['deal:read', 'activity:read', 'webhook:read', 'webhook:write']
  const { user, token } = await userOf((await made('role', { name: 'Own', scopes, visibility: own })).id)
  const { id } = await made('webhook', { url: receiver.url, events: ['deal.*'] }, as(token))
  const [kept, handedOver, deleted] = [
    await made('deal', dealBody(known, { title: 'Kept', sales_owner: user.id })),
    await made('deal', dealBody(known, { title: 'Handed over', sales_owner: user.id })),
    await made('deal', dealBody(known, { title: 'Deleted', sales_owner: user.id })),
  ]
  await receiver.until(3)
  await changed(`deal/${handedOver.id}`, { sales_owner: known.owner })
  await made('activity', { kind: 'Note', subject: 'Later', notes: 'Not for them', deal: handedOver.id })
  await call('DELETE', `${v1}/deal/${deleted.id}`)
  await receiver.until(4)
  const { seq } = receiver.got[0]!.body.data
  const replay = await call('POST', `${v1}/webhook/${id}/replay`, { after: seq - 1 }, as(token))
  assert.equal(replay.status, 200, replay.text)
  const again = (await receiver.until(7)).slice(4)
  assert.deepEqual(
    again.map(({ body }) => `${body.type} ${body.data.id}`).toSorted(),
    [`deal.created ${kept.id}`, `deal.created ${deleted.id}`, `deal.deleted ${deleted.id}`].toSorted(),
  )
  await changed(`deal/${kept.id}`, { title: 'The last' })
  await receiver.until(8)
  assert.ok(receiver.got.every(({ text }) => !text.includes('Not for them')))
  await call('DELETE', `${v1}/webhook/${id}`, undefined, as(token))
})

test('a webhook of a token that has less than its user tells the names that the token may read', async () => {
  const receiver = await startReceiver()
  const { token } = await userOf('Manager')
  const scopes = ['deal:read', 'webhook:read', 'webhook:write']
  const narrow = (await made('token', { name: 'Narrow', scopes }, as(token))).token
  const { id } = await made('webhook', { url: receiver.url, events: ['deal.*'] }, as(narrow))
  const namesIn = (text: string) => text.match(/"(?:to_|from_)?name":"[^"]*"/g) ?? []
  const title = async (text: string) => (await made('deal', dealBody(known, { title: text }))).id
  await title('Told without names')
  const without = (await receiver.until(1))[0]!.text
  // The names of options belong to the field, and so to every caller who reads deals.
  const ofRecords = namesIn(without).filter(name => !/"(New|Sales pipeline|Open|Web)"/.test(name))
  assert.deepEqual(ofRecords, [], without)
  // Changing it with the scope to read them: from then on it has all rights of its user.
  await changed(`webhook/${id}`, { name: 'Wide' }, as(token))
  await eventually(async () => {
    await title('Told with names')
    const texts = receiver.got.map(({ text }) => text)
    return texts.some(text => /"actor":\{"id":\d+,"name":"/.test(text) && /"to_name":"/.test(text))
  }, 'an event with names')
  await call('DELETE', `${v1}/webhook/${id}`, undefined, as(token))
})

test('what is hidden after an event does not leave with a later attempt', async context => {
  stopClock(context)
  const receiver = await startReceiver(answering(500))
  const role = await made('role', {
    name: 'Soon blind',
    scopes: ['deal:read', 'webhook:write', 'webhook:read'],
  })
  const { token } = await userOf(role.id)
  const { id } = await made('webhook', { url: receiver.url, events: ['deal.created'] }, as(token))
  await made('deal', dealBody(known, { description: 'soon hidden' }))
  await receiver.until(1)
  assert.match(receiver.got[0]!.text, /soon hidden/)
  await eventually(async () => (await deliveriesOf(id))[0]!.attempts === 1, 'a written attempt')
  await changed(`role/${role.id}`, { hidden_fields: ['deal.description'] })
  await new Promise(resolve => setTimeout(resolve, 600))
  ahead += 5001
  await receiver.until(2)
  assert.ok(!/soon hidden|description/.test(receiver.got[1]!.text))
  assert.equal(receiver.got[1]!.id, receiver.got[0]!.id)
  await eventually(async () => (await deliveriesOf(id))[0]!.attempts === 2, 'a written attempt')
  await changed(`role/${role.id}`, { scopes: ['webhook:read', 'webhook:write'] })
  await new Promise(resolve => setTimeout(resolve, 600))
  ahead += 30_001
  await eventually(async () => (await deliveriesOf(id))[0]!.state === 'dead', 'a dead letter')
  assert.equal(receiver.got.length, 2)
  assert.match((await deliveriesOf(id))[0]!.error as string, /no longer sees/)
  await call('DELETE', `${v1}/webhook/${id}`)
})

test('nobody is told by a webhook what their token may not read; others see theirs alone', async () => {
  const { token } = await userOf('Member')
  const narrow = (
    await made('token', { name: 'Narrow', scopes: ['webhook:write', 'webhook:read', 'tag:read'] }, as(token))
  ).token
  const url = 'http://127.0.0.1:9/'
  const asked: [body: Json, secret: string, status: number][] = [
    [{ url, events: ['tag.created'] }, narrow, 201],
    [{ url, events: ['deal.won'] }, narrow, 403],
    [{ url, events: ['*'] }, narrow, 403],
    [{ url, events: ['*'] }, token, 201],
    [{ url, events: ['tag.created'], user: known.owner }, token, 403],
    [{ url, events: ['deal.*'], filter: 'company.name:like(x)' }, token, 201],
  ]
  const ids: number[] = []
  for (const [body, secret, expected] of asked) {
    const reply = await call('POST', `${v1}/webhook`, body, as(secret))
    assert.equal(reply.status, expected, `${JSON.stringify(body)} ${reply.text}`)
    if (expected === 201) ids.push(reply.body.data.id)
  }
  const wide = ids[1]!
  // A narrow token can't redirect a wide webhook to an address of its own.
  assert.equal(await status(call('PATCH', `${v1}/webhook/${wide}`, { url: `${url}x` }, as(narrow))), 403)
  assert.equal(await status(call('POST', `${v1}/webhook/${wide}/rotate`, undefined, as(narrow))), 403)
  const mine = await made('webhook', { url, events: ['deal.*'], is_active: 'No' })
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', '/deliveries/1/replay'],
  ] as const)
    assert.equal(
      await status(call(method, `${v1}/webhook/${mine.id}${path}`, undefined, as(token))),
      404,
      path,
    )
  assert.equal(await status(call('POST', `${v1}/webhook/${mine.id}/replay`, { after: 0 }, as(token))), 404)
  const seen = (await call('GET', `${v1}/webhook/view/list?pageSize=500`, undefined, as(token))).body.data
  assert.deepEqual(seen.map(({ id }: { id: number }) => id).toSorted(), ids.toSorted())
  // An administrator sees all, and may reassign one.
  assert.equal((await changed(`webhook/${wide}`, { user: known.owner })).user, known.owner)
  for (const id of [...ids, mine.id]) assert.equal(await status(call('DELETE', `${v1}/webhook/${id}`)), 200)
})

test('a token that ends makes and changes no webhook that goes on after it', async () => {
  const { user, token } = await userOf('Member')
  const scopes = ['webhook:write', 'webhook:read', 'deal:read']
  const expires_at = new Date(now().getTime() + 600_000).toISOString()
  const lent = as((await made('token', { name: 'Lent', user: user.id, scopes, expires_at })).token)
  const url = 'http://127.0.0.1:9/'
  const body = { url, events: ['deal.won'] }
  const { id } = await made('webhook', body, as(token))
  for (const [method, path, sent] of [
    ['POST', 'webhook', body],
    ['PATCH', `webhook/${id}`, { url: `${url}mine` }],
    ['POST', `webhook/${id}/rotate`, {}],
  ] as const) {
    const reply = await call(method, `${v1}/${path}`, sent, lent)
    assert.equal(reply.status, 403, `${method} ${path}: ${reply.text}`)
    assert.match(reply.body.detail, /goes on when the token that you ask with has ended/)
  }
  // Out of use it tells nobody; a token that does not end takes it into use again.
  await changed(`webhook/${id}`, { is_active: 'No' }, lent)
  assert.equal(await status(call('PATCH', `${v1}/webhook/${id}`, { is_active: 'Yes' }, lent)), 403)
  await changed(`webhook/${id}`, { is_active: 'Yes' }, as(token))
  assert.equal(await status(call('DELETE', `${v1}/webhook/${id}`, undefined, lent)), 200)
  // A session ends too, but is of a person, who signs in again.
  const { link } = (await call('POST', `${v1}/user/${user.id}/link`, { purpose: 'invitation' })).body.data
  const own = browser(service.url)
  const password = 'seven green kettles sing'
  assert.equal((await own.send('POST', `${v1}/session`, { link, password })).status, 201)
  const theirs = await own.send('POST', `${v1}/webhook`, body)
  assert.equal(theirs.status, 201, theirs.text)
  assert.equal(await status(call('DELETE', `${v1}/webhook/${theirs.body.data.id}`)), 200)
})

test('a test tells at once how it went, in use or not, and is not repeated', async () => {
  const receiver = await startReceiver(answering(500, 'é'.repeat(2000)))
  const { id, secret } = await made('webhook', { url: receiver.url, events: ['deal.won'], is_active: 'No' })
  const key = { 'idempotency-key': 'test-it' }
  const { body, text } = await call('POST', `${v1}/webhook/${id}/test`, undefined, key)
  const { state, status, error, answer, attempts, type } = body.data
  assert.deepEqual([type, state, status, attempts], ['webhook.tested', 'dead', 500, 1], text)
  assert.match(error, /answered 500/)
  assert.equal(answer, 'é'.repeat(512))
  verified(receiver.got[0]!, secret)
  assert.equal(receiver.got[0]!.body.data.record.id, id)
  const again = await call('POST', `${v1}/webhook/${id}/test`, undefined, key)
  assert.deepEqual([again.body.data.id, receiver.got.length], [body.data.id, 1])
  receiver.answer = answering(200, 'fine')
  const good = (await call('POST', `${v1}/webhook/${id}/test`)).body.data
  assert.deepEqual([good.state, good.answer, good.error], ['delivered', 'fine', null])
  await changed(`webhook/${id}`, { url: 'http://127.0.0.1:1/' })
  const refused = (await call('POST', `${v1}/webhook/${id}/test`)).body.data
  assert.deepEqual([refused.state, refused.status], ['dead', null])
  assert.match(refused.error, /refused the connection/)
  assert.deepEqual(
    (await get(`${v1}/webhook/${id}/history`)).body.data.map((e: { type: string }) => e.type).toSorted(),
    ['webhook.created', ...['webhook.tested', 'webhook.tested', 'webhook.tested'], 'webhook.updated'],
  )
})

test('a test is sent once, also where the webhook asks for every event', async () => {
  const receiver = await startReceiver(answering(500, 'no'))
  const { id } = await made('webhook', { url: receiver.url, events: ['*'] })
  const { data } = (await call('POST', `${v1}/webhook/${id}/test`)).body
  assert.equal(data.state, 'dead')
  receiver.answer = answering(200, 'fine')
  await made('tag', { name: 'After the test' })
  await eventually(async () => (await statesOf(id)).includes('tag.created delivered'), 'the next event')
  const tests = receiver.got.filter(({ body }) => body.type === 'webhook.tested')
  assert.equal(tests.length, 1)
  assert.ok((await statesOf(id)).includes('webhook.tested dead'))
})

test('a replay takes its locks in the order of whoever notes an outcome down', onServer, async () => {
  const receiver = await startReceiver()
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.*'] })
  await made('tag', { name: 'Noted' })
  const seq = await eventually(async () => {
    const [one] = await deliveriesOf(id)
    return one?.state === 'delivered' ? Number(one.id) : null
  }, 'a delivery')
  const catalog = await loadCatalog(db, resources, 1)
  const waiting = `SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%counter%'`
  for (const hasOnlyTransactions of [false, true]) {
    const work = workOn({ ...db, hasOnlyTransactions }, { catalog, actor: known.owner }, 'webhook')
    const [replayed] = await db.sql.begin(async tx => {
      await tx.query(`SELECT FROM webhook_progress WHERE webhook = ${id} FOR UPDATE`, [])
      const replayed = replayDelivery(work, id, seq)
      await eventually(async () => (await db.query(waiting)).length > 0, 'a replay that waits')
      await tx.query("SET LOCAL lock_timeout = '500ms'", [])
      await tx.query(`UPDATE webhook_delivery SET answer = answer WHERE webhook = ${id} AND seq = ${seq}`, [])
      return [replayed]
    })
    assert.match(await replayed!, /"state":"waiting"/)
  }
  await call('DELETE', `${v1}/webhook/${id}`)
})

test('a replay goes back, and never past what was not sent yet', async () => {
  const receiver = await startReceiver()
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  // As if the scan had not come to these events: it is held back until the replay.
  await db.query("UPDATE webhook_progress SET next_at = 'infinity' WHERE webhook = $1::bigint", [String(id)])
  const { last } = (await get(`${v1}/event?after=${Number.MAX_SAFE_INTEGER}`)).body.meta
  await db.query('UPDATE webhook_progress SET seq = $1::bigint WHERE webhook = $2::bigint', [
    String(last),
    String(id),
  ])
  for (const name of ['Passed over', 'Sent again']) await made('tag', { name })
  assert.equal((await call('POST', `${v1}/webhook/${id}/replay`, { after: last + 1 })).status, 200)
  const got = await receiver.until(2)
  assert.deepEqual(
    got.map(({ body }) => body.data.record.name),
    ['Passed over', 'Sent again'],
  )
})

test('retries come when they are due, and a dead letter after the last', async context => {
  stopClock(context)
  const receiver = await startReceiver(answering(503))
  const { id } = await made('webhook', { url: receiver.url, events: ['company.created'] })
  await made('company', { name: 'Retried' })
  const seconds = [5, 30, 120, 600, 3600, 21_600, 86_400]
  for (const [index, wait] of seconds.entries()) {
    await receiver.until(index + 1)
    await eventually(async () => (await deliveriesOf(id))[0]!.attempts === index + 1, 'a written attempt')
    ahead += (wait - 2) * 1000
    await new Promise(resolve => setTimeout(resolve, 100))
    assert.equal(receiver.got.length, index + 1, `before ${wait} s`)
    ahead += 2100
  }
  await receiver.until(8)
  await eventually(async () => (await deliveriesOf(id))[0]!.attempts === 8, 'the last attempt written')
  const [delivery] = await deliveriesOf(id)
  assert.equal(new Set(receiver.got.map(one => one.id)).size, 1)
  assert.deepEqual([delivery!.state, (delivery!.log as Json[]).length], ['waiting', 8])
  const { failing_since, last_error } = (await get(`${v1}/webhook/${id}`)).body.data
  assert.ok(failing_since)
  assert.match(last_error, /answered 503/)
  // The next retry would come after more than three days of failure.
  ahead += 172_801_000
  await eventually(async () => (await get(`${v1}/webhook/${id}`)).body.data.is_active === 2, 'an end')
  const { disabled_reason } = (await get(`${v1}/webhook/${id}`)).body.data
  assert.match(disabled_reason, /three days/)
  await eventually(async () => (await deliveriesOf(id))[0]!.state === 'dead', 'a dead letter')
  const [last] = (await get(`${v1}/webhook/${id}/history`)).body.data
  assert.deepEqual([last.type, last.actor.id], ['webhook.updated', null])
})

test('410 takes a webhook out of use; taken into use again it tells of what happens from then on', async () => {
  const receiver = await startReceiver(answering(410))
  const { id } = await made('webhook', { url: receiver.url, events: ['company.created'] })
  const first = await made('company', { name: 'Gone' })
  const off = async () => (await get(`${v1}/webhook/${id}`)).body.data
  await eventually(async () => (await off()).is_active === 2, 'an end')
  await eventually(async () => (await statesOf(id)).join() === 'company.created dead', 'a dead letter')
  assert.match((await off()).disabled_reason, /410/)
  const missed = await made('company', { name: 'Missed' })
  const stoppedAt = (await off()).last_seq
  receiver.answer = answering(200)
  for (const path of ['replay', `deliveries/${(await deliveriesOf(id))[0]!.id}/replay`]) {
    const refused = await call(
      'POST',
      `${v1}/webhook/${id}/${path}`,
      path === 'replay' ? { after: 0 } : undefined,
    )
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'out_of_use'], refused.text)
  }
  const on = await changed(`webhook/${id}`, { is_active: 'Yes' })
  assert.deepEqual([on.is_active, on.disabled_reason], [1, null])
  const third = await made('company', { name: 'Told' })
  await receiver.until(2)
  assert.deepEqual(
    receiver.got.map(({ body }) => body.data.id),
    [first.id, third.id],
  )
  // A replay sends missed events from where it stopped; events that were sent before have their former id.
  const replayed = await call('POST', `${v1}/webhook/${id}/replay`, { after: stoppedAt })
  assert.equal(replayed.status, 200, replayed.text)
  const got = await receiver.until(4)
  await eventually(async () => (await deliveriesOf(id, '?state=waiting')).length === 0, 'all delivered')
  assert.deepEqual(
    got.slice(2).map(({ body }) => body.data.id),
    [missed.id, third.id],
  )
  assert.equal(got[3]!.id, got[1]!.id)
})

test('410 of a former address leaves the webhook in use, and the new address gets what happens', async () => {
  const [former, next] = [await startReceiver(), await startReceiver()]
  const asked = Promise.withResolvers<() => void>()
  former.answer = (got, response) => asked.resolve(() => answering(410)(got, response, response.req))
  const { id } = await made('webhook', { url: former.url, events: ['company.created'] })
  await made('company', { name: 'Told to the former' })
  const answer = await asked.promise
  await changed(`webhook/${id}`, { url: next.url })
  answer()
  await eventually(async () => (await statesOf(id)).join() === 'company.created dead', 'a dead letter')
  const second = await made('company', { name: 'Told to the next' })
  const [told] = await next.until(1)
  assert.equal(told!.body.data.id, second.id)
  assert.equal((await get(`${v1}/webhook/${id}`)).body.data.is_active, 1)
})

test('what waits is given up only while the webhook is out of use', async () => {
  const receiver = await startReceiver(answering(500))
  const { id } = await made('webhook', { url: receiver.url, events: ['company.created'] })
  await made('company', { name: 'Waits' })
  await eventually(async () => (await statesOf(id)).join() === 'company.created waiting', 'a retry')
  const held = { account: 1, id, holder: crypto.randomUUID() }
  await eventually(() => claim(db, held, new Date()), 'the lease')
  assert.equal(await giveUp(db, held, 'Out of use.', 10), 0)
  await release(db, held)
  assert.deepEqual(await statesOf(id), ['company.created waiting'])
})

test('a webhook is taken out of use, whatever fields its account requires by now', async () => {
  const receiver = await startReceiver(answering(410))
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  const field = await made('field', { source: 'webhook', field_name: 'Team', type: 'SINGLE_STRING' })
  await changed(`field/${field.id}`, { is_required: true })
  await made('tag', { name: 'For a receiver that is gone' })
  const off = async () => (await get(`${v1}/webhook/${id}`)).body.data
  await eventually(async () => (await off()).is_active === 2, 'an end')
  assert.match((await off()).disabled_reason, /410/)
  await call('DELETE', `${v1}/field/${field.id}`)
})

test('a webhook waits while its account is deleted', async () => {
  const answers: (() => void)[] = []
  const receiver = await startReceiver((_, response) => void answers.push(() => response.end()))
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  await made('tag', { name: 'Of an account that is deleted' })
  await receiver.until(1)
  await db.query('UPDATE account SET deleted_at = now() WHERE account_id = 1')
  // A webhook is cached for half a second.
  await new Promise(resolve => setTimeout(resolve, 600))
  answers[0]!()
  const delivered = async () => {
    const rows = await db.query(`SELECT state FROM webhook_delivery WHERE webhook = ${id}`)
    return rows[0]?.state === 'delivered'
  }
  await eventually(delivered, 'an outcome')
  await new Promise(resolve => setTimeout(resolve, 200))
  await db.query('UPDATE account SET deleted_at = NULL WHERE account_id = 1')
  assert.equal((await get(`${v1}/webhook/${id}`)).body.data.is_active, 1)
  receiver.answer = answering(204)
  await made('tag', { name: 'Of an account that is restored' })
  await receiver.until(2)
})

test('a write without an event delays no event of the writes after it', async () => {
  const polled = await startService({ webhooks: { ...webhooks, everyMs: 600_000 } })
  const receiver = await startReceiver()
  await polled.made('webhook', { url: receiver.url, events: ['tag.updated'] })
  const { id } = await polled.made('tag', { name: 'Twice' })
  const patched = async (name: string, key: string) => {
    const headers = { 'idempotency-key': key }
    assert.equal((await polled.call('PATCH', `${v1}/tag/${id}`, { name }, headers)).status, 200)
  }
  await new Promise(resolve => setTimeout(resolve, 700))
  await patched('Twice', 'unchanged')
  await new Promise(resolve => setTimeout(resolve, 100))
  await patched('Thrice', 'changed')
  await receiver.until(1)
})

test('what was under way when a webhook was taken out of use is not tried again', async () => {
  const answers: ((status: number) => void)[] = []
  const receiver = await startReceiver(
    (_, response) => void answers.push(code => response.writeHead(code).end()),
  )
  const webhook = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  for (const name of ['Answered', 'Under way 1', 'Under way 2']) await made('tag', { name })
  await receiver.until(1)
  // After an answer, two are sent at a time.
  answers[0]!(200)
  await receiver.until(3)
  await changed(`webhook/${webhook.id}`, { is_active: false })
  // A webhook is cached for half a second.
  await new Promise(resolve => setTimeout(resolve, 600))
  answers[1]!(500)
  const states = async () => (await deliveriesOf(webhook.id)).map(({ state }) => state)
  await eventually(async () => !(await states()).includes('waiting'), 'an end of both')
  answers[2]!(500)
  // Polled without a pause: a requeued delivery would be given up again at once.
  const areWritten = async () => {
    const [row] =
      await db.query(`SELECT sum(attempts)::text AS attempts, count(*) FILTER (WHERE state = 'waiting')::text
  AS waiting FROM webhook_delivery WHERE webhook = ${webhook.id}`)
    assert.equal(row!.waiting, '0')
    return row!.attempts === '3'
  }
  await eventually(areWritten, 'three attempts', 0)
})

test('one delivery is sent again under its id; the log has pages', async () => {
  const receiver = await startReceiver()
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  for (let n = 0; n < 5; n++) await made('tag', { name: `Logged ${n}` })
  await receiver.until(5)
  await eventually(async () => (await deliveriesOf(id, '?state=delivered')).length === 5, 'all delivered')
  const ids: Json[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await get(`${v1}/webhook/${id}/deliveries?pageSize=2${cursor}`)).body
    ids.push(...data.map((one: { record: number }) => one.record))
    if (!meta.hasMore) break
    cursor = `&cursor=${meta.nextCursor}`
  }
  assert.deepEqual(ids, receiver.got.map(({ body }) => body.data.id).reverse())
  const [newest] = await deliveriesOf(id)
  const key = { 'idempotency-key': 'send-again' }
  const path = `${v1}/webhook/${id}/deliveries/${newest!.id}/replay`
  const again = await call('POST', path, undefined, key)
  assert.deepEqual([again.status, again.body.data.state], [200, 'waiting'], again.text)
  const got = await receiver.until(6)
  assert.equal(got[5]!.id, newest!.webhook_id)
  await call('POST', path, undefined, key)
  await eventually(async () => (await deliveriesOf(id))[0]!.attempts === 2, 'two attempts')
  assert.equal(receiver.got.length, 6)
  assert.equal(await status(call('POST', `${v1}/webhook/${id}/deliveries/1/replay`)), 404)
})

test('the events of a record stay in order, until an earlier one has failed for ten minutes', async context => {
  stopClock(context)
  const receiver = await startReceiver(({ body }, response) => {
    const isBad = body.data.changes.some((change: { to: Json }) => change.to === 'bad')
    response.writeHead(isBad ? 500 : 200).end()
  })
  const { id } = await made('webhook', { url: receiver.url, events: ['product.*'] })
  const make = async (name: string) =>
    made('product', { name, product_code: name, unit_price: [{ currency: 'USD', price: 1 }] })
  const one = await make('bad')
  const two = await make('good')
  for (const name of ['b', 'c']) await changed(`product/${one.id}`, { name })
  await changed(`product/${two.id}`, { name: 'better' })
  const told = (product: { id: number }) =>
    receiver.got.filter(({ body }) => body.data.id === product.id).map(({ body }) => body.data.version)
  await eventually(() => told(two).length === 2, 'the other record')
  assert.deepEqual(told(one), [1])
  for (const [wait, attempts] of [
    [6, 2],
    [31, 3],
    [121, 4],
  ] as const) {
    ahead += wait * 1000
    await eventually(() => told(one).length === attempts, `attempt ${attempts}`)
    await eventually(
      async () => Number((await deliveriesOf(id)).at(-1)!.attempts) === attempts,
      'a written attempt',
    )
  }
  assert.deepEqual(told(one), [1, 1, 1, 1])
  ahead += 443_000
  await eventually(() => told(one).length === 6, 'those that overtake')
  assert.deepEqual(told(one), [1, 1, 1, 1, 2, 3])
})

test('a webhook whose user is out of use, or whose filter names a deleted field, says so', async () => {
  const receiver = await startReceiver()
  const { user, token } = await userOf('Member')
  const theirs = await made('webhook', { url: receiver.url, events: ['deal.created'] }, as(token))
  const field = await made('field', { source: 'deal', field_name: 'Fleeting', type: 'SINGLE_STRING' })
  const filter = `${field.internal_name}:isnull(true)`
  const filtered = await made('webhook', { url: receiver.url, events: ['deal.created'], filter })
  await changed(`user/${user.id}`, { is_active: 'No' })
  await call('DELETE', `${v1}/field/${field.id}`)
  await new Promise(resolve => setTimeout(resolve, 600))
  await made('deal', dealBody(known))
  const reasonOf = async (id: number) => (await get(`${v1}/webhook/${id}`)).body.data.disabled_reason
  await eventually(async () => /user is out of use/.test(await reasonOf(theirs.id)), 'a reason')
  await eventually(async () => /filter/.test(await reasonOf(filtered.id)), 'a reason')
  assert.equal(receiver.got.length, 0)
  // It can be written back whole, and goes into use with a filter that can be read.
  const path = `${v1}/webhook/${filtered.id}`
  assert.equal(await status(call('PUT', path, (await get(path)).body.data)), 200)
  const use = await call('PATCH', path, { is_active: 'Yes' })
  assert.deepEqual(problemsOf(use), ['/filter unknown_field'])
  assert.equal(await status(call('PATCH', path, { is_active: 'Yes', filter: 'title:notnull(true)' })), 200)
  assert.equal(await reasonOf(filtered.id), null)
  // Deleting a user reassigns their webhooks like everything of theirs.
  assert.equal(await status(call('DELETE', `${v1}/user/${user.id}`)), 409)
  assert.equal(await status(call('DELETE', `${v1}/user/${user.id}?move_to=${known.owner}`)), 200)
  assert.equal((await get(`${v1}/webhook/${theirs.id}`)).body.data.user, known.owner)
})

test('a webhook that is deleted is sent nothing more, and leaves nothing behind', async () => {
  const receiver = await startReceiver(answering(500))
  const { id } = await made('webhook', { url: receiver.url, events: ['tag.created'] })
  await made('tag', { name: 'Last' })
  await receiver.until(1)
  assert.equal(await status(call('DELETE', `${v1}/webhook/${id}`)), 200)
  const left = async () => {
    const counts = await Promise.all(
      ['webhook_secret', 'webhook_progress', 'webhook_delivery'].map(table =>
        db.query(`SELECT count(*)::text AS n FROM ${table} WHERE account_id = 1 AND webhook = $1::bigint`, [
          String(id),
        ]),
      ),
    )
    return counts.reduce((sum, [row]) => sum + Number(row!.n), 0)
  }
  await eventually(async () => (await left()) === 0, 'nothing left')
  ahead += 60_000
  await made('tag', { name: 'After it' })
  await new Promise(resolve => setTimeout(resolve, 200))
  assert.equal(receiver.got.length, 1)
})

test('another process delivers what this one wrote, and none twice at once', async () => {
  const receiver = await startReceiver((_, response) => void setTimeout(() => response.end(), 5))
  const other = await service.another()
  await made('webhook', { url: receiver.url, events: ['tag.*'] })
  const names = Array.from({ length: 60 }, (_, n) => `Shared ${n}`)
  await Promise.all(
    names.map((name, n) =>
      (n % 2 ? call : other.call)('POST', `${v1}/tag`, { name }).then(({ status }) =>
        assert.equal(status, 201),
      ),
    ),
  )
  await receiver.until(60)
  await new Promise(resolve => setTimeout(resolve, 300))
  assert.equal(receiver.got.length, 60)
  assert.equal(new Set(receiver.got.map(({ id }) => id)).size, 60)
})
