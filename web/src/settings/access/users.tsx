/** Who may use the account: invited, given a role and territories, taken out of use, handed over. */
import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal, UserPlus } from 'lucide-react'
import { type AnyRecord, ask, sayError } from '../../api/api.ts'
import { Confirm } from '../../jobs/confirm.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Avatar, Badge } from '../../ui/bits.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHead } from '../../ui/page.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { Body, DeleteDialog, Panel } from '../parts.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { readAgain } from '../saving.ts'
import { useOpened } from '../use-opened.ts'
import { everything } from './scopes.ts'
import { Edit, Invite, LinkDialog, linkFor, type Opened } from './user-dialogs.tsx'

const inUse = 1
export function Users() {
  const reason = useReadOnlyReason('user')
  const mayLink = may(useMe(), everything)
  const { data: users } = useQuery(
    recordsQuery('user', 'name:asc', { role: 'role', territories: 'territory' }),
  )
  const [opened, setOpened] = useOpened<Opened>({ how: 'invite' })
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Users">
        <Button look="primary" reason={reason} onPress={() => setOpened({ how: 'invite' })}>
          <UserPlus size={14} aria-hidden /> {mayLink || reason ? 'Invite a user' : 'Add a user'}
        </Button>
      </PageHead>
      <Body>
        <Panel title="Users" detail="What a user may do is said by the role.">
          <RecordTable
            source="user"
            label="Users"
            records={users}
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
      </Body>
      {opened?.how === 'invite' && <Invite onClose={close} onInvited={setOpened} />}
      {opened?.how === 'edit' && <Edit user={opened.user} onClose={close} />}
      {opened?.how === 'end' && (
        <Confirm
          title={`Take ${opened.user.name} out of use?`}
          action="Take out of use"
          back="Cancel"
          onDo={() => setInUse(opened.user, false)}
          onClose={close}
        >
          <p className="text-ink-soft">
            Their sessions and tokens end at once, and the tokens for good: they don’t come back when the user
            is taken into use again. What they own stays theirs.
          </p>
        </Confirm>
      )}
      {opened?.how === 'link' && <LinkDialog {...opened} onClose={close} />}
      {opened?.how === 'delete' && (
        <DeleteDialog
          what={`the user “${opened.user.name}”`}
          path={`/user/${opened.user.id}`}
          said={`Deleted ${opened.user.name}`}
          moveTo={{
            label: 'Hand over what they own to',
            isNeeded: false,
            choices: (users ?? [])
              .filter(({ id, is_active }) => id !== opened.user.id && is_active === inUse)
              .map(({ id, name }) => ({ id, name: String(name) })),
            nowhere: 'There is nobody else who could take over what they own.',
          }}
          onClose={close}
        >
          <p className="text-ink-soft">
            Deals, products, activities and whatever else names them goes to somebody else. To keep it all as
            it is, take the user out of use instead.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}

async function setInUse(user: AnyRecord, isInUse: boolean): Promise<void> {
  await ask('PATCH', `/user/${user.id}`, { body: { is_active: isInUse ? 'Yes' : 'No' } })
  toast(
    isInUse
      ? `${user.name} is in use again`
      : `${user.name} is out of use: their sessions and tokens have ended`,
  )
  await readAgain()
}

function Name({ user }: { user: AnyRecord }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Avatar name={String(user.name)} size={22} />
      <span className="flex min-w-0 flex-wrap items-center gap-x-2">
        <span className="min-w-0 truncate" dir="auto">
          {String(user.name)}
        </span>
        {user.is_active !== inUse && <Badge>out of use</Badge>}
      </span>
    </span>
  )
}

function Actions(props: { user: AnyRecord; reason: string | undefined; onOpen: (opened: Opened) => void }) {
  const { user, reason, onOpen } = props
  const me = useMe()
  const isOwn = me.user.id === user.id
  const isInUse = user.is_active === inUse
  const showLink = async (purpose: 'invitation' | 'reset') => {
    try {
      onOpen({ how: 'link', user: { name: user.name }, link: await linkFor(user.id, purpose), isNew: false })
    } catch (error) {
      toastError(sayError(error))
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
              label: isInUse ? 'Take out of use…' : 'Take into use',
              isDisabled: isOwn,
              act: () =>
                isInUse
                  ? onOpen({ how: 'end', user })
                  : void setInUse(user, true).catch(error => toastError(sayError(error))),
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
