/**
 * What follows for open deals and for products when a rate changes (D24, D26). Statements that find for themselves what differs: they may be
 * repeated at any time. Closed deals keep the amount of the day they were closed; versions and times stay.
 */
import type { Catalog } from '../fields/catalog.ts'
import { halfEven } from '../fields/decimal.ts'
import type { Queryable } from '../records/store.ts'

/** Brings an account's amounts in base currency in line with its rates. `query` must have no time limit. */
export async function revalueRecords(query: Queryable['query'], { account, currencies }: Catalog): Promise<void> {
  const base = currencies.get(account.base_currency)!
  const rated = [...currencies.values()].filter(({ id, rate }) => rate !== null || id === base.id)
  const rates = Object.fromEntries(rated.map(({ id, rate }) => [id, id === base.id ? '1' : rate]))
  const params = [String(account.id), JSON.stringify(rates), String(base.id), base.code, String(base.decimals)]
  await query(deals, params)
  await query(products, params)
}

const rateOf = (currency: string) => `($2::jsonb ->> ${currency})::numeric`

/** $1 account, $2 rates by currency, $3 base currency, $4 its code, $5 its decimals. */
const deals = `UPDATE deal r SET deal_value_in_base_currency_currency = CASE WHEN x.value IS NOT NULL THEN $3::int END,
    deal_value_in_base_currency_currency_code = CASE WHEN x.value IS NOT NULL THEN $4::text END, deal_value_in_base_currency_value = x.value
  FROM (SELECT d.id, ${halfEven(`d.deal_value_value * ${rateOf('d.deal_value_currency::text')}`, '$5::text')} AS value
    FROM deal d WHERE d.account_id = $1::bigint AND d.status = 1) x
  WHERE r.account_id = $1::bigint AND r.id = x.id AND r.deal_value_in_base_currency_value IS DISTINCT FROM x.value`

/** The price in the base currency, else the first that has a rate, as in products/product.ts. The same parameters. */
const products = `UPDATE product r SET base_currency_amount_currency = CASE WHEN x.value IS NOT NULL THEN $3::int END,
    base_currency_amount_currency_code = CASE WHEN x.value IS NOT NULL THEN $4::text END, base_currency_amount_value = x.value
  FROM (SELECT p.id, (SELECT ${halfEven(`(e.price ->> 'price')::numeric * ${rateOf(`(e.price ->> 'currency')`)}`, '$5::text')}
      FROM jsonb_array_elements(p.unit_price) WITH ORDINALITY e (price, place) WHERE $2::jsonb ? (e.price ->> 'currency')
      ORDER BY (e.price ->> 'currency')::int = $3::int DESC, e.place LIMIT 1) AS value
    FROM product p WHERE p.account_id = $1::bigint) x
  WHERE r.account_id = $1::bigint AND r.id = x.id AND r.base_currency_amount_value IS DISTINCT FROM x.value`
