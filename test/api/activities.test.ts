/**
 * Activities (D73): what they are, the deal's summary of them, the deletion of their deal, contact or user,
 * and who sees them. That the summary counts right after any writes is in laws/activities.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Json } from '../../src/json.ts'
import { purgeRecords } from '../../src/records/purge.ts'
import { resources } from '../../src/resources/resources.ts'
import { earlier } from '../support/citus.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known, made } = service
const changed = async (resource: string, id: number, body: Json) => {
  const reply = await call('PATCH', `${v1}/${resource}/${id}`, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const done = async (reply: Promise<Reply>) => {
  const { status, body, text } = await reply
  assert.equal(status, 200, text)
  return body.data
}
const read = async (resource: string, id: number) => done(get(`${v1}/${resource}/${id}`))
const newDeal = async (members: { [name: string]: Json } = {}) => made('deal', dealBody(known, members))
const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const aCall = { kind: 'Call', subject: 'Call back' }
/** A deal's summary of its activities: done, upcoming, all, last, its kind, next. */
const saysOf = async (id: number) => {
  const deal = await read('deal', id)
  return [
    ...[deal.done_activities, deal.upcoming_activities, deal.total_activities],
    ...[deal.last_activity_date, deal.last_activity_type, deal.next_activity_date],
  ]
}
const nothing = [0, 0, 0, null, null, null]

test('an activity needs a kind and a subject; it is its maker’s unless the request says otherwise', async () => {
  const activity = await made('activity', aCall)
  const { kind, subject, notes, due_at, duration, done_at, outcome, owner, deal, contact, company } = activity
  assert.deepEqual(
    [kind, subject, owner, notes, due_at, duration, done_at, outcome, deal, contact, company],
    [1, 'Call back', known.owner, ...Array(8).fill(null)],
  )
  const [other] = (await get(`${v1}/user/view/list?sort=id:desc&pageSize=1`)).body.data
  const whole = {
    kind: 'e-mail',
    subject: 'Offer sent',
    notes: 'Two lines\nof text',
    due_at: '2026-06-30T09:00:00+02:00',
    duration: 5,
    done_at: '2026-06-30T07:05:00Z',
    outcome: 'Interested',
    owner: other.email,
    deal: (await newDeal()).id,
    contact: known.contact,
    company: known.company,
  }
  const full = await made('activity', whole)
  assert.deepEqual([full.kind, full.owner, full.due_at], [4, other.id, '2026-06-30T07:00:00.000Z'])
  assert.equal((await made('activity', { ...aCall, owner: null })).owner, null)
  const replies = await Promise.all(
    ['call', 'MEETING', 'Task', 4, 'note'].map(kind => made('activity', { kind, subject: 'S' })),
  )
  assert.deepEqual(
    replies.map(one => one.kind),
    [1, 2, 3, 4, 5],
  )
})

test('bad input is refused, all of it at once, and changes nothing', async () => {
  const deal = await newDeal()
  const bad: [Json, string[]][] = [
    [{}, ['/kind required', '/subject required']],
    [{ kind: null, subject: ' ' }, ['/kind required', '/subject required']],
    [
      { kind: 'Lunch', subject: 'x'.repeat(256), notes: 'x'.repeat(32_001), outcome: 7 },
      ['/kind unknown_option', '/notes too_long', '/outcome wrong_type', '/subject too_long'],
    ],
    [
      { ...aCall, due_at: 'tomorrow', done_at: '2026-02-30', duration: -1, owner: 999_999 },
      [
        ...['/done_at invalid_date_time', '/due_at invalid_date_time'],
        ...['/duration out_of_range', '/owner reference_not_found'],
      ],
    ],
    [
      { ...aCall, duration: 1.5, deal: known.contact },
      ['/deal reference_not_found', '/duration too_many_decimals'],
    ],
    [{ ...aCall, duration: '15', deal: 'Fleet' }, ['/deal wrong_type', '/duration wrong_type']],
    [{ ...aCall, duration: 525_601, deal: { id: deal.id } }, ['/deal wrong_type', '/duration out_of_range']],
    [{ ...aCall, done_at: daysFromNow(1.01) }, ['/done_at out_of_range']],
    [
      { ...aCall, contact: deal.id, company: -1 },
      ['/company reference_not_found', '/contact reference_not_found'],
    ],
    [{ ...aCall, due_date: '2026-06-30', done: true }, ['/done unknown_field', '/due_date unknown_field']],
  ]
  for (const [body, problems] of bad) {
    const reply = await call('POST', `${v1}/activity`, body)
    assert.equal(reply.status, 422, reply.text)
    assert.deepEqual(problemsOf(reply), problems)
  }
  const activity = await made('activity', { ...aCall, deal: deal.id, done_at: daysFromNow(0.99) })
  for (const body of [{ deal: 999_999 }, { done_at: daysFromNow(2) }, { kind: null }])
    assert.equal((await call('PATCH', `${v1}/activity/${activity.id}`, body)).status, 422)
  assert.equal((await read('activity', activity.id)).version, 1)
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 0, 1])
})

