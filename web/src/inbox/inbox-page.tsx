/** The inbox: its items by day, the newest first; what is read is read everywhere (D156). */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { CheckCheck, Settings2 } from 'lucide-react'
import { Suspense, useCallback, useMemo, useState } from 'react'
import { useFormat } from '../format/use-format.tsx'
import { type Command, keyHints, useCommands } from '../shell/commands.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { DialogLoading, EmptyState, Skeleton } from '../ui/elements.tsx'
import { Checkbox, Select } from '../ui/inputs.tsx'
import { useMinute } from '../ui/minute.ts'
import { PageHead } from '../ui/page.tsx'
import { type Item, itemsQuery, kinds, mark, markListed } from './inbox.ts'
import { InboxItem } from './inbox-item.tsx'
import { SettingsDialog } from './settings-dialog.tsx'

export function InboxPage() {
  const { kind, unread } = useSearch({ strict: false })
  const navigate = useNavigate()
  const format = useFormat()
  const [isSettings, setSettings] = useState(false)
  const found = useInfiniteQuery(itemsQuery(kind, unread !== undefined))
  const pages = found.data?.pages
  const days = useMemo(
    () => [...Map.groupBy(pages?.flatMap(({ data }) => data) ?? [], ({ at }) => format.dateOf(at))],
    [pages, format],
  )
  const count = pages?.[0]?.meta.unread ?? 0
  const choose = (search: { kind?: string | undefined; unread?: string | undefined }) =>
    void navigate({ to: '/inbox', search: { kind, unread, ...search } as never, replace: true })
  // The next day may begin while the page is open.
  useMinute()
  const today = format.today()
  const newest = pages?.[0]?.data[0]?.at
  const markAll = useCallback(() => newest && void markListed(kind, newest), [kind, newest])
  useCommands(useMemo(() => [...commands, { ...all, act: markAll }], [markAll]))
  return (
    <main className="min-h-0 grow overflow-y-auto">
      <PageHead title="Inbox" detail={count > 0 ? `${format.number(count)} unread` : undefined}>
        <Select
          label="Kind"
          isLabelHidden
          value={kind ?? ''}
          none="Everything"
          onChange={chosen => choose({ kind: chosen ?? undefined })}
          choices={kinds}
        />
        <Checkbox
          label="Unread only"
          checked={unread !== undefined}
          onChange={isOn => choose({ unread: isOn ? '1' : undefined })}
        />
        <Button isDisabled={count === 0} onPress={markAll}>
          <CheckCheck size={15} aria-hidden /> Mark all as read
        </Button>
        <IconButton label="What the inbox shows" onPress={() => setSettings(true)}>
          <Settings2 size={16} aria-hidden />
        </IconButton>
      </PageHead>
      <div className="page-column flex flex-col gap-5 px-4 pb-8">
        {found.isPending && <Skeleton className="h-64 w-full" />}
        {found.isError && (
          <EmptyState title="The inbox could not be read.">
            <Button onPress={() => void found.refetch()}>Try again</Button>
          </EmptyState>
        )}
        {found.isSuccess && days.length === 0 && (
          <EmptyState title={kind || unread ? 'There is nothing of this kind.' : 'There is nothing new.'} />
        )}
        {days.map(([day, items]) => (
          <Day
            key={day}
            id={`day-${day}`}
            title={day === today ? 'Today' : format.longDate(day)}
            items={items}
          />
        ))}
        {found.hasNextPage && (
          <Button
            className="self-center"
            isPending={found.isFetchingNextPage}
            onPress={() => void found.fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </div>
      {isSettings && (
        <Suspense fallback={<DialogLoading label="What the inbox shows" />}>
          <SettingsDialog onClose={() => setSettings(false)} />
        </Suspense>
      )}
    </main>
  )
}

function Day({ id, title, items }: { id: string; title: string; items: readonly Item[] }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="mb-1 text-base">
        {title}
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {items.map(item => (
          <InboxItem key={item.id} item={item} />
        ))}
      </ul>
    </section>
  )
}

const focusedRow = () => document.activeElement?.closest<HTMLElement>('[data-item]') ?? null

/** The item after or before the focused one. */
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-item]')]
  const row = focusedRow()
  const at = row ? rows.indexOf(row) + by : 0
  rows[Math.min(Math.max(at, 0), rows.length - 1)]?.querySelector('a')?.focus()
}

function markFocused(to: 'read' | 'unread'): void {
  const id = focusedRow()?.dataset.item
  if (id) void mark({ ids: [id] }, to)
  else step(0)
}

const group = 'Inbox'
const all = { id: 'inbox-all', title: 'Mark all as read', group, keys: 'a' }
const commands: readonly Command[] = [
  { id: 'inbox-next', title: 'Next item', group, keys: 'j', isHidden: true, act: () => step(1) },
  { id: 'inbox-before', title: 'Previous item', group, keys: 'k', isHidden: true, act: () => step(-1) },
  {
    id: 'inbox-read',
    title: 'Mark as read',
    group,
    keys: 'e',
    isHidden: true,
    act: () => markFocused('read'),
  },
  {
    id: 'inbox-unread',
    title: 'Mark as unread',
    group,
    keys: 'u',
    isHidden: true,
    act: () => markFocused('unread'),
  },
  ...keyHints(group, [['Open the item', 'Enter']]),
]
