/** The choices of a dropdown: the field's options, or the pipelines and stages of the account. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { callApi, type Field, type Named } from '../api/api.ts'
import { type Option, pipelinesQuery, queryClient, stagesQuery } from '../api/queries.ts'
import type { NamesOf } from './kind.ts'

type Values = { readonly [field: string]: unknown }

/** A stage belongs to the record's pipeline, if that is known (D19). */
export function useChoices(field: Field, record?: Values): readonly Named[] {
  const source = field.related_field?.source
  const pipelines = useQuery({
    ...pipelinesQuery,
    enabled: source === 'pipeline_stage' || (source === 'pipeline' && !field.options),
  })
  const stages = useQuery({ ...stagesQuery, enabled: source === 'pipeline_stage' })
  if (field.options && source !== 'pipeline_stage') return field.options
  if (source === 'pipeline') return pipelines.data ?? []
  const all = stages.data ?? []
  const own = all.filter(({ pipeline }) => !record?.pipeline || pipeline === record.pipeline)
  if (record?.pipeline || (pipelines.data?.length ?? 0) < 2) return own
  const named = new Map(pipelines.data?.map(({ id, name }) => [id, name]))
  return own.map(({ id, name, pipeline }) => ({ id, name: `${named.get(pipeline)} · ${name}` }))
}

/** All options of a dropdown, also those that are out of use: records may keep them (D10). */
export const allOptionsQuery = (source: string, name: string) =>
  queryOptions({
    queryKey: ['options', source, name, 'all'],
    queryFn: () => {
      const query = { source, name, include_inactive: 'true' }
      return callApi<Option[]>('GET', '/field/dropdown', { query })
    },
  })

/**
 * The options of a filter's field that are out of use, by names that say so. None without a
 * field.
 */
export function useInactiveOptions(field: Field | undefined): readonly Named[] {
  const source = field?.options && !field.related_field ? resourceOf(field) : undefined
  const { data = [] } = useQuery({
    ...allOptionsQuery(source ?? '', field?.internal_name ?? ''),
    enabled: source !== undefined,
  })
  return data
    .filter(({ is_active }) => !is_active)
    .map(({ id, name }) => ({ id, name: `${name} (inactive)` }))
}

/** The resource of a field of a list that is loaded. */
function resourceOf({ source_id }: Field): string | undefined {
  const lists = queryClient.getQueriesData<Field[][]>({ queryKey: ['fields'] })
  const [key] = lists.find(([, sections]) => sections?.flat()[0]?.source_id === source_id) ?? []
  return key?.[1] as string | undefined
}

/** The name of an option: the expanded name, else that of the choices. */
export function optionName(id: unknown, names: NamesOf, choices: readonly Named[]): string {
  if (typeof id === 'string') return id
  const known = Array.isArray(names) ? (names as readonly Named[]) : names ? [names as Named] : []
  const found = known.find(one => one.id === id) ?? choices.find(one => one.id === id)
  return found?.name ?? `No. ${id}`
}

/**
 * The id of the option with this name, in any case, or an id in digits; else the text. Several pipelines may
 * have a stage of one name: its text stays, and the service takes that of the record's pipeline (D57).
 */
export function readOption(text: string, field: Field): number | string {
  const typed = text.trim()
  const [found, ...others] = optionsNamed(typed, field)
  if (others.length > 0) return typed
  return found?.id ?? (/^\d{1,15}$/.test(typed) ? Number(typed) : typed)
}

/** The problem of a text that is no option of the field. */
export function checkOption(value: unknown, field: Field): string | undefined {
  if (typeof value !== 'string' || !field.options || optionsNamed(value, field).length > 1) return undefined
  return `"${value}" is not one of the options.`
}

function optionsNamed(text: string, { options = [] }: Field): readonly Named[] {
  const lower = text.toLocaleLowerCase()
  return options.filter(({ name }) => name.toLocaleLowerCase() === lower)
}
