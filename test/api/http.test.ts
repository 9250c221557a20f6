/** Tokens and scopes, methods, media types, and the common parts of every answer (D2, D3, D38, D39). */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { errorTable } from '../../src/errors.ts'
import { byQueries } from '../support/by-queries.ts'
import { rawClient, statusOf } from '../support/raw.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { aSecondGoesBy, call, db, known, token, url } = await startService()
const tx = byQueries(db)

async function tokenWith(account: number, user: number, scopes: string[]): Promise<string> {
  const made = newSecret('token', account)
  await createToken(tx, { account, user, name: 'Test', scopes, token: made })
  return made
}

const as = (other: string) => ({ authorization: `Bearer ${other}` })

test('401 without a valid token, with a challenge and without a hint whether it existed', async () => {
  const unknown = newSecret('token', 1)
  for (const authorization of [
    '',
    'Bearer',
    'Basic abc',
    'Bearer nonsense',
    `Bearer ${unknown}`,
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
  ]) {
    const reply = await call('GET', `${v1}/deal/view/list`, undefined, { authorization })
    assert.equal(reply.status, 401, authorization)
    assert.equal(reply.body.code, 3001)
    assert.match(reply.headers.get('www-authenticate')!, /^Bearer/)
  }
  const byKey = await fetch(`${url}${v1}/field/list?source=deal`, { headers: { 'x-api-key': token } })
  assert.equal(byKey.status, 200)
})

test('403 when the token lacks the scope, naming it', async () => {
  const reader = await tokenWith(1, known.owner, ['deal:read'])
  assert.equal((await call('GET', `${v1}/deal/view/list`, undefined, as(reader))).status, 200)
  const reply = await call('POST', `${v1}/deal`, dealBody(known), as(reader))
  assert.equal(reply.status, 403)
  assert.match(reply.body.detail, /deal:write/)
  assert.equal((await call('GET', `${v1}/product/view/list`, undefined, as(reader))).status, 403)
})

test('a revoked or expired token is refused within a second', async () => {
  const [revoked, expired] = [
    await tokenWith(1, known.owner, ['admin']),
    await tokenWith(1, known.owner, ['admin']),
  ]
  const status = async (other: string) =>
    (await call('GET', `${v1}/field/list?source=deal`, undefined, as(other))).status
  assert.deepEqual([await status(revoked), await status(expired)], [200, 200])
  await db.query("UPDATE token SET deleted_at = now() WHERE name = 'Test'")
  await db.query(
    "UPDATE token SET deleted_at = NULL, expires_at = now() - interval '1 second' WHERE id = (SELECT max(id) FROM token)",
  )
  aSecondGoesBy()
  assert.deepEqual([await status(revoked), await status(expired)], [401, 401])
})

test("another account's records answer exactly as unknown ones", async () => {
  const { account, owner } = await createAccount(tx, {
    name: 'Other',
    ownerName: 'Other owner',
    ownerEmail: 'other@example.com',
  })
  const other = as(await tokenWith(account, owner, ['admin']))
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const bodyOf = (text: string) => text.replace(/"requestId":"[^"]+"/, '').replaceAll(/\b\d{2,}\b/g, 'N')
  for (const [method, body] of [['GET'], ['PATCH', { title: 'x' }], ['DELETE']] as const) {
    const theirs = await call(method, `${v1}/deal/${id}`, body, other)
    const unknown = await call(method, `${v1}/deal/999999`, body, other)
    assert.equal(theirs.status, 404)
    assert.equal(bodyOf(theirs.text), bodyOf(unknown.text))
  }
  assert.equal((await call('GET', `${v1}/deal/view/list`, undefined, other)).body.meta.total, 0)
  const refused = await call('POST', `${v1}/deal`, dealBody(known, { sales_owner: owner }), other)
  assert.deepEqual(
    refused.body.errors.map((problem: { path: string }) => problem.path),
    ['/primary_contact'],
  )
  assert.equal((await call('GET', `${v1}/deal/${id}`)).status, 200)
})

