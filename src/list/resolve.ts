/**
 * The tree of a filter and the account's fields → a plan, or every reason to refuse it (D29 to D31). Knows
 * fields. Prints no SQL beyond the expressions that the kinds give.
 */
import type { Hint, Problems } from '../errors.ts'
import { type Catalog, type ResourceFields, unknownFieldHint } from '../fields/catalog.ts'
import { codePoints } from '../fields/code-points.ts'
import { column, recordRow } from '../fields/columns.ts'
import { decimal } from '../fields/decimal.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { spellings } from '../fields/name.ts'
import type { Complaint, Operator, Order, Term } from '../fields/operators.ts'
import { compile, sql } from '../sql.ts'
import type { Condition, Filter, SortKey } from './grammar.ts'

export type PlannedCondition = {
  readonly type: 'condition'
  readonly term: Term
  readonly operator: Operator
  readonly values: readonly string[]
  /** whether the field's value changes without an event */
  readonly isVolatile?: boolean
  /** whether many records meet the condition (selectivity.ts) */
  readonly isCommon?: boolean
}
export type Plan =
  | PlannedCondition
  | { readonly type: 'and' | 'or'; readonly of: readonly Plan[] }
  | { readonly type: 'not'; readonly of: Plan }

export type PlannedSort = {
  readonly order: Order
  readonly direction: 'asc' | 'desc'
  readonly nullable: boolean
}

export type ResolveContext = {
  readonly fields: ResourceFields
  readonly catalog: Catalog
  readonly problems: Problems
}

/**
 * Whether the best plan of a list depends on the values in its filter. A rare word, tag or custom value is
 * found by its index. For a common one it is quicker to walk the order.
 */
export function dependsOnValues(plan: Plan): boolean {
  if (plan.type === 'not') return dependsOnValues(plan.of)
  if (plan.type !== 'condition') return plan.of.some(dependsOnValues)
  return plan.operator === 'like' || plan.term.multi || plan.term.contained !== undefined
}

/**
 * Whether every record that the filter finds has a value for the sort key `order`. Then the list needs no key
 * range for nulls.
 */
export function rejectsNull(plan: Plan, order: Order): boolean {
  return !order.looksUp && comparesText(plan, compile(order.sql(recordRow, nowhere)).text)
}

/** For an order that looks nothing up. */
const nowhere = () => sql.none

