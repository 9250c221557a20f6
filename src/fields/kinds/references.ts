/** Several related records, stored as an array of ids: TAGS, TERRITORIES and CONTACTS_ONBOARD. */
import type { Json } from '../../json.ts'
import { scalar } from '../columns.ts'
import type { Kind } from '../field.ts'
import { equality } from '../term.ts'
import { idOperand } from './number.ts'
import { checkedReference, referenceSchemas } from './reference.ts'
import { oneOrMore, several } from './schemas.ts'

export const references: Kind = {
  members: [],
  empty: [],
  limits: ['max_limit'],
  columns: field => [{ name: field.internal_name, type: 'bigint[]' }],
  parse: (input, context) => {
    const inputs = Array.isArray(input) ? input : [input]
    const limit = context.field.config.max_limit ?? Number.POSITIVE_INFINITY
    // Far too many entries are refused as a whole, not one by one. The same id may be sent twice, as 7 and as
    // {"id":7}.
    if (inputs.length > 2 * limit) return context.problem('too_many', `must have at most ${limit} entries`)
    const ids = inputs.map((item, index) =>
      checkedReference(item, context, Array.isArray(input) ? `/${index}` : ''),
    )
    if (ids.includes(undefined)) return undefined
    const distinct = [...new Set(ids as number[])]
    if (distinct.length > limit) return context.problem('too_many', `must have at most ${limit} entries`)
    return distinct
  },
  schema: field => {
    const { input, output } = referenceSchemas(field)
    return {
      input: oneOrMore(input, 2 * (field.config.max_limit ?? 0) || undefined),
      output: several(output),
    }
  },
  write: value => [`{${((value as Json[] | null) ?? []).join(',')}}`],
  term: (field, member) =>
    member
      ? null
      : {
          type: 'bigint',
          multi: true,
          isColumnOfIds: true,
          sql: scalar(field, '', 'bigint[]'),
          operators: equality,
          operand: idOperand,
          order: null,
        },
}
