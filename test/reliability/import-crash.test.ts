/** A short run of the script; `npm run import-crash` is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importCrash } from './import-crash.ts'

const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

test('kill -9 during an import, and during its revert, loses and doubles nothing', async context => {
  const tally = await importCrash(engine, 3)
  // TEST_DATABASE_URL alone: there is no server that may be started.
  if (!tally) return context.skip('PostgreSQL is not installed here')
  const { kills: _, revertKills: __, ...wrong } = tally
  assert.deepEqual(wrong, { missing: 0, twice: 0, unnamed: 0, doubles: 0, left: 0 })
})
