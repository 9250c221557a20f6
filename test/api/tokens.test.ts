/** Tokens: created, limited, rotated and revoked (D66), who they are (`/me`), and scopes (D65). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Callers } from '../../src/accounts/callers.ts'
import { hashToken } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

const { aSecondGoesBy, call, get, db, known, another, made } = await startService()
const other = await another()

const as = (token: string) => ({ authorization: `Bearer ${token}` })
const me = (token: string, from = call) => from('GET', `${v1}/me`, undefined, as(token))
const status = async (reply: Promise<Reply>) => (await reply).status

test('a token is made once, shown without its secret, and says what it may do', async () => {
  const token = await made('token', { name: 'Web form', scopes: ['deal:write', 'contact:write'] })
  assert.match(token.token, /^dw_1_[0-9A-Za-z]{33}_[0-9a-z]{7}$/)
  assert.equal(token.prefix, token.token.slice(0, 11))
  assert.deepEqual([token.user, token.expires_at, token.last_used_at], [known.owner, null, null])
  const { body } = await me(token.token)
  assert.deepEqual(body.data.scopes, ['deal:write', 'contact:write'])
  assert.deepEqual(body.data.token, { id: token.id, name: 'Web form' })
  assert.deepEqual(body.data.account, {
    id: 1,
    name: 'Default',
    time_zone: 'UTC',
    locale: null,
    base_currency: 840,
  })
  assert.deepEqual([body.data.user.id, body.data.user.role], [known.owner, 1])
  assert.equal(body.data.follows_events, false)
  assert.equal((await get(`${v1}/me`)).body.data.follows_events, true)
  const read = await get(`${v1}/token/${token.id}`)
  assert.ok(!read.text.includes(token.token) && !('token' in read.body.data), read.text)
  // Its use is recorded concurrently with the answer.
  const lastUse = async () => (await get(`${v1}/token/${token.id}`)).body.data.last_used_at
  await eventually(async () => (await lastUse()) !== null, 'the use of the token')
  assert.match(await lastUse(), /:00\.000Z$/)
  const listed = await get(`${v1}/token/view/list?filter=scopes:eq(deal:write)&fields=name,prefix`)
  assert.deepEqual(listed.body.data, [{ id: token.id, name: 'Web form', prefix: token.prefix }])
  const events = await db.query("SELECT changes::text FROM event WHERE resource = 'token'")
  assert.ok(!events.some(({ changes }) => changes!.includes(token.token.slice(12, 40))))
  // It can create a deal, and gets its own values back, but reads nothing.
  const body2 = dealBody(known, { primary_contact: { last_name: 'Form' } })
  assert.equal(await status(call('POST', `${v1}/deal`, body2, as(token.token))), 201)
  assert.equal(await status(call('GET', `${v1}/deal/view/list`, undefined, as(token.token))), 403)
})

test('a token without scopes is made with a warning, which tells of no hidden field', async () => {
  const bare = await call('POST', `${v1}/token`, { name: 'Bare' })
  assert.deepEqual([bare.status, bare.body.data.scopes], [201, []], bare.text)
  const codes = ({ body }: Reply) =>
    (body.meta?.warnings ?? []).map((one: { field: string; code: string }) => `${one.field} ${one.code}`)
  assert.deepEqual(codes(bare), ['scopes no_scopes'])
  assert.deepEqual(codes(await call('POST', `${v1}/token`, { name: 'Some', scopes: ['deal:read'] })), [])
  const scopes = ['token:write']
  const role = await made('role', { name: 'Sees no scopes', scopes, hidden_fields: ['token.scopes'] })
  const user = (await made('user', { name: 'Unseen', email: 'unseen@example.com', role: role.id })).id
  const { token } = await made('token', { name: 'Unseen', user, scopes })
  const own = await call('POST', `${v1}/token`, { name: 'Bare' }, as(token))
  assert.deepEqual([own.status, codes(own)], [201, []], own.text)
})

test('texts that are no secrets, or unknown ones, push no caller out of the cache', async () => {
  const { token } = await made('token', { name: 'Cached', scopes: ['deal:read'] })
  let asked = 0
  const query = (...of: Parameters<typeof db.query>) => {
    asked++
    return of[0].includes('token_secret') && of[1]?.[1] !== hashToken(token) ? [] : db.query(...of)
  }
  let now = 0
  const callers = new Callers({ ...db, query: async (...of) => query(...of) }, resources, () => now)
  assert.ok(await callers.identify(token))
  const before = asked
  for (let index = 0; index <= 10_000; index++) assert.equal(await callers.identify(`no-${index}`), null)
  assert.equal(asked, before)
  for (let index = 0; index <= 10_000; index++)
    assert.equal(await callers.identify(`unknown-${index}`.padEnd(32, '-')), null)
  assert.equal(asked, before + 10_001)
  assert.ok(await callers.identifyKnown(token))
  assert.equal(asked, before + 10_001)
  // It stays known when it has to be looked up again, and ends as soon as it is revoked.
  now += 1000
  assert.ok(await callers.identifyKnown(token))
  callers.forget(1)
  assert.ok(await callers.identifyKnown(token))
  assert.equal(callers.identifyKnown('x'.repeat(32)), null)
})

test('a request that is sent again does not tell the secret again', async () => {
  const key = { 'idempotency-key': 'make-a-token' }
  const body = { name: 'Once', scopes: ['deal:read'] }
  const first = await call('POST', `${v1}/token`, body, key)
  const again = await call('POST', `${v1}/token`, body, key)
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.equal(again.body.data.token, null)
  assert.equal(again.body.meta.warnings[0].code, 'shown_once')
  assert.equal(await status(me(first.body.data.token)), 200)
})

test('bad input is named, with the nearest scope', async () => {
  const reply = await call('POST', `${v1}/token`, {
    name: '',
    scopes: ['deal:reed', 'everything'],
    user: 999,
  })
  assert.deepEqual(problemsOf(reply), [
    '/name required',
    '/scopes/0 unknown_scope',
    '/scopes/1 unknown_scope',
    '/user reference_not_found',
  ])
  assert.match(reply.text, /Did you mean \\"deal:read\\"/)
  // A wrong part of a field is not corrected by clearing the field.
  const blank = await call('POST', `${v1}/token`, { name: 'Blank', scopes: ['deal:read', ''] })
  const [{ path, message, hint }] = blank.body.errors
  assert.deepEqual([path, hint], ['/scopes/1', undefined], message)
  const token = await made('token', { name: 'Fixed', scopes: ['deal:read'] })
  const { id: colleague } = await made('user', { name: 'Jo', email: 'jo@example.com' })
  const changed = await call('PATCH', `${v1}/token/${token.id}`, { user: colleague })
  assert.deepEqual(problemsOf(changed), ['/user immutable'])
  for (const body of [{ overlap_hours: 25 }, { overlap_hours: '1' }, { hours: 1 }, []] as Json[])
    assert.equal(await status(call('POST', `${v1}/token/${token.id}/rotate`, body)), 422)
  assert.equal(await status(call('POST', `${v1}/token/999/rotate`)), 404)
  assert.equal(await status(call('POST', `${v1}/token/${token.id}/restore`)), 404)
})

test('rotating: the secret before lives as long as asked, the one before that not at all', async () => {
  const token = await made('token', { name: 'Rotated', scopes: ['deal:read'] })
  const path = `${v1}/token/${token.id}/rotate`
  const second = await call('POST', path, { overlap_hours: 24 })
  assert.deepEqual([second.status, second.body.data.version], [200, 2], second.text)
  const secrets = [token.token, second.body.data.token]
  assert.deepEqual(await Promise.all(secrets.map(secret => status(me(secret)))), [200, 200])
  const third = await call('POST', path, { overlap_hours: 1 })
  secrets.push(third.body.data.token)
  aSecondGoesBy()
  const seen = await Promise.all(secrets.map(secret => status(me(secret, other.call))))
  assert.deepEqual(seen, [401, 200, 200])
  await db.query(
    "UPDATE token_secret SET valid_until = now() - interval '1 second' WHERE valid_until IS NOT NULL",
  )
  secrets.push((await call('POST', path)).body.data.token)
  aSecondGoesBy()
  assert.deepEqual(await Promise.all(secrets.map(secret => status(me(secret)))), [401, 401, 401, 200])
})

test('a token is rotated though the account requires a field of tokens by now', async () => {
  const token = await made('token', { name: 'From before', scopes: ['deal:read'] })
  const body = { source: 'token', field_name: 'Purpose', type: 'SINGLE_STRING', is_required: true }
  const field = await made('field', body)
  const path = `${v1}/token/${token.id}`
  assert.equal(await status(call('POST', `${path}/rotate`)), 200)
  assert.equal(await status(call('PATCH', path, { name: 'Renamed' })), 422)
  assert.equal(await status(call('DELETE', `${v1}/field/${field.id}`)), 200)
})

test('a token is rotated where the role hides what it may do', async () => {
  const scopes = ['token:read', 'token:write', 'deal:read']
  const role = await made('role', {
    name: 'Blind',
    scopes,
    hidden_fields: ['token.scopes', 'token.expires_at'],
  })
  const blind = await made('user', { name: 'Blind', email: 'blind@example.com', role: role.id })
  const of = (scopes: string[]) => made('token', { name: 'Blind', user: blind.id, scopes })
  const [narrow, wide] = [await of(['token:write', 'deal:read']), await of(scopes)]
  const rotated = (id: number) => call('POST', `${v1}/token/${id}/rotate`, undefined, as(narrow.token))
  const own = await rotated(narrow.id)
  assert.equal(own.status, 200, own.text)
  assert.ok(!('scopes' in own.body.data) && !('expires_at' in own.body.data), own.text)
  aSecondGoesBy()
  assert.deepEqual([await status(me(narrow.token)), await status(me(own.body.data.token))], [401, 200])
  const beyond = await call('POST', `${v1}/token/${wide.id}/rotate`, undefined, as(own.body.data.token))
  assert.equal(beyond.status, 403, beyond.text)
})

test('two rotations at the same moment: both are answered, and the later secret is good', async () => {
  const token = await made('token', { name: 'Raced', scopes: ['deal:read'] })
  const path = `${v1}/token/${token.id}/rotate`
  const replies = await Promise.all([call('POST', path), other.call('POST', path)])
  const [first, last] = replies.map(reply => reply.body.data).sort((a, b) => a.version - b.version)
  assert.deepEqual([first.version, last.version], [2, 3])
  aSecondGoesBy()
  assert.deepEqual([await status(me(first.token)), await status(me(last.token))], [401, 200])
})

test('revoked while requests run: refused within a second, in every process', async () => {
  const token = await made('token', { name: 'Revoked', scopes: ['deal:read'] })
  let [isRevoked, late] = [0, 0]
  const ask = async (from: typeof call) => {
    for (let since = 0; since < 1100; since = isRevoked ? performance.now() - isRevoked : 0) {
      const asked = performance.now()
      const reply = await from('GET', `${v1}/deal/view/list?pageSize=1`, undefined, as(token.token))
      if (isRevoked && asked - isRevoked > 1000 && reply.status === 200) late++
      assert.ok([200, 401].includes(reply.status), reply.text)
    }
  }
  const asking = Promise.all([ask(call), ask(other.call)])
  assert.equal(await status(call('DELETE', `${v1}/token/${token.id}`)), 200)
  isRevoked = performance.now()
  await asking
  assert.equal(late, 0)
})

test('whoever is out of use makes no token, in the second in which they are known yet', async () => {
  // Another process, which knows callers for good.
  const slow = await another({ clock: () => 0 })
  const scopes = ['token:read', 'token:write']
  for (const [name, ending] of [
    ['Idle', (path: string) => call('PATCH', path, { is_active: 'No' })],
    ['Deleted', (path: string) => call('DELETE', path)],
  ] as const) {
    const { id } = await made('user', { name, email: `${name}@example.com`, role: 'Member' })
    const { token } = await made('token', { name, user: id, scopes })
    const isKnown = () => status(slow.call('GET', `${v1}/token/view/list`, undefined, as(token)))
    assert.equal(await isKnown(), 200)
    assert.equal(await status(ending(`${v1}/user/${id}`)), 200)
    assert.equal(await isKnown(), 200)
    const late = await slow.call('POST', `${v1}/token`, { name: 'Late', scopes }, as(token))
    assert.equal(late.status, 401, late.text)
  }
})

test('nobody makes more of a token than they have, or sees or makes those of others', async () => {
  const seller = await made('user', { name: 'Seller', email: 'seller@example.com', role: 'Member' })
  const theirs = await made('token', { name: 'Theirs', user: seller.id, scopes: ['admin'] })
  const [scopes, all] = [
    (await me(theirs.token)).body.data.scopes,
    (await get(`${v1}/role/3`)).body.data.scopes,
  ]
  assert.deepEqual(scopes, all)
  const theirOwn = as(theirs.token)
  const narrow = await made('token', { name: 'Narrow', scopes: ['deal:read', 'token:write'] }, theirOwn)
  const beyond: [body: Json, from: Record<string, string>][] = [
    [{ name: 'x', scopes: ['user:write'] }, theirOwn],
    [{ name: 'x', scopes: ['admin'] }, theirOwn],
    [{ name: 'x', scopes: ['deal:read'], user: known.owner }, theirOwn],
    [{ name: 'x', scopes: ['deal:write'] }, as(narrow.token)],
  ]
  for (const [body, from] of beyond) {
    const reply = await call('POST', `${v1}/token`, body, from)
    assert.equal(reply.status, 403, `${JSON.stringify(body)} ${reply.text}`)
  }
  // A narrow token does not get the secret of a wider one.
  const path = `${v1}/token/${theirs.id}`
  assert.equal(await status(call('POST', `${path}/rotate`, undefined, as(narrow.token))), 403)
  assert.equal(await status(call('PATCH', path, { scopes: ['user:write'] }, theirOwn)), 403)
  const listed = await call('GET', `${v1}/token/view/list?sort=id:asc`, undefined, theirOwn)
  assert.deepEqual(
    listed.body.data.map((token: { name: string }) => token.name),
    ['Theirs', 'Narrow'],
  )
  const mine = await made('token', { name: 'Mine', scopes: ['deal:read'] })
  for (const method of ['GET', 'DELETE', 'PATCH'] as const) {
    const reply = await call(method, `${v1}/token/${mine.id}`, method === 'PATCH' ? {} : undefined, theirOwn)
    assert.equal(reply.status, 404, reply.text)
  }
  // An idempotency key belongs to its sender: the owner's same key is another.
  const key = { 'idempotency-key': 'shared' }
  const one = await call('POST', `${v1}/tag`, { name: 'of the seller' }, { ...theirOwn, ...key })
  const two = await call('POST', `${v1}/tag`, { name: 'of the owner' }, key)
  assert.deepEqual([one.status, two.status], [201, 201], two.text)
})

test('a token that ends makes, changes and rotates none that ends later', async () => {
  const clerk = await made('user', { name: 'Clerk', email: 'clerk@example.com', role: 'Member' })
  const scopes = ['token:write', 'token:read', 'deal:read']
  const [last, sooner, later] = [600_000, 300_000, 601_000].map(ms => new Date(Date.now() + ms).toISOString())
  const own = await made('token', { name: 'Lent', user: clerk.id, scopes, expires_at: last! })
  const endless = await made('token', { name: 'Endless', user: clerk.id, scopes })
  const lent = as(own.token)
  const path = `${v1}/token/${own.id}`
  for (const [method, where, body] of [
    ['PATCH', path, { expires_at: null }],
    ['PATCH', path, { expires_at: later! }],
    ['POST', `${v1}/token`, { name: 'For ever', scopes }],
    ['POST', `${v1}/token`, { name: 'Later', scopes, expires_at: later! }],
    ['PATCH', `${v1}/token/${endless.id}`, { name: 'Mine' }],
    ['POST', `${v1}/token/${endless.id}/rotate`, {}],
  ] as const) {
    const reply = await call(method, where, body, lent)
    assert.equal(reply.status, 403, `${method} ${where} ${JSON.stringify(body)}: ${reply.text}`)
    assert.match(reply.body.detail, new RegExp(`ends no later .* must be ${last} at the latest`))
  }
  const child = await made('token', { name: 'Child', scopes, expires_at: last! }, lent)
  assert.equal(child.expires_at, last)
  assert.equal(await status(call('PATCH', `${v1}/token/${endless.id}`, { expires_at: sooner! }, lent)), 200)
  assert.equal(await status(call('POST', `${path}/rotate`, {}, lent)), 200)
  // Administrators may create any token.
  const admin = await made('token', { name: 'Admin', scopes: ['admin'], expires_at: last! })
  await made('token', { name: 'For ever', scopes }, as(admin.token))
})

test('names, and what is made within a record, need the scopes of what they show and make', async () => {
  const { token } = await made('token', { name: 'Deals', scopes: ['deal:read', 'deal:write', 'field:read'] })
  const asked: [method: string, path: string, scope: string, body?: Json][] = [
    ['GET', `${v1}/deal/view/list?expand=primary_contact`, 'contact:read'],
    ['GET', `${v1}/deal/view/list?expand=pipeline_stage`, 'pipeline_stage:read'],
    ['GET', `${v1}/deal/view/list?sort=company:asc`, 'company:read'],
    ['GET', `${v1}/deal/aggregate?group_by=sales_owner`, 'user:read'],
    ['GET', `${v1}/field/dropdown?name=sales_owner`, 'user:read'],
    ['POST', `${v1}/deal`, 'contact:write', dealBody(known, { primary_contact: { last_name: 'New' } })],
    ['POST', `${v1}/deal?expand=company`, 'company:read', dealBody(known)],
  ]
  for (const [method, path, scope, body] of asked) {
    const reply = await call(method, path, body, as(token))
    assert.equal(reply.status, 403, `${path} ${reply.text}`)
    assert.match(reply.body.detail, new RegExp(`needs the scope ${scope};`))
  }
  const plain = ['view/list?sort=title:asc', 'view/list?expand=source', 'aggregate?group_by=source']
  for (const path of plain)
    assert.equal(await status(call('GET', `${v1}/deal/${path}`, undefined, as(token))), 200)
})

test('a leaver is taken out of use, hands over what they own, and is deleted', async () => {
  const leaver = await made('user', { name: 'Leaver', email: 'leaver@example.com', role: 'Member' })
  const heir = await made('user', { name: 'Heir', email: 'heir@example.com' })
  const field = await made('field', { source: 'user', field_name: 'Desk', type: 'SINGLE_STRING' })
  await made('field', { source: 'company', field_name: 'Guide', type: 'OWNER' })
  await call('PATCH', `${v1}/user/${leaver.id}`, { [field.internal_name]: 'by the window' })
  assert.equal((await get(`${v1}/user/${leaver.id}`)).body.data[field.internal_name], 'by the window')
  const { token } = await made('token', { name: 'Of the leaver', user: leaver.id, scopes: ['admin'] })
  const deals = await Promise.all(
    [1, 2, 3].map(() => made('deal', dealBody(known, { sales_owner: leaver.id }))),
  )
  const company = await made('company', { name: 'Guided', cf_guide: leaver.id })
  assert.equal(await status(me(token)), 200)
  const off = await call('PATCH', `${v1}/user/${leaver.id}`, { is_active: 'No' })
  assert.equal(off.status, 200, off.text)
  aSecondGoesBy()
  assert.equal(await status(me(token)), 401)
  await call('PATCH', `${v1}/user/${leaver.id}`, { is_active: 'Yes' })
  aSecondGoesBy()
  assert.equal(await status(me(token)), 401)
  const path = `${v1}/user/${leaver.id}`
  const used = await call('DELETE', path)
  assert.deepEqual([used.status, used.body.code], [409, 5004], used.text)
  for (const to of [leaver.id, 999_999]) {
    const reply = await call('DELETE', `${path}?move_to=${to}`)
    assert.deepEqual([reply.status, reply.body.errors[0].parameter], [400, 'move_to'], reply.text)
  }
  assert.equal(await status(call('DELETE', `${path}?move_to=${heir.id}`)), 200)
  for (const { id } of deals) {
    const { data } = (await get(`${v1}/deal/${id}`)).body
    assert.deepEqual([data.sales_owner, data.version], [heir.id, 2])
  }
  assert.equal((await get(`${v1}/company/${company.id}`)).body.data.cf_guide, heir.id)
})

test('no token is made that has ended already; one that is there may be ended so', async () => {
  const past = { name: 'Past', scopes: ['deal:read'], expires_at: '2020-01-01T00:00:00Z' }
  const refused = await call('POST', `${v1}/token`, past)
  assert.equal(refused.status, 422, refused.text)
  assert.deepEqual(problemsOf(refused), ['/expires_at out_of_range'])
  const made = await call('POST', `${v1}/token`, { ...past, expires_at: '2999-01-01' })
  assert.equal(made.status, 201, made.text)
  const path = `${v1}/token/${made.body.data.id}`
  assert.equal((await call('PATCH', path, { expires_at: past.expires_at })).status, 200)
  // Nor does an expired token get a new secret before its expiry is changed.
  assert.deepEqual(problemsOf(await call('POST', `${path}/rotate`)), ['/expires_at out_of_range'])
  assert.equal((await call('PATCH', path, { expires_at: null })).status, 200)
  assert.equal((await call('POST', `${path}/rotate`)).status, 200)
})
