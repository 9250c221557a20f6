/** An event of a record's timeline: the author, the changes, and the undo button. */
import { useFormat } from '../../format/use-format.tsx'
import { Avatar } from '../../ui/elements.tsx'
import type { ShownRecord } from '../record/use-record.ts'
import { actorName } from './actor.ts'
import { ChangeValue } from './change-value.tsx'
import type { Event } from './history.ts'
import { UndoButton } from './undo.tsx'

const verbs: { readonly [type: string]: string } = {
  created: 'created this',
  updated: 'changed',
  deleted: 'deleted this',
  restored: 'restored this',
}

export function EventEntry({ event, shown }: { event: Event; shown: ShownRecord }) {
  const { fields } = shown
  const format = useFormat()
  const verb = event.type.split('.')[1] ?? event.type
  const { token } = event.actor
  const actor = actorName(event.actor)
  // Calculated fields are left out.
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
        {token && (
          <span className="text-ink-faint">
            by token <bdi>{token.name ?? `no. ${token.id}`}</bdi>{' '}
          </span>
        )}
        <time dateTime={event.at} title={format.fullMoment(event.at)} className="text-ink-faint">
          {format.ago(event.at)}
        </time>
        <UndoButton event={event} shown={shown} />
      </p>
      {verb === 'updated' && (
        <ul className="mt-0.5">
          {changes.map(({ change, field }) => (
            <li key={change.field} className="min-w-0 text-ink-soft">
              {field?.field_name ?? change.label}: <ChangeValue change={change} field={field} side="from" />
              <span aria-hidden> → </span>
              <span className="unseen"> to </span>
              <ChangeValue change={change} field={field} side="to" />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
