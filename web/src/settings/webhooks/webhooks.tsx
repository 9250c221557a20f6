/** Webhooks: whom the service tells of what happens, and how that goes. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, Plus } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, ask } from '../../api/api.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Badge, Empty, Waiting } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { PageHead } from '../../ui/page.tsx'
import { ChipPicker } from '../chip-picker.tsx'
import { Body, OnceDialog, Panel } from '../parts.tsx'
import { RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { useOpened } from '../use-opened.ts'
import { eventTypes } from './event-types.ts'
import { WebhookPage } from './webhook-page.tsx'

type Made = { readonly id: number; readonly secret: string | null }
const inUse = 1
const texts = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [])

export function Webhooks() {
  const { id } = useSearch({ strict: false }) as { id?: string }
  const { data: webhooks } = useQuery(recordsQuery('webhook', 'id:asc', { user: 'user' }))
  const shown = id ? webhooks?.find(webhook => String(webhook.id) === id) : undefined
  if (!id) return <WebhookList webhooks={webhooks} />
  return (
    <>
      <PageHead title="Webhooks" />
      <Body>
        <Link
          to="/settings/$page"
          params={{ page: 'webhooks' }}
          className="linked inline-flex items-center gap-1"
        >
          <ChevronLeft size={14} aria-hidden /> All webhooks
        </Link>
        {!webhooks && <Waiting className="h-64" />}
        {webhooks && !shown && <Empty title="There is no such webhook." />}
        {shown && <WebhookPage key={shown.id} webhook={shown} />}
      </Body>
    </>
  )
}

function WebhookList({ webhooks }: { webhooks: readonly AnyRecord[] | undefined }) {
  const reason = useReadOnlyReason('webhook')
  const navigate = useNavigate()
  const [isNew, setNew] = useOpened(true)
  const [made, setMade] = useState<Made | null>(null)
  const open = (id: number) =>
    navigate({ to: '/settings/$page', params: { page: 'webhooks' }, search: { id: String(id) } })
  return (
    <>
      <PageHead title="Webhooks">
        <Button look="primary" reason={reason} onPress={() => setNew(true)}>
          <Plus size={14} aria-hidden /> New webhook
        </Button>
      </PageHead>
      <Body>
        <Panel
          title="Webhooks"
          detail="A webhook tells another program of what happens, within a moment, by signed requests to its address."
        >
          <RecordTable
            source="webhook"
            label="Webhooks"
            records={webhooks}
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
              events: webhook => <span className="text-ink-soft">{texts(webhook.events).join(', ')}</span>,
              is_active: webhook => <State webhook={webhook} />,
            }}
            actionsWidth="w-20"
            empty="Nobody is told of changes yet."
            actions={webhook => (
              <Button
                isSmall
                look="quiet"
                aria-label={`Open ${webhook.name ?? webhook.url}`}
                onPress={() => void open(webhook.id)}
              >
                Open
              </Button>
            )}
          />
        </Panel>
      </Body>
      {isNew && (
        <WebhookDialog
          onClose={() => setNew(null)}
          onMade={answer => {
            setNew(null)
            setMade(answer)
          }}
        />
      )}
      {made && (
        <OnceDialog
          title="The webhook’s secret"
          label="Secret"
          secret={made.secret ?? ''}
          onClose={() => {
            setMade(null)
            void open(made.id)
          }}
        >
          The receiver checks with it that requests come from here. It is shown only now.
        </OnceDialog>
      )}
    </>
  )
}

export function State({ webhook }: { webhook: AnyRecord }) {
  if (webhook.is_active !== inUse)
    return <Badge look={webhook.disabled_reason ? 'lost' : 'plain'}>paused</Badge>
  return webhook.failing_since ? <Badge look="warn">failing</Badge> : <Badge look="won">in use</Badge>
}

/** Makes a webhook, or changes one. */
export function WebhookDialog(props: {
  webhook?: AnyRecord
  onClose: () => void
  onMade?: (made: Made) => void
}) {
  const { webhook, onClose, onMade } = props
  const make = async (body: object) => {
    onMade?.(await ask<Made>('POST', '/webhook', { body }))
  }
  return (
    <RecordDialog
      source="webhook"
      names={['name', 'url', 'filter', 'user']}
      title={webhook ? 'Edit the webhook' : 'New webhook'}
      detail="It tells what its user may read and see, and nothing else."
      action={webhook ? 'Save' : 'Create'}
      said={({ name, url }) => `Saved the webhook “${name ?? url}”`}
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
          chosen={texts(draft.events)}
          onChange={events => change({ events })}
          error={problems.events}
          hint="A filter, such as deal_value:gt(10000), narrows them to the records that match."
        />
      )}
    </RecordDialog>
  )
}
