/** Groups activities by their due date. Pure. */

type Due = { readonly id: number; readonly due_at?: unknown }

type Agenda<T> = {
  readonly overdue: readonly T[]
  readonly today: readonly T[]
  readonly soon: readonly T[]
  readonly later: readonly T[]
  readonly undated: readonly T[]
}

/**
 * `dayOf` is the calendar date of a moment in the reader's time zone; `until` the last day of the soon group.
 */
export function agendaOf<T extends Due>(
  activities: readonly T[],
  today: string,
  until: string,
  dayOf: (iso: string) => string,
): Agenda<T> {
  const agenda = {
    overdue: [] as T[],
    today: [] as T[],
    soon: [] as T[],
    later: [] as T[],
    undated: [] as T[],
  }
  for (const activity of activities) {
    const day = typeof activity.due_at === 'string' ? dayOf(activity.due_at) : null
    if (day === null) agenda.undated.push(activity)
    else if (day < today) agenda.overdue.push(activity)
    else if (day === today) agenda.today.push(activity)
    else if (day <= until) agenda.soon.push(activity)
    else agenda.later.push(activity)
  }
  return agenda
}
