/** SINGLE_NUMBER and PRODUCT (a count of products): exact decimals within a range (D14). */
import { isPresent, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { column, scalar } from '../columns.ts'
import {
  type Decimal,
  decimal,
  decimalJson,
  decimalPattern,
  decimalPlaces,
  numberText,
  plain,
} from '../decimal.ts'
import type { Config, Kind, ParseContext, Schema } from '../field.ts'
import { type OperandProblem, ordered, type Term } from '../term.ts'
import { simpleKind } from './simple.ts'

const decimalNumber = simpleKind({
  column: 'numeric',
  type: 'numeric',
  operators: ordered,
  limits: ['min', 'max', 'max_digits', 'max_decimals'],
  parse: (input, context) => {
    if (typeof input === 'string') {
      const hint = numberHint(input)
      return context.problem('wrong_type', 'must be a number, not a string', hint ? { hint } : {})
    }
    const value = checkedNumber(input, context, context.field.config)
    return value && decimalJson(value)
  },
  schema: ({ config, is_whole }) => ({
    input: numberSchema(config),
    output: { type: is_whole ? 'integer' : 'number' },
  }),
  write: numberText,
  operand: numericOperand,
})

export const number: Kind = {
  ...decimalNumber,
  measured: field => ({ amount: row => sql`${scalar(field, '', 'numeric')(row)}::numeric` }),
  unique: {
    member: '',
    compared: text => text,
    key: text => sql`trim_scale(${text}::numeric)::text`,
    texts: value => [numberText(value)].filter(text => text !== null),
    value: text => {
      const value = text.length <= 100 ? decimal(text) : null
      return value && decimalJson(value)
    },
  },
  text: field => row => sql`trim_scale(${scalar(field, '', 'numeric')(row)}::numeric)::text`,
  // A record's id is compared as a whole number, because only then can its index be used.
  term: (field, member) =>
    field.internal_name === 'id' && member === ''
      ? { ...idTerm, sql: scalar(field, '', 'bigint') }
      : decimalNumber.term(field, member),
}

const idTerm: Omit<Term, 'sql'> = {
  type: 'bigint',
  multi: false,
  operators: ordered,
  operand: idOperand,
  order: { sql: column('id'), type: 'bigint', isFilled: true },
}

/** Operand text → id: whole numbers below 2^53, without leading zeros. */
export function idOperand(text: string): string | OperandProblem {
  const id = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? String(id) : { message: `"${text}" is not an id (a whole number)` }
}

/**
 * A number within its limits. The schema has no number of decimals: validators that parse doubles would
 * misjudge them.
 */
export function numberSchema({ min, max, max_digits, max_decimals }: Config): Schema {
  const most = max_digits === undefined ? undefined : 10 ** max_digits
  const [minimum, maximum] = [min ?? (most && -most), max ?? most]
  return {
    type: max_decimals === 0 ? 'integer' : 'number',
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

/** Like `numberSchema`, but as a number or as decimal text. */
export function amountSchema(limits: Config): Schema {
  const { type, ...bounds } = numberSchema(limits)
  return { type: [type, 'string'], ...bounds, pattern: decimalPattern, maxLength: 100 }
}

/** A decimal within its limits, or undefined after a problem. `at` is the place below. */
export function checkedNumber(
  input: Json | undefined,
  context: ParseContext,
  limits: Config,
  at = '',
): Decimal | undefined {
  const value = decimal(input)
  if (!value) {
    const hint = typeof input === 'string' ? numberHint(input) : undefined
    return context.problem('wrong_type', 'must be a number', { at, ...(hint ? { hint } : {}) })
  }
  const { max_digits, max_decimals } = limits
  const [min, max] = [decimal(limits.min), decimal(limits.max)]
  if ((min && value.lt(min)) || (max && value.gt(max))) {
    return context.problem('out_of_range', `must be ${range(min, max)}`, { at })
  }
  if (
    max_digits !== undefined &&
    value.c.length + Math.max(0, value.e - value.c.length + 1, -value.e) > max_digits
  ) {
    return context.problem('too_long', `must have at most ${max_digits} digits`, { at })
  }
  if (max_decimals !== undefined && decimalPlaces(value) > max_decimals) {
    const allowed = max_decimals === 0 ? 'no decimals' : `at most ${max_decimals} decimals`
    return context.problem('too_many_decimals', `must have ${allowed}; it is never rounded`, { at })
  }
  return value
}

/** Like `checkedNumber`, as JSON; null for a number that is left out. */
export function optionalNumber(
  input: Json | undefined,
  context: ParseContext,
  limits: Config,
  at: string,
): Json | undefined {
  const value = isPresent(input) ? checkedNumber(input, context, limits, at) : null
  return value && decimalJson(value)
}

/** Thousands grouped by threes, with or without a decimal point or comma, in a text of a few letters. */
const written =
  /^[^\d.,-]{0,4}(-?\d{1,3}(?:[., '’\u00a0\u202f]\d{3})+|-?\d{1,15})([.,]\d{1,6})?[^\d.,-]{0,4}$/u

/** The hint for a number as people write it: "$1,234.50" as 1234.50. Undefined for another text. */
function numberHint(text: string): string | undefined {
  const [, whole, decimals = ''] = (text.length <= 40 && written.exec(text)) || []
  if (!whole) return undefined
  const number = `${whole.replace(/[^\d-]/g, '')}${decimals.replace(',', '.')}`
  // Three digits may be thousands or decimals; only the writer knows.
  const isUnclear = /^-?\d{1,3}[.,]\d{3}$/.test(whole) && decimals === ''
  return isUnclear ? `Write ${number} or ${whole.replace(',', '.')}.` : `Write ${number}.`
}

export function numericOperand(text: string): string | OperandProblem {
  const value = decimal(text)
  if (value) return plain(value)
  const hint = numberHint(text)
  return { message: `"${text}" is not a number`, ...(hint ? { hint } : {}) }
}

function range(min: Decimal | null, max: Decimal | null): string {
  if (!min) return `at most ${plain(max!)}`
  return max ? `from ${plain(min)} to ${plain(max)}` : `at least ${plain(min)}`
}