test('what other systems call its fields is answered with ours', async () => {
  const meant = { due_date: 'due_at', type: 'kind', title: 'subject', assigned_to: 'owner', deal_id: 'deal' }
  const sent = Object.fromEntries(Object.keys(meant).map(name => [name, 1]))
  const reply = await call('POST', `${v1}/activity`, { ...aCall, ...sent })
  const hints = reply.body.errors.map(({ field, hint }: { field: string; hint: string }) => [field, hint])
  assert.deepEqual(
    Object.fromEntries(hints),
    Object.fromEntries(Object.entries(meant).map(([name, ours]) => [name, `Did you mean "${ours}"?`])),
  )
})

test('a note is done when it is written, and is nothing to do', async () => {
  const deal = await newDeal()
  const note = await made('activity', {
    kind: 'Note',
    subject: 'Who decides',
    notes: 'Their CFO.',
    deal: deal.id,
  })
  assert.equal(note.done_at, note.created_at)
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 0, 1])
  const reply = await call('PATCH', `${v1}/activity/${note.id}`, {
    done_at: null,
    subject: 'Who decides now',
  })
  assert.equal(reply.body.data.done_at, note.done_at)
  assert.deepEqual(
    reply.body.meta.warnings.map((warning: { code: string }) => warning.code),
    ['note_is_done'],
  )
  assert.equal((await read('deal', deal.id)).recent_note, 'Their CFO.')
  // A task that becomes a note is done, and can be reopened.
  const task = await made('activity', { kind: 'Task', subject: 'Write it down', deal: deal.id })
  const written = await changed('activity', task.id, { kind: 'Note' })
  assert.equal(written.done_at, written.updated_at)
  assert.equal((await read('deal', deal.id)).recent_note, 'Write it down')
  const again = await changed('activity', task.id, { kind: 'Task', done_at: null })
  assert.equal(again.done_at, null)
  assert.equal((await read('deal', deal.id)).recent_note, 'Their CFO.')
})

test('a deal comes back with its tasks only while their owners are there', async () => {
  const owner = await made('user', { name: 'Leaves', email: 'leaves@example.com' })
  const deal = await made('deal', dealBody(known))
  const task = await made('activity', { kind: 'Task', subject: 'Theirs', deal: deal.id, owner: owner.id })
  await done(call('DELETE', `${v1}/deal/${deal.id}`))
  await done(call('DELETE', `${v1}/user/${owner.id}`))
  const reply = await call('POST', `${v1}/deal/${deal.id}/restore`)
  assert.equal(reply.status, 422, reply.text)
  assert.match(reply.body.errors[0].message, new RegExp(`activity ${task.id}, .* has owner deleted`))
  await done(call('POST', `${v1}/user/${owner.id}/restore`))
  await done(call('POST', `${v1}/deal/${deal.id}/restore`))
  assert.equal((await get(`${v1}/activity/${task.id}`)).status, 200)
})

