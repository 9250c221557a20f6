/** Connected agents: who they are, what they did today, and how each is stopped. */
import { useQuery } from '@tanstack/react-query'
import { Copy, OctagonX } from 'lucide-react'
import { useState } from 'react'
import type { AnyRecord, Named } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { LoadError, Loading } from '../../shell/load-error.tsx'
import { useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, EmptyState } from '../../ui/elements.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { copyText } from '../../ui/toast.tsx'
import { DeleteDialog } from '../dialogs.tsx'
import { recordsQuery } from '../record-table.tsx'
import { stringsOf } from '../record-values.ts'
import { ChangeList } from './agent-change-list.tsx'
import { type AgentChange, changesToday, todayQuery } from './agent-changes.ts'

const address = `${location.origin}/mcp`

export function Agents() {
  const me = useMe()
  const read = useQuery(recordsQuery('token', 'agent_used_at:desc', { user: 'user' }))
  const today = useQuery({ ...todayQuery(useFormat()), enabled: me.follows_events })
  const [stopping, setStopping] = useState<AnyRecord | null>(null)
  const agents = read.data?.filter(({ agent }) => agent)
  return (
    <>
      <PageHead title="Agents" />
      <PageBody>
        <Connect />
        <Loading of={[read]} className="h-40 w-full" />
        <LoadError
          error={today.error}
          isOld={today.data !== undefined}
          onRetry={() => void today.refetch()}
        />
        {agents?.length === 0 && <EmptyState title="No agent is connected." />}
        {agents?.map(token => (
          <Agent
            key={token.id}
            token={token}
            changes={today.data ? changesToday(today.data, token.id) : today.error ? null : undefined}
            onStop={() => setStopping(token)}
          />
        ))}
      </PageBody>
      {stopping && (
        <DeleteDialog
          verb="Stop"
          what={`the agent “${stopping.agent}”`}
          path={`/token/${stopping.id}`}
          message={`Stopped the agent “${stopping.agent}”`}
          onClose={() => setStopping(null)}
        >
          <p className="text-ink-soft">
            Its token “{String(stopping.name)}” is revoked: it is refused within a second. What it has written
            stays.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}

function Connect() {
  return (
    <Panel
      title="Connect an agent"
      detail="Claude, ChatGPT, Cursor and others: paste this address where they add a server or connector. They ask you here what they may do."
      className="flex flex-wrap items-center gap-3 p-4"
    >
      <code className="min-w-0 grow truncate">{address}</code>
      <Button onPress={() => void copyText(address, 'Copied the address')}>
        <Copy size={14} aria-hidden /> Copy
      </Button>
      <a className="linked" href="/docs/agents">
        How to connect
      </a>
    </Panel>
  )
}

function Agent(props: {
  token: AnyRecord
  changes: readonly AgentChange[] | null | undefined
  onStop: () => void
}) {
  const { token, changes, onStop } = props
  const me = useMe()
  const reason = useReadOnlyReason('token')
  const format = useFormat()
  const used = token.agent_used_at as string | null
  const user = token._expanded?.user as Named | null | undefined
  const isOthers = token.user !== me.user.id
  return (
    <Panel
      title={String(token.agent)}
      detail={
        <>
          {token.agent_host ? `${token.agent_host} · ` : ''}
          {isOthers ? `for ${user?.name ?? `user no. ${token.user}`} · ` : ''}
          {used ? (
            <time dateTime={used} title={format.fullMoment(used)}>
              used {format.ago(used)}
            </time>
          ) : (
            'not used yet'
          )}
        </>
      }
      actions={
        <>
          <Allowed scopes={stringsOf(token.scopes)} />
          <Button variant="danger" reason={reason} onPress={onStop}>
            <OctagonX size={14} aria-hidden /> Stop
          </Button>
        </>
      }
      className="p-4"
    >
      {me.follows_events ? (
        <ChangeList changes={changes} agent={String(token.agent)} />
      ) : (
        <p className="text-ink-soft">
          Your role sees only some records, so what it did is shown in the timeline of each record.
        </p>
      )}
    </Panel>
  )
}

function Allowed({ scopes }: { scopes: readonly string[] }) {
  const mayWrite = scopes.some(scope => scope === 'admin' || scope.endsWith(':write'))
  if (scopes.includes('mcp:write')) return <Badge variant="lost">writes without asking</Badge>
  return <Badge variant="plain">{mayWrite ? 'asks before it writes' : 'reads only'}</Badge>
}
