/**
 * Resolves the tree of a filter by the account's fields into a plan, or reports every problem (D29 to D31).
 * Knows fields. Prints no SQL beyond the expressions of the kinds.
 */
import { column, recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { equality, type OperandProblem, type Operator, type Order, type Term } from '../fields/operators.ts'
import { unknownFieldHint } from '../fields/unknown-field.ts'
import { compile, sql } from '../sql.ts'
import { inMoments } from './days.ts'
import type { Condition, Filter, ParsedSort } from './grammar.ts'
import {
  checkBetween,
  isText,
  likeValues,
  namedId,
  noText,
  nothingHint,
  type ResolveContext,
  reject,
} from './operands.ts'

export type PlannedCondition = {
  readonly type: 'condition'
  readonly term: Term
  readonly operator: Operator
  readonly values: readonly string[]
  /** set if the field belongs to a record that this reference points to (D87) */
  readonly through?: Through
  /** true if the field's value changes without an event */
  readonly isVolatile?: boolean
  /** true if many records meet the condition (selectivity.ts) */
  readonly isCommon?: boolean
}
/** The field by which a condition reaches another resource, and its term: ids. */
export type Through = { readonly resource: string; readonly term: Term }

export type Plan =
  | PlannedCondition
  | { readonly type: 'and' | 'or'; readonly of: readonly Plan[] }
  | { readonly type: 'not'; readonly of: Plan }

export type PlannedSort = {
  readonly order: Order
  readonly direction: 'asc' | 'desc'
  readonly nullable: boolean
}

/**
 * True if the best plan of a list depends on the values in its filter. A rare word, tag or custom value is
 * found by its index. For a common one it is faster to walk the order.
 */
export function dependsOnValues(plan: Plan): boolean {
  if (plan.type === 'not') return dependsOnValues(plan.of)
  if (plan.type !== 'condition') return plan.of.some(dependsOnValues)
  return plan.operator === 'like' || plan.term.multi || !!plan.term.contained || !!plan.through
}

/** The resources that a filter reaches across references: each once. */
export function reachedBy(plan: Plan | null): string[] {
  if (plan === null) return []
  if (plan.type === 'not') return reachedBy(plan.of)
  if (plan.type !== 'condition') return [...new Set(plan.of.flatMap(reachedBy))]
  return plan.through ? [plan.through.resource] : []
}

/**
 * True if every record that the filter finds has a value of the sort key `order`. Then the list needs no key
 * range for nulls.
 */
export function rejectsNull(plan: Plan, order: Order): boolean {
  return !order.looksUp && comparesText(plan, compile(order.sql(recordRow, nowhere)).text)
}

/** For an order without a lookup. */
const nowhere = () => sql.none

function comparesText(plan: Plan, text: string): boolean {
  switch (plan.type) {
    case 'condition':
      if (plan.through || plan.term.multi) return false
      return termText(plan.term) === text && comparing.has(plan.operator)
    case 'and':
      return plan.of.some(inner => comparesText(inner, text))
    case 'or':
      return plan.of.every(inner => comparesText(inner, text))
    case 'not':
      return false
  }
}

/** Identifies what a term compares: the text of its SQL, which has no parameter. */
export function termText(term: Term): string {
  return compile((term.compared ?? term.sql)(recordRow)).text
}

const comparing: ReadonlySet<Operator> = new Set(['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'between', 'like'])

/** The plan of a filter. Adds the problems of conditions that can't be planned. */
export function resolveFilter(filter: Filter, context: ResolveContext): Plan {
  if (filter.type === 'condition') return resolveCondition(filter, context)
  if (filter.type === 'not') return { type: 'not', of: resolveFilter(filter.of, context) }
  return { type: filter.type, of: filter.of.map(inner => resolveFilter(inner, context)) }
}

/** The sort keys; `id` is always the last (D29). `isOfDeleted` as in Selection. */
export function resolveSort(
  keys: readonly ParsedSort[],
  context: ResolveContext,
  isOfDeleted: boolean,
): PlannedSort[] {
  if (keys.length > sortKeysMax) {
    reject(context, keys[sortKeysMax]!.field, 'sort', 'too_many', `sort takes at most ${sortKeysMax} fields`)
    return []
  }
  const planned = keys.flatMap(({ field: name, direction }) => {
    const found = findTerm(name, 'sort', context)
    if (found && found.term.order === null)
      reject(context, name, 'sort', 'not_sortable', `Records can't be sorted by ${name}`)
    if (!found?.term.order) return []
    const order = (isOfDeleted ? null : found.term.order.ofLive) ?? found.term.order
    return [{ order, direction, nullable: !order.isFilled }]
  })
  const idKey = keys.findIndex(key => key.field === 'id')
  if (idKey >= 0) return planned.slice(0, idKey + 1)
  return [
    ...planned,
    {
      order: { sql: column('id'), type: 'bigint' },
      direction: keys.at(-1)?.direction ?? 'desc',
      nullable: false,
    },
  ]
}

const sortKeysMax = 10

/** Maximum number of values of a condition. More values need several requests. */
const valuesMax = 5000

/** Maximum number of values that are plain days: each becomes a condition of its own. */
const daysMax = 100

const nothing: PlannedCondition = {
  type: 'condition',
  term: {
    type: 'bigint',
    sql: () => sql`NULL`,
    multi: false,
    operators: [],
    operand: text => text,
    order: null,
  },
  operator: 'isnull',
  values: ['true'],
}

function resolveCondition(condition: Condition, context: ResolveContext): Plan {
  const found = findTerm(condition.field, 'filter', context)
  if (!found) return nothing
  return planOfDays(condition, found.term, context) ?? planOf(condition, found, context)
}

/** The plan of a condition on plain days (D42); null for another one. */
function planOfDays(condition: Condition, { day, operators }: Term, context: ResolveContext): Plan | null {
  const { field: name, operator, values } = condition
  if (!day || !operators.includes(operator)) return null
  const inDays = inMoments(condition, text => day(text, context.catalog))
  if (!inDays || values.length <= daysMax) return inDays && resolveFilter(inDays, context)
  const message = `${operator} takes at most ${daysMax} values where one is a plain day`
  reject(context, name, 'filter', 'too_many', message, 'Ask in several requests, or name moments.')
  return nothing
}

function planOf(
  { field: name, operator, values }: Condition,
  { field, term, through }: ResolvedTerm,
  context: ResolveContext,
): PlannedCondition {
  // An amount is compared in base currency, which changes with the rates.
  const isVolatile = field.is_volatile || term.compared !== undefined
  const reached = through ? { through } : {}
  if (!term.operators.includes(operator)) {
    const hint = `It has: ${term.operators.join(', ')}.`
    reject(context, name, 'filter', 'operator_not_allowed', `${name} has no operator "${operator}"`, hint)
    return nothing
  }
  if (operator === 'isnull' || operator === 'notnull' || operator === 'exists') {
    if (values[0] === 'true' || values[0] === 'false')
      return { type: 'condition', term, operator, values, isVolatile, ...reached }
    reject(context, name, 'filter', 'invalid_value', `${operator} takes true or false`)
    return nothing
  }
  if (values.length > valuesMax) {
    reject(
      context,
      name,
      'filter',
      'too_many',
      `${operator} takes at most ${valuesMax} values`,
      'Ask in several requests.',
    )
    return nothing
  }
  if (operator === 'like')
    return {
      type: 'condition',
      term,
      operator,
      values: likeValues(values, name, context),
      isVolatile,
      ...reached,
    }
  const operands = distinct(operator, values).flatMap(value => {
    const operand = isText(value) ? term.operand(value, context.catalog) : noText
    if (typeof operand === 'string' || Array.isArray(operand)) return operand
    const isNamed = field.related && (equality as readonly Operator[]).includes(operator)
    const id = isNamed && operand !== noText ? namedId(field.related!, value, name, context) : null
    if (id !== null) return id
    refuseOperand(operand as OperandProblem, value, term, name, context)
    return ''
  })
  if (operator === 'between') checkBetween(operands, term, name, context)
  return {
    type: 'condition',
    term,
    operator: operands.length > 1 ? (ofSeveral[operator] ?? operator) : operator,
    values: distinct(operator, operands),
    isVolatile,
    ...reached,
  }
}

function refuseOperand(
  { message, hint }: OperandProblem,
  value: string,
  term: Term,
  name: string,
  context: ResolveContext,
): void {
  const withPlus = value.includes(' ') ? term.operand(value.replaceAll(' ', '+'), context.catalog) : null
  const wasPlus = typeof withPlus === 'string' || Array.isArray(withPlus)
  const hintOrNothing = nothingHint(name, value) ?? hint
  reject(context, name, 'filter', 'invalid_value', message, wasPlus ? plusHint : hintOrNothing)
}

const plusHint = 'In an address + stands for a blank: write + as %2B.'

/** Removes duplicates, except from a range: its two ends may be equal. */
function distinct(operator: Operator, values: readonly string[]): readonly string[] {
  return operator === 'between' ? values : [...new Set(values)]
}

/** One name may mean several options. Then the operator for one value becomes the one for several. */
const ofSeveral: { readonly [operator: string]: Operator } = { eq: 'in', neq: 'nin' }

type ResolvedTerm = { readonly field: Field; readonly term: Term; readonly through?: Through }

function findTerm(path: string, parameter: string, context: ResolveContext): ResolvedTerm | null {
  const { name, member } = steps(path)
  const field = context.schema.byName.get(name)
  if (!field?.is_active || field.is_hidden) {
    const hint = () => unknownFieldHint(name, context.schema)
    reject(context, name, parameter, 'unknown_field', `There is no field "${name}"`, hint)
    return null
  }
  const kind = kinds[field.type]
  const term = kind.term(field, member)
  if (term) return { field, term }
  const across = field.related && member && parameter === 'filter' ? acrossTerm(field, member, context) : null
  if (across) return across
  const members = kind.members.filter(known => kind.term(field, known)).map(known => `${name}.${known}`)
  const hint = members.length ? `It has: ${members.join(', ')}.` : `Use ${name} alone.`
  const message = member ? `${name} has no member "${member}"` : `${name} needs a member`
  reject(context, path, parameter, 'unknown_field', message, hint)
  return null
}

/**
 * The term of a field of the resource that a reference points to (D87): one step, of the fields that the
 * caller sees. Null if there is none.
 */
function acrossTerm(field: Field, path: string, { catalog }: ResolveContext): ResolvedTerm | null {
  const resource = field.related!
  const ids = kinds[field.type].term(field, '')
  const { name, member } = steps(path)
  const inner = catalog.resources.get(resource)?.byName.get(name)
  if (!ids || !inner?.is_active || inner.is_hidden) return null
  const term = kinds[inner.type].term(inner, member)
  return term && { field: inner, term, through: { resource, term: ids } }
}

/** The first step of a path, and the rest. */
function steps(path: string): { name: string; member: string } {
  const dot = path.indexOf('.')
  return dot < 0 ? { name: path, member: '' } : { name: path.slice(0, dot), member: path.slice(dot + 1) }
}
