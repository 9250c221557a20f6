/**
 * DEAL_VALUE and MONETARY: an amount in a currency (D14, D22). Stored and read as {currency, currency_code,
 * value}; a deal's value also carries its product lines. ISO 4217 fixes both the id and the code of a
 * currency, so both are stored with the amount.
 */
import { isObject, type Json } from '../../json.ts'
import { type Sql, sql } from '../../sql.ts'
import type { Catalog, Currency } from '../catalog.ts'
import { column, containedAt, type Expression, scalar, textOrder } from '../columns.ts'
import { decimalJson, numberText, plain, plainPattern } from '../decimal.ts'
import type { Config, Field, Kind, ParseContext, Schema, Schemas } from '../field.ts'
import { inCapitals } from '../in-capitals.ts'
import { suggestion } from '../nearest.ts'
import { equality, type OperandProblem, type Order, ordered, type VisibleSql } from '../term.ts'
import { findOption } from './dropdown.ts'
import { knownMembers, warnOfReadOnly } from './known-members.ts'
import { jsonArray } from './multiselect.ts'
import { amountSchema, checkedNumber, idOperand, numericOperand } from './number.ts'
import { lineSchemas, parseLines, productOf } from './product-lines.ts'
import { closedObject, openObject, orNull } from './schemas.ts'

export const money: Kind = {
  members: ['currency', 'value', 'products'],
  pointsTo: value => (isObject(value) && Array.isArray(value.products) ? value.products.map(productOf) : []),
  limits: ['min', 'max'],
  parts: [{ member: 'value' }, { member: 'currency', named: 'currency_code' }],
  columns: field => [
    { name: `${field.internal_name}_currency`, type: 'int' },
    { name: `${field.internal_name}_currency_code`, type: 'text' },
    { name: `${field.internal_name}_value`, type: 'numeric' },
    ...(field.type === 'DEAL_VALUE'
      ? [{ name: `${field.internal_name}_products`, type: 'jsonb' as const }]
      : []),
  ],
  parse: parseMoney,
  schema: moneySchemas,
  write: (value, field) => {
    const money = isObject(value) ? value : {}
    const columns = [
      numberText(money.currency),
      (money.currency_code as string) ?? null,
      numberText(money.value),
    ]
    return field.type === 'DEAL_VALUE' ? [...columns, JSON.stringify(money.products ?? [])] : columns
  },
  measured: field => ({
    amount: scalar(field, 'value', 'numeric'),
    currency: scalar(field, 'currency', 'int'),
  }),
  text: field => {
    const member = (name: string) => column(`${field.internal_name}_${name}`)
    const [currency, code, value] = [member('currency'), member('currency_code'), member('value')]
    return row => sql`CASE WHEN ${currency(row)} IS NOT NULL THEN concat('{"currency":', ${currency(row)},
      ',"currency_code":"', ${code(row)}, '","value":', trim_scale(${value(row)}), '}') END`
  },
  term: (field, member) => {
    if (member === 'currency') {
      return {
        type: 'bigint',
        sql: scalar(field, 'currency', 'int'),
        multi: false,
        operators: equality,
        operand: currencyOperand,
        order: textOrder(scalar(field, 'currency_code', 'text')),
        ...containedAt(field, 'bigint', ['currency']),
      }
    }
    if (member === 'products' && field.type === 'DEAL_VALUE') {
      const lines = jsonArray(column(`${field.internal_name}_products`), 'bigint', '$[*].product')
      const ids = { operators: equality, operand: idOperand, idsOf: field.lines_of! }
      return { type: 'bigint', sql: lines, multi: true, ...ids, order: null }
    }
    if (member !== '' && member !== 'value') return null
    const amount = scalar(field, 'value', 'numeric')
    return {
      type: 'numeric',
      sql: amount,
      multi: false,
      operators: ordered,
      operand: numericOperand,
      ...(member
        ? { order: { sql: amount, type: 'numeric' }, ...containedAt(field, 'numeric', ['value']) }
        : { order: baseOrder(field), compared: baseAmount(field) }),
    }
  },
  subFields: field => [
    { name: 'currency', input_type: 'CURRENCY', display_name: 'Currency', config: {} },
    { name: 'value', input_type: 'VALUE', display_name: 'Value', config: { ...field.config, default: 0.0 } },
    ...(field.type === 'DEAL_VALUE'
      ? [{ name: 'products', input_type: 'PRODUCT', display_name: 'Products', config: {} }]
      : []),
  ],
}

