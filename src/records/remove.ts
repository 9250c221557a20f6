/**
 * Soft delete of a record (D9): get and lists no longer find it, and an event reports the deletion. The
 * records that it points to stay (D37).
 */
import { busy, type ErrorSlug, problemAt, Refusal } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { changeable, changeableColumn, isChangeable, visible } from '../rights/visibility.ts'
import { arrayLiteral, ask, type Param, param, type Sql, sql } from '../sql.ts'
import { cascadeDelete, deletion } from './cascade.ts'
import { storedResponse, writeIdempotently } from './idempotency.ts'
import { isMovedBy, type Move } from './move.ts'
import { onLatestCatalog } from './on-latest-catalog.ts'
import { type Precondition, requireVersion } from './precondition.ts'
import { mayNotChange, nameOf, readRecord, recordNotFound } from './read.ts'
import { pointersTo, unpointed } from './references.ts'
import { longReads, recordStatement, tableOf } from './store.ts'
import { freedKeys } from './unique.ts'
import type { Work } from './work.ts'
import { execute } from './write/execute.ts'
import type { Saved } from './write/operation.ts'
import { returnedRows } from './write/plan.ts'
import { type Event, type Write, writeParamsOf } from './write/protocol.ts'
import { savedOf } from './write/response.ts'
import { refuseForbidden } from './write/rules.ts'

/** A deletion: of which record, and by whom. `isAlone`: its parts forbid it, and don't go along. */
type Removal = Work & {
  readonly id: number
  readonly precondition: Precondition
  readonly isAlone?: boolean
}

/** Number of attempts while something changes between the deletion and the search for what forbids it. */
const attempts = 2
/** The records of a resource that point to one are counted up to this number. */
const countedMax = 1000

/**
 * Deletes a record with its parts; if `isAlone`, only one without parts. Returns it if `isRead`; else null,
 * as for a replayed request.
 *
 * Throws `record_not_found` if there is no such record, `version_conflict` if the caller has read another
 * version, and `in_use` with counts if records point to it. For a user also `last_administrator`, and
 * `forbidden` if the caller is no administrator (D121).
 */
export function removeRecord(
  work: Work,
  id: number,
  precondition: Precondition = null,
  { isRead = false, isAlone = false } = {},
): Promise<Saved | null> {
  return onLatestCatalog(work, latest => remove({ ...latest, id, precondition, isAlone }, isRead))
}

async function remove(asked: Removal, isRead: boolean): Promise<Saved | null> {
  const { db, context, id, precondition, isAlone = false } = asked
  refuseOneself(asked)
  if (await storedResponse(db, context)) return null
  for (let attempt = 0; attempt < attempts; attempt++) {
    await refuseRemoval(asked)
    const params = writeParamsOf(context)
    const write = removal(asked, params, [id], precondition, { isRead, isAlone })
    const written = await writeIdempotently(db, params, context, write, { warnings: [], created: [] })
    if (written) return isRead ? savedOf(asked, written) : null
    await refuseReasons(asked, [], '; change what points to it first.')
  }
  throw busy('The configuration was changed meanwhile; try again.')
}

/** True if only references to a record can forbid its deletion. */
export function canBeRemovedTogether({ resource }: ResourceSchema): boolean {
  const { isConfiguration, actor, whyForbidden, whyUndeletable } = resource
  return !isConfiguration && !actor && !whyForbidden && !whyUndeletable
}

/**
 * Deletes these records, in this order, in a transaction with the account's lock. Returns false, and deletes
 * none, if something points to one of them, a part too, or the caller may not delete one. `removeRecord` then
 * tells why.
 */
export async function removeTogether(work: Work, ids: readonly number[]): Promise<boolean> {
  const params = writeParamsOf(work.context)
  const write = removal(work, params, ids, null, { isRead: false, isAlone: true })
  return (await execute(work.db, params, write, { isLocked: true })).length > 0
}

/**
 * Validates a deletion before the moves of `plan` move the records that point to the record, and returns
 * these moves: a refused deletion moves nothing (D37). Throws the refusal of the deletion; `in_use` for
 * records that no move takes along, because the caller does not see them or may not change them.
 */
export async function validateRemoval(
  work: Work,
  id: number,
  precondition: Precondition,
  plan: () => Promise<readonly Move[]>,
): Promise<readonly Move[]> {
  const asked = { ...work, id, precondition }
  refuseOneself(asked)
  if (precondition)
    requireVersion(nameOf(work.schema, id), (await readRecord(work, id)).version, precondition)
  const moves = await plan()
  await refuseRemoval(asked)
  await refuseReasons(asked, moves, ' by what you may not move, so nothing is moved or deleted.')
  return moves
}

