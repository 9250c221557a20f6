/**
 * Updates the amounts of open deals and products after a change of a rate (D24, D26). Closed deals keep the
 * amount of the day they were closed. How records are updated is in records/derive.ts.
 */
import type { Catalog } from '../fields/catalog.ts'
import { halfEven } from '../fields/decimal.ts'
import { type Derivation, derive } from '../records/derive.ts'
import type { Queryable } from '../records/store.ts'

/** Brings an account's amounts in base currency in line with its rates. */
export async function revalueRecords(db: Queryable, catalog: Catalog): Promise<void> {
  const { account, currencies } = catalog
  const base = currencies.get(account.base_currency)!
  const rates = [...currencies.values()].map(({ id, rate }) => ({ id, rate: id === base.id ? '1' : rate }))
  const params = [
    JSON.stringify([{ id: 0, rate: null }, ...rates]),
    String(base.id),
    base.code,
    String(base.decimals),
  ]
  await derive(db, catalog, deals, params)
  await derive(db, catalog, products, params)
}

/** $2 rates: [{id, rate}], 0 for a record without a value, $3 base currency, $4 its code, $5 its decimals. */
const rates = 'jsonb_to_recordset($2::jsonb) c (id int, rate numeric)'

/** An amount in base currency as the columns of its field. */
const columns = (field: string, value: string) => ({
  [`${field}_currency`]: `CASE WHEN ${value} IS NOT NULL THEN $3::int END`,
  [`${field}_currency_code`]: `CASE WHEN ${value} IS NOT NULL THEN $4::text END`,
  [`${field}_value`]: value,
})

const deals: Derivation = {
  table: 'deal',
  values: columns('deal_value_in_base_currency', halfEven('r.deal_value_value * c.rate', '$5::text')),
  from: [rates],
  where: 'r.status = 1 AND c.id = coalesce(r.deal_value_currency, 0)',
}

/** The price in the base currency, or the first price that has a rate, as in products/product.ts. */
const products: Derivation = {
  table: 'product',
  values: columns(
    'base_currency_amount',
    `(SELECT ${halfEven("(e.price ->> 'price')::numeric * c.rate", '$5::text')}
      FROM jsonb_array_elements(r.unit_price) WITH ORDINALITY e (price, place) JOIN ${rates} ON c.id = (e.price ->> 'currency')::int
      WHERE c.rate IS NOT NULL ORDER BY c.id = $3::int DESC, e.place LIMIT 1)`,
  ),
  from: [],
  where: 'true',
}
