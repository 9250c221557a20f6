/**
 * Updates a record: PUT and PATCH are the same merge (D5); what is read, merged and judged here is saved only
 * if nobody came between.
 */
import { type Problem, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { emptyValue, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import { isObject, isSameJson, type Json, type JsonObject, parseJson } from '../json.ts'
import { documentOf, shown } from './document.ts'
import { nestedRecords } from './nested.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf, recordNotFound } from './read.ts'
import { existenceQuestion, missingReferences, pointedTo, relatedOf } from './references.ts'
import {
  type Context,
  changesOf,
  columnParams,
  customParams,
  type Saved,
  save,
  savedBefore,
  settled,
  writeParams,
} from './save.ts'
import { type Queryable, statements } from './store.ts'
import { locked } from './write.ts'

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
    const saved = await tryUpdate(db, fields, id, body, context, precondition)
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
  await merged(db, fields, id, body, context, null)
}

/** The record as it is stored, and as it would be saved. */
async function merged(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
  precondition: Precondition,
) {
  // The first parse finds the references, so that record and references are read in one statement; the second
  // one knows the stored record, which decides what an update must supply and may keep.
  const asked = parseRecord(body, fields, context.catalog, {})
  const row = await readForUpdate(db, fields, id, asked, context)
  const version = Number(row.version)
  const stored = parseJson(row.record!) as JsonObject
  if (!isMet(precondition, version)) {
    throw versionConflict(nameOf(fields, id), version, precondition, conflicts(asked.values, stored))
  }
  const before = completed(fields, stored)
  // What the record points to already may be sent again, also when it has been deleted since: what was read
  // can be written back.
  const added = asked.references.filter(({ field, id }) => !idsIn(before[field] ?? null).includes(id))
  const parsed = parseRecord(body, fields, context.catalog, before)
  const draft = settled(fields, parsed, before, context, missingReferences(added, row), relatedOf(row))
  return { row, version, before, added, parsed, draft }
}

async function tryUpdate(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  body: Json,
  context: Context,
  precondition: Precondition,
): Promise<Saved | null> {
  const { row, version, before, added, parsed, draft } = await merged(
    db,
    fields,
    id,
    body,
    context,
    precondition,
  )
  const record = row.record!
  if (Object.keys(draft.changes).length === 0) {
    const told = { warnings: parsed.warnings, created: [] }
    if (!context.once) return { id, version, record: shown(fields, record), ...told }
    const params = [String(context.catalog.account.id), String(id), row.version!, record]
    return save(db, fields, context, unchangedStatement, params, told)
  }
  const nested = await nestedRecords(db, parsed, context)
  const after = nested.named(fields, draft.after)
  const changes = changesOf(fields, before, after)
  after.updated_at = moment
  after.updated_by = context.actor
  const custom = customParams(fields, changes)
  const changed = new Set(
    fields.fields.filter(
      ({ internal_name: name, is_hidden }) => is_hidden || name in changes || keptByUpdate.has(name),
    ),
  )
  const points = pointedTo(added)
  const told = { warnings: parsed.warnings, created: nested.created }
  return save(
    db,
    fields,
    context,
    statements(fields).update(changed, nested.all, points.related),
    [
      ...writeParams(context),
      custom.set,
      JSON.stringify(changes),
      String(id),
      String(version),
      custom.unset,
      documentOf(fields, after),
      row.state!,
      ...points.params,
      ...columnParams(fields, after, changed),
      ...nested.params,
    ],
    told,
  )
}

/**
 * A change that changes nothing writes nothing but its key: sent again later, it must not undo what came
 * between.
 */
const unchangedStatement = `WITH ${locked}, answer AS (SELECT $2::text AS id, $3::text AS version, $4::text AS record FROM locked)`

/** The ids that a stored value points to: itself, its items, or the products of its lines. */
function idsIn(value: Json): Json[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  return Array.isArray(value.products)
    ? value.products.map(line => (isObject(line) ? (line.product ?? null) : null))
    : []
}

/** What every update sets itself. */
const keptByUpdate = new Set(['updated_at', 'updated_by'])

async function readForUpdate(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  asked: Parsed,
  { catalog }: Context,
) {
  const question = existenceQuestion(asked.references, 3, catalog)
  const read = statements(fields).read
  const text = question.columns.length
    ? `SELECT stored.*, ${question.columns.join(', ')} FROM (${read}) stored`
    : read
  const [row] = await db.query(text, [String(catalog.account.id), String(id), ...question.params])
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
