/**
 * What follows for open deals when a stage's probability or rotting days change (D21, D24). One statement, which finds for itself what differs:
 * it may be repeated at any time. The deals' versions and times stay, as nobody has changed them.
 */
import type { Catalog } from '../fields/catalog.ts'
import { halfEven } from '../fields/decimal.ts'
import type { Queryable } from '../records/store.ts'

/** Brings an account's deals in line with its stages. `query` must have no time limit. */
export async function reweighDeals(query: Queryable['query'], { account, stages, currencies }: Catalog): Promise<void> {
  const weights = [...stages.values()].map(({ id, probability, rotting_days }) => ({ id, probability, rotting_days }))
  const decimals = Object.fromEntries([...currencies.values()].map(currency => [currency.id, currency.decimals]))
  await query(statement, [String(account.id), JSON.stringify(weights), JSON.stringify(decimals)])
}

/** $1 account, $2 stages: [{id, probability, rotting_days}], $3 decimals by currency. */
const statement = `UPDATE deal r SET stage_probability = s.probability, stage_rotting_days = s.rotting_days,
    weighted_value_value = ${halfEven('r.deal_value_value * s.probability / 100', '($3::jsonb ->> r.deal_value_currency::text)')}
  FROM jsonb_to_recordset($2::jsonb) s (id bigint, probability int, rotting_days int)
  WHERE r.account_id = $1::bigint AND s.id = r.pipeline_stage AND r.status = 1
    AND (r.stage_probability <> s.probability OR r.stage_rotting_days IS DISTINCT FROM s.rotting_days)`
