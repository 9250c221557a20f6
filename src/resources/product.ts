/** The rules of a product: values derived from its prices and its owner. Pure; knows no HTTP and no SQL. */
import { decimal, decimalJson, rounded } from '../fields/decimal.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { isObject, type Json } from '../json.ts'
import { productFields } from './product-fields.ts'

export const product: Resource = {
  name: 'product',
  source: {
    id: 2,
    name: 'Product',
    config: { isPriceVariationsEnabled: true, isProductDurationsEnabled: false },
  },
  fields: productFields,
  shownAs: ['name'],
  namedBy: ['product_code', 'name'],
  searched: ['product_code'],
  snapshot: ['name', 'product_code', 'unit_price'],
  applyRules: draft => {
    const { after, before, momentPlaceholder } = draft
    if (after.sales_owner !== null && after.sales_owner !== before?.sales_owner)
      after.last_assigned_at = momentPlaceholder
    after.base_currency_amount = baseAmount(draft)
  },
}

/**
 * The price in the account's base currency: the price given in that currency, or the first price whose
 * currency has a rate. Null if none has: a rate of 1 is never assumed.
 */
function baseAmount({ after, catalog }: Draft): Json {
  const base = catalog.currencies.get(catalog.account.base_currency)
  if (!base || !Array.isArray(after.unit_price)) return null
  const prices = after.unit_price
    .filter(isObject)
    .map(price => ({ amount: decimal(price.price)!, currency: price.currency as number }))
  const own = prices.find(price => price.currency === base.id)
  const priced = own ?? prices.find(price => catalog.currencies.get(price.currency)?.rate)
  if (!priced) return null
  const rate = own ? decimal(1)! : decimal(catalog.currencies.get(priced.currency)!.rate)!
  return {
    currency: base.id,
    currency_code: base.code,
    value: decimalJson(rounded(priced.amount.times(rate), base.decimals)),
  }
}
