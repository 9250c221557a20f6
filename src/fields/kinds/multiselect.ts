/** MULTISELECT: several options, stored as an array of ids (D10). */
import type { Json } from '../../json.ts'
import { type SqlType, sql } from '../../sql.ts'
import { containedAt, type Expression, jsonDocument } from '../columns.ts'
import type { Kind } from '../field.ts'
import { equality } from '../term.ts'
import { checkedOption, optionOperand, optionSchemas } from './dropdown.ts'
import { asList, isLikeList } from './how-to-write.ts'
import { oneOrMore, several } from './schemas.ts'

export const multiselect: Kind = {
  members: [],
  hasOptions: true,
  limits: ['max_limit'],
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context, current) => {
    const inputs = Array.isArray(input) ? input : [input]
    const stored = Array.isArray(current) ? current : []
    const limit = context.field.config.max_limit ?? 100
    const tooMany = () => context.problem('too_many', `must have at most ${limit} options`)
    // Far too many are refused as a whole, not one by one. An option may be sent by its name and by its id.
    if (new Set(inputs).size > 2 * limit) return tooMany()
    const hint = isLikeList(input) ? () => asList(input) : undefined
    const ids = inputs.map((item, index) =>
      checkedOption(item, context, stored, Array.isArray(input) ? `/${index}` : '', hint),
    )
    if (ids.includes(undefined)) return undefined
    const distinct = [...new Set(ids as number[])]
    if (distinct.length > limit) return tooMany()
    return distinct.length ? distinct : null
  },
  schema: field => {
    const { input, output } = optionSchemas(field)
    // An option may be named several times, but counts once.
    return { input: oneOrMore(input, undefined), output: several(output) }
  },
  write: value => [value === null ? null : JSON.stringify(value)],
  term: (field, member) => {
    if (member) return null
    return {
      type: 'bigint',
      multi: true,
      sql: jsonArray(jsonDocument(field), 'bigint'),
      operators: equality,
      operand: text => optionOperand(text, field),
      order: null,
      ...containedAt(field, 'bigint', ['[]']),
    }
  },
}

/** A JSON array (or null) as an array of `type`; `path` picks a member of each item. */
export function jsonArray(items: Expression, type: SqlType, path = '$[*]'): Expression {
  return row => sql`ARRAY(
    SELECT (item #>> '{}')::${sql.type(type)} FROM jsonb_path_query(${items(row)}, ${sql.text(path)}) item
    WHERE item <> 'null'::jsonb)`
}

/** Items as stored, or an empty array. */
export function items(value: Json): Json[] {
  return Array.isArray(value) ? value : []
}
