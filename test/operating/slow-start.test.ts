/** A start whose database is slow when the link to sign in is made: it serves, and says so. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { runService, temporaryFolder } from '../support/running-service.ts'

const server = await startPostgres()
after(() => server?.stop())

test('a start goes on without a link where the database does not make one in time', {
  skip: !server && 'PostgreSQL is not installed',
}, async () => {
  const env = {
    DATABASE_URL: await createDatabase(server!.url),
    DATA_DIR: temporaryFolder('slow'),
    SAMPLE_DATA: '0',
  }
  const first = await runService(env)
  await first.end()
  const client = new Client({ connectionString: env.DATABASE_URL })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE sign_in_link IN ACCESS EXCLUSIVE MODE')
  const second = await runService(env)
  await second.logged(/This start shows no link to sign in; .+ The request waited too long/)
  assert.equal((await second.get('/healthz')).status, 200)
  await client.end()
  await second.end()
})
