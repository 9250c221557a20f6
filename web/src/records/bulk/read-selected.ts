/** The records of a bulk change, one request each: D27 has no batch. */
import { type AnyRecord, api, base, type Page } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import type { Selection } from './selection.ts'

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
