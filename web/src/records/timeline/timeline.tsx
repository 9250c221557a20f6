/** The timeline of a record: planned activities, done ones, and changes. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { aboutRecord, isSubject } from '../../activities/about.ts'
import { fieldsQuery } from '../../api/queries.ts'
import { may, useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, Skeleton } from '../../ui/elements.tsx'
import type { ShownRecord } from '../record/use-record.ts'
import { ActivityRow } from './activity-row.tsx'
import { Composer } from './composer.tsx'
import { EventEntry } from './event-entry.tsx'
import { activitiesQuery, historyQuery, merged, subjectField } from './history.ts'

export function Timeline({ shown }: { shown: ShownRecord }) {
  const { resource, record } = shown
  const me = useMe()
  const mayRead = may(me, 'activity:read')
  const { data: sections = [] } = useQuery({ ...fieldsQuery('activity'), enabled: mayRead })
  const history = useInfiniteQuery(historyQuery(resource, record.id))
  const about = subjectField(sections.flat(), resource)
  const hasActivities = about !== null && mayRead && !record.deleted_at
  const open = useInfiniteQuery({
    ...activitiesQuery(resource, record.id, sections, false),
    enabled: hasActivities,
  })
  const doneQuery = activitiesQuery(resource, record.id, sections, true)
  const read = useInfiniteQuery({ ...doneQuery, enabled: hasActivities && doneQuery.enabled === true })
  const place = useRef<HTMLDivElement>(null)
  // The box goes with the activity: the focus stays here, unless it has gone on.
  const onDone = () => {
    const { activeElement, body } = document
    const isOnBox = activeElement === body || activeElement?.matches('input[type="checkbox"]')
    if (isOnBox) place.current?.focus({ preventScroll: true })
  }
  const more = [history, ...(hasActivities ? [open, read] : [])].filter(({ hasNextPage }) => hasNextPage)
  const events = useMemo(() => history.data?.pages.flatMap(({ data }) => data) ?? [], [history.data])
  const planned = (open.data?.pages.flat() ?? []).sort((one, other) =>
    String(one.due_at ?? '9').localeCompare(String(other.due_at ?? '9')),
  )
  const entries = merged(
    { events, isWhole: !history.hasNextPage },
    { done: read.data?.pages.flat() ?? [], isAll: !read.hasNextPage },
  )
  return (
    <div ref={place} tabIndex={-1} className="flex flex-col gap-4 outline-none">
      {about && isSubject(resource) && !record.deleted_at && (
        <Composer about={aboutRecord(resource, record)} />
      )}
      {planned.length > 0 && (
        <section aria-labelledby="planned" className="flex flex-col gap-1">
          <h3 id="planned" className="text-sm font-semibold text-ink-soft">
            Planned
          </h3>
          <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
            {planned.map(activity => (
              <li key={activity.id}>
                <ActivityRow {...{ activity, sections, onDone }} without={about} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {history.isPending && <Skeleton className="h-40 w-full" />}
      {history.isError && (
        <EmptyState title="The history could not be read.">
          <Button onPress={() => void history.refetch()}>Try again</Button>
        </EmptyState>
      )}
      {(read.isError || open.isError) && (
        <EmptyState title="The activities could not be read.">
          <Button onPress={() => void Promise.all([open.refetch(), read.refetch()])}>Try again</Button>
        </EmptyState>
      )}
      <ol aria-label="Timeline" className="flex flex-col">
        {entries.map(entry => (
          <li key={entry.key} className="border-l border-line pb-4 pl-4 last:pb-0">
            {'event' in entry ? (
              <EventEntry event={entry.event} shown={shown} />
            ) : (
              <ActivityRow activity={entry.activity} sections={sections} without={about} isDone />
            )}
          </li>
        ))}
      </ol>
      {more.length > 0 && (
        <Button
          className="self-center"
          isPending={more.some(one => one.isFetchingNextPage)}
          onPress={() => {
            for (const one of more) void one.fetchNextPage()
          }}
        >
          Show more
        </Button>
      )}
    </div>
  )
}
