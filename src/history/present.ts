/**
 * Presents events (D69 to D71): the author, and each change with its label and the current names behind ids.
 * Fields that the caller's role hides are left out. Knows no HTTP and no particular resource.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { jsonInstant } from '../fields/moment.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { isExpandable, type NamesByField, namesBehind } from '../records/expand.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { Reader } from '../records/store.ts'
import { agentOrigin } from '../records/write/protocol.ts'
import { allows } from '../rights/scopes.ts'
import { type Caller, visible } from '../rights/visibility.ts'
import { type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { mapYielding } from '../waiting/yielding.ts'
import { shownTypes } from './event-types.ts'

export type PresentedEvent = {
  readonly seq: number
  readonly type: string
  /** aliases of its type: deal.won */
  readonly also: readonly string[]
  /** ISO 8601, UTC, to the millisecond */
  readonly at: string
  readonly resource: string
  readonly id: number
  readonly version: number
  readonly actor: {
    /** a user's id; null: the service itself */
    readonly id: number | null
    /** null also if the caller may not read users; the token's, if the caller doesn't see it */
    readonly name: string | null
    readonly token?: { readonly id: number; readonly name: string | null }
    /** the job that carried it out (D84) */
    readonly job?: { readonly id: number }
    /** set if an agent wrote it (D148): the protocol, and the name of its program */
    readonly origin?: string
    readonly client?: string | null
    readonly request_id: string | null
  }
  readonly changes: readonly PresentedChange[]
}

export type PresentedChange = {
  readonly field: string
  readonly label: string
  readonly from: Json
  readonly to: Json
  /** the names behind ids: an array of them where the value is one */
  readonly from_name?: Json
  readonly to_name?: Json
}

/** A row of `eventRows`. */
export type EventRow = Readonly<Record<string, string | null>>

/** Maximum bytes of changes that are read at a time: at least one event, which is read whole. */
const bytesMax = 4_194_304

/**
 * The events of a SELECT as `e`, with the condition that they are within `bytesMax`. `has_next`: true if one
 * more follows. `changes` is text.
 */
export function withinBytes(events: Sql, ordered: Sql): { readonly from: Sql; readonly where: Sql } {
  return {
    from: sql`(
  SELECT e.*, sum(octet_length(e.changes)) OVER (${ordered}) - octet_length(e.changes) AS bytes_before,
    lead(e.seq) OVER (${ordered}) IS NOT NULL AS has_next
  FROM (${events}) e) e`,
    where: sql`e.bytes_before < ${sql.integer(bytesMax)}`,
  }
}

/**
 * SELECT of the events of an account that match a condition on the row `e`, `max` at most, in the order of
 * `seq` or in reverse. `has_next`: true if one more follows. A token has a name for callers who see it.
 */
export function eventRows(params: CallerParams, condition: Sql, order: 'ASC' | 'DESC', max: number): Sql {
  const ordered = order === 'ASC' ? sql`ORDER BY e.seq` : sql`ORDER BY e.seq DESC`
  const events = sql`
    SELECT e.seq, e.type, e.also, e.resource, e.record_id, e.version, e.at, e.actor, e.token,
      e.request_id, e.job, e.origin, e.client, e.changes::text AS changes
    FROM event e WHERE ${condition} ${ordered} LIMIT ${sql.integer(max + 1)}`
  const { from, where } = withinBytes(events, ordered)
  return sql`
SELECT e.seq::text AS seq, e.type, to_json(e.also)::text AS also, e.resource, e.record_id::text AS id,
  e.version::text AS version, ${jsonInstant(sql`e.at`)} AS at, e.changes, e.actor::text AS actor,
  u.name AS actor_name, e.token::text AS token, t.name AS token_name, e.request_id,
  e.job::text AS job, e.origin, e.client, e.has_next::text AS has_next
FROM ${from}
  LEFT JOIN "user" u ON u.account_id = ${params.account}::bigint AND u.id = e.actor
  LEFT JOIN token t ON ${visible('token', params, sql`t`)} AND t.id = e.token
WHERE ${where}
${ordered} LIMIT ${sql.integer(max)}`
}

/** The condition that an agent wrote the event (D148). */
export function isByAgent(event: Sql): Sql {
  return sql`${event}.origin = ${sql.text(agentOrigin)}`
}

type ReadEvent = { readonly row: EventRow; readonly changes: readonly Change[] }
type Change = { readonly name: string; readonly field: Field | null; readonly from: Json; readonly to: Json }

/** Presents events; one statement looks up the names of all of them. */
export async function presentEvents(
  db: Reader,
  caller: Caller,
  rows: readonly EventRow[],
): Promise<PresentedEvent[]> {
  const read = await mapYielding(rows, row => ({ row, changes: changesOf(caller, row) }))
  const values = new Map<Field, Json[]>()
  for (const { changes } of read) {
    for (const { field, from, to } of changes) {
      if (!field || !isNamed(field, caller)) continue
      const known = values.get(field)
      if (known) known.push(from, to)
      else values.set(field, [from, to])
    }
  }
  const names = await namesBehind(db, caller, values)
  return mapYielding(read, event => presentEvent(event, names, caller))
}

