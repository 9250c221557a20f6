/** Who may use the account: invited, given a role and territories, taken out of use, handed over. */
import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, ask, type Schemas, sayError } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { Confirm } from '../jobs/confirm.tsx'
import { may, useMe, useReadOnlyReason } from '../shell/me.ts'
import { Avatar, Badge } from '../ui/bits.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead } from '../ui/page.tsx'
import { toast, toastError } from '../ui/toast.tsx'
import { localesWith, timeZonesWith } from './locales.ts'
import { Body, DeleteDialog, OnceDialog, Panel } from './parts.tsx'
import { RecordDialog } from './record-dialog.tsx'
import { RecordTable, recordsQuery } from './record-table.tsx'
import { readAgain } from './saving.ts'
import { everything } from './scopes.ts'

type Link = Schemas['link']
type Opened =
  | { readonly how: 'invite' }
  | { readonly how: 'edit' | 'delete' | 'end'; readonly user: AnyRecord }
  | { readonly how: 'link'; readonly user: { name: unknown }; readonly link: Link; readonly isNew: boolean }
  | null

const inUse = 1
const editable = ['name', 'email', 'role', 'territories']

/** A link makes its bearer that user: to make one takes all rights (D61). */
const noLinks = 'Only administrators make links by which others sign in.'

const linkFor = (id: number, purpose: 'invitation' | 'reset') =>
  ask<Link>('POST', `/user/${id}/link`, { body: { purpose } })

export function Users() {
  const reason = useReadOnlyReason('user')
  const mayLink = may(useMe(), everything)
  const { data: users } = useQuery(
    recordsQuery('user', 'name:asc', { role: 'role', territories: 'territory' }),
  )
  const [opened, setOpened] = useState<Opened>(null)
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

function Edit({ user, onClose }: { user: AnyRecord; onClose: () => void }) {
  const { account } = useMe()
  return (
    <RecordDialog
      source="user"
      names={editable}
      title={`Edit ${user.name}`}
      action="Save"
      said={({ name }) => `Saved ${name}`}
      record={user}
      problemFields={['time_zone', 'locale']}
      onClose={onClose}
    >
      {(draft, change, problems) => {
        const [locale, timeZone] = [draft.locale, draft.time_zone] as (string | null)[]
        return (
          <div className="grid gap-4 sm:grid-cols-2">
            <Select
              label="Language of dates and numbers"
              value={locale ?? null}
              none="As their browser"
              onChange={value => change({ locale: value })}
              choices={localesWith(locale ?? null)}
              error={problems.locale}
            />
            <Select
              label="Time zone"
              value={timeZone ?? null}
              none={`As the account (${account.time_zone})`}
              onChange={value => change({ time_zone: value })}
              choices={timeZonesWith(timeZone ?? null)}
              error={problems.time_zone}
            />
          </div>
        )
      }}
    </RecordDialog>
  )
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

/** Makes a user, then a link by which they choose their password. */
function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (opened: Opened) => void }) {
  const me = useMe()
  const { data: roles } = useQuery({ ...recordsQuery('role', 'id:asc'), enabled: may(me, 'role:read') })
  const mayLink = may(me, everything)
  const member = roles?.find(({ built_in }) => built_in === 'member')
  const invite = async (body: object) => {
    const user = await ask<{ id: number; name: string }>('POST', '/user', { body })
    if (!mayLink) return onInvited(null)
    try {
      onInvited({ how: 'link', user, link: await linkFor(user.id, 'invitation'), isNew: true })
    } catch (error) {
      // The user is there: another link can be asked for in the list.
      toastError(`No link was made. ${sayError(error)}`)
      onInvited(null)
    }
  }
  return (
    <RecordDialog
      source="user"
      names={['name', 'email', 'role', 'territories']}
      title={mayLink ? 'Invite a user' : 'Add a user'}
      detail={
        mayLink
          ? 'You get a link for them, by which they choose a password. Nothing is sent by e-mail.'
          : `${noLinks} The user is made, and can sign in as soon as one of them has made a link.`
      }
      {...(member ? { prefill: { role: member.id } } : {})}
      action={mayLink ? 'Invite' : 'Add'}
      said={({ name }) => `${name} is a user now`}
      write={invite}
      onClose={onClose}
      onDone={() => {}}
    />
  )
}

function LinkDialog(props: { user: { name: unknown }; link: Link; isNew: boolean; onClose: () => void }) {
  const { user, link, isNew, onClose } = props
  const format = useFormat()
  const secret = link.url ?? (link.link ? `${location.origin}/sign-in#link=${link.link}` : '')
  return (
    <OnceDialog
      title={isNew ? `${user.name} is invited` : `A link for ${user.name}`}
      label="One-time link"
      secret={secret}
      onClose={onClose}
    >
      Give it to {String(user.name)}, and to nobody else. It signs in once, until{' '}
      {format.moment(link.expires_at)}, and is shown only now.
    </OnceDialog>
  )
}
