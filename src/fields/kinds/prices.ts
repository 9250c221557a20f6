/**
 * PRICE_TAGS: one price for each currency (D26), stored and read as [{currency, currency_code, price, tax,
 * discount}].
 */
import { isObject, type Json } from '../../json.ts'
import { filledJsonDocument, jsonDocument } from '../columns.ts'
import { type Decimal, decimal, decimalJson } from '../decimal.ts'
import type { Config, Kind, ParseContext, Schemas } from '../field.ts'
import { equality, ordered, presenceTerm } from '../term.ts'
import { knownMembers } from './known-members.ts'
import { checkedCurrency, currencyOperand, currencySchema, warnOfCode } from './money.ts'
import { items, jsonArray } from './multiselect.ts'
import { amountSchema, checkedNumber, numericOperand } from './number.ts'
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
    const entries = input.map((entry, index) => parseEntry(entry, context, stored, `/${index}`))
    if (entries.includes(undefined)) return undefined
    const currencies = entries.map(entry => entry!.currency)
    const repeated = currencies.findIndex((currency, index) => currencies.indexOf(currency) !== index)
    if (repeated >= 0) {
      return context.problem(
        'duplicate_currency',
        `is ${entries[repeated]!.currency_code}, in which another price is already`,
        {
          at: `/${repeated}/currency`,
        },
      )
    }
    return entries as Json[]
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

function parseEntry(
  input: Json,
  context: ParseContext,
  stored: readonly Json[],
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
  const currency =
    input.currency === undefined || input.currency === null
      ? context.problem('required', 'must be given', { at: `${at}/currency` })
      : checkedCurrency(input.currency, context, stored, `${at}/currency`)
  warnOfCode(input, currency, context, at)
  const isGiven = (name: string) => input[name] !== undefined && input[name] !== null
  const member = isGiven('price') && !isGiven('unit_price') ? 'price' : 'unit_price'
  const limits = { ...context.field.config, ...priceDecimals }
  const price = agreed(input, context, at)
    ? checkedNumber(input[member], context, limits, `${at}/${member}`)
    : undefined
  const tax = optionalPercentage(input.tax, context, `${at}/tax`)
  const discount = optionalPercentage(input.discount, context, `${at}/discount`)
  if (!known || !currency || !price || tax === undefined || discount === undefined) return undefined
  return {
    currency: currency.id,
    currency_code: currency.code,
    price: decimalJson(price),
    tax: json(tax),
    discount: json(discount),
  }
}

/** unit_price and price are aliases. If both are sent, they must be equal. */
function agreed(input: { [name: string]: Json }, context: ParseContext, at: string): boolean {
  const [one, other] = [decimal(input.unit_price), decimal(input.price)]
  if (!one || !other || one.eq(other)) return true
  context.problem('contradiction', 'must be equal to unit_price, which means the same', {
    at: `${at}/price`,
  })
  return false
}

function optionalPercentage(
  input: Json | undefined,
  context: ParseContext,
  at: string,
): Decimal | null | undefined {
  return input === undefined || input === null ? null : checkedNumber(input, context, percentage, at)
}

function json(value: Decimal | null): Json {
  return value && decimalJson(value)
}
