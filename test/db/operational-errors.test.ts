/** Operational errors (D101): callers and the log get the cause, without any value. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pino from 'pino'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const server = await startPostgres()
after(() => server?.stop())
const options = { skip: server === null && 'PostgreSQL is not installed' }

/** Sets it for future connections; there are no others. */
async function setReadOnly(db: Database, isOn: boolean): Promise<void> {
  const [row] = await db.query('SELECT current_database() AS name')
  await db.sql.query(
    `BEGIN READ WRITE; ALTER DATABASE ${row!.name} SET default_transaction_read_only = ${isOn}; COMMIT`,
  )
  const others =
    'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()'
  await db.query(`${others} AND pid <> pg_backend_pid()`)
}

test(
  'a server that takes no writes: 503 for them and why, reads go on, and writes too when it does again',
  options,
  async () => {
    const url = await createDatabase(server!.url)
    const said: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).msg) })
    const { known, call, get, db } = await startService({ url, log })
    const administrator = await openDatabase({ url, poolSize: 1, log() {} })
    after(() => administrator.close())
    const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
    const writes = () =>
      Promise.all([
        call('POST', `${v1}/deal`, dealBody(known, { title: 'A secret' })),
        call('POST', `${v1}/deal`, dealBody(known), { 'idempotency-key': 'read-only' }),
        call('PATCH', `${v1}/deal/${id}`, { title: 'Another secret' }),
        call('DELETE', `${v1}/deal/${id}`),
        call('POST', `${v1}/tag`, { name: 'A tag' }),
        call('POST', `${v1}/field`, { resource: 'deal', label: 'A field', type: 'TEXT' }),
      ])

    await setReadOnly(administrator, true)
    await eventually(() => db.ready(), 'a database that is ready')
    for (const reply of await writes()) {
      assert.deepEqual([reply.status, reply.body.code], [503, 9002], reply.text)
      assert.match(reply.body.detail, /takes no writes now: it is read-only/)
      assert.ok(Number(reply.headers.get('retry-after')) > 0)
    }
    assert.equal((await get(`${v1}/deal/${id}`)).status, 200)
    assert.equal((await get(`${v1}/deal/view/list`)).status, 200)
    const lines = said.filter(line => /takes no writes now.*25006/.test(line))
    assert.equal(lines.length, 1, said.join('\n'))
    assert.doesNotMatch(said.join('\n'), /secret/)
    await assert.rejects(openDatabase({ url, log() {} }), {
      name: 'StartupError',
      message: /takes no writes/,
    })

    await setReadOnly(administrator, false)
    await eventually(() => db.ready(), 'a database that is ready')
    for (const reply of await writes())
      assert.ok(reply.status < 300 || reply.status === 404 || reply.status === 422, reply.text)
  },
)

test('what is no fault of who asks is 503 and says what is the matter; a fault of ours is none of it', () => {
  const refused = (code: string) =>
    databaseRefusal(Object.assign(new Error('of a value'), { name: 'PostgresError', code }))
  const matters = {
    '25006': /read-only/,
    '42501': /lacks a right/,
    '53100': /disk is full/,
    '53200': /out of memory/,
    '53300': /overloaded/,
    '58030': /files/,
    XX001: /damage/,
  }
  for (const [code, what] of Object.entries(matters)) {
    const { slug, message, headers } = refused(code)!
    assert.equal(slug, 'database_unavailable')
    assert.match(message, what)
    assert.doesNotMatch(message, /value/)
    assert.ok(Number(headers['retry-after']) > 0)
  }
  for (const code of ['42601', '42P01', '22P02', '25P02', 'XX000', 'ENOENT'])
    assert.equal(refused(code), null, code)
})
