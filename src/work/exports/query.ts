/** Reads the parameters of an export (D81), with every problem at once. Knows no SQL. */
import { type Catalog, type ResourceSchema, shownFields } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import type { ListRequest } from '../../lists/list-request.ts'
import { oneOf, type Parameters } from '../../lists/parameters.ts'
import { listRequestOf, readQuery } from '../../lists/query.ts'
import { isExpandable } from '../../records/expand.ts'
import type { NameLookup } from '../../records/name-lookup.ts'

export const formats = ['csv', 'jsonl', 'xlsx'] as const
export type FormatName = (typeof formats)[number]

export const exportParameters = ['format', 'filter', 'sort', 'fields', 'names']

export type ExportRequest = {
  readonly format: FormatName
  /** the selection, order and fields */
  readonly list: ListRequest
  /** the exported fields: the requested ones, default: all that the caller sees */
  readonly shown: readonly Field[]
  /** those whose ids are exported as names; null: none */
  readonly named: readonly Field[] | null
}

/**
 * Parses the parameters. Throws `unknown_parameter` or `malformed_query` with every problem. `now` is UTC,
 * with milliseconds; `names`: those that the filter may contain (D75).
 */
export function readExportQuery(
  parameters: Parameters,
  schema: ResourceSchema,
  catalog: Catalog,
  now: string,
  names: NameLookup,
): ExportRequest {
  const context = { schema, catalog, names }
  const { format, isNamed, list } = readQuery(parameters, exportParameters, context, query => ({
    format: oneOf(query, 'format', formats) ?? 'csv',
    isNamed: oneOf(query, 'names', ['1', '0']) === '1',
    list: listRequestOf(query, now, { usual: 1, max: 1 }),
  }))
  const shown = list.only ?? shownFields(schema)
  // No name finds a deal: an import takes its id only.
  const isFound = ({ type, related }: Field) =>
    !related || kinds[type].hasOptions || catalog.resources.get(related)?.resource.namedBy !== undefined
  const named = isNamed ? shown.filter(field => isExpandable(field) && isFound(field)) : null
  return { format, list, shown, named }
}
