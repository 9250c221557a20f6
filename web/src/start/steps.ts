/** The steps of a new account, and which of them are done: seen from its data, so nothing is stored. */
import { useQuery } from '@tanstack/react-query'
import type { Me } from '../api/api.ts'
import { pageQuery, pipelinesQuery, stagesQuery, usersQuery } from '../api/queries.ts'
import { may, useMe } from '../shell/me.ts'

export type Step = {
  readonly title: string
  readonly detail: string
  readonly isDone: boolean
  /** the page where it is done; null: it is done on this one */
  readonly page: string | null
}

/** An account with more deals is no longer new. */
const dealsOfNew = 25
/** Name of the account that the first start makes. */
const unnamed = 'Default'

/**
 * The steps, for administrators; null while they are loading, and once the account is in use. An account in
 * use is asked for some deals and nothing else. `isShown`: false asks nothing.
 */
export function useSteps(isShown: boolean): readonly Step[] | null {
  const me = useMe()
  const some = { fields: 'id', count: 'none' } as const
  const { data: deals } = useQuery({
    ...pageQuery('deal', some, 1, dealsOfNew + 1),
    enabled: isShown && may(me, 'admin'),
  })
  const isNew = isShown && deals !== undefined && deals.data.length <= dealsOfNew
  const { data: activities } = useQuery({ ...pageQuery('activity', some, 1, 1), enabled: isNew })
  const { data: pipelines } = useQuery({ ...pipelinesQuery, enabled: isNew })
  const { data: stages } = useQuery({ ...stagesQuery, enabled: isNew })
  const { data: users } = useQuery({ ...usersQuery, enabled: isNew })
  if (!isNew || !activities || !pipelines || !stages || !users) return null
  return stepsOf(me, {
    hasDeals: deals.data.length > 0,
    hasActivities: activities.data.length > 0,
    hasOwnStages: pipelines.length > 1 || [...pipelines, ...stages].some(({ version }) => (version ?? 1) > 1),
    hasColleagues: users.length > 1,
  })
}

type Found = { hasDeals: boolean; hasActivities: boolean; hasOwnStages: boolean; hasColleagues: boolean }

function stepsOf({ account }: Me, found: Found): readonly Step[] {
  return [
    {
      title: 'Bring your deals',
      detail: 'From a file of your spreadsheet or CRM, or one by one.',
      isDone: found.hasDeals,
      page: null,
    },
    {
      title: 'Fit the stages to how you sell',
      detail: 'Rename, add and order them; say when a deal rots.',
      isDone: found.hasOwnStages,
      page: '/settings/pipelines',
    },
    {
      title: 'Name your account',
      detail: 'With its time zone, language and currency.',
      isDone: account.name !== unnamed,
      page: '/settings/account',
    },
    {
      title: 'Invite your colleagues',
      detail: 'Each with a role of their own.',
      isDone: found.hasColleagues,
      page: '/settings/users',
    },
    {
      title: 'Log a call, or plan the next step',
      detail: 'From a card, a record, or with L.',
      isDone: found.hasActivities,
      page: '/today',
    },
  ]
}
