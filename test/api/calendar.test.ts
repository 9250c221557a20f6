/** The feed of a calendar (D160): its text by RFC 5545 and by a public parser, and who reads which. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import ICAL from 'ical.js'
import type { JsonObject } from '../../src/json.ts'
import { problemsOf, startService, v1 } from '../support/service.ts'

/** Between the two nights on which the clocks of Berlin change. */
const now = new Date('2026-06-15T10:00:00.000Z')
const lines: string[] = []
const service = await startService({
  sampleData: false,
  now: () => now,
  observed: { observers: [request => lines.push(JSON.stringify(request))], traces: null },
})
const { call, get, made, url, aSecondGoesBy } = service
assert.equal((await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })).status, 200)

let people = 0
/** A new user with a role of their own, and the secret of their calendar. */
async function person(limits: JsonObject = {}, user: JsonObject = {}) {
  const name = `Person ${++people}`
  const role = await made('role', { name, scopes: ['activity:read', 'token:write', 'token:read'], ...limits })
  const email = `person${people}@example.com`
  const { id } = await made('user', { name, email, role: role.id, ...user })
  const { token: secret } = await made('token', { name, user: id, scopes: ['admin'] })
  const headers = { authorization: `Bearer ${secret}` }
  const token = await made('token', { name: 'Calendar', scopes: ['calendar:read'] }, headers)
  return { id, role, headers, token: token.id as number, secret: token.token as string }
}

