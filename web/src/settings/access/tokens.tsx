/** Tokens, by which programs ask the service: made, shown once, rotated and revoked. */
import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, ask, type Named, sayError } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Badge } from '../../ui/bits.tsx'
import { Button, Cancel, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Select } from '../../ui/inputs.tsx'
import { PageHead } from '../../ui/page.tsx'
import { toastError } from '../../ui/toast.tsx'
import { Body, DeleteDialog, OnceDialog, Panel } from '../parts.tsx'
import type { Problems } from '../placed.ts'
import { type Draft, RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { readAgain } from '../saving.ts'
import { useOpened } from '../use-opened.ts'
import { ScopeTable } from './scope-table.tsx'
import { everything, sayScopes } from './scopes.ts'

type Made = { readonly name: string; readonly token: string | null }
type Opened =
  | { readonly how: 'new' }
  | { readonly how: 'edit' | 'rotate' | 'revoke'; readonly token: AnyRecord }
  | { readonly how: 'secret'; readonly made: Made }
  | null

const texts = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [])

export function Tokens() {
  const me = useMe()
  const reason = useReadOnlyReason('token')
  const { data: tokens } = useQuery(recordsQuery('token', 'id:desc', { user: 'user' }))
  const [opened, setOpened] = useOpened<Opened>({ how: 'new' })
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Tokens">
        <Button look="primary" reason={reason} onPress={() => setOpened({ how: 'new' })}>
          <Plus size={14} aria-hidden /> New token
        </Button>
      </PageHead>
      <Body>
        <Panel
          title="Tokens"
          detail="A program asks with a token of its own. It may do what its scopes and the role of its user both allow."
        >
          <RecordTable
            source="token"
            label="Tokens"
            records={tokens}
            columns={['name', 'user', 'scopes', 'last_used_at']}
            cells={{
              name: token => (
                <>
                  <Name token={token} />
                  <span className="block font-normal whitespace-normal text-ink-soft sm:hidden">
                    {userOf(token)} · {sayScopes(texts(token.scopes))} · used{' '}
                    <LastUsed at={token.last_used_at as string | null} />
                  </span>
                </>
              ),
              scopes: token => <span className="text-ink-soft">{sayScopes(texts(token.scopes))}</span>,
              last_used_at: token => <LastUsed at={token.last_used_at as string | null} />,
            }}
            actionsWidth="w-32"
            empty="There is no token."
            actions={token => (
              <>
                <IconButton
                  label={`Edit ${token.name}`}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', token })}
                >
                  <Pencil size={14} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Rotate ${token.name}`}
                  reason={reason}
                  onPress={() => setOpened({ how: 'rotate', token })}
                >
                  <RotateCw size={14} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Revoke ${token.name}`}
                  reason={reason}
                  onPress={() => setOpened({ how: 'revoke', token })}
                >
                  <Trash2 size={14} aria-hidden />
                </IconButton>
              </>
            )}
          />
        </Panel>
      </Body>
      {(opened?.how === 'new' || opened?.how === 'edit') && (
        <TokenDialog
          token={opened.how === 'edit' ? opened.token : undefined}
          mayGiveAway={may(me, everything)}
          onClose={close}
          onMade={made => setOpened({ how: 'secret', made })}
        />
      )}
      {opened?.how === 'rotate' && (
        <Rotate token={opened.token} onClose={close} onMade={made => setOpened({ how: 'secret', made })} />
      )}
      {opened?.how === 'secret' && (
        <OnceDialog
          title={`The token “${opened.made.name}”`}
          label="Token"
          secret={opened.made.token ?? ''}
          onClose={close}
        >
          Keep it where secrets are kept. It is shown only now; the service itself doesn’t know it any more.
        </OnceDialog>
      )}
      {opened?.how === 'revoke' && (
        <DeleteDialog
          verb="Revoke"
          what={`the token “${opened.token.name}”`}
          path={`/token/${opened.token.id}`}
          said={`Revoked the token “${opened.token.name}”`}
          onClose={close}
        >
          <p className="text-ink-soft">
            Whatever asks with it is refused from now on. It can’t be brought back.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}

function userOf({ user, _expanded }: AnyRecord): string {
  const named = _expanded?.user as Named | null | undefined
  return named?.name ?? `user no. ${user}`
}

function Name({ token }: { token: AnyRecord }) {
  const format = useFormat()
  const expires = token.expires_at as string | null
  const isPast = expires !== null && new Date(expires) < new Date()
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2">
      <span className="min-w-0 truncate">{String(token.name)}</span>
      <code className="text-sm font-normal text-ink-faint">{String(token.prefix ?? '')}…</code>
      {expires && (
        <Badge look={isPast ? 'lost' : 'plain'}>
          {isPast ? 'expired' : `until ${format.date(format.dateOf(expires))}`}
        </Badge>
      )}
    </span>
  )
}

