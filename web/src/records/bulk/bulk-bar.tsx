/** The bulk actions for the selected records. */
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Field } from '../../api/api.ts'
import { type ListRequest, queryClient, type Stage, stagesQuery } from '../../api/queries.ts'
import { CloseDialog } from '../../board/close-dialog.tsx'
import { kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { FieldPicker } from '../../list/field-picker.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { offsetMessages } from '../../ui/message-offset.ts'
import { stageTransition } from '../editing/deal-rules.ts'
import { serializeValue } from '../editing/draft.ts'
import type { BulkAction } from './run-action.ts'
import { countSelected, type Selection } from './selection.ts'
import type { Failures, Progress } from './use-bulk.ts'

type Props = {
  resource: string
  request: ListRequest
  fields: readonly Field[]
  selection: Selection
  total: number
  reason: string | undefined
  progress: Progress | null
  onRun: (action: BulkAction) => void
  onStop: () => void
  onClear: () => void
  /** fields that have buttons of their own */
  quick?: readonly Field[]
  /** other buttons */
  children?: ReactNode
}

const nothingQuick: readonly Field[] = []

export function BulkBar(props: Props) {
  const { resource, request, fields, selection, total, reason, progress, onRun, onStop, onClear } = props
  const { quick = nothingQuick, children } = props
  const format = useFormat()
  // `any`: the field is not chosen yet.
  const [editing, setEditing] = useState<Field | 'any' | null>(null)
  const count = countSelected(selection, total)
  if (count === 0 && !progress) return null
  return (
    <section
      ref={offsetMessages}
      aria-label="Selected"
      className="flex min-h-12 flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2"
    >
      {progress ? (
        <>
          <progress
            aria-label={progress.label}
            max={progress.count || undefined}
            value={progress.count ? progress.finished : undefined}
            className="h-2 w-40"
          />
          <span className="grow tabular">{progress.label}</span>
          <Button onPress={onStop}>Stop</Button>
        </>
      ) : (
        <>
          <strong className="tabular">{format.number(count)} selected</strong>
          <span className="grow" />
          {request.deleted ? (
            <Button reason={reason} onPress={() => onRun({ type: 'restore' })}>
              Restore
            </Button>
          ) : (
            <>
              {children}
              {quick.map(field => (
                <Button key={field.internal_name} reason={reason} onPress={() => setEditing(field)}>
                  {field.field_name}…
                </Button>
              ))}
              <Button reason={reason} onPress={() => setEditing('any')}>
                Change a field…
              </Button>
              <Button reason={reason} className="text-lost" onPress={() => onRun({ type: 'delete' })}>
                Delete
              </Button>
            </>
          )}
          <IconButton label="Clear the selection" onPress={onClear}>
            <X size={15} aria-hidden />
          </IconButton>
        </>
      )}
      {editing && (
        <BulkDialog
          {...{ resource, fields, count }}
          first={editing === 'any' ? null : editing}
          onClose={() => setEditing(null)}
          onDone={values => {
            setEditing(null)
            onRun({ type: 'change', values })
          }}
        />
      )}
    </section>
  )
}

type DialogProps = {
  resource: string
  fields: readonly Field[]
  count: number
  /** the chosen field; null: none */
  first: Field | null
  onClose: () => void
  onDone: (values: { readonly [field: string]: unknown }) => void
}

function BulkDialog({ resource, fields, count, first, onClose, onDone }: DialogProps) {
  const format = useFormat()
  const [field, setField] = useState(first)
  const [draft, setDraft] = useState<unknown>(null)
  const [error, setError] = useState<string>()
  const [closing, setClosing] = useState<Stage | null>(null)
  const title = `Change ${format.number(count)} at once`
  if (closing)
    return (
      <CloseDialog
        count={count}
        stage={closing}
        onClose={() => setClosing(null)}
        onClosed={more => onDone({ [field!.internal_name]: draft, ...more })}
      />
    )
  const finish = async () => {
    if (!field) return
    const isEmpty = draft === null || draft === ''
    const wrong = isEmpty ? undefined : kindOf(field).check?.(draft, field)
    const missing = isEmpty && field.is_required ? 'This is required.' : undefined
    if (wrong || missing) return setError(wrong ?? missing)
    const isDeal = resource === 'deal'
    const stages = isDeal ? await queryClient.ensureQueryData(stagesQuery).catch(() => []) : []
    // Some of the selected deals may still be open.
    const transition = stageTransition({}, { [field.internal_name]: draft }, stages)
    if (transition) setClosing(transition.to)
    else onDone({ [field.internal_name]: serializeValue(field, draft) })
  }
  const { Input } = field ? kindOf(field) : { Input: null }
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {field && Input ? (
        <form
          noValidate
          onSubmit={event => {
            event.preventDefault()
            void finish()
          }}
        >
          <Input
            value={draft}
            onChange={value => {
              setError(undefined)
              setDraft(value)
            }}
            {...{ field, error }}
            label={field.field_name}
            autoFocus
          />
          {!field.is_required && (
            <p className="mt-1 text-sm text-ink-faint">
              If you leave it empty, the field is cleared in all of them.
            </p>
          )}
          <DialogActions>
            <Button variant="quiet" onPress={() => setField(null)}>
              Other field
            </Button>
            <Button type="submit" variant="primary">
              Change all {format.number(count)}
            </Button>
          </DialogActions>
        </form>
      ) : (
        <FieldPicker
          label="Field to change"
          fields={fields.filter(({ is_read_only }) => !is_read_only)}
          onPick={picked => {
            setDraft(null)
            setField(picked)
          }}
        />
      )}
    </Dialog>
  )
}

/** The refused records or cells, each with the reason. */
export function FailuresDialog({ failures, onClose }: { failures: Failures; onClose: () => void }) {
  const { title, list, retry } = failures
  const most = 200
  return (
    <Dialog title={title} isOpen onClose={onClose} width="wide" role="alertdialog">
      <ul className="max-h-[50vh] divide-y divide-line overflow-auto">
        {list.slice(0, most).map(({ name, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several may have one name
          <li key={index} className="py-1.5">
            <span className="font-medium" dir="auto">
              {name}
            </span>
            <span className="block text-ink-soft">{reason}</span>
          </li>
        ))}
      </ul>
      {list.length > most && <p className="pt-2 text-ink-faint">And {list.length - most} more.</p>}
      <DialogActions>
        <Button variant={retry ? 'quiet' : 'primary'} onPress={onClose}>
          Close
        </Button>
        {retry && (
          <Button variant="primary" onPress={retry}>
            Retry those
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
