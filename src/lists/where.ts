/** Plan → SQL over the row `r`. Parses no text and runs no statement; every value is a parameter. */
import type { CallerParams } from '../fields/caller-params.ts'
import { ofFilled, type Row, recordRow } from '../fields/columns.ts'
import type { Alike, Operator, Term } from '../fields/term.ts'
import { visible } from '../rights/visibility.ts'
import { arrayLiteral, likeText, param, type Sql, type SqlType, sql } from '../sql.ts'
import type { RecordSelection } from './list-request.ts'
import type { Across, Plan, PlannedCondition } from './plan.ts'

/** Selects records: those that the caller sees, that are not deleted (or are), and that a filter finds. */
export function whereSql(params: CallerParams, { schema, filter, isOfDeleted }: RecordSelection): Sql {
  const state = isOfDeleted ? sql`NOT NULL` : sql`NULL`
  const visibleAndLive = sql`${visible(schema.resource.name, params, sql`r`)} AND r.deleted_at IS ${state}`
  return filter ? sql`${visibleAndLive} AND ${filterSql(filter, params)}` : visibleAndLive
}

/**
 * The condition of a filter. A negated condition takes null as false, so that NOT means "all others".
 * `params` limits the records that it reaches across references.
 */
export function filterSql(plan: Plan, params: CallerParams, row: Row = recordRow(params.account)): Sql {
  if (plan.type === 'condition') return conditionSql(plan, params, row)
  if (plan.type === 'not') return negated(filterSql(plan.of, params, row))
  const conditions = plan.of.map(inner => filterSql(inner, params, row))
  return sql`(${sql.join(conditions, plan.type === 'and' ? sql` AND ` : sql` OR `)})`
}

function conditionSql(condition: PlannedCondition, params: CallerParams, row: Row): Sql {
  const { term, operator, values, across } = condition
  const isWanted = values[0] === 'true'
  const has = (holds: (of: Row) => Sql) => (across ? acrossSql(across, params, row, holds) : holds(row))
  const filled = () => has(of => sql`NOT ${missing(term, of)}`)
  const empty = () => (across ? negated(filled()) : missing(term, row))
  switch (operator) {
    case 'isnull':
      return isWanted ? empty() : filled()
    case 'notnull':
      return isWanted ? filled() : empty()
    case 'exists': {
      if (!term.present) return isWanted ? filled() : empty()
      const isPresent = has(term.present)
      return isWanted ? isPresent : negated(isPresent)
    }
    case 'neq':
    case 'nin':
      return negated(
        has(of => positive({ ...condition, operator: operator === 'neq' ? 'eq' : 'in' }, of, params)),
      )
    default:
      return has(of => positive(condition, of, params))
  }
}

/**
 * The condition that the record points to a record that the caller sees and that fulfils `holds` (D87). The
 * referenced records are looked up once, not for each record.
 */
function acrossSql({ resource, term }: Across, params: CallerParams, row: Row, holds: (of: Row) => Sql): Sql {
  const t = sql`t`
  const found = sql`SELECT t.id FROM ${sql.id(resource)} t
    WHERE ${visible(resource, params, t)} AND ${holds(recordRow(params.account, t))}`
  const ids = term.sql(row)
  return term.multi ? overlapping(term, ids, sql`&& ARRAY(${found})`) : sql`(${ids} IN (${found}))`
}

/** A comparison of an array with values; of a column of ids so that its index can serve it. */
function overlapping({ isColumnOfIds }: Term, array: Sql, compared: Sql): Sql {
  return isColumnOfIds ? ofFilled(array, sql`${array} ${compared}`) : sql`(${array} ${compared})`
}

function negated(condition: Sql): Sql {
  return sql`NOT coalesce(${condition}, false)`
}

function missing(term: Term, row: Row): Sql {
  const value = term.sql(row)
  return term.multi ? sql`(coalesce(cardinality(${value}), 0) = 0)` : sql`(${value} IS NULL)`
}

/**
 * With more values it is faster to compare each record's value with the list than to look each up in the
 * index.
 */
const containedMax = 100

/** True if the condition compares a custom value that the index of custom values can find. */
export function isContained({ term, operator, values }: PlannedCondition): boolean {
  if (term.contained === undefined) return false
  return operator === 'eq' || (operator === 'in' && values.length <= containedMax)
}

