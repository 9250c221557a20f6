/** The parameters of a list → a request for a page (D27 to D32): every problem at once. Knows the parameters' names; no SQL. */
import { type Problem, Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { nearest } from '../fields/nearest.ts'
import { type Filter, GrammarError, parseFilter, parseSort, type SortKey } from './grammar.ts'
import { type Plan, type PlannedSort, resolveFilter, resolveSort } from './resolve.ts'

export type ListRequest = {
  readonly page: number
  readonly pageSize: number
  readonly filter: Plan | null
  readonly sort: readonly PlannedSort[]
  readonly only: readonly Field[] | null
  readonly count: 'auto' | 'exact' | 'estimate' | 'none'
  /** the filter's text, for remembering its total */
  readonly filterText: string
}

/** Parameter name → its values, in the order given. */
export type Parameters = ReadonlyMap<string, readonly string[]>

const known = ['page', 'pageSize', 'size', 'filter', 'sort', 'fields', 'count']
const pageSizeDefault = 25
const pageSizeMax = 500
const offsetMax = 100_000

/** Reads a list's parameters. Throws `unknown_parameter` or `malformed_query` with every problem. */
export function readListQuery(parameters: Parameters, fields: ResourceFields, catalog: Catalog): ListRequest {
  refuseUnknown(parameters)
  const problems: Problem[] = []
  const world = { fields, catalog, problems }
  const page = wholeNumber(parameters, ['page'], 1, Number.MAX_SAFE_INTEGER, problems)
  const pageSize = wholeNumber(parameters, ['pageSize', 'size'], pageSizeDefault, pageSizeMax, problems)
  const filterText = (parameters.get('filter') ?? []).join(',')
  const filters = (parameters.get('filter') ?? []).flatMap(text => parsed(text, 'filter', parseFilter, problems) ?? [])
  const filter: Filter | null = filters.length > 1 ? { type: 'and', of: filters } : (filters[0] ?? null)
  const sort = parsed(single(parameters, 'sort', problems) ?? '', 'sort', parseSort, problems)
  const request: ListRequest = {
    page,
    pageSize,
    filter: filter && resolveFilter(filter, world),
    sort: resolveSort((sort as SortKey[] | null) ?? [], world),
    only: readFields(single(parameters, 'fields', problems), fields, problems),
    count: readCount(single(parameters, 'count', problems), problems),
    filterText,
  }
  if ((page - 1) * pageSize > offsetMax) {
    const hint = 'Narrow the filter, or sort by id and filter on the last id seen.'
    problems.push({
      field: null,
      path: '',
      parameter: 'page',
      code: 'page_too_far',
      message: `Pages end at row ${offsetMax}.`,
      hint,
    })
  }
  if (problems.length) throw new Refusal('malformed_query', 'The list query could not be read.', problems)
  return request
}

function refuseUnknown(parameters: Parameters): void {
  const problems = [...parameters.keys()]
    .filter(name => !known.includes(name))
    .map(name => {
      const near = nearest(name, known)
      const hint = near ? `Did you mean "${near}"?` : `The parameters: ${known.join(', ')}.`
      return {
        field: null,
        path: '',
        parameter: name,
        code: 'unknown_parameter',
        message: `There is no parameter "${name}".`,
        hint,
      }
    })
  if (problems.length) throw new Refusal('unknown_parameter', 'The query has unknown parameters.', problems)
}

/** The one number that the parameter and its alias give. Never clamped (D27): a clamped page makes a sync loop stop early. */
function wholeNumber(
  parameters: Parameters,
  names: readonly string[],
  fallback: number,
  max: number,
  problems: Problem[],
): number {
  const values = names.flatMap(name => parameters.get(name) ?? [])
  const parameter = names[0]!
  if (values.length === 0) return fallback
  const value = Number(values[0])
  if (new Set(values).size > 1) {
    problems.push({
      field: null,
      path: '',
      parameter,
      code: 'contradiction',
      message: `${names.join(' and ')} give different values.`,
    })
  } else if (!/^\d{1,16}$/.test(values[0]!) || value < 1 || value > max) {
    const limit = max === pageSizeMax ? ` to ${max}` : ''
    problems.push({
      field: null,
      path: '',
      parameter,
      code: 'invalid_value',
      message: `${parameter} must be a whole number from 1${limit}.`,
    })
  } else return value
  return fallback
}

function single(parameters: Parameters, name: string, problems: Problem[]): string | null {
  const values = parameters.get(name) ?? []
  if (values.length > 1) {
    problems.push({ field: null, path: '', parameter: name, code: 'contradiction', message: `${name} may be given once.` })
  }
  return values[0] || null
}

function parsed<T>(text: string, parameter: string, parse: (text: string) => T, problems: Problem[]): T | null {
  if (text.trim() === '') return null
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const { message, position, hint } = error
    const detail = `${message} (at position ${position + 1} of ${parameter}).`
    problems.push({
      field: null,
      path: '',
      parameter,
      code: 'syntax',
      message: detail,
      position: position + 1,
      ...(hint ? { hint } : {}),
    })
    return null
  }
}

function readFields(text: string | null, fields: ResourceFields, problems: Problem[]): Field[] | null {
  if (text === null) return null
  const names = [...new Set(['id', ...text.split(',').map(name => name.trim())])]
  return names.flatMap(name => {
    const field = fields.byName.get(name)
    if (field?.is_active && !field.is_hidden) return [field]
    const near = nearest(name, fields.byName.keys())
    const hint = near ? { hint: `Did you mean "${near}"?` } : {}
    problems.push({
      field: name,
      path: '',
      parameter: 'fields',
      code: 'unknown_field',
      message: `There is no field "${name}".`,
      ...hint,
    })
    return []
  })
}

function readCount(text: string | null, problems: Problem[]): ListRequest['count'] {
  if (text === null) return 'auto'
  if (text === 'exact' || text === 'estimate' || text === 'none') return text
  problems.push({
    field: null,
    path: '',
    parameter: 'count',
    code: 'invalid_value',
    message: 'count must be exact, estimate or none.',
  })
  return 'auto'
}
