/**
 * The items of a person's inbox as SQL (D156). Mentions and assignments are stored; what is due, deals that
 * rot and failed jobs follow from their tables, as long as they are so. Each shows only while its owner may
 * see its record: the statement has the condition of every list. Values of records are read, never kept.
 */
import { isHiddenByRole } from '../records/rendered-record.ts'
import { mayRead } from '../rights/rights.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { arrayLiteral, type Sql, sql } from '../sql.ts'
import type { ItemKind } from './kinds.ts'

/** How each kind's items `i` are found. `before`: until when; null: now. */
export type Selection = {
  readonly kinds: readonly ItemKind[]
  /** a condition on the columns of `i` */
  readonly where: Sql
  /** the newest ones, or any; null: all */
  readonly limit: { readonly newest: number } | { readonly any: number } | null
}

const newestFirst = sql`ORDER BY i.at DESC, i.id DESC`
const columns = sql`id, kind, resource, record_id, actor, count, at, read_at, is_reminder`

/** SELECT of a person's items, the newest first; null if they may see none of these kinds. */
export function itemsSql(caller: Caller, { kinds, where, limit }: Selection): Sql | null {
  const limited = limitSql(limit)
  const branches = kinds.flatMap(kind => {
    const items = sources[kind](caller)
    return items ? [sql`(SELECT ${columns} FROM (${items}) i WHERE ${where}${limited})`] : []
  })
  if (branches.length === 0) return null
  return sql`SELECT ${columns} FROM (${sql.join(branches, sql`\nUNION ALL\n`)}) i${limited}`
}

function limitSql(limit: Selection['limit']): Sql {
  if (limit === null) return sql.none
  return 'any' in limit
    ? sql`\nLIMIT ${sql.integer(limit.any)}`
    : sql`\n${newestFirst} LIMIT ${sql.integer(limit.newest)}`
}

/**
 * The condition that an item has one of these ids. Those of what is not stored contain the record's, which an
 * index finds.
 */
export function isOneOf(ids: readonly string[]): Sql {
  const records = ids.flatMap(id => /^(?:due|rotting|job)-(\d{1,15})-/.exec(id)?.[1] ?? [])
  return sql`i.id = ANY(${arrayLiteral(ids)}::text[])
    AND (i.kind IN ('mention', 'assignment') OR i.record_id = ANY(${`{${records.join()}}`}::bigint[]))`
}

const sources: { readonly [kind in ItemKind]: (caller: Caller) => Sql | null } = {
  mention: caller =>
    isShown(caller, 'activity', ['notes']) ? storedSql(caller, 'mention', ['activity']) : null,
  assignment: caller => {
    const owners = { activity: 'owner', deal: 'sales_owner' }
    const seen = Object.entries(owners).flatMap(([name, owner]) =>
      isShown(caller, name, [owner]) ? name : [],
    )
    return seen.length ? storedSql(caller, 'assignment', seen) : null
  },
  due: dueSql,
  rotting: rottingSql,
  job: jobSql,
}

/** True if the caller may read the resource, and its fields are not hidden. */
export function isShown(caller: Caller, resource: string, fields: readonly string[]): boolean {
  const schema = caller.catalog.resources.get(resource)!
  return mayRead(caller, resource) && !fields.some(name => isHiddenByRole(schema, name))
}

/** The condition that the caller sees the live row `r` of the resource, and what an activity is about. */
export function isSeen(caller: Caller, resource: string): Sql {
  const params = callerParamsOf(caller)
  const own = sql`${visible(resource, params, sql`r`)} AND r.deleted_at IS NULL`
  const about = caller.catalog.resources.get(resource)!.resource.partOf ?? []
  const parts = about.map(name => {
    const column = sql`r.${sql.id(name)}`
    if (!mayRead(caller, name)) return sql`${column} IS NULL`
    return sql`(${column} IS NULL OR EXISTS (
      SELECT 1 FROM ${sql.id(name)} x WHERE ${visible(name, params, sql`x`)} AND x.id = ${column}))`
  })
  return sql.join([own, ...parts], sql` AND `)
}