/** The feed, read without any other secret. */
async function feed(secret: string, query = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${v1}/calendar/${secret}.ics${query}`, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The events of a feed, once its text has kept the rules. */
async function eventsOf(secret: string, query = '') {
  const { status, headers, text } = await feed(secret, query)
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'text/calendar; charset=utf-8')
  checkText(text)
  const calendar = new ICAL.Component(ICAL.parse(text))
  return calendar.getAllSubcomponents('vevent').map(one => new ICAL.Event(one))
}

/** The rules of RFC 5545 for lines, of which a lenient parser would not notice a breach. */
function checkText(text: string): void {
  assert.ok(text.startsWith('BEGIN:VCALENDAR\r\n') && text.endsWith('\r\nEND:VCALENDAR\r\n'))
  for (const line of text.split('\r\n')) {
    assert.ok(Buffer.byteLength(line) <= 75, line)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
    assert.doesNotMatch(line, /[\x00-\x08\x0a-\x1f\x7f\ufffd]/)
  }
  const unfolded = text.replaceAll('\r\n ', '').split('\r\n').slice(0, -1)
  for (const line of unfolded) assert.match(line, /^[A-Z-]+(;[A-Z-]+=[A-Z-]+)*:/)
  const open: string[] = []
  for (const line of unfolded) {
    if (line.startsWith('BEGIN:')) open.push(line.slice(6))
    if (line.startsWith('END:')) assert.equal(open.pop(), line.slice(4))
  }
  const blocks = text.split('\r\nBEGIN:VEVENT').slice(1)
  for (const block of blocks)
    for (const name of ['UID', 'DTSTAMP', 'DTSTART'])
      assert.equal(block.match(new RegExp(`^${name}[:;]`, 'gm'))?.length, 1, `${name} in ${block}`)
  const uids = [...text.matchAll(/^UID:.*$/gm)].map(([line]) => line)
  assert.equal(new Set(uids).size, uids.length)
  assert.match(unfolded[1]!, /^VERSION:2\.0$/)
}

const activity = (owner: number, due: string, more: JsonObject = {}) =>
  made('activity', { kind: 'Meeting', subject: 'Review', owner, due_at: due, ...more })

test('meetings have a beginning and an end, and days are whole, on the nights on which clocks change', async () => {
  const { id, secret } = await person()
  // Midnight of Berlin, before and after each change.
  await activity(id, '2026-03-28T23:00:00Z', { subject: 'Day of spring', kind: 'Task' })
  await activity(id, '2026-03-29T22:00:00Z', { subject: 'Day after', kind: 'Task' })
  await activity(id, '2026-10-24T22:00:00Z', { subject: 'Days of autumn', kind: 'Task', duration: 2880 })
  await activity(id, '2026-03-29T00:30:00Z', { subject: 'Across spring', duration: 60 })
  await activity(id, '2026-10-25T00:30:00Z', { subject: 'Across autumn', duration: 90 })
  await activity(id, '2026-06-16T08:00:00Z', { subject: 'No length', kind: 'Call' })
  const events = new Map((await eventsOf(secret)).map(event => [event.summary, event]))
  const timesOf = (name: string) =>
    [events.get(name)!.startDate, events.get(name)!.endDate].map(time => time.toString())
  assert.deepEqual(timesOf('Day of spring'), ['2026-03-29', '2026-03-30'])
  assert.deepEqual(timesOf('Day after'), ['2026-03-30', '2026-03-31'])
  assert.deepEqual(timesOf('Days of autumn'), ['2026-10-25', '2026-10-27'])
  assert.deepEqual(timesOf('Across spring'), ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'])
  assert.deepEqual(timesOf('Across autumn'), ['2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z'])
  assert.deepEqual(timesOf('No length'), ['2026-06-16T08:00:00Z', '2026-06-16T08:00:00Z'])
  const meeting = events.get('Across spring')!.component
  assert.equal(meeting.getFirstPropertyValue('transp'), 'OPAQUE')
  assert.equal(meeting.getFirstPropertyValue('status'), 'CONFIRMED')
  assert.match(String(meeting.getFirstPropertyValue('url')), /^http:\/\/127\.0\.0\.1:\d+\/activities\/\d+$/)
  assert.equal(events.get('No length')!.component.getFirstPropertyValue('transp'), 'TRANSPARENT')
})

test('days are those of the person: in Auckland, in an account of Berlin', async () => {
  const { id, secret } = await person({}, { time_zone: 'Pacific/Auckland' })
  // Clocks go back on April 5 and forward on September 27, from +13 to +12 and back.
  await activity(id, '2026-04-04T11:00:00Z', { subject: 'Summer', kind: 'Task' })
  await activity(id, '2026-04-05T12:00:00Z', { subject: 'Winter', kind: 'Task' })
  await activity(id, '2026-09-26T12:00:00Z', { subject: 'Spring', kind: 'Task' })
  await activity(id, '2026-06-15T22:00:00Z', { subject: 'Midnight of Berlin', kind: 'Task' })
  const days = (await eventsOf(secret)).map(event => [event.summary, event.startDate.toString()])
  assert.deepEqual(Object.fromEntries(days), {
    Summer: '2026-04-05',
    Winter: '2026-04-06',
    Spring: '2026-09-27',
    'Midnight of Berlin': '2026-06-15T22:00:00Z',
  })
})

test('any text survives escaping and folding', async () => {
  const { id, secret } = await person()
  const subjects = [
    'a; b, c \\ d: "e"',
    `${'ü'.repeat(60)} ${'日本語'.repeat(20)}`,
    '👩‍👩‍👧‍👦'.repeat(20),
    `x${'é'.repeat(120)}`,
    'BEGIN:VEVENT',
    '\\n;\\,',
  ]
  for (const subject of subjects) await activity(id, '2026-07-01T09:00:00Z', { subject })
  const found = (await eventsOf(secret)).map(({ summary }) => summary)
  assert.deepEqual(found.sort(), subjects.sort())
})

test('only activities near today are there, and what is done is marked', async () => {
  const { id, secret } = await person()
  await activity(id, '2026-03-10T09:00:00Z', { subject: 'Long ago' })
  await activity(id, '2027-08-10T09:00:00Z', { subject: 'Far ahead' })
  await activity(id, '2026-06-14T09:00:00Z', { subject: 'Held', done_at: '2026-06-14T10:00:00Z' })
  const gone = await activity(id, '2026-06-20T09:00:00Z', { subject: 'Deleted' })
  assert.equal((await call('DELETE', `${v1}/activity/${gone.id}`)).status, 200)
  await made('activity', { kind: 'Task', subject: 'Without a date', owner: id })
  const events = await eventsOf(secret)
  assert.deepEqual(
    events.map(({ summary }) => summary),
    ['✓ Held'],
  )
})

test('a calendar without events is a whole one', async () => {
  const { secret } = await person()
  assert.deepEqual(await eventsOf(secret), [])
  assert.match((await feed(secret)).text, /BEGIN:VTIMEZONE/)
})

test('an unchanged feed is not sent again, and no shared cache keeps it', async () => {
  const { id, secret } = await person()
  const first = await feed(secret, '', { 'accept-encoding': 'identity' })
  assert.equal(first.headers.get('cache-control'), 'private, no-cache')
  assert.equal(first.headers.get('referrer-policy'), 'no-referrer')
  const known = { 'if-none-match': first.headers.get('etag')! }
  assert.equal((await feed(secret, '', known)).status, 304)
  await activity(id, '2026-06-16T08:00:00Z')
  assert.equal((await feed(secret, '', known)).status, 200)
})

test('a feed shows what its person may see, and with owner others’ too', async () => {
  const [all, own] = [await person(), await person({ visibility: { activity: 'own' } })]
  await activity(all.id, '2026-06-16T08:00:00Z', { subject: 'Of the one' })
  await activity(own.id, '2026-06-16T09:00:00Z', { subject: 'Of the other' })
  const namesOf = async (secret: string, query = '') =>
    (await eventsOf(secret, query)).map(({ summary }) => summary)
  assert.deepEqual(await namesOf(all.secret), ['Of the one'])
  assert.deepEqual(await namesOf(own.secret), ['Of the other'])
  assert.deepEqual(await namesOf(all.secret, `?owner=${own.id}`), ['Of the other'])
  assert.deepEqual(await namesOf(own.secret, '?owner=all'), ['Of the other'])
  assert.deepEqual(await namesOf(own.secret, `?owner=${all.id}`), [])
  const everything = await namesOf(all.secret, '?owner=all')
  assert.ok(everything.includes('Of the one') && everything.includes('Of the other'))
  const wrong = await feed(all.secret, '?owner=everybody')
  assert.deepEqual([wrong.status, JSON.parse(wrong.text).errors[0].parameter], [400, 'owner'])
  assert.equal((await feed(all.secret, '?user=1')).status, 400)
})

test('fields that the role hides are not in the feed', async () => {
  const fields = async (...names: string[]) => {
    const one = await person({ hidden_fields: names.map(name => `activity.${name}`) })
    await activity(one.id, '2026-06-16T08:00:00Z', { duration: 45 })
    return (await feed(one.secret, '?owner=all')).text
  }
  const whole = await fields()
  for (const name of ['DTEND', 'CATEGORIES', 'SUMMARY']) assert.match(whole, new RegExp(`\n${name}:`))
  assert.doesNotMatch(await fields('duration'), /\nDTEND:/)
  assert.doesNotMatch(await fields('kind'), /Meeting|OPAQUE/)
  assert.doesNotMatch(await fields('due_at'), /VEVENT/)
})

test('any other address is refused, and all of them alike', async () => {
  const { role, headers, token, secret } = await person()
  const refusals: string[] = []
  const refused = async (path: string) => {
    const response = await fetch(`${url}${v1}/calendar/${path}`)
    const { requestId: _, ...body } = (await response.json()) as JsonObject
    assert.equal(response.status, 404, path)
    refusals.push(JSON.stringify(body))
  }
  const admin = await made('token', { name: 'All', scopes: ['admin'] })
  const reads = await made('token', { name: 'Reads', scopes: ['activity:read'] }, headers)
  await refused('x.ics')
  await refused(secret)
  await refused(`${secret}.ICS`)
  const another = secret.endsWith('x') ? 'y' : 'x'
  await refused(`${secret.slice(0, -1)}${another}.ics`)
  await refused(`${admin.token}.ics`)
  await refused(`${admin.token}.ics?owner=wrong`)
  await refused(`${reads.token}.ics`)
  await refused('%00.ics')
  const rotated = await call('POST', `${v1}/token/${token}/rotate`, undefined, headers)
  assert.equal(rotated.status, 200, rotated.text)
  const next = rotated.body.data.token
  aSecondGoesBy()
  await refused(`${secret}.ics`)
  assert.equal((await feed(next)).status, 200)
  // A role that may not read activities any more, and one that may again.
  assert.equal((await call('PATCH', `${v1}/role/${role.id}`, { scopes: ['deal:read'] })).status, 200)
  aSecondGoesBy()
  await refused(`${next}.ics`)
  assert.equal((await call('PATCH', `${v1}/role/${role.id}`, { scopes: ['activity:read'] })).status, 200)
  aSecondGoesBy()
  assert.equal((await feed(next)).status, 200)
  assert.equal((await call('DELETE', `${v1}/token/${token}`)).status, 200)
  aSecondGoesBy()
  await refused(`${next}.ics`)
  const left = await person()
  assert.equal((await feed(left.secret)).status, 200)
  assert.equal((await call('PATCH', `${v1}/user/${left.id}`, { is_active: 'No' })).status, 200)
  aSecondGoesBy()
  await refused(`${left.secret}.ics`)
  assert.equal(new Set(refusals).size, 1, refusals.join('\n'))
})

test('the secret of a calendar does nothing else', async () => {
  const { secret } = await person()
  const headers = { authorization: `Bearer ${secret}` }
  for (const path of [
    '/activity/view/list',
    '/deal/view/list',
    '/me',
    '/search?q=review',
    '/token/view/list',
  ])
    assert.equal((await call('GET', v1 + path, undefined, headers)).status, 403, path)
  assert.equal((await call('POST', `${v1}/activity`, { kind: 'Task' }, headers)).status, 403)
  assert.equal((await call('GET', '/openapi.json', undefined, headers)).status, 403)
  assert.notEqual(
    (await call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, headers)).status,
    200,
  )
})

test('who reads activities may make one, and it has no other scope', async () => {
  const made = async (scopes: string[], token: string[]) => {
    const { headers } = await person({ scopes: [...scopes, 'token:write', 'activity:read'] })
    const narrow = await call(
      'POST',
      `${v1}/token`,
      { name: 'N', scopes: [...scopes, 'token:write'] },
      headers,
    )
    const own = { authorization: `Bearer ${narrow.body.data.token}` }
    return call('POST', `${v1}/token`, { name: 'T', scopes: token }, own)
  }
  assert.equal((await made(['activity:read'], ['calendar:read'])).status, 201)
  assert.equal((await made(['deal:read'], ['calendar:read'])).status, 403)
  const both = await made(['activity:read'], ['calendar:read', 'activity:read'])
  assert.deepEqual([both.status, problemsOf(both)], [422, ['/scopes contradiction']])
})

test('the secret is in no line of the requests', async () => {
  const { secret } = await person()
  assert.equal((await feed(secret)).status, 200)
  await feed(`${secret}x`)
  const seen = lines.filter(line => line.includes('calendar/:file'))
  assert.ok(seen.length >= 2)
  assert.doesNotMatch(lines.join('\n'), new RegExp(secret.split('_')[2]!))
})

test('of very many, those next to today are in the feed', async () => {
  const { id, secret } = await person()
  const [from, ahead] = [Date.parse('2026-06-15T10:00:00Z'), 3_600_000]
  const operations = Array.from({ length: 2500 }, (_, nth) => ({
    op: 'create',
    data: {
      ...{ kind: 'Task', subject: `Task ${nth}`, owner: id },
      due_at: new Date(from + nth * ahead).toISOString(),
    },
  }))
  for (let at = 0; at < operations.length; at += 500) {
    const body = { operations: operations.slice(at, at + 500) }
    assert.equal((await call('POST', `${v1}/activity/batch`, body)).status, 200)
  }
  const events = await eventsOf(secret)
  assert.equal(events.length, 2000)
  assert.equal(events.at(-1)!.summary, 'Task 1999')
  assert.equal((await get(`${v1}/activity/view/list?filter=owner:eq(${id})`)).body.meta.total, 2500)
})