function comparesText(plan: Plan, text: string): boolean {
  switch (plan.type) {
    case 'condition':
      return termText(plan.term) === text && !plan.term.multi && comparing.has(plan.operator)
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

/** The longest text that `like` looks for (D112). */
const likeMax = 1000

/** The plan of a filter. What can't be planned is added to `problems`. */
export function resolveFilter(filter: Filter, context: ResolveContext): Plan {
  if (filter.type === 'condition') return resolveCondition(filter, context)
  if (filter.type === 'not') return { type: 'not', of: resolveFilter(filter.of, context) }
  return { type: filter.type, of: filter.of.map(inner => resolveFilter(inner, context)) }
}

/** The sort keys; `id` is always the last (D29). `isOfDeleted` as in Selection. */
export function resolveSort(
  keys: readonly SortKey[],
  context: ResolveContext,
  isOfDeleted: boolean,
): PlannedSort[] {
  if (keys.length > sortKeysMax) {
    refuse(context, keys[sortKeysMax]!.field, 'sort', 'too_many', `sort takes at most ${sortKeysMax} fields`)
    return []
  }
  const planned = keys.flatMap(({ field: name, direction }) => {
    const found = findTerm(name, 'sort', context)
    if (found && found.term.order === null)
      refuse(context, name, 'sort', 'not_sortable', `${name} can't be sorted by`)
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

/** How many values a condition may list. More values need several requests. */
const valuesMax = 5000

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

function resolveCondition(
  { field: name, operator, values }: Condition,
  context: ResolveContext,
): PlannedCondition {
  const found = findTerm(name, 'filter', context)
  if (!found) return nothing
  const { field, term } = found
  const isVolatile = field.is_volatile
  if (!term.operators.includes(operator)) {
    const hint = `It has: ${term.operators.join(', ')}.`
    refuse(context, name, 'filter', 'operator_not_allowed', `${name} has no operator "${operator}"`, hint)
    return nothing
  }
  if (operator === 'isnull' || operator === 'notnull' || operator === 'exists') {
    if (values[0] === 'true' || values[0] === 'false')
      return { type: 'condition', term, operator, values, isVolatile }
    refuse(context, name, 'filter', 'invalid_value', `${operator} takes true or false`)
    return nothing
  }
  if (values.length > valuesMax) {
    refuse(
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
    return { type: 'condition', term, operator, values: likeValues(values, name, context), isVolatile }
  const operands = distinct(operator, values).flatMap(value => {
    const operand = isText(value) ? term.operand(value, context.catalog) : noText
    if (typeof operand === 'string' || Array.isArray(operand)) return operand
    const { message, hint } = operand as Complaint
    const wasPlus =
      value.includes(' ') && !('message' in Object(term.operand(value.replaceAll(' ', '+'), context.catalog)))
    refuse(context, name, 'filter', 'invalid_value', message, wasPlus ? plusHint : hint)
    return ''
  })
  if (operator === 'between') checkBetween(operands, term, name, context)
  return {
    type: 'condition',
    term,
    operator: operands.length > 1 ? (ofSeveral[operator] ?? operator) : operator,
    values: distinct(operator, operands),
    isVolatile,
  }
}

const plusHint = 'In an address + stands for a blank: write + as %2B.'

/** Removes duplicates, except from a range: its two ends may be equal. */
function distinct(operator: Operator, values: readonly string[]): readonly string[] {
  return operator === 'between' ? values : [...new Set(values)]
}

/** One name may mean several options. Then the operator for one value becomes the one for several. */
const ofSeveral: { readonly [operator: string]: Operator } = { eq: 'in', neq: 'nin' }

/** The text to look for, in each way to write it: people don't see how an é was typed. */
function likeValues(values: readonly string[], name: string, context: ResolveContext): readonly string[] {
  const text = values[0]!
  if (text === '') refuse(context, name, 'filter', 'invalid_value', 'like needs a text to look for')
  else if (!isText(text)) refuse(context, name, 'filter', 'invalid_value', noText.message)
  else if (codePoints(text) > likeMax)
    refuse(context, name, 'filter', 'too_long', `like takes at most ${likeMax} characters`)
  else return spellings(text)
  return []
}

const noText: Complaint = { message: 'a value must not contain NUL or half of a surrogate pair' }

function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

function checkBetween(operands: readonly string[], term: Term, name: string, context: ResolveContext): void {
  if (operands.length !== 2) {
    refuse(
      context,
      name,
      'filter',
      'invalid_value',
      `between takes two values, not ${operands.length}`,
      `For example ${name}:between(1,5).`,
    )
    return
  }
  const [from, to] = operands as [string, string]
  const backwards =
    term.type === 'numeric' || term.type === 'bigint'
      ? (decimal(from)?.gt(decimal(to) ?? from) ?? false)
      : Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0
  if (backwards) refuse(context, name, 'filter', 'invalid_value', 'between needs the lower value first')
}

function findTerm(
  path: string,
  parameter: string,
  context: ResolveContext,
): { field: Field; term: Term } | null {
  const dot = path.indexOf('.')
  const name = dot < 0 ? path : path.slice(0, dot)
  const member = dot < 0 ? '' : path.slice(dot + 1)
  const field = context.fields.byName.get(name)
  if (!field?.is_active || field.is_hidden) {
    const hint = () => unknownFieldHint(name, context.fields)
    refuse(context, name, parameter, 'unknown_field', `There is no field "${name}"`, hint)
    return null
  }
  const kind = kinds[field.type]
  const term = kind.term(field, member)
  if (term) return { field, term }
  const members = kind.members.filter(known => kind.term(field, known)).map(known => `${name}.${known}`)
  const hint = members.length ? `It has: ${members.join(', ')}.` : `Use ${name} alone.`
  refuse(
    context,
    path,
    parameter,
    'unknown_field',
    member ? `${name} has no member "${member}"` : `${name} needs a member`,
    hint,
  )
  return null
}

function refuse(
  context: ResolveContext,
  field: string,
  parameter: string,
  code: string,
  message: string,
  hint?: Hint,
): void {
  context.problems.add(() => ({ field, path: '', code, message: `${message}.`, parameter }), hint)
}
