/** A short run of the crash script; `npm run crash` is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crash } from './crash.ts'

const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

test('kill -9 during writes loses, doubles and halves nothing', async context => {
  const tally = await crash(engine, 3)
  // TEST_DATABASE_URL alone: there is no server that may be killed.
  if (!tally) return context.skip('PostgreSQL is not installed here')
  assert.ok(tally.acknowledged > 0)
  assert.deepEqual(
    { ...tally, acknowledged: 0 },
    { rounds: 3, acknowledged: 0, lost: 0, duplicated: 0, halfWritten: 0 },
  )
})
