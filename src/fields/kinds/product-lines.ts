/**
 * The product lines of a deal's value (D23), as sent: a product, a quantity, and overrides of the product's
 * own price. resources/deals/lines.ts fills in the defaults, and computes the amounts.
 */
import { isObject, isPresent, type Json, type JsonObject } from '../../json.ts'
import { decimalJson } from '../decimal.ts'
import type { ParseContext, Schemas } from '../field.ts'
import { whereRecordsAre } from './how-to-write.ts'
import { knownMembers } from './known-members.ts'
import { amountSchema, checkedNumber, optionalNumber } from './number.ts'
import { checkedId } from './reference.ts'
import { arrayOf, closedObject, openObject, orNull } from './schemas.ts'

const linesMax = 200
const quantityLimits = { min: 0, max: 9_999_999_999, max_decimals: 6 }
/** Limits of a discount and of a tax. */
export const percentage = { min: 0, max: 100, max_decimals: 6 }
/** The interface's range of every amount. */
export const moneyRange = { min: 0, max: 9_999_999_999_999 }
/** A unit price may have fractions of the smallest coin; amounts computed from it are rounded (D23, D26). */
export const priceDecimals = { max_decimals: 4 }
/** Limits of the price of a line. Those of the deal's value are no limits of the prices that make it up. */
const priceLimits = { ...moneyRange, ...priceDecimals }
/** Read-only members of a line. They may be sent back; other values cause a warning (D4). */
export const lineKeys = ['name', 'product_code', 'amount']

/**
 * The lines sent, each {product, quantity, unit_price, discount, tax} with null for omitted members, and the
 * read-only members that were sent; undefined after a problem.
 */
export function parseLines(input: Json, context: ParseContext): Json[] | undefined {
  const at = '/products'
  if (input === null) return []
  if (!Array.isArray(input)) {
    return context.problem('wrong_type', 'must be an array of product lines', {
      at,
      hint: 'For example [{"product":7,"quantity":2}].',
    })
  }
  if (input.length > linesMax)
    return context.problem('too_many', `must have at most ${linesMax} lines`, { at })
  const lines = input.map((line, index) => parseLine(line, context, `${at}/${index}`))
  return lines.includes(undefined) ? undefined : (lines as Json[])
}

/** The lines as sent, and as read. */
export function lineSchemas(): Schemas {
  const id = { type: ['integer', 'string'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER, pattern: '\\S' }
  const own = "The product's own in the deal's currency if it is left out."
  const percents = orNull(amountSchema(percentage))
  const sent = {
    product: { ...id, description: 'A product: its id, code or name.' },
    quantity: amountSchema(quantityLimits),
    unit_price: { ...orNull(amountSchema(priceLimits)), description: own },
    discount: percents,
    tax: percents,
    ...Object.fromEntries(lineKeys.map(name => [name, {}])),
  }
  const [number, text] = [{ type: 'number' }, orNull({ type: 'string' })]
  const line = openObject({
    product: { type: 'integer' },
    name: text,
    product_code: text,
    quantity: number,
    unit_price: number,
    discount: orNull(number),
    tax: orNull(number),
    amount: number,
  })
  return {
    input: {
      type: ['array', 'null'],
      items: closedObject(sent, ['product', 'quantity']),
      maxItems: linesMax,
      description: 'The product lines. They are replaced whole: send those that stay, too.',
    },
    output: arrayOf(line),
  }
}

function parseLine(input: Json, context: ParseContext, at: string): JsonObject | undefined {
  if (!isObject(input))
    return context.problem('wrong_type', 'must be an object with a product and a quantity', {
      at,
      hint: 'For example {"product":7,"quantity":2}.',
    })
  const known = knownMembers(
    input,
    ['product', 'quantity', 'unit_price', 'discount', 'tax', ...lineKeys],
    context,
    at,
  )
  const product = productId(input.product, context, `${at}/product`)
  const quantity = isPresent(input.quantity)
    ? checkedNumber(input.quantity, context, quantityLimits, `${at}/quantity`)
    : context.problem('required', 'must be given', { at: `${at}/quantity`, hint: 'For example 1.' })
  const unit_price = optionalNumber(input.unit_price, context, priceLimits, `${at}/unit_price`)
  const discount = optionalNumber(input.discount, context, percentage, `${at}/discount`)
  const tax = optionalNumber(input.tax, context, percentage, `${at}/tax`)
  if (!known || product === undefined || !quantity) return undefined
  if (unit_price === undefined || discount === undefined || tax === undefined) return undefined
  return {
    ...{ product, quantity: decimalJson(quantity), unit_price, discount, tax },
    ...Object.fromEntries(lineKeys.filter(name => name in input).map(name => [name, input[name]!])),
  }
}

export function productOf(line: Json): Json {
  return isObject(line) ? (line.product ?? null) : null
}

function productId(input: Json | undefined, context: ParseContext, at: string): number | undefined {
  const resource = context.field.lines_of!
  if (!isPresent(input))
    return context.problem('required', 'must be given', { at, hint: whereRecordsAre(resource) })
  if (typeof input === 'string') return context.named(resource, input, at)
  return checkedId(input, resource, 'the code or the name', context, at)
}
