/** The signed-in user and their permissions: disabled buttons say why. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { RouterHistory } from '@tanstack/react-router'
import type { Me } from '../api/api.ts'
import { fieldsQuery, meQuery, queryClient } from '../api/queries.ts'
import { endMessages } from '../ui/toast.tsx'

export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** True if the user has a scope; `admin` includes all. */
export function may({ scopes }: Pick<Me, 'scopes'>, scope: string): boolean {
  return scopes.includes('admin') || scopes.includes(scope)
}

/** True if the user may start jobs, and control them. */
export function mayStartJobs(me: Pick<Me, 'scopes'>): boolean {
  return may(me, 'job:read') && may(me, 'job:write')
}

/** Key of the user for what this browser stores: users of one browser don't share it. */
export function whoOf({ account, user }: Me): string {
  return `${account.id} ${user.id}`
}

/** The key of the user who is signed in now: another may sign in on the same page. */
export function whoIsSignedIn(): string {
  const me = queryClient.getQueryData(meQuery.queryKey)
  return me ? whoOf(me) : ''
}

/** Ends what belongs to a user. */
const endings = new Set<() => void>([endMessages])

/** Calls `end` as soon as another user is signed in. */
export const onOtherUser = (end: () => void): void => void endings.add(end)

/** The pages of a browser share its session: each says here whom it has found signed in. */
let channel: BroadcastChannel | undefined

/** The other pages of the browser ask whether anybody is signed in. */
export const tellSignedOut = (): void => channel?.postMessage('')

/**
 * Ends what belongs to a user as soon as another one is signed in, here or in another tab. `reload` removes
 * what a page shows: the sign-in has cleared it for whom it signs in.
 */
export function followUser(reload: () => void): void {
  let last = ''
  channel = new BroadcastChannel('dealwright-user')
  channel.onmessage = ({ data }) => {
    if (data !== whoIsSignedIn()) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  }
  queryClient.getQueryCache().subscribe(event => {
    if (event.query.queryKey[0] !== meQuery.queryKey[0]) return
    const who = whoIsSignedIn()
    if (event.type === 'updated' && event.action.type === 'success') channel?.postMessage(who)
    if (who && last && who !== last) {
      for (const end of endings) end()
      if (location.pathname !== '/sign-in') reload()
    }
    last = who || last
  })
}

/**
 * Loads the page at `path`, or the same one, without the question of unsaved changes: a full page load clears
 * caches, drafts and the undo stack for the next user.
 */
export function loadAfresh(history: RouterHistory, path?: string): void {
  history.destroy()
  addEventListener('beforeunload', event => event.stopImmediatePropagation(), true)
  if (path === undefined) location.reload()
  else location.assign(path)
}

/** Reason why a resource can't be changed, or undefined if it can. */
export function useReadOnlyReason(resource: string): string | undefined {
  const me = useMe()
  return may(me, `${resource}:write`)
    ? undefined
    : `Your role may not change this (it lacks ${resource}:write).`
}

/** Reason why a field can't be changed where its record can, or that of its record. */
export function useLockedReason(
  resource: string,
  name: string,
  ofRecord: string | undefined,
): string | undefined {
  const { data: sections } = useQuery(fieldsQuery(resource))
  const field = sections?.flat().find(({ internal_name }) => internal_name === name)
  return ofRecord ?? (field?.is_read_only ? `Your role may not change ${field.field_name}.` : undefined)
}
