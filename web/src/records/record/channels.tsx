/** The telephone numbers and e-mail addresses behind a record: one press calls or writes. */
import { useQuery } from '@tanstack/react-query'
import { Mail, Phone } from 'lucide-react'
import type { AnyRecord } from '../../api/api.ts'
import { mayRead, pageQuery } from '../../api/queries.ts'
import { emailHref } from '../../fields/kinds/email.tsx'
import { phoneHref } from '../../fields/kinds/phone.tsx'

export type Channels = {
  readonly phones: readonly string[]
  readonly emails: readonly string[]
  /** reason why there may be others */
  readonly unread?: string | undefined
}

const none: Channels = { phones: [], emails: [] }

/** Those of a contact or company itself, or of a deal's primary contact. */
export function useChannels(resource: string, record: AnyRecord): Channels {
  const id = record.primary_contact
  const { data, isLoading, isError } = useQuery({
    // A list: it is empty where the role can't see the contact.
    ...pageQuery('contact', { filter: `id:eq(${id})` }, 1, 1),
    enabled: resource === 'deal' && typeof id === 'number' && mayRead('contact'),
  })
  const from = resource === 'deal' ? data?.data[0] : record
  if (from) return { phones: texts(from.phones, 'phone_number'), emails: texts(from.emails, 'email_value') }
  const unread = isError
    ? 'The contact could not be read.'
    : isLoading
      ? 'The contact is loading.'
      : undefined
  return { ...none, unread }
}

const texts = (list: unknown, member: string): string[] =>
  Array.isArray(list) ? list.map(one => String((one as { [name: string]: unknown })[member])) : []

export function ChannelLinks({ channels: { phones, emails } }: { channels: Channels }) {
  const links = [
    ...phones.map(text => ({ text, href: phoneHref(text), Icon: Phone })),
    ...emails.map(text => ({ text, href: emailHref(text), Icon: Mail })),
  ]
  if (links.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-x-4 px-2 pb-1">
      {links.map(({ text, href, Icon }) => (
        <li key={href} className="min-w-0">
          <a href={href} className="linked inline-flex max-w-full min-w-0 items-center gap-1.5">
            <Icon size={13} aria-hidden className="shrink-0" />
            <bdi className="truncate">{text}</bdi>
          </a>
        </li>
      ))}
    </ul>
  )
}
