/** The bulk actions for the selected records. */
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Field } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { offsetMessages } from '../../ui/offsets.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import type { BulkAction } from './run-action.ts'
import { countSelected, type Selection } from './selection.ts'
import { SelectionSums } from './selection-sums.tsx'
import type { Failures, Progress } from './use-bulk.ts'

type Props = {
  resource: string
  request: ListRequest
  fields: readonly Field[]
  selection: Selection
  total: number
  reason: string | undefined
  progress: Progress | null
  /** resolves once it has begun: false if it could not */
  onRun: (action: BulkAction) => Promise<boolean>
  onStop: () => void
  onClear: () => void
  /** fields of which the sums are shown */
  summed?: readonly Field[]
  /** fields that have buttons of their own */
  quick?: readonly Field[]
  /** other buttons */
  children?: ReactNode
}

const none: readonly Field[] = []

export function BulkBar(props: Props) {
  const { resource, request, fields, selection, total, reason, progress, onRun, onStop, onClear } = props
  const { quick = none, summed = none, children } = props
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
          {summed.length > 0 && <SelectionSums {...{ resource, request, selection }} fields={summed} />}
          <span className="grow" />
          {request.deleted ? (
            <Button reason={reason} onPress={() => void onRun({ type: 'restore' })}>
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
                Change fields…
              </Button>
              <Button reason={reason} className="text-lost" onPress={() => void onRun({ type: 'delete' })}>
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
          {...{ resource, request, selection, fields, count }}
          first={editing === 'any' ? null : editing}
          onClose={() => {
            setEditing(null)
            onStop()
          }}
          onDone={async values => {
            if (await onRun({ type: 'change', values })) setEditing(null)
          }}
        />
      )}
    </section>
  )
}

/** The refused records or cells, each with the reason. */
export function FailuresDialog({ failures, onClose }: { failures: Failures; onClose: () => void }) {
  const { title, count, list, retry } = failures
  const format = useFormat()
  const shown = list.slice(0, 200)
  const left = count - shown.length
  return (
    <Dialog title={title} isOpen onClose={onClose} width="wide" role="alertdialog">
      <ul className="max-h-[50vh] divide-y divide-line overflow-auto">
        {shown.map(({ name, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several may have one name
          <li key={index} className="py-1.5">
            <span className="font-medium" dir="auto">
              {name}
            </span>
            <span className="block text-ink-soft">{reason}</span>
          </li>
        ))}
      </ul>
      {left > 0 && <p className="pt-2 text-ink-faint">And {format.number(left)} more.</p>}
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
