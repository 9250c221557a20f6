/**
 * Won or lost: asks for reason and date before anything is saved, whatever started the move (rules 2 and 3).
 * The value of one deal can be corrected with it, and a note added (D171). Reopening a deal shows the values
 * that are removed.
 */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { aboutRecord } from '../activities/about.ts'
import { MentionArea } from '../activities/mention-area.tsx'
import { useUnsavedNote } from '../activities/notes.ts'
import type { AnyRecord, Field } from '../api/api.ts'
import { optionsQuery, recordQuery } from '../api/queries.ts'
import { closingWord, type StageKind, stageKinds } from '../api/stage-kind.ts'
import { useCurrencies } from '../fields/currencies.ts'
import type { DealValue } from '../fields/deal-amount.ts'
import { checkMoney, type Money, writeMoney } from '../fields/kinds/money.tsx'
import { MoneyBox } from '../fields/money-box.tsx'
import { useFormat } from '../format/use-format.tsx'
import { useFields } from '../list/use-fields.ts'
import { unsavedClosings } from '../records/editing/unsaved-closing.ts'
import { LoadError } from '../shell/load-error.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Labelled, Select, TextField } from '../ui/inputs.tsx'
import { byCtrlEnter } from '../ui/keys.ts'

/** The fields that closing a deal requires in addition to the stage, and its value if that was corrected. */
export type Closing = {
  readonly won_reason?: number
  readonly lost_reason?: number
  readonly deal_closed_on?: string
  readonly deal_value?: ReturnType<typeof writeMoney> | null
}

type Props = {
  deal?: AnyRecord & { readonly title: string }
  /** number of deals, if it is several */
  count?: number
  stage: { readonly name: string; readonly kind: StageKind }
  onClose: () => void
  /** gets the additional values to send, and the note to add once they are saved */
  onClosed: (closing: Closing, note: string) => void
}

/** The dialog of a move to a stage of another kind. `from` is the kind of the deal's stage. */
export function MoveDialog({ from, ...props }: Props & { from: StageKind | undefined }) {
  if (props.stage.kind !== stageKinds.open) return <CloseDialog {...props} />
  return <ReopenDialog from={from} {...props} />
}

