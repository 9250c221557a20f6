/** The parameters of an export → what is exported (D81). Finds every problem at once. Knows no SQL. */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { oneOf, type Parameters, refuse, unknownParameters, unreadable } from '../list/parameters.ts'
import { saidElsewhere } from '../list/parameters-elsewhere.ts'
import { type ListRequest, listRequestOf } from '../list/query.ts'
import { isExpandable } from '../records/expand.ts'
import type { Names } from '../records/names.ts'

export const formats = ['csv', 'jsonl', 'xlsx'] as const
export type FormatName = (typeof formats)[number]

export const exportParameters = ['format', 'filter', 'sort', 'fields', 'names']

export type ExportRequest = {
  readonly format: FormatName
  /** which records, in which order, with which fields */
  readonly list: ListRequest
  /** the fields that are exported: those that are asked for, else all that the caller sees */
  readonly shown: readonly Field[]
  /** those of them whose ids are given as names; null: all ids stay */
  readonly named: readonly Field[] | null
}

/**
 * Reads the parameters. Throws `unknown_parameter` or `malformed_query` with every problem. `now` is UTC,
 * with milliseconds; `names` are those that the filter may give (D75).
 */
export function readExportQuery(
  parameters: Parameters,
  fields: ResourceFields,
  catalog: Catalog,
  now: string,
  names: Names,
): ExportRequest {
  const problems = unknownParameters(parameters, exportParameters, saidElsewhere(fields, exportParameters))
  const format = oneOf(parameters, 'format', formats, problems) ?? 'csv'
  const isNamed = oneOf(parameters, 'names', ['1', '0'] as const, problems) === '1'
  const list = listRequestOf(parameters, { fields, catalog, problems, names }, now, { usual: 1, max: 1 })
  refuse(problems, unreadable)
  const shown = list.only ?? fields.fields.filter(field => field.is_active && !field.is_hidden)
  // A deal is found by no name: an import takes its id alone.
  const isFound = ({ type, related }: Field) =>
    !related || kinds[type].hasOptions || catalog.resources.get(related)?.resource.namedBy !== undefined
  const named = isNamed ? shown.filter(field => isExpandable(field) && isFound(field)) : null
  return { format, list, shown, named }
}
