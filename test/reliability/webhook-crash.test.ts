/** A short run of the script; `npm run webhook-crash` is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookCrash } from './webhook-crash.ts'

const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

test('kill -9 while events are delivered loses none and changes no order', async context => {
  const tally = await webhookCrash(engine, 2)
  // TEST_DATABASE_URL alone: there is no server that may be started.
  if (!tally) return context.skip('PostgreSQL is not installed here')
  assert.ok(tally.events > 0)
  assert.deepEqual(
    { ...tally, events: 0, again: 0 },
    { rounds: 2, events: 0, lost: 0, outOfOrder: 0, badSignatures: 0, uncleanEnds: 0, again: 0 },
  )
})
