/**
 * The parameters of a list → a request for a page (D27 to D32): every problem at once. Knows the parameters'
 * names; no SQL.
 */
import { type Hint, Problems, Refusal } from '../errors.ts'
import { type Catalog, type ResourceFields, unknownFieldHint } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { suggestion } from '../fields/nearest.ts'
import { isExpandable } from '../records/expand.ts'
import { type Cursor, listIdentity, readCursor } from './cursor.ts'
import { conditionsMax, type Filter, GrammarError, parseFilter, parseSort } from './grammar.ts'
import { refuseCostlyLikes } from './like-cost.ts'
import {
  type Plan,
  type PlannedSort,
  rejectsNull,
  resolveFilter,
  resolveSort,
  type World,
} from './resolve.ts'

/** Which records are meant, of a list or of sums. */
export type Selection = {
  readonly filter: Plan | null
  /** the filter's text, for remembering its total */
  readonly filterText: string
  /** whether the deleted records are meant instead of the others */
  readonly isOfDeleted: boolean
}

export type ListRequest = Selection & {
  /** from 1; 1 also with a cursor, which takes its place */
  readonly page: number
  readonly pageSize: number
  readonly cursor: Cursor | null
  readonly sort: readonly PlannedSort[]
  readonly only: readonly Field[] | null
  readonly expand: readonly Field[]
  readonly count: 'auto' | 'exact' | 'estimate' | 'none'
  /** what a cursor of this list is bound to */
  readonly identity: string
  /** the moment by which what follows the clock is sorted: UTC, with milliseconds */
  readonly asOf: string
}

/** Sums of records, those of each value of a field for itself. */
export type AggregateRequest = Selection & { readonly groupBy: Field | null }

/** Parameter name → its values, in the order given. */
export type Parameters = ReadonlyMap<string, readonly string[]>

const listParameters = [
  'page',
  'pageSize',
  'size',
  'cursor',
  'filter',
  'sort',
  'fields',
  'expand',
  'count',
  'deleted',
]
const pageSizeDefault = 25
const pageSizeMax = 500
const offsetMax = 100_000
/**
 * How many parameters a request may have, and how long they may be together: room for 5000 values of 25
 * digits (D30).
 */
const parametersMax = 100
const textMax = 131_072
const unreadable = 'The list query could not be read.'
const mostCharacters = `A list query has at most ${textMax} characters.`
const askLess = 'Ask in several requests.'
/**
 * What a query has at most in bytes, as a character has at most four in UTF-8; larger ones are not even read.
 */
export const queryBytesMax: number = 4 * textMax

/**
 * Reads a list's parameters. Throws `unknown_parameter` or `malformed_query` with every problem. `now` is
 * UTC, with milliseconds.
 */
export function readListQuery(
  parameters: Parameters,
  fields: ResourceFields,
  catalog: Catalog,
  now: string,
): ListRequest {
  const problems = unknownParameters(parameters, listParameters)
  const world = { fields, catalog, problems }
  const page = wholeNumber(parameters, ['page'], 1, Number.MAX_SAFE_INTEGER, problems)
  const pageSize = wholeNumber(parameters, ['pageSize', 'size'], pageSizeDefault, pageSizeMax, problems)
  const selection = selectionOf(parameters, world)
  const { filter, isOfDeleted } = selection
  const sortText = single(parameters, 'sort', problems)
  const sortKeys = parsed(sortText ?? '', 'sort', parseSort, problems) ?? []
  const keys = resolveSort(sortKeys, world, isOfDeleted)
  const sort = filter
    ? keys.map(key => (rejectsNull(filter, key.order.sql) ? { ...key, nullable: false } : key))
    : keys
  // Options in another order make another list.
  const orders = sortKeys.map(({ field }) =>
    (fields.byName.get(field)?.options ?? []).map(option => option.id).join(),
  )
  const texts = parameters.get('filter') ?? []
  const identity = listIdentity([fields.resource.name, sortText, ...orders, String(isOfDeleted), ...texts])
  const cursor = cursorOf(parameters, identity, sort, problems)
  if ((page - 1) * pageSize > offsetMax) {
    const hint = 'Follow the cursor: give the "nextCursor" of each page as "cursor" of the next request.'
    report(problems, 'page', 'page_too_far', `Pages end at row ${offsetMax}.`, { hint })
  }
  const request: ListRequest = {
    ...selection,
    page: cursor ? 1 : page,
    pageSize,
    cursor,
    sort,
    only: fieldsNamed(parameters, 'fields', fields, problems, ['id']),
    expand: expandOf(parameters, fields, problems),
    count: oneOf(parameters, 'count', ['exact', 'estimate', 'none'] as const, problems) ?? 'auto',
    identity,
    asOf: cursor?.asOf ?? now,
  }
  refuse(problems, unreadable)
  return request
}