test('a deal follows its activities: made, done, moved, deleted and restored', async () => {
  const [deal, other] = [await newDeal(), await newDeal()]
  assert.deepEqual(await saysOf(deal.id), nothing)
  const first = await made('activity', { ...aCall, deal: deal.id, due_at: '2027-05-02T10:00:00Z' })
  assert.deepEqual(await saysOf(deal.id), [0, 1, 1, null, null, '2027-05-02'])
  const second = await made('activity', {
    ...{ kind: 'Meeting', subject: 'Site visit', deal: deal.id },
    due_at: '2026-01-02T23:00:00Z',
  })
  // Overdue activities still count as upcoming.
  assert.deepEqual(await saysOf(deal.id), [0, 2, 2, null, null, '2026-01-02'])
  await changed('activity', second.id, { done_at: '2026-01-03T09:00:00Z' })
  assert.deepEqual(await saysOf(deal.id), [1, 1, 2, '2026-01-03', 'Meeting', '2027-05-02'])
  await changed('activity', first.id, { deal: other.id })
  assert.deepEqual(await saysOf(deal.id), [1, 0, 1, '2026-01-03', 'Meeting', null])
  assert.deepEqual(await saysOf(other.id), [0, 1, 1, null, null, '2027-05-02'])
  await done(call('DELETE', `${v1}/activity/${second.id}`))
  assert.deepEqual(await saysOf(deal.id), nothing)
  await done(call('POST', `${v1}/activity/${second.id}/restore`))
  assert.deepEqual(await saysOf(deal.id), [1, 0, 1, '2026-01-03', 'Meeting', null])
  await changed('activity', first.id, { deal: null })
  assert.deepEqual(await saysOf(other.id), nothing)
  const mail = await made('activity', {
    kind: 'E-mail',
    subject: 'Sent',
    deal: other.id,
    done_at: '2026-01-04',
  })
  assert.equal((await read('deal', other.id)).email_message_count, 1)
  await changed('activity', mail.id, { done_at: null })
  assert.equal((await read('deal', other.id)).email_message_count, 0)
})

test('a deal says what is next: the earliest that is planned, one without a date after all others', async () => {
  const deal = await newDeal()
  const next = async () => {
    const { next_activity_at, next_activity_subject } = await read('deal', deal.id)
    return [next_activity_at, next_activity_subject]
  }
  assert.deepEqual(await next(), [null, null])
  const undated = await made('activity', { kind: 'Task', subject: 'Some \\day "\\1"', deal: deal.id })
  assert.deepEqual(await next(), [null, 'Some \\day "\\1"'])
  const late = await made('activity', { ...aCall, deal: deal.id, due_at: '2027-05-02T10:00:00.250Z' })
  assert.deepEqual(await next(), ['2027-05-02T10:00:00.250Z', 'Call back'])
  const soon = await made('activity', { ...aCall, deal: deal.id, due_at: '2027-05-01T10:00:00+02:00' })
  await changed('activity', soon.id, { subject: 'Call them first' })
  assert.deepEqual(await next(), ['2027-05-01T08:00:00.000Z', 'Call them first'])
  await changed('activity', soon.id, { done_at: '2026-01-03T09:00:00Z' })
  await done(call('DELETE', `${v1}/activity/${late.id}`))
  assert.deepEqual(await next(), [null, 'Some \\day "\\1"'])
  await changed('activity', undated.id, { done_at: '2026-01-03T09:00:00Z' })
  assert.deepEqual(await next(), [null, null])
})

test('a pipeline names up to four fields of deals for its cards', async () => {
  const pipeline = await made('pipeline', { name: 'With cards', card_fields: ['source', 'description'] })
  assert.deepEqual(pipeline.card_fields, ['source', 'description'])
  assert.deepEqual((await made('pipeline', { name: 'Without cards' })).card_fields, [])
  const bad: [Json, string[]][] = [
    [['source', 'type', 'age', 'tags', 'company'], ['/card_fields too_many']],
    [
      ['sauce', 'title'],
      ['/card_fields/0 unknown_field', '/card_fields/1 contradiction'],
    ],
    [['last_done_at'], ['/card_fields/0 unknown_field']],
  ]
  for (const [card_fields, problems] of bad) {
    const reply = await call('PATCH', `${v1}/pipeline/${pipeline.id}`, { card_fields })
    assert.deepEqual([reply.status, problemsOf(reply)], [422, problems])
  }
  assert.deepEqual((await changed('pipeline', pipeline.id, { card_fields: [] })).card_fields, [])
  const kept = (await get(`${v1}/pipeline/view/list?filter=name:eq(Sales pipeline)`)).body.data[0]
  assert.deepEqual(kept.card_fields, [])
})