/** Throws what forbids the deletion, if anything does, but for records that `moves` take along. */
async function refuseReasons(asked: Removal, moves: readonly Move[], how: string): Promise<void> {
  const { db, schema, id, context, precondition } = asked
  const { actor, name } = schema.resource
  const [params, record] = [writeParamsOf(context), param(String(id))]
  const uses = usesOf(asked, params, record, moves)
  const refused = actor?.refusedDeletion(params, record, context.rights?.isAdmin ?? true)
  const statement = sql`SELECT json_build_array(${sql.join(uses.map(({ counts }) => counts))})::text AS used,
    ${refused ?? sql`NULL::text`} AS refused,
  t.version::text AS version, ${changeableColumn(name, params, sql`t`)}
FROM (SELECT 1) one LEFT JOIN ${tableOf(schema)} t
  ON ${visible(name, params, sql`t`)} AND t.id = ${record}::bigint AND t.deleted_at IS NULL`
  // The records that moves take along are all looked at, however many they are.
  const [row] = await ask(moves.length ? longReads(db, context) : db, statement)
  const { version, used } = row!
  if (version === null) throw recordNotFound(schema, id)
  if (!isChangeable(row!)) throw mayNotChange(schema, id)
  requireVersion(nameOf(schema, id), Number(version), precondition)
  if (row!.refused) throw new Refusal(row!.refused as ErrorSlug, actor!.refusals[row!.refused]!)
  const counts = JSON.parse(used!) as readonly [number, number, number][]
  const problems = uses.flatMap(({ resource, unused }, index) => {
    const [all, seen, dormant] = counts[index]!
    if (all === 0) return []
    const hint = dormant ? { hint: unusedHint(seen, dormant, unused) } : {}
    return [
      {
        ...problemAt('', 'in_use', usesMessage(resource, seen, all > seen)),
        resource,
        count: Math.min(seen, countedMax),
        ...hint,
      },
    ]
  })
  if (problems.length) throw new Refusal('in_use', `The ${name} ${id} is in use${how}`, problems)
}

function refuseOneself({ schema, id, context }: Removal): void {
  if (schema.resource.actor && id === context.actor)
    throw new Refusal('in_use', "You can't delete your own user: another administrator has to.")
}

/** Throws the resource's own refusal of the deletion, for any caller or for this one. */
async function refuseRemoval(asked: Removal): Promise<void> {
  const { db, schema, id } = asked
  const { whyForbidden, whyUndeletable } = schema.resource
  if (!whyForbidden && !whyUndeletable) return
  const [row] = await ask(db, recordStatement(asked, String(id)))
  if (!row) throw recordNotFound(schema, id)
  const record = parseJson(row.record!) as JsonObject
  const reason = whyUndeletable?.(record)
  if (reason) throw new Refusal('in_use', reason)
  refuseForbidden(asked, record, null)
}

/**
 * Deletes the records, if the caller may delete all of them and nothing points to one. A user takes their
 * tokens along, and unless `isAlone` a single record its parts. `isRead`: the answer has the record.
 */
function removal(
  { schema, context: { rights } }: Work,
  params: WriteParams,
  ids: readonly number[],
  precondition: Precondition,
  { isRead, isAlone }: { readonly isRead: boolean; readonly isAlone: boolean },
): Write {
  const { actor, isConfiguration = false, name, parts = [], revokes = [] } = schema.resource
  const isOne = ids.length === 1
  const own = isOne ? [...(isAlone ? [] : parts), ...revokes] : []
  const cascaded = cascadeDelete({ params, schema, id: ids[0]!, parts: own })
  const [table, all, t] = [tableOf(schema), param(`{${ids.join()}}`), sql`t`]
  const versions = precondition && arrayLiteral(precondition)
  const isThere = sql`${visible(name, params, t)} AND ${changeable(name, params, t)}
    AND t.id = ANY(${all}::bigint[]) AND t.deleted_at IS NULL${
      versions === null ? sql.none : sql` AND t.version::text = ANY(${versions}::text[])`
    }`
  const refused = isOne && actor?.refusedDeletion(params, param(String(ids[0])), rights?.isAdmin ?? true)
  const count = sql.integer(ids.length)
  return {
    conditions: [
      ...unpointed(name, params, sql`${all}::bigint[]`, own),
      ...(refused ? [sql`(${refused}) IS NULL`] : []),
    ],
    locksFirst: true,
    updates: [
      {
        name: 'r',
        change: sql`
  UPDATE ${table} t SET version = t.version + 1, ${deletion(params)}
  FROM locked WHERE ${isThere}
`,
        returning: sql`t.*`,
        rows: () => sql`SELECT t.* FROM ${table} t
  WHERE t.account_id = ${params.account}::bigint AND t.id = ANY(${all}::bigint[])`,
      },
      ...cascaded.updates,
    ],
    conditionsOfUpdates: () => [sql`(SELECT count(*) FROM ${table} t WHERE ${isThere}) = ${count}`],
    steps: [
      ...freedKeys(params, schema, 'r'),
      ...(isOne ? (actor?.endedAccess(params) ?? []) : []),
      ...(schema.resource.updatesOthers?.(params, sql`r`, []) ?? []),
    ],
    events: [...cascaded.events, { type: `${name}.deleted`, resource: name, ...inOrder(all, ids.length) }],
    isConfiguration,
    // The moment tells the parts that were deleted with a record.
    hasOwnMoment: own.length > 0,
    answer: isRead ? returnedRows(params, schema) : sql`SELECT r.id::text AS id FROM r`,
  }
}

