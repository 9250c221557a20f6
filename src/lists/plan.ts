/**
 * The plan of a list: its filter and sort keys, with the account's fields in the place of names. resolve.ts
 * makes it of the tree, where.ts and order.ts print it as SQL. Here is also what others ask of a plan.
 */
import { storedRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import type { Operator, Order, Term } from '../fields/term.ts'
import type { Rights } from '../rights/rights.ts'
import { compile, sql } from '../sql.ts'

export type Plan =
  | PlannedCondition
  | { readonly type: 'and' | 'or'; readonly of: readonly Plan[] }
  | { readonly type: 'not'; readonly of: Plan }

export type PlannedCondition = {
  readonly type: 'condition'
  readonly term: Term
  readonly operator: Operator
  /** as texts for the database */
  readonly values: readonly string[]
  /** set if the field belongs to a record that this reference points to (D87) */
  readonly across?: Across
  /** true if what it compares changes without an event */
  readonly isVolatile?: boolean
  /** true if many records meet the condition (selectivity.ts) */
  readonly isCommon?: boolean
}

/** The field by which a condition reaches another resource, and its term: ids. */
export type Across = { readonly resource: string; readonly term: Term }

/** A field that is named, and the term that it is compared by. */
export type ResolvedTerm = { readonly field: Field; readonly term: Term; readonly across?: Across }

export type PlannedSortKey = {
  readonly order: Order
  readonly direction: 'asc' | 'desc'
  readonly nullable: boolean
}

/** The conditions of a filter, wherever they stand in it. */
export function conditionsOf(plan: Plan | null): readonly PlannedCondition[] {
  if (plan === null) return []
  if (plan.type === 'not') return conditionsOf(plan.of)
  return plan.type === 'condition' ? [plan] : plan.of.flatMap(conditionsOf)
}

/**
 * True if the best plan of a list depends on the values in its filter. A rare word, tag or custom value is
 * found by its index. For a common one it is faster to walk the order.
 */
export function dependsOnValues(plan: Plan | null): boolean {
  return conditionsOf(plan).some(
    ({ operator, term, across }) => operator === 'like' || term.multi || !!term.contained || !!across,
  )
}

/** True if the records that a filter finds change without an event: with the clock, a stage or a rate. */
export function isVolatile(plan: Plan | null): boolean {
  return conditionsOf(plan).some(condition => condition.isVolatile)
}

/** The resources that a filter reaches across references: each once. */
export function resourcesAcross(plan: Plan | null): string[] {
  return [...new Set(conditionsOf(plan).flatMap(({ across }) => across?.resource ?? []))]
}

/**
 * Throws `forbidden` unless the caller may read the resources whose names are shown or sorted by (D65), or
 * that the filter reaches (D87). Whoever reads records for a caller checks here, since a filter alone reveals
 * what it reaches.
 */
export function requireReadScopes(
  rights: Rights,
  shown: readonly Field[],
  {
    sort = [],
    filter = null,
  }: { readonly sort?: readonly PlannedSortKey[]; readonly filter?: Plan | null } = {},
): void {
  const byName = [...shown.map(({ related }) => related), ...sort.map(({ order }) => order.namesOf)]
  for (const resource of [...byName, ...resourcesAcross(filter)])
    if (resource) rights.need(`${resource}:read`)
}

/**
 * True if every record that the filter finds has a value of the sort key `order`. Then the list needs no key
 * range for nulls.
 */
export function rejectsNull(plan: Plan, order: Order): boolean {
  return !order.looksUp && comparesText(plan, compile(order.sql(storedRow(), nowhere)).text)
}

/** For an order without a lookup. */
const nowhere = () => sql.none

function comparesText(plan: Plan, text: string): boolean {
  switch (plan.type) {
    case 'condition':
      if (plan.across || plan.term.multi) return false
      return termText(plan.term) === text && comparing.has(plan.operator)
    case 'and':
      return plan.of.some(inner => comparesText(inner, text))
    case 'or':
      return plan.of.every(inner => comparesText(inner, text))
    case 'not':
      return false
  }
}

/** Identifies what a term compares: the text of its SQL, whose only parameter is the account. */
export function termText(term: Term): string {
  return compile((term.compared ?? term.sql)(storedRow())).text
}

const comparing: ReadonlySet<Operator> = new Set(['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'between', 'like'])
