/** A short run of the copies that the feed keeps; `npm run copy` is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copied } from './copy.ts'

const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

test('copies kept by the feed alone equal the database, whatever is killed', async context => {
  const outcome = await copied(engine, 2)
  // TEST_DATABASE_URL alone: there is no server that may be killed.
  if (!outcome) return context.skip('PostgreSQL is not installed here')
  const none = { poll: 0, 'long poll': 0, stream: 0 }
  assert.ok(outcome.events > 0)
  assert.deepEqual(outcome, { events: outcome.events, missed: none, doubled: none, different: none })
})
