/** Parses the parameters of sums into a request (D55, D85). Reports every problem at once. Knows no SQL. */
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { NameLookup } from '../records/name-lookup.ts'
import type { Sql } from '../sql.ts'
import { foreignParameterHint } from './foreign-parameters.ts'
import { type GroupKey, groupKeysOf } from './groups.ts'
import { counting, type InBase, type Measure, type Measured, measuresOf, sumOf } from './measures.ts'
import { addProblem, type Parameters, single, throwProblems, unknownParameters } from './parameters.ts'
import { type Selection, selectionOf } from './query.ts'

export const aggregateParameters = ['group_by', 'measures', 'filter', 'deleted', 'as_of']

/** Parts of records, such as the lines of a deal, that are summed up when grouped by `key`. */
export type Parts = {
  readonly key: GroupKey
  /** SQL after the records `r` that joins their parts */
  readonly join: Sql
  readonly measured: { readonly [name: string]: Measured }
}

/** A resource's additions to the sums of its fields. */
export type Sums = {
  /** null if the caller may not see the parts */
  parts(schema: ResourceSchema, catalog: Catalog): Parts | null
  readonly inBase: InBase
}

/** A resource without parts, whose amounts have no base value of their own. */
export const plainSums: Sums = { parts: () => null, inBase: () => undefined }

export type AggregateRequest = Selection & {
  readonly keys: readonly GroupKey[]
  /** null: the default measures of the resource */
  readonly measures: readonly Measure[] | null
  /** set if parts of records are summed up, not records */
  readonly parts: Parts | null
}

/** Reads the parameters of sums. Throws `unknown_parameter` or `malformed_query` with every problem. */
export function readAggregateQuery(
  parameters: Parameters,
  schema: ResourceSchema,
  catalog: Catalog,
  sums: Sums,
  names: NameLookup = new NameLookup(),
): AggregateRequest {
  const problems = unknownParameters(
    parameters,
    aggregateParameters,
    foreignParameterHint(schema, aggregateParameters),
  )
  const context = { schema, catalog, problems, names }
  const selection = selectionOf(parameters, context)
  const known = sums.parts(schema, catalog)
  const named = (parameter: string) => {
    const text = single(parameters, parameter, problems)
    if (text === null && parameters.has(parameter) && parameters.get(parameter)!.length < 2)
      addProblem(problems, parameter, 'invalid_value', `${parameter} names nothing.`)
    return text
  }
  const grouped = named('group_by')
  const keys = grouped === null ? [] : groupKeysOf(grouped, known ? [known.key] : [], context)
  const parts = known && keys.includes(known.key) ? known : null
  const measured = named('measures')
  const measures =
    measured === null ? ofParts(parts) : measuresOf(measured, parts?.measured ?? null, sums.inBase, context)
  throwProblems(problems, 'The query could not be read.')
  return { ...selection, keys, measures, parts }
}

/** The default measures of parts: the number of records, and all sums. */
function ofParts(parts: Parts | null): readonly Measure[] | null {
  return parts && [counting, ...Object.entries(parts.measured).map(([name, of]) => sumOf(name, of))]
}
