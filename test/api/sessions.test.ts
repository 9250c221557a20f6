/** Sign-in of users (D61): passwords, sessions, one-time links, and misuse of a cookie. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { Hashing } from '../../src/accounts/sign-in/hashing.ts'
import { createLink } from '../../src/accounts/sign-in/links.ts'
import { resources } from '../../src/resources/resources.ts'
import { type Browser, browser, type Page } from '../support/browser.ts'
import { byQueries } from '../support/by-queries.ts'
import { eventually } from '../support/eventually.ts'
import { problemsOf, startService, v1 } from '../support/service.ts'

const hashing = new Hashing()
let time = 0
let stoppedAt: number | null = null
/** Runs in real time; a test may stop it or move it forward. */
const clock = () => (stoppedAt ?? performance.now()) + time
const { call, db, url, another } = await startService({ sampleData: false, hashing, clock })
const session = `${v1}/session`
const secret = 'seven green kettles sing'

type Person = { readonly id: number; readonly email: string; readonly path: string }
let people = 0

/** A user with a password. */
async function person(role = 'Member', password: string | null = secret): Promise<Person> {
  const email = `reader${++people}@example.com`
  const made = await call('POST', `${v1}/user`, { name: `Someone ${people}`, email, role })
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.data
  const one = { id, email, path: `${v1}/user/${id}` }
  if (password !== null) {
    const used = await browser(url).send('POST', session, { link: await link(one), password })
    assert.equal(used.status, 201, used.text)
  }
  return one
}

async function link({ path }: Person, purpose = 'invitation'): Promise<string> {
  const made = await call('POST', `${path}/link`, { purpose })
  assert.equal(made.status, 201, made.text)
  return made.body.data.link
}

async function signedIn({ email }: Person, password = secret): Promise<Browser> {
  const own = browser(url)
  const page = await own.send('POST', session, { email, password })
  assert.equal(page.status, 201, page.text)
  return own
}

const said = (page: Pick<Page, 'status' | 'body'>) => [page.status, page.body?.code]
const problems = (page: Page) =>
  page.body.errors.map((one: { path: string; code: string }) => `${one.path} ${one.code}`)
const rows = (text: string, ...values: string[]) => db.query(text, values)
/** A second later, when a process's cache of sessions has expired. */
const soon = () => {
  time += 1000
}

// Resets the wrong passwords of the test before: all come from one network.
beforeEach(() => {
  time += 3_600_000
})

