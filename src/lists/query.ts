/**
 * Parses the parameters of a list into a request for a page (D27 to D32). Reports every problem at once.
 * Knows the names of the parameters and no SQL.
 */
import { conditionsMax } from '../../client/src/filter.ts'
import type { Problems } from '../errors.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { isoDate } from '../fields/iso8601.ts'
import { unknownFieldHint } from '../fields/unknown-field.ts'
import { isExpandable } from '../records/expand.ts'
import { NameLookup } from '../records/name-lookup.ts'
import { type Cursor, listIdentity, readCursor } from './cursor.ts'
import { filterMeant } from './foreign-filters.ts'
import { foreignParameterHint, pageSizeMax } from './foreign-parameters.ts'
import { type Filter, parseFilter, parseSort } from './grammar.ts'
import { type ResolveContext, refuseCostlyLikes } from './operands.ts'
import {
  addProblem,
  oneOf,
  type Parameters,
  parsed,
  single,
  throwProblems,
  unknownParameters,
  unreadable,
  wholeNumber,
} from './parameters.ts'
import { type Plan, type PlannedSort, rejectsNull, resolveFilter, resolveSort } from './resolve.ts'

/** The selected records of a list or a sum. */
export type Selection = {
  readonly filter: Plan | null
  /** the filter's text, for the cache key of its total */
  readonly filterText: string
  /** true: only deleted records; false: only records that are not deleted */
  readonly isOfDeleted: boolean
  /** true if the filter contains names (D75), whose ids depend on the caller and the time */
  readonly hasNames: boolean
  /** a past day at whose end the records are read (D74): YYYY-MM-DD; null: current records */
  readonly day: string | null
}

export type ListRequest = Selection & {
  /** counted from 1; always 1 with a cursor */
  readonly page: number
  readonly pageSize: number
  readonly cursor: Cursor | null
  readonly sort: readonly PlannedSort[]
  readonly only: readonly Field[] | null
  readonly expand: readonly Field[]
  readonly count: 'auto' | 'exact' | 'estimate' | 'none'
  /** identifies the list, the texts of its filters last; its cursors contain a hash of it */
  readonly identity: readonly (string | null)[]
  /** the moment as of which values that depend on the clock are sorted: UTC, with milliseconds */
  readonly asOf: string
}

/** The parameters that every list takes. */
export const listParameters = [
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
  'as_of',
]
const pageSizes: PageSizes = { usual: 25, max: pageSizeMax }
export type PageSizes = { readonly usual: number; readonly max: number }
const offsetMax = 100_000
/** Characters read of a filter that may be another system's. */
const longestMeant = 1000
/**
 * Parses a list's parameters. Throws `unknown_parameter` or `malformed_query` with every problem. `now` is
 * UTC, with milliseconds; `names`: those that the filter may contain (D75).
 */
export function readListQuery(
  parameters: Parameters,
  schema: ResourceSchema,
  catalog: Catalog,
  now: string,
  names: NameLookup = new NameLookup(),
): ListRequest {
  const problems = unknownParameters(parameters, listParameters, foreignParameterHint(schema, listParameters))
  const request = listRequestOf(parameters, { schema, catalog, problems, names }, now, pageSizes)
  throwProblems(problems, unreadable)
  return request
}

/** Parses the parameters of a page, and adds their problems. */
export function listRequestOf(
  parameters: Parameters,
  context: ResolveContext,
  now: string,
  { usual, max }: PageSizes,
): ListRequest {
  const { schema, problems } = context
  const page = wholeNumber(parameters, ['page'], 1, Number.MAX_SAFE_INTEGER, problems)
  const pageSize = wholeNumber(parameters, ['pageSize', 'size'], usual, max, problems)
  const selection = selectionOf(parameters, context)
  const { filter, isOfDeleted, day } = selection
  const sortText = single(parameters, 'sort', problems)
  const sortKeys = parsed(sortText ?? '', 'sort', parseSort, problems) ?? []
  const keys = resolveSort(sortKeys, context, isOfDeleted)
  const sort = filter
    ? keys.map(key => (rejectsNull(filter, key.order) ? { ...key, nullable: false } : key))
    : keys
  // A list sorted by options that an administrator has reordered is another list.
  const orders = sortKeys.map(({ field }) =>
    (schema.byName.get(field)?.options ?? []).map(option => option.id).join(),
  )
  const texts = parameters.get('filter') ?? []
  const identity = [schema.resource.name, sortText, ...orders, String(isOfDeleted), day, ...texts]
  const cursor = cursorOf(parameters, identity, sort, problems)
  if ((page - 1) * pageSize > offsetMax) {
    const hint = 'Follow the cursor: give the "nextCursor" of each page as "cursor" of the next request.'
    addProblem(problems, 'page', 'page_too_far', `A numbered page passes over at most ${offsetMax} rows.`, {
      hint,
    })
  }
  return {
    ...selection,
    page: cursor ? 1 : page,
    pageSize,
    cursor,
    sort,
    only: fieldsNamed(parameters, 'fields', schema, problems, ['id']),
    expand: expandOf(parameters, schema, problems),
    count: oneOf(parameters, 'count', ['exact', 'estimate', 'none'] as const, problems) ?? 'auto',
    identity,
    asOf: cursor?.asOf ?? now,
  }
}