test('404, 405 with Allow, 406, 413, 415 and malformed requests', async () => {
  const expect = async (status: number, code: number, ...request: Parameters<typeof call>) => {
    const reply = await call(...request)
    assert.deepEqual([reply.status, reply.body.code], [status, code], reply.text)
    assert.match(reply.headers.get('content-type')!, /^application\/problem\+json/)
    return reply
  }
  await expect(404, 4001, 'GET', '/nothing')
  assert.equal(
    (await expect(405, 4004, 'DELETE', `${v1}/deal/view/list`)).headers.get('allow'),
    'GET, POST, HEAD',
  )
  assert.equal(
    (await expect(405, 4004, 'POST', `${v1}/deal/1`)).headers.get('allow'),
    'GET, PUT, PATCH, DELETE, HEAD',
  )
  await expect(406, 1006, 'GET', `${v1}/deal/1`, undefined, { accept: 'text/csv' })
  await expect(413, 6001, 'POST', `${v1}/deal`, JSON.stringify({ title: 'x'.repeat(1_100_000) }))
  await expect(415, 1007, 'POST', `${v1}/deal`, 'a=b', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  await expect(400, 1001, 'POST', `${v1}/deal`, '{"title":')
  await expect(400, 1001, 'POST', `${v1}/deal`, '')
  await expect(422, 2001, 'POST', `${v1}/deal`, '[]')
  await expect(400, 1004, 'GET', `${v1}/deal/abc`)
  for (const [method, path] of [
    ['GET', 'deal/99999999999999999999'],
    ['PATCH', 'user/9007199254740992'],
    ['POST', 'event/99999999999999999999/undo'],
  ] as const) {
    const reply = await expect(404, 4002, method, `${v1}/${path}`, method === 'GET' ? undefined : '{}')
    assert.equal(reply.body.detail, `There is nothing with the id ${path.split('/')[1]}.`)
  }
  await expect(400, 1004, 'GET', `${v1}/deal/%zz`)
  await expect(400, 1005, 'PATCH', `${v1}/deal/1`, { title: 'x' }, { 'if-match': 'abc' })
})

test('the request id is echoed, or made', async () => {
  const given = await call('GET', '/nothing', undefined, { 'x-request-id': 'my-id.1' })
  assert.deepEqual([given.headers.get('x-request-id'), given.body.requestId], ['my-id.1', 'my-id.1'])
  const odd = await call('GET', '/nothing', undefined, { 'x-request-id': '<script>' })
  assert.match(odd.body.requestId, /^[0-9a-f-]{36}$/)
})

test('health and the page of errors need no token', async () => {
  for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(url + path)).status, 200)
  const page = await (await fetch(`${url}/docs/errors`)).text()
  for (const slug of Object.keys(errorTable)) assert.ok(page.includes(`| \`${slug}\` |`), slug)
})

test('prototype names are fields like any other: unknown', async () => {
  const reply = await call('POST', `${v1}/deal`, '{"constructor":1,"toString":2}')
  assert.equal(reply.status, 422)
  const unknown = reply.body.errors
    .filter((problem: { code: string }) => problem.code === 'unknown_field')
    .map((problem: { field: string }) => problem.field)
  assert.deepEqual(unknown.toSorted(), ['constructor', 'toString'])
})

test('JSON of any depth and width is judged or refused, never a fault', async () => {
  const deep = `${'['.repeat(27)}${']'.repeat(27)}`
  const base = JSON.stringify(dealBody(known)).slice(0, -1)
  for (const [member, problem] of [
    [`"metadata":{"a":${deep}}`, '/metadata too_deep'],
    [`"metadata":{"a":[${'1,'.repeat(20_000)}1]}`, '/metadata too_long'],
    [`"description":${deep}`, '/description wrong_type'],
    [`"tags":${deep}`, '/tags/0 wrong_type'],
    [`"deal_value":{"currency":${deep},"value":1}`, '/deal_value/currency wrong_type'],
  ] as const) {
    const reply = await call('POST', `${v1}/deal`, `${base},${member}}`)
    assert.equal(reply.status, 422, `${member.slice(0, 40)}: ${reply.text.slice(0, 300)}`)
    assert.deepEqual(problemsOf(reply), [problem])
  }
  // An unknown type of any length becomes Work; the warning need not repeat it whole.
  const phone = `"cf_custom_phone_field":[{"phone_type":${deep},"phone_number":"12345"}]`
  const reply = await call('POST', `${v1}/deal`, `${base},${phone}}`)
  assert.equal(reply.status, 201, reply.text.slice(0, 300))
  assert.ok(reply.text.length < 20_000)
})

test('a body that is too deep, names a member twice or __proto__ is refused before it is parsed', async () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  for (const [body, complaint] of [
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, /32 levels/],
    ['['.repeat(500_000), /32 levels/],
    [nested(33), /32 levels/],
    [`{"metadata":{"a":[${'1,'.repeat(200_000)}1]}}`, /more than 32768 members and items/],
    [
      `{${Array.from({ length: 60_000 }, (_, index) => `"${index}":0`).join(',')}}`,
      /more than 32768 members and items/,
    ],
    ['{"title":"a","title":"b"}', /"title" twice/],
    ['{"title":"a","\\u0074itle":"b"}', /"title" twice/],
    ['{"metadata":{"x":[{"a":1,"b":{},"a":2}]}}', /"a" twice/],
    ['{"__proto__":{"title":"x"}}', /__proto__/],
    ['{"metadata":{"x":[1,{"__pr\\u006fto__":1}]}}', /__proto__/],
  ] as const) {
    const reply = await call('POST', `${v1}/deal`, body)
    assert.deepEqual([reply.status, reply.body.code], [400, 1001], body.slice(0, 40))
    assert.match(reply.body.detail, complaint)
  }
  // The same name in another object, as a value, or within a text is no duplicate.
  const fine =
    '{"title":"title","description":"{\\"title\\":1,\\"title\\":2}","metadata":{"title":{"title":["title","title"]}}}'
  assert.equal((await call('PATCH', `${v1}/deal/${(await created()).id}`, fine)).status, 200)
  assert.equal((await call('POST', `${v1}/deal`, nested(31))).status, 422)
})