function storedSql(caller: Caller, kind: ItemKind, resources: readonly string[]): Sql {
  const { account, actor } = callerParamsOf(caller)
  const seen = resources.map(
    name => sql`n.resource = ${sql.text(name)} AND EXISTS (
    SELECT 1 FROM ${sql.id(name)} r WHERE ${isSeen(caller, name)} AND r.id = n.record_id)`,
  )
  return sql`
  SELECT n.id, n.kind, n.resource, n.record_id, n.actor, n.count, n.at, n.read_at, false AS is_reminder
  FROM notification n
  WHERE n.account_id = ${account}::bigint AND n.user_id = ${actor}::bigint AND n.kind = ${sql.text(kind)}
    AND (${sql.join(seen, sql` OR `)})`
}

/**
 * Joins the caller's read state of an item as the row `s`. The fence (OFFSET 0) makes it a look-up by the
 * key: the planner takes a person of many items for one of few, and would compare each item with each state.
 */
function stateOf(caller: Caller, id: Sql): Sql {
  const { account, actor } = callerParamsOf(caller)
  return sql`LEFT JOIN LATERAL (
    SELECT s.read_at, s.snoozed_until FROM notification s
    WHERE s.account_id = ${account}::bigint AND s.user_id = ${actor}::bigint AND s.id = ${id} OFFSET 0) s ON true`
}

/** A part of an id, whose parts have a "-" between them: before 1970, "m" stands for the minus. */
const milliseconds = (time: Sql) =>
  sql`translate(floor(extract(epoch FROM ${time}) * 1000)::bigint::text, '-', 'm')`

/** Activities of the caller that are not done, from their reminder on, else from when they are due. */
function dueSql(caller: Caller): Sql | null {
  if (!isShown(caller, 'activity', ['owner', 'due_at', 'done_at', 'reminder'])) return null
  const { actor } = callerParamsOf(caller)
  const id = sql`concat('due-', r.id, '-', ${milliseconds(sql`r.due_at`)})`
  // Not before the year 1, which answers and cursors can't name.
  const reminded = sql`greatest(r.due_at - make_interval(mins => coalesce(r.reminder, 0)), '0001-01-01Z')`
  const at = sql`date_trunc('milliseconds', coalesce(s.snoozed_until, ${reminded}))`
  return sql`
  SELECT ${id} AS id, 'due' AS kind, 'activity' AS resource, r.id AS record_id, NULL::bigint AS actor,
    1 AS count, ${at} AS at, s.read_at,
    r.reminder IS NOT NULL OR s.snoozed_until IS NOT NULL AS is_reminder
  FROM activity r ${stateOf(caller, id)}
  WHERE ${isSeen(caller, 'activity')} AND r.owner = ${actor}::bigint AND r.done_at IS NULL
    AND r.due_at IS NOT NULL`
}

/** Open deals of the caller, from the moment when they begin to rot (rotting_days is 1). */
function rottingSql(caller: Caller): Sql | null {
  if (!isShown(caller, 'deal', ['sales_owner', 'rotting_days', 'status'])) return null
  const { actor } = callerParamsOf(caller)
  const from = sql`greatest(r.deal_stage_updated_at, r.last_done_at)`
  const id = sql`concat('rotting-', r.id, '-', ${milliseconds(from)})`
  return sql`
  SELECT ${id} AS id, 'rotting' AS kind, 'deal' AS resource, r.id AS record_id, NULL::bigint AS actor,
    1 AS count, date_trunc('milliseconds', ${from} + make_interval(hours => 24 * (r.stage_rotting_days + 1))) AS at,
    s.read_at, false AS is_reminder
  FROM deal r ${stateOf(caller, id)}
  WHERE ${isSeen(caller, 'deal')} AND r.sales_owner = ${actor}::bigint AND r.status = 1
    AND r.stage_rotting_days IS NOT NULL`
}

/** Jobs of the caller that failed. */
function jobSql(caller: Caller): Sql | null {
  if (!mayRead(caller, 'job')) return null
  const { account, actor } = callerParamsOf(caller)
  const id = sql`concat('job-', r.id, '-', ${milliseconds(sql`r.ended_at`)})`
  return sql`
  SELECT ${id} AS id, 'job' AS kind, 'job' AS resource, r.id AS record_id, NULL::bigint AS actor, 1 AS count,
    date_trunc('milliseconds', r.ended_at) AS at, s.read_at, false AS is_reminder
  FROM job r ${stateOf(caller, id)}
  WHERE r.account_id = ${account}::bigint AND r.actor = ${actor}::bigint AND r.state = 'failed'`
}
