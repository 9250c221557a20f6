/**
 * The histories of the sample's deals: each is created, moves from stage to stage, and is won or lost. A step
 * is an API client's request. Pure.
 */
import type { Stage } from '../../fields/catalog.ts'
import type { JsonObject } from '../../json.ts'
import { dayMs, hourMs, pick, type Random } from './bodies.ts'

/** A deal at the end of its history; `closedAt` null: it is still open. */
export type SampleLife = {
  readonly body: JsonObject
  readonly createdAt: Date
  readonly closedAt: Date | null
}

/** The first step creates the deal; the others move it. */
export type SampleStep = { readonly at: Date; readonly body: JsonObject }

/** Usual durations in the open stages, relative to each other. */
const usualStays = [2, 3, 5, 4]
/** Numbers of open stages that lost deals have passed: few for most. */
const lostAfter = [1, 1, 1, 2, 2, 2, 3, 3, 4]

/** The steps of a deal, up to its end or to `now`; `stages`: those of its pipeline, in order. */
export function historyOf(
  random: Random,
  now: Date,
  { body, createdAt, closedAt }: SampleLife,
  stages: readonly Stage[],
): SampleStep[] {
  const { pipeline_stage: last, won_reason, lost_reason, deal_closed_on, ...others } = body
  const open = stages.filter(({ kind }) => kind === 'open')
  const { kind } = stages.find(({ id }) => id === last)!
  const furthest = kind === 'open' ? open.findIndex(({ id }) => id === last) + 1 : open.length
  const come = open.slice(0, kind === 'lost' ? pick(random, lostAfter) : furthest)
  // Deals may skip stages.
  const passed = come.filter((_, index) => index === come.length - 1 || random() >= 0.35)
  const whyUndeletable = passed.map(({ id }) => ({
    id,
    share: usualStays[open.findIndex(stage => stage.id === id)]! * (0.2 + 1.8 * random()),
  }))
  const life = (closedAt ?? now).getTime() - createdAt.getTime()
  const shares = whyUndeletable.reduce((sum, { share }) => sum + share, 0)
  let at = createdAt.getTime()
  const steps = whyUndeletable.map(({ id, share }, index) => {
    const step = {
      at: atUsualHour(createdAt, at),
      body: index === 0 ? { ...others, pipeline_stage: id } : { pipeline_stage: id },
    }
    at += (life * share) / shares
    return step
  })
  if (!closedAt) return steps
  const reason = kind === 'won' ? { won_reason: won_reason! } : { lost_reason: lost_reason! }
  return [
    ...steps,
    { at: closedAt, body: { pipeline_stage: last!, ...reason, deal_closed_on: deal_closed_on! } },
  ]
}

/**
 * A moment on the day of `at`, within an hour after the time of day at which the deal was created. So open
 * deals grow a day older at the hours before the account's first start, and all stay the same long after it.
 */
function atUsualHour(createdAt: Date, at: number): Date {
  const days = (at - createdAt.getTime()) / dayMs
  return new Date(createdAt.getTime() + Math.floor(days) * dayMs + (days % 1) * hourMs)
}
