/** Time of a deal in each stage: by arithmetic, and on its page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stageTimes } from '../../web/src/records/record/stage-times.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const day = 86_400_000
const at = (days: number) => new Date(Date.UTC(2026, 0, 1) + days * day).toISOString()

test('each stage counts as often as the deal was in it', () => {
  const deal = { id: 1, created_at: at(0), pipeline_stage: 2 }
  const changes = [
    { at: at(9), from: 3, to: 2 },
    { at: at(5), from: 2, to: 3 },
    { at: at(2), from: 1, to: 2 },
  ]
  const times = stageTimes(changes, deal, Date.parse(at(10)))
  assert.deepEqual([...times].sort(), [
    [1, 2 * day],
    [2, 4 * day],
    [3, 4 * day],
  ])
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  assert.equal(total, 10 * day)
  assert.deepEqual([...stageTimes([], deal, Date.parse(at(3)))], [[2, 3 * day]])
})

test('the page of a deal says how many days it was in each stage', { skip: noBrowser }, async () => {
  const service = await startService()
  const { call, known, db } = service
  const { body } = await call('POST', `${v1}/deal`, dealBody(known, { title: 'Timed' }))
  const { id } = body.data
  await call('PATCH', `${v1}/deal/${id}`, { pipeline_stage: known.stages.Proposal! })
  // Made ten days ago, and moved three days ago.
  const moved = `EXTRACT(EPOCH FROM now() - interval '3 days 1 hour')`
  await db.query(
    `UPDATE deal SET document = regexp_replace(document, '"created_at":"[^"]+"', '"created_at":"' ||
      to_char(now() AT TIME ZONE 'UTC' - interval '10 days 2 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"')
     WHERE account_id = 1 AND id = $1::bigint`,
    [String(id)],
  )
  await db.query(
    `UPDATE event SET at = to_timestamp(${moved}) WHERE account_id = 1 AND record_id = $1::bigint
     AND type = 'deal.updated'`,
    [String(id)],
  )
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  const stages = page.getByRole('radiogroup', { name: 'Stage' })
  await stages.getByRole('radio', { name: 'New' }).getByText('7 d').waitFor()
  await stages.getByRole('radio', { name: 'Proposal' }).getByText('3 d').waitFor()
  assert.equal(await stages.getByText(/\d d$/).count(), 2)
  await accessible('a deal with the days of each stage')
  await end()
})
