/** Plan → SQL fragment and parameters. Parses no text and looks nothing up; every value is a parameter. */
import type { Plan, PlannedCondition, PlannedSort } from './resolve.ts'

/** Collects parameters: `param(text)` answers its placeholder. */
export type Params = { readonly values: (string | null)[]; add(value: string): string }

export function params(...values: (string | null)[]): Params {
  return { values, add: value => `$${values.push(value)}` }
}

/**
 * The condition of a WHERE clause over the row `r`. What is negated counts null as false first, so that NOT
 * means "all others".
 */
export function filterSql(plan: Plan, params: Params): string {
  if (plan.type === 'condition') return conditionSql(plan, params)
  if (plan.type === 'not') return negated(filterSql(plan.of, params))
  return `(${plan.of.map(inner => filterSql(inner, params)).join(plan.type === 'and' ? ' AND ' : ' OR ')})`
}

/** The keys of an ORDER BY; nulls last in both directions (D29). */
export function sortSql(keys: readonly PlannedSort[]): string {
  return keys
    .map(
      ({ order, direction, nullable }) =>
        `${order.sql} ${direction.toUpperCase()}${nullable ? ' NULLS LAST' : ''}`,
    )
    .join(', ')
}

/**
 * The condition for the rows that come after the one with these values of the keys. Keys of one direction
 * without nulls are compared as a row, from where an index can start; otherwise the first key's bound is its
 * start.
 */
export function afterSql(
  keys: readonly PlannedSort[],
  values: readonly (string | null)[],
  params: Params,
): string {
  const given = keys.map(({ order }, index) =>
    values[index] === null ? null : `${params.add(values[index]!)}::${order.type}`,
  )
  const [first] = keys
  const beyond = (direction: string) => (direction === 'asc' ? '>' : '<')
  if (keys.every(key => !key.nullable && key.direction === first!.direction)) {
    return `(${keys.map(key => key.order.sql).join(', ')}) ${beyond(first!.direction)} (${given.join(', ')})`
  }
  const after = keys.reduceRight((rest, { order, direction, nullable }, index) => {
    const value = given[index]
    const tied = rest && `${order.sql} ${value ? `= ${value}` : 'IS NULL'} AND (${rest})`
    const later =
      value && `${order.sql} ${beyond(direction)} ${value}${nullable ? ` OR ${order.sql} IS NULL` : ''}`
    return [later, tied].filter(Boolean).join(' OR ') || 'false'
  }, '')
  const bound =
    first!.nullable || !given[0] ? '' : `${first!.order.sql} ${beyond(first!.direction)}= ${given[0]} AND `
  return `${bound}(${after})`
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

/**
 * Beyond that many values a comparison with each record's value is quicker than looking each up in the index.
 */
const containedMax = 100

/** Whether a condition asks which records contain a custom value, which their index can answer. */
export function isContained({
  term,
  operator,
  values,
}: Pick<PlannedCondition, 'term' | 'operator' | 'values'>): boolean {
  return (
    term.contained !== undefined &&
    (operator === 'eq' || (operator === 'in' && values.length <= containedMax))
  )
}

/** A comparison as it stands, bare, so that an index can serve it. */
function positive({ term, operator, values, isCommon }: PlannedCondition, params: Params): string {
  const { type, sql, order } = term
  // As an expression the column is out of its index's reach: for what many records have, walking the order is
  // quicker.
  const custom = isCommon ? `coalesce(r.custom, 'null')` : 'r.custom'
  const list = () => `${params.add(arrayLiteral(values))}::${type}[]`
  const contained = isContained({ term, operator, values }) ? term.contained! : null
  if (contained && operator === 'eq') return `${custom} @> ${params.add(contained(values[0]!))}::jsonb`
  if (contained) {
    return `${custom} @> ANY(${params.add(arrayLiteral(values.map(value => contained(value))))}::jsonb[])`
  }
  if (term.multi && operator === 'eq') return `${sql} @> ARRAY[${params.add(values[0]!)}::${type}]`
  if (term.multi && operator === 'in') return `${sql} && ${list()}`
  if (term.multi)
    return `EXISTS (SELECT FROM unnest(${sql}) item WHERE ${comparison('item', type, operator, values, params)})`
  if (operator !== 'eq' && operator !== 'in') return comparison(sql, type, operator, values, params)
  const value = operator === 'in' ? list() : `${params.add(values[0]!)}::${type}`
  const equals = operator === 'in' ? `${sql} = ANY(${value})` : `${sql} = ${value}`
  if (type !== 'text' || !order?.of) return equals
  // Equal texts sort alike: by that, the index of the sort finds them.
  const sorted =
    operator === 'in' ? `ANY(ARRAY(SELECT ${order.of('x')} FROM unnest(${value}) x))` : order.of(value)
  return `(${equals} AND ${order.sql} = ${sorted})`
}

function comparison(
  sql: string,
  type: string,
  operator: string,
  values: readonly string[],
  params: Params,
): string {
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
    case 'like': {
      // Folding both sides (D126) is what ILIKE does, but it does so several times as slowly, and by each
      // server's own letters.
      const patterns = values.map(text => `fold(${params.add(`%${text.replace(/[\\%_]/g, '\\$&')}%`)}::text)`)
      return `fold(${left}) LIKE ${patterns.length === 1 ? patterns[0] : `ANY(ARRAY[${patterns.join(', ')}])`}`
    }
    default:
      throw new Error(`no SQL for the operator ${operator}`)
  }
}

function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(value => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
