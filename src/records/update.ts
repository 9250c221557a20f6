/**
 * Updates a record. PUT and PATCH are the same merge (D5). The merged record is saved only if the record has
 * not changed since it was read, and if its new references exist.
 */
import { type Problem, Refusal, type Warning } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { emptyValue, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import type { Invariant } from '../fields/resource.ts'
import { isSameJson, type Json, type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { isChangeable } from '../rights/visibility.ts'
import { ask, param, sql } from '../sql.ts'
import { cascadeDelete } from './cascade.ts'
import type { WriteOptions } from './create.ts'
import { unchanged, writeIdempotently } from './idempotency.ts'
import { resolveNames } from './names.ts'
import { type NestedRecords, nestedRecords } from './nested.ts'
import { parseRecord, type Reference } from './parse.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { mayNotChange, nameOf, recordNotFound } from './read.ts'
import { referencesExist } from './references.ts'
import { retryOnConflict } from './retry-on-conflict.ts'
import {
  candidatesOf,
  changesOf,
  findIdempotentResponse,
  type Saved,
  save,
  savedOf,
  validateRecord,
  type WriteContext,
} from './save.ts'
import {
  answerOf,
  assignedRow,
  changesSql,
  type RecordToWrite,
  recordToChange,
  stateOf,
  type Transaction,
  tableOf,
} from './store.ts'
import { changedKeys } from './unique.ts'
import { lockFirst, type Write } from './write.ts'

/**
 * Merges a body into a record (D5, D7). The resulting record must satisfy every rule; nothing changed =
 * nothing written. Throws record_not_found, validation_failed, version_conflict, busy_record.
 */
export async function updateRecord(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
  precondition: Precondition = null,
  given: WriteOptions = {},
): Promise<Saved> {
  const before = await findIdempotentResponse(db, schema, context)
  if (before) return before
  const act = (on: Transaction, recheck: boolean) =>
    tryUpdate(on, schema, id, body, context, precondition, recheck, given)
  const one = { schema, id, account: String(context.catalog.account.id) }
  const saved = await retryOnConflict(db, one, act, given)
  if (saved) return saved
  throw new Refusal(
    'busy_record',
    `The ${schema.resource.name} ${id} is being changed by many at once; try again.`,
    [],
    {
      'retry-after': '1',
    },
  )
}

/** Dry run of an update: throws its refusal, writes nothing. */
export async function validateUpdate(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
): Promise<void> {
  await merged(db, schema, id, body, context, null, true, {})
}

/** The stored record, and the merged one that would be saved. */
async function merged(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
  precondition: Precondition,
  recheck: boolean,
  given: WriteOptions,
) {
  const row = (!recheck && given.read) || (await readForUpdate(db, schema, id, context))
  if (!isChangeable(row)) throw mayNotChange(schema, id)
  const version = Number(row.version)
  const before = completed(schema, parseJson(row.record!) as JsonObject)
  if (given.isIt?.(before) === false) throw recordNotFound(schema, id)
  const parsed = await resolveNames(db, context, names =>
    parseRecord(given.bodyOn?.(before) ?? body, schema, context.catalog, before, names),
  )
  Object.assign(parsed.values, given.values)
  for (const problem of given.problems ?? []) parsed.problems.add(() => problem)
  if (!isMet(precondition, version)) {
    const told = mayRead(context, schema.resource.name) ? conflicts(parsed.values, before) : undefined
    throw versionConflict(nameOf(schema, id), version, precondition, told)
  }
  await given.check?.(before)
  // References that the record has already may be sent again, even if their records have been deleted since.
  // So a record that was read can be written back.
  const added = parsed.references.filter(reference => !isKnown(reference, schema, before))
  const { undoes = null } = given
  const draft = await validateRecord(db, schema, parsed, { before, added, recheck, undoes }, context)
  return { row, version, before, added, parsed, draft }
}

async function tryUpdate(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  body: Json,
  context: WriteContext,
  precondition: Precondition,
  recheck: boolean,
  given: WriteOptions,
): Promise<Saved | null> {
  const { row, version, before, added, parsed, draft } = await merged(
    db,
    schema,
    id,
    body,
    context,
    precondition,
    recheck,
    given,
  )
  if (Object.keys(draft.changes).length === 0)
    return leaveUnchanged(db, schema, id, row, context, parsed.warnings)
  const nested = await nestedRecords(db, parsed, context)
  const after = nested.named(schema, draft.after)
  const changes = changesOf(schema, before, after)
  after.updated_at = moment
  after.updated_by = context.actor
  const read = { id, version, state: row.state! }
  const invariant = schema.resource.invariant?.(before, after) ?? null
  if (invariant && recheck) await refuseUnkept(db, context, invariant)
  const response = { warnings: parsed.warnings, created: nested.created }
  const write = (params: WriteParams) =>
    change(params, schema, read, { before, after, changes }, { nested, added, invariant, given })
  // Invariants, lookups and values that follow in other records need the rows under the account's lock.
  const isUnderLock = invariant || nested.isSought || schema.resource.updatesOthers
  const first = isUnderLock ? lockFirst : undefined
  const candidates = candidatesOf(schema, parsed, { before, after })
  return save(db, schema, context, write, response, { first, candidates })
}

/** Nested records, conditions and options of a change. */
type With = {
  readonly nested: NestedRecords
  readonly added: readonly Reference[]
  readonly invariant: Invariant | null
  readonly given: WriteOptions
}

/** Throws the refusal if the invariant does not hold; the statement that found so has written nothing. */
async function refuseUnkept(
  db: Transaction,
  { catalog }: WriteContext,
  { condition, refusal }: Invariant,
): Promise<void> {
  const [row] = await ask(db, sql`SELECT (${condition(param(String(catalog.account.id)))})::text AS is_kept`)
  if (row!.is_kept !== 'true') throw refusal()
}

/** The record as read. The merged record is written only if the record's text is still this one. */
type Read = { readonly id: number; readonly version: number; readonly state: string }

/**
 * Writes the changes of the record, and its nested records. The purge of a field (work/background/purge.ts)
 * changes the text without a new version. So the state of the text is compared too: otherwise the text from
 * before the purge would come back. Columns that other writes maintain (D73) are not touched.
 */
function change(
  params: WriteParams,
  schema: ResourceSchema,
  { id, version, state }: Read,
  draft: RecordToWrite & { readonly before: Values },
  { nested, added, invariant, given }: With,
): Write {
  const { actor, aliases, isConfiguration = false, name, revokes = [] } = schema.resource
  const isEnded = actor && draft.before.is_active === 1 && draft.after.is_active === 2
  const ended = cascadeDelete(schema, isEnded ? revokes : [], params)
  const { rows, events } = nested.write(params)
  const conditions = [
    sql`account_id = ${params.account}::bigint AND id = ${String(id)}::bigint`,
    sql`version = ${String(version)}::int AND ${stateOf(sql`document`)} = ${state}::bigint AND deleted_at IS NULL`,
    ...referencesExist(params, added),
    ...nested.absent(params),
    ...(invariant ? [invariant.condition(params.account)] : []),
  ]
  const updated = sql`r AS (
  UPDATE ${tableOf(schema)} SET ${assignedRow(schema, draft)}
  FROM locked
  WHERE ${sql.join(conditions, sql`\n    AND `)}
  RETURNING ${tableOf(schema)}.*
)`
  return {
    changes: [updated, ...ended.changes],
    rows: [
      ...rows,
      ...changedKeys(params, schema, draft),
      ...(given.rows?.(params) ?? []),
      ...(isEnded ? (actor?.endedAccess(params) ?? []) : []),
      ...(schema.resource.updatesOthers?.(params, sql`r`) ?? []),
    ],
    events: [
      ...ended.events,
      ...events,
      {
        type: `${name}.updated`,
        aliases: aliases?.(draft.before, draft.after) ?? [],
        resource: name,
        of: sql`r`,
        changes: changesSql(draft),
      },
    ],
    isConfiguration,
    answer: answerOf(schema),
  }
}

/** Returns the stored record, and writes nothing but the request's key. */
async function leaveUnchanged(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  { version, record }: Record<string, string | null>,
  context: WriteContext,
  warnings: readonly Warning[],
): Promise<Saved | null> {
  const { catalog, idempotency } = context
  const response = { warnings, created: [], isUnchanged: true }
  if (!idempotency)
    return savedOf(schema, context, { row: { id: String(id), version: version!, record: record! }, response })
  const account = param(String(catalog.account.id))
  const answer = sql`
    SELECT ${String(id)}::text AS id, ${version!}::text AS version, ${record!}::text AS record FROM locked`
  const written = await writeIdempotently(db, account, idempotency, unchanged(account, answer), response)
  return written ? savedOf(schema, context, written) : null
}

/** True if the stored record has this reference already, in the same field. */
export function isKnown({ field, id, path }: Reference, { byName }: ResourceSchema, before: Values): boolean {
  // In a nested record, a field of the same name is another field.
  const type = path.split('/')[1] === field ? byName.get(field)?.type : undefined
  if (!type) return false
  const value = before[field] ?? null
  return (kinds[type].pointsTo?.(value) ?? [value].flat()).includes(id)
}

async function readForUpdate(db: Transaction, schema: ResourceSchema, id: number, context: WriteContext) {
  const [row] = await ask(db, recordToChange(schema, context, String(id)))
  if (!row) throw recordNotFound(schema, id)
  return row
}

/**
 * The stored record with a value for every field: custom fields that were never set are absent from the
 * stored text (D43).
 */
export function completed({ whole }: ResourceSchema, stored: JsonObject): Values {
  const empty = whole.fields.filter(field => !(field.internal_name in stored))
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
