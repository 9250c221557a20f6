/**
 * Concurrent clients change the same records over two processes: each acknowledged change is in the event
 * log, once, and replaying the events leads from the first state to the last without a gap.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { resources } from '../../src/resources/resources.ts'
import { purgeFields } from '../../src/work/background/purge.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const other = await service.another()
const { call, db, get, known } = service

type Changes = { [name: string]: { before: unknown; after: unknown } }
type Acknowledged = { readonly version: number; readonly sent: { [name: string]: unknown } }

const [clients, changesEach] = [8, 30]

test('the history explains every record and every acknowledged change', async () => {
  const records = await Promise.all(
    ['a', 'b', 'c'].map(
      async title => (await call('POST', `${v1}/deal`, dealBody(known, { title }))).body.data,
    ),
  )
  const acknowledged = new Map<number, Acknowledged[]>(records.map(({ id }) => [id, []]))
  let conflicts = 0
  const client = async (number: number) => {
    for (let count = 0; count < changesEach; count++) {
      const { id } = records[(number + count) % records.length]!
      // Some fields are shared, one is the client's own.
      const sent: { [name: string]: string | number } =
        count % 3 === 0
          ? { title: `${number}.${count}` }
          : { description: `${number}.${count}`, cf_custom_number_field: number * 1000 + count }
      const one = number % 2 ? service : other
      const headers: Record<string, string> = {}
      if (count % 5 === 0)
        headers['if-match'] = (await one.call('GET', `${v1}/deal/${id}`)).headers.get('etag')!
      const reply = await one.call('PATCH', `${v1}/deal/${id}`, sent, headers)
      if (reply.status === 200) acknowledged.get(id)!.push({ version: reply.body.data.version, sent })
      else {
        assert.ok(reply.status === 412 || reply.status === 409, reply.text)
        conflicts++
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  let total = 0
  for (const { id } of records) {
    const { log, state } = await historyOf(id)
    const record = (await get(`${v1}/deal/${id}`)).body.data
    assert.equal(record.version, log.length)
    for (const name of ['title', 'description', 'cf_custom_number_field'])
      assert.deepEqual(record[name] ?? null, state[name] ?? null)
    const byVersion = new Map(log.map(({ version, changes }) => [version, changes]))
    for (const { version, sent } of acknowledged.get(id)!) {
      for (const [name, value] of Object.entries(sent))
        assert.deepEqual(byVersion.get(version)?.[name]?.after, value)
    }
    const versions = acknowledged.get(id)!.map(({ version }) => version)
    assert.equal(new Set(versions).size, versions.length)
    assert.equal(versions.length, log.length - 1)
    total += versions.length
  }
  assert.equal(total + conflicts, clients * changesEach)
  const [log] = await db.query(
    'SELECT count(*)::text AS n, max(seq)::text AS last, (SELECT last_seq FROM counter WHERE account_id = 1)::text AS counter FROM event WHERE account_id = 1',
  )
  assert.deepEqual([log!.n, log!.last], [log!.last, log!.counter])
})

test('a field that is purged while others write leaves no gap in any history, and no value', async () => {
  const field = (
    await call('POST', `${v1}/field`, { source: 'deal', field_name: 'Passing', type: 'SINGLE_STRING' })
  ).body.data
  const bodies = Array.from({ length: 12 }, () => dealBody(known, { cf_passing: 'secret 1' }))
  const made = await Promise.all(bodies.map(body => call('POST', `${v1}/deal`, body)))
  const ids = made.map(reply => reply.body.data.id as number)
  await Promise.all(
    ids.map(id =>
      call('PATCH', `${v1}/deal/${id}`, { cf_passing: id % 3 ? 'secret 2' : null, title: 'Second' }),
    ),
  )
  assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
  const catalog = await loadCatalog(db, resources, 1)
  const write = async (id: number, one: Pick<typeof service, 'call'>) => {
    for (let count = 0; count < 6; count++) await one.call('PATCH', `${v1}/deal/${id}`, { title: `${count}` })
  }
  const [purged] = await Promise.all([
    purgeFields(db, catalog, new Date(Date.now() + 1000)),
    ...ids.map((id, index) => write(id, index % 2 ? service : other)),
  ])
  assert.deepEqual(purged, ['cf_passing'])
  for (const id of ids) {
    const { log, state } = await historyOf(id)
    const { version, title } = (await get(`${v1}/deal/${id}`)).body.data
    assert.deepEqual([version, title], [log.length, state.title])
    const [row] = await db.query('SELECT custom::text AS custom, document FROM deal WHERE id = $1::bigint', [
      String(id),
    ])
    assert.doesNotMatch(JSON.stringify([log, row]), /secret/)
  }
})

/** The events of a deal, one a version, and the state after replaying them. */
async function historyOf(
  id: number,
): Promise<{ log: { version: number; changes: Changes }[]; state: { [name: string]: unknown } }> {
  const events = await db.query(
    'SELECT version::text, changes::text FROM event WHERE account_id = 1 AND resource = $1::text AND record_id = $2::bigint ORDER BY seq',
    ['deal', String(id)],
  )
  const log = events.map(({ version, changes }) => ({
    version: Number(version),
    changes: JSON.parse(changes!) as Changes,
  }))
  assert.deepEqual(
    log.map(({ version }) => version),
    log.map((_, index) => index + 1),
  )
  const state: { [name: string]: unknown } = {}
  for (const { changes, version } of log) {
    for (const [name, { before, after }] of Object.entries(changes)) {
      if (version > 1)
        assert.ok(isDeepStrictEqual(state[name] ?? null, before), `${name} of version ${version}`)
      state[name] = after
    }
  }
  return { log, state }
}

test('changes of different fields at the same moment all survive', async () => {
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const changes = [
    { title: 'T' },
    { description: 'D' },
    { cf_custom_number_field: 1 },
    { source: 'Web' },
    { tags: [] },
    { company: known.company },
  ]
  const replies = await Promise.all(
    changes.map((body, index) => (index % 2 ? service : other).call('PATCH', `${v1}/deal/${id}`, body)),
  )
  assert.ok(replies.every(reply => reply.status === 200))
  const { title, description, cf_custom_number_field, company } = (await get(`${v1}/deal/${id}`)).body.data
  assert.deepEqual([title, description, cf_custom_number_field, company], ['T', 'D', 1, known.company])
})