test('a password signs in: the session is a cookie that no page can read, and has all that the role has', async () => {
  const one = await person()
  const own = browser(url)
  const page = await own.send('POST', session, { email: ` ${one.email.toUpperCase()} `, password: secret })
  assert.equal(page.status, 201, page.text)
  assert.equal(page.cookies.length, 1)
  assert.match(
    page.cookies[0]!,
    /^dealwright_session=dws_1_[0-9A-Za-z]{43}_[0-9a-z]{7}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
  )
  const me = await own.send('GET', session)
  assert.deepEqual([me.status, me.body.data], [200, page.body.data])
  const { user, account, token, scopes, session: current } = me.body.data
  assert.deepEqual([user.id, user.email, account.id, token], [one.id, one.email, 1, null])
  assert.ok(scopes.includes('deal:write') && !scopes.includes('admin'))
  assert.ok(Number.isInteger(current.id))
  assert.deepEqual((await own.send('GET', `${v1}/me`)).body.data, me.body.data)
  // A request may do what the role may.
  assert.equal((await own.send('POST', `${v1}/tag`, { name: 'By cookie' })).status, 201)
  assert.equal((await own.send('POST', `${v1}/territory`, { name: 'North' })).status, 403)
  // Only hashes are stored.
  const kept = await rows(
    'SELECT s.hash, p.hash AS password FROM session s JOIN password p USING (account_id, "user") WHERE s."user" = $1::bigint',
    String(one.id),
  )
  assert.ok(kept.every(row => /^[0-9a-f]{64}$/.test(row.hash!)))
  assert.match(kept[0]!.password!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
})

test('the cookie is Secure, and of this host alone, for every host but this machine', async () => {
  const one = await person()
  for (const host of ['crm.example.com', '127.0.0.1.evil.test', '192.168.1.5:3000']) {
    const page = await browser(url).send('POST', session, { email: one.email, password: secret }, { host })
    assert.match(
      page.cookies[0]!,
      /^__Host-dealwright_session=dws_1_\w+; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    )
  }
})

test('a browser that came over the network without TLS is told so', async () => {
  const one = await person()
  const body = { email: one.email, password: secret }
  const from = (origin: string) =>
    browser(url).send('POST', session, body, {
      ...{ host: '192.168.1.5:3000', 'sec-fetch-site': '', origin },
    })
  const page = await from('http://192.168.1.5:3000')
  assert.deepEqual(said(page), [403, 3002])
  assert.match(page.body.detail, /by https: alone.* open https:\/\/192\.168\.1\.5:3000\.$/)
  for (const other of ['http://192.168.1.6:3000', 'null', 'http://192.168.1.5'])
    assert.match((await from(other)).body.detail, /from the pages of the service itself/)
  assert.equal((await from('https://192.168.1.5:3000')).status, 201)
})

test('answers may not be framed, kept or taken for a page', async () => {
  const own = await signedIn(await person())
  const { headers } = await own.send('GET', session)
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.match(headers['content-security-policy']!, /frame-ancestors 'none'/)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
})

test('fixation: a cookie that was planted is not adopted, and one that was valid ends with the new session', async () => {
  const [victim, attacker] = [await person(), await person()]
  const own = await signedIn(attacker)
  const planted = own.cookies.get('dealwright_session')!
  const browserOfVictim = browser(url)
  browserOfVictim.cookies.set('dealwright_session', planted)
  const page = await browserOfVictim.send('POST', session, { email: victim.email, password: secret })
  assert.equal(page.status, 201, page.text)
  assert.notEqual(browserOfVictim.cookies.get('dealwright_session'), planted)
  assert.deepEqual(said(await own.send('GET', session)), [401, 3001])
  assert.equal((await browserOfVictim.send('GET', session)).body.data.user.id, victim.id)
})

test('theft: a cookie that was copied is worth nothing after sign-out, in this process at once', async () => {
  const own = await signedIn(await person())
  const thief = browser(url)
  thief.cookies.set('dealwright_session', own.cookies.get('dealwright_session')!)
  assert.equal((await thief.send('GET', session)).status, 200)
  const out = await own.send('DELETE', session)
  assert.equal(out.status, 200, out.text)
  assert.match(out.cookies[0]!, /^dealwright_session=; Path=\/; Max-Age=0;/)
  assert.equal(own.cookies.size, 0)
  const refused = await thief.send('GET', session)
  assert.deepEqual(said(refused), [401, 3001])
  // A browser deletes an invalid cookie.
  assert.equal(thief.cookies.size, 0)
})

test('the secret of a session is no token, that of a token no session, and a token goes before a cookie', async () => {
  const own = await signedIn(await person())
  const value = own.cookies.get('dealwright_session')!
  for (const headers of [{ authorization: `Bearer ${value}` }, { authorization: '', 'x-api-key': value }])
    assert.deepEqual(said(await call('GET', session, undefined, headers as never)), [401, 3001])
  const { token } = (await call('POST', `${v1}/token`, { name: 'One', scopes: ['deal:read'] })).body.data
  const other = browser(url)
  other.cookies.set('dealwright_session', token)
  assert.deepEqual(said(await other.send('GET', session)), [401, 3001])
  const asToken = await own.send('GET', session, undefined, { authorization: `Bearer ${token}` })
  assert.deepEqual([asToken.body.data.user.id, asToken.body.data.session], [1, null])
  const bad = await own.send('GET', session, undefined, { authorization: 'Bearer nothing' })
  assert.deepEqual(said(bad), [401, 3001])
})

test('another site can make a browser write nothing: with the cookie only the own pages write', async () => {
  const one = await person()
  const own = await signedIn(one)
  const tag = (headers: { [name: string]: string }) =>
    own.send('POST', `${v1}/tag`, { name: `Tag ${Math.random()}` }, headers)
  const host = new URL(url).host
  const refused = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
    { 'sec-fetch-site': '', origin: 'https://evil.example' },
    { 'sec-fetch-site': '', origin: `http://evil.${host}` },
    { 'sec-fetch-site': '', origin: `https://${host}` },
    { 'sec-fetch-site': '', origin: 'null' },
    { 'sec-fetch-site': '' },
  ]
  for (const headers of refused)
    assert.deepEqual(said(await tag(headers as never)), [403, 3002], JSON.stringify(headers))
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': '', origin: `http://${host}` },
  ])
    assert.equal((await tag(headers as never)).status, 201, JSON.stringify(headers))
  // Reading changes nothing, and another site can't see the answer.
  const read = await own.send('GET', session, undefined, { 'sec-fetch-site': 'cross-site' })
  assert.deepEqual([read.status, read.headers['access-control-allow-origin']], [200, undefined])
  const cross = { 'sec-fetch-site': 'cross-site' }
  assert.equal((await own.send('DELETE', session, undefined, cross)).status, 403)
  assert.equal((await own.send('GET', session)).status, 200)
  // Login CSRF: another site's form signs nobody in, with a cookie or without; a program without a browser
  // may.
  const body = { email: one.email, password: secret }
  assert.deepEqual(said(await browser(url).send('POST', session, body, cross)), [403, 3002])
  assert.deepEqual(said(await own.send('POST', session, body, { 'sec-fetch-site': '' })), [403, 3002])
  const form = await browser(url).send('POST', session, body, { 'content-type': 'text/plain' })
  assert.equal(form.status, 415)
  assert.equal((await browser(url).send('POST', session, body, { 'sec-fetch-site': '' })).status, 201)
})

