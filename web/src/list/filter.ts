/** The model of a filter while it is edited. The client parses and prints its text. */
import type { Filter, FilterNode, Operator } from '../../../client/src/filter.ts'

/** True if its operand is only true or false. */
export const asksPresence = (operator: Operator): boolean =>
  ['isnull', 'notnull', 'exists'].includes(operator)

/** The filter with the term at `path` replaced or removed. An empty group is removed, too. */
export function replaced(filter: Filter, path: readonly number[], by: FilterNode | null): Filter {
  const [index, ...rest] = path
  return filter.flatMap((term, at) => {
    if (at !== index) return [term]
    if (rest.length === 0) return by ? [by] : []
    if (term.type === 'condition') return [term]
    const of = replaced(term.of, rest, by)
    return of.length ? [{ ...term, of }] : []
  })
}
