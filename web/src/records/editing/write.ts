/**
 * Optimistic updates of a row: the table shows them at once, and rolls back when the service refuses. Only
 * the fields of the change are rolled back: another change of the row may be pending.
 */
import { type AnyRecord, api, base, callApi, type Page } from '../../api/api.ts'
import { besideReads } from '../../api/beside-reads.ts'
import { queryClient, refresh } from '../../api/queries.ts'
import { EditConflict, update, type Values } from './draft.ts'
import { undoWrite } from './undo-write.ts'

/** Patches the row in every cached window of the resource's lists. */
function patchRows(resource: string, id: number, change: (row: AnyRecord) => AnyRecord): void {
  queryClient.setQueriesData<Page<AnyRecord>>({ queryKey: ['list', resource] }, page =>
    Array.isArray(page?.data) && page.data.some(row => row.id === id)
      ? { ...page, data: page.data.map(row => (row.id === id ? change(row) : row)) }
      : page,
  )
}

/** Sends changes of a row, as `update` does: throws the service's refusal, and an `EditConflict`. */
export function saveRow(
  resource: string,
  row: AnyRecord,
  shown: Values,
  { sent = shown, expand = '' }: { sent?: Values; expand?: string | undefined } = {},
): Promise<AnyRecord> {
  return writeOptimistically(resource, row, shown, () => update(resource, row, sent, expand))
}

/** Undoes a saved change of a row: `names` are the fields that show it. Throws the service's refusal. */
export function undoRow(
  resource: string,
  { before, saved, names }: { before: AnyRecord; saved: AnyRecord; names: readonly string[] },
  expand: string,
): Promise<AnyRecord> {
  const former = Object.fromEntries(names.map(name => [name, before[name]]))
  return writeOptimistically(resource, saved, former, () => undoWrite(resource, before, saved, expand))
}

async function writeOptimistically(
  resource: string,
  row: AnyRecord,
  shown: Values,
  write: () => Promise<AnyRecord>,
): Promise<AnyRecord> {
  const former = Object.fromEntries(Object.keys(shown).map(name => [name, row[name]]))
  patchRows(resource, row.id, now => ({ ...now, ...shown }))
  try {
    const saved = await besideReads(['list', resource], write)
    mergeSaved(resource, saved, Object.keys(shown))
    return saved
  } catch (error) {
    patchRows(resource, row.id, now => ({ ...now, ...former }))
    if (error instanceof EditConflict) mergeSaved(resource, error.theirs)
    throw error
  }
}

/** Shows a saved row and invalidates other queries. Rows keep their order: they don't jump away. */
function mergeSaved(resource: string, saved: AnyRecord, changed?: readonly string[]): void {
  patchRows(resource, saved.id, now => {
    // An answer may arrive after that of a later change.
    if (now.version !== undefined && saved.version !== undefined && saved.version < now.version) return now
    const names = Object.keys(now).filter(name => name in saved && name !== '_expanded')
    const values = Object.fromEntries(names.map(name => [name, saved[name]]))
    return { ...now, ...values, _expanded: { ...now._expanded, ...saved._expanded } }
  })
  void refresh(resource, 'list', changed)
}

export const remove = (resource: string, { id }: AnyRecord): Promise<unknown> =>
  api.request('DELETE', `${base}/${resource}/${id}`)

export const restore = (resource: string, { id }: AnyRecord): Promise<AnyRecord> =>
  callApi('POST', `/${resource}/${id}/restore`)