test('a wrong password, an unknown e-mail and a user without a password: one answer, and one hash each', async () => {
  const [one, without] = [await person(), await person('Member', null)]
  const attempts = [
    { email: one.email, password: 'not the right one' },
    { email: 'nobody@example.com', password: 'not the right one' },
    { email: without.email, password: 'not the right one' },
    { email: 'no e-mail at all', password: 'not the right one' },
    { email: `${'x'.repeat(31_000)}@example.com`, password: 'not the right one' },
    { email: `${one.email}\0`, password: 'not the right one' },
    { email: `${one.email}\ud800`, password: 'not the right one' },
    { email: one.email, password: 'x'.repeat(20_000) },
    { email: one.email, password: secret, account: 77 },
  ]
  const answers = []
  for (const body of attempts) {
    const before = hashing.computed
    const page = await browser(url).send('POST', session, body)
    answers.push([page.status, page.text.replace(/"requestId":"[^"]+"/, ''), hashing.computed - before])
    assert.equal(page.cookies.length, 0)
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.deepEqual([answers[0]![0], answers[0]![2]], [401, 1])
})

test('an e-mail has only characters that are seen', async () => {
  for (const email of [
    'a\x1b]0;pwn\x07@example.com',
    'a\u200b@example.com',
    '\u202ea@example.com',
    'a@exam\u00adple.com',
    '<a@example.com>',
    'a b@example.com',
  ]) {
    const made = await call('POST', `${v1}/user`, { name: 'Unseen', email })
    assert.deepEqual([made.status, ...problemsOf(made)], [422, '/email invalid_email'], JSON.stringify(email))
  }
  const made = await call('POST', `${v1}/user`, { name: 'Seen', email: 'zoë+crm@bücher.example' })
  assert.equal(made.status, 201, made.text)
})

test('an e-mail that is too long is nobody’s, and all such count as one', async () => {
  stoppedAt = performance.now()
  // Longer in bytes than in characters.
  const longest = `${'🦊'.repeat(308)}@example.com`
  const made = await call('POST', `${v1}/user`, { name: 'Long', email: longest, role: 'Member' })
  const { id } = made.body.data
  const own = { id, email: longest, path: `${v1}/user/${id}` }
  const invitation = { link: await link(own), password: secret }
  assert.equal((await browser(url).send('POST', session, invitation)).status, 201)
  await signedIn(own)
  const statuses = []
  for (let attempt = 0; attempt < 12; attempt++) {
    const email = `${'x'.repeat(309 + attempt)}@example.com`
    statuses.push((await browser(url).send('POST', session, { email, password: 'guessed' })).status)
  }
  assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(2).fill(429)])
  await signedIn(own)
  stoppedAt = null
})

test('wrong passwords are slowed down for their e-mail, whoever has it, and not for others', async () => {
  const [one, other] = [await person(), await person()]
  stoppedAt = performance.now()
  for (const email of [one.email, 'unknown@example.com']) {
    const statuses = []
    for (let attempt = 0; attempt < 13; attempt++) {
      const page = await browser(url).send('POST', session, { email, password: 'guessed' })
      statuses.push(page.status)
      if (page.status === 429) {
        assert.equal(page.body.code, 6004)
        assert.ok(Number(page.headers['retry-after']) >= 1)
      }
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429, 429])
  }
  await signedIn(other)
  const before = hashing.computed
  const right = await browser(url).send('POST', session, { email: one.email, password: secret })
  // Even the right password has to wait, so that the answer does not reveal it.
  assert.deepEqual([right.status, hashing.computed], [429, before])
  time += 1000
  const next = await browser(url).send('POST', session, { email: one.email, password: 'guessed' })
  assert.equal(next.status, 401)
  // The next wait is twice as long.
  time += 1000
  assert.equal((await browser(url).send('POST', session, { email: one.email, password: secret })).status, 429)
  time += 1000
  // The right password is no attempt: it makes the next wait no longer, and ends none.
  for (let again = 0; again < 3; again++) await signedIn(one)
  const wrong = await browser(url).send('POST', session, { email: one.email, password: 'guessed' })
  assert.equal(wrong.status, 401)
  assert.equal((await browser(url).send('POST', session, { email: one.email, password: secret })).status, 429)
  stoppedAt = null
})

test('a link signs in while wrong passwords keep the right one out', async () => {
  const one = await person()
  const open = await signedIn(one)
  stoppedAt = performance.now()
  const byPassword = async (password: string) =>
    (await browser(url).send('POST', session, { email: one.email, password })).status
  for (let attempt = 0; attempt < 10; attempt++) await byPassword('guessed')
  assert.equal(await byPassword(secret), 429)
  assert.equal((await open.send('GET', session)).status, 200)
  const body = { link: await link(one, 'reset'), password: secret }
  assert.equal((await browser(url).send('POST', session, body)).status, 201)
  stoppedAt = null
})

