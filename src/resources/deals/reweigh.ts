/**
 * Updates open deals after a change of a stage's probability or rotting days (D21, D24), by the backfill of
 * records/backfill.ts.
 */
import type { Catalog } from '../../fields/catalog.ts'
import { halfEven } from '../../fields/decimal.ts'
import { backfill } from '../../records/backfill.ts'
import type { Transaction } from '../../records/store.ts'
import { sql } from '../../sql.ts'

export async function reweighDeals(db: Transaction, catalog: Catalog): Promise<void> {
  const stages = JSON.stringify([...catalog.stages.values()])
  const currencies = JSON.stringify([unvalued, ...catalog.currencies.values()])
  await backfill(db, catalog, {
    table: 'deal',
    values: {
      stage_probability: sql`s.probability`,
      stage_rotting_days: sql`s.rotting_days`,
      weighted_value_currency: sql`r.deal_value_currency`,
      weighted_value_currency_code: sql`r.deal_value_currency_code`,
      weighted_value_value: halfEven(sql`r.deal_value_value * s.probability * 0.01`, sql`c.decimals`),
    },
    from: [
      sql`jsonb_to_recordset(${stages}::jsonb) s (id bigint, probability int, rotting_days int)`,
      sql`jsonb_to_recordset(${currencies}::jsonb) c (id int, decimals int)`,
    ],
    where: sql`r.status = 1 AND s.id = r.pipeline_stage AND c.id = coalesce(r.deal_value_currency, 0)`,
  })
}

/** Stands for the currency of a deal without a value. */
const unvalued = { id: 0, decimals: 0 }
