/** How many items of the inbox are unread, beside its name in the navigation. */
import { useQuery } from '@tanstack/react-query'
import { AfterLoad } from '../shell/after-load.tsx'
import { useMe } from '../shell/me.ts'
import { headQuery } from './inbox.ts'

export function UnreadCount() {
  return (
    <AfterLoad>
      <Count />
    </AfterLoad>
  )
}

function Count() {
  const { data } = useQuery(headQuery(useMe().follows_events))
  const unread = data?.unread ?? 0
  if (unread === 0) return null
  return (
    <span className="ml-auto rounded-full bg-accent px-1.5 text-xs leading-[18px] font-semibold text-accent-ink">
      {unread >= 1000 ? '999+' : unread}
      <span className="unseen"> unread</span>
    </span>
  )
}