test('short and common passwords, and one’s own name, are refused by name', async () => {
  const one = await person('Member', null)
  const invitation = await link(one)
  const send = (password: string) => browser(url).send('POST', session, { link: invitation, password })
  for (const [password, code] of [
    ['short', 'too_short'],
    ['eleven chrs', 'too_short'],
    ['🦊'.repeat(11), 'too_short'],
    ['x'.repeat(1001), 'too_long'],
    ['\ud800 seven green kettles', 'invalid_characters'],
    ['seven green\0kettles sing', 'invalid_characters'],
    ['password1234', 'common_password'],
    ['P@ssw0rd2026!', 'common_password'],
    ['Welcome_Welcome', 'common_password'],
    ['1q2w3e4r5t6y', 'common_password'],
    ['aaaaaaaaaaaaaaa', 'common_password'],
    ['abcabcabcabcabc', 'common_password'],
    ['password'.repeat(3), 'common_password'],
    ['P@ssw0rd1 '.repeat(4), 'common_password'],
    ['welcome-welcome-welcome', 'common_password'],
    ['1q2w3e4r5t6y'.repeat(9), 'common_password'],
    ['123456789012345', 'common_password'],
    ['qwertyuiop12345', 'common_password'],
    [`my ${one.email} key`, 'common_password'],
    [`so ${'Some'}one ${people} is here`, 'common_password'],
  ] as const) {
    const page = await send(password)
    assert.deepEqual(
      [page.status, ...problems(page)],
      [422, `/password ${code}`],
      `${password}: ${page.text}`,
    )
  }
  // A refused password does not use up the link. Composed and decomposed forms are the same password.
  const page = await send('Zoë läuft über die Brücke'.normalize('NFD'))
  assert.equal(page.status, 201, page.text)
  await signedIn(one, 'Zoë läuft über die Brücke'.normalize('NFC'))
})

test('half of a surrogate pair is no character of a password', async () => {
  const one = await person('Member', null)
  const password = '\ufffd seven green kettles'
  const used = await browser(url).send('POST', session, { link: await link(one), password })
  assert.equal(used.status, 201, used.text)
  const own = await signedIn(one, password)
  // Passwords are hashed as UTF-8, in which the two are the same.
  const other = password.replace('\ufffd', '\ud800')
  const refused = await browser(url).send('POST', session, { email: one.email, password: other })
  assert.deepEqual(said(refused), [401, 3003])
  const changed = await own.send('PUT', `${v1}/me/password`, { current_password: other, password: secret })
  assert.deepEqual(problems(changed), ['/current_password invalid_value'])
})

test('everybody changes how dates are shown to them, and nothing else', async () => {
  const reader = await person('Read only')
  const own = await signedIn(reader)
  const me = `${v1}/me`
  const german = await own.send('PATCH', me, { locale: 'de-DE', time_zone: 'Europe/Berlin' })
  assert.equal(german.status, 200, german.text)
  assert.deepEqual(german.body, (await own.send('GET', me)).body)
  const { locale, time_zone } = german.body.data.user
  assert.deepEqual([locale, time_zone], ['de-DE', 'Europe/Berlin'])
  const { data: events } = (await call('GET', `${v1}/user/${reader.id}/history`)).body
  const changes = events.filter(({ type }: { type: string }) => type === 'user.updated')
  assert.deepEqual([changes.length, changes[0].actor.id], [1, reader.id], JSON.stringify(changes))
  assert.equal((await own.send('PATCH', me, { time_zone: null })).body.data.user.time_zone, null)
  assert.deepEqual(problems(await own.send('PATCH', me, { role: 1, locale: 'en-US' })), [
    '/role unknown_field',
  ])
  assert.deepEqual(problems(await own.send('PATCH', me, { time_zone: 'Mars' })), [
    '/time_zone unknown_time_zone',
  ])
  assert.equal((await own.send('PATCH', me, [])).status, 422)
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`no/${n}`, 1]))
  const refused = await own.send('PATCH', me, many)
  assert.deepEqual([refused.status, refused.body.errors.length], [422, 500])
  assert.equal(refused.body.errors[0].path, '/no~10')
  assert.equal((await own.send('PATCH', `${me}?x=1`, { locale: 'sv' })).status, 400)
  assert.deepEqual(problems(await own.send('PATCH', me, { time_zone: '+01:00' })), [
    '/time_zone unknown_time_zone',
  ])
  const keyed = (locale: string, key: string) => own.send('PATCH', me, { locale }, { 'idempotency-key': key })
  for (const [locale, key, status] of [
    ['pt', 'first', 200],
    ['de-DE', 'second', 200],
    ['pt', 'first', 200],
    ['cs', 'first', 422],
  ] as const)
    assert.equal((await keyed(locale, key)).status, status, `${locale} ${key}`)
  assert.equal((await own.send('PATCH', `${v1}/user/${reader.id}`, { locale: 'en-US' })).status, 403)
  assert.equal((await own.send('GET', me)).body.data.user.locale, 'de-DE')
})

test('a token without scopes does what everybody does for themselves, and nothing else', async () => {
  for (const role of ['Administrator', 'Member']) {
    const one = await person(role)
    await signedIn(one)
    for (const scopes of [[], ['deal:read']]) {
      const made = await call('POST', `${v1}/token`, { name: 'Bare', user: one.id, scopes })
      const bare = { authorization: `Bearer ${made.body.data.token}` }
      const changed = await call('PATCH', `${v1}/me`, { locale: scopes.length ? 'sv-SE' : 'de-DE' }, bare)
      assert.equal(changed.status, 200, `${role} ${scopes}: ${changed.text}`)
      assert.deepEqual(changed.body.data.scopes, scopes)
      const [used] = (await call('GET', `${session}/list`, undefined, bare)).body.data
      assert.equal((await call('DELETE', `${session}/${used.id}`, undefined, bare)).status, 200)
      assert.equal((await call('PATCH', one.path, { locale: 'cs' }, bare)).status, 403)
    }
  }
})

