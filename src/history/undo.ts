/**
 * Undo (D83): reverts one event, if nobody has changed its values since. It is an update, a deletion or a
 * restoration like any other, with the same rules and an event of its own. Knows no HTTP and no particular
 * resource.
 */
import { Refusal, type Warning } from '../errors.ts'
import { emptyValue, type Field, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import type { Resource } from '../fields/resource.ts'
import { isSameJson, type Json, type JsonObject, parseJson } from '../json.ts'
import { storedResponse } from '../records/idempotency.ts'
import { type Precondition, requireVersion } from '../records/precondition.ts'
import { nameOf } from '../records/read.ts'
import { removeRecord } from '../records/remove.ts'
import { isHiddenByRole, renderedSql } from '../records/rendered-record.ts'
import { restoreRecord } from '../records/restore.ts'
import type { Changes, Reader, Transaction } from '../records/store.ts'
import type { Work } from '../records/work.ts'
import type { Saved, WriteContext } from '../records/write/operation.ts'
import { findIdempotentResponse } from '../records/write/response.ts'
import { refuseUnwritable } from '../records/write/rules.ts'
import { updateRecord } from '../records/write/save.ts'
import { mayRead } from '../rights/rights.ts'
import { allows } from '../rights/scopes.ts'
import { callerParamsOf, isLimited, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { type ChangedField, changedSince } from './changed-since.ts'
import { type EventRow, isShownToRole } from './present.ts'

/** An event, and the work in which its change is undone. */
export type Undoable = Work & {
  readonly seq: number
  readonly id: number
  readonly verb: string
  /** field → its values before and after */
  readonly changes: Changes
}

/** Number of attempts while others change the record. */
const attempts = 10

/**
 * Undoes an event (D83). Records deleted at `oldest` or later can be restored. Throws `record_not_found` for
 * an event that the caller doesn't see, `events_gone` for a deleted one, `not_undoable`, `forbidden` and
 * `changed_since`, and any refusal of an update, a deletion or a restoration.
 */
export async function undo(
  db: Transaction,
  seq: number,
  context: WriteContext,
  precondition: Precondition,
  oldest: Date,
): Promise<Saved> {
  // Comes first, as in all writes (D8).
  const isRepeated = (await storedResponse(db, context)) !== null
  const event = await eventOf(db, seq, context, isRepeated)
  const { schema, id, verb } = event
  const before = isRepeated && (await findIdempotentResponse(event))
  if (before) return before
  for (let attempt = 1; ; attempt++) {
    const { version, record } = await recordOf(event)
    requireVersion(nameOf(schema, id), version, precondition)
    await refuseDiffering(event, record)
    if (verb === 'updated') return await writeBack(event, precondition)
    // The write fails if the record has changed since it was read.
    const own = [String(version)]
    try {
      if (verb === 'deleted') return await restoreRecord(event, id, oldest, own)
      // Parts that were added since keep a creation from being undone.
      return (await removeRecord(event, id, own, { isRead: true, isAlone: verb === 'created' }))!
    } catch (error) {
      const isOvertaken = error instanceof Refusal && error.slug === 'version_conflict'
      if (!isOvertaken || attempt === attempts) throw error
    }
  }
}

/** Reads the event, and checks that the caller sees it. A repeated request passed this check before. */
async function eventOf(
  db: Transaction,
  seq: number,
  context: WriteContext,
  isRepeated: boolean,
): Promise<Undoable> {
  const { account } = callerParamsOf(context)
  const statement = sql`SELECT e.type, e.resource, e.record_id::text AS id, e.changes::text AS changes,
  (SELECT x.seq FROM event x WHERE x.account_id = ${account}::bigint ORDER BY x.seq LIMIT 1)::text AS oldest,
  c.last_seq::text AS last
FROM counter c LEFT JOIN event e ON e.account_id = c.account_id AND e.seq = ${String(seq)}::bigint
WHERE c.account_id = ${account}::bigint`
  const [row] = await ask(db, statement)
  const { type, resource, oldest, last } = row!
  if (!type || !resource) throw missing(seq, Number(oldest ?? Number(last) + 1), Number(last))
  if (!isRepeated && !(await isSeen(db, row!, context))) throw noEvent(seq)
  context.rights?.need(`${resource}:write`)
  const schema = context.catalog.resources.get(resource)
  const verb = type.slice(resource.length + 1)
  if (!schema || !isUndone(schema.resource) || !verbs.has(verb)) throw notUndoable(seq, type)
  const changes = parseJson(row!.changes!) as unknown as Changes
  return { db, schema, context, seq, id: Number(row!.id), verb, changes }
}

/** True if the caller may read or change the resource of an event, and sees its record (D63, D64). */
async function isSeen(db: Reader, event: EventRow, context: WriteContext): Promise<boolean> {
  const { resource, id } = event
  const { rights, catalog } = context
  const may = (verb: string) => !rights || allows(rights.scopes, `${resource}:${verb}`)
  if (!may('read') && !may('write')) return false
  const schema = catalog.resources.get(resource!)
  if (!schema || !isLimited(schema)) return isShownToRole(catalog, event)
  const statement = sql`SELECT 1 AS seen FROM ${sql.id(resource!)} r
WHERE ${visible(resource!, callerParamsOf(context), sql`r`)} AND r.id = ${id!}::bigint`
  const [row] = await ask(db, statement)
  return row !== undefined
}

const verbs = new Set(['created', 'updated', 'deleted', 'restored'])

/**
 * True if changes of a resource can be undone. Not those of configuration, users, tokens and webhooks: their
 * events lack much that depends on them, such as revoked sessions, secrets, and values that follow from a
 * stage or a rate.
 */
export function isUndone({ isConfiguration, actor, ownership }: Resource): boolean {
  return !isConfiguration && !actor && !ownership?.isPrivate
}

function notUndoable(seq: number, type: string): Refusal {
  return new Refusal(
    'not_undoable',
    `The event ${seq} is of the type ${type}, which can't be undone: make the change that you want instead.`,
  )
}

/** True if a field is in use; an undo leaves fields unchanged that were deleted or taken out of use since. */
function isInUse(field: Field | undefined): boolean {
  return field?.is_active === true
}

/** The fields of an event that its undo leaves unchanged, as warnings: those that the caller may know of. */
function warningsOf({ schema, context, changes }: Undoable): Warning[] {
  if (!mayRead(context, schema.resource.name)) return []
  return Object.keys(changes).flatMap(field => {
    const found = schema.whole.byName.get(field)
    if (!found || isInUse(found) || isHiddenByRole(schema, field)) return []
    const message = `${field} is out of use by now and stays as it is: ${backInUse(found)}, and undo it then.`
    return [{ field, code: 'out_of_use', message }]
  })
}

function backInUse({ deleted_at }: Field): string {
  return deleted_at ? 'restore the field' : 'take the field into use'
}

function nothingLeft(event: Undoable): Refusal {
  const detail = `The event ${event.seq} changed only fields that are out of use by now.`
  const problems = warningsOf(event).map(warning => ({ ...warning, path: `/${warning.field}` }))
  return new Refusal('not_undoable', detail, problems)
}

function missing(seq: number, oldest: number, last: number): Refusal {
  if (seq < 1 || seq > last || seq >= oldest) return noEvent(seq)
  const detail = `The event ${seq} is no longer kept: the oldest is ${oldest}.`
  return new Refusal('events_gone', detail, [
    { field: null, path: '', code: 'events_gone', message: detail, oldest },
  ])
}

/** An event that the caller doesn't see looks like one that doesn't exist (D63). */
function noEvent(seq: number): Refusal {
  return new Refusal('record_not_found', `There is no event ${seq}.`)
}

/** The record that the event is about, deleted or not. */
async function recordOf(event: Undoable): Promise<{ version: number; record: JsonObject }> {
  const { db, schema, context, seq, id } = event
  const [params, { name }] = [callerParamsOf(context), schema.resource]
  const statement = sql`SELECT r.version::text AS version, ${renderedSql(schema, params.account)} AS record
FROM ${sql.id(name)} r
WHERE ${visible(name, params, sql`r`)} AND r.id = ${String(id)}::bigint`
  const [row] = await ask(db, statement)
  if (!row) throw noEvent(seq)
  return { version: Number(row.version), record: parseJson(row.record!) as JsonObject }
}

/** Throws `changed_since` if values of the event have changed since. */
async function refuseDiffering(event: Undoable, record: JsonObject): Promise<void> {
  const now = differingFrom(event, record)
  const differing = now.length === 0 && (await isDeletedSince(event)) ? [lifeOf(event, record)] : now
  if (differing.length) throw await changedSince(event, differing)
}

/** The fields of the record that differ from the event's values, as far as the record itself shows. */
export function differingFrom(event: Undoable, record: JsonObject): ChangedField[] {
  const { schema, verb } = event
  const isGone = record.deleted_at !== null
  if (isGone !== (verb === 'deleted')) return [lifeOf(event, record)]
  if (verb !== 'created' && verb !== 'updated') return []
  const isKnown = (field: Field) => (verb === 'created' ? !field.deleted_at : isInUse(field))
  const checked = schema.whole.fields.filter(field => isKnown(field) && isJudged(field, event))
  return checked.flatMap(field => {
    const { internal_name: name } = field
    const made = event.changes[name]?.after ?? emptyValue(field, kinds[field.type])
    const current = record[name] ?? null
    return isSameJson(made, current) ? [] : [{ name, made, current }]
  })
}

/** The difference of a record that was deleted or restored. */
function lifeOf({ verb }: Undoable, { deleted_at: current }: JsonObject): ChangedField {
  return { name: 'deleted_at', made: verb === 'deleted' ? 'deleted' : null, current: current! }
}

/**
 * True if a field must still have the event's value: a field that the event changed, or any of a creation.
 * Derived values change without anybody's write.
 */
function isJudged(field: Field, { verb, changes }: Undoable): boolean {
  const { internal_name: name, is_hidden, is_volatile, is_of_store, computed, maintained_by } = field
  if (is_hidden || is_volatile || is_of_store || computed || maintained_by) return false
  return verb === 'created' ? !name.startsWith('updated_') : name in changes
}

/** True if the record was deleted or restored since a deletion or restoration. */
async function isDeletedSince({ db, schema, context, seq, id, verb }: Undoable): Promise<boolean> {
  if (verb !== 'deleted' && verb !== 'restored') return false
  const { name } = schema.resource
  const statement = sql`SELECT EXISTS (SELECT 1 FROM event e
  WHERE e.account_id = ${callerParamsOf(context).account}::bigint AND e.record_id = ${String(id)}::bigint
    AND e.resource = ${sql.text(name)} AND e.seq > ${String(seq)}::bigint
    AND e.type IN (${sql.text(`${name}.deleted`)}, ${sql.text(`${name}.restored`)}))::text AS is_since`
  const [row] = await ask(db, statement)
  return row!.is_since === 'true'
}

/** Updates the record with the values from before the event. */
function writeBack(event: Undoable, precondition: Precondition): Promise<Saved> {
  const { schema, seq, id, changes } = event
  const known = Object.entries(changes).filter(([name]) => isInUse(schema.whole.byName.get(name)))
  if (known.length === 0) throw nothingLeft(event)
  const valuesOf = (side: 'before' | 'after'): Values =>
    Object.fromEntries(known.map(([name, change]) => [name, change[side]]))
  const former = valuesOf('before')
  const isSent = ([name]: [string, Json]) => !schema.whole.byName.get(name)!.is_read_only
  const body = Object.fromEntries(Object.entries(former).filter(isSent))
  // An undo is never partial: a field that the caller's role hides or locks refuses all of it.
  const refusal = `The event ${seq} changed what your role does not let you change`
  refuseUnwritable(schema, Object.keys(body), refusal)
  return updateRecord(event, id, body, precondition, {
    undoes: { former, made: valuesOf('after') },
    warnings: warningsOf(event),
    // The record may have changed since it was read.
    check: stored => refuseDiffering(event, stored as JsonObject),
  })
}
