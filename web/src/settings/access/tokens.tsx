/** Tokens for programs: created, shown once, rotated and revoked. */
import { useQuery } from '@tanstack/react-query'
import { Plus, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, callApi, errorMessage, type Named } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button, Cancel, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/elements.tsx'
import { Select } from '../../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { toastError } from '../../ui/toast.tsx'
import type { Problems } from '../assign-problems.ts'
import { DeleteDialog, SecretDialog } from '../dialogs.tsx'
import { Explained } from '../explained.tsx'
import { type Draft, RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { stringsOf } from '../record-values.ts'
import { DeleteButton, EditButton } from '../row-buttons.tsx'
import { refetchAll } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { ScopeTable } from './scope-table.tsx'
import { everything, scopesSummary } from './scopes.ts'

type Created = { readonly name: string; readonly token: string | null }
type OpenDialog =
  | { readonly how: 'new' }
  | { readonly how: 'edit' | 'rotate' | 'revoke'; readonly token: AnyRecord }
  | { readonly how: 'secret'; readonly made: Created }
  | null

const purpose =
  'Each program uses a token of its own. A token allows what both its scopes and the role of its user allow.'

export function Tokens() {
  const me = useMe()
  const reason = useReadOnlyReason('token')
  const read = useQuery(recordsQuery('token', 'id:desc', { user: 'user' }))
  const [opened, setOpened] = useOpenDialog<OpenDialog>({ how: 'new' })
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Tokens">
        <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'new' })}>
          <Plus size={14} aria-hidden /> New token
        </Button>
      </PageHead>
      <PageBody>
        <Panel
          title="Tokens"
          detail={<Explained text={purpose} page="roles-users-and-tokens" link="How programs use a token" />}
        >
          <RecordTable
            source="token"
            label="Tokens"
            read={read}
            columns={['name', 'user', 'scopes', 'last_used_at']}
            cells={{
              name: token => (
                <>
                  <Name token={token} />
                  <span className="block font-normal whitespace-normal text-ink-soft sm:hidden">
                    {userOf(token)} · {scopesSummary(stringsOf(token.scopes))} · used{' '}
                    <LastUsed at={token.last_used_at as string | null} />
                  </span>
                </>
              ),
              scopes: token => (
                <span className="text-ink-soft">{scopesSummary(stringsOf(token.scopes))}</span>
              ),
              last_used_at: token => <LastUsed at={token.last_used_at as string | null} />,
            }}
            actionsWidth="w-32"
            empty="There is no token."
            actions={token => (
              <>
                <EditButton
                  name={token.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', token })}
                />
                <IconButton
                  label={`Rotate ${token.name}`}
                  reason={reason}
                  onPress={() => setOpened({ how: 'rotate', token })}
                >
                  <RotateCw size={14} aria-hidden />
                </IconButton>
                <DeleteButton
                  name={token.name}
                  verb="Revoke"
                  reason={reason}
                  onPress={() => setOpened({ how: 'revoke', token })}
                />
              </>
            )}
          />
        </Panel>
      </PageBody>
      {(opened?.how === 'new' || opened?.how === 'edit') && (
        <TokenDialog
          token={opened.how === 'edit' ? opened.token : undefined}
          mayGiveAway={may(me, everything)}
          onClose={close}
          onCreated={made => setOpened({ how: 'secret', made })}
        />
      )}
      {opened?.how === 'rotate' && (
        <Rotate token={opened.token} onClose={close} onCreated={made => setOpened({ how: 'secret', made })} />
      )}
      {opened?.how === 'secret' && (
        <SecretDialog
          title={`The token “${opened.made.name}”`}
          label="Token"
          secret={opened.made.token ?? ''}
          onClose={close}
        >
          Keep it in a safe place. It is shown only now: the service stores a hash of it.
        </SecretDialog>
      )}
      {opened?.how === 'revoke' && (
        <DeleteDialog
          verb="Revoke"
          what={`the token “${opened.token.name}”`}
          path={`/token/${opened.token.id}`}
          message={`Revoked the token “${opened.token.name}”`}
          onClose={close}
        >
          <p className="text-ink-soft">Requests with it are refused from now on. This can’t be undone.</p>
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
        <Badge variant={isPast ? 'lost' : 'plain'}>
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
  onCreated: (made: Created) => void
}) {
  const { token, mayGiveAway, onClose, onCreated } = props
  const me = useMe()
  const { data: roles } = useQuery({ ...recordsQuery('role', 'id:asc'), enabled: may(me, 'role:read') })
  const known = [...me.scopes, ...(roles ?? []).flatMap(({ scopes }) => stringsOf(scopes))]
  const begun = { scopes: ['deal:read'], ...(mayGiveAway ? { user: me.user.id } : {}) }
  const make = async (body: object) => onCreated(await callApi<Created>('POST', '/token', { body }))
  return (
    <RecordDialog
      source="token"
      names={mayGiveAway && !token ? ['name', 'user', 'expires_at'] : ['name', 'expires_at']}
      title={token ? `Edit the token “${token.name}”` : 'New token'}
      action={token ? 'Save' : 'Create'}
      message={({ name }) => `Saved the token “${name}”`}
      record={token}
      {...(token ? {} : { prefill: begun, write: make, onDone: () => {} })}
      problemFields={['scopes']}
      check={hasScopes}
      onClose={onClose}
    >
      {(draft, change, problems) => (
        <ScopeTable
          scopes={stringsOf(draft.scopes)}
          known={known}
          error={problems.scopes}
          onChange={scopes => change({ scopes })}
        />
      )}
    </RecordDialog>
  )
}

const hasScopes = ({ scopes }: Draft): Problems =>
  stringsOf(scopes).length > 0 ? {} : { scopes: 'Choose at least one permission.' }

const overlaps = [
  { id: '0', name: 'Ends at once' },
  { id: '1', name: 'Works for another hour' },
  { id: '24', name: 'Works for another day' },
]

function Rotate(props: { token: AnyRecord; onClose: () => void; onCreated: (made: Created) => void }) {
  const { token, onClose, onCreated } = props
  const [hours, setHours] = useState('24')
  const [isBusy, setBusy] = useState(false)
  const rotate = async () => {
    setBusy(true)
    try {
      onCreated(
        await callApi<Created>('POST', `/token/${token.id}/rotate`, {
          body: { overlap_hours: Number(hours) },
        }),
      )
      void refetchAll()
    } catch (error) {
      toastError(errorMessage(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Rotate the token “${token.name}”?`} role="alertdialog" isOpen onClose={onClose}>
      <p className="pb-3 text-ink-soft">You get a new secret with the same permissions.</p>
      <Select
        label="The old secret"
        value={hours}
        onChange={value => setHours(value ?? '0')}
        choices={overlaps}
      />
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button variant="primary" isPending={isBusy} onPress={() => void rotate()}>
          Rotate
        </Button>
      </DialogActions>
    </Dialog>
  )
}