/** The comparison of an operator that is not negated, in the form that an index of the field can serve. */
function positive(condition: PlannedCondition, row: Row, params: CallerParams): Sql {
  const { term, operator, values } = condition
  if (isContained(condition)) return containing(condition, row)
  const left = (term.compared ?? term.sql)(row)
  const type = sql.type(term.type)
  const isEquality = operator === 'eq' || operator === 'in'
  if (isEquality && term.alike) return alikeSql(condition, term.alike, row, params)
  const value =
    operator === 'in' ? sql`${param(arrayLiteral(values))}::${type}[]` : sql`${param(values[0]!)}::${type}`
  if (term.multi) {
    if (isEquality)
      return overlapping(term, left, operator === 'eq' ? sql`@> ARRAY[${value}]` : sql`&& ${value}`)
    const item = comparison(sql`item`, term.type, operator, values)
    return sql`EXISTS (SELECT 1 FROM unnest(${left}) item WHERE ${item})`
  }
  if (!isEquality) return comparison(left, term.type, operator, values)
  const equals = operator === 'in' ? sql`${left} = ANY(${value})` : sql`${left} = ${value}`
  const order = term.type === 'text' ? term.order?.of : undefined
  if (!order) return equals
  // Equal texts have equal sort keys. The second condition lets the index of the sort find them.
  const sorted =
    operator === 'in' ? sql`ANY(ARRAY(SELECT ${order(sql`x`)} FROM unnest(${value}) x))` : order(value)
  return sql`(${equals} AND ${order(left)} = ${sorted})`
}

/**
 * A comparison with values in any spelling (D88). If a record has several values, the planner has no
 * statistics and would walk all records in the list's order. So a subquery looks them up.
 */
function alikeSql({ values }: PlannedCondition, alike: Alike, row: Row, { account }: CallerParams): Sql {
  const { sql: value, of, indexed, resource } = alike
  const wanted = sql`${param(arrayLiteral(values.map(of)))}::text[]`
  if (!resource) return sql`${value(row)} = ANY(${wanted})`
  if (row.isDetached) return sql`${value(row)} && ${wanted}`
  const x = { ...row, alias: sql`x.` }
  const narrowed = indexed ? sql` AND ${indexed.where(x)} AND ${indexed.sql(x)} && ${wanted}` : sql.none
  const found = sql`SELECT x.id FROM ${sql.id(resource)} x
    WHERE x.account_id = ${account}::bigint${narrowed} AND ${value(x)} && ${wanted}`
  return sql`${row.alias}id = ANY(ARRAY(${found}))`
}

/** The condition that the custom document contains a value, or one of several. */
function containing({ term, operator, values, isCommon }: PlannedCondition, { alias }: Row): Sql {
  const custom = sql`${alias}custom`
  const wanted = values.map(value => term.contained!(value))
  const contained =
    operator === 'eq'
      ? sql`${custom} @> ${param(wanted[0]!)}::jsonb`
      : sql`${custom} @> ANY(${param(arrayLiteral(wanted))}::jsonb[])`
  // The index serves only conditions of `ofFilled`. For a common value walking the order is faster.
  return isCommon ? contained : ofFilled(custom, contained)
}

const signs: { readonly [operator: string]: Sql } = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` }

/** A comparison that is no equality. */
function comparison(value: Sql, type: SqlType, operator: Operator, values: readonly string[]): Sql {
  if (operator === 'like') return likeSql(value, values)
  // Text is compared by code point, so that every engine and collation gives the same result.
  const left = type === 'text' ? sql`${value} COLLATE "C"` : value
  const [first, second] = values.map(text => sql`${param(text)}::${sql.type(type)}`)
  if (operator === 'between') return sql`${left} BETWEEN ${first!} AND ${second!}`
  return sql`${left} ${signs[operator]!} ${first!}`
}

/** The condition that a text contains one of the values, in any case. */
function likeSql(value: Sql, values: readonly string[]): Sql {
  // ILIKE also folds both sides (D126), but is several times slower, and its folding depends on the server.
  const patterns = values.map(text => sql`fold(${param(`%${likeText(text)}%`)}::text)`)
  const any = patterns.length === 1 ? patterns[0]! : sql`ANY(ARRAY[${sql.join(patterns)}])`
  return sql`fold(${value}) LIKE ${any}`
}
