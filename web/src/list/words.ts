/** A filter in the words of people. */
import type { Condition, Operator } from './filter.ts'

export const operatorWords: { readonly [operator in Operator]: string } = {
  eq: 'is',
  neq: 'is not',
  in: 'is any of',
  nin: 'is none of',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  between: 'is between',
  like: 'contains',
  isnull: 'is empty',
  notnull: 'is not empty',
  exists: 'is there',
}

export const groupWords = { and: 'All of', or: 'Any of', not: 'Not all of' } as const

/** The operator as a sentence has it: "isnull(false)" is "is not empty". */
export function saidOperator({ operator, values }: Pick<Condition, 'operator' | 'values'>): string {
  if (values[0] !== 'false') return operatorWords[operator]
  if (operator === 'isnull') return operatorWords.notnull
  if (operator === 'notnull') return operatorWords.isnull
  return operator === 'exists' ? 'is not there' : operatorWords[operator]
}
