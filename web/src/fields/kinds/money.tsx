/** MONETARY: an amount in a currency, exact (D14, D22). */
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Fitting } from '../../ui/fitting.tsx'
import { Labelled } from '../../ui/inputs.tsx'
import { BaseCode } from '../base-currency-code.tsx'
import { codeOf, decimalsOf, loadedBase } from '../currencies.ts'
import { checkDecimal, isDecimal, plain, readDecimal, writeDecimal } from '../decimal.ts'
import type { Kind } from '../kind.ts'
import { MoneyBox } from '../money-box.tsx'
import { operandOf } from '../operand.tsx'
import { checkNumberOperand, DecimalOperand } from './number.tsx'

export type Money = {
  readonly currency?: number | null
  readonly currency_code?: string | null
  readonly value?: number | string | null
}

export function MoneyCell({ value }: { value: Money }) {
  const format = useFormat()
  if (!isDecimal(value.value)) return String(value.value ?? '')
  const amount = { currency_code: value.currency_code ?? null, value: Number(value.value) }
  return (
    <Fitting
      whole={format.money(amount)}
      short={format.compactMoney(amount)}
      title={textOfMoney(value, format)}
    />
  )
}

/** 1,234.50 EUR: a symbol such as $ would be ambiguous. */
export function textOfMoney({ value, currency_code }: Money, format: Formats): string {
  if (value === null || value === undefined) return ''
  const digits = decimalsOf(currency_code) ?? 0
  return [writeDecimal(value, format.locale, digits), currency_code].filter(Boolean).join(' ')
}

const signs = /[\p{L}\p{Sc}]+\.?/gu

/** A sign or code identifies the currency; an ambiguous one is unchanged, and `checkMoney` reports it. */
export function readMoney(typed: string, format?: Formats): Money | null | undefined {
  if (typed.trim() === '') return null
  const value = readDecimal(typed.replace(signs, ''), format?.locale)
  if (value === undefined) return undefined
  const codes = (typed.match(signs) ?? []).map(sign => codeOf(sign, format?.locale) ?? sign)
  return codes.length ? { currency_code: [...new Set(codes)].join(' '), value } : { value }
}

/** The problem of a typed sign that is of no currency, or of several. */
export function checkCode(code: string | null | undefined): string | undefined {
  if (!code || /^[A-Z]{3}$/.test(code)) return undefined
  return `“${code}” does not say which currency: write its code, such as USD.`
}

/** The limits of an amount: no more decimals than its currency has; a custom one has two (D53). */
export function checkMoney(
  { value, currency, currency_code }: Money,
  field: Parameters<NonNullable<Kind<Money>['check']>>[1],
): string | undefined {
  if (value === null || value === undefined) return undefined
  const unclear = checkCode(currency_code)
  if (unclear) return unclear
  const decimals = Math.min(decimalsOf(currency ?? currency_code) ?? 99, field.is_custom ? 2 : 99)
  const limits = decimals === 99 ? field.config : { ...field.config, max_decimals: decimals }
  const wrong = checkDecimal(value, limits)
  if (wrong) return wrong
  return field.is_custom && isDecimal(value) && plain(value).length > 13
    ? 'Must have at most 13 characters, the point included.'
    : undefined
}

export function writeMoney({ currency, currency_code, value }: Money) {
  const named = currency ?? currency_code
  const amount = isDecimal(value) ? plain(value) : value
  return { ...(named ? { currency: named } : {}), ...(amount === undefined ? {} : { value: amount }) }
}

/** The amount in the currency that its box shows: typed before the currencies were loaded, it names none. */
export function inShownCurrency<V extends Money>(value: V): V {
  const base = loadedBase()
  const isOpen = isDecimal(value.value) && !(value.currency ?? value.currency_code)
  return isOpen && base ? { ...value, currency: base.id, currency_code: base.code } : value
}

export const money: Kind<Money> = {
  Cell: MoneyCell,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <Labelled {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      {wiring => (
        <MoneyBox
          wiring={wiring}
          label={label}
          autoFocus={autoFocus}
          value={value}
          onChange={next => onChange(next.value === null ? null : next)}
        />
      )}
    </Labelled>
  ),
  Operand: operandOf(DecimalOperand),
  checkOperand: checkNumberOperand,
  Unit: BaseCode,
  text: (value, _names, format) => textOfMoney(value, format),
  parse: (typed, _field, format) => readMoney(typed, format),
  check: checkMoney,
  asShown: inShownCurrency,
  write: writeMoney,
  width: 140,
  align: 'end',
}
