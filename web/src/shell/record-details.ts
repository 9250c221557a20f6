/** Details for records of one name: deals share titles more often than other records share names. */
import { type AnyRecord, callApi, type Named } from '../api/api.ts'
import { expandable, fieldsQuery, queryClient } from '../api/queries.ts'
import type { Money } from '../format/format.ts'

export type SearchHit = {
  readonly resource: string
  readonly id: number
  readonly name: string
  readonly detail: string | null
  /** the value of a deal */
  readonly value?: Money | null
}

const dealNames = ['pipeline_stage', 'sales_owner'] as const

/** Adds its stage, its owner and its value to each deal, as far as the user may see them. */
export async function withDealDetails(
  found: readonly SearchHit[],
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  const ids = found.flatMap(({ resource, id }) => (resource === 'deal' ? [id] : []))
  if (ids.length === 0) return found
  const sections = await queryClient.ensureQueryData(fieldsQuery('deal'))
  const seen = expandable(sections).split(',')
  const expand = dealNames.filter(name => seen.includes(name))
  const hasValue = sections.flat().some(({ internal_name }) => internal_name === 'deal_value')
  const fields = ['id', ...expand, ...(hasValue ? ['deal_value'] : [])].join()
  const filter = `id:in(${ids.join()})`
  const query = { filter, fields, expand: expand.join() || undefined, count: 'none' }
  const deals = await callApi<AnyRecord[]>('GET', '/deal/view/list', { query, signal })
  const byId = new Map(deals.map(deal => [deal.id, deal]))
  return found.map(one => {
    const deal = one.resource === 'deal' ? byId.get(one.id) : undefined
    if (!deal) return one
    const names = expand.map(name => (deal._expanded?.[name] as Named | null | undefined)?.name)
    const detail = [...names, one.detail].filter(Boolean).join(' · ')
    return { ...one, detail, value: (deal.deal_value as Money | null | undefined) ?? null }
  })
}
