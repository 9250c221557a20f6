/** What users may do, which records they see and change, and which fields are hidden from them or locked. */
import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, ask } from '../api/api.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { Badge } from '../ui/bits.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { PageHead } from '../ui/page.tsx'
import { Body, DeleteDialog, Panel } from './parts.tsx'
import { RecordDialog } from './record-dialog.tsx'
import { RecordTable, recordsQuery } from './record-table.tsx'
import { FieldPicker, Reach } from './role-parts.tsx'
import { attempt } from './saving.ts'
import { ScopeTable } from './scope-table.tsx'
import { sayScopes } from './scopes.ts'

const own = ['scopes', 'visibility', 'may_change', 'hidden_fields', 'locked_fields'] as const
const texts = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [])

export function Roles() {
  const reason = useReadOnlyReason('role')
  const { data: roles } = useQuery(recordsQuery('role', 'id:asc'))
  const [opened, setOpened] = useState<{ how: 'edit' | 'delete'; role?: AnyRecord } | null>(null)
  const close = () => setOpened(null)
  const role = opened?.role
  const known = (roles ?? []).flatMap(({ scopes }) => texts(scopes))
  return (
    <>
      <PageHead title="Roles">
        <Button look="primary" reason={reason} onPress={() => setOpened({ how: 'edit' })}>
          <Plus size={14} aria-hidden /> New role
        </Button>
      </PageHead>
      <Body>
        <Panel
          title="Roles"
          detail="Every user has one. The four that come with the account can be renamed, and not deleted."
        >
          <RecordTable
            source="role"
            label="Roles"
            records={roles}
            columns={['name', 'scopes', 'hidden_fields']}
            cells={{
              name: row => (
                <span className="flex min-w-0 items-center gap-2">
                  <span className="min-w-0 truncate">{String(row.name)}</span>
                  {row.built_in !== null && <Badge>built in</Badge>}
                </span>
              ),
              scopes: row => <span className="text-ink-soft">{sayScopes(texts(row.scopes))}</span>,
              hidden_fields: row => (
                <span className="text-ink-soft">{texts(row.hidden_fields).join(', ') || '—'}</span>
              ),
            }}
            empty="There is no role."
            actions={row => (
              <>
                <IconButton
                  label={`Edit ${row.name}`}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', role: row })}
                >
                  <Pencil size={14} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Delete ${row.name}`}
                  reason={reason ?? (row.built_in === null ? undefined : 'It comes with the account.')}
                  onPress={() => setOpened({ how: 'delete', role: row })}
                >
                  <Trash2 size={14} aria-hidden />
                </IconButton>
              </>
            )}
          />
        </Panel>
      </Body>
      {opened?.how === 'edit' && <RoleDialog role={role} known={known} onClose={close} />}
      {opened?.how === 'delete' && role && (
        <DeleteDialog
          what={`the role “${role.name}”`}
          path={`/role/${role.id}`}
          said={`Deleted the role “${role.name}”`}
          undo={() =>
            void attempt(() => ask('POST', `/role/${role.id}/restore`), `Restored the role “${role.name}”`)
          }
          onClose={close}
        >
          <p className="text-ink-soft">Its users need another role first.</p>
        </DeleteDialog>
      )}
    </>
  )
}

function RoleDialog(props: { role: AnyRecord | undefined; known: string[]; onClose: () => void }) {
  const { role, known, onClose } = props
  const isAdministrator = role?.built_in === 'administrator'
  const empty = {
    scopes: ['deal:read'],
    visibility: {},
    may_change: {},
    hidden_fields: [],
    locked_fields: [],
  }
  return (
    <RecordDialog
      source="role"
      names={['name']}
      title={role ? `Edit the role “${role.name}”` : 'New role'}
      detail={isAdministrator ? 'It may do everything, and stays so.' : undefined}
      action={role ? 'Save' : 'Create'}
      said={({ name }) => `Saved the role “${name}”`}
      record={role}
      {...(role ? {} : { prefill: empty })}
      problemFields={own}
      onClose={onClose}
    >
      {(draft, change, problems) => {
        const scopes = texts(draft.scopes)
        const isAll = scopes.includes('admin')
        return (
          <>
            <ScopeTable
              scopes={scopes}
              known={known}
              isFixed={isAdministrator}
              error={problems.scopes}
              onChange={next => change({ scopes: next })}
            />
            {!isAll && (
              <>
                <Reach
                  visibility={draft.visibility as Record<string, string>}
                  mayChange={draft.may_change as Record<string, string>}
                  onChange={change}
                  error={problems.visibility ?? problems.may_change}
                />
                <FieldPicker
                  label="Hidden fields"
                  hint="For its users they don’t exist."
                  chosen={texts(draft.hidden_fields)}
                  error={problems.hidden_fields}
                  onChange={next => change({ hidden_fields: next })}
                />
                <FieldPicker
                  label="Locked fields"
                  hint="They are seen, and not changed."
                  chosen={texts(draft.locked_fields)}
                  error={problems.locked_fields}
                  onChange={next => change({ locked_fields: next })}
                />
              </>
            )}
          </>
        )
      }}
    </RecordDialog>
  )
}
