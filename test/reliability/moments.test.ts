/**
 * Times of writes (D123): the events of an account never run backwards, and a record's times are those of its
 * events, while ten writers write over three processes whose clocks are minutes apart.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { workOn } from '../../src/records/work.ts'
import { createRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { untilOneWaits } from '../support/held-lock.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known } = service
const clock = (minutes: number) => () => new Date(Date.now() + minutes * 60_000)
const processes = [
  service,
  await service.another({ now: clock(7) }),
  await service.another({ now: clock(-9) }),
]

type WriteResponse = {
  seq: number
  type: string
  resource: string
  id: number
  version: number
  at: string
  changes: Changes
}
type Changes = { [name: string]: { after: unknown } }

const iso = (sql: string) => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const events = async (): Promise<WriteResponse[]> => {
  const rows = await db.query(
    `SELECT json_build_object('seq', seq, 'type', type, 'resource', resource, 'id', record_id, 'version', version, 'at', ${iso('at')},
      'changes', changes)::text AS told FROM event WHERE account_id = 1 ORDER BY seq`,
  )
  return rows.map(({ told }) => JSON.parse(told!))
}
/** Answers with records, to be compared with the event of their version. */
const answered: { resource: string; reply: Reply }[] = []

async function write(writer: number): Promise<void> {
  const one = processes[writer % processes.length]!
  const send = async (method: string, resource: string, path: string, body?: Parameters<typeof call>[2]) => {
    const reply = await one.call(method, `${v1}/${resource}${path}`, body, {
      'idempotency-key': crypto.randomUUID(),
    })
    assert.ok(reply.status < 300, `${method} ${resource}${path}: ${reply.text}`)
    if (method !== 'DELETE') {
      answered.push({ resource, reply })
      if (resource !== 'field') {
        const read = (await get(`${v1}/${resource}/${reply.body.data.id}`)).body.data
        assert.deepEqual(read, reply.body.data)
      }
    }
    return reply.body.data.id as number
  }
  for (let count = 0; count < 4; count++) {
    const name = `${writer}.${count}`
    const body = dealBody(known, { title: name, primary_contact: { last_name: name, company: { name } } })
    const deal = await send('POST', 'deal', '', body)
    await send('PATCH', 'deal', `/${deal}`, {
      pipeline_stage: 'Won',
      won_reason: 'Price',
      deal_closed_on: '2026-01-01',
    })
    await send('PATCH', 'deal', `/${deal}`, {
      pipeline_stage: 'New',
      metadata: { at: 'now', updated_at: 'infinity' },
    })
    await send('DELETE', 'deal', `/${deal}`)
    if (count % 2) await send('POST', 'deal', `/${deal}/restore`)
  }
  const name = `${writer}`
  const pipeline = await send('POST', 'pipeline', '', { name })
  await send('POST', 'pipeline_stage', '', { pipeline, name })
  await send('DELETE', 'pipeline', `/${pipeline}`)
  await send('POST', 'pipeline', `/${pipeline}/restore`)
  const field = await send('POST', 'field', '', { source: 'company', field_name: name, type: 'TIME' })
  await send('DELETE', 'field', `/${field}`)
}

test('events never run backwards, and records say what their events say', async () => {
  const [from] = await db.query(`SELECT ${iso('clock_timestamp()')} AS now`)
  await Promise.all(Array.from({ length: 10 }, (_, writer) => write(writer)))
  const [until] = await db.query(`SELECT ${iso('clock_timestamp()')} AS now`)
  const log = await events()
  // All of the account's events, including the sample data's.
  for (const [index, { seq, at }] of log.entries()) {
    assert.equal(seq, index + 1)
    assert.ok(index === 0 || at >= log[index - 1]!.at, `event ${seq} is before the one before it`)
  }
  const ofRecord = Map.groupBy(log, ({ resource, id }) => `${resource} ${id}`)
  for (const { resource, reply } of answered.filter(({ resource }) => resource !== 'field')) {
    const { id, version, updated_at } = reply.body.data
    const told = ofRecord.get(`${resource} ${id}`)!.find(event => event.version === version)!
    assert.equal(told.at, updated_at, `${resource} ${id}, version ${version}`)
    assert.ok(from!.now! <= updated_at && updated_at <= until!.now!)
  }
  for (const resource of [
    'deal',
    'contact',
    'company',
    'activity',
    'product',
    'pipeline',
    'pipeline_stage',
    'user',
    'tag',
  ]) {
    const rows = await db.query(
      `SELECT id::text AS id, concat('{', document, '}') AS document, ${iso('created_at')} AS created_at, ${iso('updated_at')} AS updated_at,
        ${iso('deleted_at')} AS deleted_at FROM "${resource}" WHERE account_id = 1`,
    )
    for (const { id, document, created_at, updated_at, deleted_at } of rows) {
      const history = ofRecord.get(`${resource} ${id}`)!
      const [made, last] = [history[0]!, history.at(-1)!]
      const changed = history.findLast(({ type }) => !type.endsWith('.deleted'))!
      const stored = JSON.parse(document!)
      assert.deepEqual(
        [created_at, stored.created_at, made.changes.created_at!.after],
        [made.at, made.at, made.at],
      )
      assert.deepEqual([updated_at, stored.updated_at], [changed.at, changed.at])
      assert.equal(deleted_at, last.type.endsWith('.deleted') ? last.at : null)
    }
  }
  for (const { at, changes } of log) {
    for (const name of ['won_time', 'lost_time', 'deal_stage_updated_at', 'last_assigned_at']) {
      const after = changes[name]?.after ?? null
      if (after !== null) assert.equal(after, at, name)
    }
  }
  const fields = await db.query(
    `SELECT id::text AS id, ${iso('deleted_at')} AS deleted_at FROM field WHERE account_id = 1 AND deleted_at IS NOT NULL`,
  )
  assert.equal(fields.length, 10)
  for (const { id, deleted_at } of fields) assert.equal(ofRecord.get(`field ${id}`)!.at(-1)!.at, deleted_at)
})

test('the time is that under the lock, not that of the request', async () => {
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  let released = ''
  const [reply] = await db.sql.begin(async sql => {
    await sql.query('SELECT 1 FROM counter WHERE account_id = 1 FOR UPDATE')
    const waiting = call('PATCH', `${v1}/deal/${id}`, { title: 'Waited' })
    await untilOneWaits(db)
    released = (await sql.query(`SELECT ${iso('clock_timestamp()')} AS now`))[0]!.now!
    return [waiting]
  })
  const { updated_at } = (await reply!).body.data
  assert.ok(updated_at >= released, `${updated_at} is before ${released}`)
})

test('history that is written later is not dated before what is there', async () => {
  const catalog = await loadCatalog(db, resources, 1)
  const { at } = (await events()).at(-1)!
  const context = { catalog, actor: 1, at: new Date(0) }
  const saved = await createRecord(workOn(db, context, 'tag'), { name: 'Long ago' })
  assert.equal(JSON.parse(saved.record).created_at, at)
  assert.deepEqual((await events()).at(-1)!.at, at)
})
