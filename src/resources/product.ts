/**
 * The product: its fields as data, and its rules, by which values follow from its prices and its owner. Pure;
 * knows no HTTP and no SQL.
 */
import { decimal, decimalJson, rounded } from '../fields/decimal.ts'
import { defineFields, derived, field, idField, recordFields, shortText } from '../fields/define.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { isObject, type Json, jsonNumber } from '../json.ts'

const quantity = { min: 0, max: jsonNumber('9999999999999999') }

/** In the order of the interface. A published id is never reused. A new product is active (D47). */
const fields = defineFields('product', {
  'Basic information': [
    idField(201),
    field(202, 'name', 'Name', 'SINGLE_STRING', { is_required: true, config: shortText }),
    field(203, 'product_code', 'Product code', 'SINGLE_STRING', {
      accepts_number: true,
      config: { min_length: 1, max_length: 20 },
    }),
    field(204, 'category', 'Category', 'DROPDOWN'),
    field(205, 'unit_price', 'Unit price', 'PRICE_TAGS', { config: { min: 0, max: 9999999999999 } }),
    field(206, 'active', 'Active', 'DROPDOWN', { options: ['Yes', 'No'], default_value: 1 }),
    field(207, 'taxable', 'Taxable', 'DROPDOWN', { options: ['Yes', 'No'] }),
    field(208, 'quantity_ordered', 'Quantity ordered', 'SINGLE_NUMBER', { config: quantity }),
    field(209, 'quantity_in_stock', 'Quantity in stock', 'SINGLE_NUMBER', { config: quantity }),
    field(210, 'description', 'Description', 'TEXT', { config: shortText }),
    field(211, 'type', 'Type', 'DROPDOWN', { options: ['Unit', 'Subscription'] }),
    field(212, 'sku_number', 'SKU number', 'SINGLE_STRING', {
      accepts_number: true,
      config: { min_length: 1, max_length: 16 },
    }),
    field(213, 'valid_till', 'Valid till', 'DATE_TIME'),
  ],
  Record: [
    field(214, 'sales_owner', 'Sales owner', 'OWNER', { related: 'user', is_offered: true }),
    field(215, 'created_by', 'Created by', 'OWNER', { is_read_only: true, related: 'user' }),
    field(216, 'updated_by', 'Updated by', 'OWNER', { is_read_only: true, related: 'user' }),
    field(217, 'created_at', 'Created at', 'DATE_TIME', { is_read_only: true, is_filled: true }),
    field(218, 'updated_at', 'Updated at', 'DATE_TIME', { is_read_only: true, is_filled: true }),
    field(219, 'last_assigned_at', 'Last assigned at', 'DATE_TIME', derived('sales_owner')),
    field(220, 'base_currency_amount', 'Base currency amount', 'MONETARY', {
      in_base: 'base_currency_amount',
      ...derived('unit_price'),
      is_volatile: true,
    }),
    ...recordFields(221),
  ],
})

export const product: Resource = {
  name: 'product',
  source: {
    id: 2,
    name: 'Product',
    config: { isPriceVariationsEnabled: true, isProductDurationsEnabled: false },
  },
  fields,
  shownAs: ['name'],
  isBusinessData: true,
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
