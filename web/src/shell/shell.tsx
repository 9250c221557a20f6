/** The frame of every page: navigation, account menu, search, keys and messages. */
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { Menu as MenuIcon, Plus, Search } from 'lucide-react'
import { Fragment, lazy, Suspense, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import type { Me } from '../api/api.ts'
import { zoneOf } from '../api/queries.ts'
import { FormatProvider } from '../format/use-format.tsx'
import { Reminders } from '../inbox/reminders.tsx'
import { UnreadCount } from '../inbox/unread-count.tsx'
import { usePins } from '../list/pins.ts'
import { type TableName, tables } from '../records/tables.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { classes, navLink } from '../ui/classes.ts'
import { Key } from '../ui/elements.tsx'
import { offsetDialogs } from '../ui/offsets.ts'
import { Toasts, undoLast } from '../ui/toast.tsx'
import { AfterLoad } from './after-load.tsx'
import {
  type Command,
  createWords,
  handleKey,
  keyHints,
  keyLabels,
  logWords,
  useCommands,
} from './commands.ts'
import { Brand, SkipLink } from './frame.tsx'
import { useLive } from './live.ts'
import { LogActivity, openLog } from './log-activity.tsx'
import { may, useMe } from './me.ts'
import { navigationFor } from './navigation.ts'
import { NewRecord, openNew } from './new-record.tsx'
import { Overlay } from './overlay.tsx'
import { useNewPage, usePageFocus } from './page-focus.ts'
import { PageSkeleton } from './page-waiting.tsx'
import { SessionEnded } from './session-ended.tsx'

const AccountMenu = lazy(() => import('./account-menu.tsx').then(module => ({ default: module.AccountMenu })))
const PinnedViews = lazy(() => import('./pinned-views.tsx').then(module => ({ default: module.PinnedViews })))
const accountPlace = <span className="min-h-8" />
const Palette = lazy(() => import('./palette.tsx').then(module => ({ default: module.Palette })))
const KeySheet = lazy(() => import('./key-sheet.tsx').then(module => ({ default: module.KeySheet })))

type Open = 'palette' | 'keys' | 'navigation' | null

export function Shell() {
  const me = useMe()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  // Whatever led there, such as the menu of the account.
  useNewPage(() => open === 'navigation' && close())
  useLive(me.follows_events)
  usePageFocus()
  useLayoutEffect(() => {
    document.addEventListener('keydown', handleKey)
    return () => document.removeEventListener('keydown', handleKey)
  }, [])
  useShellCommands(me, setOpen)
  const locale = me.user.locale ?? me.account.locale ?? navigator.language
  const timeZone = zoneOf(me)
  return (
    <FormatProvider locale={locale} timeZone={timeZone}>
      <SkipLink />
      <div className="flex h-dvh flex-col">
        <div ref={offsetDialogs} data-react-aria-top-layer>
          <Offline />
          <SessionEnded />
        </div>
        <div className="flex min-h-0 grow max-md:flex-col">
          <PhoneHeader open={open} onOpen={setOpen} />
          <Navigation open={open} onOpen={setOpen} />
          <div id="content" className="flex min-h-0 min-w-0 grow flex-col">
            {/* Whatever a page waits for, the way to the others stays. */}
            <Suspense fallback={<PageSkeleton />}>
              <Outlet />
            </Suspense>
          </div>
        </div>
      </div>
      <Toasts />
      <NewRecord />
      <LogActivity />
      <Reminders />
      {(open === 'palette' || open === 'keys') && (
        <Overlay label="Search and commands" onClose={close}>
          {open === 'palette' ? <Palette onClose={close} /> : <KeySheet onClose={close} />}
        </Overlay>
      )}
    </FormatProvider>
  )
}

/** The commands with keys that make something, each with the scope that it needs. */
const makers: readonly (Command & { readonly scope: string })[] = [
  {
    ...{ id: 'new', title: 'New deal', group: 'New', keys: 'c', words: createWords },
    scope: 'deal:write',
    act: () => openNew('deal'),
  },
  {
    ...{ id: 'log', title: 'Log a call', group: 'New', keys: 'l', words: logWords },
    scope: 'activity:write',
    act: () => openLog('Call'),
  },
]

/** The commands of every page. `onOpen` must stay the same function. */
function useShellCommands(me: Me, onOpen: (open: Open) => void): void {
  const navigate = useNavigate()
  const commands = useMemo(
    (): Command[] => [
      {
        id: 'palette',
        title: 'Search and commands',
        group: 'Everywhere',
        keys: 'mod+k',
        isHidden: true,
        act: () => onOpen('palette'),
      },
      { id: 'keys', title: 'Show all keys', group: 'Everywhere', keys: '?', act: () => onOpen('keys') },
      ...keyHints('Everywhere', [['Save a form or a note', 'mod+Enter']]),
      {
        id: 'undo',
        title: 'Undo the last change',
        group: 'Everywhere',
        keys: 'mod+z',
        act: undoLast,
      },
      ...makers.filter(({ scope }) => may(me, scope)),
      ...navigationFor(me).map(({ to, params, label, keys, words }) => ({
        id: label,
        title: label,
        group: 'Go to',
        keys,
        words,
        act: () => void navigate({ to, params }),
      })),
    ],
    [navigate, me, onOpen],
  )
  useCommands(commands)
}

type PartProps = { open: Open; onOpen: (open: Open) => void }

/** The header of the page on phones, with the navigation folded away. */
function PhoneHeader({ open, onOpen }: PartProps) {
  const isOpen = open === 'navigation'
  const mayCreate = may(useMe(), 'deal:write')
  return (
    <header className="flex items-center gap-2 border-b border-line px-3 py-2 md:hidden">
      <IconButton
        label="Navigation"
        aria-expanded={isOpen}
        onPress={() => onOpen(isOpen ? null : 'navigation')}
      >
        <MenuIcon size={18} aria-hidden />
      </IconButton>
      <Brand to="/board" />
      <span className="grow" />
      <IconButton label="Search" onPress={() => onOpen('palette')}>
        <Search size={18} aria-hidden />
      </IconButton>
      {mayCreate && (
        <IconButton label="New deal" onPress={() => openNew('deal')}>
          <Plus size={18} aria-hidden />
        </IconButton>
      )}
    </header>
  )
}

function Navigation({ open, onOpen }: PartProps) {
  const me = useMe()
  return (
    <nav
      aria-label="Main"
      className={classes(
        'flex shrink-0 flex-col gap-1 overflow-y-auto border-line bg-canvas p-2 md:w-[200px] md:border-r',
        open === 'navigation' ? 'max-md:border-b' : 'max-md:hidden',
      )}
    >
      <div className="px-2 py-1 max-md:hidden">
        <Brand to="/board" />
      </div>
      <Button
        className="mb-1 w-full justify-start! text-ink-soft max-md:hidden"
        onPress={() => onOpen('palette')}
      >
        <Search size={15} aria-hidden />
        <span className="grow text-left">Search</span>
        <Key>{keyLabels('mod+k').join(' ')}</Key>
      </Button>
      {navigationFor(me).map(({ to, params, label, icon: Icon }) => (
        <Fragment key={label}>
          <Link to={to} params={params} onClick={() => onOpen(null)} className={classes(navLink, 'gap-2.5')}>
            <Icon size={16} aria-hidden />
            {label}
            {to === '/inbox' && <UnreadCount />}
          </Link>
          {(to === '/$table' || to === '/board') && (
            <Pins {...{ to, params }} place={placeOf(params)} onPress={() => onOpen(null)} />
          )}
        </Fragment>
      ))}
      <span className="grow" />
      <AfterLoad fallback={accountPlace}>
        <Suspense fallback={accountPlace}>
          <AccountMenu />
        </Suspense>
      </AfterLoad>
    </nav>
  )
}

/** The list of an entry's views; the board's without a table. */
const placeOf = (params: { readonly table?: TableName }) =>
  params.table ? `${tables[params.table].resource} table` : 'deal board'

function Pins(props: Parameters<typeof PinnedViews>[0]) {
  const { ids } = usePins(props.place)
  if (ids.length === 0) return null
  const waiting = <span style={{ minHeight: ids.length * 32 + (ids.length - 1) * 4 }} />
  return (
    <AfterLoad fallback={waiting}>
      <Suspense fallback={waiting}>
        <PinnedViews {...props} />
      </Suspense>
    </AfterLoad>
  )
}

function Offline() {
  const [isOnline, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = () => setOnline(navigator.onLine)
    addEventListener('online', look)
    addEventListener('offline', look)
    return () => {
      removeEventListener('online', look)
      removeEventListener('offline', look)
    }
  }, [])
  if (isOnline) return null
  return (
    <p role="alert" className="bg-warn-soft px-4 py-1.5 text-warn">
      You are offline. You see what was loaded before; changes can't be saved.
    </p>
  )
}
