/**
 * Parses the text of the list query into a tree (the interface's List query grammar, D30). The filter grammar
 * is the client's, which programs and the web UI use to print filters. Knows no field and no SQL; every error
 * names its position.
 */
import {
  type Condition,
  type Count,
  example,
  FilterError,
  parseFilter as parseTerms,
  type Term,
} from '../../client/src/filter.ts'
import type { Hint } from '../errors.ts'
import { suggestion } from '../fields/nearest.ts'
import { operators } from '../fields/operators.ts'
import { ourOperator } from '../fields/synonyms.ts'

export type { Condition }
export type Filter =
  | Condition
  | { readonly type: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly type: 'not'; readonly of: Filter }

export type ParsedSort = { readonly field: string; readonly direction: 'asc' | 'desc' }

export class GrammarError extends Error {
  readonly position: number
  readonly hint: Hint | undefined
  constructor(message: string, position: number, hint?: Hint) {
    super(message)
    this.position = position
    this.hint = hint
  }
}

/**
 * Conditions separated by commas, and(…), or(…), not(…). `count` counts the conditions of all filters of a
 * request. Throws GrammarError.
 */
export function parseFilter(text: string, count?: Count): Filter {
  try {
    const terms = parseTerms(text, count)
    if (terms.length === 0)
      throw new FilterError('A field name is expected here', text.search(/[^ ]|$/), { hint: example })
    return joined('and', terms.map(treeOf))
  } catch (error) {
    throw error instanceof FilterError
      ? new GrammarError(error.message, error.position, hintOf(error))
      : error
  }
}

function hintOf({ hint, operator }: FilterError): Hint | undefined {
  if (operator === undefined) return hint
  const meant = ourOperator(operator) ?? operator
  return () => suggestion(meant, operators, `The operators: ${operators.join(', ')}.`)
}

function treeOf(term: Term): Filter {
  if (term.type === 'condition') return term
  const inner = term.of.map(treeOf)
  return term.type === 'not' ? { type: 'not', of: joined('and', inner) } : joined(term.type, inner)
}

function joined(type: 'and' | 'or', filters: readonly Filter[]): Filter {
  return filters.length === 1 ? filters[0]! : { type, of: filters }
}

/**
 * `field:direction` separated by commas. A repeated field is dropped, as it can't change the order. Throws
 * GrammarError.
 */
export function parseSort(text: string): ParsedSort[] {
  let position = 0
  const keys = text.split(',').map(part => {
    const at = position
    position += part.length + 1
    const match = /^\s*([A-Za-z_][\w.]*):(asc|desc)\s*$/.exec(part)
    if (!match) throw new GrammarError(`"${part}" is not a sort key`, at, sortHint(text))
    return { field: match[1]!, direction: match[2] as 'asc' | 'desc' }
  })
  return [...Map.groupBy(keys, key => key.field).values()].map(([first]) => first!)
}

/** Other systems write "-created_at", "created_at desc" or "created_at". */
function sortHint(text: string): string {
  const keys = text.split(',').map(part => {
    const match = /^\s*(-?)([A-Za-z_][\w.]{0,99})[\s:.]*(asc|desc)?\w*\s*$/i.exec(part)
    return match && `${match[2]}:${(match[3] ?? (match[1] ? 'desc' : 'asc')).toLowerCase()}`
  })
  if (keys.length > 5 || keys.includes(null))
    return 'Write field:asc or field:desc, such as sort=created_at:desc,id:asc.'
  return `Write ${keys.join()}.`
}
