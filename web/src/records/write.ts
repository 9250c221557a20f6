/**
 * Changes of a row. The table shows them at once, and what it showed before when the service refuses. Only
 * the fields of the change go back: another change of the row may be under way.
 */
import { type AnyRecord, api, ask, base, type Page } from '../api/api.ts'
import { queryClient, refresh } from '../api/queries.ts'
import { ending } from './deal-rules.ts'
import { Clash, update, type Values } from './draft.ts'

/** Each window of the resource's lists, with the row changed where it has it. */
function patchRows(resource: string, id: number, change: (row: AnyRecord) => AnyRecord): void {
  queryClient.setQueriesData<Page<AnyRecord>>({ queryKey: ['list', resource] }, page =>
    Array.isArray(page?.data) && page.data.some(row => row.id === id)
      ? { ...page, data: page.data.map(row => (row.id === id ? change(row) : row)) }
      : page,
  )
}

/** Sends changes of a row, as `update` does: throws what the service refuses, and a `Clash`. */
export async function saveRow(
  resource: string,
  row: AnyRecord,
  shown: Values,
  { sent = shown, expand = '' }: { sent?: Values; expand?: string | undefined } = {},
): Promise<AnyRecord> {
  const former = Object.fromEntries(Object.keys(shown).map(name => [name, row[name]]))
  patchRows(resource, row.id, now => ({ ...now, ...shown }))
  try {
    const saved = await update(resource, row, sent, expand)
    take(resource, saved)
    return saved
  } catch (error) {
    patchRows(resource, row.id, now => ({ ...now, ...former }))
    if (error instanceof Clash) take(resource, error.theirs)
    throw error
  }
}

/** Shows a row as it was saved, and what is made of it as stale. The order stays: rows don't jump away. */
export function take(resource: string, saved: AnyRecord): void {
  patchRows(resource, saved.id, now => {
    // An answer may come after that of a later change.
    if (now.version !== undefined && saved.version !== undefined && saved.version < now.version) return now
    const names = Object.keys(now).filter(name => name in saved && name !== '_expanded')
    const values = Object.fromEntries(names.map(name => [name, saved[name]]))
    return { ...now, ...values, _expanded: { ...now._expanded, ...saved._expanded } }
  })
  void refresh(resource, 'list')
}

/** A deal of a list, with how it has ended. */
export async function withEnding(deal: AnyRecord): Promise<AnyRecord> {
  const read = await ask<AnyRecord>('GET', `/deal/${deal.id}`)
  return { ...deal, ...Object.fromEntries(ending.map(name => [name, read[name] ?? null])) }
}

export const remove = (resource: string, { id }: AnyRecord): Promise<unknown> =>
  api.request('DELETE', `${base}/${resource}/${id}`)

export const restore = (resource: string, { id }: AnyRecord): Promise<AnyRecord> =>
  ask('POST', `/${resource}/${id}/restore`)
