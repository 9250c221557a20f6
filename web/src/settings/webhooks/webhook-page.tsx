/** One webhook: what it asks for, how it goes, and what was delivered. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type AnyRecord, ask, type Schemas, sayError } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/inputs.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { numberIn } from '../account/numbers.ts'
import { DeleteDialog, DialogForm, OnceDialog, Panel } from '../parts.tsx'
import { attempt, readAgain, useSaving } from '../saving.ts'
import { Deliveries } from './deliveries.tsx'
import { State, WebhookDialog } from './webhooks.tsx'

type Delivery = Schemas['delivery']
type Open = 'edit' | 'delete' | 'replay' | null
const inUse = 1
const texts = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [])

export function WebhookPage({ webhook }: { webhook: AnyRecord }) {
  const reason = useReadOnlyReason('webhook')
  const format = useFormat()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const close = () => setOpen(null)
  const path = `/webhook/${webhook.id}`
  const name = String(webhook.name ?? webhook.url)
  const isOn = webhook.is_active === inUse
  const since = webhook.failing_since as string | null
  const use = () =>
    attempt(
      () => ask('PATCH', path, { body: { is_active: isOn ? 'No' : 'Yes' } }),
      isOn ? `“${name}” is paused` : `“${name}” is in use, for what happens from now on`,
    )
  const rotate = async () => {
    try {
      const made = await ask<{ secret: string }>('POST', `${path}/rotate`, { body: { overlap_hours: 24 } })
      setSecret(made.secret)
      await readAgain()
    } catch (error) {
      toastError(sayError(error))
    }
  }
  return (
    <>
      <Panel
        title={name}
        detail={<span className="break-all">{String(webhook.url)}</span>}
        actions={
          <div className="flex flex-wrap gap-2">
            <Button isSmall reason={reason} onPress={() => void test(path)}>
              Send a test
            </Button>
            <Button isSmall reason={reason} onPress={() => void use()}>
              {isOn ? 'Pause' : 'Take into use'}
            </Button>
            <Button isSmall reason={reason} onPress={() => setOpen('edit')}>
              Edit
            </Button>
            <Button isSmall reason={reason} onPress={() => void rotate()}>
              New secret
            </Button>
            <Button isSmall reason={reason} onPress={() => setOpen('delete')}>
              Delete
            </Button>
          </div>
        }
      >
        {(webhook.disabled_reason || since) && (
          <p role="status" className="bg-warn-soft px-4 py-2 text-warn">
            {webhook.disabled_reason
              ? `Out of use: ${webhook.disabled_reason}`
              : `Failing since ${format.moment(since!)}: ${webhook.last_error ?? ''}`}
          </p>
        )}
        <dl className="grid gap-x-4 gap-y-1 p-4 sm:grid-cols-[140px_1fr]">
          <dt className="text-ink-soft">State</dt>
          <dd>
            <State webhook={webhook} />
          </dd>
          <dt className="text-ink-soft">Events</dt>
          <dd className="break-words">{texts(webhook.events).join(', ')}</dd>
          <dt className="text-ink-soft">Filter</dt>
          <dd className="break-words">{webhook.filter ? <code>{String(webhook.filter)}</code> : 'none'}</dd>
          <dt className="text-ink-soft">Last delivered</dt>
          <dd>{webhook.last_delivered_at ? format.moment(String(webhook.last_delivered_at)) : 'never'}</dd>
          <dt className="text-ink-soft">Has come to event</dt>
          <dd className="tabular">
            {webhook.last_seq === null ? '—' : format.number(Number(webhook.last_seq))}
          </dd>
        </dl>
      </Panel>
      <Deliveries webhook={webhook.id} reason={reason} onReplay={() => setOpen('replay')} />
      {open === 'edit' && <WebhookDialog webhook={webhook} onClose={close} />}
      {open === 'replay' && <Replay path={path} last={Number(webhook.last_seq ?? 0)} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog
          what={`the webhook “${name}”`}
          path={path}
          said={`Deleted the webhook “${name}”`}
          onClose={() => {
            close()
            void navigate({ to: '/settings/$page', params: { page: 'webhooks' } })
          }}
        >
          <p className="text-ink-soft">It can’t be brought back: its secret is gone.</p>
        </DeleteDialog>
      )}
      {secret && (
        <OnceDialog
          title={`A new secret for “${name}”`}
          label="Secret"
          secret={secret}
          onClose={() => setSecret(null)}
        >
          It is shown only now. For 24 hours requests are signed with the old one, too.
        </OnceDialog>
      )}
    </>
  )
}

async function test(path: string): Promise<void> {
  try {
    const { state, status, error, duration_ms } = await ask<Delivery>('POST', `${path}/test`)
    if (state === 'delivered')
      toast(`The test was taken: ${status}, after ${duration_ms} ms`, { isNews: true })
    else toastError(`The test failed: ${error ?? `it was answered with ${status}`}`)
  } catch (problem) {
    toastError(sayError(problem))
  }
  await readAgain()
}

function Replay({ path, last, onClose }: { path: string; last: number; onClose: () => void }) {
  const [after, setAfter] = useState(String(last))
  const { problems, isBusy, save } = useSaving(['after'])
  const replay = () => ask('POST', `${path}/replay`, { body: { after: numberIn(after) } })
  return (
    <Dialog
      title="Send events again"
      detail="All events after this one are sent again, as far as the webhook asks for them."
      isOpen
      onClose={onClose}
    >
      <DialogForm
        action="Send again"
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () => (await save(replay, 'The events are being sent again')) && onClose()}
      >
        <TextField
          label="After event"
          inputMode="numeric"
          autoFocus
          value={after}
          onChange={setAfter}
          error={problems.after}
          hint="The number of an event, or 0 for all that are kept."
        />
      </DialogForm>
    </Dialog>
  )
}