test('JSON is answered to whom it is acceptable: a quality of 0 says that it is not', async () => {
  const page = `${v1}/product/view/list?pageSize=1`
  for (const [accept, status] of [
    ['application/json;q=0', 406],
    ['*/*;q=0.000', 406],
    ['application/json; Q=0, */*', 406],
    ['application/*;q=0, */*;q=0.5', 406],
    ['text/csv, application/problem+json;q=0', 406],
    ['application/json, */*;q=0', 200],
    ['text/html, */*;q=0.1', 200],
    ['application/*, text/html;q=0', 200],
    ['application/hal+json, */*;q=0', 200],
    ['Application/JSON;q=0.001', 200],
  ] as const)
    assert.equal((await call('GET', page, undefined, { accept })).status, status, accept)
  // Of the two forms of a page of the documentation, one may be unacceptable.
  const docs = await fetch(`${url}/docs/errors`, { headers: { accept: 'text/html;q=0, */*' } })
  assert.match(docs.headers.get('content-type')!, /^text\/markdown/)
})

test('an Expect that is unknown changes nothing', async () => {
  const client = await rawClient(url)
  const lines = ['GET /healthz HTTP/1.1', 'host: x', 'expect: a-miracle', 'connection: close']
  client.send(`${lines.join('\r\n')}\r\n\r\n`)
  assert.match(await client.ended, /^HTTP\/1\.1 200 /)
})

test('other content types, charsets and encodings of a body are refused', async () => {
  const body = JSON.stringify({ name: 'Typed' })
  for (const [type, encoding, status] of [
    ['application/json', undefined, 201],
    ['application/json; charset=utf-8', undefined, 201],
    ['APPLICATION/JSON; charset="UTF-8"', undefined, 201],
    ['application/json; charset=utf-16', undefined, 415],
    ['application/json; charset=iso-8859-1', undefined, 415],
    ['application/json; charset=utf-8; charset=UTF-8', undefined, 201],
    ['application/json; charset=utf-8; charset=utf-16', undefined, 415],
    ['text/json', undefined, 415],
    ['application/xml', undefined, 415],
    ['application/json, text/plain', undefined, 415],
    ['nonsense', undefined, 415],
    ['application/json', 'gzip', 415],
  ] as const) {
    const headers = {
      ...as(token),
      'content-type': type,
      ...(encoding ? { 'content-encoding': encoding } : {}),
    }
    const reply = await fetch(`${url}${v1}/product`, { method: 'POST', headers, body })
    assert.equal(reply.status, status, `${type} ${encoding}`)
  }
})