test('another password ends the other sessions, and needs the current one', async () => {
  const one = await person()
  const [here, there] = [await signedIn(one), await signedIn(one)]
  const put = (current_password: string, password: string) =>
    here.send('PUT', `${v1}/me/password`, { current_password, password })
  const next = 'forty quiet rivers run'
  assert.deepEqual(problems(await put('wrong', next)), ['/current_password invalid_value'])
  assert.deepEqual(problems(await put('', next)), ['/current_password required'])
  assert.deepEqual(problems(await put('', 'short')), ['/current_password required', '/password too_short'])
  assert.deepEqual(problems(await put('wrong', 'short')), [
    '/current_password invalid_value',
    '/password too_short',
  ])
  assert.deepEqual(problems(await put(secret, 'short')), ['/password too_short'])
  const changed = await put(secret, next)
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await here.send('GET', session)).status, 200)
  assert.deepEqual(said(await there.send('GET', session)), [401, 3001])
  const old = await browser(url).send('POST', session, { email: one.email, password: secret })
  assert.deepEqual(said(old), [401, 3003])
  await signedIn(one, next)
  const found = await rows(
    `SELECT type, changes::text AS changes, request_id FROM event WHERE account_id = 1
      AND record_id = $1::bigint AND type NOT IN ('user.created') ORDER BY seq`,
    String(one.id),
  )
  assert.deepEqual(
    found.map(row => row.type),
    ['user.link_created', 'user.password_changed', 'user.password_changed'],
  )
  assert.ok(found.every(row => !/dwl_|argon|kettles|rivers/.test(row.changes!)))
  // Each event names its request, by link or not (D69).
  assert.ok(
    found.every(row => row.request_id !== null),
    JSON.stringify(found),
  )
})

test('a first password: an administrator sets it, for others a link does', async () => {
  const withoutPassword = async (role: string) => {
    const one = await person(role, null)
    const catalog = await loadCatalog(db, resources, 1)
    const { secret: toSignIn } = (await createLink(db, { catalog, actor: 1 }, one.id, 'sign_in'))!
    const own = browser(url)
    assert.equal((await own.send('POST', session, { link: toSignIn })).status, 201)
    const put = (body: object) => own.send('PUT', `${v1}/me/password`, { password: secret, ...body })
    return { one, put }
  }
  const clerk = await withoutPassword('Manager')
  for (const body of [{}, { current_password: secret }])
    assert.deepEqual(problems(await clerk.put(body)), ['/current_password invalid_value'])
  const owner = await withoutPassword('Administrator')
  assert.deepEqual(problems(await owner.put({ current_password: 'x' })), ['/current_password invalid_value'])
  assert.deepEqual(problems(await owner.put({ password: 'short' })), ['/password too_short'])
  assert.equal((await owner.put({})).status, 200)
  await signedIn(owner.one)
  // From now on it is required. Of two concurrent first passwords, one is set.
  assert.deepEqual(problems(await owner.put({})), ['/current_password required'])
  const racing = await withoutPassword('Administrator')
  const pages = await Promise.all([racing.put({}), racing.put({})])
  assert.equal(pages.filter(({ status }) => status === 200).length, 1)
})

test('one’s own sessions are listed and ended, nobody else’s', async () => {
  const [one, other] = [await person(), await person()]
  const [here, there, stranger] = [await signedIn(one), browser(url), await signedIn(other)]
  const there2 = await there.send(
    'POST',
    session,
    { email: one.email, password: secret },
    { 'user-agent': 'Reader/2' },
  )
  const id = there2.body.data.session.id
  const list = (await here.send('GET', `${session}/list`)).body.data
  assert.equal(list.filter((item: { is_current: boolean }) => item.is_current).length, 1)
  const item = list.find((found: { id: number }) => found.id === id)
  assert.deepEqual(
    [item.user_agent, item.address, item.is_current, Object.keys(item)],
    [
      'Reader/2',
      '127.0.0.1',
      false,
      ['id', 'created_at', 'last_used_at', 'address', 'user_agent', 'is_current'],
    ],
  )
  assert.match(item.created_at, /^\d{4}-.*Z$/)
  assert.deepEqual(said(await stranger.send('DELETE', `${session}/${id}`)), [404, 4002])
  assert.equal((await there.send('GET', session)).status, 200)
  const ended = await here.send('DELETE', `${session}/${id}`)
  assert.deepEqual([ended.status, ended.body.data], [200, { id, deleted: true }])
  assert.deepEqual(said(await there.send('GET', session)), [401, 3001])
  assert.deepEqual(said(await here.send('DELETE', `${session}/${id}`)), [404, 4002])
  assert.deepEqual(said(await call('DELETE', session)), [404, 4002])
})

