/** The actions of a saved view: save, rename, share, delete, make it the default. */
import { api, base, callApi, errorMessage } from '../api/api.ts'
import { refresh } from '../api/queries.ts'
import { prefer, usePreferences } from '../shell/preferences.ts'
import { copyText, toast, toastError } from '../ui/toast.tsx'
import type { ViewInUse } from './use-view.ts'
import { type ListParameters, parametersOfView, type View, viewBody } from './views.ts'

/** `all` is the list's name without a view; `onShow` shows a list with a view, or without one. */
export function useViewActions(
  { source, mode, view, shown, defaults }: ViewInUse,
  all: string,
  onShow: (shown: ListParameters, view: View | null) => void,
) {
  const { defaultViews } = usePreferences()
  const place = `${source} ${mode}`
  const defaultId = defaultViews[place]
  const isDefault = view !== null && defaultId === view.id

  const write = async (method: string, path: string, body: object, message: string) => {
    try {
      const saved = await callApi<View>(method, path, { body })
      await refresh('view')
      toast(message)
      return saved
    } catch (error) {
      toastError(errorMessage(error))
      return null
    }
  }
  /** With a default view, an address without parameters would mean that view. */
  const showAll = () => onShow(defaultId ? { sort: defaults.sort } : {}, null)
  const save = async (to: View) => {
    const { source: _source, ...members } = viewBody(source, mode, shown, to)
    await write('PATCH', `/view/${to.id}`, members, `The view ${to.name} is saved.`)
  }
  /** Throws the service's refusal, which the dialog shows. */
  const create = async (name: string, is_shared: 1 | 2) => {
    const body = { ...viewBody(source, mode, shown), name, is_shared }
    const saved = await callApi<View>('POST', '/view', { body })
    await refresh('view')
    onShow(parametersOfView(saved), saved)
    return saved
  }
  const rename = async (to: View, name: string, is_shared: 1 | 2) => {
    const saved = await callApi<View>('PATCH', `/view/${to.id}`, { body: { name, is_shared } })
    await refresh('view')
    return saved
  }
  const toggleShared = ({ id, name, is_shared }: View) => {
    const isShared = is_shared === 1
    const message = isShared ? `Only you see ${name} now.` : `Everybody sees ${name} now.`
    return write('PATCH', `/view/${id}`, { is_shared: isShared ? 2 : 1 }, message)
  }
  const remove = async (deleted: View) => {
    try {
      await api.request('DELETE', `${base}/view/${deleted.id}`)
      await refresh('view')
      showAll()
      const undo = async () => {
        const path = `/view/${deleted.id}/restore`
        const restored = await write('POST', path, {}, `The view ${deleted.name} is restored.`)
        if (restored) onShow(parametersOfView(restored), restored)
      }
      toast(`The view ${deleted.name} is deleted.`, { action: { label: 'Undo', act: () => void undo() } })
    } catch (error) {
      toastError(errorMessage(error))
    }
  }
  const toggleDefault = ({ id, name }: View) => {
    const { [place]: _before, ...others } = defaultViews
    prefer({ defaultViews: isDefault ? others : { ...others, [place]: id } })
    toast(`This page opens with ${isDefault ? all.toLowerCase() : name}.`, { isNews: true })
  }
  const copyLink = () => {
    // Parameters that are not of a view stay, such as that of the deleted records.
    const link = new URL(location.href)
    for (const [name, value] of Object.entries(parametersOf(shown, view))) link.searchParams.set(name, value)
    void copyText(link.href, 'The link is copied.')
  }
  return {
    ...{ defaultId, isDefault, showAll, save, create, rename, toggleShared, remove, toggleDefault, copyLink },
  }
}

export type ViewActions = ReturnType<typeof useViewActions>

/** The parameters of the address for a list with a view. */
export function parametersOf(shown: ListParameters, view: View | null): { [name: string]: string } {
  const all = Object.entries({ ...shown, ...(view ? { view: String(view.id) } : {}) })
  return Object.fromEntries(all.filter((pair): pair is [string, string] => Boolean(pair[1])))
}
