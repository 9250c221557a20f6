/** An entry of the calendar: a link to its activity, with its time, its title and what it clashes with. */
import { Link } from '@tanstack/react-router'
import { CircleCheckBig, Mail, Phone, SquareCheck, StickyNote, TriangleAlert, Users } from 'lucide-react'
import type { Named } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { recordPath } from '../records/tables.ts'
import { classes } from '../ui/classes.ts'
import { clockOf } from './days.ts'
import { type Entry, minutesOfDay } from './entries.ts'

const icons = [Phone, Users, SquareCheck, Mail, StickyNote]

/** `block` fills its time of the day, `line` is one line, `row` is one of a list. */
export function EntryLink(props: { entry: Entry; look: 'block' | 'line' | 'row'; isForAll: boolean }) {
  const { entry, look, isForAll } = props
  const { activity, title, isDone, isMeeting, day, clashes } = entry
  const format = useFormat()
  const { at, span } = timesOf(entry, minutes => format.time(clockOf(minutes)))
  const owner = activity._expanded?.owner as Named | null | undefined
  const isLate = !isDone && String(activity.due_at) < new Date().toISOString()
  const clash = clashes.length > 0 ? `Clashes with ${clashes.map(name => `“${name}”`).join(' and ')}` : null
  const kind = icons[Number(activity.kind) - 1] ?? SquareCheck
  const Icon = clash ? TriangleAlert : isDone ? CircleCheckBig : kind
  const atText = at && (
    <span className="tabular font-normal whitespace-nowrap" data-time>
      {at}
    </span>
  )
  const more = [span, title, isForAll && owner?.name, isDone ? 'done' : isLate && 'overdue', clash]
  return (
    <Link
      to={recordPath('activity', activity.id)}
      data-entry={activity.id}
      data-stop={`${activity.id} ${day}`}
      tabIndex={-1}
      draggable={false}
      title={more.filter(Boolean).join('\n')}
      className={classes(
        'calendar-entry',
        look === 'block' && 'is-block',
        look === 'row' && 'is-row',
        isMeeting ? 'is-meeting' : 'is-other',
        isDone && 'is-done',
        clash && 'is-clash',
      )}
    >
      <Icon
        size={12}
        aria-hidden
        className={classes(look === 'row' ? 'mt-1' : 'mt-[2px]', 'shrink-0', isLate && 'text-lost')}
      />
      <span className={classes('text min-w-0', look === 'line' && 'truncate', look === 'row' && 'grow')}>
        {look !== 'block' && at && <>{atText} </>}
        {look === 'row' && !at && <span className="font-normal text-ink-soft">Whole day </span>}
        <span dir="auto" className={classes('font-medium', isDone && 'line-through')}>
          {title}
        </span>
        {/* Where it stands says the time, too: the title comes first. */}
        {look === 'block' && <> {atText}</>}
        {isForAll && owner?.name && <span className="font-normal"> · {owner.name}</span>}
        {isLate && <span className="unseen">, overdue</span>}
        {isDone && <span className="unseen">, done</span>}
        {clash && <span className={look === 'line' ? 'unseen' : 'block font-normal'}>{clash}</span>}
      </span>
    </Link>
  )
}

/** The time that an entry shows, null for the whole day; and its whole span on the day. */
function timesOf({ time, isContinued, goesOn }: Entry, clock: (minutes: number) => string) {
  if (!time || (isContinued && time.to === minutesOfDay)) return { at: null, span: 'Whole day' }
  const [from, to] = [clock(time.from), clock(time.to)]
  if (isContinued) return { at: `until ${to}`, span: `Until ${to}` }
  return { at: from, span: goesOn ? `From ${from}` : `${from}–${to}` }
}
