/** A filter in words. */
import type { Condition, Operator } from '../../../client/src/filter.ts'

const operatorWords: { readonly [operator in Operator]: string } = {
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

const ofTime: { readonly [operator in Operator]?: string } = {
  lt: 'is before',
  lte: 'is on or before',
  gt: 'is after',
  gte: 'is on or after',
}

/** An operator in words, for a value that `isTime` or not. */
export const operatorLabel = (operator: Operator, isTime: boolean): string =>
  (isTime ? ofTime[operator] : undefined) ?? operatorWords[operator]

export const groupWords = { and: 'All of', or: 'Any of', not: 'Not all of' } as const

/** The operator as part of a sentence: "isnull(false)" is "is not empty". */
export function conditionLabel(
  { operator, values }: Pick<Condition, 'operator' | 'values'>,
  isTime: boolean,
): string {
  if (values[0] !== 'false') return operatorLabel(operator, isTime)
  if (operator === 'isnull') return operatorWords.notnull
  if (operator === 'notnull') return operatorWords.isnull
  return operator === 'exists' ? 'is not there' : operatorWords[operator]
}
