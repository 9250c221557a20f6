/** One webhook: its events and filter, its state, and its deliveries. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type AnyRecord, callApi, errorMessage, type Schemas } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/inputs.tsx'
import { Panel } from '../../ui/page.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { DeleteDialog, DialogForm, SecretDialog } from '../dialogs.tsx'
import { numberIn } from '../number-input.ts'
import { isYes, stringsOf } from '../record-values.ts'
import { refetchAll, saveWithToast, useSaving } from '../saving.ts'
import { Deliveries } from './deliveries.tsx'
import { State, WebhookDialog } from './webhooks.tsx'

type Delivery = Schemas['delivery']
type Open = 'edit' | 'delete' | 'replay' | null

export function WebhookPage({ webhook }: { webhook: AnyRecord }) {
  const reason = useReadOnlyReason('webhook')
  const format = useFormat()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const close = () => setOpen(null)
  const path = `/webhook/${webhook.id}`
  const name = String(webhook.name ?? webhook.url)
  const isOn = isYes(webhook.is_active)
  const since = webhook.failing_since as string | null
  const use = () =>
    saveWithToast(
      () => callApi('PATCH', path, { body: { is_active: isOn ? 'No' : 'Yes' } }),
      isOn ? `“${name}” is paused` : `“${name}” is active: it sends events from now on`,
    )
  const rotate = async () => {
    try {
      const made = await callApi<{ secret: string }>('POST', `${path}/rotate`, {
        body: { overlap_hours: 24 },
      })
      setSecret(made.secret)
      await refetchAll()
    } catch (error) {
      toastError(errorMessage(error))
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
              {isOn ? 'Pause' : 'Resume'}
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
              ? `Deactivated: ${webhook.disabled_reason}`
              : `Failing since ${format.moment(since!)}: ${webhook.last_error ?? ''}`}
          </p>
        )}
        <dl className="grid gap-x-4 gap-y-1 p-4 sm:grid-cols-[140px_1fr]">
          <dt className="text-ink-soft">State</dt>
          <dd>
            <State webhook={webhook} />
          </dd>
          <dt className="text-ink-soft">Events</dt>
          <dd className="break-words">{stringsOf(webhook.events).join(', ')}</dd>
          <dt className="text-ink-soft">Filter</dt>
          <dd className="break-words">{webhook.filter ? <code>{String(webhook.filter)}</code> : 'none'}</dd>
          <dt className="text-ink-soft">Last delivered</dt>
          <dd>{webhook.last_delivered_at ? format.moment(String(webhook.last_delivered_at)) : 'never'}</dd>
          <dt className="text-ink-soft">Last event</dt>
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
          message={`Deleted the webhook “${name}”`}
          onClose={close}
          onDone={() => void navigate({ to: '/settings/$page', params: { page: 'webhooks' } })}
        >
          <p className="text-ink-soft">This can’t be undone: its secret is deleted.</p>
        </DeleteDialog>
      )}
      {secret && (
        <SecretDialog
          title={`A new secret for “${name}”`}
          label="Secret"
          secret={secret}
          onClose={() => setSecret(null)}
        >
          It is shown only now. For 24 hours requests are signed with the old one, too.
        </SecretDialog>
      )}
    </>
  )
}

async function test(path: string): Promise<void> {
  try {
    const { state, status, error, duration_ms } = await callApi<Delivery>('POST', `${path}/test`)
    if (state === 'delivered')
      toast(`The test was delivered: ${status}, after ${duration_ms} ms`, { isNews: true })
    else toastError(`The test failed: ${error ?? `it was answered with ${status}`}`)
  } catch (problem) {
    toastError(errorMessage(problem))
  }
  await refetchAll()
}

function Replay({ path, last, onClose }: { path: string; last: number; onClose: () => void }) {
  const [after, setAfter] = useState(String(last))
  const { problems, isBusy, save } = useSaving(['after'])
  const replay = () => callApi('POST', `${path}/replay`, { body: { after: numberIn(after) } })
  return (
    <Dialog
      title="Send events again"
      detail="All events after this one that match the webhook are sent again."
      isOpen
      onClose={onClose}
    >
      <DialogForm
        action="Send again"
        draft={after}
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
