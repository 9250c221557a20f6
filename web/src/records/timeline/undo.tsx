/**
 * Undoing a change of a record's timeline (D83). Later changes of others are not overwritten: a dialog lists
 * them with their authors.
 */
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, type DealwrightError, errorMessage } from '../../api/api.ts'
import { queryClient, refresh } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Confirm } from '../../jobs/confirm.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { isChangedSince, undoEvent, undoWrite } from '../editing/undo-write.ts'
import type { ShownRecord } from '../record/use-record.ts'
import { actorName } from './actor.ts'
import { ChangeValue } from './change-value.tsx'
import { type Event, historyQuery } from './history.ts'

/** A field with another value than the change set, and the event that changed it since. */
type Since = { readonly field: string | null; readonly by: Event | undefined }

/** Describes an event as a part of a sentence: "the change of Title". */
function describeEvent({ type, changes }: Event, { fields }: ShownRecord): string {
  if (type.endsWith('.created')) return 'the creation'
  if (type.endsWith('.deleted')) return 'the deletion'
  if (type.endsWith('.restored')) return 'the restoration'
  const named = changes.flatMap(({ field, label }) => {
    const known = fields.find(({ internal_name }) => internal_name === field)
    return known?.is_read_only ? [] : [known?.field_name ?? label]
  })
  const shown = named.length > 3 ? [...named.slice(0, 2), `${named.length - 2} more`] : named
  return `the change of ${shown.join(', ') || 'this'}`
}

export function UndoButton({ event, shown }: { event: Event; shown: ShownRecord }) {
  const { resource, record } = shown
  const reason = useReadOnlyReason(resource)
  const [isPending, setPending] = useState(false)
  const [since, setSince] = useState<readonly Since[] | null>(null)
  const [isAsking, setAsking] = useState(false)
  const description = describeEvent(event, shown)
  // The only undo for a deleted record is that of its deletion, and for any other all else.
  const isDeletion = event.type.endsWith('.deleted')
  if (isDeletion !== Boolean(record.deleted_at) || event.type.endsWith('.purged')) return null
  const undo = async () => {
    // Disabling the button would lose the focus.
    if (isPending) return
    setPending(true)
    try {
      const after = await undoEvent(event.seq)
      await refresh(resource)
      toast(`Undone: ${description}.`, {
        action: { label: 'Undo', act: () => redo(shown, after, description) },
      })
    } catch (error) {
      if (isChangedSince(error)) setSince(await sinceOf(error, shown))
      else toastError(errorMessage(error))
    } finally {
      setPending(false)
    }
  }
  // Undoing a creation or a restoration deletes the record, so it asks for confirmation.
  const isToDelete = /\.(created|restored)$/.test(event.type)
  return (
    <>
      {isToDelete ? (
        <Button
          variant="quiet"
          isSmall
          reason={reason}
          aria-busy={isPending}
          onPress={() => setAsking(true)}
          className="-my-1 ml-1 align-middle text-ink-faint"
        >
          <Undo2 size={14} aria-hidden /> Undo {description}…
        </Button>
      ) : (
        <IconButton
          label={`Undo ${description}`}
          reason={reason}
          aria-busy={isPending}
          onPress={() => void undo()}
          className="-my-1.5 ml-1 size-7 align-middle text-ink-faint"
        >
          <Undo2 size={14} aria-hidden />
        </IconButton>
      )}
      {isAsking && (
        <Confirm
          title={`Delete “${nameOf(record)}”?`}
          action="Delete"
          back="Cancel"
          onDo={undo}
          onClose={() => setAsking(false)}
        >
          <p>
            To undo {description} is to delete this {resource}, with all that was changed in it since. It can
            be restored for some time.
          </p>
        </Confirm>
      )}
      {since && <SinceDialog event={event} shown={shown} since={since} onClose={() => setSince(null)} />}
    </>
  )
}

/** Undoes an undo. */
async function redo({ resource, record }: ShownRecord, after: AnyRecord, description: string): Promise<void> {
  try {
    await undoWrite(resource, record, after)
    await refresh(resource)
    toast(`Done again: ${description}.`)
  } catch (error) {
    toastError(errorMessage(error))
  }
}

/** The conflicting changes that the refusal names, with their events. */
async function sinceOf(error: DealwrightError, { resource, record }: ShownRecord): Promise<Since[]> {
  await refresh(resource)
  const { queryKey } = historyQuery(resource, record.id)
  const events = queryClient.getQueryData(queryKey)?.pages.flatMap(({ data }) => data) ?? []
  const problems: readonly { field: string | null; by?: { seq: number } }[] = error.problems
  return problems.map(({ field, by }) => ({ field, by: events.find(({ seq }) => seq === by?.seq) }))
}

function SinceDialog(props: {
  event: Event
  shown: ShownRecord
  since: readonly Since[]
  onClose: () => void
}) {
  const { event, shown, since, onClose } = props
  return (
    <Dialog
      title="This has been changed since"
      detail="Nothing was undone, so that no later change is lost. You can change it back by hand."
      isOpen
      onClose={onClose}
      role="alertdialog"
    >
      <ul className="flex flex-col gap-2">
        {since.map(one => (
          <li key={one.field}>
            <Later event={event} shown={shown} since={one} />
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button variant="primary" onPress={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** "Title: the change made it A; Ana changed it to B two hours ago." */
function Later(props: { event: Event; shown: ShownRecord; since: Since }) {
  const { event, shown, since } = props
  const { field: name, by } = since
  const format = useFormat()
  const field = shown.fields.find(({ internal_name }) => internal_name === name)
  const who = <bdi className="font-medium">{by ? actorName(by.actor) : 'Somebody'}</bdi>
  const when = by && <time dateTime={by.at}>{format.ago(by.at)}</time>
  const made = event.changes.find(change => change.field === name)
  const now = by?.changes.find(change => change.field === name)
  if (name === 'deleted_at')
    return (
      <p>
        {who} {by?.type.endsWith('.restored') ? 'restored' : 'deleted'} this {when}.
      </p>
    )
  if (!name) return <p>A field that your role can’t see has been changed since.</p>
  return (
    <p>
      <span className="font-medium">{field?.field_name ?? name}</span>
      {made && (
        <>
          {' was made '}
          <ChangeValue change={made} field={field} side="to" />
        </>
      )}
      {'. '}
      {who} {now ? 'changed it to ' : 'has changed it since'}
      {now && <ChangeValue change={now} field={field} side="to" />} {when}.
    </p>
  )
}
