/**
 * The product lines of a deal (D23). Members that a line leaves out come from the product's price in the
 * deal's currency, or from the stored line if there is no such price any more. Name and code are copied, so
 * that a deal stays complete when a product is deleted. Exact decimals throughout. Pure.
 */
import type { Currency } from '../../fields/catalog.ts'
import { type Decimal, decimal, decimalJson, plain, rounded } from '../../fields/decimal.ts'
import type { Config } from '../../fields/field.ts'
import { readOnlyMember } from '../../fields/kinds/known-members.ts'
import { lineKeys, moneyRange } from '../../fields/kinds/product-lines.ts'
import type { Draft } from '../../fields/resource.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../json.ts'

export type Lines = { readonly lines: JsonObject[]; readonly amount: Decimal; readonly quantity: Decimal }

/**
 * Completes the lines of the deal to be saved, and sums them up. Reports members that can't be filled in, and
 * sent ones that do not fit the currency or the interface's range.
 */
export function completedLines(draft: Draft, lines: readonly Json[], currency: Currency): Lines {
  const stored = storedLines(draft, currency)
  const completed = lines
    .filter(isObject)
    .map((line, index) => completedLine(draft, line, index, currency, stored(line.product!)))
  const sum = (member: string) =>
    completed.reduce((total, line) => total.plus(decimal(line[member]) ?? 0), decimal(0)!)
  return { lines: completed, amount: sum('amount'), quantity: sum('quantity') }
}

/** Reports an amount made of sent values that is out of `range`; `at` is its place in the deal's value. */
export function checkWorth({ sent, problem }: Draft, amount: Decimal, at: string, range: Config): void {
  if (!sent.has('deal_value')) return
  const [min, max] = [decimal(range.min ?? moneyRange.min)!, decimal(range.max ?? moneyRange.max)!]
  if (amount.gte(min) && amount.lte(max)) return
  problem(
    'deal_value',
    'out_of_range',
    `comes to ${plain(amount)}, but must come to ${plain(min)} to ${plain(max)}`,
    { at },
  )
}

/** Warns of a value that was not the sum of the lines, and becomes their sum. */
export function warnOfOwnValue({ before, warn }: Draft, sum: Decimal): void {
  const amountOf = (money: Json | undefined) => decimal(isObject(money) ? money.value : 0) ?? decimal(0)!
  const was = amountOf(before?.deal_value)
  if (was.eq(0) || was.eq(sum) || was.eq(amountOf(before?.product_amount))) return
  const message = `deal_value.value was ${plain(was)} and is now ${plain(sum)}, the sum of the products. To keep it, send it with them.`
  warn({ field: 'deal_value', code: 'value_from_products', message })
}

/** A stored line. `price` is its price in the deal's currency; null if it was stored in another currency. */
type StoredLine = { readonly line: JsonObject; readonly price: JsonObject | null }

/**
 * The stored lines by product. Another call for the same product returns its next line: two lines of one
 * product may have different prices. A further line of a product that is gone is like the last one.
 */
function storedLines({ before, related }: Draft, currency: Currency): (product: Json) => StoredLine | null {
  const value = isObject(before?.deal_value) ? before.deal_value : {}
  const lines = Array.isArray(value.products) ? value.products.filter(isObject) : []
  const byProduct = Map.groupBy(lines, line => line.product)
  return product => {
    const alike = byProduct.get(product) ?? []
    const line = alike.length > 1 || related('product', product as number) ? alike.shift() : alike[0]
    return line ? { line, price: value.currency === currency.id ? line : null } : null
  }
}

function completedLine(
  draft: Draft,
  line: JsonObject,
  index: number,
  currency: Currency,
  stored: StoredLine | null,
): JsonObject {
  const at = `/products/${index}`
  const product = line.product as number
  const record = draft.related('product', product)
  const fallback = priceIn(record, currency) ?? stored?.price ?? null
  const isOwn = line.unit_price !== null
  if (!isOwn && !fallback && (record || stored)) {
    const because = record
      ? `the product has none in ${currency.code}`
      : 'the product was deleted or may not be read'
    draft.problem('deal_value', 'no_price', `must be given: ${because}`, { at: `${at}/unit_price` })
  }
  const of = (member: string) => line[member] ?? (isOwn ? null : (fallback?.[member] ?? null))
  const [unit_price, discount, tax] = [of('unit_price') ?? 0, of('discount'), of('tax')]
  if (!isOwn && stored?.price) warnOfPrice(draft, index, line, stored.price, { unit_price, discount, tax })
  const amount = rounded(
    decimal(line.quantity)!
      .times(decimal(unit_price)!)
      .times(decimal(100)!.minus(decimal(discount) ?? 0))
      .times(decimal(100)!.plus(decimal(tax) ?? 0))
      .times(decimal('0.0001')!),
    currency.decimals,
  )
  checkWorth(draft, amount, at, moneyRange)
  const { name = null, product_code = null } = stored?.line ?? record ?? {}
  const completed: JsonObject = {
    product,
    name,
    product_code,
    quantity: line.quantity!,
    unit_price,
    discount,
    tax,
    amount: decimalJson(amount),
  }
  // A line that was not sent is the stored one itself.
  if (line !== stored?.line) warnOfTold(draft, at, line, completed)
  return completed
}

/** Warns of derived members that were sent with other values (D4). */
function warnOfTold({ warn, undoes }: Draft, at: string, sent: JsonObject, made: JsonObject): void {
  // An undo restores whole lines (D83).
  if (undoes) return
  for (const name of lineKeys) {
    const [value, own] = [sent[name] ?? null, made[name]!]
    const isOwn = value === null || isSameJson(value, own) || (name === 'amount' && isSameNumber(value, own))
    const path = `/deal_value${at}/${name}`
    if (!isOwn) warn({ field: 'deal_value', code: 'read_only', message: `${readOnlyMember}.`, path })
  }
}

/** True if two numbers are equal; the first may be text. */
function isSameNumber(one: Json, other: Json): boolean {
  return decimal(one)?.eq(decimal(other)!) ?? false
}

/** The product's own price in a currency, in the form of a line. */
function priceIn(record: JsonObject | null, currency: Currency): JsonObject | null {
  const prices = Array.isArray(record?.unit_price) ? record.unit_price.filter(isObject) : []
  const found = prices.find(price => price.currency === currency.id)
  return found ? { unit_price: found.price!, discount: found.discount!, tax: found.tax! } : null
}

/**
 * Lines are replaced whole (D5). A line that is sent without its price takes the product's current price,
 * which may differ from the stored one.
 */
function warnOfPrice(
  { warn }: Draft,
  index: number,
  sent: JsonObject,
  was: JsonObject,
  now: JsonObject,
): void {
  const replaced = Object.keys(now).filter(
    member => sent[member] === null && !isSameJson(was[member] ?? null, now[member]!),
  )
  if (replaced.length === 0) return
  const message = `deal_value.products[${index}] took its ${replaced.join(', ')} from the product. To keep other values, send them with the line.`
  warn({ field: 'deal_value', code: 'taken_from_product', path: `/deal_value/products/${index}`, message })
}
