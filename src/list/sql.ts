/** Plan → SQL fragment and parameters. Parses no text and looks nothing up; every value is a parameter. */
import type { Plan, PlannedCondition, PlannedSort } from './resolve.ts'

/** Collects parameters: `param(text)` answers its placeholder. */
export type Params = { readonly values: (string | null)[]; add(value: string): string }

export function params(...values: (string | null)[]): Params {
  return { values, add: value => `$${values.push(value)}` }
}

/** The condition of a WHERE clause over the row `r`. What is negated counts null as false first, so that NOT means "all others". */
export function filterSql(plan: Plan, params: Params): string {
  if (plan.type === 'condition') return conditionSql(plan, params)
  if (plan.type === 'not') return negated(filterSql(plan.of, params))
  return `(${plan.of.map(inner => filterSql(inner, params)).join(plan.type === 'and' ? ' AND ' : ' OR ')})`
}

/** The keys of an ORDER BY; nulls last in both directions (D29). */
export function sortSql(keys: readonly PlannedSort[]): string {
  return keys
    .map(({ sql, direction, nullable }) => `${sql} ${direction.toUpperCase()}${nullable ? ' NULLS LAST' : ''}`)
    .join(', ')
}

function conditionSql(condition: PlannedCondition, params: Params): string {
  const { term, operator, values } = condition
  const wanted = values[0] === 'true'
  switch (operator) {
    case 'isnull':
      return wanted ? missing(condition) : `NOT ${missing(condition)}`
    case 'notnull':
      return wanted ? `NOT ${missing(condition)}` : missing(condition)
    case 'exists': {
      const present = term.present ? `coalesce(${term.present}, false)` : `NOT ${missing(condition)}`
      return wanted ? present : `NOT (${present})`
    }
    case 'neq':
    case 'nin':
      return negated(positive({ ...condition, operator: operator === 'neq' ? 'eq' : 'in' }, params))
    default:
      return positive(condition, params)
  }
}

function negated(sql: string): string {
  return `NOT coalesce(${sql}, false)`
}

function missing({ term }: PlannedCondition): string {
  return term.multi ? `(coalesce(cardinality(${term.sql}), 0) = 0)` : `(${term.sql} IS NULL)`
}

/** A comparison as it stands, bare, so that an index can serve it. */
function positive({ term, operator, values }: PlannedCondition, params: Params): string {
  const { type, sql } = term
  const list = () => `${params.add(arrayLiteral(values))}::${type}[]`
  if (term.multi && operator === 'eq') return `${sql} @> ARRAY[${params.add(values[0]!)}::${type}]`
  if (term.multi && operator === 'in') return `${sql} && ${list()}`
  if (term.multi) return `EXISTS (SELECT FROM unnest(${sql}) item WHERE ${comparison('item', type, operator, values, params)})`
  if (operator === 'in') return `${sql} = ANY(${list()})`
  return comparison(sql, type, operator, values, params)
}

function comparison(sql: string, type: string, operator: string, values: readonly string[], params: Params): string {
  // Text compares by code point, so that every engine and collation answers the same.
  const left = type === 'text' && operator !== 'eq' && operator !== 'like' ? `${sql} COLLATE "C"` : sql
  const value = (index: number) => `${params.add(values[index]!)}::${type}`
  switch (operator) {
    case 'eq':
      return `${left} = ${value(0)}`
    case 'lt':
      return `${left} < ${value(0)}`
    case 'lte':
      return `${left} <= ${value(0)}`
    case 'gt':
      return `${left} > ${value(0)}`
    case 'gte':
      return `${left} >= ${value(0)}`
    case 'between':
      return `${left} BETWEEN ${value(0)} AND ${value(1)}`
    case 'like':
      return `${left} ILIKE ${params.add(`%${values[0]!.replace(/[\\%_]/g, '\\$&')}%`)}::text`
    default:
      throw new Error(`no SQL for the operator ${operator}`)
  }
}

function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(value => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
