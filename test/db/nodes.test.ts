/**
 * The nodes of a real Citus cluster (D176): the commands that list them, and that move an account beside
 * writes. Skipped where Citus is not installed: the nodes are stopped, so those of others are not taken.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../src/db/open.ts'
import { ask } from '../support/citus.ts'
import { startOwnCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { goodRequests, send } from '../support/good-requests.ts'
import { operationsOf } from '../support/operations.ts'
import { migratedDirectory } from '../support/prepared.ts'
import { answering, startReceiver } from '../support/receiver.ts'
import { type Running, runCommand, runService, temporaryFolder } from '../support/running-service.ts'
import { connect, dealBody } from '../support/service.ts'
import { timeouts } from '../support/timeouts.ts'

const cluster = await startOwnCluster()
const skip = cluster === null && 'Citus is not installed'
after(() => cluster?.stop())

const v1 = '/rest/api/v1'

type Client = { readonly account: number; readonly token: string }

/** One request, with its status and the parsed answer. */
async function asked(service: Running, { token }: Client, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers }
  const reply = await fetch(`${service.url}${v1}/${path}`, { ...init, headers })
  const body = JSON.parse(await reply.text())
  return { status: reply.status, retryAfter: reply.headers.get('retry-after'), body }
}

test('a database that is not distributed has no nodes', async () => {
  const folder = temporaryFolder('nodes')
  migratedDirectory(folder)
  for (const args of [['nodes'], ['account', 'place', '--account', '1']]) {
    const { code, err } = await runCommand({ DATA_DIR: folder }, ...args)
    assert.equal(code, 1)
    assert.match(err, /^The database is not distributed: only on a Citus cluster it has nodes/)
  }
})