/**
 * The interface's limits of a custom amount: no sign, at most two decimals, and at most thirteen characters,
 * including the point (D53).
 */
const customAmount = { min: 0, max_decimals: 2 }
const customLength = 13

/** A currency by its id, code or name. */
export const currencySchema: Schema = {
  type: ['integer', 'string'],
  description: 'Its id, code or name, such as EUR.',
}

function moneySchemas(field: Field): Schemas {
  const { config, is_custom: isCustom, type } = field
  const amount = amountSchema(isCustom ? { ...customAmount, ...config } : config)
  const value = isCustom ? { ...amount, pattern: plainPattern } : amount
  const lines = type === 'DEAL_VALUE' ? lineSchemas() : null
  // An update may omit the currency, which the record has.
  const sent = { currency: orNull(currencySchema), currency_code: {}, value: orNull(value) }
  const read = { currency: { type: 'integer' }, currency_code: { type: 'string' }, value: { type: 'number' } }
  return {
    input: closedObject(lines ? { ...sent, products: lines.input } : sent),
    output: openObject(lines ? { ...read, products: lines.output } : read),
  }
}

function parseMoney(input: Json, context: ParseContext, current: Json): Json | undefined {
  if (!isObject(input)) {
    return context.problem('wrong_type', 'must be an object', {
      hint: 'For example {"currency":"USD","value":1250}.',
    })
  }
  const stored = isObject(current) ? current : null
  const members = [
    'currency',
    'currency_code',
    'value',
    ...(context.field.type === 'DEAL_VALUE' ? ['products'] : []),
  ]
  const known = knownMembers(input, members, context)
  const currency = moneyCurrency(input, context, stored)
  const digits: Config = context.field.is_custom ? customAmount : {}
  // Without a value of its own, the deal's value is the sum of its lines (D23): resources/deals/deal.ts.
  // The former value may be in another currency, so it is not validated.
  const hasNoValue = input.value === undefined || input.value === null
  // Null is as if there were no value: the lines that are stored tell it then.
  const isOfStored = input.value === null && input.products === undefined
  const products = isOfStored ? stored?.products : input.products
  const followsLines = hasNoValue && Array.isArray(products) && products.length > 0
  const sent = input.value ?? (input.value === undefined && stored && !followsLines ? stored.value : 0)
  if (context.field.is_custom && typeof sent === 'string' && !/^[0-9.]+$/.test(sent)) {
    return context.problem('wrong_type', 'must have digits and a point only', { at: '/value' })
  }
  // An amount with too many decimals for the currency is a problem even if only the currency changes: it is
  // never rounded (D14).
  const decimals = Math.min(currency?.decimals ?? 99, digits.max_decimals ?? 99)
  const value = followsLines
    ? null
    : checkedNumber(
        sent as Json,
        context,
        { ...digits, ...context.field.config, max_decimals: decimals },
        '/value',
      )
  if (context.field.is_custom && value && plain(value).length > customLength) {
    return context.problem('too_long', `must have at most ${customLength} characters, the point included`, {
      at: '/value',
    })
  }
  const isDealValue = context.field.type === 'DEAL_VALUE'
  const lines = input.products === undefined ? (stored?.products ?? []) : parseLines(input.products, context)
  if (isDealValue && lines === undefined) return undefined
  if (!known || !currency || value === undefined) return undefined
  const money = { currency: currency.id, currency_code: currency.code, value: value && decimalJson(value) }
  return isDealValue ? { ...money, products: lines! } : money
}

function moneyCurrency(
  input: { [name: string]: Json },
  context: ParseContext,
  stored: { [name: string]: Json } | null,
): Currency | undefined {
  const { default_value: fallback } = context.field
  const isInUse = isObject(fallback) && context.catalog.currencies.get(fallback.currency as number)?.is_active
  const named = input.currency ?? stored?.currency ?? (isInUse ? fallback.currency : undefined)
  if (named === undefined || named === null) {
    // Responses show the code beside the currency, but only the currency is accepted.
    const code = input.currency_code
    const sent = typeof code === 'string' ? findCurrency(code, context.catalog) : undefined
    return context.problem('currency_required', 'must be given', {
      at: '/currency',
      hint: `${sent ? 'Write' : 'For example'} "currency":"${sent?.code ?? 'USD'}".`,
    })
  }
  const currency = checkedCurrency(named, context, [stored?.currency ?? null], '/currency')
  warnOfCode(input, currency, context)
  return currency
}