function LastUsed({ at }: { at: string | null }) {
  const format = useFormat()
  if (!at) return <span className="text-ink-faint">never</span>
  return (
    <time dateTime={at} title={format.fullMoment(at)}>
      {format.ago(at)}
    </time>
  )
}

function TokenDialog(props: {
  token: AnyRecord | undefined
  mayGiveAway: boolean
  onClose: () => void
  onMade: (made: Made) => void
}) {
  const { token, mayGiveAway, onClose, onMade } = props
  const me = useMe()
  const { data: roles } = useQuery({ ...recordsQuery('role', 'id:asc'), enabled: may(me, 'role:read') })
  const known = [...me.scopes, ...(roles ?? []).flatMap(({ scopes }) => texts(scopes))]
  const begun = { scopes: ['deal:read'], ...(mayGiveAway ? { user: me.user.id } : {}) }
  const make = async (body: object) => onMade(await ask<Made>('POST', '/token', { body }))
  return (
    <RecordDialog
      source="token"
      names={mayGiveAway && !token ? ['name', 'user', 'expires_at'] : ['name', 'expires_at']}
      title={token ? `Edit the token “${token.name}”` : 'New token'}
      action={token ? 'Save' : 'Create'}
      said={({ name }) => `Saved the token “${name}”`}
      record={token}
      {...(token ? {} : { prefill: begun, write: make, onDone: () => {} })}
      problemFields={['scopes']}
      check={hasScopes}
      onClose={onClose}
    >
      {(draft, change, problems) => (
        <ScopeTable
          scopes={texts(draft.scopes)}
          known={known}
          error={problems.scopes}
          onChange={scopes => change({ scopes })}
        />
      )}
    </RecordDialog>
  )
}

const hasScopes = ({ scopes }: Draft): Problems =>
  texts(scopes).length > 0 ? {} : { scopes: 'Tick something: with nothing, the token may do nothing.' }

const overlaps = [
  { id: '0', name: 'Ends at once' },
  { id: '1', name: 'Works for another hour' },
  { id: '24', name: 'Works for another day' },
]

function Rotate(props: { token: AnyRecord; onClose: () => void; onMade: (made: Made) => void }) {
  const { token, onClose, onMade } = props
  const [hours, setHours] = useState('24')
  const [isBusy, setBusy] = useState(false)
  const rotate = async () => {
    setBusy(true)
    try {
      onMade(await ask<Made>('POST', `/token/${token.id}/rotate`, { body: { overlap_hours: Number(hours) } }))
      void readAgain()
    } catch (error) {
      toastError(sayError(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Rotate the token “${token.name}”?`} role="alertdialog" isOpen onClose={onClose}>
      <p className="pb-3 text-ink-soft">You get another secret for the same rights.</p>
      <Select
        label="The old secret"
        value={hours}
        onChange={value => setHours(value ?? '0')}
        choices={overlaps}
      />
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button look="primary" isPending={isBusy} onPress={() => void rotate()}>
          Rotate
        </Button>
      </DialogActions>
    </Dialog>
  )
}