test('a session ends fourteen days after its last use, which is noted at most once a minute', async () => {
  const one = await person()
  const own = await signedIn(one)
  const age = (interval: string) =>
    rows(
      `UPDATE session SET last_used_at = now() - $2::interval WHERE "user" = $1::bigint`,
      String(one.id),
      interval,
    )
  await age('13 days 23 hours')
  soon()
  // The browser's cookie is renewed for fourteen days, too.
  const secretOf = own.cookies.get('dealwright_session')!
  for (const path of [session, `${v1}/me`]) {
    const { status, cookies } = await own.send('GET', path)
    assert.equal(status, 200)
    assert.deepEqual(cookies, [
      `dealwright_session=${secretOf}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax`,
    ])
  }
  assert.equal((await call('GET', `${v1}/me`)).headers.get('set-cookie'), null)
  soon()
  // The request doesn't wait for it.
  await eventually(async () => {
    const [row] = await rows(
      `SELECT (max(last_used_at) > now() - interval '2 minutes')::text AS is_noted FROM session WHERE "user" = $1::bigint`,
      String(one.id),
    )
    return row!.is_noted === 'true'
  }, 'the use of the session is noted')
  await age('14 days 1 minute')
  soon()
  assert.deepEqual(said(await own.send('GET', session)), [401, 3001])
})

test('out of use, deleted or with another role: effective within a second, in another process too', async () => {
  const other = await another()
  for (const change of ['is_active', 'role', 'delete'] as const) {
    const one = await person('Manager')
    const own = await signedIn(one)
    const cookie = { cookie: `dealwright_session=${own.cookies.get('dealwright_session')}` }
    const ask = async () => {
      const page = await browser(other.url).send('GET', `${v1}/territory/view/list`, undefined, cookie)
      return page.status
    }
    assert.equal(await ask(), 200)
    if (change === 'delete') assert.equal((await call('DELETE', one.path)).status, 200)
    else if (change === 'role') {
      const role = await call('POST', `${v1}/role`, { name: `Little ${people}`, scopes: ['deal:read'] })
      assert.equal((await call('PATCH', one.path, { role: role.body.data.id })).status, 200)
    } else assert.equal((await call('PATCH', one.path, { is_active: 'No' })).status, 200)
    soon()
    assert.equal(await ask(), change === 'role' ? 403 : 401, change)
    if (change !== 'is_active') continue
    // Reactivation does not restore old sessions; and a link for no user is refused.
    const refused = await call('POST', `${one.path}/link`, { purpose: 'reset' })
    assert.equal(refused.status, 422, refused.text)
    assert.equal((await call('PATCH', one.path, { is_active: 'Yes' })).status, 200)
    soon()
    assert.equal(await ask(), 401)
    await signedIn(one)
  }
})

test('who would delete themselves is told so, whether by a session or by a token', async () => {
  const one = await person('Administrator')
  const own = await signedIn(one)
  const { body } = await call('POST', `${v1}/token`, { name: 'Own', user: one.id, scopes: ['admin'] })
  const token = { authorization: `Bearer ${body.data.token}` }
  for (const refused of [
    await own.send('DELETE', one.path),
    await call('DELETE', one.path, undefined, token),
  ]) {
    const { detail } = refused.body
    assert.deepEqual(
      [refused.status, detail],
      [409, "You can't delete your own user: another administrator has to."],
    )
  }
})

test('whoever is deleted is not known any more, in the second in which they still are', async () => {
  stoppedAt = performance.now()
  const one = await person()
  const own = await signedIn(one)
  assert.equal((await own.send('GET', `${v1}/me`)).status, 200)
  assert.equal((await call('DELETE', one.path)).status, 200)
  const pages = [
    await own.send('GET', `${v1}/me`),
    await own.send('GET', session),
    await own.send('PATCH', `${v1}/me`, { locale: 'sv-SE' }),
  ]
  for (const page of pages) assert.deepEqual(said(page), [401, 3001], page.text)
  stoppedAt = null
})

test('a link works once, until it is late, replaced, or its user is out of use', async () => {
  const one = await person('Member', null)
  const [first, second] = [await link(one), await link(one, 'reset')]
  assert.match(second, /^dwl_1_[0-9A-Za-z]{43}_[0-9a-z]{7}$/)
  const use = (secretOf: string, password: string | null = secret) =>
    browser(url).send('POST', session, { link: secretOf, ...(password === null ? {} : { password }) })
  assert.deepEqual(said(await use(first)), [410, 3004])
  assert.deepEqual(problems(await use(second, null)), ['/password required'])
  assert.equal((await use(second)).status, 201)
  assert.deepEqual(said(await use(second)), [410, 3004])
  for (const unknown of ['dwl_1_x', second.replace(/^dwl_1/, 'dwl_2'), `${second}0`, 'nothing'])
    assert.deepEqual(said(await use(unknown)), [401, 3001])
  const late = await link(one, 'reset')
  await rows(`UPDATE sign_in_link SET expires_at = now() - interval '1 second' WHERE used_at IS NULL`)
  assert.deepEqual(said(await use(late)), [410, 3004])
  const idle = await link(one)
  assert.equal((await call('PATCH', one.path, { is_active: 'No' })).status, 200)
  assert.equal((await call('PATCH', one.path, { is_active: 'Yes' })).status, 200)
  assert.deepEqual(said(await use(idle)), [410, 3004])
})

