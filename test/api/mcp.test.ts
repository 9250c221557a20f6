/** POST /mcp (D145): the protocol in both revisions, who may use it, and that all limits hold for tools. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { connectAgent, revisions, tokensOf } from '../support/agent.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, made, url, another } = service

/** Signs the owner in, and returns the session's cookie. */
async function sessionCookie(): Promise<string> {
  const { data } = (await call('POST', `${v1}/user/1/link`, { purpose: 'reset' })).body
  const body = { link: data.link, password: 'four words that nobody knows' }
  const entered = await call('POST', `${v1}/session`, body, {
    ...{ authorization: '', 'sec-fetch-site': 'same-origin' },
  })
  assert.equal(entered.status, 201, entered.text)
  return entered.headers.getSetCookie()[0]!.split(';', 1)[0]!
}

const message = (method: string, params: { [name: string]: Json } = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})
const accept = { accept: 'application/json, text/event-stream' }
const post = (body: Json, headers: Record<string, string> = {}) =>
  call('POST', '/mcp', body, { ...accept, ...headers })

for (const revision of revisions)
  test(`an agent connects, lists the tools and calls one: ${revision}`, async () => {
    const { client, use } = await connectAgent(service, revision)
    assert.equal(client.getNegotiatedProtocolVersion(), revision)
    assert.equal(client.getServerVersion()?.name, 'dealwright')
    assert.match(client.getInstructions() ?? '', /two steps/)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      [
        ...['describe', 'search', 'list', 'get', 'report', 'history'],
        ...['create', 'update', 'log_activity', 'undo'],
      ],
    )
    for (const { name, annotations, inputSchema } of tools) {
      const isWrite = ['create', 'update', 'log_activity', 'undo'].includes(name)
      assert.equal(annotations?.readOnlyHint, !isWrite, name)
      assert.equal(annotations?.openWorldHint, false, name)
      assert.equal(inputSchema.additionalProperties, false, name)
    }
    const { body, isError } = await use('list', { resource: 'pipeline_stage' })
    assert.equal(isError, false)
    assert.ok(body.rows.some((row: Json[]) => row[1] === 'Proposal'))
    const unknown = await use('drop_table')
    assert.ok(unknown.isError)
    assert.match(unknown.body.next, /describe, search/)
  })

test('the definitions of all tools have at most 6000 tokens', async () => {
  const { client } = await connectAgent(service)
  const { tools } = await client.listTools()
  const size = tokensOf(JSON.stringify(tools))
  assert.ok(size <= 6000, `${size}`)
})

test('who has no valid token is refused, and told where to get one', async () => {
  for (const authorization of ['', 'Bearer x', `Bearer dw_1_${'a'.repeat(33)}_aaaaaaa`]) {
    const reply = await post(message('tools/list'), { authorization })
    assert.equal(reply.status, 401, authorization)
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer /)
  }
})

test('a session is no token, and a page of another origin is refused', async () => {
  const foreign = await post(message('tools/list'), { origin: 'https://evil.example' })
  assert.equal(foreign.status, 403)
  const own = await post(message('tools/list'), { origin: url })
  assert.equal(own.status, 200, own.text)
  const cookie = await sessionCookie()
  const session = await post(message('tools/list'), {
    authorization: '',
    cookie,
    'sec-fetch-site': 'same-origin',
  })
  assert.equal(session.status, 401)
  const allowed = await another({ limits: {} })
  const there = await allowed.call('POST', '/mcp', message('tools/list'), { ...accept, origin: allowed.url })
  assert.equal(there.status, 200)
})

test('other methods, other bodies', async () => {
  const get = await call('GET', '/mcp', undefined, accept)
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
  const broken = await post('{"jsonrpc":')
  assert.equal(broken.status, 400)
  const long = await post(message('tools/list', { x: 'x'.repeat(70_000) }))
  assert.equal(long.status, 413)
  const text = await call('POST', '/mcp', '{}', { ...accept, 'content-type': 'text/plain' })
  assert.equal(text.status, 415)
})

test('a tool does what the token and the role allow, no more', async () => {
  const { token } = await made('token', { name: 'Reader', scopes: ['deal:read', 'pipeline_stage:read'] })
  const { use } = await connectAgent({ url, token })
  const deals = await use('list', { resource: 'deal', limit: 1 })
  assert.equal(deals.isError, false, deals.text)
  // Names of what the token may not read are ids.
  const [, , stage, , owner] = deals.body.rows[0]
  assert.deepEqual([typeof stage, typeof owner], ['string', 'number'])
  const contacts = await use('list', { resource: 'contact' })
  assert.ok(contacts.isError)
  assert.match(contacts.text, /contact:read/)
  const written = await use('update', {
    resource: 'deal',
    record: deals.body.rows[0][0],
    values: { title: 'x' },
  })
  assert.ok(written.isError)
  assert.match(written.text, /deal:write/)
  // A name of what may not be read is no name that nobody has.
  const byName = await use('list', { resource: 'deal', where: ['primary_contact is Ana Silva'] })
  assert.ok(byName.isError)
  assert.match(byName.text, /contact:read/)
  const { body } = await use('describe')
  assert.deepEqual([body.may_read, body.may_write], ['deal,pipeline_stage', 'nothing'])
})

test('a tool counts as many requests as it makes, and is refused when they are used up', async () => {
  const limited = await another({ limits: { rateLimit: 11 } })
  const { token } = await made('token', { name: 'Counted', scopes: ['admin'] })
  const asked = () =>
    limited.call('POST', '/mcp', message('tools/call', { name: 'describe', arguments: {} }), {
      ...accept,
      authorization: `Bearer ${token}`,
    })
  const left = (reply: Awaited<ReturnType<typeof asked>>) =>
    Number(/r=(\d+)/.exec(reply.headers.get('ratelimit')!)![1])
  assert.equal(left(await asked()), 10)
  // The message and the request behind its tool.
  assert.equal(left(await asked()), 8)
  for (let count = 0; count < 3; count++) await asked()
  const reply = await asked()
  assert.equal(reply.status, 200)
  assert.match(reply.text, /the same call, in some seconds/)
  assert.equal((await asked()).status, 429)
})

test('a revoked token ends its agent within a second', async () => {
  const { id, token } = await made('token', { name: 'Revoked', scopes: ['admin'] })
  const { use } = await connectAgent({ url, token })
  assert.equal((await use('describe')).isError, false)
  assert.equal((await call('DELETE', `${v1}/token/${id}`)).status, 200)
  service.aSecondGoesBy()
  await assert.rejects(use('describe'))
})