describe('accounts on the nodes of a cluster', { skip }, () => {
  if (!cluster) return
  const env = { DATABASE_URL: cluster.url, DATA_DIR: temporaryFolder('cluster'), SAMPLE_DATA: '1' }
  /** where all accounts are at first, and the other worker */
  let [first, second] = cluster.workers.map(({ url }) => new URL(url).host) as [string, string]
  const serverOf = (node: string) => cluster.workers.find(({ url }) => new URL(url).host === node)!
  let service: Running
  after(() => service.end())
  let [stays, moves]: Client[] = []

  const told = async (...args: string[]) => {
    const { code, out, err } = await runCommand(env, ...args, '--json')
    assert.equal(code, 0, err)
    return JSON.parse(out)
  }
  const refused = async (expected: RegExp, ...args: string[]) => {
    const { code, out, err } = await runCommand(env, ...args)
    assert.deepEqual([code, out], [1, ''], err)
    assert.match(err, expected)
  }
  const nodeOf = async ({ account }: Client) =>
    (await told('account', 'place', '--account', String(account))).node as string
  const moving = (to: string, account = moves!.account) =>
    ['account', 'move', '--account', String(account), '--to', to] as const

  test('all accounts share a shard at first', async () => {
    await told('migrate')
    await told('distribute', '--shards', '1')
    service = await runService(env)
    stays = { account: 1, token: service.token }
    const owner = ['--owner-name', 'Owner', '--owner-email', 'second@example.com']
    moves = (await told('account', 'create', '--name', 'Second', ...owner)) as Client
    const { node, others } = await told('account', 'place', '--account', '2')
    assert.equal(others, 1)
    if (node !== first) [first, second] = [second, first]
    assert.equal(node, first)
    const { nodes } = await told('nodes')
    assert.deepEqual(
      nodes.map(({ name, role, shards, accounts }: Record<string, unknown>) => [
        name,
        role,
        shards,
        accounts,
      ]),
      [
        [new URL(cluster.url).host, 'coordinator', 0, 0],
        ...cluster.workers.map(({ url }) => {
          const { host } = new URL(url)
          return host === first ? [host, 'worker', 1, 2] : [host, 'worker', 0, 0]
        }),
      ],
    )
  })

  test('what can’t be moved is said in one line', async () => {
    await refused(/^--account is the id of an account/, ...moving(second).with(3, 'Second'))
    await refused(/^There is no account 99/, ...moving(second, 99))
    await refused(
      /^No node "elsewhere" takes accounts\. These do: [\d.:]+, [\d.:]+\.$/m,
      ...moving('elsewhere'),
    )
    await refused(/^No node .* takes accounts/, ...moving(new URL(cluster.url).host))
    await refused(/^Account 2 is on .* already/, ...moving(first))
    await refused(/has wal_level = replica: ALTER SYSTEM SET wal_level = 'logical' there/, ...moving(second))
    await serverOf(second).halt()
    await refused(new RegExp(`^The node ${second} does not answer`), ...moving(second))
    await serverOf(second).restart()
    for (const worker of cluster.workers) {
      await ask(worker.url, "ALTER SYSTEM SET wal_level = 'logical'")
      await worker.restart()
    }
  })

  test('an account is moved beside writes, and nothing of them is lost', async () => {
    const end = new AbortController()
    const writers = [stays!, stays!, moves!, moves!].map(client => ({
      client,
      tags: tagsWritten(service, client, end.signal),
    }))
    const moved = await told(...moving(second))
    assert.deepEqual(moved, { account: 2, from: first, to: second, isolated: true })
    // The node has statistics of what came, by which it plans statements.
    const known = await ask(
      serverOf(second).url,
      'SET citus.override_table_visibility = off',
      "SELECT 1 FROM pg_stats WHERE tablename ~ '^tag_[0-9]+$' AND attname = 'name'",
    )
    assert.equal(known.length, 1)
    end.abort()
    for (const client of [stays!, moves!]) {
      const own = writers.filter(writer => writer.client === client)
      const written = await Promise.all(own.map(({ tags }) => tags))
      const { body } = await asked(service, client, 'tag/view/list?pageSize=500')
      const there = body.data.filter(({ name }: Tag) => name.startsWith('Moved'))
      assert.deepEqual(
        new Map(there.map(({ id, name }: Tag) => [id, name])),
        new Map(written.flatMap(tags => [...tags]).toSorted(([one], [other]) => one - other)),
      )
    }
    assert.deepEqual([await nodeOf(stays!), await nodeOf(moves!)], [first, second])
  })

  /** The second node is away: its account is refused for a while, and the other goes on. */
  const requireOthers = async () => {
    for (const [path, body] of [
      ['deal/view/list'],
      ['event?limit=9'],
      ['tag', { name: randomUUID() }],
    ] as const) {
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const refused = await asked(service, moves!, path, init)
      assert.deepEqual([refused.status, refused.retryAfter], [503, '1'], path)
      const answered = await asked(service, stays!, path, init)
      assert.ok(answered.status < 300, JSON.stringify(answered.body))
    }
    const stored = await itemsOf(stays!)
    await made(stays!, 'activity', { kind: 'Note', subject: 'Away', notes: `@{${colleague}}` })
    const { status, body } = await asked(service, stays!, 'inbox')
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(await itemsOf(stays!), stored + 1)
    assert.equal(await signIn({ email: 'owner@example.com', password }), 201)
    assert.equal(await signIn({ email: 'second@example.com', password }), 503)
  }
  const signIn = async (body: object) => {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
    return (
      await fetch(`${service.url}${v1}/session`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).status
  }
  const made = async (client: Client, path: string, body: object) => {
    const answer = await asked(service, client, path, { method: 'POST', body: JSON.stringify(body) })
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    return answer.body.data
  }
  /** the number of items that are stored for the people of an account */
  const itemsOf = async ({ account }: Client) =>
    (await ask(cluster.url, `SELECT 1 AS one FROM notification WHERE account_id = ${account}`)).length
  let colleague = 0
  const isDone = async (job: number) =>
    (await asked(service, stays!, `job/${job}`)).body.data.state === 'done'

  test('a node that is away costs the accounts of others nothing', async () => {
    for (const client of [stays!, moves!]) {
      const { link } = await made(client, 'user/1/link', { purpose: 'reset' })
      assert.equal(await signIn({ link, password }), 201)
    }
    const person = { name: 'Colleague', email: 'colleague@example.com' }
    colleague = (await made(stays!, 'user', person)).id
    const receiver = await startReceiver(answering(500))
    await made(stays!, 'webhook', { url: `${receiver.url}/hook`, events: ['tag.created'] })
    await made(stays!, 'tag', { name: 'Delivered' })
    await receiver.until(1)
    const { id: product } = await made(stays!, 'product', { name: 'Changed' })
    const changes = { filter: `id:eq(${product})`, changes: { description: 'By a job' } }
    const { id: job } = await made(stays!, 'product/bulk', changes)
    await eventually(() => isDone(job), 'the end of the job')

    await serverOf(second).halt()
    await requireOthers()
    const { nodes } = await told('nodes')
    assert.equal(nodes.find(({ name }: { name: string }) => name === second).answers, false)
    assert.deepEqual(
      (await told('account', 'list')).accounts.map(({ id }: Tag) => id),
      [1],
    )
    await refused(/^The node .* does not answer/, 'account', 'place', '--account', '2')

    // A start finds what is due.
    await service.end()
    await ask(
      cluster.url,
      `UPDATE job SET state = 'running', leased_until = '-infinity' WHERE account_id = 1 AND id = ${job}`,
      "UPDATE webhook_delivery SET next_at = '2020-01-01' WHERE account_id = 1 AND state = 'waiting'",
      "UPDATE webhook_progress SET next_at = '2020-01-01', leased_until = '-infinity' WHERE account_id = 1",
    )
    receiver.answer = answering(204)
    const sent = receiver.got.length
    service = await runService(env)
    assert.match(service.log(), /A node is away/)
    await requireOthers()
    await eventually(() => isDone(job), 'the end of the job')
    await receiver.until(sent + 1)

    await serverOf(second).restart()
    await eventually(
      async () => (await asked(service, moves!, 'deal/view/list')).status === 200,
      'an account that is back',
    )
  })

  test('while a node is away, every route does its work for an account of another', async () => {
    const db = await openDatabase({ url: cluster.url, ...timeouts(), log() {} })
    after(() => db.close())
    const connected = await connect(service.url, stays!.token, db)
    await serverOf(second).halt()
    const { document, requestFor } = await goodRequests(connected)
    const refused: string[] = []
    for (const operation of operationsOf(document)) {
      const { operationId: id } = operation.said
      if (id.startsWith('session_openid')) continue // It is not set up.
      const { headers, ...asked } = await requestFor(operation)
      const key = asked.method === 'GET' ? {} : { 'idempotency-key': randomUUID() }
      const { status, text } = await send(connected, { ...asked, headers: { ...key, ...headers } })
      if (status >= 400) refused.push(`${id}: ${status} ${text}`)
    }
    assert.deepEqual(refused, [])
    await made(stays!, 'contact', {
      last_name: 'Named',
      emails: [{ email_type: 1, email_value: 'named@example.com' }],
    })
    await made(stays!, 'deal', dealBody(connected.known, { primary_contact: 'named@example.com' }))
    await serverOf(second).restart()
  })
})

const password = 'four words that nobody knows'

type Tag = { readonly id: number; readonly name: string }

/** Creates and renames tags until `end`, each write until it is answered. Returns their names by id. */
async function tagsWritten(service: Running, client: Client, end: AbortSignal): Promise<Map<number, string>> {
  const tags = new Map<number, string>()
  let last = 0
  for (let count = 0; !end.aborted; count++) {
    const name = `Moved ${randomUUID()}`
    const headers = { 'idempotency-key': randomUUID() }
    const isNew = count % 20 === 0
    const write = () =>
      asked(service, client, isNew ? 'tag' : `tag/${last}`, {
        ...{ method: isNew ? 'POST' : 'PATCH', headers, body: JSON.stringify({ name }) },
      })
    let answer = await write()
    while (answer.status === 503) {
      assert.ok(answer.retryAfter)
      await delay(100)
      answer = await write()
    }
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    last = answer.body.data.id
    tags.set(last, name)
  }
  return tags
}
