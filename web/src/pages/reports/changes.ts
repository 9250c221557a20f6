/** The changes of the forecast: periods, the words of each kind, and the waterfall. Pure. */
import { addDays } from '../../activities/next-days.ts'
import type { Schemas } from '../../api/api.ts'

export type Changes = Schemas['changes']
export type Step = Schemas['change_step']
export type Kind = Step['kind']
export type ChangedDeal = NonNullable<Step['deals']>[number]
export type DealState = Schemas['deal_state']
type Forecast = Schemas['forecast']

/** The member of a forecast or a step that is shown. */
export type Measure = 'count' | 'value' | 'weighted_value'

/** The words of each kind, in the order of the lists. */
export const wordsOf: { readonly [kind in Kind]: { readonly name: string; readonly about: string } } = {
  won: { name: 'Won', about: 'Closed as won since: no longer open, so no longer in the forecast.' },
  lost: { name: 'Lost', about: 'Closed as lost since.' },
  new: { name: 'New', about: 'Created since, and open.' },
  reopened: { name: 'Reopened', about: 'They were closed, and are open again.' },
  grown: { name: 'Grown', about: 'Their value is higher.' },
  shrunk: { name: 'Shrunk', about: 'Their value is lower.' },
  slipped: { name: 'Slipped', about: 'Expected to close later, or at no known date.' },
  pulled_in: { name: 'Pulled in', about: 'Expected to close earlier.' },
  moved_forward: { name: 'Moved forward', about: 'To a later stage.' },
  moved_back: { name: 'Moved back', about: 'To an earlier stage.' },
  came_in: { name: 'Came in', about: 'Restored, handed over, or changed so that they count here.' },
  went_out: { name: 'Went out', about: 'Handed over, or changed so that they no longer count here.' },
  deleted: { name: 'Deleted', about: 'They were open, and are deleted.' },
  rates: { name: 'Exchange rates', about: 'Changed, and of the same value again at another rate.' },
  other: { name: 'Other', about: 'In another pipeline, or at another probability.' },
}

export const kindsInOrder = Object.keys(wordsOf) as readonly Kind[]

/** The last Monday before a day: on a Monday, that of the week before. */
export function lastMonday(today: string): string {
  const weekday = new Date(`${today}T00:00:00Z`).getUTCDay()
  return addDays(today, -(((weekday + 5) % 7) + 1))
}

/** The periods that a choice offers, each by its first day. */
export function presets(today: string): readonly { readonly id: string; readonly name: string }[] {
  const month = `${today.slice(0, 7)}-01`
  return [
    { id: lastMonday(today), name: 'Since last Monday' },
    { id: addDays(today, -6), name: 'Last 7 days' },
    { id: month, name: 'This month' },
    { id: `${addDays(month, -1).slice(0, 7)}-01`, name: 'Since the first of last month' },
  ]
}

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** The days of an address; default: since last Monday, until now. */
export function daysOfChanges({ since, until }: { since?: string; until?: string }, today: string) {
  return { since: isDay(since) ? since : lastMonday(today), until: isDay(until) ? until : null }
}

/** A row of the waterfall: it begins at `start`, and adds `change`. */
export type Fall = { readonly step: Step; readonly start: number; readonly change: number }

/** The steps that change the measure, each where the one before ended. */
export function waterfallOf({ before, steps }: Pick<Changes, 'before' | 'steps'>, measure: Measure): Fall[] {
  let sum = before[measure] ?? 0
  return steps.flatMap(step => {
    const change = changeOf(step, measure)
    if (change === 0) return []
    const fall = { step, change, start: Math.min(sum, sum + change) }
    sum += change
    return [fall]
  })
}

/** The amount that a step adds to a measure of the forecast. */
export function changeOf({ open, value = 0, weighted_value = 0 }: Step, measure: Measure): number {
  return { count: open, value, weighted_value }[measure]
}

/** The columns of the table of owners, each with the kinds of its sum. */
export const columnsOfOwners: readonly { readonly name: string; readonly kinds: ReadonlySet<Kind> }[] = [
  { name: 'Came', kinds: new Set<Kind>(['new', 'reopened', 'came_in']) },
  {
    name: 'Changed',
    kinds: new Set<Kind>([
      ...(['grown', 'moved_forward', 'pulled_in', 'rates'] as const),
      ...(['other', 'slipped', 'moved_back', 'shrunk'] as const),
    ]),
  },
  { name: 'Left', kinds: new Set<Kind>(['went_out', 'deleted']) },
  { name: 'Lost', kinds: new Set<Kind>(['lost']) },
  { name: 'Won', kinds: new Set<Kind>(['won']) },
]

export function sumOf(steps: readonly Step[], kinds: ReadonlySet<Kind>, measure: Measure): number {
  return steps.reduce((sum, step) => (kinds.has(step.kind) ? sum + changeOf(step, measure) : sum), 0)
}

export function forecastOf(forecast: Forecast, measure: Measure): number {
  return forecast[measure] ?? 0
}
