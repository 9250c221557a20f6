/** The dialogs of the users: an invitation, the form of a user, and a link that is shown once. */
import { useQuery } from '@tanstack/react-query'
import { type AnyRecord, callApi, errorMessage, type Schemas } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'
import { Select } from '../../ui/inputs.tsx'
import { toastError } from '../../ui/toast.tsx'
import { localesWith, timeZonesWith } from '../account/locales.ts'
import { SecretDialog } from '../dialogs.tsx'
import { RecordDialog } from '../record-dialog.tsx'
import { recordsQuery } from '../record-table.tsx'
import { everything } from './scopes.ts'

type Link = Schemas['link']
export type OpenDialog =
  | { readonly how: 'invite' }
  | { readonly how: 'edit' | 'delete' | 'end'; readonly user: AnyRecord }
  | { readonly how: 'link'; readonly user: { name: unknown }; readonly link: Link; readonly isNew: boolean }
  | null

const editable = ['name', 'email', 'role', 'territories']

/** A link makes its bearer that user: creating one takes all rights (D61). */
const noLinks = 'Only administrators make links by which others sign in.'

export const linkFor = (id: number, purpose: 'invitation' | 'reset') =>
  callApi<Link>('POST', `/user/${id}/link`, { body: { purpose } })

export function Edit({ user, onClose }: { user: AnyRecord; onClose: () => void }) {
  const { account } = useMe()
  return (
    <RecordDialog
      source="user"
      names={editable}
      title={`Edit ${user.name}`}
      action="Save"
      message={({ name }) => `Saved ${name}`}
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
              none={account.locale ? `Account default (${account.locale})` : 'Browser language'}
              onChange={value => change({ locale: value })}
              choices={localesWith(locale ?? null)}
              error={problems.locale}
            />
            <Select
              label="Time zone"
              value={timeZone ?? null}
              none={`Account default (${account.time_zone})`}
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

/** Creates a user, then a link by which they choose their password. */
export function Invite({
  onClose,
  onInvited,
}: {
  onClose: () => void
  onInvited: (opened: OpenDialog) => void
}) {
  const me = useMe()
  const { data: roles } = useQuery({ ...recordsQuery('role', 'id:asc'), enabled: may(me, 'role:read') })
  const mayLink = may(me, everything)
  const member = roles?.find(({ built_in }) => built_in === 'member')
  const invite = async (body: object) => {
    const user = await callApi<{ id: number; name: string }>('POST', '/user', { body })
    if (!mayLink) return onInvited(null)
    try {
      onInvited({ how: 'link', user, link: await linkFor(user.id, 'invitation'), isNew: true })
    } catch (error) {
      // The user exists: the list offers another link.
      toastError(`No link was made. ${errorMessage(error)}`)
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
      message={({ name }) => `${name} is a user now`}
      write={invite}
      onClose={onClose}
      onDone={() => {}}
    />
  )
}

export function LinkDialog(props: {
  user: { name: unknown }
  link: Link
  isNew: boolean
  onClose: () => void
}) {
  const { user, link, isNew, onClose } = props
  const format = useFormat()
  const secret = link.url ?? (link.link ? `${location.origin}/sign-in#link=${link.link}` : '')
  return (
    <SecretDialog
      title={isNew ? `${user.name} is invited` : `A link for ${user.name}`}
      label="One-time link"
      secret={secret}
      onClose={onClose}
    >
      Give it to {String(user.name)}, and to nobody else. It signs in once, until{' '}
      {format.moment(link.expires_at)}, and is shown only now.
    </SecretDialog>
  )
}