/** Parses which records are selected, and adds the problems. */
export function selectionOf(parameters: Parameters, context: ResolveContext): Selection {
  const filter = filterOf(parameters, context)
  const plan = filter && resolveFilter(filter, context)
  if (plan) refuseCostlyLikes(plan, context.problems)
  const day = dayOf(parameters, 'as_of', context.problems)
  return {
    filter: plan,
    filterText: [...(parameters.get('filter') ?? []), ...(day ? [`as_of ${day}`] : [])].join(','),
    isOfDeleted: oneOf(parameters, 'deleted', ['only'] as const, context.problems) === 'only',
    hasNames: context.names.areGiven,
    day,
  }
}

/** The day that a parameter names: YYYY-MM-DD; null if there is none. */
export function dayOf(parameters: Parameters, name: string, problems: Problems): string | null {
  const text = single(parameters, name, problems)
  if (text === null) return null
  const day = isoDate(text)
  if (day === null) addProblem(problems, name, 'invalid_value', `${name} must be a day such as 2026-06-30.`)
  return day
}

/** All filters of a request, combined with AND. */
function filterOf(parameters: Parameters, { schema, problems }: ResolveContext): Filter | null {
  const count = { conditions: 0 }
  const filters = (parameters.get('filter') ?? []).flatMap(text => {
    // An excess of conditions is reported once.
    if (count.conditions > conditionsMax) return []
    return (
      parsed(
        text,
        'filter',
        filter => parseFilter(filter, count),
        problems,
        () => {
          const meant = filterMeant(text.slice(0, longestMeant), schema)
          return meant && `Write filter=${meant}.`
        },
      ) ?? []
    )
  })
  return filters.length > 1 ? { type: 'and', of: filters } : (filters[0] ?? null)
}

/** Parses the parameters of a request for one record: `expand`. Throws as readListQuery does. */
export function readRecordQuery(parameters: Parameters, schema: ResourceSchema): readonly Field[] {
  const problems = unknownParameters(parameters, ['expand'], foreignParameterHint(schema, ['expand']))
  const expand = expandOf(parameters, schema, problems)
  throwProblems(problems, 'The query could not be read.')
  return expand
}

function cursorOf(
  parameters: Parameters,
  identity: ListRequest['identity'],
  sort: readonly PlannedSort[],
  problems: Problems,
): Cursor | null {
  const text = single(parameters, 'cursor', problems)
  if (text === null) return null
  if (parameters.has('page'))
    addProblem(problems, 'cursor', 'contradiction', 'cursor takes the place of page: give one of them.')
  // The problems of the sort are reported already, and without a sort the cursor can't be checked.
  if (problems.count) return null
  const cursor = readCursor(text, listIdentity(identity), sort)
  if (cursor === 'other') {
    const hint =
      'Give the filter, sort and deleted with which its list began, or begin a new list without it.'
    addProblem(problems, 'cursor', 'other_list', 'The cursor belongs to another list.', { hint })
  } else if (cursor === null) {
    addProblem(
      problems,
      'cursor',
      'invalid_value',
      'cursor must be the "nextCursor" of a page, as it was given.',
    )
  } else return cursor
  return null
}

/**
 * The fields that a parameter names, separated by commas, after the fields of `always`. Null if the parameter
 * is absent.
 */
function fieldsNamed(
  parameters: Parameters,
  parameter: string,
  schema: ResourceSchema,
  problems: Problems,
  always: readonly string[],
): Field[] | null {
  const text = single(parameters, parameter, problems)
  if (text === null) {
    if (parameters.has(parameter))
      addProblem(problems, parameter, 'invalid_value', `${parameter} names no field.`)
    return null
  }
  const names = [...new Set([...always, ...text.split(',').map(name => name.trim())])]
  return names.flatMap(name => {
    const field = schema.byName.get(name)
    if (field?.is_active && !field.is_hidden) return [field]
    const hint = () => unknownFieldHint(name, schema)
    addProblem(problems, parameter, 'unknown_field', `There is no field "${name}".`, { field: name, hint })
    return []
  })
}

function expandOf(parameters: Parameters, schema: ResourceSchema, problems: Problems): Field[] {
  const named = fieldsNamed(parameters, 'expand', schema, problems, []) ?? []
  for (const { internal_name: field } of named.filter(one => !isExpandable(one))) {
    const hint = () => `Those that can: ${namesOf(schema, isExpandable)}.`
    const message = `${field} can't be expanded: it holds no ids with names.`
    addProblem(problems, 'expand', 'not_expandable', message, { field, hint })
  }
  return named
}

/** The names of the fields that a caller may use there, for hints. */
export function namesOf({ fields }: ResourceSchema, isWanted: (field: Field) => boolean): string {
  const wanted = fields.filter(field => field.is_active && !field.is_hidden && isWanted(field))
  return wanted.map(field => field.internal_name).join(', ')
}
