/**
 * The payload of a webhook's event (D72): the change, and the record as of the event, with the rights of the
 * webhook's user. It is built when it is sent, so fields that were hidden or purged meanwhile do not leak.
 * Knows no receiver.
 */
import { type Problem, Problems, Refusal } from '../../errors.ts'
import { type RecordAsOf, recordsAsOf } from '../../history/as-of-event.ts'
import { isAskedFor, scopeOf } from '../../history/event-types.ts'
import {
  type EventRow,
  isShownToRole,
  type PresentedEvent,
  presentEvents,
  shownAliases,
} from '../../history/present.ts'
import type { JsonObject } from '../../json.ts'
import { type Plan, requireReadScopes } from '../../lists/plan.ts'
import { selectionOf } from '../../lists/query.ts'
import { resolveNames } from '../../records/names.ts'
import type { Reader } from '../../records/store.ts'
import { filteredResource } from '../../resources/webhook.ts'
import { allows } from '../../rights/scopes.ts'
import { type AuthorizedCaller, type Caller, isLimited } from '../../rights/visibility.ts'
import { mapYielding } from '../../waiting/yielding.ts'

export type Subscription = {
  readonly types: readonly string[]
  /** filter on the one resource of the types */
  readonly filter: Plan | null
}

/** The events that match a webhook's subscription, in order. */
export async function matchingEvents(
  db: Reader,
  caller: AuthorizedCaller,
  rows: readonly EventRow[],
  { types, filter }: Subscription,
): Promise<EventRow[]> {
  const asked = rows.filter(
    row => mayRead(caller, row) && isAskedFor(types, { type: row.type!, also: shownAliases(caller, row) }),
  )
  const isJudged = ({ resource }: EventRow) => filter !== null || isPartly(caller, resource!)
  const then = await recordsOf(db, caller, asked.filter(isJudged), filter)
  return asked.filter(row => !isJudged(row) || then.get(Number(row.seq))?.isMatch)
}

/**
 * `seq` → the body of a delivery, as JSON text. Events that the user may no longer read, or whose record they
 * can't see, have none.
 */
export async function payloadsOf(
  db: Reader,
  caller: AuthorizedCaller,
  rows: readonly EventRow[],
): Promise<Map<number, string>> {
  const readable = rows.filter(row => mayRead(caller, row))
  const then = await recordsOf(db, caller, readable, null)
  const isRecord = ({ resource }: EventRow) => caller.catalog.resources.has(resource!)
  const seen = readable.filter(row => !isRecord(row) || then.has(Number(row.seq)))
  const told = await presentEvents(db, caller, seen)
  return new Map(
    await mapYielding(told, event => [event.seq, bodyOf(event, then.get(event.seq)?.record ?? null)]),
  )
}

/** The body of a delivery, as JSON text. */
export function bodyOf({ type, also, at, ...event }: PresentedEvent, record: JsonObject | null): string {
  const { seq, resource, id, version, actor, changes } = event
  const data = { seq, resource, id, version, actor, changes, record }
  return JSON.stringify({ type, also, timestamp: at, data })
}

function mayRead({ rights, catalog }: AuthorizedCaller, row: EventRow): boolean {
  return allows(rights.scopes, scopeOf(row.resource!)) && isShownToRole(catalog, row)
}

function isPartly({ catalog }: Caller, resource: string): boolean {
  const schema = catalog.resources.get(resource)
  return schema !== undefined && isLimited(schema)
}

/** The records as of their events, without events of other things and records that are not visible. */
async function recordsOf(
  db: Reader,
  caller: AuthorizedCaller,
  rows: readonly EventRow[],
  filter: Plan | null,
): Promise<Map<number, RecordAsOf>> {
  const found = new Map<number, RecordAsOf>()
  for (const [resource, of] of Map.groupBy(rows, row => row.resource!)) {
    const schema = caller.catalog.resources.get(resource)
    if (!schema) continue
    const events = of.map(({ seq, id, at }) => ({
      seq: Number(seq),
      id: Number(id),
      at: JSON.parse(at!) as string,
    }))
    for (const [seq, then] of await recordsAsOf({ db, schema, context: caller }, events, filter))
      found.set(seq, then)
  }
  return found
}

/**
 * The plan of a webhook's filter on the records of a resource, or its problems. Throws `forbidden` without
 * the scope to read the fields and records that it names (D65).
 */
export async function filterPlan(
  db: Reader,
  caller: AuthorizedCaller,
  resource: string,
  text: string,
): Promise<{ plan: Plan | null; problems: readonly Problem[] }> {
  const { catalog, rights } = caller
  const schema = catalog.resources.get(resource)!
  const read = await resolveNames(db, caller, names => {
    const [parameters, problems] = [new Map([['filter', [text]]]), new Problems()]
    const { filter } = selectionOf({ parameters, schema, catalog, problems, names })
    return { plan: filter, problems }
  })
  requireReadScopes(rights, [], { filter: read.plan })
  const problems = read.problems.listed.map(({ parameter: _, ...problem }) => ({
    ...problem,
    field: 'filter',
    path: '/filter',
  }))
  return { plan: read.plan, problems }
}

/** A webhook's subscription; null if its filter has become invalid. */
export async function subscriptionOf(
  db: Reader,
  caller: AuthorizedCaller,
  { types, filter }: { readonly types: readonly string[]; readonly filter: string | null },
): Promise<Subscription | null> {
  if (filter === null) return { types, filter: null }
  try {
    const resource = filteredResource(types, caller.catalog)
    if (resource === null) return null
    const { plan, problems } = await filterPlan(db, caller, resource, filter)
    return problems.length ? null : { types, filter: plan }
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
