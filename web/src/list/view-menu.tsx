/** The saved views of a list: choose, save, rename, share, delete, begin with one. `v` opens the menu. */
import { Bookmark, ChevronDown, Link2, Pencil, Pin, Save, Share2, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, ask, base, sayError } from '../api/api.ts'
import { refresh } from '../api/queries.ts'
import { useCommands } from '../shell/commands.ts'
import { useMe, useReadOnlyReason } from '../shell/me.ts'
import { prefer, usePreferences } from '../shell/preferences.ts'
import { Badge } from '../ui/bits.tsx'
import { Button } from '../ui/button.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { toast, toastError } from '../ui/toast.tsx'
import type { ViewInUse } from './use-view.ts'
import { ViewDialog } from './view-dialog.tsx'
import { type ShownList, shownBy, type View, viewBody } from './views.ts'

type Props = {
  inUse: ViewInUse
  /** what it is called when no view is chosen, such as "All deals" */
  all: string
  /** shows what is given, under the view; null: under none */
  onShow: (shown: ShownList, view: View | null) => void
}

type Asking = { readonly type: 'new' } | { readonly type: 'rename'; readonly view: View }

export function ViewMenu({ inUse, all, onShow }: Props) {
  const { source, mode, views, view, shown, usual, isEdited } = inUse
  const me = useMe()
  const reason = useReadOnlyReason('view')
  const { defaultViews } = usePreferences()
  const [isOpen, setOpen] = useState(false)
  const [asking, setAsking] = useState<Asking | null>(null)
  const commands = useMemo(
    () => [{ id: 'views', title: 'Views', group: 'List', keys: 'v', act: () => setOpen(true) }],
    [],
  )
  useCommands(commands)
  const place = `${source} ${mode}`
  const isOwn = view?.created_by === me.user.id || me.scopes.includes('admin')
  const isDefault = view !== null && defaultViews[place] === view.id
  /** Where one begins with a view, "all" must be said. */
  const allShown: ShownList = defaultViews[place] ? { sort: usual.sort } : {}

  const write = async (method: string, path: string, body: object, said: string) => {
    try {
      const saved = await ask<View>(method, path, { body })
      await refresh('view')
      toast(said)
      return saved
    } catch (error) {
      toastError(sayError(error))
      return null
    }
  }
  const save = async () => {
    if (!view) return
    const { source: _source, ...kept } = viewBody(source, mode, shown)
    await write('PATCH', `/view/${view.id}`, kept, `The view ${view.name} is saved.`)
  }
  const remove = async (gone: View) => {
    try {
      await api.request('DELETE', `${base}/view/${gone.id}`)
      await refresh('view')
      onShow(allShown, null)
      const undo = async () => {
        const back = await write('POST', `/view/${gone.id}/restore`, {}, `The view ${gone.name} is back.`)
        if (back) onShow(shownBy(back), back)
      }
      toast(`The view ${gone.name} is deleted.`, { action: { label: 'Undo', act: () => void undo() } })
    } catch (error) {
      toastError(sayError(error))
    }
  }
  const copy = () => {
    const link = `${location.origin}${location.pathname}?${new URLSearchParams(said(shown, view))}`
    navigator.clipboard
      ?.writeText(link)
      .then(() => toast('The link is copied.', { isNews: true }))
      .catch(() => toastError('The link can’t be copied here: copy the address.'))
  }
  const entry = (one: View): MenuEntry => ({
    id: `view${one.id}`,
    label: one.name,
    isChecked: one.id === view?.id,
    ...(defaultViews[place] === one.id ? { detail: 'Default' } : {}),
    act: () => onShow(shownBy(one), one),
  })
  const isMine = (one: View) => one.created_by === me.user.id
  const deeds: readonly (MenuEntry | false)[] = [
    {
      id: 'new',
      label: 'Save as a new view…',
      icon: <Save size={14} />,
      isDisabled: !!reason,
      act: () => setAsking({ type: 'new' }),
    },
    { id: 'link', label: 'Copy the link', icon: <Link2 size={14} />, act: copy },
    view !== null && {
      id: 'default',
      label: isDefault ? 'Don’t begin with it' : 'Begin with it here',
      icon: <Pin size={14} />,
      act: () => {
        const { [place]: _before, ...others } = defaultViews
        prefer({ defaultViews: isDefault ? others : { ...others, [place]: view.id } })
        toast(
          isDefault ? `This page begins with ${all.toLowerCase()}.` : `This page begins with ${view.name}.`,
        )
      },
    },
    view !== null &&
      isOwn &&
      !reason && {
        id: 'rename',
        label: 'Rename…',
        icon: <Pencil size={14} />,
        act: () => setAsking({ type: 'rename', view }),
      },
    view !== null &&
      isOwn &&
      !reason && {
        id: 'share',
        label: view.is_shared === 1 ? 'Keep it to myself' : 'Share with everybody',
        icon: <Share2 size={14} />,
        act: () =>
          void write(
            'PATCH',
            `/view/${view.id}`,
            { is_shared: view.is_shared === 1 ? 2 : 1 },
            view.is_shared === 1 ? `${view.name} is yours alone.` : `Everybody sees ${view.name} now.`,
          ),
      },
    view !== null &&
      isOwn &&
      !reason && {
        id: 'delete',
        label: 'Delete',
        icon: <Trash2 size={14} />,
        isDanger: true,
        act: () => void remove(view),
      },
  ]
  const groups = [
    { title: 'Mine', entries: views.filter(isMine).map(entry) },
    { title: 'Of others', entries: views.filter(one => !isMine(one)).map(entry) },
  ].filter(({ entries }) => entries.length > 0)
  const everything = { id: 'all', label: all, isChecked: view === null, act: () => onShow(allShown, null) }
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-1.5">
      <Menu
        label="Views"
        isOpen={isOpen}
        onOpenChange={setOpen}
        groups={[
          { title: 'Views', entries: [everything] },
          ...groups,
          { title: 'This view', entries: deeds.filter(one => one !== false) },
        ]}
      >
        <Button isSmall className="max-w-60 min-w-0" aria-label={`View: ${view?.name ?? all}`}>
          <Bookmark size={14} aria-hidden className="shrink-0" />
          <span className="truncate" dir="auto">
            {view?.name ?? all}
          </span>
          <ChevronDown size={13} aria-hidden className="shrink-0" />
        </Button>
      </Menu>
      {isEdited && view && (
        <>
          <Badge look="accent">Edited</Badge>
          {isOwn && (
            <Button look="quiet" isSmall reason={reason} onPress={() => void save()}>
              Save
            </Button>
          )}
        </>
      )}
      {isEdited && (
        <Button look="quiet" isSmall reason={reason} onPress={() => setAsking({ type: 'new' })}>
          {view ? 'Save as…' : 'Save view…'}
        </Button>
      )}
      {isEdited && view && (
        <Button look="quiet" isSmall onPress={() => onShow(shownBy(view), view)}>
          Reset
        </Button>
      )}
      {asking && (
        <ViewDialog
          view={asking.type === 'rename' ? asking.view : null}
          onClose={() => setAsking(null)}
          onSave={async (name, isShared) => {
            const is_shared = isShared ? 1 : 2
            const saved =
              asking.type === 'rename'
                ? ask<View>('PATCH', `/view/${asking.view.id}`, { body: { name, is_shared } })
                : ask<View>('POST', '/view', { body: { ...viewBody(source, mode, shown), name, is_shared } })
            const now = await saved
            await refresh('view')
            setAsking(null)
            toast(`The view ${now.name} is saved.`)
            if (asking.type === 'new') onShow(shownBy(now), now)
          }}
        />
      )}
    </div>
  )
}

/** What an address says, without what it leaves out. */
function said(shown: ShownList, view: View | null): { [name: string]: string } {
  const all = Object.entries({ ...shown, ...(view ? { view: String(view.id) } : {}) })
  return Object.fromEntries(all.filter((pair): pair is [string, string] => Boolean(pair[1])))
}
