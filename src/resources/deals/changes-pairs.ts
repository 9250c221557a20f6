/**
 * The deals that have changed between two moments, as of both: CTEs of the statement of the changes (D161).
 */
import { asOfSql, pastRow } from '../../history/as-of-day.ts'
import type { Past } from '../../history/past.ts'
import { isVolatile } from '../../lists/plan.ts'
import { filterSql } from '../../lists/where.ts'
import { type Caller, callerParamsOf, visible } from '../../rights/visibility.ts'
import { type Sql, sql } from '../../sql.ts'
import { type ChangesRequest, nobody } from './changes-request.ts'
import { statusOf } from './deal.ts'

/** A column of a pair: of the deal then, and now. */
export const [then, now] = ['then', 'now'].map(
  end => (column: string) => sql`p.${sql.id(`${end}_${column}`)}`,
) as [(column: string) => Sql, (column: string) => Sql]
const stateColumns = [
  ...['is_deleted', 'pipeline', 'pipeline_stage', 'status', 'expected', 'owner', 'value', 'currency'],
  ...['base', 'chance', 'amount', 'weighted'],
]

/**
 * CTEs. `touched`: the deals of which something that matters has changed since a moment, or that were created
 * since. `pair`: each as of both moments; NULL where it was not there or not seen. A view (`then_in` to
 * `now_match`) is the part of a forecast in it. `is_whole`: that of all owners. `owner`: the one whose own
 * view is the same; the two owners of a deal that was handed over have rows of their own.
 */
export function pairsSql(
  caller: Caller,
  request: ChangesRequest,
  { from, to, isByOwner }: { readonly from: Past; readonly to: Past; readonly isByOwner: boolean },
): Sql {
  const of = (row: Sql, end: string) =>
    sql.join(stateColumns.map(name => sql`${row}.${sql.id(name)} AS ${sql.id(`${end}_${name}`)}`))
  const [b, a] = [sql`b`, sql`a`]
  const [ofThen, ofNow] = [
    sql`coalesce(b.is_in, false), coalesce(b.is_match, false)`,
    sql`coalesce(a.is_in, false), coalesce(a.is_match, false)`,
  ]
  const none = sql`false, false`
  const ofOwners = isByOwner
    ? sql`
      UNION ALL SELECT false, b.owner, ${ofThen}, ${none} WHERE b.owner <> a.owner
      UNION ALL SELECT false, a.owner, ${none}, ${ofNow} WHERE b.owner <> a.owner`
    : sql.none
  const [former, latter] = [stateAtSql(caller, request, from), stateAtSql(caller, request, to)]
  const { account } = callerParamsOf(caller)
  // Each of both has an index.
  const created = (deleted: Sql) => sql`SELECT d.id FROM deal d WHERE d.account_id = ${account}::bigint
    AND d.created_at >= ${from.moment}::timestamptz AND d.deleted_at IS ${deleted}`
  return sql`since_then AS MATERIALIZED (
  ${former.changes}),
since_now AS MATERIALIZED (
  ${latter.changes}),
touched AS MATERIALIZED (
  SELECT id FROM since_then
  UNION
  ${created(sql`NULL`)}
  UNION
  ${created(sql`NOT NULL`)}),
pair AS MATERIALIZED (
  SELECT coalesce(a.id, b.id) AS id, ${of(b, 'then')}, ${of(a, 'now')}, v.*,
    b.id IS NULL AND a.created_at >= ${from.moment}::timestamptz AS is_since,
    coalesce(a.expected, 'infinity') > coalesce(b.expected, 'infinity') AS is_later
  FROM (${former.states(sql`since_then`)}) b
    FULL JOIN (${latter.states(sql`since_now`)}) a ON a.id = b.id
    CROSS JOIN LATERAL (
      SELECT true, CASE WHEN b.owner <> a.owner THEN NULL ELSE coalesce(a.owner, b.owner) END, ${ofThen}, ${ofNow}${ofOwners}
    ) v (is_whole, owner, then_in, then_match, now_in, now_match))`
}

/**
 * The touched deals as of a moment that the caller saw then: what they were, and whether they are found.
 * `changes`: a SELECT for a CTE, of which `states` takes the name.
 */
function stateAtSql(caller: Caller, request: ChangesRequest, past: Past) {
  const params = callerParamsOf(caller)
  const { schema, filter } = request
  const isFound = filter ? sql`coalesce(${filterSql(filter, params, pastRow(params))}, false)` : sql`true`
  // OFFSET 0 keeps the planner from working out a past column once for each use.
  const select = sql`SELECT r.id, r.created_at, r.deleted_at, r.pipeline, r.pipeline_stage, r.status,
  r.expected_close_date, coalesce(r.sales_owner, ${sql.integer(nobody)}) AS owner, r.deal_value_value AS value,
  r.deal_value_currency AS currency, r.deal_value_in_base_currency_value AS base, r.stage_probability AS chance,
  ${isFound} AS is_found, ${isWithin(request)} AS is_within
FROM deal r WHERE ${visible(schema.resource.name, params, sql`r`)} OFFSET 0`
  // By the clock, a deal comes into a filter without an event.
  const among = isVolatile(filter) ? sql.none : sql`JOIN touched x ON x.id = d.id`
  const isMatch = sql`deleted_at IS NULL AND is_found`
  const { changes, records } = asOfSql(schema, params, past, select)
  const states = (
    name: Sql,
  ) => sql`SELECT s.id, created_at, deleted_at IS NOT NULL AS is_deleted, pipeline, pipeline_stage, status,
  expected_close_date AS expected, owner, value, currency, base, chance, ${isMatch} AS is_match,
  ${isMatch} AND is_within AND status = ${sql.integer(statusOf.open)} AS is_in,
  coalesce(base, 0) AS amount, coalesce(base, 0) * coalesce(chance, 0) * 0.01 AS weighted
FROM (${records(name, among)}) s`
  return { changes, states }
}

/** The condition that the deal `r` is expected in the days of the forecast. */
export function isWithin({ expectedFrom, expectedTo }: ChangesRequest): Sql {
  const bounds = [
    ...(expectedFrom ? [sql`r.expected_close_date >= ${expectedFrom}::date`] : []),
    ...(expectedTo ? [sql`r.expected_close_date <= ${expectedTo}::date`] : []),
  ]
  return bounds.length ? sql`coalesce(${sql.join(bounds, sql` AND `)}, false)` : sql`true`
}