/** The changes of an event that the caller may see, in the order of the form. */
function changesOf({ catalog }: Caller, row: EventRow): Change[] {
  const parsed = parseJson(row.changes!) as JsonObject
  const schema = catalog.resources.get(row.resource!)
  if (!schema) {
    // A change of fields and forms has only the new state, that of a setting also the former one.
    const isOfAccount = row.type === 'account.updated'
    return Object.entries(presentConfiguration(catalog, parsed)).map(([name, said]) => {
      const { before, after } = isOfAccount
        ? (said as { before: Json; after: Json })
        : { before: null, after: said }
      return { name, field: null, from: before, to: after }
    })
  }
  const isNew = row.type === `${row.resource}.created`
  const places = placesOf(schema)
  const placeOf = ({ name }: Change) => places.get(name) ?? places.size
  return Object.entries(parsed)
    .filter(([name]) => !isHiddenByRole(schema, name))
    .map(([name, change]): Change => {
      const { before = null, after = null } = isObject(change) ? change : {}
      const field = schema.byName.get(name) ?? null
      return { name, field, from: isNew ? null : before, to: after }
    })
    .sort((one, other) => placeOf(one) - placeOf(other))
}

const placesOf = memoize(
  ({ fields }: ResourceSchema) => new Map(fields.map(({ internal_name }, index) => [internal_name, index])),
)

/** True if the values of a field have names that the caller may read. */
function isNamed(field: Field, caller: Caller): boolean {
  return isExpandable(field) && (!field.related || mayName(caller, field.related))
}

/** True if a caller may read the names of a resource's records (D65). */
export function mayName({ rights }: Caller, resource: string): boolean {
  return !rights || allows(rights.scopes, `${resource}:read`)
}

/** The aliases of an event that reveal no hidden field. */
export function shownAliases({ catalog }: Caller, { also }: EventRow): string[] {
  return shownTypes(JSON.parse(also!) as string[], catalog)
}

function presentEvent({ row, changes }: ReadEvent, names: NamesByField, caller: Caller): PresentedEvent {
  const actor = Number(row.actor)
  const tokenName = mayName(caller, 'token') ? (row.token_name ?? null) : null
  const token = row.token === null ? {} : { token: { id: Number(row.token), name: tokenName } }
  return {
    seq: Number(row.seq),
    type: row.type!,
    also: shownAliases(caller, row),
    at: JSON.parse(row.at!) as string,
    resource: row.resource!,
    id: Number(row.id),
    version: Number(row.version),
    actor: {
      id: actor || null,
      name: mayName(caller, 'user') ? (row.actor_name ?? null) : null,
      ...token,
      ...(row.job === null ? {} : { job: { id: Number(row.job) } }),
      ...(row.origin ? { origin: row.origin, client: row.client ?? null } : {}),
      request_id: row.request_id ?? null,
    },
    changes: changes.map(change => presentChange(change, names)),
  }
}

function presentChange({ name, field, from, to }: Change, names: NamesByField): PresentedChange {
  const known = field && names.get(field)
  const nameOf = (value: Json): Json =>
    Array.isArray(value) ? value.map(nameOf) : (known?.get(Number(value))?.name ?? null)
  const named = (key: string, value: Json) => (known && value !== null ? { [key]: nameOf(value) } : {})
  const label = field?.field_name ?? name
  return { field: name, label, from, to, ...named('from_name', from), ...named('to_name', to) }
}

/** True if a role may see an event: it is not about a field that the role hides. */
export function isShownToRole({ resources }: Catalog, { resource, changes }: EventRow): boolean {
  if (resources.has(resource!)) return true
  const { field } = parseJson(changes!) as JsonObject
  return !isObject(field) || isKnown(String(field.internal_name), [resources.get(String(field.resource))!])
}

/** The changes of an event of the configuration, without the names of hidden fields. */
export function presentConfiguration({ resources }: Catalog, changes: JsonObject): JsonObject {
  const { sections } = changes
  if (!Array.isArray(sections)) return changes
  const all = [...resources.values()]
  // The event of a form does not name its resource.
  const known = (names: Json) => (names as string[]).filter(name => isKnown(name, all))
  return {
    ...changes,
    sections: (sections as JsonObject[]).map(part => ({ ...part, fields: known(part.fields!) })),
  }
}

/** True if no resource hides its field of that name; for a deleted field, if none hides any field. */
function isKnown(name: string, among: readonly ResourceSchema[]): boolean {
  const having = among.filter(({ byName }) => byName.has(name))
  if (having.length) return having.every(schema => !isHiddenByRole(schema, name))
  return among.every(({ byName, whole }) => byName === whole.byName)
}
