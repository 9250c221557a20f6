/** A text with the people whom it mentions, under their present names. */
import { useQuery } from '@tanstack/react-query'
import { mayRead, usersQuery } from '../api/queries.ts'
import { partsOf } from './mentions.ts'

export function MentionText({ text }: { text: string }) {
  const parts = partsOf(text)
  const isNamed = parts.some(part => 'user' in part)
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: isNamed && mayRead('user') })
  return parts.map((part, index) =>
    'text' in part ? (
      part.text
    ) : (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: a person may come twice
        key={index}
        className="rounded-sm bg-accent-soft px-1 text-accent-strong"
      >
        @{users.find(({ id }) => id === part.user)?.name ?? part.name}
      </span>
    ),
  )
}
