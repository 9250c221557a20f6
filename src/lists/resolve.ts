/**
 * Resolves the tree of a filter, and the keys of a sort, by the fields that the caller's role sees, into a
 * plan, or adds every problem (D29 to D31). operands.ts reads the values. Prints no SQL beyond the
 * expressions of the kinds.
 */
import type { Condition, FilterNode, SortKey } from '../../client/src/filter.ts'
import { type ResourceSchema, shownField } from '../fields/catalog.ts'
import { column } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { ofSeveral, type Term } from '../fields/term.ts'
import { unknownFieldHint } from '../fields/unknown-field.ts'
import type { QueryContext } from './list-request.ts'
import { asSpans, operandsOf, valuesMax } from './operands.ts'
import { addProblem, type Query } from './parameters.ts'
import type { Plan, PlannedSortKey, ResolvedTerm } from './plan.ts'

/** The plan of a filter. Adds the problems of conditions that can't be planned. */
export function resolveFilter(filter: FilterNode, context: QueryContext): Plan {
  if (filter.type === 'condition') return resolveCondition(filter, context)
  const all = filter.of.map(inner => resolveFilter(inner, context))
  if (filter.type === 'not') return { type: 'not', of: joined('and', all) }
  return joined(filter.type, all)
}

function joined(type: 'and' | 'or', of: readonly Plan[]): Plan {
  return of.length === 1 ? of[0]! : { type, of }
}

/** The sort keys; `id` is always the last (D29). `mayPointToDeleted`: to options that are deleted now. */
export function resolveSort(
  keys: readonly SortKey[],
  context: QueryContext,
  mayPointToDeleted: boolean,
): PlannedSortKey[] {
  const { problems } = context
  if (keys.length > sortKeysMax) {
    const { field } = keys[sortKeysMax]!
    addProblem(problems, 'sort', 'too_many', `sort takes at most ${sortKeysMax} fields.`, { field })
    return []
  }
  const planned = keys.flatMap(({ field: name, direction }) => {
    const found = findTerm(name, 'sort', context)
    if (found && found.term.order === null)
      addProblem(problems, 'sort', 'not_sortable', `Records can't be sorted by ${name}.`, { field: name })
    if (!found?.term.order) return []
    const order = (mayPointToDeleted ? null : found.term.order.ofLive) ?? found.term.order
    return [{ order, direction, nullable: !order.isFilled }]
  })
  const idKey = keys.findIndex(key => key.field === 'id')
  if (idKey >= 0) return planned.slice(0, idKey + 1)
  const direction = keys.at(-1)?.direction ?? 'desc'
  return [...planned, { order: { sql: column('id'), type: 'bigint' }, direction, nullable: false }]
}

const sortKeysMax = 10

/** The field that a parameter names; null after a problem. */
export function fieldNamed(
  name: string,
  parameter: string,
  { schema, problems }: Pick<Query, 'problems'> & { readonly schema: ResourceSchema },
): Field | null {
  const field = shownField(schema, name)
  if (!field) {
    const hint = () => unknownFieldHint(name, schema)
    addProblem(problems, parameter, 'unknown_field', `There is no field "${name}".`, { field: name, hint })
  }
  return field
}

/** Maximum number of values that stand for several: each becomes a condition of its own. */
const spansMax = 100

/** The plan of a condition after a problem. */
const nothing: Plan = { type: 'and', of: [] }

function resolveCondition(condition: Condition, context: QueryContext): Plan {
  const { field: name, operator } = condition
  const found = findTerm(name, 'filter', context)
  if (!found) return nothing
  const { operators } = found.term
  if (!operators.includes(operator)) {
    const { problems } = context
    const more = { field: name, hint: `It has: ${operators.join(', ')}.` }
    addProblem(problems, 'filter', 'operator_not_allowed', `${name} has no operator "${operator}".`, more)
    return nothing
  }
  return planOfSpans(condition, found.term, context) ?? planOf(condition, found, context)
}

/** The plan of a condition on values that stand for several, such as plain days (D42); null for another. */
function planOfSpans(condition: Condition, { spanOf }: Term, context: QueryContext): Plan | null {
  const { field, operator, values } = condition
  if (!spanOf) return null
  const { catalog, problems } = context
  const spanIn = (text: string) => spanOf(text, catalog)
  if (values.length <= spansMax || !values.some(spanIn)) {
    const inSpans = asSpans(condition, spanIn)
    return inSpans && resolveFilter(inSpans, context)
  }
  const message = `${operator} takes at most ${spansMax} values where one stands for several, as a plain day does.`
  const hint = 'Ask in several requests, or name single values, such as moments.'
  addProblem(problems, 'filter', 'too_many', message, { field, hint })
  return nothing
}

function planOf(condition: Condition, found: ResolvedTerm, context: QueryContext): Plan {
  const { field: name, operator, values } = condition
  const { field, term, across } = found
  const { problems } = context
  // An amount is compared in base currency, which changes with the rates.
  const isVolatile = field.is_volatile || term.compared !== undefined
  const planned = { type: 'condition', term, isVolatile, ...(across ? { across } : {}) } as const
  if (operator === 'isnull' || operator === 'notnull' || operator === 'exists') {
    const said = values[0]!.trim()
    if (said === 'true' || said === 'false') return { ...planned, operator, values: [said] }
    addProblem(problems, 'filter', 'invalid_value', `${operator} takes true or false.`, { field: name })
    return nothing
  }
  if (values.length > valuesMax) {
    const more = { field: name, hint: 'Ask in several requests.' }
    addProblem(problems, 'filter', 'too_many', `${operator} takes at most ${valuesMax} values.`, more)
    return nothing
  }
  const operands = operandsOf(condition, found, context)
  const isOfSeveral = operands.length > 1
  return { ...planned, operator: (isOfSeveral && ofSeveral[operator]) || operator, values: operands }
}

function findTerm(path: string, parameter: string, context: QueryContext): ResolvedTerm | null {
  const { name, member } = steps(path)
  const field = fieldNamed(name, parameter, context)
  if (!field) return null
  const kind = kinds[field.type]
  const term = kind.term(field, member)
  if (term) return { field, term }
  const across = field.related && member && parameter === 'filter' ? acrossTerm(field, member, context) : null
  if (across) return across
  const { problems } = context
  const members = kind.members.filter(known => kind.term(field, known)).map(known => `${name}.${known}`)
  const hint = members.length ? `It has: ${members.join(', ')}.` : `Use ${name} alone.`
  const wrong = `${name} has no member "${path.slice(name.length + 1)}".`
  const message = member ? wrong : `${name} needs a member.`
  addProblem(problems, parameter, 'unknown_field', message, { field: path, hint })
  return null
}

/**
 * The term of a field of the resource that a reference points to (D87): one step, of the fields that the
 * caller sees. Null if there is none.
 */
function acrossTerm(field: Field, path: string, { catalog }: QueryContext): ResolvedTerm | null {
  const resource = field.related!
  const ids = kinds[field.type].term(field, '')
  const { name, member } = steps(path)
  const target = catalog.resources.get(resource)
  const inner = target && shownField(target, name)
  if (!ids || !inner) return null
  const term = kinds[inner.type].term(inner, member)
  return term && { field: inner, term, across: { resource, term: ids } }
}

/** The first step of a path, and the rest: after a dot at the end, a member that no field has. */
function steps(path: string): { name: string; member: string } {
  const dot = path.indexOf('.')
  if (dot < 0) return { name: path, member: '' }
  return { name: path.slice(0, dot), member: path.slice(dot + 1) || '.' }
}
