/**
 * The product lines of a deal (D23): what a line leaves out comes from the product's price in the deal's currency; name and code are copied,
 * so that a product deleted later leaves the deal whole. Exact decimals throughout. Pure.
 */
import type { Currency } from '../fields/catalog.ts'
import { type Decimal, decimal, decimalJson, rounded } from '../fields/decimal.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Draft } from '../records/resource.ts'

export type Lines = { readonly lines: JsonObject[]; readonly amount: Decimal; readonly quantity: Decimal }

/** The lines of the deal as it would be saved, with their sums; what can't be filled is reported. */
export function settledLines(draft: Draft, lines: readonly Json[], currency: Currency): Lines {
  const stored = new Map(storedLines(draft).map(line => [line.product as number, line]))
  const settled = lines.filter(isObject).map((line, index) => settledLine(draft, line, index, currency, stored))
  const sum = (member: string) => settled.reduce((total, line) => total.plus(decimal(line[member]) ?? 0), decimal(0)!)
  return { lines: settled, amount: sum('amount'), quantity: sum('quantity') }
}

function settledLine(
  draft: Draft,
  line: JsonObject,
  index: number,
  currency: Currency,
  stored: ReadonlyMap<number, JsonObject>,
): JsonObject {
  const product = line.product as number
  const record = draft.related('product', product)
  const copied = stored.get(product) ?? record
  const price = priceIn(record, currency)
  if (line.unit_price === null && record && !price) {
    draft.problem('deal_value', 'no_price', `needs a unit_price: the product has none in ${currency.code}`, {
      at: `/products/${index}/unit_price`,
    })
  }
  const isOwn = line.unit_price !== null
  const of = (member: string) => line[member] ?? (isOwn ? null : (price?.[member] ?? null))
  const unit_price = line.unit_price ?? price?.price ?? 0
  const [discount, tax] = [of('discount'), of('tax')]
  const amount = rounded(
    decimal(line.quantity)!
      .times(decimal(unit_price)!)
      .times(decimal(100)!.minus(decimal(discount) ?? 0))
      .times(decimal(100)!.plus(decimal(tax) ?? 0))
      .times(decimal('0.0001')!),
    currency.decimals,
  )
  const { name = null, product_code = null } = copied ?? {}
  return { product, name, product_code, quantity: line.quantity!, unit_price, discount, tax, amount: decimalJson(amount) }
}

function storedLines({ before }: Draft): JsonObject[] {
  const value = before?.deal_value
  return isObject(value ?? null) && Array.isArray((value as JsonObject).products)
    ? ((value as JsonObject).products as Json[]).filter(isObject)
    : []
}

function priceIn(record: JsonObject | null, currency: Currency): JsonObject | null {
  const prices = Array.isArray(record?.unit_price) ? record.unit_price.filter(isObject) : []
  return prices.find(price => price.currency === currency.id) ?? null
}
