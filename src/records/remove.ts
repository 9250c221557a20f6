/**
 * Soft delete of a record (D9): get and lists no longer find it, and an event reports the deletion. The
 * records that it points to stay (D37).
 */
import { type ErrorSlug, Refusal } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { changeable, changeableColumn, isChangeable, visible } from '../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import { cascadeDelete, deletion } from './cascade.ts'
import { storedResponse, writeIdempotently } from './idempotency.ts'
import { isMovedBy, type Move } from './move.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { mayNotChange, nameOf, readRecord, recordNotFound } from './read.ts'
import { pointersTo } from './references.ts'
import { renderedSql } from './rendered-record.ts'
import { authorOf, refuseForbidden, requestKeyOf, type Saved, savedOf, type WriteContext } from './save.ts'
import { recordStatement, type Transaction, tableOf } from './store.ts'
import { freedKeys } from './unique.ts'
import { lockFirst, type Write, writing } from './write.ts'

/**
 * Deletes a record. Returns it if `withRecord`; else null, as for a replayed request.
 *
 * Throws `record_not_found` if there is no such record, `version_conflict` if the caller has read another
 * version, and `in_use` with counts if records point to it. For a user also `last_administrator`, and
 * `forbidden` if the caller is no administrator (D121).
 */
export async function removeRecord(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  context: WriteContext,
  precondition: Precondition = null,
  withRecord = false,
): Promise<Saved | null> {
  const { idempotency = null } = context
  refuseOneself(schema, id, context)
  if (await storedResponse(db, requestKeyOf(context))) return null
  await refuseRemoval(db, schema, id, context)
  const params = authorOf(context)
  const response = { warnings: [], created: [] }
  const ctes = writing(params, removal(params, schema, id, context, precondition, withRecord))
  const written = await writeIdempotently(db, params.account, idempotency, ctes, response, lockFirst)
  if (!written)
    throw new Refusal('busy_record', 'The configuration was changed meanwhile; try again.', [], {
      'retry-after': '1',
    })
  const { row } = written
  if (row.id !== null) return withRecord ? savedOf(schema, context, written) : null
  refuseFound(schema, id, row, precondition)
  throw inUse(schema, id, JSON.parse(row.used!) as Uses)
}

/**
 * Validates a deletion before the moves of `plan` move the records that point to the record, and returns
 * these moves: a refused deletion moves nothing (D37). Throws the refusal of the deletion; `in_use` for
 * records that no move takes along, because the caller does not see them or may not change them.
 */
export async function validateRemoval(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  context: WriteContext,
  precondition: Precondition,
  plan: () => Promise<readonly Move[]>,
): Promise<readonly Move[]> {
  refuseOneself(schema, id, context)
  await refuseOther(db, schema, id, context, precondition)
  const moves = await plan()
  await refuseRemoval(db, schema, id, context)
  const [params, record] = [authorOf(context), param(String(id))]
  const [row] = await ask(
    db,
    sql`SELECT used.n::text AS used, used.refused, t.version::text AS version,
    ${changeableColumn(schema.resource.name, params, sql`t`)}
  FROM (SELECT ${usedColumns(params, schema, record, context, moves)}) used LEFT JOIN ${foundRow(params, schema, record)}`,
  )
  refuseFound(schema, id, row!, precondition)
  const used = JSON.parse(row!.used!) as Uses
  const isUsed = Object.values(used).some(([count]) => count > 0)
  if (isUsed) throw inUse(schema, id, used, ' by what you may not move, so nothing is moved or deleted.')
  return moves
}

/** Throws if users would delete themselves. */
function refuseOneself({ resource }: ResourceSchema, id: number, { actor }: WriteContext): void {
  if (resource.actor && id === actor)
    throw new Refusal('in_use', 'This is your own user: ask as another to delete it.')
}

/** Throws the refusal that the row found gives for the deletion; references to the record are not checked. */
function refuseFound(
  schema: ResourceSchema,
  id: number,
  row: Record<string, string | null>,
  precondition: Precondition,
): void {
  const { version, refused } = row
  if (version === null) throw recordNotFound(schema, id)
  if (!isChangeable(row)) throw mayNotChange(schema, id)
  if (!isMet(precondition, version!)) throw versionConflict(nameOf(schema, id), Number(version), precondition)
  if (refused) throw new Refusal(refused as ErrorSlug, schema.resource.actor!.refusals[refused]!)
}

/** Throws the resource's own refusal of the deletion, for any caller or for this one. */
async function refuseRemoval(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  context: WriteContext,
): Promise<void> {
  const { whyForbidden, whyUndeletable } = schema.resource
  if (!whyForbidden && !whyUndeletable) return
  const [row] = await ask(db, recordStatement(schema, context, String(id)))
  if (!row) throw recordNotFound(schema, id)
  const record = parseJson(row.record!) as JsonObject
  const reason = whyUndeletable?.(record)
  if (reason) throw new Refusal('in_use', reason)
  refuseForbidden(schema, context, record, null)
}

/**
 * Deletes the record, its parts, and a user's tokens. Returns four columns: `id`, null if the record was not
 * deleted; `version`, null if there is no such record; `used`, the number of records of each resource that
 * point to it, as JSON; `refused`, the reason why a user can't be deleted. The statement runs after
 * `lockFirst`, so it sees every record that was saved before.
 */
