/**
 * Updates open deals after a change of a stage's probability or rotting days (D21, D24). How records are
 * updated is in records/derive.ts.
 */
import type { Catalog } from '../fields/catalog.ts'
import { halfEven } from '../fields/decimal.ts'
import { type Derivation, derive } from '../records/derive.ts'
import type { Queryable } from '../records/store.ts'

/** Brings an account's deals in line with its stages. */
export async function reweighDeals(db: Queryable, catalog: Catalog): Promise<void> {
  const stages = [...catalog.stages.values()].map(({ id, probability, rotting_days }) => ({
    id,
    probability,
    rotting_days,
  }))
  const currencies = [...catalog.currencies.values()].map(({ id, decimals }) => ({ id, decimals }))
  await derive(db, catalog, deals, [
    JSON.stringify(stages),
    JSON.stringify([{ id: 0, decimals: 0 }, ...currencies]),
  ])
}

/**
 * $2 stages: [{id, probability, rotting_days}], $3 currencies: [{id, decimals}], 0 for a deal without a
 * value.
 */
const deals: Derivation = {
  table: 'deal',
  values: {
    stage_probability: 's.probability',
    stage_rotting_days: 's.rotting_days',
    weighted_value_currency: 'r.deal_value_currency',
    weighted_value_currency_code: 'r.deal_value_currency_code',
    weighted_value_value: halfEven('r.deal_value_value * s.probability * 0.01', 'c.decimals'),
  },
  from: [
    'jsonb_to_recordset($2::jsonb) s (id bigint, probability int, rotting_days int)',
    'jsonb_to_recordset($3::jsonb) c (id int, decimals int)',
  ],
  where: 'r.status = 1 AND s.id = r.pipeline_stage AND c.id = coalesce(r.deal_value_currency, 0)',
}
