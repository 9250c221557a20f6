/** OAuth for agents (D170): a person connects a program by pasting one address, sees it and stops it. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Json } from '../../src/json.ts'
import { forgetExpired } from '../../src/work/background/expired.ts'
import { agentOf } from '../support/agent.ts'
import { browser } from '../support/browser.ts'
import { password, person } from '../support/good-requests.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, made, url, another } = service

/** A signed-in person's browser. */
async function signedIn(email?: string) {
  const own = browser(url)
  const entered = await own.send('POST', `${v1}/session`, {
    email: email ?? (await person(service)),
    password,
  })
  assert.equal(entered.status, 201, entered.text)
  return own
}

const form = async (path: string, fields: Record<string, string>, from = url) => {
  const reply = await fetch(from + path, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: reply.status, body: (await reply.json()) as { [name: string]: string } }
}

const redirect_uri = 'http://127.0.0.1:5000/callback'

async function register(members: { [name: string]: Json } = {}) {
  const body = { client_name: 'Desk', redirect_uris: [redirect_uri], ...members }
  const { status, body: client } = await call('POST', '/oauth/register', body, { authorization: '' })
  return { status, client }
}

function pkce() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const asking = (client_id: string, challenge: string) => ({
  ...{ client_id, redirect_uri, response_type: 'code', code_challenge: challenge },
  ...{ code_challenge_method: 'S256', state: 'a state' },
})

/** The code that a person's consent gives. */
async function codeOf(page: Awaited<ReturnType<typeof signedIn>>, asked: object, choice: object = {}) {
  const reply = await page.send('POST', `${v1}/authorization`, {
    ...asked,
    access: 'write',
    days: 30,
    ...choice,
  })
  assert.equal(reply.status, 200, reply.text)
  const redirect = new URL(JSON.parse(reply.text).data.redirect)
  return { code: redirect.searchParams.get('code')!, redirect }
}

test('the metadata tell where to ask', async () => {
  const refused = await call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { authorization: '' },
  )
  assert.equal(refused.status, 401)
  const [, place] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate')!)!
  const resource = (await (await fetch(place!)).json()) as {
    resource: string
    authorization_servers: string[]
    scopes_supported: string[]
  }
  assert.equal(resource.resource, `${url}/mcp`)
  assert.deepEqual(resource.authorization_servers, [url])
  // Programs ask for all of these: writing at once is left to the person.
  assert.deepEqual(resource.scopes_supported, ['read', 'write'])
  const server = (await get('/.well-known/oauth-authorization-server')).body
  assert.equal(server.issuer, url)
  assert.deepEqual(server.code_challenge_methods_supported, ['S256'])
  assert.equal(server.client_id_metadata_document_supported, true)
})

