/**
 * Decimals in the reader's notation and in the interface's: exact, never doubles. A decimal here is a text
 * such as "1234.50"; typed text that is no number yet is unchanged.
 */
import Big from 'big.js'

type Marks = { readonly decimal: string; readonly letters: ReadonlyMap<string, string> }
const marks = new Map<string, Marks>()

function marksOf(locale: string): Marks {
  let found = marks.get(locale)
  if (!found) {
    const parts = new Intl.NumberFormat(locale).formatToParts(1234567.5)
    const mark = (wanted: string) => parts.find(({ type }) => type === wanted)?.value
    const plain = new Intl.NumberFormat(locale, { useGrouping: false })
    const letters = new Map(Array.from({ length: 10 }, (_, digit) => [plain.format(digit), `${digit}`]))
    // Special marks, such as the Arabic ones, are read as point and comma.
    const isComma = mark('decimal') === ','
    if (!isComma) letters.set(mark('decimal') ?? '.', '.').set(mark('group') ?? ',', ',')
    found = { decimal: isComma ? ',' : '.', letters }
    marks.set(locale, found)
  }
  return found
}

/** "1.234,5" of a German reader → "1234.5"; undefined if it is no number. */
export function readDecimal(text: string, locale = 'en-US'): string | undefined {
  const { decimal, letters } = marksOf(locale)
  const written = [...text.trim()]
    .map(letter => letters.get(letter) ?? letter)
    .join('')
    .replace(/[\s\u00a0\u202f'’\u061c\u200e\u200f]/g, '')
    .replace('−', '-')
  const group = decimal === '.' ? ',' : '.'
  const grouped = new RegExp(`^-?\\d{1,3}(\\${group}\\d{2,3})*\\${group}\\d{3}(\\${decimal}\\d*)?$`)
  if (grouped.test(written)) return canonical(written.replaceAll(group, '').replace(decimal, '.'))
  const plain = new RegExp(`^-?(\\d+\\${decimal}?\\d*|\\${decimal}\\d+)$`)
  if (plain.test(written)) return canonical(written.replace(decimal, '.'))
  // The notation of programs, if it is unambiguous.
  return /^-?\d+\.\d+$/.test(written) && decimal !== '.' ? canonical(written) : undefined
}

function canonical(text: string): string {
  const [whole = '', decimals] = text.replace(/\.$/, '').split('.')
  const bare = whole.replace(/^(-?)0+(?=\d)/, '$1')
  return decimals === undefined ? bare : `${bare === '' || bare === '-' ? `${bare}0` : bare}.${decimals}`
}

/** True if a value is a decimal and not other typed text. */
export function isDecimal(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
}

/** A decimal in the reader's notation, with at least `digits` decimals if it has any; exact. */
export function writeDecimal(value: string | number, locale = 'en-US', digits = 0): string {
  if (!isDecimal(value)) return String(value)
  const text = plain(value)
  const decimals = text.split('.')[1]?.length ?? 0
  const shown = decimals === 0 ? 0 : Math.max(decimals, digits)
  const number = new Intl.NumberFormat(locale, { minimumFractionDigits: shown, maximumFractionDigits: shown })
  return number.format(text as `${number}`)
}

/** Digits and a point only: 1e21 too is written in full. */
export function plain(value: string | number | Big): string {
  return new Big(value).toFixed()
}

type Limits = { min?: number; max?: number; max_digits?: number; max_decimals?: number }

/** Limits of a discount and of a tax. */
export const percentage: Limits = { min: 0, max: 100, max_decimals: 6 }
/** A price of one piece may be a fraction of the smallest coin (D26). */
export const priceDecimals: Limits = { max_decimals: 4 }

/** The problem of a number, in the service's words; undefined if it is within the limits. */
export function checkDecimal(value: unknown, limits: Limits): string | undefined {
  if (!isDecimal(value)) return 'Must be a number.'
  const number = new Big(value)
  const { min, max, max_digits, max_decimals } = limits
  if ((min !== undefined && number.lt(min)) || (max !== undefined && number.gt(max))) {
    return `Must be ${range(min, max)}.`
  }
  const length = number.c.length + Math.max(0, number.e - number.c.length + 1, -number.e)
  if (max_digits !== undefined && length > max_digits) return `Must have at most ${max_digits} digits.`
  const decimals = plain(number).split('.')[1]?.length ?? 0
  if (max_decimals !== undefined && decimals > max_decimals) {
    const allowed = max_decimals === 0 ? 'no decimals' : `at most ${max_decimals} decimals`
    return `Must have ${allowed}; it is never rounded.`
  }
  return undefined
}

function range(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${plain(max!)}`
  return max === undefined ? `at least ${plain(min)}` : `from ${plain(min)} to ${plain(max)}`
}

type Line = {
  readonly quantity: string | number | null
  readonly unit_price: string | number | null
  readonly discount: string | number | null
  readonly tax: string | number | null
}

const hundred = new Big(100)

/** quantity × price × (1 − discount) × (1 + tax), rounded half-even (D23); undefined without a price. */
export function lineAmount({ quantity, unit_price, discount, tax }: Line, decimals: number): Big | undefined {
  if (!isDecimal(quantity) || !isDecimal(unit_price)) return undefined
  const part = (percent: string | number | null) => new Big(isDecimal(percent) ? percent : 0)
  return new Big(quantity)
    .times(unit_price)
    .times(hundred.minus(part(discount)))
    .times(hundred.plus(part(tax)))
    .div(10_000)
    .round(decimals, Big.roundHalfEven)
}

/** The sum of the lines that have an amount. */
export function linesTotal(lines: readonly Line[], decimals: number): Big {
  return lines.reduce((sum, line) => sum.plus(lineAmount(line, decimals) ?? 0), new Big(0))
}

/** True if two decimals are the same number. */
export function sameDecimal(one: unknown, other: unknown): boolean {
  return isDecimal(one) && isDecimal(other) && new Big(one).eq(other)
}
