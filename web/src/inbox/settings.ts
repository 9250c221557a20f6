/** Settings of the inbox: the kinds shown, and the hours without reminders, by the person's clock (D156). */
import { queryOptions } from '@tanstack/react-query'
import { callApi, type Schemas } from '../api/api.ts'

export type Settings = Schemas['inbox_settings']
type Hours = { readonly from: string; readonly to: string }

export const settingsQuery = queryOptions({
  queryKey: ['inbox', 'settings'],
  queryFn: () => callApi<Settings>('GET', '/inbox/settings'),
})

/** True if the clock of the time zone is within the hours, which may go over midnight. */
export function isQuiet(hours: Hours | null, now: Date, timeZone: string): boolean {
  if (!hours) return false
  const time = now.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
  const { from, to } = hours
  return from < to ? from <= time && time < to : from <= time || time < to
}
