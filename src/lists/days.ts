/**
 * Plain days in a filter of moments (D42): such a day means the whole day in the account's time zone. Pure:
 * rewrites a condition as one or several on moments.
 */
import type { Condition, Filter } from './grammar.ts'

/** The first and the last moment of a plain day; null if it is no plain day. */
export type DayOf = (text: string) => readonly [first: string, last: string] | null

/** The condition on moments; null if it names no day. */
export function inMoments(condition: Condition, dayOf: DayOf): Filter | null {
  const { operator, values } = condition
  const days = values.map(dayOf)
  if (days.every(day => day === null)) return null
  const of = (values: readonly string[]): Condition => ({ ...condition, values })
  switch (operator) {
    case 'gte':
    case 'lt':
      return of(values.map((value, index) => days[index]?.[0] ?? value))
    case 'lte':
    case 'gt':
      return of(values.map((value, index) => days[index]?.[1] ?? value))
    case 'between':
      return of(values.map((value, index) => days[index]?.[index === 0 ? 0 : 1] ?? value))
    case 'eq':
    case 'in':
      return anyOf(condition, days)
    case 'neq':
    case 'nin':
      return { type: 'not', of: anyOf({ ...condition, operator: operator === 'neq' ? 'eq' : 'in' }, days) }
    default:
      return null
  }
}

function anyOf(condition: Condition, days: readonly ReturnType<DayOf>[]): Filter {
  const within = days.flatMap(day =>
    day ? [{ ...condition, operator: 'between', values: day } as const] : [],
  )
  const others = condition.values.filter((_, index) => days[index] === null)
  const all: Condition[] = others.length ? [...within, { ...condition, values: others }] : within
  return all.length === 1 ? all[0]! : { type: 'or', of: all }
}
