/**
 * Numbers and amounts in words → the numbers that lists compare: 10k → 10000, an amount in another currency →
 * one in the base currency.
 */
import type { Catalog } from '../fields/catalog.ts'
import { decimal, plain } from '../fields/decimal.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { ToolRefusal } from './refusal.ts'

/** Groups: a currency before the number, the number, k or m, and a currency after it. */
const amount = /^([A-Z]{3}\s*)?([\d.,' ]*\d)\s*([km])?(\s*[A-Z]{3})?$/i
/** in characters; a longer text is no amount */
const amountMax = 60

function amountParts(text: string): readonly (string | undefined)[] | null {
  return text.length > amountMax ? null : amount.exec(text)
}

/** True for a field of numbers or amounts. */
export function isMeasured(field: Field | null): field is Field {
  return field !== null && kinds[field.type].measured !== undefined
}

/**
 * The number of a text; another text unchanged. `notes` tell how an amount was converted. Throws ToolRefusal
 * for a currency that can't be compared: without it the number would mean another amount.
 */
export function numberMeant(text: string, field: Field, catalog: Catalog, notes: string[]): string {
  const [, before, number, letter, after] = amountParts(text) ?? []
  const digits = number && decimal(number.replaceAll(/[,' ](?=\d{3}(\D|$))/g, ''))
  if (!digits || (before && after && codeOf(before) !== codeOf(after))) return text
  const value = digits.times({ k: 1000, m: 1_000_000 }[letter?.toLowerCase() ?? ''] ?? 1)
  const code = codeOf(before ?? after ?? '')
  if (code === '') return plain(value)
  const base = catalog.currencies.get(catalog.account.base_currency)!
  const currency = catalog.currencyByCode.get(code)
  const isAmount = kinds[field.type].measured?.(field).currency !== undefined
  if (!isAmount) throw unread(text, `${field.internal_name} is a number, without ${code}.`, plain(value))
  if (!currency) throw unread(text, `There is no currency ${code}.`, `${plain(value)} ${base.code}`)
  if (currency.id === base.id) return plain(value)
  if (!currency.rate) throw unread(text, `${code} has no rate.`, `${plain(value)} ${base.code}`)
  const inBase = value.times(currency.rate).round(base.decimals)
  notes.push(`${currency.code} ${plain(value)} was compared as ${base.code} ${plain(inBase)}.`)
  return plain(inBase)
}

/** Amounts of one condition: the currency that only some of them name is that of all. */
export function inOneCurrency(texts: readonly string[]): string[] {
  const codes = texts.map(text => {
    const [, before, , , after] = amountParts(text) ?? []
    return codeOf(before ?? after ?? '')
  })
  const [only, ...others] = [...new Set(codes.filter(code => code !== ''))]
  if (!only || others.length) return [...texts]
  return texts.map((text, index) => (codes[index] === '' && amountParts(text) ? `${text} ${only}` : text))
}

function codeOf(text: string): string {
  return text.trim().toUpperCase()
}

function unread(text: string, message: string, example: string): ToolRefusal {
  const said = `This amount could not be read: ${JSON.stringify(text)}.`
  return new ToolRefusal(said, [{ at: 'where', message, hint: `For example ${JSON.stringify(example)}.` }])
}