test('a link is taken as it was copied: the whole address, all after its #link=, or the code alone', async () => {
  const one = await person('Member', null)
  for (const asCopied of [
    (code: string) => code,
    (code: string) => `${code}&sign_in`,
    (code: string) => ` ${url}/sign-in#link=${code}\n`,
    (code: string) => `${url}/sign-in#link=${code}&sign_in`,
  ]) {
    const body = { link: asCopied(await link(one)), password: secret }
    assert.equal((await browser(url).send('POST', session, body)).status, 201, JSON.stringify(body))
  }
})

test('a reset ends all sessions and the old password; of two who use a link at once one does', async () => {
  const one = await person()
  const own = await signedIn(one)
  const reset = await link(one, 'reset')
  const passwords = Array.from({ length: 6 }, (_, index) => `many different words ${index}`)
  const pages = await Promise.all(
    passwords.map(password => browser(url).send('POST', session, { link: reset, password })),
  )
  assert.deepEqual(pages.map(page => page.status).sort(), [201, 410, 410, 410, 410, 410])
  assert.deepEqual(said(await own.send('GET', session)), [401, 3001])
  assert.equal((await browser(url).send('POST', session, { email: one.email, password: secret })).status, 401)
  await signedIn(one, passwords[pages.findIndex(page => page.status === 201)]!)
})

test('only administrators make links; the secret is told once; a link to sign in sets no password', async () => {
  const [one, clerk] = [await person(), await person('Manager')]
  const own = await signedIn(clerk)
  assert.deepEqual(said(await own.send('POST', `${one.path}/link`, { purpose: 'reset' })), [403, 3002])
  const key = { 'idempotency-key': 'one-link' }
  const made = await call('POST', `${one.path}/link`, { purpose: 'reset' }, key)
  const { link: made1, url: address, expires_at } = made.body.data
  assert.equal(address, `${url}/sign-in#link=${made1}`)
  const again = await call('POST', `${one.path}/link`, { purpose: 'reset' }, key)
  assert.deepEqual(
    [
      again.status,
      again.headers.get('idempotency-replayed'),
      again.body.data,
      again.body.meta.warnings[0].code,
    ],
    [201, 'true', { link: null, url: null, expires_at }, 'shown_once'],
  )
  for (const body of [{}, { purpose: 'sign_in' }, { purpose: 'reset', more: 1 }])
    assert.equal((await call('POST', `${one.path}/link`, body)).status, 422)
  assert.equal((await call('POST', `${v1}/user/999999/link`, { purpose: 'reset' })).status, 404)
  const catalog = await loadCatalog(db, resources, 1)
  const { secret: toSignIn } = (await createLink(db, { catalog, actor: 1 }, one.id, 'sign_in'))!
  const send = (body: { [name: string]: string }) => browser(url).send('POST', session, body)
  assert.deepEqual(problems(await send({ link: toSignIn!, password: secret })), ['/password invalid_value'])
  assert.equal((await send({ link: toSignIn! })).status, 201)
  assert.deepEqual(said(await send({ link: toSignIn! })), [410, 3004])
})

test('an e-mail in several accounts: the accounts whose password it is are named, and one is chosen', async () => {
  const one = await person()
  const { account } = await createAccount(byQueries(db), {
    name: 'Second',
    ownerName: 'Same person',
    ownerEmail: one.email,
  })
  const catalog = await loadCatalog(db, resources, account)
  const invitation = (await createLink(db, { catalog, actor: 1 }, 1, 'invitation'))!.secret!
  const set = await browser(url).send('POST', session, { link: invitation, password: 'other words for two' })
  assert.equal(set.status, 201, set.text)
  // The passwords differ: each belongs to one account.
  assert.equal((await (await signedIn(one)).send('GET', session)).body.data.account.id, 1)
  const second = await signedIn(one, 'other words for two')
  assert.equal((await second.send('GET', session)).body.data.account.id, account)
  const same = { current_password: 'other words for two', password: secret }
  assert.equal((await second.send('PUT', `${v1}/me/password`, same)).status, 200)
  const page = await browser(url).send('POST', session, { email: one.email, password: secret })
  assert.deepEqual([...said(page), page.cookies.length], [409, 3005, 0])
  assert.deepEqual(page.body.errors[0].candidates.map(({ id }: { id: number }) => id).sort(), [1, account])
  const chosen = await browser(url).send('POST', session, { email: one.email, password: secret, account })
  assert.deepEqual([chosen.status, chosen.body.data.account.name], [201, 'Second'])
  // Without the password, the answer does not reveal that there are accounts.
  const wrong = await browser(url).send('POST', session, { email: one.email, password: 'x' })
  assert.deepEqual([wrong.status, wrong.body.errors], [401, []])
  await rows('UPDATE account SET deleted_at = now() WHERE account_id = $1::bigint', String(account))
  soon()
  assert.deepEqual(said(await second.send('GET', session)), [401, 3001])
  await signedIn(one)
})