test('the SDK’s client connects by one address: registration, consent, token, tools', async () => {
  const own = await signedIn()
  let code = ''
  const kept: { client?: unknown; tokens?: unknown; verifier?: string } = {}
  const provider: OAuthClientProvider = {
    redirectUrl: redirect_uri,
    clientMetadata: { client_name: 'SDK agent', redirect_uris: [redirect_uri] },
    clientInformation: () => kept.client as never,
    saveClientInformation: client => void Object.assign(kept, { client }),
    tokens: () => kept.tokens as never,
    saveTokens: tokens => void Object.assign(kept, { tokens }),
    saveCodeVerifier: verifier => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier!,
    // The page of the web UI does the same.
    redirectToAuthorization: async address => {
      assert.equal(address.origin + address.pathname, `${url}/connect`)
      const asked = Object.fromEntries(address.searchParams)
      const shown = await own.send('GET', `${v1}/authorization?${address.searchParams}`)
      assert.equal(shown.status, 200, shown.text)
      code = (await codeOf(own, asked)).code
    },
  }
  const connecting = new Client({ name: 'SDK agent', version: '1' })
  const first = new StreamableHTTPClientTransport(new URL('/mcp', url), { authProvider: provider })
  await assert.rejects(connecting.connect(first))
  await first.finishAuth(new URLSearchParams({ code, iss: url }))
  const client = new Client({ name: 'SDK agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { authProvider: provider }))
  after(() => client.close())
  const { use } = agentOf(client)
  const { body } = await use('describe')
  assert.match(body.may_write, /deal/)
  const tokens = (await get(`${v1}/token/view/list?filter=agent:eq(SDK agent)`)).body.data
  assert.equal(tokens.length, 1)
  assert.equal(tokens[0].name, 'SDK agent')
  assert.ok(tokens[0].expires_at)
  // One button stops it.
  await call('DELETE', `${v1}/token/${tokens[0].id}`)
  service.aSecondGoesBy()
  await assert.rejects(use('describe'))
})

test('a code is good once, for its program, its address and its verifier', async () => {
  const own = await signedIn()
  const { client } = await register()
  const { verifier, challenge } = pkce()
  const asked = asking(client.client_id, challenge)
  const exchange = (fields: Record<string, string>, from = url) =>
    form(
      '/oauth/token',
      {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        redirect_uri,
        code_verifier: verifier,
        ...fields,
      },
      from,
    )
  for (const wrong of [
    { code_verifier: pkce().verifier },
    { client_id: 'registered:x' },
    { redirect_uri: `${redirect_uri}/other` },
  ]) {
    const { code } = await codeOf(own, asked)
    const refused = await exchange({ code, ...wrong })
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_grant'])
    // It is used up.
    assert.equal((await exchange({ code })).body.error, 'invalid_grant')
  }
  const { code, redirect } = await codeOf(own, asked)
  assert.deepEqual([redirect.searchParams.get('state'), redirect.searchParams.get('iss')], ['a state', url])
  // Another process exchanges it.
  const other = await another()
  const issued = await exchange({ code }, other.url)
  assert.equal(issued.status, 200, JSON.stringify(issued.body))
  assert.match(issued.body.access_token!, /^dw_1_/)
  assert.equal(issued.body.token_type, 'Bearer')
  assert.equal((await exchange({ code })).body.error, 'invalid_grant')
  const late = await codeOf(own, asked)
  await db.query("UPDATE oauth_code SET valid_until = now() - interval '1 second' WHERE account_id = 1")
  assert.equal((await exchange({ code: late.code })).body.error, 'invalid_grant')
  for (const [fields, error] of [
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ code: '' }, 'invalid_request'],
    [{ code: 'x', resource: 'https://other.example/mcp' }, 'invalid_target'],
  ] as const)
    assert.equal((await exchange(fields as unknown as Record<string, string>)).body.error, error)
  // The token ends itself.
  const revoked = await form('/oauth/revoke', { token: issued.body.access_token! })
  assert.equal(revoked.status, 200)
  const me = await call('GET', `${v1}/me`, undefined, { authorization: `Bearer ${issued.body.access_token}` })
  assert.equal(me.status, 401)
  assert.equal((await form('/oauth/revoke', { token: 'unknown' })).status, 200)
})

test('a person allows no more than they may, and as little as they like', async () => {
  const scopes = ['deal:read', 'contact:read', 'pipeline_stage:read']
  const role = await made('role', { name: 'Looks on', scopes })
  const email = await person(service)
  const [user] = (await get(`${v1}/user/view/list?filter=email:eq(${email})`)).body.data
  await call('PATCH', `${v1}/user/${user.id}`, { role: role.id })
  const own = await signedIn(email)
  const { client } = await register()
  const { verifier, challenge } = pkce()
  const asked = asking(client.client_id, challenge)
  const shown = JSON.parse(
    (await own.send('GET', `${v1}/authorization?${new URLSearchParams(asked)}`)).text,
  ).data
  assert.deepEqual(shown.client, { name: 'Desk', host: null })
  assert.deepEqual([shown.choices, shown.redirect_to], [['read'], 'this computer (127.0.0.1)'])
  assert.match(shown.deny, /error=access_denied/)
  const { code } = await codeOf(own, asked, { access: 'write_at_once', days: null })
  const issued = await form('/oauth/token', {
    ...{ grant_type: 'authorization_code', client_id: client.client_id, redirect_uri },
    ...{ code, code_verifier: verifier },
  })
  assert.deepEqual(issued.body.scope?.split(' ').toSorted(), scopes.toSorted())
  assert.equal(issued.body.expires_in, undefined)
})

