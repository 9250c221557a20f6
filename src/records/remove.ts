/**
 * Deletes a record softly (D9): get and lists no longer find it, and an event tells of the deletion. The
 * records that it points to stay (D37).
 */

import { type ErrorSlug, Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { changeable, visible } from '../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import { storedResponse, writeIdempotently } from './idempotency.ts'
import { deletedParts, deletion } from './parts.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { mayNotChange, nameOf, readRecord, recordNotFound } from './read.ts'
import { pointersTo } from './references.ts'
import { renderedSql } from './rendered-record.ts'
import { authorOf, type Context, refuseForbidden, requestKeyOf, type Saved, savedOf } from './save.ts'
import { type Queryable, recordStatement, tableOf } from './store.ts'
import { freedKeys } from './unique.ts'
import { type Author, lockFirst, type Write, writing } from './write.ts'

/**
 * Answers the record as it is deleted, where that is asked for `withRecord`; null where it is not, and to a
 * request that was carried out before.
 *
 * Throws `record_not_found` when there is no such record, `version_conflict` when the caller has read another
 * version, and `in_use` with counts when records point to it. For a user also `last_administrator`, and
 * `forbidden` when the caller is no administrator (D121).
 */
export async function removeRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
  precondition: Precondition = null,
  withRecord = false,
): Promise<Saved | null> {
  const { actor, idempotency = null } = context
  const { actor: actorRules } = fields.resource
  if (actorRules && id === actor)
    throw new Refusal('in_use', 'This is the user of your token: ask with the token of another.')
  if (await storedResponse(db, requestKeyOf(context))) return null
  await refuseRemoval(db, fields, id, context)
  const by = authorOf(context)
  const response = { warnings: [], created: [] }
  const ctes = writing(by, removal(by, fields, id, context, precondition, withRecord))
  const written = await writeIdempotently(db, by.account, idempotency, ctes, response, lockFirst)
  if (!written)
    throw new Refusal('busy_record', 'The configuration was changed meanwhile; try again.', [], {
      'retry-after': '1',
    })
  const { row } = written
  if (row.id !== null) return withRecord ? savedOf(fields, written) : null
  if (row.version === null) throw recordNotFound(fields, id)
  if (row.is_changeable === 'false') throw mayNotChange(fields, id)
  if (!isMet(precondition, row.version!))
    throw versionConflict(nameOf(fields, id), Number(row.version), precondition)
  if (row.refused) throw new Refusal(row.refused as ErrorSlug, actorRules!.refusals[row.refused]!)
  throw inUse(fields, id, JSON.parse(row.used!) as Uses)
}

/** Throws what the resource itself says against the deletion of a record, by anybody or by this caller. */
async function refuseRemoval(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
): Promise<void> {
  const { forbids, stays } = fields.resource
  if (!forbids && !stays) return
  const [row] = await ask(db, recordStatement(fields, context, String(id)))
  if (!row) throw recordNotFound(fields, id)
  const record = parseJson(row.record!) as JsonObject
  const reason = stays?.(record)
  if (reason) throw new Refusal('in_use', reason)
  refuseForbidden(fields, context, record, null)
}

/**
 * Deletes the record, its parts, and a user's tokens. Answers four columns. `id` is null when the record was
 * not deleted. `version` is the version that was found, null when there is no such record. `used` counts the
 * records of each resource that point to it, as JSON. `refused` says why a user can't be deleted. The
 * statement goes after `lockFirst`, so it sees every record that was saved before.
 */
