/** The days that a next step is usually planned for. Pure. */

/** The date some days after another. */
export function addDays(day: string, days: number): string {
  const moment = new Date(`${day}T12:00:00Z`)
  moment.setUTCDate(moment.getUTCDate() + days)
  return moment.toISOString().slice(0, 10)
}

/** How many days later the other day is; both are 'YYYY-MM-DD'. */
export function daysBetween(one: string, other: string): number {
  return Math.round((Date.parse(other) - Date.parse(one)) / 86_400_000)
}

/** The first Monday after a date. */
export function nextMonday(day: string): string {
  const weekday = new Date(`${day}T12:00:00Z`).getUTCDay()
  return addDays(day, (8 - weekday) % 7 || 7)
}

export type NextDay = 'none' | 'tomorrow' | 'soon' | 'monday' | 'picked'

export const nextDays: readonly { readonly id: NextDay; readonly name: string }[] = [
  { id: 'none', name: 'None' },
  { id: 'tomorrow', name: 'Tomorrow' },
  { id: 'soon', name: 'In 3 days' },
  { id: 'monday', name: 'Next Monday' },
  { id: 'picked', name: 'Pick a day' },
]

/** The date of a choice; a picked day begins with the one before it. */
export function dayOfChoice(choice: NextDay, today: string, before: string | null): string | null {
  if (choice === 'none') return null
  if (choice === 'tomorrow') return addDays(today, 1)
  if (choice === 'soon') return addDays(today, 3)
  if (choice === 'monday') return nextMonday(today)
  return before ?? addDays(today, 1)
}
