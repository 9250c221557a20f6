/**
 * `dealwright distribute` on a real Citus cluster (D173): what it refuses, and that a database answers as
 * before. Skipped where Citus is not installed.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { requireDistributable } from '../../src/db/distribution.ts'
import { openDatabase } from '../../src/db/open.ts'
import { addNodes, ask, makeWorkers } from '../support/citus.ts'
import { startCluster } from '../support/cluster.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'
import { migratedDirectory } from '../support/prepared.ts'
import { type Running, runCommand, runService, temporaryFolder } from '../support/running-service.ts'

const cluster = await startCluster()
const skip = cluster === null && 'Citus is not installed: set TEST_CITUS_URL or install it'
after(async () => {
  await cluster?.stop()
})

const distribute = (env: Record<string, string>, ...args: string[]) => runCommand(env, 'distribute', ...args)

const v1 = '/rest/api/v1'

/** Members that follow the clock, also in a cursor, or the events, of which a start has one of its own. */
const following = /"(age|rotting_days|nextCursor|last_seq|last)":("[^"]*"|\w+)/g

/** Answers of all kinds of reads. */
const reads = [
  'deal/view/list?sort=deal_value:desc&pageSize=100&expand=sales_owner,primary_contact',
  'deal/view/list?filter=primary_contact.last_name:like(a),age:gte(0)&sort=primary_contact:asc',
  'contact/view/list?sort=last_name:asc',
  'product/view/list?filter=unit_price:notnull(true)&sort=name:desc',
  'activity/view/list?sort=due_at:asc',
  'webhook/view/list?sort=last_seq:desc&filter=last_seq:gte(0)',
  'deal/aggregate?group_by=status,created_at:month&measures=count,sum:deal_value,median:deal_value',
  'product/aggregate?group_by=created_at:month',
  'deal/view/board',
  'deal/funnel',
  'search?q=an',
  'contact/export?format=csv',
  'event?limit=50',
]

async function answersOf(service: Running, id: number): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const path of [...reads, `deal/${id}`, `deal/${id}/history`]) {
    const reply = await service.get(`${v1}/${path}`)
    const text = await reply.text()
    assert.equal(reply.status, 200, `${path}: ${text}`)
    answers.set(path, text.replaceAll(following, ''))
  }
  return answers
}

async function made(service: Running, path: string, body: object): Promise<{ id: number }> {
  const reply = await service.post(`${v1}/${path}`, body)
  const text = await reply.text()
  assert.ok(reply.ok, `${path}: ${text}`)
  return JSON.parse(text).data
}