/** Warns of a code that differs from the currency beside it, which alone counts (D22). */
export function warnOfCode(
  { currency_code: sent = null }: { [name: string]: Json },
  currency: Currency | undefined,
  context: ParseContext,
  at = '',
): void {
  if (sent === null || !currency) return
  const isIts = typeof sent === 'string' && findCurrency(sent, context.catalog)?.id === currency.id
  if (!isIts) warnOfReadOnly(context, `${at}/currency_code`)
}

/**
 * The currency that `input` names by id, code or name, or undefined after a problem. An inactive one is
 * refused unless the record already has it, like an option (D10).
 */
export function checkedCurrency(
  input: Json | undefined,
  context: ParseContext,
  stored: readonly Json[],
  at: string,
): Currency | undefined {
  if (typeof input !== 'string' && typeof input !== 'number') {
    return context.problem('wrong_type', 'must be the id, code or name of a currency', { at })
  }
  const currency = findCurrency(input, context.catalog)
  if (currency && !currency.is_active && !stored.includes(currency.id)) {
    return context.problem('inactive_option', `is ${currency.code}, which is no longer in use`, { at })
  }
  if (currency) return currency
  return context.problem('unknown_currency', `is ${JSON.stringify(input)}, but there is no such currency`, {
    at,
    hint: () => currencyHint(input, context.catalog),
  })
}

export function currencyOperand(text: string, catalog: Catalog): string | OperandProblem {
  const currency = findCurrency(text, catalog)
  return currency
    ? String(currency.id)
    : { message: `There is no currency "${text}"`, hint: () => currencyHint(text, catalog) }
}

function findCurrency(value: number | string, catalog: Catalog): Currency | undefined {
  if (typeof value === 'number') return catalog.currencies.get(value)
  const code = inCapitals(value.trim())
  return catalog.currencyByCode.get(code) ?? findOption(value, catalog.currencyList)
}

/** Signs that people write for a currency → the possible codes. */
const signs = [
  ['€', '"EUR"'],
  ['£', '"GBP"'],
  ['$', '"USD", "CAD", "AUD" or another'],
  ['¥', '"JPY" or "CNY"'],
  ['₹', '"INR"'],
  ['Fr.', '"CHF"'],
] as const

function currencyHint(value: number | string, catalog: Catalog): string {
  const sign = String(value).trim()
  const signed = sign.length > 3 ? undefined : signs.find(([one]) => one === sign)
  if (signed) return `Give its ISO 4217 code: ${signed[1]}.`
  // Those with a rate are in use here, and likelier than the others.
  const all = [...catalog.currencyByCode.values()]
  const codes = [...all.filter(({ rate }) => rate !== null), ...all].map(({ code }) => code)
  return suggestion(sign, codes, 'Give an ISO 4217 code such as "USD".')
}

/**
 * Money compares by its amount in base currency, in filters and in sorts (D29): by the column that has it
 * (`in_base` names its field), or by the amount times the currency's rate.
 */
function baseOrder(field: Field): Order {
  const order = { sql: baseAmount(field), type: 'numeric' } as const
  return field.in_base ? order : { ...order, looksUp: true }
}

/** The amount in base currency; null if the currency has no rate. Everybody sees currencies. */
function baseAmount(field: Field): Expression {
  if (field.in_base) return column(`${field.in_base}_value`)
  const [value, currency] = [scalar(field, 'value', 'numeric'), scalar(field, 'currency', 'int')]
  return row => sql`(${value(row)} * (
      SELECT rate FROM currency
      WHERE currency.account_id = ${row.account}::bigint AND currency.id = ${currency(row)}))`
}

/** SQL after the rows that joins the rate of each row's currency: `rate`, of the row `alias`. */
export function withRate(alias: Sql, currency: Sql, visibleAs: VisibleSql): Sql {
  return sql`
        LEFT JOIN currency ${alias} ON ${visibleAs('currency', alias)} AND ${alias}.id = ${currency}`
}
