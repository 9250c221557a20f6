/** The users of the account: invited, given a role and territories, deactivated, deleted. */
import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal, UserPlus } from 'lucide-react'
import { type AnyRecord, callApi, errorMessage } from '../../api/api.ts'
import { Confirm } from '../../jobs/confirm.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Avatar, Badge } from '../../ui/elements.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { DeleteDialog } from '../dialogs.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { isYes } from '../record-values.ts'
import { refetchAll } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { everything } from './scopes.ts'
import { Edit, Invite, LinkDialog, linkFor, type OpenDialog } from './user-dialogs.tsx'

export function Users() {
  const reason = useReadOnlyReason('user')
  const mayLink = may(useMe(), everything)
  const read = useQuery(recordsQuery('user', 'name:asc', { role: 'role', territories: 'territory' }))
  const [opened, setOpened] = useOpenDialog<OpenDialog>({ how: 'invite' })
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Users">
        <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'invite' })}>
          <UserPlus size={14} aria-hidden /> {mayLink || reason ? 'Invite a user' : 'Add a user'}
        </Button>
      </PageHead>
      <PageBody>
        <Panel title="Users" detail="The role says what a user may do.">
          <RecordTable
            source="user"
            label="Users"
            read={read}
            columns={['name', 'role', 'territories', 'email']}
            always={['role']}
            cells={{
              name: user => <Name user={user} />,
              role: user => <>{(user._expanded?.role as { name?: string } | null)?.name ?? '—'}</>,
            }}
            widths={{ name: '26%', role: '18%', territories: '16%' }}
            actionsWidth="w-14"
            empty="There is no user."
            actions={user => <Actions user={user} reason={reason} onOpen={setOpened} />}
          />
        </Panel>
      </PageBody>
      {opened?.how === 'invite' && <Invite onClose={close} onInvited={setOpened} />}
      {opened?.how === 'edit' && <Edit user={opened.user} onClose={close} />}
      {opened?.how === 'end' && (
        <Confirm
          title={`Deactivate ${opened.user.name}?`}
          action="Deactivate"
          back="Cancel"
          onDo={() => setInUse(opened.user, false)}
          onClose={close}
        >
          <p className="text-ink-soft">
            Their sessions and tokens end at once, and the tokens for good: they don’t come back when the user
            is activated again. The user keeps their records.
          </p>
        </Confirm>
      )}
      {opened?.how === 'link' && <LinkDialog {...opened} onClose={close} />}
      {opened?.how === 'delete' && (
        <DeleteDialog
          what={`the user “${opened.user.name}”`}
          path={`/user/${opened.user.id}`}
          message={`Deleted ${opened.user.name}`}
          moveTo={{
            label: 'Reassign their records to',
            isNeeded: false,
            choices: (read.data ?? [])
              .filter(({ id, is_active }) => id !== opened.user.id && isYes(is_active))
              .map(({ id, name }) => ({ id, name: String(name) })),
            nowhere: 'There is no other active user to reassign them to.',
          }}
          onClose={close}
        >
          <p className="text-ink-soft">
            Their deals, products, activities and other records are reassigned. To keep the owner of records,
            deactivate the user instead.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}

async function setInUse(user: AnyRecord, isInUse: boolean): Promise<void> {
  await callApi('PATCH', `/user/${user.id}`, { body: { is_active: isInUse ? 'Yes' : 'No' } })
  toast(
    isInUse
      ? `${user.name} is active again`
      : `${user.name} is inactive: their sessions and tokens have ended`,
  )
  await refetchAll()
}

function Name({ user }: { user: AnyRecord }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Avatar name={String(user.name)} size={22} />
      <span className="flex min-w-0 flex-wrap items-center gap-x-2">
        <span className="min-w-0 truncate" dir="auto">
          {String(user.name)}
        </span>
        {!isYes(user.is_active) && <Badge>inactive</Badge>}
      </span>
    </span>
  )
}

function Actions(props: {
  user: AnyRecord
  reason: string | undefined
  onOpen: (opened: OpenDialog) => void
}) {
  const { user, reason, onOpen } = props
  const me = useMe()
  const isOwn = me.user.id === user.id
  const isInUse = isYes(user.is_active)
  const showLink = async (purpose: 'invitation' | 'reset') => {
    try {
      onOpen({ how: 'link', user: { name: user.name }, link: await linkFor(user.id, purpose), isNew: false })
    } catch (error) {
      toastError(errorMessage(error))
    }
  }
  const mayLink = may(me, everything)
  const whyNoLink = mayLink ? undefined : 'administrators only'
  if (reason)
    return (
      <IconButton label={`Actions for ${user.name}`} reason={reason}>
        <MoreHorizontal size={16} aria-hidden />
      </IconButton>
    )
  return (
    <Menu
      label={`Actions for ${user.name}`}
      groups={[
        {
          title: 'User',
          entries: [
            { id: 'edit', label: 'Edit…', act: () => onOpen({ how: 'edit', user }) },
            {
              id: 'link',
              label: 'Link for a new password…',
              detail: whyNoLink,
              isDisabled: !isInUse || !mayLink,
              act: () => void showLink('reset'),
            },
            {
              id: 'invite',
              label: 'Another invitation…',
              detail: whyNoLink,
              isDisabled: !isInUse || !mayLink,
              act: () => void showLink('invitation'),
            },
            {
              id: 'use',
              label: isInUse ? 'Deactivate…' : 'Activate',
              isDisabled: isOwn,
              act: () =>
                isInUse
                  ? onOpen({ how: 'end', user })
                  : void setInUse(user, true).catch(error => toastError(errorMessage(error))),
            },
            {
              id: 'delete',
              label: 'Delete…',
              isDanger: true,
              isDisabled: isOwn,
              act: () => onOpen({ how: 'delete', user }),
            },
          ],
        },
      ]}
    >
      <IconButton label={`Actions for ${user.name}`}>
        <MoreHorizontal size={16} aria-hidden />
      </IconButton>
    </Menu>
  )
}