/** The rows of `r` in the order of these ids, for an event. */
function inOrder(ids: Param, count: number): Pick<Event, 'of' | 'count'> {
  if (count === 1) return { of: sql`r` }
  const of = sql`(SELECT r.id, r.version, ${sql.integer(count)} - o.place AS behind
    FROM r JOIN unnest(${ids}::bigint[]) WITH ORDINALITY o (id, place) ON o.id = r.id)`
  return { of, count }
}

/**
 * SQL that counts, for each resource, the records that point to this one, one more than `countedMax` at most,
 * those of them that the caller may read, and those of these that only fields out of use (`unused`) point
 * from. Its own parts unless `isAlone`, records that it revokes and records to be moved do not count.
 */
function usesOf(
  { schema, context, isAlone }: Removal,
  params: WriteParams,
  record: Param,
  moves: readonly Move[],
) {
  const { name, parts = [], revokes = [] } = schema.resource
  const seen = (resource: string, shown: Sql) =>
    mayRead(context, resource) ? sql`${shown} AND ${visible(resource, params, sql`x`)}` : sql`false`
  const moved = (resource: string) =>
    moves
      .filter(move => move.resource === resource)
      .map(move => sql` AND ${isMovedBy(move, params)} IS NOT TRUE`)
  // The CTE is planned as if all were read, which makes the planner take an index.
  return pointersTo(name, context.catalog, sql`${record}::bigint`)
    .filter(({ resource }) => (isAlone || !parts.includes(resource)) && !revokes.includes(resource))
    .map(({ resource, condition, shown, used, unused }) => ({
      ...{ resource, unused },
      counts: sql`(
    WITH pointing AS MATERIALIZED (
      SELECT ${seen(resource, shown)} AS is_seen, ${used} AS is_used FROM ${sql.id(resource)} x
      WHERE x.account_id = ${params.account}::bigint AND x.deleted_at IS NULL AND ${condition}${sql.join(moved(resource), sql.none)})
    SELECT json_build_array(count(*), count(*) FILTER (WHERE is_seen),
      count(*) FILTER (WHERE is_seen AND is_used IS NOT TRUE))
    FROM (SELECT * FROM pointing LIMIT ${sql.integer(countedMax + 1)}) x)`,
    }))
}

/** Records that the caller does not see are not counted (D64a). */
function usesMessage(resource: string, seen: number, hasOthers: boolean): string {
  if (seen === 0) return `There are ${pluralOf(resource)} that you can't see and that point to it.`
  const count = seen > countedMax ? `More than ${countedMax}` : seen
  const counted = seen === 1 ? `1 ${resource} points to it` : `${count} ${pluralOf(resource)} point to it`
  return hasOthers ? `${counted}, and so do some that you can't see.` : `${counted}.`
}

function unusedHint(seen: number, count: number, fields: readonly Field[]): string {
  const names = fields.map(field => field.internal_name).join(', ')
  const by = `fields that are out of use (${names})`
  const how = 'take them into use again, and change it there.'
  if (seen > countedMax) return `At least ${Math.min(count, countedMax)} have it only in ${by}: ${how}`
  const have = count === seen ? `Only ${by} have it` : `${count} of ${seen} have it only in ${by}`
  return `${have}: ${how}`
}
