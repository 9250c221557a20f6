/** The activities of a day: overdue, today's, the next days', and those done today. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Phone, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { addDays } from '../activities/next-days.ts'
import { useWhose, WhoseSelect } from '../activities/whose.tsx'
import type { AnyRecord, Field } from '../api/api.ts'
import { expandable, fieldsQuery, pageQuery } from '../api/queries.ts'
import { fromWall } from '../fields/zone.ts'
import { useFormat } from '../format/use-format.tsx'
import { ActivityRow } from '../records/timeline/activity-row.tsx'
import { type Command, useCommands } from '../shell/commands.ts'
import { openLog } from '../shell/log-activity.tsx'
import { useReadOnlyReason } from '../shell/me.ts'
import { openNew } from '../shell/new-record.tsx'
import { GettingStarted } from '../start/getting-started.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState, Skeleton } from '../ui/elements.tsx'
import { useMinute } from '../ui/minute.ts'
import { PageHead } from '../ui/page.tsx'
import { agendaOf } from './agenda.ts'
import { NextActivity } from './next-activity.tsx'

const most = 200

export function Today() {
  const format = useFormat()
  const { owner, conditions } = useWhose()
  const reason = useReadOnlyReason('activity')
  const { data: sections } = useSuspenseQuery(fieldsQuery('activity'))
  const [done, setDone] = useState<AnyRecord | null>(null)
  const expand = expandable(sections)
  // The next day may begin while the page is open.
  useMinute()
  const today = format.today()
  const begin = fromWall(`${today}T00:00`, format.timeZone)
  const open = useQuery(
    pageQuery(
      'activity',
      { filter: [...conditions, 'done_at:isnull(true)'].join(','), sort: 'due_at:asc', expand },
      1,
      most,
    ),
  )
  const finished = useQuery(
    pageQuery(
      'activity',
      { filter: [...conditions, `done_at:gte(${begin})`].join(','), sort: 'done_at:desc', expand },
      1,
      most,
    ),
  )
  useCommands(commands)
  const agenda = useMemo(
    () => agendaOf(open.data?.data ?? [], today, addDays(today, 7), format.dateOf),
    [open.data, today, format],
  )
  const add = () => openNew('activity', owner === null ? {} : { owner })
  const finish = (activity: AnyRecord) => {
    leaveDone()
    setDone(activity)
  }
  const doneToday = finished.data?.data ?? []
  const isEmptyDay = open.data?.data.length === 0 && doneToday.length === 0
  const groups = [
    { title: 'Overdue', list: agenda.overdue, look: 'text-lost' },
    { title: 'Today', list: agenda.today },
    { title: 'Next 7 days', list: agenda.soon },
    { title: 'Later', list: agenda.later },
    { title: 'Without a date', list: agenda.undated },
  ]
  return (
    <main tabIndex={-1} className="min-h-0 grow overflow-y-auto outline-none">
      <PageHead title="Today" detail={format.longDate(today)}>
        <WhoseSelect />
        <Button reason={reason} onPress={() => openLog('Call')}>
          <Phone size={14} aria-hidden /> Log a call
        </Button>
        <Button variant="primary" reason={reason} onPress={add}>
          <Plus size={15} aria-hidden /> New activity
        </Button>
      </PageHead>
      <GettingStarted />
      <div className="page-column flex flex-col gap-5 px-4 pb-8">
        {open.isPending && <Skeleton className="h-64 w-full" />}
        {open.isError && (
          <EmptyState title="The activities could not be read.">
            <Button onPress={() => void open.refetch()}>Try again</Button>
          </EmptyState>
        )}
        {isEmptyDay && (
          <EmptyState title="Nothing to do. Plan what comes next.">
            <Button reason={reason} onPress={add}>
              <Plus size={15} aria-hidden /> New activity
            </Button>
          </EmptyState>
        )}
        {groups.map(({ title, list, look }) => (
          <Group key={title} {...{ title, list, look, sections }} onDone={finish} />
        ))}
        {(open.data?.meta.total ?? 0) > most && (
          <p className="text-ink-soft">The first {most} are shown, by when they are due.</p>
        )}
        <Group title="Done today" list={doneToday} sections={sections} isDone />
      </div>
      {done && <NextActivity after={done} onClose={() => setDone(null)} />}
    </main>
  )
}

function Group(props: {
  title: string
  list: readonly AnyRecord[]
  sections: readonly (readonly Field[])[]
  look?: string | undefined
  isDone?: boolean
  onDone?: (activity: AnyRecord) => void
}) {
  const { title, list, sections, look, isDone, onDone } = props
  if (list.length === 0) return null
  const id = `today-${title.replaceAll(' ', '-')}`
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className={`mb-1 text-base ${look ?? ''}`}>
        {title} <span className="font-normal text-ink-faint">{list.length}</span>
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {list.map(activity => (
          <li key={activity.id} className={isDone ? 'px-3' : undefined}>
            <ActivityRow
              activity={activity}
              sections={sections}
              isDone={isDone ?? false}
              {...(onDone ? { onDone } : {})}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

const checkboxes = () => [
  ...document.querySelectorAll<HTMLInputElement>('#content main ul input[type="checkbox"]'),
]

/** Moves the focus from a checkbox that goes with its row to the next one that is open, or the last one. */
function leaveDone(): void {
  const boxes = checkboxes()
  const at = boxes.findIndex(box => box === document.activeElement && box.checked)
  if (at < 0) return
  const open = boxes.filter(box => !box.checked)
  const next = open.find(box => boxes.indexOf(box) > at) ?? open.at(-1)
  ;(next ?? document.querySelector<HTMLElement>('#content main'))?.focus()
}

/** The checkbox of the activity after or before the focused one. */
function step(by: number): void {
  const boxes = checkboxes()
  const at = boxes.indexOf(document.activeElement as HTMLInputElement)
  boxes[at < 0 ? 0 : Math.min(Math.max(at + by, 0), boxes.length - 1)]?.focus()
}

/** Logs the focused activity, or a call. */
function log(): void {
  const row = document.activeElement?.closest('li')
  const button = row?.querySelector<HTMLElement>('[data-log]')
  if (button) button.click()
  else openLog('Call')
}

const commands: readonly Command[] = [
  { id: 'today-log', title: 'Log the activity', group: 'Today', keys: 'l', isHidden: true, act: log },
  { id: 'today-next', title: 'Next activity', group: 'Today', keys: 'j', isHidden: true, act: () => step(1) },
  {
    id: 'today-before',
    title: 'Previous activity',
    group: 'Today',
    keys: 'k',
    isHidden: true,
    act: () => step(-1),
  },
  {
    id: 'today-done',
    title: 'Mark done',
    group: 'Today',
    keys: 'x',
    isHidden: true,
    act: () =>
      document.activeElement?.matches('input[type="checkbox"]')
        ? (document.activeElement as HTMLElement).click()
        : step(1),
  },
]
