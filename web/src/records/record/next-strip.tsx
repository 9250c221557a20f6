/** The next step of a record, under its facts: the earliest planned activity, done by one press. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CalendarPlus, Check, MessageSquarePlus } from 'lucide-react'
import { useRef, useState } from 'react'
import { type About, aboutRecord, isSubject } from '../../activities/about.ts'
import { logKindOf } from '../../activities/kinds.ts'
import { NextSign } from '../../activities/next-mark.tsx'
import { nextStateOf } from '../../activities/next-state.ts'
import type { AnyRecord } from '../../api/api.ts'
import { pageQuery } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useFormat } from '../../format/use-format.tsx'
import { openLog, openPlan } from '../../shell/log-activity.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { useMinute } from '../../ui/minute.ts'
import { recordPath } from '../tables.ts'
import { setDone } from '../timeline/activities.ts'
import type { ShownRecord } from './use-record.ts'

/** `isOpen`: an open deal, which should have a next step; `hasBar`: the bar at the foot plans. */
export function NextStrip(props: { shown: ShownRecord; isOpen: boolean; hasBar: boolean }) {
  const { shown, isOpen, hasBar } = props
  const { resource, record } = shown
  const me = useMe()
  const reason = useReadOnlyReason('activity')
  const place = useRef<HTMLElement>(null)
  const isShown = isSubject(resource) && may(me, 'activity:read') && !record.deleted_at
  const filter = `${resource}:eq(${record.id}),done_at:isnull(true)`
  const read = useQuery({
    ...pageQuery('activity', { filter, sort: 'due_at:asc' }, 1, 1),
    enabled: isShown,
  })
  const { data } = read
  if (!isShown) return null
  const about = aboutRecord(resource, record)
  const next = data?.data[0]
  const more = (data?.meta.total ?? 1) - 1
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label="What is next"
      className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line bg-surface
        px-3 py-1"
    >
      {!data && read.isError && (
        <>
          <p className="text-lost">What is planned could not be read.</p>
          <Button isSmall onPress={() => void read.refetch()}>
            Try again
          </Button>
        </>
      )}
      {next && <Planned activity={next} more={more} />}
      {data && !next && (
        <p className={isOpen ? 'flex items-center gap-2 text-warn' : 'text-ink-soft'}>
          {isOpen && <NextSign state="none" />}
          Nothing planned
        </p>
      )}
      <span className="grow" />
      {next && (
        // The button goes with the activity: the focus stays here.
        <DoneButtons activity={next} about={about} reason={reason} onDone={() => place.current?.focus()} />
      )}
      {!hasBar && (
        <Button isSmall variant="quiet" reason={reason} onPress={() => openPlan(about)}>
          <CalendarPlus size={14} aria-hidden /> Plan the next step
        </Button>
      )}
    </section>
  )
}

function Planned({ activity, more }: { activity: AnyRecord; more: number }) {
  const format = useFormat()
  const at = typeof activity.due_at === 'string' ? activity.due_at : null
  const step = { upcoming_activities: 1, next_activity_at: at }
  const state = nextStateOf(step, useMinute(), format.dateOf)
  return (
    <p className="flex max-w-full min-w-0 flex-wrap items-center gap-x-2">
      <span className="flex max-w-full min-w-0 items-center gap-2">
        {state && <NextSign state={state} />}
        <Link
          to={recordPath('activity', activity.id)}
          dir="auto"
          className="min-w-0 truncate py-0.5 font-medium hover:underline"
        >
          {nameOf(activity)}
        </Link>
      </span>
      {at && (
        <time dateTime={at} title={format.fullMoment(at)} className="shrink-0 text-ink-soft">
          {format.moment(at)}
        </time>
      )}
      {more > 0 && <span className="shrink-0 text-ink-faint">and {format.number(more)} more</span>}
    </p>
  )
}

function DoneButtons(props: {
  activity: AnyRecord
  about: About
  reason: string | undefined
  onDone: () => void
}) {
  const { activity, about, reason, onDone } = props
  const [isBusy, setBusy] = useState(false)
  const kind = logKindOf(activity.kind)
  const done = async () => {
    setBusy(true)
    const saved = await setDone(activity, true)
    await saved?.listed
    setBusy(false)
    if (saved) onDone()
  }
  return (
    <>
      <Button isSmall reason={reason} isPending={isBusy} onPress={() => void done()}>
        <Check size={14} aria-hidden /> Done
      </Button>
      {kind && (
        <Button isSmall reason={reason} onPress={() => openLog(kind, about, { activity })}>
          <MessageSquarePlus size={14} aria-hidden /> Log it
        </Button>
      )}
    </>
  )
}
