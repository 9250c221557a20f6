/** The sample's activities as request bodies: completed, planned, and notes. Pure. */
import type { JsonObject } from '../../json.ts'
import { date, dayMs, pick, type Random } from './bodies.ts'
import names from './names.json' with { type: 'json' }

export type SampleDeal = { readonly id: number; readonly body: JsonObject; readonly createdAt: Date }

/**
 * Most deals have an activity or two; those of closed deals are completed. Every second open deal has a
 * planned one: mostly within a month, some overdue or due today.
 */
export function sampleActivities(random: Random, now: Date, deals: readonly SampleDeal[]): JsonObject[] {
  return deals.flatMap((deal, index) => {
    const done = Array.from({ length: Math.floor(random() * 1.6) }, () => doneOf(random, now, deal))
    const note = random() < 0.15 ? [noteOf(random, now, deal)] : []
    const isOpen = deal.body.deal_closed_on === undefined
    const planned = isOpen && index % 2 ? [plannedOf(random, now, deal, index)] : []
    return [...done, ...note, ...planned]
  })
}

function doneOf(random: Random, now: Date, deal: SampleDeal): JsonObject {
  const kind = pick(random, ['Call', 'Call', 'Meeting', 'E-mail', 'E-mail', 'Task'])
  const due_at = between(random, deal.createdAt, endOf(deal, now))
  const duration = kind === 'Call' ? 15 : kind === 'Meeting' ? 60 : null
  return {
    ...common(random, kind, deal),
    due_at,
    duration,
    done_at: due_at,
    ...(random() < 0.6 ? { outcome: pick(random, names.outcomes) } : {}),
  }
}

function noteOf(random: Random, now: Date, deal: SampleDeal): JsonObject {
  const done_at = between(random, deal.createdAt, endOf(deal, now))
  return { ...common(random, 'Note', deal), notes: pick(random, names.note_texts), done_at }
}

function plannedOf(random: Random, now: Date, deal: SampleDeal, index: number): JsonObject {
  const kind = pick(random, ['Call', 'Meeting', 'Task', 'Task', 'E-mail'])
  const days = index % 9 === 0 ? -1 - random() * 12 : index % 7 === 0 ? 0 : 1 + random() * 29
  return {
    ...common(random, kind, deal),
    due_at: atWork(random, new Date(now.getTime() + days * dayMs)),
    ...(kind === 'Meeting' ? { duration: pick(random, [30, 60, 90]) } : {}),
  }
}

const activitySubjects: { readonly [kind: string]: readonly string[] } = names.activity_subjects

function common(random: Random, kind: string, { id, body }: SampleDeal): JsonObject {
  return {
    kind,
    subject: pick(random, activitySubjects[kind]!),
    owner: body.sales_owner!,
    deal: id,
    contact: body.primary_contact!,
  }
}

/** The last moment of a deal's activities: a closed deal has none after its end. */
function endOf({ body }: SampleDeal, now: Date): Date {
  const closed = typeof body.deal_closed_on === 'string' ? Date.parse(body.deal_closed_on) : now.getTime()
  return new Date(Math.min(closed, now.getTime() - dayMs))
}

function between(random: Random, from: Date, to: Date): string {
  const [first, last] = [from.getTime(), Math.max(from.getTime(), to.getTime())]
  return atWork(random, new Date(first + random() * (last - first)))
}

/** A quarter of an hour between eight and five on this day. */
function atWork(random: Random, day: Date): string {
  const quarters = Math.floor(random() * 36)
  const minutes = String((quarters % 4) * 15).padStart(2, '0')
  return `${date(day)}T${String(8 + Math.floor(quarters / 4)).padStart(2, '0')}:${minutes}:00.000Z`
}
