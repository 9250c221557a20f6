/** An activity in a list: marked done with one key, with its subject. */
import { Link } from '@tanstack/react-router'
import { MessageSquarePlus } from 'lucide-react'
import { useState } from 'react'
import { aboutActivity } from '../../activities/about.ts'
import { logKindOf } from '../../activities/kinds.ts'
import { MentionText } from '../../activities/mention-text.tsx'
import { plainText } from '../../activities/mentions.ts'
import type { AnyRecord, Field } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useFormat } from '../../format/use-format.tsx'
import { openLog } from '../../shell/log-activity.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Badge } from '../../ui/elements.tsx'
import { useMinute } from '../../ui/minute.ts'
import { isEmpty } from '../editing/draft.ts'
import { Truncated } from '../record/truncated.tsx'
import { namesOf } from '../record/use-record.ts'
import { RelatedLink } from '../related-link.tsx'
import { recordPath } from '../tables.ts'
import { setDone } from './activities.ts'

export function ActivityRow(props: {
  activity: AnyRecord
  sections: readonly (readonly Field[])[]
  /** the field that names the record of the current page */
  without?: string | null
  isDone?: boolean
  onDone?: (activity: AnyRecord) => void
}) {
  const { activity, sections, without, isDone = false, onDone } = props
  const format = useFormat()
  const reason = useReadOnlyReason('activity')
  const [isBusy, setBusy] = useState(false)
  const fields = sections.flat()
  const name = nameOf(activity)
  const at = (isDone ? activity.done_at : activity.due_at) as string | null
  // It may become overdue while the page is open.
  useMinute()
  const isLate = !isDone && at !== null && at < new Date().toISOString()
  // The first line of a note is its title, which is shown already.
  const written = String(activity.notes ?? '')
  const [first = '', ...others] = written.split('\n')
  const notes = plainText(first) === name ? others.join('\n').trim() : written
  const logged = isDone ? null : logKindOf(activity.kind)
  const change = async () => {
    if (isBusy) return
    setBusy(true)
    const saved = await setDone(activity, !isDone)
    if (saved && !isDone) onDone?.(activity)
    // The row is in its old place until the lists are read, and the box keeps what was pressed.
    await saved?.listed
    setBusy(false)
  }
  return (
    <div className={classes('flex items-start gap-2.5 py-2', !isDone && 'px-3')}>
      <label className="-mx-1 flex shrink-0 p-1">
        <input
          type="checkbox"
          aria-label={`Done: ${name}`}
          title={reason}
          checked={isDone !== isBusy}
          // Not while it is saved: the box would lose the focus.
          disabled={reason !== undefined}
          onChange={() => void change()}
          className="size-4 accent-accent"
        />
      </label>
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <Part of="kind" {...{ activity, fields }} as="badge" />
          <Link
            to={recordPath('activity', activity.id)}
            dir="auto"
            className={classes('min-w-0 py-0.5 font-medium hover:underline', isDone && 'text-ink-soft')}
          >
            {name}
          </Link>
        </p>
        <p className="flex flex-wrap items-center gap-x-3 text-ink-soft">
          {at && (
            <time
              dateTime={at}
              title={format.fullMoment(at)}
              className={isLate ? 'font-medium text-lost' : undefined}
            >
              {isLate && 'Overdue: '}
              {format.moment(at)}
            </time>
          )}
          {['deal', 'contact', 'company']
            .filter(about => about !== without && typeof activity[about] === 'number')
            .map(about => (
              <RelatedLink
                key={about}
                resource={about}
                id={activity[about] as number}
                className="min-w-0 truncate py-0.5"
              >
                <Part of={about} {...{ activity, fields }} as="text" />
              </RelatedLink>
            ))}
          <Part of="owner" {...{ activity, fields }} as="text" />
        </p>
        {notes !== '' && (
          <Truncated text={notes}>
            <p dir="auto" className="mt-1 whitespace-pre-line">
              <MentionText text={notes} />
            </p>
          </Truncated>
        )}
        {!isEmpty(activity.outcome) && (
          <p dir="auto" className="mt-1 text-ink-soft">
            Outcome: {String(activity.outcome)}
          </p>
        )}
      </div>
      {logged && (
        <IconButton
          data-log
          label={`Log “${name}”, with its outcome`}
          reason={reason}
          className="-my-1"
          onPress={() => openLog(logged, aboutActivity(activity), { activity })}
        >
          <MessageSquarePlus size={15} aria-hidden />
        </IconButton>
      )}
    </div>
  )
}

function Part(props: { of: string; activity: AnyRecord; fields: readonly Field[]; as: 'badge' | 'text' }) {
  const { of, activity, fields, as } = props
  const field = fields.find(({ internal_name }) => internal_name === of)
  if (!field || isEmpty(activity[of])) return null
  const { Cell } = kindOf(field)
  const cell = <Cell value={activity[of]} field={field} names={namesOf(activity)[of]} />
  return as === 'badge' ? <Badge>{cell}</Badge> : cell
}
