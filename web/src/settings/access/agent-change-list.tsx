/** The changes that an agent made today: each, with its undo, and one undo for all. */
import { Link } from '@tanstack/react-router'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Confirm } from '../../jobs/confirm.tsx'
import { tableOf } from '../../records/tables.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/elements.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { refetchAll } from '../saving.ts'
import { type AgentChange, changeText, undoChanges } from './agent-changes.ts'

/** `changes` is null where they could not be read: the page says so. */
export function ChangeList(props: { changes: readonly AgentChange[] | null | undefined; agent: string }) {
  const { changes, agent } = props
  const [isAsking, setAsking] = useState(false)
  if (changes === null) return null
  if (!changes) return <Skeleton className="h-16 w-full" />
  if (changes.length === 0) return <p className="text-ink-soft">It has changed nothing today.</p>
  return (
    <>
      <div className="flex items-center gap-3">
        <h3 className="grow text-sm font-medium text-ink-soft">Today</h3>
        {changes.length > 1 && (
          <Button isSmall onPress={() => setAsking(true)}>
            <Undo2 size={14} aria-hidden /> Undo all of today…
          </Button>
        )}
      </div>
      <ul className="flex flex-col">
        {changes.map(change => (
          <li key={change.id} className="flex min-h-(--row) items-center gap-3 border-t border-line">
            <Change change={change} />
          </li>
        ))}
      </ul>
      {isAsking && (
        <Confirm
          title={`Undo all that “${agent}” did today?`}
          action="Undo all"
          variant="primary"
          onDo={() => undo(changes)}
          onClose={() => setAsking(false)}
        >
          <p>
            {changes.length} changes are undone, the newest first. What somebody has changed since stays. What
            it created is deleted, and can be restored for some time.
          </p>
        </Confirm>
      )}
    </>
  )
}

const linksMax = 3

function Change({ change }: { change: AgentChange }) {
  const format = useFormat()
  const [isPending, setPending] = useState(false)
  const text = changeText(change, format)
  const records = [...new Map(change.events.map(event => [`${event.resource} ${event.id}`, event])).values()]
  const act = async () => {
    if (isPending) return
    setPending(true)
    try {
      await undo([change])
    } catch (error) {
      toastError(errorMessage(error))
    } finally {
      setPending(false)
    }
  }
  return (
    <>
      <time
        dateTime={change.at}
        className="tabular shrink-0 text-ink-soft"
        title={format.fullMoment(change.at)}
      >
        {format.ago(change.at)}
      </time>
      <span className="min-w-0 grow">
        {text}
        {records.slice(0, linksMax).map(({ resource, id }) => {
          const table = tableOf(resource)
          return table ? (
            <Link
              key={`${resource} ${id}`}
              to="/$table/$id"
              params={{ table, id: String(id) }}
              className="linked ml-2"
            >
              {resource} {id}
            </Link>
          ) : null
        })}
        {records.length > linksMax && <span className="ml-2 text-ink-faint">and others</span>}
      </span>
      <IconButton label={`Undo: ${text}`} aria-busy={isPending} onPress={() => void act()}>
        <Undo2 size={14} aria-hidden />
      </IconButton>
    </>
  )
}

async function undo(changes: readonly AgentChange[]): Promise<void> {
  const { done, left } = await undoChanges(changes)
  toast(left ? `Undone: ${done}. Changed since, so they stay: ${left}.` : 'Undone.', { isNews: true })
  await refetchAll()
}
