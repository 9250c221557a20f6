/** The saved view of an address, or the default view; and the list that results from both. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { usePreferences } from '../shell/preferences.ts'
import {
  hasNoParameters,
  isSame,
  type ListParameters,
  parametersOfView,
  type View,
  type ViewMode,
  viewsQuery,
} from './views.ts'

export type ViewInUse = {
  readonly source: string
  readonly mode: ViewMode
  readonly views: readonly View[]
  readonly view: View | null
  /** the list: the address, completed by the view */
  readonly shown: ListParameters
  readonly defaults: ListParameters
  readonly isEdited: boolean
  /** the view and the list of another address of this page */
  readonly of: (search: Search) => Pick<ViewInUse, 'view' | 'shown'>
}

type Search = ListParameters & { readonly view?: string | undefined }

/** `defaults` is the list if neither address nor view has the parameters. */
export function useView(source: string, mode: ViewMode, search: Search, defaults: ListParameters): ViewInUse {
  const { data: views } = useSuspenseQuery(viewsQuery(source, mode))
  const { defaultViews } = usePreferences()
  const of = ({ filter, sort, columns, pipeline, group, view: named }: Search) => {
    const listed = { filter, sort, columns, pipeline, group }
    const id = named ?? (hasNoParameters(listed) ? defaultViews[`${source} ${mode}`] : undefined)
    const view = views.find(one => String(one.id) === String(id)) ?? null
    return { view, shown: view && hasNoParameters(listed) ? parametersOfView(view) : listed }
  }
  const { view, shown } = of(search)
  const isEdited = !isSame(shown, view ? parametersOfView(view) : {}, defaults)
  return { source, mode, views, view, shown, defaults, isEdited, of }
}
