/**
 * PRICE_TAGS: one price for each currency (D26), stored and read as [{currency, currency_code, price, tax,
 * discount}].
 */
import { isObject, isPresent, type Json, type JsonObject } from '../../json.ts'
import type { Currency } from '../catalog.ts'
import { filledJsonDocument, jsonDocument } from '../columns.ts'
import { type Decimal, decimal, decimalJson } from '../decimal.ts'
import type { Config, Kind, ParseContext, Schemas } from '../field.ts'
import { equality, ordered, presenceTerm } from '../term.ts'
import { knownMembers } from './known-members.ts'
import { checkedCurrency, currencyOperand, currencySchema, warnOfCode } from './money.ts'
import { items, jsonArray } from './multiselect.ts'
import { amountSchema, checkedNumber, numericOperand, optionalNumber } from './number.ts'
import { percentage, priceDecimals } from './product-lines.ts'
import { arrayOf, closedObject, openObject, orNull } from './schemas.ts'

export const prices: Kind = {
  members: ['currency', 'price', 'unit_price', 'tax', 'discount'],
  empty: [],
  limits: ['min', 'max'],
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context, current) => {
    if (!Array.isArray(input)) {
      return context.problem('wrong_type', 'must be an array of prices', {
        hint: 'For example [{"currency":"USD","unit_price":"49.90"}].',
      })
    }
    const most = context.catalog.currencies.size
    if (input.length > most)
      return context.problem('too_many', `must have at most ${most} prices, one in each currency`)
    const stored = items(current).map(entry => (isObject(entry) ? entry.currency! : null))
    const seen = new Set<number>()
    const entries = input.map((entry, index) => parseEntry(entry, context, { stored, seen }, `/${index}`))
    return entries.includes(undefined) ? undefined : (entries as Json[])
  },
  schema: ({ config }) => entrySchemas(config),
  write: value => [JSON.stringify(items(value))],
  term: (field, member) => {
    if (member === '') return presenceTerm(filledJsonDocument(field))
    if (!prices.members.includes(member)) return null
    const name = member === 'unit_price' ? 'price' : member
    const type = member === 'currency' ? 'bigint' : 'numeric'
    return {
      type,
      multi: true,
      sql: jsonArray(jsonDocument(field), type, `$[*].${name}`),
      operators: member === 'currency' ? equality : ordered,
      operand: member === 'currency' ? currencyOperand : numericOperand,
      order: null,
    }
  },
  subFields: field => [
    { name: 'currency', input_type: 'CURRENCY', display_name: 'Currency', config: {} },
    { name: 'unit_price', input_type: 'UNIT_PRICE', display_name: 'Unit price', config: field.config },
    { name: 'tax', input_type: 'TAX', display_name: 'Tax', config: { min: 0, max: 100 } },
    { name: 'discount', input_type: 'DISCOUNT', display_name: 'Discount', config: { min: 0, max: 100 } },
  ],
}

function entrySchemas(limits: Config): Schemas {
  const [price, percents] = [amountSchema(limits), orNull(amountSchema(percentage))]
  // Null is as if the member were left out: then the other one tells the price.
  const sent = { unit_price: orNull(price), price: {}, tax: percents, discount: percents }
  const number = { type: 'number' }
  const read = { price: number, tax: orNull(number), discount: orNull(number) }
  const entry = {
    ...closedObject({ currency: currencySchema, currency_code: {}, ...sent }, ['currency']),
    anyOf: [
      { required: ['unit_price'], not: { properties: { unit_price: { type: 'null' } } } },
      { required: ['price'], properties: { price } },
    ],
  }
  return {
    input: arrayOf(entry),
    output: arrayOf(
      openObject({ currency: { type: 'integer' }, currency_code: { type: 'string' }, ...read }),
    ),
  }
}

/** The currencies of the stored prices, and those of the prices parsed so far. */
type Currencies = { readonly stored: readonly Json[]; readonly seen: Set<number> }

function parseEntry(
  input: Json,
  context: ParseContext,
  currencies: Currencies,
  at: string,
): { [name: string]: Json } | undefined {
  if (!isObject(input))
    return context.problem('wrong_type', 'must be an object with a currency and a unit_price', { at })
  const known = knownMembers(
    input,
    ['currency', 'currency_code', 'unit_price', 'price', 'tax', 'discount'],
    context,
    at,
  )
  const currency = entryCurrency(input, context, currencies, at)
  warnOfCode(input, currency, context, at)
  const price = agreed(input, context, at) ? entryPrice(input, context, at) : undefined
  const tax = optionalNumber(input.tax, context, percentage, `${at}/tax`)
  const discount = optionalNumber(input.discount, context, percentage, `${at}/discount`)
  if (!known || !currency || !price || tax === undefined || discount === undefined) return undefined
  return {
    currency: currency.id,
    currency_code: currency.code,
    price: decimalJson(price),
    tax,
    discount,
  }
}

/** The currency of a price, which no other one has. */
function entryCurrency(
  input: JsonObject,
  context: ParseContext,
  { stored, seen }: Currencies,
  place: string,
): Currency | undefined {
  const at = `${place}/currency`
  if (!isPresent(input.currency))
    return context.problem('required', 'must be given', { at, hint: 'For example "USD".' })
  const currency = checkedCurrency(input.currency, context, stored, at)
  if (currency && seen.has(currency.id))
    return context.problem('duplicate_currency', `is ${currency.code}, in which another price is already`, {
      at,
    })
  if (currency) seen.add(currency.id)
  return currency
}

function entryPrice(input: JsonObject, context: ParseContext, at: string): Decimal | undefined {
  const member = isPresent(input.price) && !isPresent(input.unit_price) ? 'price' : 'unit_price'
  if (!isPresent(input[member]))
    return context.problem('required', 'must be given', {
      at: `${at}/${member}`,
      hint: 'For example "49.90".',
    })
  const limits = { ...context.field.config, ...priceDecimals }
  return checkedNumber(input[member], context, limits, `${at}/${member}`)
}

/** unit_price and price are aliases. If both are sent, they must be equal. */
function agreed(input: JsonObject, context: ParseContext, at: string): boolean {
  const [one, other] = [decimal(input.unit_price), decimal(input.price)]
  // A unit_price that is no number is a problem of its own.
  if (!one || !isPresent(input.price) || other?.eq(one)) return true
  context.problem('contradiction', 'must be equal to unit_price, which means the same', {
    at: `${at}/price`,
  })
  return false
}
