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

/** The steps, for administrators; null while they are loading, and once the account is in use. */
export function useSteps(): readonly Step[] | null {
  const me = useMe()
  const isAsked = may(me, 'admin')
  const deals = useQuery({ ...pageQuery('deal', {}, 1, 1), enabled: isAsked })
  const activities = useQuery({ ...pageQuery('activity', {}, 1, 1), enabled: isAsked })
  const pipelines = useQuery({ ...pipelinesQuery, enabled: isAsked })
  const stages = useQuery({ ...stagesQuery, enabled: isAsked })
  const users = useQuery({ ...usersQuery, enabled: isAsked })
  if (!deals.data || !activities.data || !pipelines.data || !stages.data || !users.data) return null
  if (totalOf(deals.data) > dealsOfNew) return null
  const configured = [...pipelines.data, ...stages.data]
  return stepsOf(me, {
    hasDeals: totalOf(deals.data) > 0,
    hasActivities: totalOf(activities.data) > 0,
    hasOwnStages: pipelines.data.length > 1 || configured.some(({ version }) => (version ?? 1) > 1),
    hasColleagues: users.data.length > 1,
  })
}

const totalOf = ({ meta }: { meta: { total?: number | null } }) => meta.total ?? 0

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
