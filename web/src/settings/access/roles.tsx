/** Roles: their permissions, the records that users see and change, and hidden or locked fields. */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, callApi } from '../../api/api.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, DialogLoading } from '../../ui/elements.tsx'
import { Select } from '../../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { DeleteDialog } from '../dialogs.tsx'
import { type Draft, RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { stringsOf } from '../record-values.ts'
import { DeleteButton, EditButton } from '../row-buttons.tsx'
import { saveWithToast } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { mayHide, mayLock } from './role-fields.ts'
import { FieldNames, FieldPicker, MissingForPages, RecordAccess } from './role-parts.tsx'
import { ScopeTable } from './scope-table.tsx'
import { everything, scopesSummary } from './scopes.ts'

const own = ['scopes', 'visibility', 'may_change', 'hidden_fields', 'locked_fields'] as const

export function Roles() {
  const reason = useReadOnlyReason('role')
  const read = useQuery(recordsQuery('role', 'id:asc'))
  const [opened, setOpened] = useOpenDialog<{ how: 'edit' | 'delete'; role?: AnyRecord }>({ how: 'edit' })
  const close = () => setOpened(null)
  const role = opened?.role
  return (
    <>
      <PageHead title="Roles">
        <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'edit' })}>
          <Plus size={14} aria-hidden /> New role
        </Button>
      </PageHead>
      <PageBody>
        <Panel
          title="Roles"
          detail="Every user has one. The four built-in roles can be renamed but not deleted."
        >
          <RecordTable
            source="role"
            label="Roles"
            read={read}
            columns={['name', 'scopes', 'hidden_fields']}
            cells={{
              name: row => (
                <span className="flex min-w-0 items-center gap-2">
                  <span className="min-w-0 truncate">{String(row.name)}</span>
                  {row.built_in !== null && <Badge>built in</Badge>}
                </span>
              ),
              scopes: row => <span className="text-ink-soft">{scopesSummary(stringsOf(row.scopes))}</span>,
              hidden_fields: row => <FieldNames ids={stringsOf(row.hidden_fields)} />,
            }}
            empty="There is no role."
            actions={row => (
              <>
                <EditButton
                  name={row.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', role: row })}
                />
                <DeleteButton
                  name={row.name}
                  reason={reason ?? (row.built_in === null ? undefined : 'It is built in.')}
                  onPress={() => setOpened({ how: 'delete', role: row })}
                />
              </>
            )}
          />
        </Panel>
      </PageBody>
      {opened?.how === 'edit' &&
        (read.data ? (
          <RoleDialog role={role} roles={read.data} onClose={close} />
        ) : (
          <DialogLoading label="New role" />
        ))}
      {opened?.how === 'delete' && role && (
        <DeleteDialog
          what={`the role “${role.name}”`}
          path={`/role/${role.id}`}
          message={`Deleted the role “${role.name}”`}
          undo={() =>
            void saveWithToast(
              () => callApi('POST', `/role/${role.id}/restore`),
              `Restored the role “${role.name}”`,
            )
          }
          onClose={close}
        >
          <p className="text-ink-soft">Its users need another role first.</p>
        </DeleteDialog>
      )}
    </>
  )
}

/** The draft of a new role, copied from another one. */
const takenFrom = (role: Draft | undefined): Draft =>
  role
    ? Object.fromEntries(own.map(name => [name, role[name]]))
    : { scopes: ['deal:read'], visibility: {}, may_change: {}, hidden_fields: [], locked_fields: [] }

function RoleDialog(props: {
  role: AnyRecord | undefined
  roles: readonly AnyRecord[]
  onClose: () => void
}) {
  const { role, roles, onClose } = props
  const isAdministrator = role?.built_in === 'administrator'
  const known = roles.flatMap(({ scopes }) => stringsOf(scopes))
  // A new role copies another one, so that it has the scopes of the pages.
  const models = roles.filter(({ scopes }) => !stringsOf(scopes).includes(everything))
  const [model, setModel] = useState(models.find(({ built_in }) => built_in === 'member') ?? models[0])
  return (
    <RecordDialog
      source="role"
      names={['name']}
      title={role ? `Edit the role “${role.name}”` : 'New role'}
      detail={isAdministrator ? 'It has all permissions, which can’t be changed.' : undefined}
      action={role ? 'Save' : 'Create'}
      message={({ name }) => `Saved the role “${name}”`}
      record={role}
      {...(role ? {} : { prefill: takenFrom(model) })}
      problemFields={own}
      onClose={onClose}
    >
      {(draft, change, problems) => {
        const scopes = stringsOf(draft.scopes)
        const isAll = scopes.includes('admin')
        return (
          <>
            {model && !role && (
              <Select
                label="Start from"
                value={model.id}
                onChange={id => {
                  const next = models.find(one => String(one.id) === id)
                  const isOwn = JSON.stringify(takenFrom(draft)) !== JSON.stringify(takenFrom(model))
                  const question = `What you have chosen is replaced by what ${next?.name} may do. Go on?`
                  if (isOwn && !confirm(question)) return
                  setModel(next)
                  change(takenFrom(next))
                }}
                choices={models.map(({ id, name }) => ({ id, name: String(name) }))}
                hint="The new role takes over what this one may do. Then change what is to be different."
              />
            )}
            <ScopeTable
              scopes={scopes}
              known={known}
              isFixed={isAdministrator}
              error={problems.scopes}
              onChange={next => change({ scopes: next })}
            />
            <MissingForPages scopes={scopes} onAdd={missing => change({ scopes: [...scopes, ...missing] })} />
            {!isAll && (
              <>
                <RecordAccess
                  visibility={draft.visibility as Record<string, string>}
                  mayChange={draft.may_change as Record<string, string>}
                  onChange={change}
                  error={problems.visibility ?? problems.may_change}
                />
                <FieldPicker
                  label="Hidden fields"
                  fits={mayHide}
                  scopes={scopes}
                  hint="Hidden from its users everywhere."
                  chosen={stringsOf(draft.hidden_fields)}
                  error={problems.hidden_fields}
                  onChange={next => change({ hidden_fields: next })}
                />
                <FieldPicker
                  label="Locked fields"
                  fits={mayLock}
                  scopes={scopes}
                  hint="Its users see them but can’t change them."
                  chosen={stringsOf(draft.locked_fields)}
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