function removal(
  by: Author,
  fields: ResourceFields,
  id: number,
  { catalog, rights }: Context,
  precondition: Precondition,
  withRecord: boolean,
): Write {
  const { actor, isConfiguration = false, name, parts: own = [], ends = [] } = fields.resource
  const record = param(String(id))
  const table = tableOf(fields)
  const uses = usesOf(fields, catalog, by, record)
  const counts = uses.map(({ resource, counts }) => sql`${sql.text(resource)}, ${counts}`)
  const versions = param(precondition && JSON.stringify(precondition))
  const conditions = [
    sql`${visible(name, by, table)} AND ${changeable(name, by, table)}`,
    sql`id = ${record}::bigint AND deleted_at IS NULL`,
    sql`(${versions}::jsonb IS NULL OR ${versions}::jsonb ? version::text)`,
    sql`used.refused IS NULL`,
    ...uses.map(({ resource }) => sql`(used.n #>> ${sql.text(`{${resource},0}`)}) = '0'`),
  ]
  const text = withRecord ? sql`,\n    (SELECT ${renderedSql(fields)} FROM r) AS record` : sql.none
  const parts = deletedParts(fields, [...own, ...ends], by)
  return {
    changes: [
      sql`used AS MATERIALIZED (
  SELECT json_build_object(${sql.join(counts)}) AS n,
    ${actor?.refusedDeletion(by, record, rights?.isAdmin ?? true) ?? sql`NULL::text`} AS refused
  FROM locked
)`,
      sql`r AS (
  UPDATE ${tableOf(fields)} SET version = version + 1, ${deletion(by)}
  FROM used, locked
  WHERE ${sql.join(conditions, sql`\n    AND `)}
  RETURNING ${table}.*
)`,
      ...parts.changes,
    ],
    rows: [
      ...freedKeys(by, fields, sql`r`, 'freed'),
      ...(actor?.endedAccess(by) ?? []),
      ...(fields.resource.bringsInLine?.(by, sql`r`) ?? []),
    ],
    events: [...parts.events, { type: `${name}.deleted`, resource: name, of: sql`r` }],
    isConfiguration,
    // What went with it is known by its moment when it comes back.
    hasOwnMoment: own.length > 0,
    answer: sql`SELECT (SELECT id FROM r)::text AS id, used.n::text AS used, used.refused,
    coalesce((SELECT version FROM r), t.version)::text AS version,
    (${changeable(name, by, sql`t`)})::text AS is_changeable${text}
  FROM used LEFT JOIN ${table} t
    ON ${visible(name, by, sql`t`)} AND t.id = ${record}::bigint AND t.deleted_at IS NULL`,
  }
}

/**
 * SQL that counts, for each resource, the records that point to this one, and how many of them the caller
 * sees. Its own parts, and what ends with it, do not count.
 */
function usesOf(
  { resource: { name, parts = [], ends = [] } }: ResourceFields,
  catalog: Catalog,
  by: Author,
  record: Param,
): { resource: string; counts: Sql }[] {
  return pointersTo(name, catalog, sql`${record}::bigint`)
    .filter(({ resource }) => !parts.includes(resource) && !ends.includes(resource))
    .map(({ resource, condition }) => ({
      resource,
      counts: sql`(
    SELECT json_build_array(count(*), count(*) FILTER (WHERE ${visible(resource, by, sql`x`)}))
    FROM ${sql.id(resource)} x
    WHERE x.account_id = ${by.account}::bigint AND x.deleted_at IS NULL AND ${condition})`,
    }))
}

/**
 * Throws `version_conflict` when the caller has read another version. Used before what is in a record is
 * moved, which happens before its deletion.
 */
export async function refuseOther(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
  precondition: Precondition,
): Promise<void> {
  if (precondition === null) return
  const { version } = await readRecord(db, fields, context, id)
  if (!isMet(precondition, version)) throw versionConflict(nameOf(fields, id), version, precondition)
}

/** resource → how many records point to the record, and how many of them the caller sees */
type Uses = { readonly [resource: string]: readonly [number, number] }

function inUse({ resource: { name } }: ResourceFields, id: number, used: Uses): Refusal {
  const uses = Object.entries(used).filter(([, [count]]) => count > 0)
  const problems = uses.map(([resource, [all, seen]]) => ({
    field: null,
    path: '',
    code: 'in_use',
    message: usesMessage(resource, seen, all > seen),
    resource,
    count: seen,
  }))
  return new Refusal('in_use', `The ${name} ${id} is in use; change what points to it first.`, problems)
}

/** What the caller does not see is not counted (D64a). */
function usesMessage(resource: string, seen: number, hasOthers: boolean): string {
  if (seen === 0) return `There are ${pluralOf(resource)} that you can't see and that point to it.`
  const counted = `${seen} ${seen === 1 ? `${resource} points` : `${pluralOf(resource)} point`} to it`
  return hasOthers ? `${counted}, and so do some that you can't see.` : `${counted}.`
}
