/** Sign-in by an OpenID provider (D61): a real one, over real HTTP. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { browser, type Page } from '../support/browser.ts'
import { byQueries } from '../support/by-queries.ts'
import { openIdPath as path, serviceWith, signInByProvider } from '../support/openid.ts'
import { startService, v1 } from '../support/service.ts'

const plain = await startService({ sampleData: false })
const { call, db } = plain
const service = await signInByProvider(plain)
const { says, atProvider, throughProvider } = service

let people = 0
async function person(): Promise<{ id: number; email: string; path: string }> {
  const email = `openid${++people}@example.com`
  const made = await call('POST', `${v1}/user`, { name: `Person ${people}`, email })
  assert.equal(made.status, 201, made.text)
  return { id: made.body.data.id, email, path: `${v1}/user/${made.body.data.id}` }
}

const said = (page: Page) => [page.status, page.body?.code]

test('a verified e-mail signs in the one active user who has it', async () => {
  const one = await person()
  says({ email: one.email.toUpperCase(), email_verified: true })
  const own = browser(service.url)
  const begun = await own.send('GET', path)
  assert.equal(begun.status, 302)
  const address = new URL(begun.headers.location!)
  const sent = Object.fromEntries(address.searchParams)
  assert.deepEqual(
    [address.origin, sent.response_type, sent.code_challenge_method, sent.scope, sent.redirect_uri],
    [service.issuer, 'code', 'S256', 'openid email', `${service.url}${path}/callback`],
  )
  assert.ok(sent.state && sent.nonce && sent.code_challenge)
  assert.match(begun.cookies[0]!, /^dealwright_openid=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  const back = await own.send('GET', await atProvider(begun.headers.location!))
  assert.deepEqual([back.status, back.headers.location], [302, '/'])
  assert.match(
    back.cookies[1]!,
    /^dealwright_session=dws_1_\w+; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
  )
  assert.deepEqual([...own.cookies.keys()], ['dealwright_session'])
  const me = await own.send('GET', `${v1}/me`)
  assert.deepEqual([me.body.data.user.id, me.body.data.token], [one.id, null])
})

test('nobody signs in by an e-mail that is not verified, is nobody’s, or that of a user out of use', async () => {
  const [one, idle] = [await person(), await person()]
  assert.equal((await call('PATCH', idle.path, { is_active: 'No' })).status, 200)
  for (const said of [
    { email: one.email, email_verified: false },
    { email: one.email },
    { email_verified: true },
    { email: one.email, email_verified: 'true' },
    { email: 'nobody@example.com', email_verified: true },
    { email: idle.email, email_verified: true },
  ]) {
    says(said)
    const own = browser(service.url)
    const page = await throughProvider(own)
    assert.deepEqual([page.status, page.body.code], [403, 3002], `${JSON.stringify(said)} ${page.text}`)
    assert.ok(!own.cookies.has('dealwright_session'))
  }
})

test('an e-mail that only looks like that of a user signs nobody in', async () => {
  const email = 'kim@github.example'
  const made = await call('POST', `${v1}/user`, { name: 'Kim', email })
  assert.equal(made.status, 201, made.text)
  for (const other of [
    '\u212aim@github.example',
    'kim@g\u0130thub.example',
    `${email}\n`,
    ` ${email}`,
    `${email}\u00a0`,
    `${email}\0`,
  ]) {
    says({ email: other, email_verified: true })
    const own = browser(service.url)
    assert.deepEqual(said(await throughProvider(own)), [403, 3002], JSON.stringify(other))
    assert.ok(!own.cookies.has('dealwright_session'))
  }
  says({ email: 'Kim@GitHub.example', email_verified: true })
  const own = browser(service.url)
  assert.equal((await throughProvider(own)).status, 302)
  assert.equal((await own.send('GET', `${v1}/me`)).body.data.user.email, email)
})

test('a callback that the browser did not begin, that was used, or that was tampered with signs nobody in', async () => {
  const one = await person()
  says({ email: one.email, email_verified: true })
  const [own, attacker] = [browser(service.url), browser(service.url)]
  const begun = await attacker.send('GET', path)
  const callback = await atProvider(begun.headers.location!)
  // Login CSRF: the attacker's callback in another browser, without a cookie, and with that of another
  // sign-in.
  assert.deepEqual(said(await own.send('GET', callback)), [401, 3001])
  await own.send('GET', path)
  assert.deepEqual(said(await own.send('GET', callback)), [401, 3001])
  assert.ok(!own.cookies.has('dealwright_session'))
  const kept = new Map(attacker.cookies)
  const other = (name: string, value: string) => {
    const changed = new URL(callback)
    changed.searchParams.set(name, value)
    return changed.href
  }
  assert.deepEqual(said(await attacker.send('GET', other('state', 'x'))), [401, 3001])
  assert.deepEqual(said(await attacker.send('GET', other('iss', 'https://evil.example'))), [401, 3001])
  for (const cookie of [
    'x',
    Buffer.from('{"state":1}').toString('base64url'),
    Buffer.from('[]').toString('base64url'),
  ]) {
    attacker.cookies.set('dealwright_openid', cookie)
    assert.deepEqual(said(await attacker.send('GET', callback)), [401, 3001])
  }
  for (const [name, value] of kept) attacker.cookies.set(name, value)
  assert.equal((await attacker.send('GET', callback)).status, 302)
  for (const [name, value] of kept) attacker.cookies.set(name, value)
  assert.deepEqual(said(await attacker.send('GET', callback)), [401, 3001])
  const denied = `${path}/callback?error=access_denied&state=x`
  await own.send('GET', path)
  assert.deepEqual(said(await own.send('GET', denied)), [401, 3001])
})

test('signing in leads to the path that was asked for, and to no other host', async () => {
  const one = await person()
  says({ email: one.email, email_verified: true })
  const to = '/deals?filter=status%3Aeq(Open)&deal=7'
  const page = await throughProvider(browser(service.url), `?${new URLSearchParams({ to })}`)
  assert.deepEqual([page.status, page.headers.location], [302, to])
  for (const other of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '',
    '/\r\nx',
    `/${'a'.repeat(1000)}`,
  ]) {
    const refused = await browser(service.url).send('GET', `${path}?${new URLSearchParams({ to: other })}`)
    assert.deepEqual([refused.status, refused.body?.errors[0].parameter], [400, 'to'], other)
  }
})

test('a browser is shown why signing in ended, and the accounts to choose from', async () => {
  const accept = { accept: 'text/html,*/*;q=0.8' }
  const shownAt = async (to = '') => {
    const own = browser(service.url)
    const begun = await own.send('GET', path + to)
    return { own, page: await own.send('GET', await atProvider(begun.headers.location!), undefined, accept) }
  }
  says({ email: 'no<b>body@example.com', email_verified: true })
  const { page: nobody } = await shownAt('?to=/deals%3Fpage=2')
  assert.deepEqual([nobody.status, nobody.headers['content-type']], [403, 'text/html; charset=utf-8'])
  assert.match(nobody.text, /has the e-mail no&lt;b&gt;body@example\.com: ask an administrator/)
  assert.match(nobody.text, /href="\/sign-in\?to=%2Fdeals%3Fpage%3D2"/)
  assert.match(nobody.headers['content-security-policy']!, /^default-src 'none'/)

  const one = await person()
  const name = 'R&D <b>"x"</b>'
  const tx = byQueries(db)
  const { account } = await createAccount(tx, { name, ownerName: 'Both', ownerEmail: one.email })
  says({ email: one.email, email_verified: true })
  const { own, page } = await shownAt('?to=/products')
  assert.equal(page.status, 409)
  assert.match(page.text, /<h1[^>]*>Which account\?<\/h1>/)
  assert.match(page.text, />R&amp;D &lt;b&gt;&quot;x&quot;&lt;\/b&gt;<\/a>/)
  const links = [...page.text.matchAll(/href="([^"]*openid[^"]*)"/g)].map(([, link]) =>
    link!.replaceAll('&amp;', '&'),
  )
  assert.deepEqual(links, [`${path}?account=1&to=%2Fproducts`, `${path}?account=${account}&to=%2Fproducts`])
  const begun = await own.send('GET', links[1]!)
  const back = await own.send('GET', await atProvider(begun.headers.location!))
  assert.deepEqual([back.status, back.headers.location], [302, '/products'])
  const me = await own.send('GET', `${v1}/me`)
  assert.equal(me.body.data.account.id, account)
})

test('without a provider there is nothing; one that is not there is refused, and asked again later', async () => {
  assert.deepEqual(said(await browser(plain.url).send('GET', path)), [404, 4001])
  const gone = await serviceWith(plain, { issuer: 'http://127.0.0.1:9', clientId: 'x', clientSecret: 'y' })
  const page = await browser(gone.url).send('GET', path)
  assert.deepEqual([...said(page), page.headers['retry-after']], [503, 9003, '5'])
  assert.equal((await call('GET', `${v1}/me`)).status, 200)
})
