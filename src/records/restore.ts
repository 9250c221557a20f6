/** Restores a deleted record (D9), with an event. The records that it points to must exist. */
import { busy, type Problem, Refusal } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { storedRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { callerParamsOf, changeableColumn, isChangeable, unlimited, visible } from '../rights/visibility.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import { cascadeRestore, partsOfDeletion, type Whole } from './cascade.ts'
import { onLatestCatalog } from './on-latest-catalog.ts'
import { newParseState, type Reference } from './parse.ts'
import { type Precondition, requireVersion } from './precondition.ts'
import { mayNotChange, nameOf } from './read.ts'
import { quotaConditions, quotaProblem } from './record-quota.ts'
import { missingReferences, readReferences, referenceStatesIn } from './references.ts'
import { hiddenProblem, isHiddenByRole, renderedSql, renderedWith } from './rendered-record.ts'
import { tableOf } from './store.ts'
import { clash, fieldsWithKeys, newKeys, storedKeys } from './unique.ts'
import type { Work } from './work.ts'
import type { Saved, WriteContext } from './write/operation.ts'
import { returnedRows } from './write/plan.ts'
import { type Write, writeParamsOf } from './write/protocol.ts'
import { findIdempotentResponse } from './write/response.ts'
import { applyRules, refuseForbidden } from './write/rules.ts'
import { writeRecord } from './write/save.ts'

const attempts = 3
/** Maximum number of clashes of parts that are named. */
const clashesMax = 100

/**
 * Restores a record that was deleted at `oldest` or later. Throws `record_not_found` if there is none,
 * `version_conflict` if the caller has read another version, `validation_failed` with the references to
 * deleted records, and `duplicate` if its name was taken meanwhile.
 */
export function restoreRecord(
  work: Work,
  id: number,
  oldest: Date,
  precondition: Precondition = null,
): Promise<Saved> {
  return onLatestCatalog(work, latest => restore(latest, id, oldest, precondition))
}

async function restore(work: Work, id: number, oldest: Date, precondition: Precondition): Promise<Saved> {
  const { db, schema, context } = work
  const before = await findIdempotentResponse(work)
  if (before) return before
  const since = oldest.toISOString()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const [row] = await ask(db, deletedSql(work, id, since))
    if (!row) {
      const { name } = schema.resource
      const message = `There is no deleted ${name} ${id}; what was deleted long ago is gone.`
      throw new Refusal('record_not_found', message)
    }
    if (!isChangeable(row!)) throw mayNotChange(schema, id)
    const version = row.version!
    requireVersion(nameOf(schema, id), Number(version), precondition)
    const record = parseJson(row.record!) as JsonObject
    refuseForbidden(work, record, record)
    const full = await quotaProblem(work, record)
    if (full) throw new Refusal('validation_failed', `The ${schema.resource.name} was not restored.`, [full])
    refuseByRules(work, record)
    const references = referencesOf(schema, record, context)
    const referenceState = referenceStatesIn(
      await readReferences(db, unlimited(callerParamsOf(context)), references),
    )
    const params = writeParamsOf(context)
    const whole = { params, schema, id, parts: schema.resource.parts ?? [] }
    const lost = lostByParts(whole, row.deleted_at!)
    const ofParts = lost ? (await ask(db, lost)).map(one => lostProblem(context, one)) : []
    refuseMissing(schema, [...missingReferences(references, referenceState), ...ofParts])
    const write = restoration(whole, row!, record, references, lost)
    const candidates = [{ schema, after: record, before: null, path: '' }]
    const response = { warnings: [], created: [] }
    const furtherClashes = () => clashesOfParts(work, whole, row.deleted_at!)
    const saved = await writeRecord(work, { params, write, response, candidates, furtherClashes })
    if (saved) return saved
  }
  throw busy('What the record points to, or the configuration, keeps changing; try again.')
}

/**
 * SELECT of a deleted record that the caller sees and that can be restored: version, record, deleted_at,
 * is_changeable.
 */
function deletedSql({ schema, context }: Work, id: number, since: string): Sql {
  const [params, r, { name }] = [callerParamsOf(context), sql`r`, schema.resource]
  return sql`SELECT r.version::text AS version, ${renderedSql(schema, params.account)} AS record,
  r.deleted_at::text AS deleted_at, ${changeableColumn(name, params, r)}
FROM ${tableOf(schema)} r
WHERE ${visible(name, params, r)} AND r.id = ${String(id)}::bigint
  AND r.deleted_at >= ${since}::timestamptz`
}

