/** What users may do, which records they see and change, and which fields are hidden from them or locked. */
import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, ask } from '../../api/api.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Badge } from '../../ui/bits.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/inputs.tsx'
import { PageHead } from '../../ui/page.tsx'
import { Body, DeleteDialog, Panel } from '../parts.tsx'
import { type Draft, RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { attempt } from '../saving.ts'
import { useOpened } from '../use-opened.ts'
import { mayHide, mayLock } from './role-fields.ts'
import { FieldNames, FieldPicker, MissingForPages, Reach } from './role-parts.tsx'
import { ScopeTable } from './scope-table.tsx'
import { everything, sayScopes } from './scopes.ts'

const own = ['scopes', 'visibility', 'may_change', 'hidden_fields', 'locked_fields'] as const
const texts = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [])

export function Roles() {
  const reason = useReadOnlyReason('role')
  const { data: roles } = useQuery(recordsQuery('role', 'id:asc'))
  const [opened, setOpened] = useOpened<{ how: 'edit' | 'delete'; role?: AnyRecord }>({ how: 'edit' })
  const close = () => setOpened(null)
  const role = opened?.role
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
              hidden_fields: row => <FieldNames ids={texts(row.hidden_fields)} />,
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
      {opened?.how === 'edit' && <RoleDialog role={role} roles={roles ?? []} onClose={close} />}
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

/** What a new role takes over from another. */
const takenFrom = (role: AnyRecord | undefined): Draft =>
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
  const known = roles.flatMap(({ scopes }) => texts(scopes))
  // Who made a role of nothing would forget what the pages need.
  const models = roles.filter(({ scopes }) => !texts(scopes).includes(everything))
  const [model, setModel] = useState(models.find(({ built_in }) => built_in === 'member') ?? models[0])
  return (
    <RecordDialog
      source="role"
      names={['name']}
      title={role ? `Edit the role “${role.name}”` : 'New role'}
      detail={isAdministrator ? 'It may do everything, and stays so.' : undefined}
      action={role ? 'Save' : 'Create'}
      said={({ name }) => `Saved the role “${name}”`}
      record={role}
      {...(role ? {} : { prefill: takenFrom(model) })}
      problemFields={own}
      onClose={onClose}
    >
      {(draft, change, problems) => {
        const scopes = texts(draft.scopes)
        const isAll = scopes.includes('admin')
        return (
          <>
            {model && !role && (
              <Select
                label="Start from"
                value={model.id}
                onChange={id => {
                  const next = models.find(one => String(one.id) === id)
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
                <Reach
                  visibility={draft.visibility as Record<string, string>}
                  mayChange={draft.may_change as Record<string, string>}
                  onChange={change}
                  error={problems.visibility ?? problems.may_change}
                />
                <FieldPicker
                  label="Hidden fields"
                  fits={mayHide}
                  scopes={scopes}
                  hint="For its users they don’t exist."
                  chosen={texts(draft.hidden_fields)}
                  error={problems.hidden_fields}
                  onChange={next => change({ hidden_fields: next })}
                />
                <FieldPicker
                  label="Locked fields"
                  fits={mayLock}
                  scopes={scopes}
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