/**
 * Reads the parameters of sums: those of a list that say which records are meant, and `group_by`. Throws as
 * readListQuery does.
 */
export function readAggregateQuery(
  parameters: Parameters,
  fields: ResourceFields,
  catalog: Catalog,
): AggregateRequest {
  const problems = unknownParameters(parameters, ['group_by', 'filter', 'deleted'])
  const selection = selectionOf(parameters, { fields, catalog, problems })
  const [groupBy = null, ...others] = fieldsNamed(parameters, 'group_by', fields, problems, []) ?? []
  if (others.length) report(problems, 'group_by', 'too_many', 'group_by takes one field.')
  if (groupBy && !isGroupable(groupBy)) {
    const hint = `Those that can: ${namesOf(fields, isGroupable)}.`
    const message = `${groupBy.internal_name} doesn't hold one id with a name.`
    report(problems, 'group_by', 'not_groupable', message, { field: groupBy.internal_name, hint })
  }
  refuse(problems, 'The query could not be read.')
  return { ...selection, groupBy }
}

function isGroupable(field: Field): boolean {
  return isExpandable(field) && kinds[field.type].term(field, '')?.multi === false
}

function selectionOf(parameters: Parameters, world: World): Selection {
  const filter = filterOf(parameters, world.problems)
  const plan = filter && resolveFilter(filter, world)
  if (plan) refuseCostlyLikes(plan, world.problems)
  return {
    filter: plan,
    filterText: (parameters.get('filter') ?? []).join(','),
    isOfDeleted: oneOf(parameters, 'deleted', ['only'] as const, world.problems) === 'only',
  }
}

/** All filters of a request, which must all hold. */
function filterOf(parameters: Parameters, problems: Problems): Filter | null {
  const count = { conditions: 0 }
  const filters = (parameters.get('filter') ?? []).flatMap(text => {
    // One too many is said once.
    if (count.conditions > conditionsMax) return []
    return parsed(text, 'filter', filter => parseFilter(filter, count), problems) ?? []
  })
  return filters.length > 1 ? { type: 'and', of: filters } : (filters[0] ?? null)
}

/** Reads what a request for one record may say: `expand`. Throws as readListQuery does. */
export function readRecordQuery(parameters: Parameters, fields: ResourceFields): readonly Field[] {
  const problems = unknownParameters(parameters, ['expand'])
  const expand = expandOf(parameters, fields, problems)
  refuse(problems, 'The query could not be read.')
  return expand
}

function refuse(problems: Problems, detail: string): void {
  if (problems.count === 0) return
  const isUnknown = problems.kept.every(({ code }) => code === 'unknown_parameter')
  throw new Refusal(isUnknown ? 'unknown_parameter' : 'malformed_query', detail, problems)
}

function report(
  problems: Problems,
  parameter: string,
  code: string,
  message: string,
  { hint, field = null, ...more }: { hint?: Hint | undefined; field?: string | null; position?: number } = {},
): void {
  problems.add(() => ({ field, path: '', parameter, code, message, ...more }), hint)
}

/** What a query of more bytes than `queryBytesMax` is refused with. */
export function queryTooLarge(): Refusal {
  const problem = {
    field: null,
    path: '',
    parameter: '',
    code: 'too_long',
    message: mostCharacters,
    hint: askLess,
  }
  return new Refusal('malformed_query', unreadable, [problem])
}

/** Refuses what is too much to be read, with one problem, before anything is read. */
function refuseExcess(parameters: Parameters): void {
  const problems = new Problems()
  const texts = [...parameters.values()].flat()
  const length = [...parameters.keys(), ...texts].reduce((sum, text) => sum + text.length, 0)
  const hint = askLess
  if (Math.max(parameters.size, texts.length) > parametersMax) {
    report(
      problems,
      '',
      'too_many',
      `A list query has at most ${parametersMax} parameters, each filter counted.`,
      { hint },
    )
  } else if (length > textMax) {
    report(problems, '', 'too_long', `${mostCharacters.slice(0, -1)}, not ${length}.`, { hint })
  }
  refuse(problems, unreadable)
}

function unknownParameters(parameters: Parameters, known: readonly string[]): Problems {
  refuseExcess(parameters)
  const problems = new Problems()
  for (const name of parameters.keys()) {
    if (known.includes(name)) continue
    const hint = () => suggestion(name, known, `The parameters: ${known.join(', ')}.`)
    report(problems, name, 'unknown_parameter', `There is no parameter "${name}".`, { hint })
  }
  return problems
}

