/** The sample's deals stay the same while a test compares two reads of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../support/service.ts'

const { db } = await startService()

test('no open deal of the sample grows a day older in the hours after a first start', async () => {
  const rows = await db.query(`
    SELECT count(*)::int AS moments,
      max(date_part('epoch', now() - moment)::numeric % 86400) / 3600::float8 AS hours
    FROM deal, unnest(ARRAY[created_at, deal_stage_updated_at, last_done_at]) moment
    WHERE account_id = 1 AND status = 1 AND moment IS NOT NULL`)
  const [{ moments, hours }] = rows as unknown as [{ moments: number; hours: number }]
  assert.ok(moments > 300, String(moments))
  assert.ok(hours < 19, `an open deal grows a day older in ${24 - hours} hours`)
})
