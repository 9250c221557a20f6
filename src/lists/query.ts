/**
 * Reads the parameters of a list into a request for a page (D27 to D32), with every problem at once. The
 * texts of filter and sort go through the grammar, client/src/filter.ts, and then resolve.ts. Knows the names
 * of the parameters and no SQL.
 */
import {
  conditionsMax,
  type FilterNode,
  parseFilter,
  parseSort,
  type SortKey,
} from '../../client/src/filter.ts'
import { type Catalog, type ResourceSchema, shownFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { isExpandable } from '../records/expand.ts'
import { NameLookup } from '../records/name-lookup.ts'
import { digestOf } from './digest.ts'
import { filterMeant } from './foreign-filters.ts'
import { foreignParameterHint, sortMeant } from './foreign-parameters.ts'
import type { Cursor, ListRequest, QueryContext, Selection } from './list-request.ts'
import { checkLikes } from './operands.ts'
import { readCursor } from './order.ts'
import {
  addCursorProblem,
  addProblem,
  beginQuery,
  dayOf,
  listed,
  oneOf,
  type Parameters,
  pageSizeMax,
  type Query,
  single,
  throwProblems,
  treeOf,
  unreadable,
  wholeNumber,
} from './parameters.ts'
import { type PlannedSortKey, rejectsNull } from './plan.ts'
import { fieldNamed, resolveFilter, resolveSort } from './resolve.ts'

/** The parameters that every list takes. */
export const listParameters: readonly string[] =
  'page pageSize size cursor filter sort fields expand count deleted as_of'.split(' ')
const pageSizes: PageSizes = { usual: 25, max: pageSizeMax }
export type PageSizes = { readonly usual: number; readonly max: number }
const offsetMax = 100_000
/** Characters read of a filter that may be another system's. */
const translatedMax = 1000

/**
 * Reads a list's parameters. Throws `unknown_parameter` or `malformed_query` with every problem. `now` is
 * UTC, with milliseconds.
 */
export function readListQuery(
  parameters: Parameters,
  schema: ResourceSchema,
  catalog: Catalog,
  now: string,
  names: NameLookup = new NameLookup(),
): ListRequest {
  const context = { schema, catalog, names }
  return readQuery(parameters, listParameters, context, query => listRequestOf(query, now, pageSizes))
}

/** Reads `expand`, the parameter of a request for one record. Throws as readListQuery does. */
export function readRecordQuery(parameters: Parameters, schema: ResourceSchema): readonly Field[] {
  return readQuery(parameters, ['expand'], { schema }, expandOf, 'The query could not be read.')
}

/** Reads `known` parameters. Throws `unknown_parameter` or `malformed_query` with the problems of all. */
export function readQuery<T, Context extends { readonly schema: ResourceSchema }>(
  parameters: Parameters,
  known: readonly string[],
  context: Context,
  read: (query: Query & Context) => T,
  detail: string = unreadable,
): T {
  const query = beginQuery(parameters, known, foreignParameterHint(context.schema, known))
  const request = read({ ...query, ...context })
  throwProblems(query.problems, detail)
  return request
}

/** Reads the parameters of a page, and adds their problems. */
export function listRequestOf(context: QueryContext, now: string, { usual, max }: PageSizes): ListRequest {
  const { schema, parameters, problems } = context
  const page = wholeNumber(context, ['page'], 1, Number.MAX_SAFE_INTEGER)
  const pageSize = wholeNumber(context, ['pageSize', 'size'], usual, max)
  const selection = selectionOf(context)
  const { filter, isOfDeleted, day } = selection
  const sortText = single(context, 'sort')
  const sortKeys = sortKeysOf(sortText ?? '', context)
  // Records of a past day may be in stages that are deleted now, as deleted records may.
  const sort = resolveSort(sortKeys, context, isOfDeleted || day !== null).map(key =>
    filter && rejectsNull(filter, key.order) ? { ...key, nullable: false } : key,
  )
  // The order of the options is a part of the list: an old cursor has no place among reordered ones.
  const orders = sortKeys.map(({ field }) =>
    (schema.byName.get(field)?.options ?? []).map(option => option.id).join(),
  )
  const texts = parameters.get('filter') ?? []
  const identity = [schema.resource.name, sortText, ...orders, String(isOfDeleted), day, ...texts]
  const cursor = cursorOf(context, identity, sort)
  if ((page - 1) * pageSize > offsetMax) {
    const hint = 'Follow the cursor: give the "nextCursor" of each page as "cursor" of the next request.'
    const message = `A numbered page passes over at most ${offsetMax} rows.`
    addProblem(problems, 'page', 'page_too_far', message, { hint })
  }
  return {
    ...selection,
    page: cursor ? 1 : page,
    pageSize,
    cursor,
    sort,
    only: fieldsNamed('fields', context, ['id']),
    expand: expandOf(context),
    count: oneOf(context, 'count', ['exact', 'estimate', 'none']) ?? 'auto',
    identity,
    clock: cursor?.clock ?? now,
  }
}

export function sortKeysOf(text: string, query: Query): readonly SortKey[] {
  return treeOf(text, 'sort', parseSort, query, () => sortMeant(text)) ?? []
}

/** Reads which records are selected, and adds the problems. */
export function selectionOf(context: QueryContext): Selection {
  const filter = filterOf(context)
  const plan = filter && resolveFilter(filter, context)
  if (plan) checkLikes(plan, context)
  const day = dayOf(context, 'as_of')
  return {
    schema: context.schema,
    filter: plan,
    totalKey: [...(context.parameters.get('filter') ?? []), ...(day ? [`as_of ${day}`] : [])].join(','),
    isOfDeleted: oneOf(context, 'deleted', ['only']) === 'only',
    hasNames: context.names.asked.length > 0,
    day,
  }
}

/** All filters of a request, combined with AND. */
function filterOf(context: QueryContext): FilterNode | null {
  const { parameters, schema } = context
  const count = { conditions: 0 }
  const filters = (parameters.get('filter') ?? []).flatMap((text): FilterNode[] => {
    // An excess of conditions is reported once.
    if (count.conditions > conditionsMax) return []
    const translate = () => {
      const translated = filterMeant(text.slice(0, translatedMax), schema)
      return translated && `Write filter=${translated}.`
    }
    const nodes = treeOf(text, 'filter', filter => parseFilter(filter, count), context, translate)
    return nodes ? [{ type: 'and', of: nodes }] : []
  })
  return filters.length ? { type: 'and', of: filters } : null
}

function cursorOf(
  context: QueryContext,
  identity: ListRequest['identity'],
  sort: readonly PlannedSortKey[],
): Cursor | null {
  const { parameters, problems } = context
  const text = single(context, 'cursor')
  if (text === null) return null
  if (parameters.has('page'))
    addProblem(problems, 'cursor', 'contradiction', 'cursor takes the place of page: give one of them.')
  // The problems of the sort are reported already, and without a sort the cursor can't be checked.
  if (problems.count) return null
  const cursor = readCursor(text, digestOf(identity), sort)
  if (cursor === 'other') {
    const hint =
      'Give the filter, sort, deleted and as_of with which its list began, or begin a new list without it.'
    addProblem(problems, 'cursor', 'other_list', 'The cursor belongs to another list.', { hint })
  } else if (cursor === null) addCursorProblem(problems)
  else return cursor
  return null
}

type FieldContext = Query & { readonly schema: ResourceSchema }

/** The fields that a parameter names, after the fields of `always`. Null if the parameter is absent. */
function fieldsNamed(parameter: string, context: FieldContext, always: readonly string[]): Field[] | null {
  const { parameters, problems } = context
  const names = listed(context, parameter)
  if (names)
    return [...new Set([...always, ...names])].flatMap(name => fieldNamed(name, parameter, context) ?? [])
  if (parameters.has(parameter))
    addProblem(problems, parameter, 'invalid_value', `${parameter} names no field.`)
  return null
}

function expandOf(context: FieldContext): Field[] {
  const { schema, problems } = context
  const named = fieldsNamed('expand', context, []) ?? []
  for (const { internal_name: field } of named.filter(one => !isExpandable(one))) {
    const hint = () => `Those that can: ${fieldNames(schema, isExpandable)}.`
    const message = `${field} can't be expanded: it holds no ids with names.`
    addProblem(problems, 'expand', 'not_expandable', message, { field, hint })
  }
  return named
}

/** The names of the fields that a caller may use there, for hints. */
export function fieldNames(schema: ResourceSchema, isWanted: (field: Field) => boolean): string {
  const wanted = shownFields(schema).filter(isWanted)
  return wanted.map(field => field.internal_name).join(', ')
}