/** Without a `deal`, it is some of several that are reopened. */
function ReopenDialog({ from, deal, count = 1, onClose, onClosed }: Props & { from: StageKind | undefined }) {
  const format = useFormat()
  const isOne = count === 1
  const kind = from && closingWord(from)
  return (
    <Dialog
      title={isOne ? `Reopen ${deal ? 'this' : 'one'} deal?` : `Reopen ${format.number(count)} deals?`}
      detail={isOne && deal?.title}
      isOpen
      onClose={onClose}
      role="alertdialog"
    >
      <p>
        {isOne
          ? `Its ${kind ? `${kind} ` : ''}reason and date are removed.`
          : 'Their reasons and dates are removed.'}
      </p>
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button variant="primary" autoFocus onPress={() => onClosed({}, '')}>
          Reopen
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function CloseDialog({ deal, count = 1, stage, onClose, onClosed }: Props) {
  const format = useFormat()
  const me = useMe()
  const isWon = stage.kind === stageKinds.won
  const name = isWon ? 'won_reason' : 'lost_reason'
  const reasons = useQuery(optionsQuery('deal', name))
  const options = reasons.data
  const one = count === 1 ? deal : undefined
  const [refused] = useState(() => unsavedClosings.get(one?.id ?? 0))
  const [reason, setReason] = useState(refused?.kind === stage.kind ? refused.reason : null)
  const [date, setDate] = useState(refused?.date ?? format.today())
  const [isTried, setTried] = useState(false)
  // Of another version, the value may be a colleague's.
  const amount = useAmount(one, refused?.version === one?.version ? refused?.amount : undefined)
  const about = one ? aboutRecord('deal', one) : {}
  const [note, setNote] = useUnsavedNote(about)
  const hasNote = one !== undefined && may(me, 'activity:write')
  const active = options?.filter(({ is_active }) => is_active) ?? []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!reason || !date || amount.error) return
    if (one) {
      const { id, version } = one
      const chosen = date === format.today() ? null : date
      unsavedClosings.set(id, { kind: stage.kind, reason, date: chosen, amount: amount.typed, version })
    }
    onClosed({ [name]: Number(reason), deal_closed_on: date, ...amount.changes }, hasNote ? note : '')
  }
  const cancel = () => {
    if (one) unsavedClosings.delete(one.id)
    onClose()
  }
  return (
    <Dialog
      title={isWon ? 'Mark as won' : 'Mark as lost'}
      detail={one?.title ?? `The same for all ${format.number(count)}`}
      isOpen
      onClose={cancel}
      // The note stays in any case.
      isUnsaved={reason !== null || date !== format.today() || amount.isCorrected}
    >
      <form onSubmit={submit} onKeyDown={submitByKeys} noValidate className="flex flex-col gap-4">
        <LoadError error={options ? null : reasons.error} onRetry={() => void reasons.refetch()} />
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
        {amount.field && (
          <Labelled label={amount.field.field_name} error={isTried ? amount.error : undefined}>
            {wiring => (
              <MoneyBox
                {...{ wiring, value: amount.value, onChange: amount.change }}
                label={amount.field!.field_name}
                isDisabled={amount.isLoading}
              />
            )}
          </Labelled>
        )}
        {hasNote && <MentionArea label="Note" rows={2} subjects={about} value={note} onChange={setNote} />}
        <DialogActions>
          <Cancel onPress={cancel} />
          <Button type="submit" variant={isWon ? 'won' : 'danger'}>
            {isWon ? 'Mark as won' : 'Mark as lost'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/**
 * The value of a deal, which is corrected as it closes. No `field`: the user may not change it, or there are
 * several deals. A row of a table may not have the value: it is read. `refused`: what was typed before.
 */
function useAmount(deal: AnyRecord | undefined, refused: Money | undefined) {
  const field = useFields('deal').find(isAmount)
  const isKnown = deal?.deal_value !== undefined
  const { data: read } = useQuery({
    ...recordQuery('deal', deal?.id ?? 0, ''),
    enabled: deal !== undefined && field !== undefined && !isKnown,
  })
  // They say how many decimals a value may have.
  const { isLoading } = useCurrencies()
  const [typed, setTyped] = useState(refused)
  const stored = (isKnown ? deal : read)?.deal_value as DealValue | null | undefined
  const value = typed ?? stored ?? null
  const error = field && typed && checkMoney(typed, field)
  const isCorrected =
    typed !== undefined &&
    (typed.value !== (stored?.value ?? null) || typed.currency !== (stored?.currency ?? typed.currency))
  // Null would take the product lines away: with a value of null the deal is worth them (D23).
  const isNothing = typed?.value === null && !stored?.products?.length
  const sent = isNothing ? null : typed && writeMoney(typed)
  return {
    ...{ value, typed, error, isCorrected, change: setTyped },
    field: deal && field,
    isLoading: stored === undefined || isLoading,
    changes: isCorrected ? { deal_value: sent } : {},
  }
}

const isAmount = ({ internal_name, is_read_only }: Field) => internal_name === 'deal_value' && !is_read_only

/**
 * Enter submits from the list of reasons, too; browsers do so from text fields only. In the note it begins a
 * line, so there Ctrl+Enter submits.
 */
function submitByKeys(event: KeyboardEvent<HTMLFormElement>): void {
  const form = event.currentTarget
  byCtrlEnter(() => form.requestSubmit())(event)
  if (event.defaultPrevented || event.key !== 'Enter' || !(event.target instanceof HTMLSelectElement)) return
  event.preventDefault()
  form.requestSubmit()
}

function NoReasons({ isAdmin }: { isAdmin: boolean }) {
  if (!isAdmin) return 'There are no reasons yet: ask an administrator for some.'
  return (
    <>
      There are no reasons yet: {/* In another tab: what is typed here stays. */}
      <a className="linked" href="/settings/fields?source=deal" target="_blank" rel="noreferrer">
        add some
      </a>
      .
    </>
  )
}
