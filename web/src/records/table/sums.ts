/** Counts and sums of the records that a filter finds, of all of them or in groups (D85). */
import { queryOptions } from '@tanstack/react-query'
import { callApi, type Field } from '../../api/api.ts'

/** A group of records: the value that they share, its name if it is an id, and the measures. */
export type Sums = {
  readonly group: number | string | null
  readonly name: string | null
  readonly count: number
  readonly [measure: string]: unknown
}

export type SumsRequest = {
  readonly filter?: string | readonly string[] | undefined
  readonly deleted?: 'only' | undefined
  /** the fields to add up */
  readonly fields: readonly string[]
  readonly group_by?: string
}

/** A request takes ten measures, one of which is the count. */
const fieldsMax = 9
/** Numbers whose sum says nothing. */
const notSummed: readonly string[] = ['id', 'version']

/** The names of the fields that can be added up, in a stable order. */
export function summedOf(fields: readonly Field[]): readonly string[] {
  return fields
    .filter(field => field.is_measurable && !notSummed.includes(field.internal_name))
    .map(({ internal_name }) => internal_name)
    .slice(0, fieldsMax)
    .sort()
}

/** All groups, or the only one without `group_by`. */
export const groupsQuery = (resource: string, { fields, ...request }: SumsRequest) =>
  queryOptions({
    queryKey: ['sums', resource, { ...request, fields }],
    queryFn: ({ signal }) => {
      const measures = ['count', ...fields.map(name => `sum:${name}`)]
      return callApi<readonly Sums[]>('POST', `/${resource}/aggregate`, {
        body: { ...request, measures },
        signal,
      })
    },
  })
