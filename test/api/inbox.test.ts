/**
 * The inbox (D156): each kind of item, who sees it, mentions that are refused, read states, settings, and
 * that each event makes its items once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { followEvents, keepInboxes } from '../../src/inbox/follow.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, known, made } = service
const minuteMs = 60_000
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minuteMs).toISOString()

type Item = {
  readonly id: string
  readonly kind: string
  readonly at: string
  readonly read_at: string | null
  readonly record: { readonly resource: string; readonly id: number; readonly name: string | null }
  readonly about: { readonly resource: string; readonly id: number; readonly name: string } | null
  readonly actor: { readonly id: number; readonly name: string } | null
  readonly count: number
  readonly is_reminder: boolean
}

let people = 0
/** A new user, with the given role or a new one, and functions that send requests as this user. */
const somebody = async (role: { scopes: string[]; limits?: JsonObject } | 'member' = 'member') => {
  const name = `Person ${String.fromCharCode(65 + people++)}`
  const ofRole =
    role === 'member' ? {} : { role: (await made('role', { name, scopes: role.scopes, ...role.limits })).id }
  const user = await made('user', { name, email: `person${people}@example.com`, ...ofRole })
  const { token } = await made('token', { name, user: user.id, scopes: ['admin'] })
  const asked = (method: string, path: string, body?: Json) =>
    call(method, `${v1}/${path}`, body, { authorization: `Bearer ${token}` })
  const inbox = async (query = '') => {
    const reply = await asked('GET', `inbox${query}`)
    assert.equal(reply.status, 200, reply.text)
    return { items: reply.body.data as Item[], meta: reply.body.meta }
  }
  const mark = async (body: JsonObject) => {
    const reply = await asked('POST', 'inbox/mark', body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.marked as number
  }
  return { id: user.id as number, name, asked, inbox, mark, roleId: user.role as number }
}
const both = (...resources: string[]) => resources.flatMap(name => [`${name}:read`, `${name}:write`])
const ownOnly = {
  scopes: [...both('deal', 'activity', 'contact'), 'user:read'],
  limits: { visibility: { deal: 'own', activity: 'territory' }, may_change: { deal: 'own' } },
}
const kindsOf = (items: readonly Item[]) => items.map(({ kind }) => kind)

test('a mention tells who is mentioned, once, by whom and where; a later name is the one shown', async () => {
  const [priya, sam] = [await somebody(), await somebody()]
  const deal = await made('deal', dealBody(known, { title: 'Pumps for Oslo' }))
  const notes = `Ask @{${priya.id} ${priya.name}} and @{${priya.id}}, not @{${sam.id}`
  const reply = await sam.asked('POST', 'activity', { kind: 'Note', subject: 'Prices', notes, deal: deal.id })
  assert.equal(reply.status, 201, reply.text)
  const { items, meta } = await priya.inbox()
  assert.equal(items.length, 1)
  const [item] = items
  assert.deepEqual(
    [item!.kind, item!.record.name, item!.about, item!.actor, item!.read_at, meta.unread],
    [
      'mention',
      'Prices',
      { resource: 'deal', id: deal.id, name: 'Pumps for Oslo' },
      { id: sam.id, name: sam.name },
      null,
      1,
    ],
  )
  // The same mention again is no news, another person's is; nobody mentions themselves.
  const again = { notes: `${notes}! @{${sam.id}}` }
  assert.equal((await sam.asked('PATCH', `activity/${reply.body.data.id}`, again)).status, 200)
  assert.equal((await priya.inbox()).items.length, 1)
  assert.deepEqual((await sam.inbox()).items, [])
})

test('a mention of somebody who may not see the deal is refused, and tells them nothing', async () => {
  const limited = await somebody(ownOnly)
  const deal = await made('deal', dealBody(known))
  const body = { kind: 'Note', subject: 'Secret', notes: `Look, @{${limited.id}}`, deal: deal.id }
  const refused = await call('POST', `${v1}/activity`, body)
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/notes not_visible_to']])
  assert.equal(refused.body.errors[0].user, limited.id)
  const several = await call('POST', `${v1}/activity/batch`, { operations: [{ op: 'create', data: body }] })
  assert.match(several.text, /not_visible_to/)
  assert.deepEqual((await limited.inbox()).items, [])
  // In their own deal they may be mentioned; what they lose sight of is gone from their inbox.
  const own = await made('deal', dealBody(known, { sales_owner: limited.id }))
  const role = await call('GET', `${v1}/role/${limited.roleId}`)
  const widened = { ...role.body.data.visibility, activity: 'all' }
  const path = `${v1}/role/${limited.roleId}`
  assert.equal((await call('PATCH', path, { visibility: widened })).status, 200)
  service.aSecondGoesBy()
  await made('activity', { ...body, deal: own.id })
  assert.deepEqual(kindsOf((await limited.inbox()).items), ['mention', 'assignment'])
  assert.equal((await call('PATCH', `${v1}/deal/${own.id}`, { sales_owner: known.owner })).status, 200)
  const { items, meta } = await limited.inbox()
  assert.deepEqual([items, meta.unread], [[], 0])
})

test('the mentions of a batch are looked up at once, each for its own record', async () => {
  const limited = await somebody(ownOnly)
  const priya = await somebody()
  const [own, other] = [
    await made('deal', dealBody(known, { sales_owner: limited.id })),
    await made('deal', dealBody(known)),
  ]
  const path = `${v1}/role/${limited.roleId}`
  const { visibility } = (await call('GET', path)).body.data
  await call('PATCH', path, { visibility: { ...visibility, activity: 'all' } })
  service.aSecondGoesBy()
  const create = (notes: string, deal: number) => ({
    op: 'create',
    data: { kind: 'Note', subject: 'A', notes, deal },
  })
  const many = Array.from({ length: 51 }, (_, index) => `@{${index + 1}}`).join()
  const operations = [
    create(`@{${limited.id}}`, own.id),
    create(`@{${limited.id}}`, other.id),
    create(`@{${priya.id}} and @{${priya.id}}`, other.id),
    create(`@{999999} @{${limited.id}}`, other.id),
    create(many, own.id),
    create('nobody', own.id),
  ]
  const reply = await call('POST', `${v1}/activity/batch`, { operations, atomic: false })
  assert.equal(reply.status, 200, reply.text)
  type Result = { status: number; errors?: { code: string }[] }
  assert.deepEqual(
    reply.body.data.map(({ status, errors }: Result) => [status, ...(errors ?? []).map(({ code }) => code)]),
    [
      [201],
      [422, 'not_visible_to'],
      [201],
      [422, 'reference_not_found', 'not_visible_to'],
      [422, 'too_many'],
      [201],
    ],
  )
  assert.deepEqual(kindsOf((await limited.inbox('?kind=mention')).items), ['mention'])
  assert.deepEqual(kindsOf((await priya.inbox()).items), ['mention'])
})

test('unknown and idle users, and very many, can not be mentioned', async () => {
  const idle = await somebody()
  assert.equal((await call('PATCH', `${v1}/user/${idle.id}`, { is_active: 'No' })).status, 200)
  const mentioning = async (notes: string) => {
    const reply = await call('POST', `${v1}/activity`, { kind: 'Note', subject: 'A', notes })
    return [reply.status, ...problemsOf(reply)]
  }
  assert.deepEqual(await mentioning(`@{${idle.id}}`), [422, '/notes reference_not_found'])
  assert.deepEqual(await mentioning('@{999999}'), [422, '/notes reference_not_found'])
  const many = Array.from({ length: 51 }, (_, index) => `@{${index + 1}}`).join()
  assert.deepEqual(await mentioning(many), [422, '/notes too_many'])
})

test('whom an activity may mention: those who see the deal first, by a part of the name', async () => {
  const limited = await somebody(ownOnly)
  const deal = await made('deal', dealBody(known))
  const people = async (query: string) => {
    const reply = await call('GET', `${v1}/inbox/people?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data as { id: number; name: string; sees: boolean }[]
  }
  const found = await people(`deal=${deal.id}&search=${encodeURIComponent(limited.name.toUpperCase())}`)
  assert.deepEqual(found, [{ id: limited.id, name: limited.name, sees: false }])
  const all = await people(`deal=${deal.id}`)
  assert.ok(all[0]!.sees && !all.at(-1)!.sees)
  // A deal that the caller doesn't see answers nothing about others.
  const hidden = await limited.asked('GET', `inbox/people?deal=${deal.id}`)
  assert.ok(hidden.body.data.every(({ sees }: { sees: boolean }) => !sees))
  for (const query of ['deal=x', 'search=a&search=b', 'nothing=1'])
    assert.equal((await call('GET', `${v1}/inbox/people?${query}`)).status, 400, query)
})

test('an assignment by another person is told; by oneself, of a job and of what is done it is not as such', async () => {
  const [ann, bo] = [await somebody(), await somebody()]
  const deal = await made('deal', dealBody(known, { title: 'First', sales_owner: ann.id }))
  await made('activity', { kind: 'Task', subject: 'Call', owner: ann.id })
  await made('activity', { kind: 'Task', subject: 'Was done', owner: ann.id, done_at: inMinutes(-5) })
  const done = await made('activity', { kind: 'Task', subject: 'Handed over', done_at: inMinutes(-5) })
  await call('PATCH', `${v1}/activity/${done.id}`, { owner: ann.id })
  await ann.asked('POST', 'activity', { kind: 'Task', subject: 'My own' })
  const { items } = await ann.inbox('?kind=assignment')
  assert.deepEqual(
    items.map(({ record }) => [record.resource, record.name]),
    [
      ['activity', 'Call'],
      ['deal', 'First'],
    ],
  )
  await made('deal', dealBody(known, { title: 'Second', sales_owner: ann.id }))
  const bulk = { filter: `sales_owner:eq(${ann.id})`, changes: { sales_owner: bo.id } }
  const job = await made('deal/bulk', bulk)
  const isDone = async () => (await call('GET', `${v1}/job/${job.id}`)).body.data.state === 'done'
  await eventually(isDone, 'an end of the job')
  const [one, ...others] = (await bo.inbox()).items
  assert.deepEqual([one!.kind, one!.count, one!.record.id, others], ['assignment', 2, deal.id, []])
})

test('what is due shows from its reminder on, until it is done; one in the past is due now', async () => {
  const cleo = await somebody()
  const task = async (members: JsonObject) => {
    const reply = await cleo.asked('POST', 'activity', { kind: 'Task', subject: 'Send it', ...members })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data
  }
  const later = await task({ due_at: inMinutes(90), reminder: 30 })
  const soon = await task({ due_at: inMinutes(20), reminder: 30 })
  const overdue = await task({ due_at: inMinutes(-600) })
  await task({ due_at: inMinutes(5) })
  const first = await cleo.inbox('?kind=due')
  assert.deepEqual(
    first.items.map(({ record, is_reminder }) => [record.id, is_reminder]),
    [
      [soon.id, true],
      [overdue.id, false],
    ],
  )
  const known = first.meta.reminders.map(({ record, at }: Item) => [record.id, at])
  assert.deepEqual(known, [
    [soon.id, new Date(Date.parse(soon.due_at) - 30 * minuteMs).toISOString()],
    [later.id, new Date(Date.parse(later.due_at) - 30 * minuteMs).toISOString()],
  ])
  assert.equal((await cleo.asked('PATCH', `activity/${soon.id}`, { done_at: inMinutes(0) })).status, 200)
  assert.deepEqual(
    (await cleo.inbox()).items.map(({ record }) => record.id),
    [overdue.id],
  )
  // Another moment is another reminder, also after it was read.
  assert.equal(await cleo.mark({ until: inMinutes(1).replace(/\.\d+/, ''), to: 'read' }), 1)
  assert.equal((await cleo.inbox()).meta.unread, 0)
  await cleo.asked('PATCH', `activity/${overdue.id}`, { due_at: inMinutes(-1) })
  assert.equal((await cleo.inbox()).meta.unread, 1)
  const wrong = await cleo.asked('POST', 'activity', { kind: 'Task', subject: 'A', reminder: -1 })
  assert.deepEqual([wrong.status, problemsOf(wrong)], [422, ['/reminder out_of_range']])
})

/** The moments of the next year at which the clocks of a zone change. */
function clockChangesOf(timeZone: string): number[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (at: number) => format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
  const hourMs = 60 * minuteMs
  const from = Math.ceil(Date.now() / hourMs) * hourMs
  const hours = Array.from({ length: 360 * 24 }, (_, hour) => from + hour * hourMs)
  return hours.filter(at => offsetAt(at - hourMs) !== offsetAt(at))
}

test('a reminder comes its minutes before, also over the nights on which clocks change', async () => {
  const changed = await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })
  assert.equal(changed.status, 200, changed.text)
  const nina = await somebody()
  const zoned = await call('PATCH', `${v1}/user/${nina.id}`, { time_zone: 'Pacific/Auckland' })
  assert.equal(zoned.status, 200, zoned.text)
  const nights = ['Europe/Berlin', 'Pacific/Auckland'].flatMap(clockChangesOf)
  // Four a year; just after a change, the next one of its kind may be more than 360 days away.
  assert.ok(nights.length >= 2, String(nights.length))
  const expected = { past: new Map<number, string>(), coming: new Map<number, string>() }
  for (const night of nights) {
    // Due three hours after the change; the minutes until then reach back over it, to just now and soon.
    const due = night + 180 * minuteMs
    for (const [when, at] of [
      ['past', Date.now() - 2 * minuteMs],
      ['coming', Date.now() + 30 * minuteMs],
    ] as const) {
      const reminder = Math.floor((due - at) / minuteMs)
      const due_at = new Date(due).toISOString()
      const body = { kind: 'Task', subject: `After ${due_at}`, due_at, reminder }
      const reply = await nina.asked('POST', 'activity', body)
      assert.equal(reply.status, 201, reply.text)
      expected[when].set(reply.body.data.id, new Date(due - reminder * minuteMs).toISOString())
    }
  }
  const { items, meta } = await nina.inbox('?kind=due')
  const momentsOf = (of: readonly Item[]) => new Map(of.map(({ record, at }) => [record.id, at]))
  assert.deepEqual(momentsOf(items.toReversed()), expected.past)
  assert.deepEqual(momentsOf(meta.reminders), new Map([...expected.past, ...expected.coming]))
})

test('snoozed is what comes again, unread; read states are kept by the service', async () => {
  const dan = await somebody()
  await dan.asked('POST', 'activity', { kind: 'Task', subject: 'A', due_at: inMinutes(-1), reminder: 0 })
  const [item] = (await dan.inbox()).items
  assert.equal(await dan.mark({ ids: [item!.id], to: 'snoozed', minutes: 10 }), 1)
  const { items, meta } = await dan.inbox()
  assert.deepEqual([items, meta.unread, meta.reminders.length], [[], 0, 1])
  const waitMs = Date.parse(meta.reminders[0].at) - Date.now()
  assert.ok(waitMs > 9 * minuteMs && waitMs <= 10 * minuteMs)
  await db.query("UPDATE notification SET snoozed_until = now() - interval '1 second' WHERE account_id = 1")
  assert.deepEqual(
    (await dan.inbox('?unread=1')).items.map(({ id }) => id),
    [item!.id],
  )
  assert.equal(await dan.mark({ ids: [item!.id, 'mention-99', 'due-1-1'], to: 'read' }), 1)
  assert.deepEqual((await dan.inbox('?unread=1')).items, [])
  assert.equal(await dan.mark({ ids: [item!.id], to: 'unread' }), 1)
  assert.equal((await dan.inbox()).meta.unread, 1)
  const until = inMinutes(1)
  const marked = []
  for (const to of ['unread', 'read', 'read', 'unread']) marked.push(await dan.mark({ until, to }))
  assert.deepEqual([marked, (await dan.inbox()).meta.unread], [[0, 1, 0, 1], 1])
})

test('what was snoozed together is on all its pages, and has ids and moments also before 1970', async () => {
  const lea = await somebody()
  const due = { kind: 'Task', subject: 'A', owner: lea.id, due_at: inMinutes(-10) }
  const bodies = [due, due, due, { ...due, due_at: '0001-01-01T00:00:00Z', reminder: 60 }]
  for (const body of bodies) await made('activity', body)
  const ids = (await lea.inbox('?kind=due')).items.map(({ id }) => id)
  assert.equal(await lea.mark({ ids: ids.slice(0, 3), to: 'snoozed', minutes: 1 }), 3)
  await db.query(
    `UPDATE notification SET snoozed_until = '2026-01-01T00:00:00.000123Z'
     WHERE account_id = 1 AND user_id = ${lea.id}`,
  )
  await made('activity', { ...due, due_at: '0001-01-01T00:00:00Z' })
  const seen: string[] = []
  for (let [hasMore, cursor] = [true, '']; hasMore; ) {
    const { items, meta } = await lea.inbox(`?kind=due&pageSize=1${cursor}`)
    seen.push(...items.map(({ id, at }) => `${id} ${at}`))
    hasMore = meta.hasMore && seen.length < 9
    cursor = `&cursor=${meta.nextCursor}`
  }
  assert.deepEqual([new Set(seen).size, seen.length], [5, 5])
  assert.ok(
    seen.slice(3).every(item => / 0001-01-01T00:00:00.000Z$/.test(item)),
    seen.join(),
  )
  assert.equal(await lea.mark({ ids: seen.map(item => item.split(' ')[0]!), to: 'read' }), 5)
  assert.deepEqual((await lea.inbox('?kind=due&unread=1')).items, [])
})

test('deals rot and jobs fail in the inbox of their owner', async () => {
  const eve = await somebody({ scopes: ['admin'] })
  const deal = await made('deal', dealBody(known, { sales_owner: eve.id }))
  await eve.mark({ until: '2999-01-01T00:00:00Z', to: 'read' })
  await db.query(
    `UPDATE deal SET stage_rotting_days = 2, deal_stage_updated_at = now() - interval '3 days 1 minute'
     WHERE account_id = 1 AND id = ${deal.id}`,
  )
  await db.query(`INSERT INTO job (account_id, id, kind, resource, name, state, actor, acts_as, scopes, plan, ended_at)
    VALUES (1, 900001, 'import', 'deal', 'leads.csv', 'failed', ${eve.id}, ${eve.id}, '[]', '{}', now())`)
  const { items } = await eve.inbox('?unread=1')
  assert.deepEqual(
    items.map(({ kind, record }) => [kind, record.resource, record.id, record.name]),
    [
      ['job', 'job', 900001, 'leads.csv'],
      ['rotting', 'deal', deal.id, 'A deal'],
    ],
  )
  await made('activity', { kind: 'Call', subject: 'Called', deal: deal.id, done_at: inMinutes(0) })
  assert.deepEqual(kindsOf((await eve.inbox('?unread=1')).items), ['job'])
  // A task stays read, however long it is overdue.
  await eve.asked('POST', 'activity', { kind: 'Task', subject: 'Late', due_at: inMinutes(-300_000) })
  assert.equal(await eve.mark({ until: inMinutes(1), to: 'read' }), 2)
  await keepInboxes(db, 1)
  assert.equal((await eve.inbox()).meta.unread, 0)
})

test('each event makes its items once, after a restart and with two processes', async () => {
  const [fay, gus] = [await somebody(), await somebody()]
  const mention = () => made('activity', { kind: 'Note', subject: 'A', notes: `@{${fay.id}}`, owner: gus.id })
  await mention()
  const other = await service.another()
  await Promise.all([followEvents(db, 1), followEvents(db, 1), other.get(`${v1}/inbox`), fay.inbox()])
  await mention()
  await Promise.all([other.get(`${v1}/inbox`), fay.inbox(), followEvents(db, 1)])
  // Events that are looked at twice, as after a backup of an older position, change nothing.
  await db.query('UPDATE inbox_progress SET seq = seq - 2 WHERE account_id = 1')
  const { items } = await fay.inbox()
  assert.deepEqual(
    items.map(({ kind, count }) => [kind, count]),
    [
      ['mention', 1],
      ['mention', 1],
    ],
  )
})

test('an inbox is its owner’s alone, in their account', async () => {
  const hal = await somebody()
  await made('activity', { kind: 'Note', subject: 'A', notes: `@{${hal.id}}` })
  const [item] = (await hal.inbox()).items
  const stranger = await somebody()
  assert.deepEqual((await stranger.inbox()).items, [])
  assert.equal(await stranger.mark({ ids: [item!.id], to: 'read' }), 0)
  const { result: account } = await db
    .transaction({ account: '1' }, async tx => ({
      commits: true,
      result: await createAccount(tx, { name: 'Other', ownerName: 'O', ownerEmail: 'o@example.com' }),
    }))
    .then(result => ({ result }))
  await followEvents(db, account.account)
  const rows = await db.query(`SELECT user_id FROM notification WHERE account_id = ${account.account}`)
  assert.deepEqual(rows, [])
  assert.equal((await hal.inbox()).meta.unread, 1)
})

test('pages go on where the one before ended, and old items are removed', async () => {
  const ida = await somebody()
  const newest = await db.query('SELECT last_seq::text AS seq FROM counter WHERE account_id = 1')
  assert.ok(Number(newest[0]!.seq) > 0)
  const activity = await made('activity', { kind: 'Note', subject: 'Many' })
  await db.query(`INSERT INTO notification (account_id, user_id, id, kind, resource, record_id, actor, at)
    SELECT 1, ${ida.id}, concat('mention-', 900000 + n), 'mention', 'activity', ${activity.id}, 1, now() - n * interval '1 minute'
    FROM generate_series(1, 60) n`)
  const seen: string[] = []
  let cursor = ''
  for (let hasMore = true; hasMore; ) {
    const { items, meta } = await ida.inbox(`?pageSize=25${cursor && `&cursor=${cursor}`}`)
    seen.push(...items.map(({ id }) => id))
    hasMore = meta.hasMore
    cursor = meta.nextCursor ?? ''
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 60 }, (_, index) => `mention-${900_001 + index}`),
  )
  await db.query(
    `UPDATE notification SET at = now() - interval '181 days' WHERE account_id = 1 AND id = 'mention-900001'`,
  )
  await keepInboxes(db, 1)
  assert.equal((await ida.inbox('?pageSize=100')).items.length, 59)
})

test('settings: a kind that is off does not show, quiet hours are kept, wrong ones are refused', async () => {
  const jo = await somebody()
  await made('activity', { kind: 'Note', subject: 'A', notes: `@{${jo.id}}` })
  const quiet = { from: '18:00', to: '08:00' }
  const changed = await jo.asked('PATCH', 'inbox/settings', { kinds: { mention: [] }, quiet })
  assert.equal(changed.status, 200, changed.text)
  const stored = (await jo.asked('GET', 'inbox/settings')).body.data
  assert.deepEqual([stored.kinds.mention, stored.kinds.due, stored.quiet], [[], ['app'], quiet])
  const { items, meta } = await jo.inbox()
  assert.deepEqual([items, meta.unread, (await jo.inbox('?kind=mention')).items], [[], 0, []])
  assert.equal(
    (await jo.asked('PATCH', 'inbox/settings', { kinds: { mention: ['app'] }, quiet: null })).status,
    200,
  )
  assert.equal((await jo.inbox()).meta.unread, 1)
  // Changes at the same time keep each other.
  const changes = [{ kinds: { due: [] } }, { kinds: { rotting: [] } }, { quiet }, { kinds: { job: [] } }]
  await Promise.all(changes.map(change => jo.asked('PATCH', 'inbox/settings', change)))
  assert.deepEqual((await jo.asked('PATCH', 'inbox/settings', {})).body.data, {
    kinds: { mention: ['app'], assignment: ['app'], due: [], rotting: [], job: [] },
    quiet,
  })
  const wrong: [Json, string[]][] = [
    [{ kinds: { mail: [] } }, ['/kinds/mail unknown_field']],
    [{ kinds: { due: ['mail'] }, more: 1 }, ['/kinds/due invalid_value', '/more unknown_field']],
    [{ quiet: { from: '25:00', to: '08:00' } }, ['/quiet invalid_value']],
    [[], [' wrong_type']],
  ]
  for (const [body, problems] of wrong) {
    const refused = await jo.asked('PATCH', 'inbox/settings', body)
    assert.deepEqual([refused.status, problemsOf(refused)], [422, problems])
  }
})

test('wrong queries and marks are refused with what to do', async () => {
  const kim = await somebody()
  for (const query of ['kind=x', 'pageSize=101', 'pageSize=0', 'cursor=1', 'unread=2', 'filter=a'])
    assert.equal((await kim.asked('GET', `inbox?${query}`)).status, 400, query)
  // No day of the calendar, no year, and more than a page gave.
  const cursors = [
    '2026-02-30T00:00:00Z_due-1-1',
    '0000-01-01T00:00:00Z_due-1-1',
    '2026-01-01T00:00:00Z_due-1-1_x',
  ]
  const refusedQueries = [
    ...cursors.map(cursor => [`inbox?cursor=${cursor}`, 'cursor', 'invalid_value']),
    ['inbox/people?search=%00', 'search', 'invalid_characters'],
    [`inbox/people?search=${'x'.repeat(256)}`, 'search', 'too_long'],
  ]
  for (const [path, parameter, code] of refusedQueries) {
    const refused = await kim.asked('GET', path!)
    assert.equal(refused.status, 400, refused.text)
    assert.deepEqual([refused.body.errors[0].parameter, refused.body.errors[0].code], [parameter, code])
  }
  assert.equal((await kim.asked('GET', `inbox/people?search=${'%F0%9F%98%80'.repeat(255)}`)).status, 200)
  const wrong: Json[] = [
    { to: 'read' },
    { ids: [], until: '2026-01-01T00:00:00Z', to: 'read' },
    { ids: ['a; DROP'], to: 'read' },
    { until: 'yesterday', to: 'read' },
    { until: '2026-02-30T00:00:00Z', to: 'read' },
    { until: '0000-01-01T00:00:00Z', to: 'read' },
    { until: '2026-01-01T00:00:00', to: 'read' },
    { ids: [], to: 'gone' },
    { ids: [], to: 'snoozed' },
    { ids: [], to: 'snoozed', minutes: 20_000 },
    { ids: [], to: 'read', minutes: 5 },
    { ids: [], to: 'read', more: 1 },
  ]
  for (const body of wrong) {
    const refused = await kim.asked('POST', 'inbox/mark', body)
    assert.equal(refused.status, 422, refused.text)
    assert.ok(refused.body.errors.length > 0)
  }
  assert.equal(await kim.mark({ until: '2026-01-01T00:00:00.123456+02:00', to: 'read' }), 0)
})

test('the newest items of very many are read by an index', async () => {
  const lou = await somebody()
  const activity = await made('activity', { kind: 'Note', subject: 'Many' })
  await db.query(`INSERT INTO notification (account_id, user_id, id, kind, resource, record_id, actor, at)
    SELECT 1, ${lou.id}, concat('mention-', 1000000 + n), 'mention', 'activity', ${activity.id}, 1, now() - n * interval '1 minute'
    FROM generate_series(1, 10050) n`)
  await db.query('ANALYZE notification')
  const plan = await db.query(`EXPLAIN SELECT n.id FROM notification n
    WHERE n.account_id = 1 AND n.user_id = ${lou.id} ORDER BY n.at DESC, n.id DESC LIMIT 26`)
  assert.match(JSON.stringify(plan), /notification_list/)
  const { items, meta } = await lou.inbox()
  assert.deepEqual([items.length, meta.unread, meta.hasMore], [25, 1000, true])
  // As many as an inbox keeps, the newest first. Whatever follows the account's events may remove the others.
  assert.equal(await lou.mark({ until: inMinutes(1), to: 'read' }), 10_000)
  const { items: left } = await lou.inbox('?unread=1')
  assert.deepEqual(
    left.filter(({ id }) => id <= 'mention-1010000'),
    [],
  )
  assert.equal(left.length, await lou.mark({ until: inMinutes(1), to: 'read' }).then(count => count && 25))
  assert.equal((await lou.inbox()).meta.unread, 0)
})
