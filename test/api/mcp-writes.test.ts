/** Writes of agents (D147, D148): two steps, the very change that was shown, one filter and one undo. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Json } from '../../src/json.ts'
import { connectAgent } from '../support/agent.ts'
import { earlier } from '../support/citus.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known, made, another, url, token } = service
const agent = await connectAgent(service, '2026-07-28', 'Claude')
const { use, carryOut } = agent

const lastSeq = async () => (await get(`${v1}/event?after=${Number.MAX_SAFE_INTEGER}`)).body.meta.last
const deal = (members: { [name: string]: Json } = {}) => made('deal', dealBody(known, members))
const read = async (id: number) => (await get(`${v1}/deal/${id}`)).body.data

test('the first step saves nothing, and says what would change; the second carries it out', async () => {
  const { id } = await deal({ title: 'Solar retrofit' })
  const before = await lastSeq()
  const first = await use('update', {
    resource: 'deal',
    record: id,
    values: { stage: 'Proposal', source: 'Web' },
  })
  assert.equal(await lastSeq(), before)
  assert.equal(first.body.saved, false)
  assert.equal(first.body.name, 'Solar retrofit')
  assert.deepEqual(first.body.changes.pipeline_stage, { before: 'New', after: 'Proposal' })
  assert.deepEqual(first.body.changes.source, { before: null, after: 'Web' })
  assert.match(first.body.code, /^[a-z2-9]{10}$/)
  assert.equal(first.body.next, `if it is right: update {"code":"${first.body.code}"} within 10 minutes`)
  const second = await use('update', { code: first.body.code })
  assert.deepEqual([second.body.saved, second.body.id], [true, id])
  assert.equal((await read(id)).pipeline_stage, known.stages.Proposal)
  assert.equal(await lastSeq(), before + 1)
})

test('a code that is sent again answers the same, and does nothing twice', async () => {
  const { body } = await use('create', { resource: 'company', values: { name: 'Only once Inc.' } })
  const one = await use('create', { code: body.code })
  const other = await use('create', { code: body.code.toUpperCase() })
  assert.deepEqual(one.body, other.body)
  const { meta } = (await get(`${v1}/company/view/list?filter=name:eq(Only once Inc.)`)).body
  assert.equal(meta.total, 1)
})

test('a code is of one tool and one token, and ends after ten minutes', async () => {
  const { id } = await deal()
  const values = { title: 'Renamed' }
  const { body } = await use('update', { resource: 'deal', record: id, values })
  const other = await use('create', { code: body.code })
  assert.ok(other.isError)
  assert.equal(other.body.next, `update {"code":"${body.code}"}`)
  const { token: secret } = await made('token', { name: 'Other', scopes: ['admin'] })
  const stranger = await connectAgent({ url, token: secret })
  const stolen = await stranger.use('update', { code: body.code })
  assert.match(stolen.body.error, /no such code/)
  await db.query(
    `UPDATE agent_change SET valid_until = ${earlier('valid_until', "interval '10 minutes'")} WHERE account_id = 1`,
  )
  const late = await use('update', { code: body.code })
  assert.match(late.body.error, /minutes are over\. Nothing was saved/)
  assert.equal((await read(id)).title, 'A deal')
})

test('what somebody else has changed since is not overwritten', async () => {
  const { id } = await deal()
  const { body } = await use('update', { resource: 'deal', record: id, values: { title: 'By the agent' } })
  assert.equal((await call('PATCH', `${v1}/deal/${id}`, { title: 'By Ada' })).status, 200)
  const second = await use('update', { code: body.code })
  assert.ok(second.isError)
  assert.match(second.body.next, /first step again/)
  assert.equal((await read(id)).title, 'By Ada')
})

test('a name means the record that it meant when the change was shown', async () => {
  const { id } = await deal()
  const [tom, eva] = await Promise.all(
    ['Tom Swap', 'Eva Swap'].map((name, index) => made('user', { name, email: `swap${index}@example.com` })),
  )
  const { body } = await use('update', { resource: 'deal', record: id, values: { owner: 'Tom Swap' } })
  await call('PATCH', `${v1}/user/${tom.id}`, { name: 'Somebody' })
  await call('PATCH', `${v1}/user/${eva.id}`, { name: 'Tom Swap' })
  assert.equal((await use('update', { code: body.code })).body.saved, true)
  assert.equal((await read(id)).sales_owner, tom.id)
})

test('another process carries out what this one has shown', async () => {
  const { id } = await deal()
  const there = await another()
  const elsewhere = await connectAgent({ url: there.url, token }, '2025-11-25')
  const { body } = await use('update', { resource: 'deal', record: id, values: { title: 'Across' } })
  assert.equal((await elsewhere.use('update', { code: body.code })).body.saved, true)
  assert.equal((await read(id)).title, 'Across')
  const again = await use('update', { code: body.code })
  assert.equal(again.body.saved, true)
  assert.equal((await read(id)).version, 2)
})

test('many: the number and three examples first, then all or none', async () => {
  const ids: number[] = []
  for (let count = 0; count < 5; count++)
    ids.push((await deal({ title: `Stale ${count}`, pipeline_stage: known.stages.Proposal! })).id)
  const where = ['title contains Stale', 'stage is Proposal']
  const first = await use('update', { resource: 'deal', where, values: { stage: 'Qualified' } })
  assert.equal(first.body.would, 'change 5 deals')
  assert.equal(first.body.examples.length, 3)
  assert.deepEqual(first.body.examples[0].changes, {
    pipeline_stage: { before: 'Proposal', after: 'Qualified' },
  })
  // One that is changed meanwhile: none is changed.
  await call('PATCH', `${v1}/deal/${ids[2]}`, { title: 'Stale, but not forgotten' })
  const refused = await use('update', { code: first.body.code })
  assert.ok(refused.isError, refused.text)
  assert.equal((await read(ids[0]!)).pipeline_stage, known.stages.Proposal)
  const { body } = await carryOut('update', { resource: 'deal', where, values: { stage: 'Qualified' } })
  assert.deepEqual([body.saved, body.records], [true, 5])
  for (const id of ids) assert.equal((await read(id)).pipeline_stage, known.stages.Qualified)
  const none = await use('update', { resource: 'deal', where, values: { stage: 'Qualified' } })
  assert.match(none.body.error, /No record meets/)
  const undone = await carryOut('undo', { change: body.change })
  assert.deepEqual([undone.body.saved, undone.body.records], [true, 5])
  for (const id of ids) assert.equal((await read(id)).pipeline_stage, known.stages.Proposal)
})

test('records that would be refused are named, and none is changed', async () => {
  for (const title of ['Half 1', 'Half 2']) await deal({ title })
  const reply = await use('update', {
    resource: 'deal',
    where: ['title contains Half'],
    values: { stage: 'Won' },
  })
  assert.ok(reply.isError)
  assert.match(reply.body.error, /2 of 2 records would be refused, so none is changed/)
  assert.match(reply.text, /won_reason/)
})

test('what is ignored is named, and is no value that the record has already', async () => {
  const { id } = await deal()
  for (const which of [{ record: id }, { where: [`id is ${id}`] }]) {
    const ignored = await use('update', { resource: 'deal', ...which, values: { age: 5 } })
    assert.ok(ignored.isError)
    assert.match(ignored.text, /"error":"Nothing would change\.".*age: The field is read-only/)
    const partly = await use('update', { resource: 'deal', ...which, values: { age: 5, title: 'Partly' } })
    assert.match(partly.body.notes.join(), /^age: The field is read-only/, partly.text)
    const followed = await use('update', { resource: 'deal', ...which, values: { updated_at: 'now' } })
    assert.match(followed.text, /"error":"Nothing would change\./)
  }
  const same = await use('update', { resource: 'deal', record: id, values: { description: null } })
  assert.match(same.text, /has these values already/)
})

test('close wins and loses deals', async () => {
  const { id } = await deal()
  const missing = await use('update', { resource: 'deal', record: id, close: { as: 'lost' } })
  assert.ok(missing.isError)
  assert.match(missing.text, /lost_reason/)
  const close = { as: 'lost', reason: 'Price is too high', on: 'yesterday' }
  const { body } = await carryOut('update', { resource: 'deal', record: id, close })
  assert.equal(body.saved, true)
  const lost = await read(id)
  assert.equal(lost.pipeline_stage, known.stages.Lost)
  const won = await carryOut('update', {
    resource: 'deal',
    record: id,
    close: { as: 'won', reason: 'Price' },
  })
  assert.equal(won.body.saved, true, won.text)
  assert.equal((await read(id)).pipeline_stage, known.stages.Won)
  for (const values of [undefined, { description: 'Given up' }]) {
    const ids = [await deal({ title: 'Closed by condition' }), await deal({ title: 'Closed by condition' })]
    if (values) await call('PATCH', `${v1}/deal/${ids[0].id}`, values)
    const where = ['title is Closed by condition', 'status is Open']
    const asked = { resource: 'deal', where, close, ...(values && { values }) }
    const { body: both, text } = await carryOut('update', asked)
    assert.deepEqual([both.saved, both.records], [true, 2], text)
    for (const { id } of ids) assert.equal((await read(id)).lost_reason !== null, true)
  }
})

test('what looks the same in short is a change, and is shown', async () => {
  const price = { currency: 'EUR', unit_price: 10, tax: 0 }
  const long = 'a'.repeat(400)
  const story = (await made('field', { source: 'product', field_name: 'Story', type: 'TEXT' })).internal_name
  const product = await made('product', { name: 'Taxed', unit_price: [price], [story]: long })
  for (const values of [{ unit_price: [{ ...price, tax: 19 }] }, { [story]: `${long.slice(1)}b` }])
    for (const which of [{ record: product.id }, { where: ['name is Taxed'] }]) {
      const { body, text } = await use('update', { resource: 'product', ...which, values })
      const [name] = Object.keys(values)
      const { before, after } = (body.changes ?? body.records?.[0].changes)?.[name!] ?? {}
      assert.ok(before && before !== after, text)
    }
  const companies = [await made('company', { name: 'Twice' }), await made('company', { name: 'Twice' })]
  const { id } = await deal({ company: companies[0].id })
  const moved = await carryOut('update', {
    resource: 'deal',
    record: id,
    values: { company: companies[1].id },
  })
  assert.equal(moved.body.saved, true, moved.text)
  assert.equal((await read(id)).company, companies[1].id)
})

test('a token with mcp:write writes at once, but several records never', async () => {
  const { token: secret } = await made('token', { name: 'Direct', scopes: ['admin', 'mcp:write'] })
  const direct = await connectAgent({ url, token: secret })
  const company = await direct.use('create', { resource: 'company', values: { name: 'At once' } })
  assert.equal(company.body.saved, true)
  for (const name of ['Two 1', 'Two 2']) await made('company', { name })
  const both = {
    resource: 'company',
    where: ['name contains Two'],
    values: { website: 'https://two.example' },
  }
  assert.equal((await direct.use('update', both)).body.saved, false)
  // The scope admin alone doesn't include it.
  assert.equal((await use('create', { resource: 'company', values: { name: 'x' } })).body.saved, false)
})

test('mcp:write is of a role, too, and nobody grants it who has it not', async () => {
  const scopes = ['company:read', 'company:write', 'token:read', 'token:write']
  const role = await made('role', { name: 'Careful', scopes })
  const user = await made('user', { name: 'Careful', email: 'careful@example.com', role: role.id })
  const own = { name: 'Careful', user: user.id, scopes: [...scopes, 'mcp:write'] }
  const { token: secret } = await made('token', own)
  const careful = await connectAgent({ url, token: secret })
  const company = { resource: 'company', values: { name: 'Careful Inc.' } }
  assert.equal((await careful.use('create', company)).body.saved, false)
  const as = { authorization: `Bearer ${secret}` }
  const more = await call('POST', `${v1}/token`, { name: 'More', scopes: ['mcp:write'] }, as)
  assert.equal(more.status, 403)
  assert.match(more.body.detail, /you lack mcp:write/)
  await call('PATCH', `${v1}/role/${role.id}`, { scopes: [...scopes, 'mcp:write'] })
  service.aSecondGoesBy()
  assert.equal((await careful.use('create', company)).body.saved, true)
})

test('events tell that an agent wrote, by which program; histories and the feed find them', async () => {
  const { id } = await deal()
  const since = await lastSeq()
  await carryOut('update', { resource: 'deal', record: id, values: { title: 'By Claude' } })
  await call('PATCH', `${v1}/deal/${id}`, { title: 'By a person' })
  const { data } = (await get(`${v1}/event?after=${since}&origin=mcp`)).body
  assert.deepEqual(
    data.map(({ id: of, actor }: { id: number; actor: { [name: string]: Json } }) => [
      of,
      actor.origin,
      actor.client,
    ]),
    [[id, 'mcp', 'Claude']],
  )
  const history = (await get(`${v1}/deal/${id}/history?origin=mcp`)).body.data
  assert.equal(history.length, 1)
  assert.match(history[0].actor.request_id, /^agent-/)
  const all = (await get(`${v1}/deal/${id}/history`)).body.data
  assert.equal(all[0].actor.origin, undefined)
  const told = await use('history', { resource: 'deal', record: id, by: 'agents' })
  assert.equal(told.body.rows.length, 1)
  assert.match(told.body.rows[0][2], /^Owner by Claude$/)
  assert.equal((await get(`${v1}/event?origin=csv`)).status, 400)
})

test('a client of the older revision is known by the name that it told when it connected', async () => {
  const { token: secret } = await made('token', { name: 'Older', scopes: ['admin'] })
  const older = await connectAgent({ url, token: secret }, '2025-11-25', 'Cursor')
  const { body } = await older.carryOut('create', { resource: 'company', values: { name: 'By Cursor' } })
  const [event] = (await get(`${v1}/company/${body.id}/history`)).body.data
  assert.equal(event.actor.client, 'Cursor')
  const tokens = (await get(`${v1}/token/view/list?filter=agent:eq(Cursor)`)).body.data
  assert.equal(tokens.length, 1)
  const { agent_used_at: used, created_at: created } = tokens[0]
  assert.ok(used >= created, `${used} is before ${created}`)
})

test('undo of one event, and of what cannot be undone', async () => {
  const { id } = await deal()
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Wrong' })
  const seq = await lastSeq()
  const first = await use('undo', { event: seq })
  assert.deepEqual(first.body.records, [
    { record: `deal ${id}`, changes: { title: { before: 'Wrong', after: 'A deal' } } },
  ])
  assert.equal((await use('undo', { code: first.body.code })).body.saved, true)
  assert.equal((await read(id)).title, 'A deal')
  await call('DELETE', `${v1}/deal/${id}`)
  await call('POST', `${v1}/deal/${id}/restore`)
  const restored = await use('undo', { event: await lastSeq() })
  assert.deepEqual(restored.body.records, [{ record: `deal ${id}`, would: 'be deleted' }])
  const gone = await use('undo', { event: 999_999 })
  assert.match(gone.text, /There is no event 999999/)
  const unknown = await use('undo', { change: 'agent-nothing' })
  assert.match(unknown.body.error, /There is no change of an agent/)
})

test('an undo of several events is carried out once by its key, which no other request takes', async () => {
  const { id } = await deal()
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Wrong' })
  const body = { events: [await lastSeq()] }
  const undo = (sent: Json) => call('POST', `${v1}/event/undo`, sent, { 'idempotency-key': 'undo' })
  const first = await undo(body)
  assert.deepEqual(first.body.meta, { succeeded: 1, failed: 0 })
  await call('PATCH', `${v1}/deal/${id}`, { title: 'By Ada' })
  const second = await undo(body)
  assert.deepEqual([second.body, second.headers.get('idempotency-replayed')], [first.body, 'true'])
  assert.equal((await read(id)).title, 'By Ada')
  assert.equal((await undo({ events: [1] })).status, 422)
})

test('an undo of several events that undoes nothing frees its Idempotency-Key', async () => {
  const { id } = await deal()
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Wrong' })
  const seq = await lastSeq()
  const undo = (sent: Json) => call('POST', `${v1}/event/undo`, sent, { 'idempotency-key': 'freed' })
  assert.equal((await undo({ request_id: 'agent-mistyped' })).status, 404)
  const unknown = await undo({ events: [999_999] })
  assert.deepEqual(unknown.body.meta, { succeeded: 0, failed: 1 }, unknown.text)
  const corrected = { events: [seq, 999_999] }
  const first = await undo(corrected)
  assert.deepEqual(first.body.meta, { succeeded: 1, failed: 1 }, first.text)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  const again = await undo(corrected)
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [first.body, 'true'])
  assert.equal((await undo({ events: [seq] })).status, 422)
})

test('an agent undoes no change of what it can’t write, whatever its token may', async () => {
  const { id } = await made('territory', { name: 'Theirs' })
  assert.equal((await call('PATCH', `${v1}/territory/${id}`, { name: 'Renamed' })).status, 200)
  const seq = await lastSeq()
  const reply = await use('undo', { event: seq })
  assert.ok(reply.isError)
  assert.match(reply.body.error, /changed a territory\. Agents don't change these/)
  // A person may.
  assert.equal((await call('POST', `${v1}/event/${seq}/undo?dry_run=1`)).status, 200)
  const many = { events: Array.from({ length: 201 }, (_, index) => index + 1) }
  const { status, body } = await call('POST', `${v1}/event/undo?dry_run=1`, many)
  assert.deepEqual([status, body.errors[0].code], [422, 'too_many'])
})

test('who may no longer write when the code is sent changes nothing', async () => {
  const scopes = ['company:read', 'company:write']
  const role = await made('role', { name: 'Demoted', scopes })
  const user = await made('user', { name: 'Demoted', email: 'demoted@example.com', role: role.id })
  const { token: secret } = await made('token', { name: 'Demoted', user: user.id, scopes })
  const demoted = await connectAgent({ url, token: secret })
  const values = { name: 'Never made Inc.' }
  const { body } = await demoted.use('create', { resource: 'company', values })
  await call('PATCH', `${v1}/role/${role.id}`, { scopes: ['company:read'] })
  service.aSecondGoesBy()
  const second = await demoted.use('create', { code: body.code })
  assert.ok(second.isError, second.text)
  assert.equal((await get(`${v1}/company/view/list?filter=name:eq(Never made Inc.)`)).body.meta.total, 0)
})

test('all that is sent is shown, however much it is, or the change is refused', async () => {
  const { id } = await made('product', { name: 'Wide' })
  const fields: string[] = []
  for (let count = 0; count < 18; count++) {
    const field = { source: 'product', field_name: `Wide ${count}`, type: 'TEXT' }
    fields.push((await call('POST', `${v1}/field`, field)).body.data.internal_name)
  }
  const texts = (text: string) => Object.fromEntries(fields.map(name => [name, text.repeat(250)]))
  const first = await use('update', { resource: 'product', record: id, values: texts('見積') })
  assert.deepEqual(Object.keys(first.body.changes).toSorted(), fields.toSorted())
  assert.ok(first.tokens <= 8000, `${first.tokens}`)
  assert.equal((await use('update', { code: first.body.code })).body.saved, true)
  const whole = await use('get', { resource: 'product', record: id })
  assert.ok(whole.tokens <= 8000, `${whole.tokens}`)
  assert.match(whole.body.left_out, /^\d+ fields/)
  const choices = Array.from({ length: 100 }, (_, at) => `${at} ${'choice '.repeat(6)}`)
  const long: string[] = []
  for (const field_name of ['Long 1', 'Long 2', 'Long 3', 'Long 4', 'Long 5']) {
    const field = { source: 'product', field_name, type: 'MULTISELECT', options: choices }
    long.push((await call('POST', `${v1}/field`, field)).body.data.internal_name)
  }
  const values = Object.fromEntries(long.map(name => [name, choices]))
  const refused = await use('update', { resource: 'product', record: id, values })
  assert.match(refused.body.error, /too long to be shown/)
})

test('an undo leaves what somebody has changed since, and says so', async () => {
  const ids: number[] = []
  for (const title of ['Kept 1', 'Kept 2']) ids.push((await deal({ title })).id)
  const values = { stage: 'Negotiation' }
  const { body } = await carryOut('update', { resource: 'deal', where: ['title contains Kept'], values })
  await call('PATCH', `${v1}/deal/${ids[0]}`, { pipeline_stage: known.stages.New! })
  const first = await use('undo', { change: body.change })
  assert.equal(first.body.would, 'undo 1 of 2 events')
  assert.match(first.body.notes[0], /stays: .*changed since/)
  const second = await use('undo', { code: first.body.code })
  assert.deepEqual([second.body.records, second.body.refused], [1, 1])
})

test('an activity: what was is done, a task is open, and a day in words is meant in the account', async () => {
  const { id } = await deal({ title: 'Talked about' })
  const call1 = await carryOut('log_activity', {
    kind: 'Call',
    subject: 'Rang',
    deal: 'Talked about',
    duration: 20,
  })
  assert.equal(call1.body.saved, true, call1.text)
  const task = { kind: 'Task', subject: 'Send the offer', deal: id, owner: 'me', due: '2027-03-01 15:30' }
  const { body } = await carryOut('log_activity', task)
  const { data } = (await get(`${v1}/activity/view/list?filter=deal:eq(${id})&sort=id:asc`)).body
  assert.ok(data[0].done_at)
  assert.deepEqual([data[1].id, data[1].done_at, data[1].due_at], [body.id, null, '2027-03-01T15:30:00.000Z'])
  const wrong = await use('log_activity', { kind: 'Task', subject: 'x', due: 'someday' })
  assert.match(wrong.text, /For example \\?"tomorrow/)
})

test('the program of docs/mcp.md works as printed', async () => {
  await deal({ title: 'Old', pipeline_stage: known.stages.Proposal! })
  const text = readFileSync('docs/mcp.md', 'utf8')
  const program = join('test/api', `agent-${process.pid}.mjs`)
  writeFileSync(program, /```js\n([\s\S]*?)```/.exec(text)![1]!)
  try {
    const env = { ...process.env, CRM: url, TOKEN: token }
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
    assert.match(stdout, /change \d+ deals/)
    assert.match(stdout, /changed \d+ deals undo \{"change":"agent-/)
  } finally {
    rmSync(program)
  }
})

test('a token has at most 200 changes that wait', async () => {
  const { token: secret } = await made('token', { name: 'Restless', scopes: ['admin'] })
  const restless = await connectAgent({ url, token: secret })
  const id = (await get(`${v1}/token/view/list?filter=name:eq(Restless)`)).body.data[0].id
  await db.query(
    `INSERT INTO agent_change (account_id, hash, token, change, valid_until)
    SELECT 1, 'h' || n, $1::bigint, '{}', now() + interval '1 minute' FROM generate_series(1, 200) n`,
    [String(id)],
  )
  const values = { name: 'One more' }
  assert.match(
    (await restless.use('create', { resource: 'company', values })).body.error,
    /Too many changes wait/,
  )
  await db.query(
    "UPDATE agent_change SET valid_until = now() - interval '1 second' WHERE token = $1::bigint",
    [String(id)],
  )
  assert.equal((await restless.use('create', { resource: 'company', values })).body.saved, false)
  const [left] = await db.query('SELECT count(*)::text AS n FROM agent_change WHERE token = $1::bigint', [
    String(id),
  ])
  assert.equal(left!.n, '1')
})

test('the day of a history is that of the account, and what was removed is no failure', async () => {
  // There the day is fourteen hours ahead of UTC.
  await call('PATCH', `${v1}/account`, { time_zone: 'Pacific/Kiritimati' })
  const isThere = async () => (await get(`${v1}/me`)).body.data.account.time_zone.endsWith('Kiritimati')
  await eventually(isThere, 'the time zone')
  const ahead = 14 * 3_600_000
  const midnight = Date.parse(new Date(Date.now() + ahead).toISOString().slice(0, 10)) - ahead
  for (const [after, isToday] of [
    [-1, false],
    [0, true],
  ] as const) {
    const values = { name: `At midnight ${after}` }
    const { id } = (await carryOut('create', { resource: 'company', values })).body
    const at = new Date(midnight + after).toISOString()
    await db.query('UPDATE event SET at = $1::timestamptz WHERE account_id = 1 AND seq = $2::bigint', [
      at,
      String(await lastSeq()),
    ])
    const { rows } = (await use('history', { by: 'agents', resource: 'company', limit: 50 })).body
    const isFound = rows.some(([record]: [string]) => record === `company ${id}`)
    assert.equal(isFound, isToday, at)
  }
  const last = await lastSeq()
  const far = await use('history', { since: '2020-01-01', next: String(Number.MAX_SAFE_INTEGER) })
  assert.equal(far.body.rows[0][1], last)
  await db.query('DELETE FROM event WHERE account_id = 1 AND seq <= $1::bigint', [String(last - 3)])
  const left = await use('history', { since: '2020-01-01' })
  assert.deepEqual([left.body.rows.length, left.body.next], [3, undefined])
})
