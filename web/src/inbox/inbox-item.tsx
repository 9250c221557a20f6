/** An item of the inbox in its list: opening it marks it as read. */
import { Link } from '@tanstack/react-router'
import { AtSign, CalendarClock, CircleAlert, Hourglass, UserRound } from 'lucide-react'
import { useFormat } from '../format/use-format.tsx'
import { RelatedLink } from '../records/related-link.tsx'
import { recordPath } from '../records/tables.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { useMinute } from '../ui/minute.ts'
import { type Item, type Kind, mark, placeOf, textOf } from './inbox.ts'

const icons: { readonly [kind in Kind]: typeof AtSign } = {
  mention: AtSign,
  assignment: UserRound,
  due: CalendarClock,
  rotting: Hourglass,
  job: CircleAlert,
}

export function InboxItem({ item }: { item: Item }) {
  const format = useFormat()
  const minute = useMinute()
  const { id, kind, at, read_at, about, due } = item
  const isRead = read_at !== null
  const Icon = icons[kind]
  const { resource, id: record } = placeOf(item)
  const isLate = kind === 'due' && due !== null && due !== undefined && due <= minute
  return (
    <li data-item={id} className="flex items-start gap-2.5 px-3 py-2">
      <Icon
        size={16}
        aria-hidden
        className={classes('mt-1.5 shrink-0', isLate ? 'text-lost' : 'text-ink-soft')}
      />
      <div className="min-w-0 grow">
        <Link
          to={resource === 'job' ? `/jobs/${record}` : recordPath(resource, record)}
          onClick={() => void mark({ ids: [id] }, 'read')}
          dir="auto"
          className={classes(
            'block py-0.5 break-words hover:underline',
            isRead ? 'text-ink-soft' : 'font-semibold',
          )}
        >
          {!isRead && <span className="unseen">Unread: </span>}
          {textOf(item, minute)}
        </Link>
        <p className="flex flex-wrap items-baseline gap-x-3 text-sm text-ink-soft">
          {due ? (
            <time dateTime={due} title={format.fullMoment(due)} className={isLate ? 'text-lost' : undefined}>
              {isLate && 'Overdue: '}
              {format.moment(due)}
            </time>
          ) : (
            <time dateTime={at} title={format.fullMoment(at)}>
              {format.moment(at)}
            </time>
          )}
          {about && kind !== 'mention' && (
            <RelatedLink {...about} className="min-w-0 truncate">
              {about.name}
            </RelatedLink>
          )}
          {about && kind === 'mention' && <span dir="auto">{about.name}</span>}
        </p>
      </div>
      <Button
        variant="quiet"
        isSmall
        onPress={() => void mark({ ids: [id] }, isRead ? 'unread' : 'read')}
        aria-label={`${isRead ? 'Mark as unread' : 'Mark as read'}: ${textOf(item, minute)}`}
      >
        {isRead ? 'Unread' : 'Read'}
      </Button>
    </li>
  )
}
