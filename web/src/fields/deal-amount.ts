/**
 * The value of a deal while it is edited: its amount, and the product lines from which it may be derived
 * (D23).
 */
import { decimalsOf } from './currencies.ts'
import {
  checkDecimal,
  isDecimal,
  linesTotal,
  percentage,
  plain,
  priceDecimals,
  sameDecimal,
} from './decimal.ts'
import { type Money, writeMoney } from './kinds/money.tsx'

export type Decimal = number | string | null

export type ProductLine = {
  readonly product: number
  readonly name?: string | null
  readonly product_code?: string | null
  readonly quantity: Decimal
  readonly unit_price: Decimal
  readonly discount: Decimal
  readonly tax: Decimal
  readonly amount?: Decimal
}

export type DealValue = Money & {
  readonly products?: readonly ProductLine[]
  /** True if the value follows the lines; undefined: compare the amounts */
  readonly follows?: boolean
  /** the text of a product that is not chosen yet */
  readonly pending?: string
}

export const decimalsOfValue = (value: DealValue | null): number =>
  decimalsOf(value?.currency ?? value?.currency_code) ?? 2

/** The sum of the lines, as a decimal. */
export function totalOf(value: DealValue | null): string {
  return plain(linesTotal(value?.products ?? [], decimalsOfValue(value)))
}

/** True if the value follows the lines: as chosen, else if both are the same amount. */
export function followsLines(value: DealValue | null): boolean {
  if (!value?.products?.length) return false
  return value.follows ?? (sameDecimal(value.value ?? 0, totalOf(value)) || Number(value.value ?? 0) === 0)
}

/** The value with other lines; if it follows them, with their sum. */
export function withLines(value: DealValue | null, products: readonly ProductLine[]): DealValue {
  const follows = value?.products?.length
    ? followsLines(value)
    : (value?.follows ?? Number(value?.value ?? 0) === 0)
  const next = { ...value, products, follows }
  return follows && products.length > 0 ? { ...next, value: totalOf(next) } : next
}

export type Priced = Pick<ProductLine, 'unit_price' | 'discount' | 'tax'>

/**
 * A line in another currency: `own` and `other` are the product's prices in the two. Prices that the user has
 * overridden stay.
 */
export function repriced(line: ProductLine, own: Priced | null, other: Priced | null): ProductLine {
  const isOwn = (member: keyof Priced) =>
    line[member] === null || (own?.[member] != null && sameDecimal(own[member], line[member]))
  const of = (member: keyof Priced) => (isOwn(member) ? (other?.[member] ?? null) : line[member])
  return { ...line, unit_price: of('unit_price'), discount: of('discount'), tax: of('tax') }
}

const quantities = { min: 0, max: 9_999_999_999, max_decimals: 6 }

export function checkLines(
  value: DealValue,
  limits: { min?: number; max?: number },
): { readonly [line: number]: string } {
  const price = { ...limits, ...priceDecimals }
  const wrong: { [line: number]: string } = {}
  for (const [index, line] of (value.products ?? []).entries()) {
    const found = [
      ['Quantity', checkDecimal(line.quantity, quantities)],
      ['Price', line.unit_price === null ? 'Enter a price.' : checkDecimal(line.unit_price, price)],
      ['Discount', line.discount === null ? undefined : checkDecimal(line.discount, percentage)],
      ['Tax', line.tax === null ? undefined : checkDecimal(line.tax, percentage)],
    ].find(([, problem]) => problem)
    if (found) wrong[index] = `${found[0]}: ${found[1]}`
  }
  return wrong
}

const sent = (value: Decimal) => (isDecimal(value) ? plain(value) : value)

/** Lines are sent whole, with the displayed prices; a value that follows them is left out. */
export function writeDealValue(value: DealValue): unknown {
  const money = writeMoney(value)
  if (value.products === undefined) return money
  const products = value.products.map(({ product, quantity, unit_price, discount, tax }) => ({
    product,
    quantity: sent(quantity),
    ...(unit_price === null ? {} : { unit_price: sent(unit_price) }),
    discount: sent(discount),
    tax: sent(tax),
  }))
  if (!followsLines(value)) return { ...money, products }
  const { value: _, ...currency } = money
  return { ...currency, products }
}
