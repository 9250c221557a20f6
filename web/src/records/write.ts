/**
 * Changes of a row. The table shows them at once, and what it showed before when the service refuses. Only
 * the fields of the change go back: another change of the row may be under way.
 */
import { type AnyRecord, ask, type Page } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'

/** Each window of the resource's lists, with the row changed where it has it. */
export function patchRows(resource: string, id: number, change: (row: AnyRecord) => AnyRecord): void {
  queryClient.setQueriesData<Page<AnyRecord>>({ queryKey: ['list', resource] }, page =>
    Array.isArray(page?.data) && page.data.some(row => row.id === id)
      ? { ...page, data: page.data.map(row => (row.id === id ? change(row) : row)) }
      : page,
  )
}

type Values = { readonly [field: string]: unknown }

/** Sends changes of a row if nobody has changed it since it was read. Throws what the service refuses. */
export async function saveRow(
  resource: string,
  row: AnyRecord,
  shown: Values,
  { sent = shown, expand }: { sent?: Values; expand?: string | undefined } = {},
): Promise<AnyRecord> {
  const before = Object.fromEntries(Object.keys(shown).map(name => [name, row[name]]))
  patchRows(resource, row.id, now => ({ ...now, ...shown }))
  try {
    const saved = await ask<AnyRecord>('PATCH', `/${resource}/${row.id}`, {
      body: sent,
      ...(expand ? { query: { expand } } : {}),
      ...(row.version === undefined ? {} : { headers: { 'if-match': `"${row.version}"` } }),
    })
    take(resource, saved)
    return saved
  } catch (error) {
    patchRows(resource, row.id, now => ({ ...now, ...before }))
    throw error
  }
}

/** Shows a row as it was saved, and what is made of it as stale. The order stays: rows don't jump away. */
export function take(resource: string, saved: AnyRecord): void {
  patchRows(resource, saved.id, now => {
    const names = Object.keys(now).filter(name => name in saved && name !== '_expanded')
    const values = Object.fromEntries(names.map(name => [name, saved[name]]))
    return { ...now, ...values, _expanded: { ...now._expanded, ...saved._expanded } }
  })
  for (const queryKey of [['record', resource], ['sums', resource], ['board']])
    void queryClient.invalidateQueries({ queryKey })
}