test('what is no HTTP request, and headers and addresses that are too long, get a problem too', async () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      let answer = ''
      socket.on('data', bytes => {
        answer += bytes
      })
      socket.on('close', () => resolve(answer)).on('error', reject)
      socket.write(text)
    })
  for (const [request, status, code] of [
    ['nonsense\r\n\r\n', 400, 1005],
    [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 6003],
    [`GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 6003],
  ] as const) {
    const answer = await raw(request)
    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer.slice(0, 100))
    assert.match(answer, /content-type: application\/problem\+json/)
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).code, code)
  }
  for (const path of ['9'.repeat(300), `x${'y'.repeat(300)}/restore`]) {
    const reply = await call(path.endsWith('restore') ? 'POST' : 'GET', `${v1}/tag/${path}`)
    assert.equal(reply.status, 400, reply.text)
  }
  const long = await fetch(`${url}${v1}/deal/view/list?filter=title:eq(${'x'.repeat(12_000)})`, {
    headers: as(token),
  })
  assert.equal(long.status, 200)
})

test('a Host that is no host is refused everywhere, and one of another port or form is taken', async () => {
  const statusWith = async (host: string, path: string) => {
    const client = await rawClient(url)
    client.send(`GET ${path} HTTP/1.1\r\nhost:${host}\r\nconnection: close\r\n\r\n`)
    return statusOf(await client.ended)
  }
  for (const path of ['/healthz', '/', '/docs', '/none', `${v1}/me`])
    for (const host of [
      '',
      ' a b',
      ' x"><script>',
      ' x/y',
      ' user@x',
      ' x:80:80',
      ' x:port',
      ' x:99999',
      ' %',
      ' 1.2.3.999',
      ' [::1',
      ' ::1',
      // Twice: RFC 9112 §3.2.
      ' x\r\nHost: x',
    ])
      assert.equal(await statusWith(host, path), 400, `${path} ${host}`)
  for (const host of [' x', ' crm.example.com:3000', ' my_host', ' [::1]:3000', ' 127.0.0.1', ' x:'])
    assert.equal(await statusWith(host, '/healthz'), 200, host)
})

test('a header of one value that is sent twice is refused, not judged by one of them', async () => {
  const value: { [name: string]: string } = { authorization: `Bearer ${token}`, 'x-api-key': token }
  const names = ['Authorization', 'X-Api-Key', 'Content-Type', 'Idempotency-Key', 'Dealwright-Seq', 'Origin']
  for (const name of names)
    for (const path of ['/healthz', `${v1}/me`]) {
      const client = await rawClient(url)
      const line = `${name}: ${value[name.toLowerCase()] ?? '1'}\r\n`
      const other = `${name.toLowerCase()}: other\r\n`
      client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${line}${other}\r\n`)
      const answer = await client.ended
      assert.equal(statusOf(answer), 400, answer)
      assert.ok(answer.includes(`"detail":"${name} must be sent once."`), answer)
    }
})

test('every answer carries the headers that keep it from being taken for a page or kept on the way', async () => {
  for (const reply of [
    await call('GET', `${v1}/deal/view/list`),
    await call('GET', '/nowhere'),
    await call('GET', '/docs/errors'),
  ]) {
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
    assert.match(reply.headers.get('content-security-policy')!, /default-src 'none'/)
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  }
})

const created = async () => (await call('POST', `${v1}/deal`, dealBody(known))).body.data

test('a body that is no UTF-8 is refused, not mended', async () => {
  for (const bytes of [[0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    const reply = await fetch(`${url}${v1}/product`, {
      method: 'POST',
      headers: { ...as(token), 'content-type': 'application/json' },
      body: Buffer.concat([Buffer.from('{"name":"x'), Buffer.from(bytes), Buffer.from('"}')]),
    })
    assert.equal(reply.status, 400, await reply.text())
  }
})

test('an empty parameter is absent, and a number needs a value (D27)', async () => {
  const statusOf = async (...request: Parameters<typeof call>) => (await call(...request)).status
  for (const path of [
    'field/list?source=deal&include_deleted=',
    'field/dropdown?name=pipeline_stage&source=&pipeline=&include_inactive=',
    'event?type=&resource=',
  ])
    assert.equal(await statusOf('GET', `${v1}/${path}`), 200, path)
  for (const name of ['after', 'limit', 'wait'])
    assert.equal(await statusOf('GET', `${v1}/event?${name}=`), 400, name)
  for (const name of ['page', 'pageSize'])
    for (const value of ['', []])
      assert.equal(await statusOf('POST', `${v1}/deal/view/list`, { [name]: value }), 400, name)
  assert.equal(await statusOf('POST', `${v1}/deal/view/list`, { filter: [], sort: [] }), 200)
})

test('a query that is no UTF-8 is refused, not mended', async () => {
  for (const [query, parameter] of [
    ['search?q=caf%E9', 'q'],
    ['deal/view/list?pageSize=1&filter=title:neq(caf%e9)', 'filter'],
    ['deal/view/list?filter=title:eq(%ED%A0%80)', 'filter'],
    ['deal/view/list?sort=%C3', 'sort'],
  ]) {
    const reply = await call('GET', `${v1}/${query}`)
    assert.deepEqual([reply.status, reply.body.type], [400, '/docs/errors#malformed_query'], reply.text)
    assert.equal(reply.body.errors[0].parameter, parameter)
  }
  for (const query of [
    'search?q=caf%C3%A9',
    'deal/view/list?filter=title:like(100%)',
    'search?q=Zo%C3%AB%F0%9F%98%80',
  ])
    assert.equal((await call('GET', `${v1}/${query}`)).status, 200, query)
})

test('HEAD answers as GET, without the body; a token in Authorization goes before X-Api-Key', async () => {
  const head = await fetch(`${url}${v1}/deal/view/list`, { method: 'HEAD', headers: as(token) })
  assert.deepEqual([head.status, await head.text()], [200, ''])
  const both = await fetch(`${url}${v1}/deal/view/list`, {
    headers: { ...as('nonsense'), 'x-api-key': token },
  })
  assert.equal(both.status, 401)
})
