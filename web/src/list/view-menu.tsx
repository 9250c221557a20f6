/** The saved views of a list: choose, save, rename, share, delete, make the default. `v` opens the menu. */
import { Bookmark, ChevronDown, Link2, Pencil, Pin, PinOff, Save, Share2, Star, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useCommands } from '../shell/commands.ts'
import { useMe, useReadOnlyReason } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { Badge } from '../ui/elements.tsx'
import { Menu, type MenuEntry, type MenuGroup } from '../ui/menu.tsx'
import { toast } from '../ui/toast.tsx'
import { usePins } from './pins.ts'
import type { ViewInUse } from './use-view.ts'
import { useViewActions, type ViewActions } from './use-view-actions.ts'
import { ViewDialog } from './view-dialog.tsx'
import { type ListParameters, parametersOfView, type View } from './views.ts'

type Props = {
  inUse: ViewInUse
  /** the name of the list without a view, such as "All deals" */
  all: string
  /** shows a list with a view; null: without one */
  onShow: (shown: ListParameters, view: View | null) => void
}

/** The open dialog. */
type Asking = { readonly type: 'new' } | { readonly type: 'rename'; readonly view: View }

export function ViewMenu({ inUse, all, onShow }: Props) {
  const { views, view, isEdited } = inUse
  const me = useMe()
  const reason = useReadOnlyReason('view')
  const actions = useViewActions(inUse, all, onShow)
  const pins = usePins(`${inUse.source} ${inUse.mode}`)
  const [isOpen, setOpen] = useState(false)
  const [asking, setAsking] = useState<Asking | null>(null)
  const commands = useMemo(
    () => [{ id: 'views', title: 'Views', group: 'List', keys: 'v', act: () => setOpen(true) }],
    [],
  )
  useCommands(commands)
  const isOwn = view?.created_by === me.user.id || me.scopes.includes('admin')
  const isMine = (one: View) => one.created_by === me.user.id
  const entry = (one: View): MenuEntry => ({
    id: `view${one.id}`,
    label: one.name,
    isChecked: one.id === view?.id,
    ...(actions.defaultId === one.id ? { detail: 'Default' } : {}),
    act: () => onShow(parametersOfView(one), one),
  })
  const groups: MenuGroup[] = [
    { title: 'Views', entries: [{ id: 'all', label: all, isChecked: view === null, act: actions.showAll }] },
    { title: 'Mine', entries: views.filter(isMine).map(entry) },
    { title: 'Of others', entries: views.filter(one => !isMine(one)).map(entry) },
    { title: 'In the sidebar', entries: view ? pinEntries(view, pins) : [] },
    { title: 'This view', entries: actionEntries(view, isOwn, reason, actions, setAsking) },
  ]
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-1.5">
      <Menu
        label="Views"
        isOpen={isOpen}
        onOpenChange={setOpen}
        groups={groups.filter(({ entries }) => entries.length > 0)}
      >
        <Button isSmall className="max-w-60 min-w-0" aria-label={`View: ${view?.name ?? all}`}>
          <Bookmark size={14} aria-hidden className="shrink-0" />
          <span className="truncate" dir="auto">
            {view?.name ?? all}
          </span>
          <ChevronDown size={13} aria-hidden className="shrink-0" />
        </Button>
      </Menu>
      {isEdited && (
        <EditedView
          {...{ view, isOwn, reason }}
          onSave={to => void actions.save(to)}
          onSaveAs={() => setAsking({ type: 'new' })}
          onReset={to => onShow(parametersOfView(to), to)}
        />
      )}
      {asking && (
        <ViewDialog
          view={asking.type === 'rename' ? asking.view : null}
          onClose={() => setAsking(null)}
          onSave={async (name, isShared) => {
            const is_shared = isShared ? 1 : 2
            const saved =
              asking.type === 'rename'
                ? await actions.rename(asking.view, name, is_shared)
                : await actions.create(name, is_shared)
            setAsking(null)
            toast(`The view ${saved.name} is saved.`)
          }}
        />
      )}
    </div>
  )
}

/** The actions for a list that differs from its view. */
function EditedView(props: {
  view: View | null
  isOwn: boolean
  reason: string | undefined
  onSave: (view: View) => void
  onSaveAs: () => void
  onReset: (view: View) => void
}) {
  const { view, isOwn, reason, onSave, onSaveAs, onReset } = props
  return (
    <>
      {view && <Badge variant="accent">Edited</Badge>}
      {view && isOwn && (
        <Button variant="quiet" isSmall reason={reason} onPress={() => onSave(view)}>
          Save
        </Button>
      )}
      <Button variant="quiet" isSmall reason={reason} onPress={onSaveAs}>
        {view ? 'Save as…' : 'Save view…'}
      </Button>
      {view && (
        <Button variant="quiet" isSmall onPress={() => onReset(view)}>
          Reset
        </Button>
      )}
    </>
  )
}

/** Pins a view, or moves its pin. */
function pinEntries({ id }: View, pins: ReturnType<typeof usePins>): readonly MenuEntry[] {
  const isPinned = pins.isPinned(id)
  const moves = [
    { id: 'pin-up', label: 'Move up in the sidebar', by: -1 },
    { id: 'pin-down', label: 'Move down in the sidebar', by: 1 },
  ]
  return [
    {
      id: 'pin',
      label: isPinned ? 'Remove from the sidebar' : 'Pin to the sidebar',
      icon: isPinned ? <PinOff size={14} /> : <Pin size={14} />,
      act: () => pins.toggle(id),
    },
    ...moves
      .filter(({ by }) => pins.mayMove(id, by))
      .map(({ id: key, label, by }) => ({ id: key, label, act: () => pins.move(id, by) })),
  ]
}

function actionEntries(
  view: View | null,
  isOwn: boolean,
  reason: string | undefined,
  actions: ViewActions,
  onAsk: (asking: Asking) => void,
): readonly MenuEntry[] {
  const always: MenuEntry[] = [
    {
      id: 'new',
      label: 'Save as a new view…',
      icon: <Save size={14} />,
      isDisabled: !!reason,
      act: () => onAsk({ type: 'new' }),
    },
    { id: 'link', label: 'Copy the link', icon: <Link2 size={14} />, act: actions.copyLink },
  ]
  if (!view) return always
  const byDefault: MenuEntry = {
    id: 'default',
    label: actions.isDefault ? 'Don’t open by default' : 'Open by default',
    icon: <Star size={14} />,
    act: () => actions.toggleDefault(view),
  }
  if (!isOwn || reason) return [...always, byDefault]
  return [
    ...always,
    byDefault,
    {
      id: 'rename',
      label: 'Rename…',
      icon: <Pencil size={14} />,
      act: () => onAsk({ type: 'rename', view }),
    },
    {
      id: 'share',
      label: view.is_shared === 1 ? 'Make private' : 'Share with everybody',
      icon: <Share2 size={14} />,
      act: () => void actions.toggleShared(view),
    },
    {
      id: 'delete',
      label: 'Delete',
      icon: <Trash2 size={14} />,
      isDanger: true,
      act: () => void actions.remove(view),
    },
  ]
}