/**
 * The one number that the parameter and its alias give. Never clamped (D27): a clamped page makes a sync loop
 * stop early.
 */
function wholeNumber(
  parameters: Parameters,
  names: readonly string[],
  fallback: number,
  max: number,
  problems: Problems,
): number {
  const values = names.flatMap(name => parameters.get(name) ?? [])
  const parameter = names[0]!
  if (values.length === 0) return fallback
  const value = Number(values[0])
  if (new Set(values).size > 1) {
    report(problems, parameter, 'contradiction', `${names.join(' and ')} give different values.`)
  } else if (!/^\d{1,16}$/.test(values[0]!) || value < 1 || value > max) {
    const limit = max === pageSizeMax ? ` to ${max}` : ''
    report(problems, parameter, 'invalid_value', `${parameter} must be a whole number from 1${limit}.`)
  } else return value
  return fallback
}

function single(parameters: Parameters, name: string, problems: Problems): string | null {
  const values = parameters.get(name) ?? []
  if (values.length > 1) report(problems, name, 'contradiction', `${name} may be given once.`)
  return values[0] || null
}

function oneOf<T extends string>(
  parameters: Parameters,
  name: string,
  words: readonly T[],
  problems: Problems,
): T | null {
  const text = single(parameters, name, problems)
  const word = words.find(known => known === text) ?? null
  if (text !== null && word === null)
    report(problems, name, 'invalid_value', `${name} must be ${words.join(' or ')}.`)
  return word
}

function cursorOf(
  parameters: Parameters,
  identity: string,
  sort: readonly PlannedSort[],
  problems: Problems,
): Cursor | null {
  const text = single(parameters, 'cursor', problems)
  if (text === null) return null
  if (parameters.has('page'))
    report(problems, 'cursor', 'contradiction', 'cursor takes the place of page: give one of them.')
  // What is wrong with the sort is said already; the cursor can't be judged without it.
  if (problems.count) return null
  const cursor = readCursor(text, identity, sort)
  if (cursor === 'other') {
    const hint =
      'Give the filter, sort and deleted with which its list began, or begin a new list without it.'
    report(problems, 'cursor', 'other_list', 'The cursor belongs to another list.', { hint })
  } else if (cursor === null) {
    report(problems, 'cursor', 'invalid_value', 'cursor must be the "nextCursor" of a page, as it was given.')
  } else return cursor
  return null
}

function parsed<T>(
  text: string,
  parameter: string,
  parse: (text: string) => T,
  problems: Problems,
): T | null {
  if (text.trim() === '') return null
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const { message, hint } = error
    const position = error.position + 1
    report(problems, parameter, 'syntax', `${message} (at position ${position} of ${parameter}).`, {
      position,
      hint,
    })
    return null
  }
}

/**
 * The fields that a parameter names, separated by commas, after those it always has. Null when it is not
 * given.
 */
function fieldsNamed(
  parameters: Parameters,
  parameter: string,
  fields: ResourceFields,
  problems: Problems,
  always: readonly string[],
): Field[] | null {
  const text = single(parameters, parameter, problems)
  if (text === null) {
    if (parameters.has(parameter))
      report(problems, parameter, 'invalid_value', `${parameter} names no field.`)
    return null
  }
  const names = [...new Set([...always, ...text.split(',').map(name => name.trim())])]
  return names.flatMap(name => {
    const field = fields.byName.get(name)
    if (field?.is_active && !field.is_hidden) return [field]
    const hint = () => unknownFieldHint(name, fields)
    report(problems, parameter, 'unknown_field', `There is no field "${name}".`, { field: name, hint })
    return []
  })
}

function expandOf(parameters: Parameters, fields: ResourceFields, problems: Problems): Field[] {
  const named = fieldsNamed(parameters, 'expand', fields, problems, []) ?? []
  for (const { internal_name } of named.filter(field => !isExpandable(field))) {
    const hint = () => `Those that can: ${namesOf(fields, isExpandable)}.`
    report(problems, 'expand', 'not_expandable', `${internal_name} holds no ids with names.`, {
      field: internal_name,
      hint,
    })
  }
  return named
}

function namesOf({ fields }: ResourceFields, isWanted: (field: Field) => boolean): string {
  const wanted = fields.filter(field => field.is_active && !field.is_hidden && isWanted(field))
  return wanted.map(field => field.internal_name).join(', ')
}
