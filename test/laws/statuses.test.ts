/**
 * Every documented status of an operation is provoked here, and answered as documented (D90). The requests
 * are generated from the document, so new routes are included.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { merged } from '../../scripts/breaking-changes.ts'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { createLink } from '../../src/accounts/sign-in/links.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { browser, type Page } from '../support/browser.ts'
import { byQueries } from '../support/by-queries.ts'
import { eventually } from '../support/eventually.ts'
import { importIn, upload } from '../support/good-jobs.ts'
import {
  type Asked,
  askingProgram,
  goodRequests,
  password,
  person,
  send,
  signedIn,
} from '../support/good-requests.ts'
import type { OpenApi } from '../support/judge.ts'
import { openIdPath, signInByProvider } from '../support/openid.ts'
import { type Answered, complainer, type Operation, operationsOf } from '../support/operations.ts'
import { head, rawClient } from '../support/raw.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, token } = service
const { document, uniqueFields, requestFor } = await goodRequests(service)
const operations = operationsOf(document)
const complaint = complainer(document)
const provider = await signInByProvider(service)
const withProvider = { url: provider.url, token }

/** Statuses that can't be provoked: the reason → operations with the status. */
const exceptions: { readonly [reason: string]: readonly string[] } = {
  'A fault would have to be in the program, because no database is asked.': [
    ...['docs 500', 'docs_page 500', 'errors 500', 'alive 500', 'ready 500'],
    ...['session_ways 500', 'session_openid 500', 'session_openid_end 500'],
  ],
}
const excepted = new Set(Object.values(exceptions).flat())

/** Operations with a provoked status. */
const provoked = new Set<string>()

/**
 * Provokes a status in every operation that has it, a few at the same time. Each answer must be as
 * documented.
 */