test('the days are those of the account', async () => {
  const deal = await newDeal()
  const zone = (time_zone: string) => call('PATCH', `${v1}/account`, { time_zone })
  await zone('Pacific/Auckland')
  await made('activity', { ...aCall, deal: deal.id, due_at: '2027-01-01T20:00:00Z' })
  await made('activity', { ...aCall, deal: deal.id, done_at: '2026-01-01T20:00:00Z' })
  assert.deepEqual(await saysOf(deal.id), [1, 1, 2, '2026-01-02', 'Call', '2027-01-02'])
  const deleted = await newDeal()
  await made('activity', { ...aCall, deal: deleted.id, due_at: '2027-01-01T20:00:00Z' })
  await done(call('DELETE', `${v1}/deal/${deleted.id}`))
  const before = await get(`${v1}/deal/${deal.id}`)
  await zone('UTC')
  assert.deepEqual(await saysOf(deal.id), [1, 1, 2, '2026-01-01', 'Call', '2027-01-01'])
  // A deal restored with its activities has its days, too.
  await done(call('POST', `${v1}/deal/${deleted.id}/restore`))
  assert.deepEqual(await saysOf(deleted.id), [0, 1, 1, null, null, '2027-01-01'])
  const tag = before.headers.get('etag')!
  const after = await call('GET', `${v1}/deal/${deal.id}`, undefined, { 'if-none-match': tag })
  assert.equal(after.status, 200, 'its tag tells that it moved')
  assert.equal(after.body.data.version, before.body.data.version)
})

test('none of it is a change of the deal; its tag tells that it moved', async () => {
  const deal = await newDeal()
  const path = `${v1}/deal/${deal.id}`
  const before = await get(path)
  const tag = before.headers.get('etag')!
  assert.equal(tag, '"1"')
  const count = async () =>
    (
      await db.query('SELECT count(*)::text AS n FROM event WHERE record_id = $1::bigint', [String(deal.id)])
    )[0]!.n
  const events = await count()
  const activity = await made('activity', { ...aCall, deal: deal.id })
  const after = await call('GET', path, undefined, { 'if-none-match': tag })
  assert.equal(after.status, 200)
  const { total_activities, upcoming_activities, next_activity_subject, ...rest } = after.body.data
  assert.deepEqual([total_activities, upcoming_activities, next_activity_subject], [1, 1, 'Call back'])
  const none = { total_activities: 0, upcoming_activities: 0, next_activity_subject: null }
  assert.deepEqual({ ...rest, ...none }, before.body.data)
  const moved = after.headers.get('etag')!
  assert.match(moved, /^"1\.\d+"$/)
  assert.equal((await call('GET', path, undefined, { 'if-none-match': moved })).status, 304)
  // An activity's other fields do not change its deal.
  await changed('activity', activity.id, { outcome: 'Left a message' })
  assert.equal((await call('GET', path, undefined, { 'if-none-match': moved })).status, 304)
  await changed('activity', activity.id, { done_at: '2026-01-05' })
  assert.notEqual((await get(path)).headers.get('etag'), moved)
  assert.equal(await count(), events)
  // An activity causes no version conflict in its deal.
  const change = await call('PATCH', path, { description: 'Changed' }, { 'if-match': tag })
  assert.deepEqual([change.status, change.headers.get('etag')], [200, '"2"'])
  assert.equal((await get(path)).headers.get('etag'), '"2"')
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 0, 1])
  // The summary is read-only, and writing back what was read is accepted.
  const back = await call('PUT', path, { ...(await read('deal', deal.id)), done_activities: 7 })
  assert.deepEqual([back.status, back.body.data.version, back.body.data.done_activities], [200, 2, 1])
})

test('a deal rots from its last done activity on', async () => {
  const [stage] = (await get(`${v1}/pipeline_stage/view/list?filter=name:eq(New)`)).body.data
  assert.equal(stage.rotting_days, 14)
  const deal = await newDeal()
  await db.query("UPDATE deal SET deal_stage_updated_at = now() - interval '40 days' WHERE id = $1::bigint", [
    String(deal.id),
  ])
  const rotting = async () => (await read('deal', deal.id)).rotting_days
  assert.equal(await rotting(), 26)
  const activity = await made('activity', { ...aCall, deal: deal.id, due_at: daysFromNow(-1) })
  assert.equal(await rotting(), 26)
  await changed('activity', activity.id, { done_at: daysFromNow(-20.5) })
  assert.equal(await rotting(), 6)
  const note = await made('activity', { kind: 'Note', subject: 'Not dead', deal: deal.id })
  assert.equal(await rotting(), 0)
  await done(call('DELETE', `${v1}/activity/${note.id}`))
  assert.equal(await rotting(), 6)
  await made('activity', { ...aCall, deal: deal.id, done_at: daysFromNow(-60) })
  assert.equal(await rotting(), 6)
})

