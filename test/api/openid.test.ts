/** Sign-in by an OpenID provider (D61): a real one, over real HTTP. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import Provider from 'oidc-provider'
import { buildApp } from '../../src/app.ts'
import { type Browser, browser, type Page } from '../support/browser.ts'
import { startService, v1 } from '../support/service.ts'

const { call, db, url: plainUrl } = await startService({ sampleData: false })
const client = { id: 'dealwright', secret: 'a secret of the provider and the service' }

/** Who is signed in at the provider, and what it says of them. */
let claims: { [name: string]: unknown } = {}

const provider = await listening(createServer())
const service = await serviceWith({ issuer: provider.url, clientId: client.id, clientSecret: client.secret })
const oidc = new Provider(provider.url, {
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      redirect_uris: [`${service.url}${v1}/session/openid/callback`],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...claims }) }),
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
})
provider.server.on('request', oidc.callback())

async function listening(server: Server): Promise<{ server: Server; url: string }> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Another process of the service, with a provider. */
async function serviceWith(openId: { issuer: string; clientId: string; clientSecret: string }) {
  // The address is known when it listens; the service has to know it before.
  const { server, url } = await listening(createServer())
  await new Promise(resolve => server.close(resolve))
  const { pino } = await import('pino')
  const log = pino({ level: 'silent' })
  const app = buildApp({ db, now: () => new Date(), log, publicUrl: url, openId })
  await app.listen({ port: Number(new URL(url).port), host: '127.0.0.1' })
  after(() => app.close())
  return { url }
}

const path = `${v1}/session/openid`

/** Goes where the provider sends a browser, signing in there; the address of the callback. */
async function atProvider(start: string): Promise<string> {
  const there = browser(provider.url)
  let page = await there.send('GET', start)
  for (let step = 0; step < 12; step++) {
    const location = page.headers.location
    if (location?.startsWith(service.url)) return location
    if (location) page = await there.send('GET', location)
    else page = await submitted(there, page)
  }
  throw new Error(`the provider sends nobody back: ${page.status} ${page.text}`)
}

/** Submits the form of the provider's page. */
async function submitted(there: Browser, page: Page): Promise<Page> {
  const action = /action="([^"]+)"/.exec(page.text)?.[1]
  const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1]
  assert.ok(action && prompt, page.text)
  const form = new URLSearchParams({
    prompt,
    ...(prompt === 'login' ? { login: 'somebody', password: 'any' } : {}),
  })
  const cookie = [...there.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await fetch(new URL(action, provider.url), {
    method: 'POST',
    body: form,
    headers: { cookie },
    redirect: 'manual',
  })
  for (const line of reply.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    there.cookies.set(name!, value!)
  }
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    cookies: [],
    text: await reply.text(),
    body: null,
  }
}

/** A sign-in from beginning to end. */
async function throughProvider(own = browser(service.url), query = ''): Promise<Page> {
  const begun = await own.send('GET', path + query)
  assert.equal(begun.status, 302, begun.text)
  return own.send('GET', await atProvider(begun.headers.location!))
}

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
  claims = { email: one.email.toUpperCase(), email_verified: true }
  const own = browser(service.url)
  const begun = await own.send('GET', path)
  assert.equal(begun.status, 302)
  const address = new URL(begun.headers.location!)
  const sent = Object.fromEntries(address.searchParams)
  assert.deepEqual(
    [address.origin, sent.response_type, sent.code_challenge_method, sent.scope, sent.redirect_uri],
    [provider.url, 'code', 'S256', 'openid email', `${service.url}${path}/callback`],
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
    claims = said
    const own = browser(service.url)
    const page = await throughProvider(own)
    assert.deepEqual([page.status, page.body.code], [403, 3002], `${JSON.stringify(said)} ${page.text}`)
    assert.ok(!own.cookies.has('dealwright_session'))
  }
})

test('a callback that the browser did not begin, that was used, or that was tampered with signs nobody in', async () => {
  const one = await person()
  claims = { email: one.email, email_verified: true }
  const [own, attacker] = [browser(service.url), browser(service.url)]
  const begun = await attacker.send('GET', path)
  const callback = await atProvider(begun.headers.location!)
  // The attacker's callback in another browser: without a cookie, and with that of another sign-in.
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

test('without a provider there is nothing; one that is not there is refused, and asked again later', async () => {
  assert.deepEqual(said(await browser(plainUrl).send('GET', path)), [404, 4001])
  const gone = await serviceWith({ issuer: 'http://127.0.0.1:9', clientId: 'x', clientSecret: 'y' })
  const page = await browser(gone.url).send('GET', path)
  assert.deepEqual([...said(page), page.headers['retry-after']], [503, 9003, '5'])
  assert.equal((await call('GET', `${v1}/me`)).status, 200)
})