/**
 * Restores the record and the parts that were deleted with it. Writes nothing if the record is no longer
 * deleted in that version, a referenced record is deleted, or the record limit is reached. `row`: the
 * record that was read.
 */
function restoration(
  whole: Whole,
  { version, deleted_at: deletedAt }: Readonly<Record<string, string | null>>,
  stored: Values,
  references: readonly Reference[],
  lost: Sql | null,
): Write {
  const { params, schema, id, parts } = whole
  const { isConfiguration = false, name, updatesOthers } = schema.resource
  const [table, t, record] = [tableOf(schema), sql`t`, param(String(id))]
  const ofIt = sql`t.account_id = ${params.account}::bigint AND t.id = ${record}::bigint`
  const isIt = sql`${ofIt} AND t.deleted_at = ${deletedAt!}::timestamptz AND t.version = ${version!}::int`
  const undeleted = (row: Sql) => sql`deleted_at = NULL, deleted_by = NULL, ${authored(params, row)}`
  const cascaded = cascadeRestore(whole, undeleted(sql`x`), deletedAt!)
  const change = sql`
  UPDATE ${table} t SET version = t.version + 1, ${undeleted(t)}
  FROM locked WHERE ${isIt}
`
  return {
    references,
    conditions: [
      ...quotaConditions(params.account, schema.resource, stored),
      ...(lost ? [sql`NOT EXISTS (${lost})`] : []),
    ],
    locksFirst: true,
    updates: [
      { name: 'r', change, returning: sql`t.*`, rows: () => sql`SELECT t.* FROM ${table} t WHERE ${ofIt}` },
      ...cascaded.updates,
    ],
    conditionsOfUpdates: () => [sql`EXISTS (SELECT 1 FROM ${table} t WHERE ${isIt})`],
    steps: [...newKeys(schema, 'r'), ...(updatesOthers?.(params, sql`r`, []) ?? [])],
    events: [...cascaded.events, { type: `${name}.restored`, resource: name, of: sql`r` }],
    isConfiguration,
    hasOwnMoment: parts.length > 0,
    answer: returnedRows(params, schema),
  }
}

/**
 * SELECT of the deleted records to which parts point that were deleted with the record: the part and its
 * field. A part names what it belongs to also where that is deleted (D73). Null if parts point to nothing
 * else.
 */
function lostByParts(whole: Whole, deletedAt: string): Sql | null {
  const { params, parts } = whole
  const selects = parts.flatMap(part => {
    const rows = partsOfDeletion(whole, part, deletedAt)
    const isOther = ({ related, is_read_only }: Field) =>
      related && !is_read_only && !params.resources.get(related)?.resource.parts?.includes(part)
    return params.resources
      .get(part)!
      .whole.fields.filter(isOther)
      .map(field => {
        const { multi, sql: value } = kinds[field.type].term(field, '')!
        const ids = value(storedRow(sql`x`))
        return sql`SELECT ${sql.text(part)} AS part, min(x.id)::text AS id, ${sql.text(field.internal_name)} AS field
      FROM ${rows} x, LATERAL (SELECT ${multi ? sql`unnest(${ids})` : ids} AS id) i
        JOIN ${sql.id(field.related!)} y ON y.account_id = ${params.account}::bigint AND y.id = i.id
      WHERE y.deleted_at IS NOT NULL HAVING count(*) > 0`
      })
  })
  return selects.length ? sql.join(selects, sql`\nUNION ALL\n`) : null
}

function lostProblem(
  context: WriteContext,
  { part, id, field }: Readonly<Record<string, string | null>>,
): Problem {
  const schema = context.catalog.resources.get(part!)!
  if (!mayRead(context, part!) || isHiddenByRole(schema, field!)) return hiddenProblem()
  const message = `The ${part} ${id}, which comes back with it, has ${field} deleted: restore that first.`
  return { field: null, path: '', code: 'reference_not_found', message }
}

