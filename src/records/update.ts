/**
 * Updates a record: PUT and PATCH are the same merge (D5); what is read, merged and judged here is saved only
 * if nobody came between, and if what it newly points to is there.
 */
import { type Problem, Refusal, type Warning } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { emptyValue, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import { isSameJson, type Json, type JsonObject, parseJson } from '../json.ts'
import { ask, param, sql } from '../sql.ts'
import { type NestedRecords, nestedRecords } from './nested.ts'
import { unchanged, writeOnce } from './once.ts'
import { parseRecord, type Reference } from './parse.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf, recordNotFound } from './read.ts'
import { stillThere } from './references.ts'
import { type Context, changesOf, type Saved, save, savedBefore, savedOf, settled } from './save.ts'
import {
  answerOf,
  assignedRow,
  changesSql,
  type Draft,
  type Queryable,
  recordStatement,
  tableOf,
} from './store.ts'
import type { Author, Write } from './write.ts'

/** How often a merge is tried anew when others keep changing the record. */
const attempts = 10

/**
 * Merges a body into a record (D5, D7). The resulting record must satisfy every rule; nothing changed =
 * nothing written. Throws record_not_found, validation_failed, version_conflict, busy_record.
 */
export async function updateRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
  precondition: Precondition = null,
): Promise<Saved> {
  const before = await savedBefore(db, fields, context)
  if (before) return before
  for (let attempt = 0; attempt < attempts; attempt++) {
    const saved = await tryUpdate(db, fields, id, body, context, precondition, attempt > 0)
    if (saved) return saved
  }
  throw new Refusal(
    'busy_record',
    `The ${fields.resource.name} ${id} is being changed by many at once; try again.`,
    [],
    {
      'retry-after': '1',
    },
  )
}

/** Throws what an update would be refused with as the record is now, and writes nothing. */
export async function judgeUpdate(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
): Promise<void> {
  await merged(db, fields, id, body, context, null, true)
}

/** The record as it is stored, and as it would be saved. */
async function merged(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
  precondition: Precondition,
  isDoubtful: boolean,
) {
  const row = await readForUpdate(db, fields, id, context)
  const version = Number(row.version)
  const before = completed(fields, parseJson(row.record!) as JsonObject)
  const parsed = parseRecord(body, fields, context.catalog, before)
  if (!isMet(precondition, version))
    throw versionConflict(nameOf(fields, id), version, precondition, conflicts(parsed.values, before))
  // What the record points to already may be sent again, also when it has been deleted since: what was read
  // can be written back.
  const added = parsed.references.filter(reference => !isKnown(reference, fields, before))
  const draft = await settled(db, fields, parsed, { before, added, isDoubtful }, context)
  return { row, version, before, added, parsed, draft }
}

async function tryUpdate(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
  precondition: Precondition,
  isDoubtful: boolean,
): Promise<Saved | null> {
  const { row, version, before, added, parsed, draft } = await merged(
    db,
    fields,
    id,
    body,
    context,
    precondition,
    isDoubtful,
  )
  if (Object.keys(draft.changes).length === 0)
    return leaveUnchanged(db, fields, id, row, context, parsed.warnings)
  const nested = await nestedRecords(db, parsed, context)
  const after = nested.named(fields, draft.after)
  const changes = changesOf(fields, before, after)
  after.updated_at = moment
  after.updated_by = context.actor
  const read = { id, version, state: row.state! }
  const told = { warnings: parsed.warnings, created: nested.created }
  const write = (by: Author) => change(by, fields, read, { after, changes }, nested, added)
  return save(db, fields, context, write, told)
}

/** The record as it was read: what is merged into it is written over that very row only. */
type Read = { readonly id: number; readonly version: number; readonly state: string }

/**
 * Writes what is changed of the record, and the records made with it. A purge of a field
 * (administration/purge.ts) makes no version: the state keeps the text that was read before it from coming
 * back.
 */
function change(
  by: Author,
  fields: ResourceFields,
  { id, version, state }: Read,
  draft: Draft,
  nested: NestedRecords,
  added: readonly Reference[],
): Write {
  const { isConfiguration = false, name } = fields.resource
  const { rows, events } = nested.write(by)
  const conditions = [
    sql`account_id = ${by.account}::bigint AND id = ${String(id)}::bigint`,
    sql`version = ${String(version)}::int AND xmin = ${state}::xid AND deleted_at IS NULL`,
    ...stillThere(by, added),
  ]
  const updated = sql`r AS (
  UPDATE ${tableOf(fields)} SET ${assignedRow(fields, draft)}
  FROM locked
  WHERE ${sql.join(conditions, sql`\n    AND `)}
  RETURNING ${tableOf(fields)}.*
)`
  return {
    changes: [updated],
    rows,
    events: [...events, { type: `${name}.updated`, resource: name, of: sql`r`, changes: changesSql(draft) }],
    isConfiguration,
    answer: answerOf(fields),
  }
}

/** Answers the record as it is, and writes nothing but the request's key. */
async function leaveUnchanged(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  { version, record }: Record<string, string | null>,
  { catalog, once }: Context,
  warnings: readonly Warning[],
): Promise<Saved | null> {
  const told = { warnings, created: [] }
  if (!once) return savedOf(fields, { row: { id: String(id), version: version!, record: record! }, told })
  const account = param(String(catalog.account.id))
  const answer = sql`
    SELECT ${String(id)}::text AS id, ${version!}::text AS version, ${record!}::text AS record FROM locked`
  const written = await writeOnce(db, account, once, unchanged(account, answer), told)
  return written ? savedOf(fields, written) : null
}

/** Whether a stored record points to it already, in the same field. */
function isKnown({ field, id, path }: Reference, { byName }: ResourceFields, before: Values): boolean {
  // Within a record that is made with this one, a field of the same name is another field.
  const type = path.split('/')[1] === field ? byName.get(field)?.type : undefined
  if (!type) return false
  const value = before[field] ?? null
  return (kinds[type].pointsTo?.(value) ?? [value].flat()).includes(id)
}

async function readForUpdate(db: Queryable, fields: ResourceFields, id: number, { catalog }: Context) {
  const [row] = await ask(db, recordStatement(fields, String(catalog.account.id), String(id)))
  if (!row) throw recordNotFound(fields, id)
  return row
}

/**
 * The stored record with a value for every field: custom fields that were never set are absent from what is
 * read (D43).
 */
function completed(fields: ResourceFields, stored: JsonObject): Values {
  const empty = fields.fields.filter(field => !(field.internal_name in stored))
  return {
    ...Object.fromEntries(empty.map(field => [field.internal_name, emptyValue(field, kinds[field.type])])),
    ...stored,
  }
}

/** The current and the sent value of each field that differs (D7). */
function conflicts(sent: Values, stored: Values): Problem[] {
  const conflicting = Object.keys(sent).filter(name => !isSameJson(sent[name]!, stored[name] ?? null))
  return conflicting.map(name => ({
    field: name,
    path: `/${name}`,
    code: 'changed_since_read',
    message: `${name} differs from the stored value.`,
    current: stored[name] ?? null,
    sent: sent[name],
  }))
}
