/** The webhooks of the account, with their state. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, Plus } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, callApi } from '../../api/api.ts'
import { Loading } from '../../shell/load-error.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, EmptyState } from '../../ui/elements.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { ChipPicker } from '../chip-picker.tsx'
import { SecretDialog } from '../dialogs.tsx'
import { Explained } from '../explained.tsx'
import { RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { isYes, stringsOf } from '../record-values.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { eventTypes } from './event-types.ts'
import { WebhookPage } from './webhook-page.tsx'

type Created = { readonly id: number; readonly secret: string | null }

export function Webhooks() {
  const { id } = useSearch({ strict: false }) as { id?: string }
  const read = useQuery(recordsQuery('webhook', 'id:asc', { user: 'user' }))
  const webhooks = read.data
  const shown = id ? webhooks?.find(webhook => String(webhook.id) === id) : undefined
  if (!id) return <WebhookList read={read} />
  return (
    <>
      <PageHead title="Webhooks" />
      <PageBody>
        <Link
          to="/settings/$page"
          params={{ page: 'webhooks' }}
          className="linked inline-flex items-center gap-1"
        >
          <ChevronLeft size={14} aria-hidden /> All webhooks
        </Link>
        <Loading of={[read]} className="h-64" />
        {webhooks && !shown && <EmptyState title="There is no such webhook." />}
        {shown && <WebhookPage key={shown.id} webhook={shown} />}
      </PageBody>
    </>
  )
}

const purpose = 'A webhook sends signed requests to another program’s URL within moments of each event.'

function WebhookList({ read }: { read: UseQueryResult<readonly AnyRecord[]> }) {
  const reason = useReadOnlyReason('webhook')
  const navigate = useNavigate()
  const [isNew, setNew] = useOpenDialog(true)
  const [made, setMade] = useState<Created | null>(null)
  const open = (id: number) =>
    navigate({ to: '/settings/$page', params: { page: 'webhooks' }, search: { id: String(id) } })
  return (
    <>
      <PageHead title="Webhooks">
        <Button variant="primary" reason={reason} onPress={() => setNew(true)}>
          <Plus size={14} aria-hidden /> New webhook
        </Button>
      </PageHead>
      <PageBody>
        <Panel
          title="Webhooks"
          detail={<Explained text={purpose} page="receiving-webhooks" link="How to receive them" />}
        >
          <RecordTable
            source="webhook"
            label="Webhooks"
            read={read}
            columns={['name', 'events', 'is_active']}
            always={['is_active']}
            cells={{
              name: webhook => (
                <Link
                  to="/settings/$page"
                  params={{ page: 'webhooks' }}
                  search={{ id: String(webhook.id) }}
                  className="linked"
                >
                  {String(webhook.name ?? webhook.url)}
                </Link>
              ),
              events: webhook => (
                <span className="text-ink-soft">{stringsOf(webhook.events).join(', ')}</span>
              ),
              is_active: webhook => <State webhook={webhook} />,
            }}
            actionsWidth="w-20"
            empty="No webhooks yet."
            actions={webhook => (
              <Button
                isSmall
                variant="quiet"
                aria-label={`Open ${webhook.name ?? webhook.url}`}
                onPress={() => void open(webhook.id)}
              >
                Open
              </Button>
            )}
          />
        </Panel>
      </PageBody>
      {isNew && (
        <WebhookDialog
          onClose={() => setNew(null)}
          onCreated={answer => {
            setNew(null)
            setMade(answer)
          }}
        />
      )}
      {made && (
        <SecretDialog
          title="The webhook’s secret"
          label="Secret"
          secret={made.secret ?? ''}
          onClose={() => {
            setMade(null)
            void open(made.id)
          }}
        >
          The receiver checks with it that requests come from here. It is shown only now.
        </SecretDialog>
      )}
    </>
  )
}

export function State({ webhook }: { webhook: AnyRecord }) {
  if (!isYes(webhook.is_active))
    return <Badge variant={webhook.disabled_reason ? 'lost' : 'plain'}>paused</Badge>
  return webhook.failing_since ? <Badge variant="warn">failing</Badge> : <Badge variant="won">active</Badge>
}

/** Creates or edits a webhook. */
export function WebhookDialog(props: {
  webhook?: AnyRecord
  onClose: () => void
  onCreated?: (made: Created) => void
}) {
  const { webhook, onClose, onCreated } = props
  const make = async (body: object) => {
    onCreated?.(await callApi<Created>('POST', '/webhook', { body }))
  }
  return (
    <RecordDialog
      source="webhook"
      names={['name', 'url', 'filter', 'user']}
      title={webhook ? 'Edit the webhook' : 'New webhook'}
      detail="It sends only what its user may see."
      action={webhook ? 'Save' : 'Create'}
      message={({ name, url }) => `Saved the webhook “${name ?? url}”`}
      record={webhook}
      {...(webhook ? {} : { write: make, onDone: () => {}, prefill: { events: [] } })}
      problemFields={['events']}
      onClose={onClose}
    >
      {(draft, change, problems) => (
        <ChipPicker
          label="Events"
          isRequired
          none="Add an event…"
          choices={eventTypes}
          chosen={stringsOf(draft.events)}
          onChange={events => change({ events })}
          error={problems.events}
          hint="A filter, such as deal_value:gt(10000), narrows them to the records that match."
        />
      )}
    </RecordDialog>
  )
}
