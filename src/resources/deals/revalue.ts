/**
 * Updates the amounts of open deals and products after a change of a rate (D24, D26), by the backfill of
 * records/backfill.ts. Closed deals keep the amount of the day they were closed, whatever the base currency
 * (D141).
 */
import type { Catalog } from '../../fields/catalog.ts'
import { halfEven } from '../../fields/decimal.ts'
import { type Backfill, backfill } from '../../records/backfill.ts'
import type { Transaction } from '../../records/store.ts'
import { param, type Sql, sql } from '../../sql.ts'

/** Backfills an account's amounts in base currency from its rates. */
export async function revalueRecords(db: Transaction, catalog: Catalog): Promise<void> {
  const { account, currencies } = catalog
  const base = currencies.get(account.base_currency)!
  const rates = [...currencies.values()].map(({ id, rate }) => ({ id, rate: id === base.id ? '1' : rate }))
  // 0 stands for a record without a value.
  const all = JSON.stringify([{ id: 0, rate: null }, ...rates])
  const worth: Worth = {
    rates: sql`jsonb_to_recordset(${all}::jsonb) c (id int, rate numeric)`,
    currency: sql`${param(String(base.id))}::int`,
    code: sql`${param(base.code)}::text`,
    decimals: sql`${param(String(base.decimals))}::text`,
  }
  await backfill(db, catalog, openDeals(worth))
  await backfill(db, catalog, closedDeals(worth))
  await backfill(db, catalog, products(worth))
}

/** The rates, as an item of a FROM, and the base currency. */
type Worth = { readonly rates: Sql; readonly currency: Sql; readonly code: Sql; readonly decimals: Sql }

function openDeals(worth: Worth): Backfill {
  const areOpen = sql`r.status = 1 AND c.id = coalesce(r.deal_value_currency, 0)`
  return deals(worth, sql`r.deal_value_value`, areOpen)
}

/**
 * Converts the base currency amounts of closed deals from a former base currency, by that currency's exchange
 * rate (D141).
 */
function closedDeals(worth: Worth): Backfill {
  const areOfAnother = sql`r.status <> 1 AND c.id = r.deal_value_in_base_currency_currency
    AND c.id <> ${worth.currency} AND c.rate IS NOT NULL`
  return deals(worth, sql`r.deal_value_in_base_currency_value`, areOfAnother)
}

function deals(worth: Worth, amount: Sql, where: Sql): Backfill {
  const value = halfEven(sql`${amount} * c.rate`, worth.decimals)
  const values = columns('deal_value_in_base_currency', value, worth)
  return { table: 'deal', values, from: [worth.rates], where }
}

/** The price in the base currency, or the first price that has a rate, as in resources/product.ts. */
function products(worth: Worth): Backfill {
  const value = sql`(
    SELECT ${halfEven(sql`(e.price ->> 'price')::numeric * c.rate`, worth.decimals)}
    FROM jsonb_array_elements(r.unit_price) WITH ORDINALITY e (price, place)
      JOIN ${worth.rates} ON c.id = (e.price ->> 'currency')::int
    WHERE c.rate IS NOT NULL ORDER BY c.id = ${worth.currency} DESC, e.place LIMIT 1)`
  return {
    table: 'product',
    values: columns('base_currency_amount', value, worth),
    from: [],
    where: sql`true`,
  }
}

/** An amount in base currency as the columns of its field. */
function columns(field: string, value: Sql, { currency, code }: Worth): { [column: string]: Sql } {
  return {
    [`${field}_currency`]: sql`CASE WHEN ${value} IS NOT NULL THEN ${currency} END`,
    [`${field}_currency_code`]: sql`CASE WHEN ${value} IS NOT NULL THEN ${code} END`,
    [`${field}_value`]: value,
  }
}