async function provoke(
  status: number,
  ask: (operation: Operation) => Promise<Answered>,
  atOnce = 6,
): Promise<void> {
  const isWanted = ({ operationId: id, responses }: Operation['said']) =>
    status in responses && !excepted.has(`${id} ${status}`) && !provoked.has(`${id} ${status}`)
  const left = operations.filter(({ said }) => isWanted(said))
  const wrong: string[] = []
  const work = async () => {
    for (let operation = left.shift(); operation; operation = left.shift())
      wrong.push(...noted(operation, status, await ask(operation)))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  assert.deepEqual(wrong.slice(0, 20), [])
}

/** Notes an answer; returns its problems. */
function noted(operation: Operation, status: number, answer: Answered): string[] {
  const { operationId: id } = operation.said
  const problem = answer.status === status ? complaint(operation, answer) : `not ${status}`
  if (!problem) provoked.add(`${id} ${status}`)
  return problem ? [`${id}: ${answer.status}, ${problem}; ${answer.text.slice(0, 300)}`] : []
}

function operationCalled(id: string): Operation {
  return operations.find(({ said }) => said.operationId === id)!
}

/** Notes an answer to a browser: signing in takes several steps. */
function expected(id: string, status: number, { headers, ...page }: Page): void {
  assert.deepEqual(noted(operationCalled(id), status, { ...page, headers: new Headers(headers) }), [])
}

/** A request of an operation that need not succeed: it names no existing record. */
function any({ path, method, said }: Operation): Asked {
  const today = new Date().toISOString().slice(0, 10)
  const query = /\/field\/(list|form)$/.test(path)
    ? '?source=product'
    : path.endsWith('/deal/changes')
      ? `?from=${today}`
      : ''
  const filled = path
    .replace(/(\w+)\/by\/\{field\}/, (_, resource) => `${resource}/by/${uniqueFields.get(resource)}`)
    // A secret in its form is looked up.
    .replace('{file}', `${newSecret('token', 1)}.ics`)
    .replace(/\{\w+\}/g, '99999999')
  const body = path.endsWith('/batch') ? { operations: [{ op: 'delete', id: 99999999 }], atomic: true } : {}
  return { method: method.toUpperCase(), path: filled + query, ...(said.requestBody ? { body } : {}) }
}

test('200 and 201, and 412 before it', async () => {
  await provoke(412, async operation => {
    const asked = await requestFor(operation)
    const { headers } = asked
    const refused = await send(service, { ...asked, headers: { ...headers, 'if-match': '"9999"' } })
    if (200 in operation.said.responses)
      assert.deepEqual(noted(operation, 200, await send(service, asked)), [])
    return refused
  })
  await provoke(200, async operation => send(service, await requestFor(operation)))
  await provoke(201, async operation => {
    const { path, ...asked } = await requestFor(operation)
    return send(service, { ...asked, path: path.replace(/(\/by\/\w+\/).*/, '$1another@example.com') })
  })
})

test('304 of all that is read with a tag', async () => {
  await provoke(304, async operation => {
    const asked = await requestFor(operation)
    return send(service, { ...asked, headers: { ...asked.headers, 'if-none-match': '*' } })
  })
})

test('302, 403, 409 and 410 of signing in', async () => {
  const signIn = (body: Json) => browser(service.url).send('POST', `${v1}/session`, body)
  provider.says({ email: 'nobody@example.com', email_verified: true })
  expected('session_openid_end', 403, await provider.throughProvider())
  const email = await person(service)
  provider.says({ email, email_verified: true })
  expected('session_openid', 302, await browser(provider.url).send('GET', openIdPath))
  expected('session_openid_end', 302, await provider.throughProvider())
  // The same person has the same password in another account.
  const tx = byQueries(db)
  const { account, owner } = await createAccount(tx, { name: 'Second', ownerName: email, ownerEmail: email })
  const catalog = await loadCatalog(db, resources, account)
  const { secret: link } = (await createLink(db, { catalog, actor: owner }, owner, 'invitation'))!
  expected('session_create', 201, await signIn({ link, password }))
  expected('session_create', 410, await signIn({ link, password }))
  expected('session_create', 409, await signIn({ email, password }))
  expected('session_openid_end', 409, await provider.throughProvider())
})

test('what the head or the query is refused for: 400, 401, 403, 404, 406, 415', async () => {
  const { token: bare } = (await call('POST', `${v1}/token`, { name: 'Bare', scopes: [] })).body.data
  const own = await signedIn(service)
  const nobody = { method: 'POST', path: `${v1}/event/undo`, body: { request_id: 'nothing' } }
  assert.deepEqual(noted(operationCalled('event_undo_several'), 404, await send(service, nobody)), [])
  const program = new URLSearchParams({ ...askingProgram, client_id: 'nonsense' })
  const unknown = { method: 'GET', path: `${v1}/authorization?${program}`, headers: own }
  assert.deepEqual(noted(operationCalled('authorization_get'), 422, await send(service, unknown)), [])
  await provoke(400, async operation => {
    const isOfCalendar = operation.said.operationId === 'calendar_feed'
    const { path, ...asked } = isOfCalendar ? await requestFor(operation) : any(operation)
    const wrong = path.includes('?') ? `${path}&x=1` : `${path}?x=1`
    return send(withProvider, { ...asked, path: path.startsWith('/docs') ? '/docs/%zz' : wrong })
  })
  const stranger = { email: 'nobody@example.com', password }
  await provoke(401, async operation => {
    const body = operation.said.operationId === 'session_create' ? { body: stranger } : {}
    return send({ ...withProvider, token: 'nonsense' }, { ...any(operation), ...body })
  })
  await provoke(403, async operation => {
    const asked = any(operation)
    if (asked.method === 'GET') return send({ ...service, token: bare }, asked)
    return send(service, { ...asked, headers: { ...own, 'sec-fetch-site': 'cross-site' } })
  })
  await provoke(404, async operation => {
    const { path, ...asked } = any(operation)
    const wrong = path.replace('=product', '=nothing').replace(/dropdown$/, '$&?name=nothing')
    return send(service, { ...asked, path: wrong })
  })
  await provoke(406, async operation => send(service, { ...any(operation), headers: { accept: 'text/csv' } }))
  const text = { body: 'text', headers: { 'content-type': 'text/plain' } }
  await provoke(415, async operation => send(service, { ...any(operation), ...text }))
})

test('what there is too much of: 413, 429, 431, 503', async () => {
  const small = await service.another({ limits: { bodyLimitBytes: 1024 } })
  const body = { body: 'x'.repeat(2048), headers: { 'content-type': 'application/json' } }
  await provoke(413, async operation => send({ ...small, token }, { ...any(operation), ...body }))
  const busy = await service.another({ limits: { rateLimit: 1 } })
  for (const whose of [token, 'nonsense'])
    await send({ ...busy, token: whose }, { method: 'GET', path: `${v1}/me` })
  await provoke(429, async operation => send({ ...busy, token }, any(operation)))
  await provoke(431, async operation => {
    const { method, path } = any(operation)
    return rawAnswer(service.url, head(method, path, { 'x-long': 'x'.repeat(20_000) }))
  })
  const full = await service.another({ limits: { maxConnections: 1 } })
  const first = await rawClient(full.url)
  first.send(head('GET', `${v1}/me`, { authorization: `Bearer ${token}` }))
  await eventually(() => first.answered().includes('"scopes"'), 'an answer')
  await provoke(503, async () => rawAnswer(full.url, ''))
  first.socket.destroy()
})

test('408 of what does not arrive', async () => {
  const hasty = await service.another({ limits: { requestTimeoutMs: 500 } })
  const all = operations.length
  const ask = async (operation: Operation) => {
    const { method, path } = any(operation)
    const begun = head(method, path, { authorization: `Bearer ${token}`, 'content-length': 100 })
    return rawAnswer(hasty.url, operation.said.requestBody ? begun : begun.slice(0, -4))
  }
  await provoke(408, ask, all)
})

/** The answer to a raw text, or to the connection alone. */
async function rawAnswer(url: string, text: string): Promise<Answered> {
  const client = await rawClient(url)
  client.send(text)
  const [top = '', body = ''] = (await client.ended).split('\r\n\r\n', 2)
  const [line = '', ...lines] = top.split('\r\n')
  const headers = new Headers(lines.map((line): [string, string] => line.split(': ', 2) as [string, string]))
  return { status: Number(line.split(' ')[1]), headers, text: body }
}

test('422 of a day without history, 410 of events that are gone', async () => {
  const ofPast = operations.filter(({ said }) => JSON.stringify(said.parameters ?? []).includes('/as_of"'))
  assert.ok(ofPast.length > 10)
  for (const operation of [...ofPast, operationCalled('deal_changes')]) {
    const asked = any(operation)
    const name = operation.said.operationId === 'deal_changes' ? 'from' : 'as_of'
    const path = `${asked.path.split('?')[0]}?${name}=1990-01-01`
    const answer = await send(service, { ...asked, path })
    assert.deepEqual(noted(operation, 422, answer), [])
  }
  await db.query('DELETE FROM event WHERE account_id = 1 AND seq < 5')
  const answer = await send(service, { method: 'GET', path: `${v1}/event?after=1` })
  assert.deepEqual(noted(operationCalled('event_list'), 410, answer), [])
  const gone = await send(service, { method: 'POST', path: `${v1}/event/1/undo` })
  assert.deepEqual(noted(operationCalled('event_undo'), 410, gone), [])
})

test("409 of jobs in another state, 422 of files and plans that can't be read", async () => {
  const id = await importIn(service, 'cancelled')
  for (const operation of operations.filter(({ said }) => /^(job|import)_/.test(said.operationId))) {
    const { path, method } = operation
    if (!('409' in operation.said.responses)) continue
    // A cancelled job can only be reverted, and this one has changed nothing.
    const asked = { method: method.toUpperCase(), path: path.replace('{id}', `${id}`) }
    const body = method === 'patch' ? { body: {} } : {}
    assert.deepEqual(noted(operation, 409, await send(service, { ...asked, ...body })), [])
  }
  const [create, update] = ['import_create', 'import_update'].map(
    name => operations.find(({ said }) => said.operationId === name)!,
  )
  assert.deepEqual(noted(create!, 422, await send(service, { method: 'POST', ...upload('name\n') })), [])
  const waiting = await importIn(service, 'waiting')
  const wrong = { method: 'PATCH', path: `${v1}/import/${waiting}`, body: { mapping: 7 } }
  assert.deepEqual(noted(update!, 422, await send(service, wrong)), [])
  const settings = { method: 'PATCH', path: `${v1}/inbox/settings`, body: { kinds: 7 } }
  assert.deepEqual(noted(operationCalled('inbox_settings_update'), 422, await send(service, settings)), [])
  // Its second column is not mapped yet.
  const { body } = await service.call('POST', upload('').path, 'name,Xyz\nA,1\n', upload('').headers)
  for (const operation of operations.filter(({ said }) =>
    /^(job|import)_(dry_)?run$/.test(said.operationId),
  )) {
    const path = operation.path.replace('{id}', `${body.data.id}`)
    assert.deepEqual(noted(operation, 422, await send(service, { method: 'POST', path })), [])
  }
})

test('422 for a key of another request, 409 while the same request is under way', async () => {
  // Its cache of callers never expires, because callers can't be looked up meanwhile.
  const another = { ...(await service.another({ clock: () => 0 })), token }
  const keyed = (asked: Asked, key: string) =>
    send(another, { ...asked, headers: { 'idempotency-key': key } })
  assert.equal(
    (await keyed({ method: 'POST', path: `${v1}/tag`, body: { name: 'Keyed' } }, 'used')).status,
    201,
  )
  await provoke(422, async operation => keyed(any(operation), 'used'), 1)
  const under: Promise<unknown>[] = []
  await db.sql.begin(async tx => {
    // The embedded engine runs nothing else during a transaction; on a server the look-up of keys is locked.
    await tx.query('LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE')
    await provoke(
      409,
      async operation => {
        const both = [1, 2].map(() => keyed(any(operation), operation.said.operationId))
        under.push(...both)
        return Promise.race(both)
      },
      operations.length,
    )
  })
  await Promise.all(under)
})

test('a Dealwright-Seq that is none is refused where it is described, and nowhere else (D172)', async () => {
  const takesSeq = ({ said }: Operation) =>
    (said.parameters ?? []).some((one: OpenApi) => merged(one, document).name === 'Dealwright-Seq')
  const taking = operations.filter(takesSeq)
  assert.ok(taking.length > 20, `${taking.length} operations`)
  for (const operation of [...taking, ...operations.filter(({ method }) => method === 'get')]) {
    const { headers, ...asked } = await requestFor(operation)
    const { status, text } = await send(service, {
      ...asked,
      headers: { ...headers, 'dealwright-seq': '-1' },
    })
    const isRefused = status === 400 && text.includes('Dealwright-Seq')
    assert.equal(
      isRefused,
      takesSeq(operation),
      `${operation.said.operationId}: ${status} ${text.slice(0, 300)}`,
    )
  }
})

test('500 of a database without its tables, 503 without a database', async () => {
  const lost = await startService({ log: pino({ level: 'silent' }), alone: true })
  // Needs no lock of any table, which background work may hold.
  await lost.db.query('ALTER SCHEMA public RENAME TO elsewhere')
  const body = { email: 'nobody@example.com', password }
  const asked = (operation: Operation) => ({
    ...any(operation),
    ...(operation.said.operationId === 'session_create' ? { body } : {}),
  })
  await provoke(500, async operation => send(lost, asked(operation)))
  await lost.db.close()
  for (const operation of operations.filter(
    ({ said }) => 500 in said.responses && !excepted.has(`${said.operationId} 500`),
  )) {
    const answer = await send(lost, asked(operation))
    assert.deepEqual(noted(operation, 503, answer), [])
  }
})

test('every status that is documented was provoked', () => {
  const documented = operations.flatMap(({ said }) =>
    Object.keys(said.responses).map(status => `${said.operationId} ${status}`),
  )
  assert.deepEqual(
    documented.filter(pair => !provoked.has(pair) && !excepted.has(pair)),
    [],
  )
  assert.deepEqual(
    [...excepted].filter(pair => provoked.has(pair) || !documented.includes(pair)),
    [],
  )
})