function removal(
  params: WriteParams,
  schema: ResourceSchema,
  id: number,
  context: WriteContext,
  precondition: Precondition,
  withRecord: boolean,
): Write {
  const { actor, isConfiguration = false, name, parts: own = [], revokes = [] } = schema.resource
  const record = param(String(id))
  const table = tableOf(schema)
  const uses = usesOf(schema, context, params, record)
  const versions = param(precondition && JSON.stringify(precondition))
  const conditions = [
    sql`${visible(name, params, table)} AND ${changeable(name, params, table)}`,
    sql`id = ${record}::bigint AND deleted_at IS NULL`,
    sql`(${versions}::jsonb IS NULL OR ${versions}::jsonb ? version::text)`,
    sql`used.refused IS NULL`,
    ...uses.map(({ resource }) => sql`(used.n #>> ${sql.text(`{${resource},0}`)}) = '0'`),
  ]
  const text = withRecord ? sql`,\n    (SELECT ${renderedSql(schema)} FROM r) AS record` : sql.none
  const parts = cascadeDelete(schema, [...own, ...revokes], params)
  return {
    changes: [
      sql`used AS MATERIALIZED (
  SELECT ${usedColumns(params, schema, record, context)}
  FROM locked
)`,
      sql`r AS (
  UPDATE ${tableOf(schema)} SET version = version + 1, ${deletion(params)}
  FROM used, locked
  WHERE ${sql.join(conditions, sql`\n    AND `)}
  RETURNING ${table}.*
)`,
      ...parts.changes,
    ],
    rows: [
      ...freedKeys(params, schema, sql`r`, 'freed'),
      ...(actor?.endedAccess(params) ?? []),
      ...(schema.resource.updatesOthers?.(params, sql`r`) ?? []),
    ],
    events: [...parts.events, { type: `${name}.deleted`, resource: name, of: sql`r` }],
    isConfiguration,
    // A restore recognizes the parts that were deleted with it by its moment.
    hasOwnMoment: own.length > 0,
    answer: sql`SELECT (SELECT id FROM r)::text AS id, used.n::text AS used, used.refused,
    coalesce((SELECT version FROM r), t.version)::text AS version,
    ${changeableColumn(name, params, sql`t`)}${text}
  FROM used LEFT JOIN ${foundRow(params, schema, record)}`,
  }
}

/** The row `t` of the record, joined; no row if the caller does not see it. */
function foundRow(params: WriteParams, schema: ResourceSchema, record: Param): Sql {
  return sql`${tableOf(schema)} t
    ON ${visible(schema.resource.name, params, sql`t`)} AND t.id = ${record}::bigint AND t.deleted_at IS NULL`
}

/** Columns with the reasons against a deletion: `n` has the counts of `usesOf`, `refused` as in `removal`. */
function usedColumns(
  params: WriteParams,
  schema: ResourceSchema,
  record: Param,
  context: WriteContext,
  moves: readonly Move[] = [],
): Sql {
  const uses = usesOf(schema, context, params, record, moves)
  const counts = uses.map(({ resource, counts }) => sql`${sql.text(resource)}, ${counts}`)
  const { actor } = schema.resource
  return sql`json_build_object(${sql.join(counts)}) AS n,
    ${actor?.refusedDeletion(params, record, context.rights?.isAdmin ?? true) ?? sql`NULL::text`} AS refused`
}

/**
 * SQL that counts, for each resource, the records that point to this one, and those of them that the caller
 * may read. Its own parts, records that it revokes and records to be moved do not count.
 */
function usesOf(
  { resource: { name, parts = [], revokes = [] } }: ResourceSchema,
  context: WriteContext,
  params: WriteParams,
  record: Param,
  moves: readonly Move[] = [],
): { resource: string; counts: Sql }[] {
  const seen = (resource: string, shown: Sql) =>
    mayRead(context, resource) ? sql`${shown} AND ${visible(resource, params, sql`x`)}` : sql`false`
  const moved = (resource: string) =>
    moves
      .filter(move => move.resource === resource)
      .map(move => sql` AND ${isMovedBy(move, params)} IS NOT TRUE`)
  return pointersTo(name, context.catalog, sql`${record}::bigint`)
    .filter(({ resource }) => !parts.includes(resource) && !revokes.includes(resource))
    .map(({ resource, condition, shown }) => ({
      resource,
      counts: sql`(
    SELECT json_build_array(count(*), count(*) FILTER (WHERE ${seen(resource, shown)}))
    FROM ${sql.id(resource)} x
    WHERE x.account_id = ${params.account}::bigint AND x.deleted_at IS NULL AND ${condition}${sql.join(moved(resource), sql.none)})`,
    }))
}

/** Throws `version_conflict` if the caller has read another version. */
async function refuseOther(
  db: Transaction,
  schema: ResourceSchema,
  id: number,
  context: WriteContext,
  precondition: Precondition,
): Promise<void> {
  if (precondition === null) return
  const { version } = await readRecord(db, schema, context, id)
  if (!isMet(precondition, version)) throw versionConflict(nameOf(schema, id), version, precondition)
}

/** resource → number of records that point to the record, and of those that the caller sees */
type Uses = { readonly [resource: string]: readonly [number, number] }

function inUse(
  { resource: { name } }: ResourceSchema,
  id: number,
  used: Uses,
  how = '; change what points to it first.',
): Refusal {
  const uses = Object.entries(used).filter(([, [count]]) => count > 0)
  const problems = uses.map(([resource, [all, seen]]) => ({
    field: null,
    path: '',
    code: 'in_use',
    message: usesMessage(resource, seen, all > seen),
    resource,
    count: seen,
  }))
  return new Refusal('in_use', `The ${name} ${id} is in use${how}`, problems)
}

/** Records that the caller does not see are not counted (D64a). */
function usesMessage(resource: string, seen: number, hasOthers: boolean): string {
  if (seen === 0) return `There are ${pluralOf(resource)} that you can't see and that point to it.`
  const counted = `${seen} ${seen === 1 ? `${resource} points` : `${pluralOf(resource)} point`} to it`
  return hasOthers ? `${counted}, and so do some that you can't see.` : `${counted}.`
}