test('a database in the process can’t be distributed', async () => {
  const folder = temporaryFolder('distribute')
  migratedDirectory(folder)
  const { code, err } = await distribute({ DATA_DIR: folder })
  assert.equal(code, 1)
  assert.match(err, /can't be distributed: set DATABASE_URL to the coordinator/)
})

test('a node that does not answer is named with the reason, and not for its time zone', async t => {
  const server = await startPostgres()
  if (!server) return t.skip('PostgreSQL is not installed')
  const url = await createDatabase(server.url)
  const db = await openDatabase({ url: `${url}?options=-c%20search_path%3Dcluster,pg_catalog`, log() {} })
  // The catalog of a cluster whose second node is down.
  for (const text of [
    'CREATE SCHEMA cluster',
    "CREATE VIEW cluster.pg_extension AS SELECT 'citus' AS extname, '13.2-1' AS extversion",
    `CREATE VIEW cluster.pg_dist_node AS SELECT n AS nodeid, 'node' || n AS nodename, 5432 AS nodeport,
      true AS isactive, 'primary' AS noderole, true AS shouldhaveshards FROM generate_series(1, 2) n`,
    `CREATE FUNCTION cluster.run_command_on_all_nodes(text)
      RETURNS TABLE (nodeid int, success boolean, result text) LANGUAGE sql
      AS $$ VALUES (1, true, 'UTC'), (2, false, 'connection refused') $$`,
  ])
    await db.sql.query(text)
  await assert.rejects(requireDistributable(db.sql.query), {
    name: 'StartupError',
    message: 'The node node2:5432 does not answer: connection refused',
  })
  await db.close()
  await dropDatabase(url)
  await server.stop()
})

describe('a database that is in use', { skip }, async () => {
  if (!cluster) return
  const url = await createDatabase(cluster.url)
  const env = { DATABASE_URL: url }
  const refused = async (expected: RegExp, ...args: string[]) => {
    const { code, out, err } = await distribute(env, ...args)
    assert.deepEqual([code, out], [1, ''], err)
    assert.match(err, expected)
  }
  const ids = { deal: 0 }
  let workers: string[] = []
  let before: Map<string, string>
  let token = ''
  let running: Running | null = null
  after(async () => {
    await running?.end()
    await dropDatabase(url)
    for (const worker of workers) await dropDatabase(worker)
  })

  const start = async (more = {}): Promise<Running> => {
    const service = await runService({ ...env, SAMPLE_DATA: '1', DEALWRIGHT_TOKEN: token, ...more })
    if (service.token) token = service.token
    return service
  }

  test('it is filled, and answers', async () => {
    running = await start()
    const deal = await (await running.get(`${v1}/deal/view/list?pageSize=1`)).json()
    ids.deal = (deal as { data: { id: number }[] }).data[0]!.id
    await made(running, 'field', { source: 'deal', field_name: 'Weight', type: 'SINGLE_NUMBER' })
    await made(running, 'webhook', { url: 'https://127.0.0.1:9/hook', events: ['deal.won'] })
    before = await answersOf(running, ids.deal)
  })

  test('what is missing is said in one line', async () => {
    await refused(/no extension citus: CREATE EXTENSION citus on each node/)
    await refused(/--shards is a whole number from 1 to 1024/, '--shards', '0')
    workers = await makeWorkers(url, cluster.url)
    await refused(/no node for rows: add one with SELECT citus_add_node/)
    await addNodes(url, workers)
    const name = new URL(url).pathname.slice(1)
    const alone = 'SET citus.enable_ddl_propagation = off'
    await ask(workers[0]!, alone, `ALTER DATABASE ${name} SET timezone = 'Europe/Berlin'`)
    await refused(/The nodes [\w.]+:\d+ don't use UTC: ALTER SYSTEM SET timezone = 'UTC'/)
    await ask(workers[0]!, alone, `ALTER DATABASE ${name} RESET timezone`)
    await refused(/The service is running: stop all of its processes first/)
    await running!.end()
  })

  test('a half-distributed one is refused by a start, and completed', async () => {
    // As a call leaves it that was interrupted after the first table.
    await ask(url, "SELECT create_distributed_table('account', 'account_id', shard_count => 4)")
    await assert.rejects(start(), /Only 1 of \d+ tables are distributed: "dealwright distribute" goes on/)
  })

  test('it is distributed, and answers as before', async () => {
    const { code, out, err } = await distribute(env, '--shards', '4', '--json')
    assert.equal(code, 0, err)
    const { distributed } = JSON.parse(out) as { distributed: string[] }
    assert.ok(distributed.includes('deal') && distributed.includes('webhook_progress'))
    assert.ok(!distributed.includes('account'))
    const [found] = (await ask(
      url,
      `SELECT bool_or(result::int > 0)::text AS is_known
      FROM run_command_on_shards('deal', 'SELECT reltuples::int FROM pg_class WHERE oid = ''%s''::regclass')`,
    )) as { is_known: string }[]
    assert.equal(found!.is_known, 'true')
    const left = (await ask(
      url,
      `SELECT c.relname FROM pg_class c LEFT JOIN pg_dist_partition p ON p.logicalrelid = c.oid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND p.logicalrelid IS NULL`,
    )) as { relname: string }[]
    assert.deepEqual(
      left.map(({ relname }) => relname).filter(name => name !== 'schema_migration'),
      [],
    )
    running = await start()
    const now = await answersOf(running, ids.deal)
    for (const [path, answer] of before) assert.equal(now.get(path), answer, path)
  })

  test('it is written to, each write whole', async () => {
    const title = 'Distributed'
    const reply = await fetch(`${running!.url}${v1}/deal/${ids.deal}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    })
    assert.equal(reply.status, 200, await reply.text())
    const history = await (await running!.get(`${v1}/deal/${ids.deal}/history`)).text()
    assert.match(history, /"to":"Distributed"/)
    // Citus notes there what it commits in two phases; the first statement removes what is finished.
    const inTwoPhases = ['SELECT recover_prepared_transactions()', 'SELECT 1 FROM pg_dist_transaction']
    await ask(env.DATABASE_URL, ...inTwoPhases)
    const person = { last_name: 'Nested' }
    const place = { pipeline: 2, pipeline_stage: 3, sales_owner: 1 }
    await made(running!, 'deal', { title: 'One phase', ...place, primary_contact: person })
    await made(running!, 'product/batch', { operations: [{ op: 'create', data: { name: 'One phase' } }] })
    await made(running!, 'token', { name: 'One phase', scopes: ['deal:read'] })
    assert.deepEqual(await ask(env.DATABASE_URL, inTwoPhases[1]!), [])
    await running!.end()
    running = null
  })

  test('a second call has nothing to do', async () => {
    const again = await distribute(env)
    assert.equal(again.code, 0, again.err)
    assert.match(again.out, /^All \d+ tables of accounts are distributed already\./)
  })

  test('a start knows the coordinator from a worker, and refuses a replica', async () => {
    await assert.rejects(start({ DATABASE_URL: workers[0]! }), /is a worker of a Citus cluster/)
    await assert.rejects(
      start({ DATABASE_READ_URL: url }),
      /this one is distributed over several: leave it out/,
    )
  })
})
