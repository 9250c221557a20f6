/** SINGLE_STRING and TEXT: text of a limited length. */
import { isRawNumber, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { codePoints, isStorable } from '../code-points.ts'
import { scalar, textOrder } from '../columns.ts'
import { decimal, plain } from '../decimal.ts'
import type { Config, Field, Kind, ParseContext } from '../field.ts'
import { comparedName, uniqueKey } from '../name.ts'
import { type Alike, type Term, textual } from '../term.ts'
import { simpleKind } from './simple.ts'

const plainText = simpleKind({
  column: 'text',
  type: 'text',
  operators: textual,
  limits: ['min_length', 'max_length', 'case_sensitive'],
  parse: (input, context) => {
    const value = context.field.accepts_number ? numberAsText(input) : input
    return checkedText(value, context, context.field.config)
  },
  schema: ({ accepts_number, config: { min_length, max_length } }) => ({
    input: {
      type: accepts_number ? ['string', 'number'] : 'string',
      ...(min_length ? { minLength: min_length } : {}),
      ...(max_length === undefined ? {} : { maxLength: max_length }),
    },
    output: { type: 'string' },
  }),
  operand: value => value,
  // Stored texts may be longer than a limit that an account tightened later. And the limit of a custom field
  // may change while an index or a cursor has the expression.
  order: (value, field) =>
    textOrder(
      value,
      field.is_custom || (field.config.max_length ?? Number.POSITIVE_INFINITY) > 255,
      field.is_filled,
    ),
})

export const text: Kind = {
  ...plainText,
  text: field => row => sql`to_json(${scalar(field, '', 'text')(row)})::text`,
  searched: {
    sql: column => sql`fold(${column})`,
    texts: value => (typeof value === 'string' ? [value] : []),
  },
  unique: {
    member: '',
    compared: (given, field) => uniqueKey(given, isCased(field)),
    key: (given, field) => (isCased(field) ? sql`cased_unique_key(${given})` : sql`unique_key(${given})`),
    // A text without anything to be seen identifies nothing, so any record may have it.
    texts: value => (typeof value === 'string' && uniqueKey(value, false) !== '' ? [value] : []),
    value: given => (isStorable(given) ? given : null),
  },
  term: (field, member) => {
    const term = plainText.term(field, member)
    return term && field.is_email ? { ...term, alike: alikeText(term) } : term
  },
}

/** True if unique values are case-sensitive (D76): ids of some systems differ only in case. */
export function isCased({ config }: Field): boolean {
  return config.case_sensitive === true
}

/** A text that is compared in any spelling (D127). */
function alikeText({ sql: value }: Term): Alike {
  return { sql: row => sql`compared_name(${value(row)}) COLLATE "C"`, of: comparedName }
}

/**
 * A string within its limits, or undefined after a problem. Its length counts code points; NUL and lone
 * surrogates are refused (D15). `at` is the place below.
 */
export function checkedText(
  input: Json | undefined,
  context: ParseContext,
  limits: Config,
  at = '',
): string | undefined {
  if (typeof input !== 'string') {
    return context.problem('wrong_type', 'must be a string', { at })
  }
  if (!isStorable(input)) {
    return context.problem('invalid_characters', 'must not contain NUL or half of a surrogate pair', { at })
  }
  const { min_length = 0, max_length = Number.POSITIVE_INFINITY } = limits
  const length = codePoints(input)
  if (length < min_length) {
    return context.problem(
      'too_short',
      `must have at least ${min_length} character${min_length === 1 ? '' : 's'}`,
      // Clearing applies to the whole field, not to a part such as an item of a list.
      { at, ...(at === '' && { hint: 'Send null to clear the field.' }) },
    )
  }
  if (length > max_length) {
    return context.problem('too_long', `must have at most ${max_length} characters, but has ${length}`, {
      at,
    })
  }
  return input
}

/** A JSON number as its decimal text (D15), anything else unchanged. */
export function numberAsText(input: Json): Json {
  if (typeof input !== 'number' && !isRawNumber(input)) return input
  const value = decimal(input)
  return value ? plain(value) : input
}
