/** A short run of the fuzzing script; `npm run fuzz` is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../support/service.ts'
import { fuzz, seedRecords } from './fuzz.ts'

const requests = 2500

test(`${requests} random requests: no fault, no hang, no trace of what was refused`, async () => {
  const service = await startService({ sampleData: false })
  await seedRecords(service)
  const said: string[] = []
  const tally = await fuzz(service, requests, 20_261_121, line => said.push(line))
  assert.deepEqual(said, [])
  assert.deepEqual([tally.requests, tally.faults, tally.hangs, tally.traces], [requests, 0, 0, 0])
  assert.ok(tally.saved > 50 && tally.refused > 500, JSON.stringify(tally))
})
