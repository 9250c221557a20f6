/**
 * Deletes a record softly (D9): it leaves get and lists, and an event says so. What others point to stays
 * (D37).
 */
import { type ErrorSlug, Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'
import { refusedDeletion } from './administrators.ts'
import { recall, writeOnce } from './once.ts'
import { partsOf } from './parts.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf, readRecord, recordNotFound } from './read.ts'
import { pointersTo } from './references.ts'
import { askedOnce, authorOf, type Context } from './save.ts'
import { type Queryable, tableOf } from './store.ts'
import { type Author, lockFirst, type Write, writing } from './write.ts'

/**
 * Throws `record_not_found` when there is no such live record, `version_conflict` when it is another than the
 * caller has read, `in_use` with the counts when records point to it; of a user also `last_administrator`,
 * and `forbidden` where the caller is none (D121).
 */
export async function removeRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
  precondition: Precondition = null,
): Promise<void> {
  const { actor, once = null } = context
  const { isActor } = fields.resource
  if (isActor && id === actor)
    throw new Refusal('in_use', 'This is the user of your token: ask with the token of another.')
  if (await recall(db, askedOnce(context))) return
  const by = authorOf(context)
  const ctes = writing(by, removal(by, fields, id, context, precondition))
  const written = await writeOnce(db, by.account, once, ctes, {}, lockFirst)
  if (!written)
    throw new Refusal('busy_record', 'The configuration was changed meanwhile; try again.', [], {
      'retry-after': '1',
    })
  const { row } = written
  if (row.id !== null) return
  if (row.version === null) throw recordNotFound(fields, id)
  if (!isMet(precondition, row.version!))
    throw versionConflict(nameOf(fields, id), Number(row.version), precondition)
  if (row.refused) throw new Refusal(row.refused as ErrorSlug, refusals[row.refused]!)
  throw inUse(fields, id, JSON.parse(row.used!) as { [resource: string]: number })
}

/**
 * Deletes the record, its parts, and the tokens of a user. Answers its id (null when it was not deleted), the
 * version that was found (null: there is none), used: how many records of each resource point to it, as JSON,
 * and refused: why a user may not go. To be carried out after `lockFirst`, so that it sees every record that
 * was saved till then.
 */
function removal(
  by: Author,
  fields: ResourceFields,
  id: number,
  { catalog, isAdmin = false }: Context,
  precondition: Precondition,
): Write {
  const { isActor = false, isConfiguration = false, name } = fields.resource
  const { account } = by
  const record = param(String(id))
  const uses = usesOf(fields, catalog, account, record)
  const counts = uses.map(({ resource, count }) => sql`${sql.text(resource)}, ${count}`)
  const versions = param(precondition && JSON.stringify(precondition))
  const conditions = [
    sql`account_id = ${account}::bigint AND id = ${record}::bigint AND deleted_at IS NULL`,
    sql`(${versions}::jsonb IS NULL OR ${versions}::jsonb ? version::text)`,
    sql`used.refused IS NULL`,
    ...uses.map(({ resource }) => sql`(used.n ->> ${sql.text(resource)}) = '0'`),
  ]
  const parts = partsOf(fields, by, 'deleted', sql`deleted_at = locked.at`, sql`IS NULL`)
  return {
    changes: [
      sql`used AS MATERIALIZED (
  SELECT json_build_object(${sql.join(counts)}) AS n,
    ${isActor ? refusedDeletion(by, record, isAdmin) : sql`NULL::text`} AS refused
  FROM locked
)`,
      sql`r AS (
  UPDATE ${tableOf(fields)} SET version = version + 1, deleted_at = locked.at
  FROM used, locked
  WHERE ${sql.join(conditions, sql`\n    AND `)}
  RETURNING id, version
)`,
      ...parts.changes,
    ],
    rows: isActor ? [endedTokens(account)] : [],
    events: [...parts.events, { type: `${name}.deleted`, resource: name, of: sql`r` }],
    isConfiguration,
    answer: sql`SELECT (SELECT id FROM r)::text AS id, used.n::text AS used, used.refused, (
    SELECT t.version FROM ${tableOf(fields)} t
    WHERE t.account_id = ${account}::bigint AND t.id = ${record}::bigint AND t.deleted_at IS NULL
  )::text AS version FROM used`,
  }
}

/** How many live records of each resource point to the record; its parts are no use of it. */
function usesOf(
  { resource: { name, parts = [] } }: ResourceFields,
  catalog: Catalog,
  account: Param,
  record: Param,
): { resource: string; count: Sql }[] {
  return pointersTo(name, catalog, sql`${record}::bigint`)
    .filter(({ resource }) => !parts.includes(resource))
    .map(({ resource, condition }) => ({
      resource,
      count: sql`(
    SELECT count(*) FROM ${sql.id(resource)} x
    WHERE x.account_id = ${account}::bigint AND x.deleted_at IS NULL AND ${condition})`,
    }))
}

/** The tokens of whoever is deleted end, for good. */
function endedTokens(account: Param): Sql {
  return sql`ended AS (
  UPDATE token x SET revoked_at = locked.at
  FROM r, locked
  WHERE x.account_id = ${account}::bigint AND x.user_id = r.id AND x.revoked_at IS NULL
)`
}

/**
 * Throws `version_conflict` when the record is another than the caller has read: for what is done before it
 * is deleted.
 */
export async function refuseOther(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  { catalog }: Context,
  precondition: Precondition,
): Promise<void> {
  if (precondition === null) return
  const { version } = await readRecord(db, fields, catalog.account.id, id)
  if (!isMet(precondition, version)) throw versionConflict(nameOf(fields, id), version, precondition)
}

/** Why a user may not be deleted, see administrators.ts. */
const refusals: { readonly [slug: string]: string } = {
  last_administrator:
    'This user has the only valid token with the scope admin: make one for another user first.',
  forbidden: 'This user has a token with the scope admin: to delete them, ask with such a token too.',
  unauthenticated: 'The user of your token was deleted.',
}

function inUse(
  { resource: { name } }: ResourceFields,
  id: number,
  used: { [resource: string]: number },
): Refusal {
  const uses = Object.entries(used).filter(([, count]) => count > 0)
  const problems = uses.map(([resource, count]) => ({
    field: null,
    path: '',
    code: 'in_use',
    message: `${count} ${count === 1 ? `${resource} points` : `${resource}s point`} to it.`,
    resource,
    count,
  }))
  return new Refusal('in_use', `The ${name} ${id} is in use; change what points to it first.`, problems)
}