/** The unique values of the record's parts that other live records, or several of the parts, have. */
async function clashesOfParts({ db, context }: Work, whole: Whole, deletedAt: string): Promise<Problem[]> {
  const clashes: Problem[] = []
  for (const part of whole.parts) {
    const of = context.catalog.resources.get(part)!
    if (fieldsWithKeys(of).length === 0) continue
    const rows = await ask(db, clashesSql(whole.params, of, partsOfDeletion(whole, part, deletedAt)))
    for (const { field, own = null, holder = null } of rows) {
      const by = fieldsWithKeys(of).find(one => String(one.id) === field)!
      clashes.push(mayRead(context, part) ? clashOfPart(of, by, own, holder) : hiddenProblem())
    }
  }
  return clashes
}

/** SELECT of taken values: the field, and the part and the holder as far as the caller sees them. */
function clashesSql(params: WriteParams, schema: ResourceSchema, parts: Sql): Sql {
  const { name } = schema.resource
  const seen = (record: Sql) => sql`(SELECT y.id FROM ${sql.id(name)} y
    WHERE ${visible(name, params, sql`y`)} AND y.id = ${record})::text`
  return sql`SELECT k.field::text AS field, ${seen(sql`k.own`)} AS own, ${seen(sql`k.holder`)} AS holder
FROM (
  SELECT k.field, k.key, min(k.record) AS own,
    coalesce(min(u.record), nullif(max(k.record), min(k.record))) AS holder
  FROM (SELECT x.id AS record, k.field, k.key FROM ${parts} x, LATERAL (${storedKeys(fieldsWithKeys(schema))}) k) k
  LEFT JOIN unique_value u
    ON u.account_id = ${params.account}::bigint AND u.field = k.field AND u.key = k.key
  GROUP BY k.field, k.key) k
WHERE k.holder IS NOT NULL ORDER BY k.own LIMIT ${sql.integer(clashesMax)}`
}

function clashOfPart(
  schema: ResourceSchema,
  field: Field,
  own: string | null,
  holder: string | null,
): Problem {
  const { name } = schema.resource
  const problem = clash(schema, field, '', holder)
  if (problem.field === null || own === null) return problem
  const message = `The ${name} ${own}, which comes back with it, has the same ${problem.field} as another one.`
  return { ...problem, message }
}

/**
 * Throws `validation_failed` if a part of the configuration breaks a rule by now, as a role does that hides
 * what has become required (D64).
 */
function refuseByRules(work: Work, record: Values): void {
  const { resource } = work.schema
  if (!resource.isConfiguration) return
  const unchanged = { ...newParseState(work.context.catalog), values: {}, sent: new Set<string>(), path: '' }
  applyRules(work, unchanged, record, () => null, null)
  if (unchanged.problems.count)
    throw new Refusal('validation_failed', `The ${resource.name} was not restored.`, unchanged.problems)
}

/** Sets the time and user of the last change; nothing else changes. */
function authored({ actor }: WriteParams, row: Sql): Sql {
  const document = renderedWith(sql`${row}.document`, {
    updated_at: sql`locked.moment`,
    updated_by: sql`${actor}::text`,
  })
  return sql`updated_at = locked.at, updated_by = ${actor}::bigint, document = ${document}`
}

/**
 * The references that a stored record needs. Products are left out, because its lines have copies (D23), and
 * so are the users who changed it.
 */
function referencesOf(
  { resource, whole }: ResourceSchema,
  record: JsonObject,
  { catalog }: WriteContext,
): Reference[] {
  return whole.fields.flatMap(({ internal_name: field, related, is_read_only }) => {
    if (!related || is_read_only || catalog.resources.get(related)?.resource.snapshot) return []
    const all = [record[field] ?? []].flat().map(Number)
    // The record itself comes back.
    const ids = related === resource.name ? all.filter(id => id !== record.id) : all
    return ids.map(id => ({ resource: related, id, field, path: `/${field}`, by: 'before' }))
  })
}

function refuseMissing(schema: ResourceSchema, missing: readonly Problem[]): void {
  if (missing.length === 0) return
  const hint = 'Restore it first; what was deleted long ago is gone.'
  const problems = missing.map(problem =>
    isHiddenByRole(schema, problem.field!) ? hiddenProblem() : { ...problem, hint },
  )
  const message = `The ${schema.resource.name} was not restored: what it points to is deleted.`
  throw new Refusal('validation_failed', message, problems)
}
