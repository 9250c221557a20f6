/**
 * Undo of several events in one request (D148): those that are named, or all that a request of an agent
 * wrote. Knows no HTTP.
 */
import { errorTable, type Problem, Refusal, requireRefusal } from '../errors.ts'
import { dryMax, tooManyToTry } from '../records/move.ts'
import type { Reader, Transaction } from '../records/store.ts'
import type { WriteContext } from '../records/write/operation.ts'
import { callerParamsOf } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { isByAgent } from './present.ts'
import { undo } from './undo.ts'

/** The events to undo: by their numbers, or by the request id under which an agent wrote them. */
export type Undoing = { readonly events: readonly number[] } | { readonly request: string }

/** The outcome for an event; one that the caller doesn't see has no record. */
export type UndoneEvent = {
  readonly seq: number
  readonly resource?: string
  readonly id?: number
  readonly status: number
  /** of a refusal */
  readonly detail?: string
  readonly errors?: readonly Problem[]
}

/** Maximum of events in one request: a batch, and what is created along with it. */
export const eventsMax = 2000

/**
 * Undoes the events, the newest first, each like `undo`. One that was changed since stays, and the others are
 * undone. Calls `onFirst` once one is undone. Throws `record_not_found` if the caller sees nothing that an
 * agent wrote under the request id.
 */
export async function undoSeveral(
  db: Transaction,
  undoing: Undoing,
  context: WriteContext,
  oldest: Date,
  onFirst: () => Promise<void>,
): Promise<UndoneEvent[]> {
  const isOfRequest = 'request' in undoing
  const events = isOfRequest
    ? await eventsOf(db, context, sql`e.request_id = ${undoing.request}::text AND ${isByAgent(sql`e`)}`)
    : await eventsNamed(db, context, undoing.events)
  if (context.isDry && events.length > dryMax)
    throw tooManyToTry('There is too much to undo in a dry run.', advice)
  const outcomes: UndoneEvent[] = []
  let isAnyUndone = false
  for (const event of events) {
    const refusal = await undo(db, event.seq, keyed(context, event.seq), null, oldest).then(
      () => null,
      requireRefusal,
    )
    if (!refusal && !isAnyUndone) {
      isAnyUndone = true
      await onFirst()
    }
    const isUnseen = refusal?.slug === 'record_not_found'
    if (isUnseen && isOfRequest) continue
    const of = isUnseen ? { seq: event.seq } : event
    outcomes.push(refusal ? { ...of, ...problemsOf(refusal) } : { ...of, status: 200 })
  }
  if (outcomes.length > 0 || !isOfRequest) return outcomes
  throw new Refusal('record_not_found', 'There is no change of an agent under that request_id.')
}

const advice = `A dry run undoes at most ${dryMax} events. Name fewer, or undo them without it: each is judged by itself.`

type Found = { readonly seq: number; readonly resource?: string; readonly id?: number }

async function eventsOf(db: Reader, context: WriteContext, condition: Sql): Promise<Found[]> {
  const statement = sql`SELECT e.seq::text AS seq, e.resource, e.record_id::text AS id FROM event e
WHERE e.account_id = ${callerParamsOf(context).account}::bigint AND ${condition}
ORDER BY e.seq DESC LIMIT ${sql.integer(eventsMax)}`
  const rows = await ask(db, statement)
  return rows.map(({ seq, resource, id }) => ({ seq: Number(seq), resource: resource!, id: Number(id) }))
}

/** Also those that never were. */
async function eventsNamed(db: Reader, context: WriteContext, seqs: readonly number[]): Promise<Found[]> {
  const found = await eventsOf(db, context, sql`e.seq = ANY(${`{${seqs.join()}}`}::bigint[])`)
  const known = new Map(found.map(event => [event.seq, event]))
  return [...new Set(seqs)].sort((one, other) => other - one).map(seq => known.get(seq) ?? { seq })
}

/** Each event is a request of its own, with a key of its own. */
function keyed(context: WriteContext, seq: number): WriteContext {
  const { idempotency } = context
  return idempotency
    ? { ...context, idempotency: { ...idempotency, key: `${idempotency.key} ${seq}` } }
    : context
}

function problemsOf({ slug, message: detail, problems: errors }: Refusal) {
  return { status: errorTable[slug].status, detail, errors }
}