test('deals are filtered and sorted by what they say', async () => {
  const company = (await made('company', { name: 'Listed' })).id
  const dates = ['2027-03-01', null, '2026-02-01', '2027-03-02']
  const ids: number[] = []
  for (const due_at of dates) {
    const { id } = await newDeal({ company })
    if (due_at) await made('activity', { ...aCall, deal: id, due_at })
    ids.push(id)
  }
  const listed = async (query: string) => {
    const reply = await get(`${v1}/deal/view/list?filter=company:eq(${company})${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.map(({ id }: { id: number }) => ids.indexOf(id))
  }
  assert.deepEqual(await listed('&sort=next_activity_date:asc'), [2, 0, 3, 1])
  assert.deepEqual(await listed('&sort=next_activity_date:desc'), [3, 0, 2, 1])
  assert.deepEqual(await listed(',next_activity_date:lt(2027-03-02)&sort=id:asc'), [0, 2])
  assert.deepEqual(await listed(',next_activity_date:isnull(true)'), [1])
  assert.deepEqual(await listed(',upcoming_activities:eq(0)'), [1])
  // A list as of a past day has the current summary (D74).
  const today = new Date().toISOString().slice(0, 10)
  const past = `&as_of=${today}&sort=next_activity_date:desc`
  assert.deepEqual(await listed(`,next_activity_date:gt(2026-03-01),rotting_days:eq(0)${past}`), [3, 0])
  assert.deepEqual(await listed(',total_activities:gt(0),done_activities:eq(0)&sort=id:asc'), [0, 2, 3])
  const mine = await get(
    `${v1}/activity/view/list?filter=company:isnull(true),done_at:isnull(true),deal:in(${ids})&sort=due_at:asc` +
      '&expand=deal,owner&fields=due_at,deal',
  )
  assert.deepEqual(
    mine.body.data.map((one: { due_at: string; deal: number; _expanded: { deal: { id: number } } }) => [
      one.due_at.slice(0, 10),
      one._expanded.deal.id,
    ]),
    [2, 0, 3].map(index => [dates[index], ids[index]]),
  )
  const across = await get(
    `${v1}/activity/view/list?filter=deal.company:eq(${company}),deal.title:like(deal)`,
  )
  assert.equal(across.body.meta.total, 3)
})

test('the activities of a deal go and come back with it, and keep nothing from being deleted', async () => {
  const contact = (await made('contact', { last_name: 'Both' })).id
  const deal = await newDeal()
  const own = await made('activity', { ...aCall, deal: deal.id, contact, done_at: '2026-01-06' })
  const gone = await made('activity', { ...aCall, deal: deal.id })
  await done(call('DELETE', `${v1}/activity/${gone.id}`))
  const elsewhere = await made('activity', { ...aCall, contact })
  await done(call('DELETE', `${v1}/deal/${deal.id}`))
  assert.equal((await get(`${v1}/activity/${own.id}`)).status, 404)
  assert.equal((await get(`${v1}/activity/${elsewhere.id}`)).status, 200)
  // It can't be restored alone.
  const alone = await call('POST', `${v1}/activity/${own.id}/restore`)
  assert.deepEqual(problemsOf(alone), ['/deal reference_not_found'])
  const [listed] = (await get(`${v1}/deal/view/list?deleted=only&filter=id:eq(${deal.id})`)).body.data
  assert.equal(listed.done_activities, 1)
  await done(call('POST', `${v1}/deal/${deal.id}/restore`))
  assert.equal((await read('activity', own.id)).version, 3)
  assert.equal((await get(`${v1}/activity/${gone.id}`)).status, 404)
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 0, 1])
  const events = await db.query('SELECT type FROM event WHERE record_id = $1::bigint ORDER BY seq', [
    String(own.id),
  ])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['created', 'deleted', 'restored'].map(verb => `activity.${verb}`),
  )
})

test('an activity is a part of its deal, without one of its contact, without both of its company', async () => {
  const company = (await made('company', { name: 'Around' })).id
  const contact = (await made('contact', { last_name: 'Around' })).id
  const deal = (await newDeal()).id
  const ids: number[] = []
  for (const about of [{ deal, contact, company }, { contact, company }, { company }, {}])
    ids.push((await made('activity', { ...aCall, ...about })).id)
  const there = async () => {
    const reply = await get(`${v1}/activity/view/list?filter=id:in(${ids})&sort=id:asc`)
    return reply.body.data.map(({ id }: { id: number }) => ids.indexOf(id))
  }
  await done(call('DELETE', `${v1}/contact/${contact}`))
  assert.deepEqual(await there(), [0, 2, 3])
  await done(call('DELETE', `${v1}/company/${company}`))
  assert.deepEqual(await there(), [0, 3])
  // It still has the id of the deleted record, and can be written back with it.
  const kept = await read('activity', ids[0]!)
  assert.deepEqual([kept.contact, kept.company], [contact, company])
  assert.equal((await call('PUT', `${v1}/activity/${ids[0]}`, { ...kept, subject: 'Other' })).status, 200)
  await done(call('POST', `${v1}/company/${company}/restore`))
  await done(call('POST', `${v1}/contact/${contact}/restore`))
  assert.deepEqual(await there(), [0, 1, 2, 3])
})

test('the purge takes activities before their deal, and leaves what deals say', async () => {
  const [deal, kept] = [await newDeal(), await newDeal()]
  const gone = await made('activity', { ...aCall, deal: deal.id })
  const old = await made('activity', { ...aCall, deal: kept.id })
  const whyUndeletable = await made('activity', { ...aCall, deal: kept.id })
  await done(call('DELETE', `${v1}/deal/${deal.id}`))
  await done(call('DELETE', `${v1}/activity/${old.id}`))
  const ids = `{${[deal.id, gone.id, old.id]}}`
  for (const table of ['deal', 'activity'])
    await db.query(
      `UPDATE ${table} SET deleted_at = ${earlier('deleted_at', "interval '40 days'")} WHERE id = ANY($1::bigint[])`,
      [ids],
    )
  const before = new Date(Date.now() - 30 * 86_400_000)
  await purgeRecords(db, await loadCatalog(db, resources, 1), before)
  const left = await db.query(
    'SELECT id::text FROM deal WHERE id = ANY($1::bigint[]) UNION SELECT id::text FROM activity WHERE id = ANY($1::bigint[])',
    [ids],
  )
  assert.deepEqual(left, [])
  assert.equal((await read('activity', whyUndeletable.id)).deal, kept.id)
  assert.deepEqual((await saysOf(kept.id)).slice(0, 3), [0, 1, 1])
})

/** A new user with a role, who sends requests. */
let users = 0
async function asker(role: Json, more: { [name: string]: Json } = {}) {
  const name = `Asker ${++users}`
  const user = await made('user', { name, email: `activities${users}@example.com`, role, ...more })
  const { token } = await made('token', { name, user: user.id, scopes: ['admin'] })
  const headers = { authorization: `Bearer ${token}` }
  const ask = (method: string, path: string, body?: Json) => call(method, v1 + path, body, headers)
  return { id: user.id as number, ask }
}

test('a user’s activities are handed over with what else they own', async () => {
  const { id } = await asker('Member')
  const deal = await newDeal()
  const [open, past] = [
    await made('activity', { ...aCall, owner: id, deal: deal.id }),
    await made('activity', { ...aCall, owner: id, done_at: '2026-01-07' }),
  ]
  const refused = await call('DELETE', `${v1}/user/${id}`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /2 activities point to it/)
  await done(call('DELETE', `${v1}/user/${id}?move_to=${known.owner}`))
  for (const one of [open, past]) assert.equal((await read('activity', one.id)).owner, known.owner)
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [0, 1, 1])
})

test('own: what one owns, and what has no owner and one has made', async () => {
  const role = await made('role', {
    name: 'Own activities',
    scopes: ['activity:read', 'activity:write', 'deal:read'],
    visibility: { activity: 'own' },
  })
  const { id, ask } = await asker(role.id)
  const theirs = await made('activity', { ...aCall, owner: id })
  const others = await made('activity', aCall)
  const unowned = await made('activity', { ...aCall, owner: null })
  const own = (await ask('POST', '/activity', { ...aCall, owner: null })).body.data
  const handed = (await ask('POST', '/activity', { ...aCall, owner: null })).body.data
  await changed('activity', handed.id, { owner: known.owner })
  const list = await ask('GET', '/activity/view/list?sort=id:asc')
  assert.deepEqual(
    list.body.data.map((one: { id: number }) => one.id),
    [theirs.id, own.id],
  )
  assert.equal(list.body.meta.total, 2)
  for (const { id: unseen } of [others, unowned, handed])
    for (const [method, body] of [['GET'], ['PATCH', { subject: 'x' }], ['DELETE']] as const)
      assert.equal((await ask(method, `/activity/${unseen}`, body)).status, 404)
  // Owners may hand over their own; the deal counts all activities for every caller.
  const deal = await newDeal()
  await made('activity', { ...aCall, deal: deal.id })
  assert.equal((await ask('GET', `/deal/${deal.id}`)).body.data.total_activities, 1)
  assert.equal((await ask('PATCH', `/activity/${own.id}`, { owner: known.owner })).status, 200)
  assert.equal((await ask('GET', `/activity/${own.id}`)).status, 404)
})

test('territory: by its deal, its contact or its company', async () => {
  const territory = (await made('territory', { name: 'Theirs alone' })).id
  const role = await made('role', {
    name: 'Territory activities',
    scopes: ['activity:read', 'activity:write'],
    visibility: { activity: 'territory' },
    may_change: { activity: 'own' },
  })
  const { id, ask } = await asker(role.id, { territories: [territory] })
  const deal = (await newDeal({ territory })).id
  const contact = (await made('contact', { last_name: 'There', territory })).id
  const company = (await made('company', { name: 'There', territory })).id
  const seen: number[] = []
  for (const about of [
    { deal },
    { contact },
    { company },
    { owner: id },
    { deal: (await newDeal()).id, contact },
  ])
    seen.push((await made('activity', { ...aCall, ...about })).id)
  const unseen = (await made('activity', { ...aCall, deal: (await newDeal()).id, contact: known.contact })).id
  const list = await ask('GET', '/activity/view/list?sort=id:asc&count=exact')
  assert.deepEqual(
    list.body.data.map((one: { id: number }) => one.id),
    seen,
  )
  assert.equal((await ask('GET', `/activity/${unseen}`)).status, 404)
  assert.equal((await ask('GET', `/activity/${seen[0]}`)).status, 200)
  assert.equal((await ask('PATCH', `/activity/${seen[0]}`, { subject: 'Mine now' })).status, 403)
  assert.equal((await ask('DELETE', `/activity/${seen[1]}`)).status, 403)
  assert.equal((await ask('PATCH', `/activity/${seen[3]}`, { subject: 'Mine' })).status, 200)
  // It inherits the territory of its deal.
  await changed('deal', deal, { territory: null })
  assert.equal((await ask('GET', `/activity/${seen[0]}`)).status, 404)
})

test('the roles that come with an account: members change their own and their territories’', async () => {
  const { ask } = await asker('Member')
  const reader = await asker('Read only')
  const deal = await newDeal()
  const others = await made('activity', { ...aCall, deal: deal.id })
  assert.equal((await ask('GET', `/activity/${others.id}`)).status, 200)
  assert.equal((await ask('PATCH', `/activity/${others.id}`, { subject: 'x' })).status, 403)
  const own = await ask('POST', '/activity', { ...aCall, deal: deal.id })
  assert.equal(own.status, 201)
  assert.equal((await ask('PATCH', `/activity/${own.body.data.id}`, { done_at: '2026-01-08' })).status, 200)
  assert.equal((await reader.ask('GET', '/activity/view/list')).status, 200)
  assert.equal((await reader.ask('POST', '/activity', aCall)).status, 403)
  // The owner of a deal, who may not see its activities, can delete both.
  const role = await made('role', {
    name: 'Deals alone',
    scopes: ['deal:read', 'deal:write'],
    visibility: { activity: 'own' },
  })
  const seller = await asker(role.id)
  assert.equal((await seller.ask('GET', '/activity/view/list')).status, 403)
  assert.equal((await seller.ask('DELETE', `/deal/${deal.id}`)).status, 200)
  assert.equal((await get(`${v1}/activity/${others.id}`)).status, 404)
})

test('who may not see a field of activities does not see what deals tell of it', async () => {
  const scopes = ['deal:read', 'activity:read', 'activity:write', 'field:read']
  const hiding = async (name: string, hidden_fields: string[]) =>
    asker((await made('role', { name, scopes, hidden_fields })).id)
  const deal = await newDeal()
  await made('activity', { kind: 'Note', subject: 'Secret', notes: 'Very', deal: deal.id, owner: null })
  const { ask: withoutNotes } = await hiding('No notes', ['activity.notes'])
  const seen = (await withoutNotes('GET', `/deal/${deal.id}`)).body.data
  assert.deepEqual(
    [seen.total_activities, seen.last_activity_type, 'recent_note' in seen],
    [1, 'Note', false],
  )
  assert.equal((await withoutNotes('GET', '/deal/view/list?filter=recent_note:like(ver)')).status, 400)
  const { ask: withoutTimes } = await hiding('No times', ['activity.done_at'])
  const told = Object.keys((await withoutTimes('GET', `/deal/${deal.id}`)).body.data)
  const hidden = ['done_activities', 'upcoming_activities', 'email_message_count', 'last_activity_date']
  const more = [
    'last_activity_type',
    'next_activity_date',
    'next_activity_at',
    'next_activity_subject',
    'rotting_days',
  ]
  assert.deepEqual(
    told.filter(name => [...hidden, ...more].includes(name)),
    [],
  )
  assert.ok(told.includes('total_activities'))
  // The owner has its default, even if the role hides it or can't set it.
  const { ask: withoutOwner, id } = await hiding('No owner', ['activity.owner'])
  const own = (await withoutOwner('POST', '/activity', aCall)).body.data
  assert.equal('owner' in own, false)
  assert.equal((await read('activity', own.id)).owner, id)
  const locked = await made('role', { name: 'Locked owner', scopes, locked_fields: ['activity.owner'] })
  const member = await asker(locked.id)
  const reply = await member.ask('POST', '/activity', { ...aCall, owner: known.owner })
  assert.deepEqual([reply.status, reply.body.data.owner], [201, member.id])
})

test('custom fields, keys, upserts and lists of deleted ones are as for every resource', async () => {
  const field = { source: 'activity', field_name: 'Room', type: 'SINGLE_STRING' }
  const { id } = await made('field', field)
  await done(call('PATCH', `${v1}/field/${id}`, { is_unique: true }))
  const deal = await newDeal()
  const path = `${v1}/activity/by/cf_room/A1`
  const created = await call('PUT', path, { ...aCall, deal: deal.id })
  assert.equal(created.status, 201, created.text)
  assert.equal((await call('PUT', path, { done_at: '2026-01-09' })).status, 200)
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 0, 1])
  const key = { 'idempotency-key': 'activity-1' }
  for (const replayed of [null, 'true']) {
    const reply = await call('POST', `${v1}/activity`, { ...aCall, deal: deal.id }, key)
    assert.deepEqual([reply.status, reply.headers.get('idempotency-replayed')], [201, replayed])
  }
  assert.deepEqual((await saysOf(deal.id)).slice(0, 3), [1, 1, 2])
  await done(call('DELETE', path.replace('/by/cf_room/A1', `/${created.body.data.id}`)))
  const deleted = await get(`${v1}/activity/view/list?deleted=only&filter=cf_room:eq(A1)`)
  assert.equal(deleted.body.meta.total, 1)
  assert.equal((await get(`${v1}/search?q=Call back&resources=activity`)).status, 400)
  const options = await done(get(`${v1}/field/dropdown?name=kind&source=activity`))
  assert.deepEqual(
    options.map(({ name }: { name: string }) => name),
    ['Call', 'Meeting', 'Task', 'E-mail', 'Note'],
  )
})

test('the sample has some hundred: done, overdue, due today and later, and notes', async () => {
  const fresh = await startService()
  const count = async (filter: string) =>
    (await fresh.get(`${v1}/activity/view/list?pageSize=1&filter=${filter}`)).body.meta.total as number
  const today = new Date().toISOString().slice(0, 10)
  assert.ok((await count('id:gt(0)')) > 200)
  for (const filter of [
    `done_at:isnull(true),due_at:gte(${today})`,
    'kind:eq(Note)',
    'kind:neq(Note),done_at:notnull(true)',
    `done_at:isnull(true),due_at:lt(${today})`,
  ])
    assert.ok((await count(filter)) > 5, filter)
})
