/** STRING_LIST: several words, such as the scopes of a role, in the order in which they were sent. */
import type { Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { isBlank } from '../blank.ts'
import { jsonDocument } from '../columns.ts'
import type { Kind, ParseContext } from '../field.ts'
import { equality } from '../term.ts'
import { items, jsonArray } from './multiselect.ts'
import { oneOrMore, several } from './schemas.ts'
import { checkedText } from './text.ts'

const word = { min_length: 1, max_length: 255 }
const wordsMax = 1000

export const stringList: Kind = {
  members: [],
  empty: [],
  limits: ['max_limit'],
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context) => {
    const inputs = Array.isArray(input) ? input : [input]
    const { max_limit = wordsMax } = context.field.config
    if (inputs.length > max_limit)
      return context.problem('too_many', `must have at most ${max_limit} entries`)
    const words = inputs.map((item, index) =>
      checkedWord(item, context, Array.isArray(input) ? `/${index}` : ''),
    )
    return words.includes(undefined) ? undefined : [...new Set(words as string[])]
  },
  schema: ({ config: { max_limit = wordsMax } }) => ({
    input: oneOrMore({ type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' }, max_limit),
    output: several({ type: 'string' }),
  }),
  write: value => [JSON.stringify(items(value))],
  term: textsTerm(),
}

/** The words as rules meet them; a new record has none yet. */
export function textsOf(value: Json | undefined): string[] {
  return items(value ?? null) as string[]
}

/** A word that is not blank, or undefined after a problem. */
function checkedWord(input: Json, context: ParseContext, at: string): string | undefined {
  const text = checkedText(input, context, word, at)
  return text !== undefined && isBlank(text)
    ? context.problem('required', 'must have more than blanks', { at })
    : text
}

/** The term of a list whose texts are at a path of its JSON. */
export function textsTerm(path?: string): Kind['term'] {
  return (field, member) =>
    member
      ? null
      : {
          type: 'text',
          multi: true,
          sql: jsonArray(jsonDocument(field), 'text', path),
          operators: equality,
          operand: text => text,
          order: null,
          present: row => sql`${jsonDocument(field)(row)} <> '[]'`,
        }
}
