/** The timeline of a record: what is planned, what was done, who changed what. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { kindOf } from '../fields/kinds.ts'
import { useFormat } from '../format/use-format.tsx'
import { may, useMe } from '../shell/me.ts'
import { Avatar, Empty, Waiting } from '../ui/bits.tsx'
import { Button } from '../ui/button.tsx'
import { ActivityRow } from './activity-row.tsx'
import { Composer } from './composer.tsx'
import { isEmpty } from './draft.ts'
import {
  aboutField,
  activitiesQuery,
  type Change,
  type Event,
  historyQuery,
  merged,
  toldNames,
} from './history.ts'
import type { ShownRecord } from './use-record.ts'

export function Timeline({ shown }: { shown: ShownRecord }) {
  const { resource, record, fields } = shown
  const me = useMe()
  const mayRead = may(me, 'activity:read')
  const { data: sections = [] } = useQuery({ ...fieldsQuery('activity'), enabled: mayRead })
  const history = useInfiniteQuery(historyQuery(resource, record.id))
  const about = aboutField(sections.flat(), resource)
  const { data: activities = [] } = useQuery({
    ...activitiesQuery(resource, record.id, sections),
    enabled: about !== null && mayRead && !record.deleted_at,
  })
  const events = useMemo(() => history.data?.pages.flatMap(({ data }) => data) ?? [], [history.data])
  const planned = activities
    .filter(({ done_at }) => !done_at)
    .sort((one, other) => String(one.due_at ?? '9').localeCompare(String(other.due_at ?? '9')))
  const done = activities.filter(({ done_at }) => done_at)
  const entries = merged(events, done, !history.hasNextPage)
  return (
    <div className="flex flex-col gap-4">
      {about && !record.deleted_at && <Composer about={about} id={record.id} />}
      {planned.length > 0 && (
        <section aria-labelledby="planned" className="flex flex-col gap-1">
          <h3 id="planned" className="text-sm font-semibold text-ink-soft">
            Planned
          </h3>
          <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
            {planned.map(activity => (
              <li key={activity.id}>
                <ActivityRow activity={activity} sections={sections} without={about} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {history.isPending && <Waiting className="h-40 w-full" />}
      {history.isError && (
        <Empty title="The history could not be read.">
          <Button onPress={() => void history.refetch()}>Try again</Button>
        </Empty>
      )}
      <ol aria-label="Timeline" className="flex flex-col">
        {entries.map(entry => (
          <li key={entry.key} className="border-l border-line pb-4 pl-4 last:pb-0">
            {'event' in entry ? (
              <Happening event={entry.event} fields={fields} />
            ) : (
              <ActivityRow activity={entry.activity} sections={sections} without={about} isDone />
            )}
          </li>
        ))}
      </ol>
      {history.hasNextPage && (
        <Button
          className="self-center"
          isPending={history.isFetchingNextPage}
          onPress={() => void history.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </div>
  )
}

const verbs: { readonly [type: string]: string } = {
  created: 'created this',
  updated: 'changed',
  deleted: 'deleted this',
  restored: 'restored this',
}

function Happening({ event, fields }: { event: Event; fields: readonly Field[] }) {
  const format = useFormat()
  const verb = event.type.split('.')[1] ?? event.type
  const actor = event.actor.name ?? 'Somebody'
  // What follows from other values is no change of anybody's.
  const changes = event.changes
    .map(change => ({ change, field: fields.find(({ internal_name }) => internal_name === change.field) }))
    .filter(({ field }) => !field?.is_read_only)
  return (
    <div className="relative">
      <span aria-hidden className="absolute -left-[27px] rounded-full bg-canvas p-0.5">
        <Avatar name={actor} size={18} />
      </span>
      <p>
        <bdi className="font-medium">{actor}</bdi>{' '}
        <span className="text-ink-soft">{verbs[verb] ?? verb}</span>{' '}
        <time dateTime={event.at} title={format.fullMoment(event.at)} className="text-ink-faint">
          {format.ago(event.at)}
        </time>
      </p>
      {verb === 'updated' && (
        <ul className="mt-0.5">
          {changes.map(({ change, field }) => (
            <li key={change.field} className="min-w-0 text-ink-soft">
              {field?.field_name ?? change.label}: <Side change={change} field={field} side="from" />
              <span aria-hidden> → </span>
              <span className="unseen"> to </span>
              <Side change={change} field={field} side="to" />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Side(props: { change: Change; field: Field | undefined; side: 'from' | 'to' }) {
  const { change, field, side } = props
  const format = useFormat()
  const value = change[side]
  if (isEmpty(value)) return <span className="text-ink-faint">empty</span>
  const names = toldNames(value, change[`${side}_name`])
  const text = field ? kindOf(field).text(value, names, format, field) : JSON.stringify(value)
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return (
    <bdi className={side === 'to' ? 'text-ink' : 'text-ink-faint line-through decoration-1'}>{shown}</bdi>
  )
}