test('whoever gives a user of their own somebody’s e-mail guesses no faster in the other account', async () => {
  const attacked = async (own: string) => {
    const victim = await person()
    const { account } = await createAccount(byQueries(db), {
      name: `Attacker of ${victim.email}`,
      ownerName: 'Same e-mail',
      ownerEmail: victim.email,
    })
    const catalog = await loadCatalog(db, resources, account)
    const send = async (body: object) =>
      (await browser(url).send('POST', session, { email: victim.email, ...body })).status
    const invitation = (await createLink(db, { catalog, actor: 1 }, 1, 'invitation'))!.secret!
    const set = await browser(url).send('POST', session, { link: invitation, password: own })
    assert.equal(set.status, 201, set.text)
    return { account, send }
  }
  stoppedAt = performance.now()
  // The attacker's own right password between the guesses resets nothing.
  const own = 'words of another account'
  const first = await attacked(own)
  const statuses = []
  for (let attempt = 0; attempt < 11; attempt++) {
    statuses.push(await first.send({ account: first.account, password: own }))
    statuses.push(await first.send({ account: 1, password: 'guessed' }))
  }
  assert.deepEqual(statuses, [...Array(10).fill([201, 401]).flat(), 429, 429])
  // A guess that is the attacker's own password counts as one for both accounts.
  const second = await attacked(own)
  const guesses = []
  for (let attempt = 0; attempt < 11; attempt++) guesses.push(await second.send({ password: own }))
  assert.deepEqual(guesses, [...Array(10).fill(201), 429])
  stoppedAt = null
})

test('an e-mail that is in use in more accounts than are tried signs in where the account is named', async () => {
  const victim = await person()
  for (let index = 0; index < 5; index++) {
    const { account } = await createAccount(byQueries(db), {
      name: `Crowd ${index}`,
      ownerName: 'Same e-mail',
      ownerEmail: victim.email,
    })
    const catalog = await loadCatalog(db, resources, account)
    const invitation = (await createLink(db, { catalog, actor: 1 }, 1, 'invitation'))!.secret!
    const set = { link: invitation, password: 'words of another account' }
    assert.equal((await browser(url).send('POST', session, set)).status, 201)
  }
  const send = (body: object) => browser(url).send('POST', session, { password: secret, ...body })
  const page = await send({ email: victim.email })
  assert.deepEqual(said(page), [401, 3003])
  assert.match(page.body.detail, /needs the account, too\.$/)
  // The answer reveals nothing about the e-mail.
  assert.equal(page.body.detail, (await send({ email: 'nobody@example.com' })).body.detail)
  assert.equal((await send({ email: victim.email, account: 1 })).status, 201)
})

test('a password that was hashed with other parameters is hashed anew at the next sign-in', async () => {
  const one = await person()
  const { argon2Sync } = await import('node:crypto')
  const salt = Buffer.alloc(16, 7)
  const hash = argon2Sync('argon2id', {
    message: secret,
    nonce: salt,
    memory: 1024,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  })
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  await rows(
    'UPDATE password SET hash = $2 WHERE "user" = $1::bigint AND account_id = 1',
    String(one.id),
    `$argon2id$v=19$m=1024,t=1,p=1$${text(salt)}$${text(hash)}`,
  )
  await signedIn(one)
  const [row] = await rows(
    'SELECT hash FROM password WHERE account_id = 1 AND "user" = $1::bigint',
    String(one.id),
  )
  assert.match(row!.hash!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  await signedIn(one)
})

test('so many sign-ins at once that they would have to wait for long are refused, and the service goes on', async () => {
  const one = await person()
  const pages = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      browser(url).send('POST', session, { email: `crowd${index}@example.com`, password: 'guessed' }),
    ),
  )
  const statuses = pages.map(page => page.status)
  assert.ok(statuses.includes(503) && statuses.includes(401), String(statuses))
  const refused = pages.find(page => page.status === 503)!
  assert.deepEqual([refused.body.code, refused.headers['retry-after']], [6005, '2'])
  assert.equal((await call('GET', `${v1}/me`)).status, 200)
  await signedIn(one)
})

test('bodies that are no sign-in are refused with all that is wrong', async () => {
  for (const [body, found] of [
    [{}, ['/email required', '/password required']],
    [{ email: 1, password: [] }, ['/email wrong_type', '/password wrong_type']],
    [{ email: 'a@b', password: 'x', accout: 1 }, ['/accout unknown_field']],
    [{ email: 'a@b', password: 'x', account: 'one' }, ['/account wrong_type']],
    [{ email: 'a@b', account: '' }, ['/password required', '/account wrong_type']],
    [{ link: 'x', email: 'a@b' }, ['/email unknown_field']],
  ] as const)
    assert.deepEqual(problems(await browser(url).send('POST', session, body as never)), found)
  const unknown = await browser(url).send('POST', session, { email: 'a@b', password: 'x', acount: 1 })
  assert.match(unknown.text, /The members: email, password, account\./)
  assert.deepEqual(said(await browser(url).send('POST', session, [] as never)), [400, 1001])
  const large = await browser(url).send('POST', session, { email: 'a@b', password: 'x'.repeat(40_000) })
  assert.deepEqual(said(large), [413, 6001])
})
