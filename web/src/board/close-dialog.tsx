/**
 * Won or lost: asks for reason and date before anything is saved, whatever started the move (rules 2 and 3).
 * Reopening a deal shows the values that are removed.
 */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { optionsQuery } from '../api/queries.ts'
import type { Money } from '../format/format.ts'
import { useFormat } from '../format/use-format.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Select, TextField } from '../ui/inputs.tsx'
import { kindOf, type StageKind } from './stage-kind.ts'

/** The fields that closing a deal requires in addition to the stage. */
export type Closing = {
  readonly won_reason?: number
  readonly lost_reason?: number
  readonly deal_closed_on?: string
}

type Props = {
  deal?: { readonly title: string; readonly deal_value?: unknown }
  /** number of deals, if it is several */
  count?: number
  stage: { readonly name: string; readonly kind: StageKind }
  onClose: () => void
  /** gets the additional values to send */
  onClosed: (closing: Closing) => void
}

/** The dialog of a move to a stage of another kind. `from` is the kind of the deal's stage. */
export function MoveDialog({ from, ...props }: Props & { from: StageKind | undefined }) {
  if (props.stage.kind !== kindOf.open) return <CloseDialog {...props} />
  const { deal, count = 1, onClose, onClosed } = props
  const isOne = count === 1
  return (
    <Dialog
      title={isOne ? 'Reopen this deal?' : `Reopen ${count} deals?`}
      detail={isOne && deal?.title}
      isOpen
      onClose={onClose}
      role="alertdialog"
    >
      <p>
        {isOne
          ? `Its ${from === kindOf.won ? 'won' : 'lost'} reason and date are removed.`
          : 'Their reasons and dates are removed.'}
      </p>
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button variant="primary" autoFocus onPress={() => onClosed({})}>
          Reopen
        </Button>
      </DialogActions>
    </Dialog>
  )
}

export function CloseDialog({ deal, count = 1, stage, onClose, onClosed }: Props) {
  const format = useFormat()
  const me = useMe()
  const isWon = stage.kind === 2
  const name = isWon ? 'won_reason' : 'lost_reason'
  const { data: options } = useQuery(optionsQuery('deal', name))
  const [reason, setReason] = useState<string | null>(null)
  const [date, setDate] = useState(format.today())
  const [isTried, setTried] = useState(false)
  const active = options?.filter(({ is_active }) => is_active) ?? []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (reason && date) onClosed({ [name]: Number(reason), deal_closed_on: date })
  }
  const value = format.money((deal?.deal_value ?? {}) as Money)
  const detail = count === 1 ? [deal?.title, value].filter(Boolean).join(' · ') : undefined
  return (
    <Dialog
      title={isWon ? 'Mark as won' : 'Mark as lost'}
      detail={detail ?? `The same for all ${format.number(count)}`}
      isOpen
      onClose={onClose}
    >
      <form onSubmit={submit} onKeyDown={submitByEnter} noValidate className="flex flex-col gap-4">
        <Select
          label={isWon ? 'Why was it won?' : 'Why was it lost?'}
          value={reason}
          onChange={setReason}
          choices={active}
          none="Choose…"
          isRequired
          autoFocus
          error={isTried && !reason ? 'Choose a reason.' : undefined}
          hint={options && active.length === 0 && <NoReasons isAdmin={may(me, 'field:write')} />}
        />
        <TextField
          label="Closed on"
          type="date"
          value={date}
          onChange={setDate}
          isRequired
          error={isTried && !date ? 'Enter the closing date.' : undefined}
          hint={date > format.today() ? 'This day is in the future.' : undefined}
        />
        <DialogActions>
          <Cancel onPress={onClose} />
          <Button type="submit" variant={isWon ? 'won' : 'danger'}>
            {isWon ? 'Mark as won' : 'Mark as lost'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** Enter submits from the list of reasons, too; browsers do so from text fields only. */
function submitByEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.target instanceof HTMLSelectElement)) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}

function NoReasons({ isAdmin }: { isAdmin: boolean }) {
  if (!isAdmin) return 'There are no reasons yet: ask an administrator for some.'
  return (
    <>
      There are no reasons yet:{' '}
      <a className="linked" href="/settings/fields?source=deal">
        add some
      </a>
      .
    </>
  )
}
