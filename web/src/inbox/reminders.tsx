/**
 * Reminders that are due, over every page (D156): a timer of the page shows those that it knows. They stay
 * until they are dismissed, done or snoozed, here or in another page.
 */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, Clock, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type AnyRecord, callApi } from '../api/api.ts'
import { meQuery } from '../api/queries.ts'
import { useFormat } from '../format/use-format.tsx'
import { recordPath } from '../records/tables.ts'
import { AfterLoad } from '../shell/after-load.tsx'
import { pageErrorMessage } from '../shell/failed.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { useMinute } from '../ui/minute.ts'
import { announce, toastError } from '../ui/toast.tsx'
import { askAgain, headQuery, type Item, mark, textOf } from './inbox.ts'
import { isQuiet, settingsQuery } from './settings.ts'

const shownMax = 3
const snoozeMinutes = 10

export function Reminders() {
  return (
    <AfterLoad>
      <Due />
    </AfterLoad>
  )
}

function Due() {
  const { data: me } = useSuspenseQuery(meQuery)
  const { data } = useQuery(headQuery(me.follows_events))
  const reminders = data?.reminders ?? []
  const now = useNextMoment(reminders.map(({ at }) => Date.parse(at)))
  const due = reminders.filter(({ at }) => Date.parse(at) <= now)
  const { data: settings } = useQuery({ ...settingsQuery, enabled: due.length > 0 })
  const { timeZone } = useFormat()
  // Quiet hours end between the moments of reminders.
  useMinute()
  if (due.length === 0 || !settings || isQuiet(settings.quiet ?? null, new Date(now), timeZone)) return null
  return (
    <section
      aria-label="Reminders"
      className="pointer-events-none fixed right-3 left-3 z-40 flex flex-col gap-2
        max-sm:bottom-[calc(var(--foot,0px)+12px)] sm:top-3 sm:left-auto sm:w-96"
    >
      {/* On a phone one at a time, at the foot: they would cover the way to other pages. */}
      {due.slice(-shownMax).map((item, index, { length }) => (
        <div key={`${item.id} ${item.at}`} className={index < length - 1 ? 'max-sm:hidden' : 'contents'}>
          <Reminder item={item} more={due.length - 1} />
        </div>
      ))}
    </section>
  )
}

/** The current time, of the last of these moments that has come; it changes when the next one comes. */
function useNextMoment(moments: readonly number[]): number {
  const [now, setNow] = useState(Date.now)
  const next = Math.min(...moments.filter(moment => moment > now))
  useEffect(() => {
    if (next === Number.POSITIVE_INFINITY) return
    const timer = setTimeout(
      () => {
        setNow(Date.now())
        void askAgain()
      },
      Math.max(0, next - Date.now()) + 20,
    )
    return () => clearTimeout(timer)
  }, [next])
  // Those that are new to the page may have come before.
  return Math.max(now, Date.now())
}

/** `more`: number of other due ones */
function Reminder({ item, more }: { item: Item; more: number }) {
  const format = useFormat()
  const [isBusy, setBusy] = useState(false)
  const { record, about, due, id } = item
  const text = textOf(item, new Date().toISOString())
  useEffect(() => announce(`Reminder: ${text}`), [text])
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true)
    await work()
    setBusy(false)
  }
  const done = async () => {
    try {
      // With all that changes records: too much for the first page, as few reminders are due.
      const { setDone } = await import('../records/timeline/activities.ts')
      const activity = await callApi<AnyRecord>('GET', `/activity/${record.id}`)
      await setDone(activity, true)
      await askAgain()
    } catch (error) {
      toastError(pageErrorMessage(error))
    }
  }
  return (
    <div className="floating pointer-events-auto flex flex-col gap-2 rounded-md border border-line bg-raised p-3 shadow-float">
      <div className="flex items-start gap-2">
        <Clock size={16} aria-hidden className="mt-0.5 shrink-0 text-accent" />
        <div className="min-w-0 grow">
          <Link
            to={recordPath(record.resource, record.id)}
            onClick={() => void mark({ ids: [id] }, 'read')}
            className="block font-medium break-words hover:underline"
            dir="auto"
          >
            {text}
          </Link>
          <p className="text-sm text-ink-soft">
            {due && <time dateTime={due}>{format.moment(due)}</time>}
            {about?.name && <span dir="auto"> · {about.name}</span>}
          </p>
        </div>
        <IconButton
          label={`Dismiss the reminder of ${record.name}`}
          onPress={() => void mark({ ids: [id] }, 'read')}
        >
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      <div className="flex gap-2">
        <Button isSmall isPending={isBusy} onPress={() => void act(done)}>
          <Check size={14} aria-hidden /> Done
        </Button>
        <Button
          isSmall
          isPending={isBusy}
          onPress={() => void act(() => mark({ ids: [id] }, 'snoozed', snoozeMinutes))}
        >
          In {snoozeMinutes} minutes
        </Button>
        {more > 0 && (
          <span className="ml-auto self-center text-sm text-ink-soft sm:hidden">
            {format.number(more)} more
          </span>
        )}
      </div>
    </div>
  )
}
