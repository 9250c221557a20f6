/** The records of a bulk change: how many are of a kind, and what is in each. */
import { type AnyRecord, api, base, type Page } from '../../api/api.ts'
import { type ListRequest, queryClient } from '../../api/queries.ts'
import { groupsQuery } from '../table/sums.ts'
import { idsMax, type Selection } from './selection.ts'

/** The number of the selected records that meet a condition, too. */
export async function countOfSelected(
  resource: string,
  { filter, deleted }: ListRequest,
  { isAll, ids }: Selection,
  condition: string,
): Promise<number> {
  const conditions = isAll && filter ? [filter, condition] : [condition]
  const count = async (more: readonly string[]) => {
    const query = groupsQuery(resource, { filter: [...conditions, ...more], deleted, fields: [] })
    const [found] = await queryClient.fetchQuery({ ...query, staleTime: 0 })
    return found?.count ?? 0
  }
  const listed = [...ids]
  let counted = 0
  for (let at = 0; at < listed.length; at += idsMax)
    counted += await count([`id:in(${listed.slice(at, at + idsMax).join()})`])
  return isAll ? (await count([])) - counted : counted
}

/** Loads the selected records with the given fields, and their current versions. */
export async function readSelected(
  resource: string,
  { filter, deleted }: ListRequest,
  { isAll, ids }: Selection,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<AnyRecord[]> {
  const query = {
    deleted,
    fields: ['id', 'version', ...fields].join(),
    pageSize: 500,
    count: 'none',
    sort: 'id:asc',
  }
  const list = (selector: { readonly [name: string]: string | undefined }) =>
    api.request('GET', `${base}/${resource}/view/list`, { query: { ...query, ...selector }, signal })
  const found: AnyRecord[] = []
  if (!isAll) {
    const wanted = [...ids]
    for (let at = 0; at < wanted.length; at += 500) {
      const { body } = await list({ filter: `id:in(${wanted.slice(at, at + 500).join()})` })
      found.push(...(body as Page<AnyRecord>).data)
    }
    return found
  }
  for (let cursor: string | undefined; ; ) {
    const { body } = await list({ filter, ...(cursor ? { cursor } : {}) })
    const { data, meta } = body as Page<AnyRecord>
    found.push(...data.filter(({ id }) => !ids.has(id)))
    if (!meta.nextCursor) return found
    cursor = meta.nextCursor
  }
}