test('the end and the scopes that a person chose hold, whatever their role locks or hides', async () => {
  for (const fields of ['locked_fields', 'hidden_fields'] as const) {
    const scopes = ['deal:read', 'token:read']
    const hides = { [fields]: ['token.expires_at', 'token.scopes'] }
    const role = await made('role', { name: `With ${fields}`, scopes, ...hides })
    const email = await person(service)
    const [user] = (await get(`${v1}/user/view/list?filter=email:eq(${email})`)).body.data
    await call('PATCH', `${v1}/user/${user.id}`, { role: role.id })
    const { client } = await register()
    const { verifier, challenge } = pkce()
    const asked = asking(client.client_id, challenge)
    const { code } = await codeOf(await signedIn(email), asked, { access: 'read', days: 30 })
    const issued = await form('/oauth/token', {
      ...{ grant_type: 'authorization_code', client_id: client.client_id, redirect_uri },
      ...{ code, code_verifier: verifier },
    })
    assert.equal(issued.body.expires_in, 30 * 86_400, fields)
    const [token] = (await get(`${v1}/token/view/list?filter=user:eq(${user.id})`)).body.data
    assert.deepEqual([token.scopes, token.expires_at !== null], [['deal:read'], true], fields)
  }
})

test('what a program asks for is offered, but never writing at once', async () => {
  const own = await signedIn()
  const { client } = await register()
  for (const [scope, offered] of [
    [undefined, 'write'],
    ['read', 'read'],
    ['read write', 'write'],
    ['read write write_at_once', 'write'],
    ['write_at_once', 'write'],
  ] as const) {
    const asked = { ...asking(client.client_id, pkce().challenge), ...(scope ? { scope } : {}) }
    const reply = await own.send('GET', `${v1}/authorization?${new URLSearchParams(asked)}`)
    assert.equal(JSON.parse(reply.text).data.asked_for, offered, scope)
  }
})

test('codes and changes whose time is over are deleted, and no others', async () => {
  const own = await signedIn()
  const { client } = await register()
  const asked = asking(client.client_id, pkce().challenge)
  await codeOf(own, asked)
  const count = async () =>
    Number((await db.query('SELECT count(*)::text AS n FROM oauth_code WHERE account_id = 1'))[0]!.n)
  await forgetExpired(db, 1)
  const before = await count()
  assert.ok(before > 0)
  await db.query("UPDATE oauth_code SET valid_until = now() - interval '1 second' WHERE account_id = 1")
  await codeOf(own, asked)
  await forgetExpired(db, 1)
  assert.equal(await count(), 1)
})

test('only a signed-in person connects a program, from the service’s own pages', async () => {
  const { client } = await register()
  const asked = asking(client.client_id, pkce().challenge)
  const byToken = await call('POST', `${v1}/authorization`, { ...asked, access: 'read' })
  assert.equal(byToken.status, 403)
  assert.match(byToken.body.detail, /signed-in person/)
  const own = await signedIn()
  const foreign = await own.send(
    'POST',
    `${v1}/authorization`,
    { ...asked, access: 'read' },
    { 'sec-fetch-site': 'cross-site' },
  )
  assert.equal(foreign.status, 403)
  for (const [change, code] of [
    [{ response_type: 'token' }, 'response_type'],
    [{ code_challenge_method: 'plain' }, 'code_challenge'],
    [{ code_challenge: 'short' }, 'code_challenge'],
    [{ redirect_uri: 'https://evil.example/' }, 'redirect_uri'],
    [{ client_id: 'nonsense' }, 'client_id'],
    [{ client_id: 'registered:nonsense' }, 'client_id'],
    [{ resource: 'https://other.example/mcp' }, 'resource'],
    [{ access: 'everything' }, 'access'],
    [{ days: 0 }, 'days'],
    [{ colour: 'blue' }, 'colour'],
  ] as const) {
    const refused = await own.send('POST', `${v1}/authorization`, { ...asked, access: 'read', ...change })
    assert.equal(refused.status, 422, refused.text)
    assert.ok(refused.text.includes(`"field":"${code}"`), refused.text)
  }
  // On this machine the port may be another.
  const port = await own.send('POST', `${v1}/authorization`, {
    ...asked,
    access: 'read',
    redirect_uri: 'http://127.0.0.1:61234/callback',
  })
  assert.equal(port.status, 200, port.text)
})

