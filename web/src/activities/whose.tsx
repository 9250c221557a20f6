/** The owner whose activities a page shows: oneself, a colleague, or everybody. The address has them. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { usersQuery } from '../api/queries.ts'
import { may, useMe } from '../shell/me.ts'
import { Select } from '../ui/inputs.tsx'

type Whose = {
  /** id of a user; null: everybody's */
  readonly owner: number | null
  /** as a list's filter says it: none or one */
  readonly conditions: readonly string[]
}

export function useWhose(): Whose {
  const me = useMe()
  const { owner: asked } = useSearch({ strict: false })
  if (asked === 'all') return { owner: null, conditions: [] }
  const owner = /^\d{1,15}$/.test(asked ?? '') ? Number(asked) : me.user.id
  return { owner, conditions: [`owner:eq(${owner})`] }
}

export function WhoseSelect() {
  const me = useMe()
  const navigate = useNavigate()
  const { owner } = useWhose()
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: may(me, 'user:read') })
  const choices = [
    { id: me.user.id, name: 'Mine' },
    ...users.filter(
      ({ id, is_active }) => id !== me.user.id && (id === owner || (is_active as unknown) !== 2),
    ),
  ]
  const choose = (chosen: string | null) => {
    const asked = chosen === String(me.user.id) ? undefined : (chosen ?? 'all')
    void navigate({ to: '.', search: (now: object) => ({ ...now, owner: asked }), replace: true } as never)
  }
  return (
    <Select
      label="Whose activities"
      isLabelHidden
      value={owner ?? 'all'}
      onChange={choose}
      choices={[...choices, { id: 'all', name: 'Everybody’s' }]}
    />
  )
}