test('what no program may register', async () => {
  for (const redirect_uris of [
    [],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://evil.example/callback'],
    ['https://user:secret@example.com/'],
    ['https://example.com/#fragment'],
    ['ms-msdt:/id'],
    ['nonsense'],
  ]) {
    const { status, client } = await register({ redirect_uris })
    assert.deepEqual([status, client.error], [400, 'invalid_redirect_uri'], JSON.stringify(redirect_uris))
  }
  const { status } = await register({ redirect_uris: ['cursor://anysphere.cursor/oauth/callback'] })
  assert.equal(status, 201)
  const { client } = await register({ client_name: `\u202eClaude\n${'x'.repeat(200)}` })
  assert.match(client.client_name, /^Claude x+$/)
  assert.equal(client.client_name.length, 80)
})

test('a registration stores nothing: the client_id holds the description', async () => {
  const [one, other] = [await register(), await register()]
  assert.equal(one.client.client_id, other.client.client_id)
  const [kind, text] = one.client.client_id.split(':')
  assert.deepEqual(
    [kind, JSON.parse(Buffer.from(text, 'base64url').toString())],
    ['registered', { client_name: 'Desk', redirect_uris: [redirect_uri] }],
  )
})

/** A server with the description of a program; `location`: it redirects there. */
async function described(answer: (self: string) => string, location?: string): Promise<string> {
  const server = createServer((_, response) => {
    if (location) response.writeHead(302, { location }).end()
    else response.setHeader('content-type', 'application/json').end(answer(address))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  after(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`
  return address
}

test('a program is known by the document at its address, which must name it', async () => {
  const own = await signedIn()
  const show = async (client_id: string) => {
    const asked = new URLSearchParams(asking(client_id, pkce().challenge))
    return own.send('GET', `${v1}/authorization?${asked}`)
  }
  const good = await described(client_id =>
    JSON.stringify({ client_id, client_name: 'Claude', redirect_uris: [redirect_uri] }),
  )
  const shown = await show(good)
  assert.equal(shown.status, 200, shown.text)
  assert.deepEqual(JSON.parse(shown.text).data.client, { name: 'Claude', host: new URL(good).host })
  for (const [answer, reason] of [
    [
      () =>
        JSON.stringify({
          client_id: 'https://claude.ai/other',
          client_name: 'Claude',
          redirect_uris: [redirect_uri],
        }),
      /names another/,
    ],
    [() => '<html>', /JSON object/],
    [() => 'x'.repeat(9000), /more than 8192/],
  ] as const) {
    const refused = await show(await described(answer))
    assert.equal(refused.status, 422)
    assert.match(refused.text, reason)
  }
  const moved = await show(await described(() => '', good))
  assert.equal(moved.status, 422)
  assert.match(moved.text, /Redirects are not followed \(302\)/)
})

test('no address of a private network is asked', async () => {
  const careful = await another({ webhooks: { allowPrivate: false, resolve: async () => ['10.0.0.1'] } })
  const own = browser(careful.url)
  const entered = await own.send('POST', `${v1}/session`, { email: await person(service), password })
  assert.equal(entered.status, 201, entered.text)
  for (const [client_id, reason] of [
    ['http://127.0.0.1:8080/client.json', /must begin with https/],
    ['https://127.0.0.1/client.json', /public address/],
    ['https://metadata.internal.example/client.json', /public address/],
    ['https://[::1]/client.json', /public address/],
  ] as const) {
    const refused = await own.send(
      'GET',
      `${v1}/authorization?${new URLSearchParams(asking(client_id, pkce().challenge))}`,
    )
    assert.equal(refused.status, 422, refused.text)
    assert.match(refused.text, reason)
  }
})
