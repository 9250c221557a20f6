/**
 * The statement of the changes between two moments (D161): the deals as of each, the sums of both, the kinds
 * of change of each deal, and the first deals of each kind. Knows no HTTP and no parameters.
 */
import { halfEven } from '../../fields/decimal.ts'
import { asOfSql, pastRow } from '../../history/as-of-day.ts'
import type { AsOf } from '../../history/past.ts'
import { groupsMax } from '../../lists/aggregate.ts'
import { isVolatile } from '../../lists/plan.ts'
import type { Selection } from '../../lists/query.ts'
import { filterSql, whereSql } from '../../lists/where.ts'
import { type Caller, callerParamsOf, visible } from '../../rights/visibility.ts'
import { param, type Sql, sql } from '../../sql.ts'
import { statusOf } from './deal.ts'

/** The kinds of change, in the order of the steps: first those that add to a forecast. */
export const kinds = [
  ...(['new', 'reopened', 'came_in', 'grown', 'moved_forward', 'pulled_in', 'rates'] as const),
  ...(['other', 'slipped', 'moved_back', 'shrunk', 'went_out', 'deleted', 'lost', 'won'] as const),
]
export type Kind = (typeof kinds)[number]

export type ChangesRequest = Selection & {
  /** days, or instants in UTC; `to`: null for now */
  readonly from: string
  readonly to: string | null
  /** the first and the last day on which the deals of the forecast are expected; null: unbounded */
  readonly expectedFrom: string | null
  readonly expectedTo: string | null
  readonly isByOwner: boolean
  /** null: all */
  readonly kind: Kind | null
  /** the deal behind which the deals of the kind go on */
  readonly after: number | null
  readonly pageSize: number
}

export const dealPageSizes = { usual: 10, max: 100 }

/** True for each part of a deal that the caller's role sees. */
export type SeenParts = {
  readonly value: boolean
  readonly weighted: boolean
  readonly owner: boolean
  readonly date: boolean
}

/** The part of the deals without an owner; 0 is the whole. */
export const nobody = -1

/** SELECT of one row, whose column `found` is JSON. */
export function changesSql(
  caller: Caller,
  request: ChangesRequest,
  { from, to, seen }: { readonly from: AsOf; readonly to: AsOf; readonly seen: SeenParts },
): Sql {
  const { stages, account, currencies } = caller.catalog
  const inOrder = [...stages.values()].toSorted(
    (one, other) => one.position - other.position || one.id - other.id,
  )
  const parts = request.isByOwner && seen.owner
  const decimals = currencies.get(account.base_currency)!.decimals
  return sql`WITH touched AS MATERIALIZED (
${touchedSql(caller, from)}),
before AS MATERIALIZED (
${statesSql(caller, request, from)}),
after AS MATERIALIZED (
${statesSql(caller, request, to)}),
stage AS MATERIALIZED (
  SELECT id, place FROM unnest(${`{${inOrder.map(({ id }) => id).join()}}`}::bigint[]) WITH ORDINALITY s (id, place)
),
lines AS MATERIALIZED (
${linesSql(from, seen, parts)}),
${totalsSql(caller, request, parts)},
shown AS MATERIALIZED (
  SELECT part, row_number() OVER (ORDER BY part <> 0, worth DESC, part) AS rank FROM (
    SELECT part, ${seen.value ? sql`max(worth)` : sql`0`} AS worth FROM (
      SELECT part, CASE WHEN NOT is_then THEN value ELSE 0 END AS worth FROM totals
      UNION ALL
      SELECT part, 0 FROM lines) x GROUP BY part) x
  ORDER BY rank LIMIT ${sql.integer(groupsMax + 2)}
),
${listedSql(request, seen)}
SELECT json_build_object(
  'totals', (SELECT coalesce(json_agg(json_build_array(part, is_then, deals, trim_scale(value),
      trim_scale(weighted), without_rate) ORDER BY rank), '[]') FROM totals JOIN shown USING (part)),
  'steps', (SELECT coalesce(json_agg(json_build_array(part, kind, deals, open, trim_scale(value),
      trim_scale(weighted), trim_scale(worth))), '[]') FROM (
    SELECT part, kind, count(*) AS deals, sum(open) AS open, sum(value) AS value, sum(weighted) AS weighted, sum(worth) AS worth
    FROM lines GROUP BY part, kind) s JOIN shown USING (part)),
  'deals', (SELECT coalesce(json_agg(json_build_array(l.kind, json_build_object('id', l.id, 'title', d.title,
      'before', ${stateSql(sql`b`, seen, decimals)}, 'after', ${stateSql(sql`a`, seen, decimals)}))
      ORDER BY l.kind, l.place), '[]')
    FROM listed l JOIN deal d ON d.account_id = ${String(account.id)}::bigint AND d.id = l.id
      LEFT JOIN before b ON b.id = l.id LEFT JOIN after a ON a.id = l.id))::text AS found`
}

/** The deals with events since a moment, or created since: no other deal has changed. */
function touchedSql(caller: Caller, { moment, seq }: AsOf): Sql {
  const { account } = callerParamsOf(caller)
  return sql`  SELECT e.record_id AS id FROM event e
  WHERE e.account_id = ${account}::bigint AND e.resource = 'deal' AND e.seq > ${seq}::bigint
  UNION
  SELECT d.id FROM deal d WHERE d.account_id = ${account}::bigint AND d.created_at >= ${moment}::timestamptz`
}

/** The touched deals as of a moment that the caller saw then: what they were, and whether they are found. */
function statesSql(caller: Caller, request: ChangesRequest, past: AsOf): Sql {
  const params = callerParamsOf(caller)
  const { schema, filter } = request
  const isFound = filter ? sql`coalesce(${filterSql(filter, params, pastRow)}, false)` : sql`true`
  const select = sql`SELECT r.id, r.created_at, r.deleted_at, r.pipeline, r.pipeline_stage, r.status,
  r.expected_close_date, coalesce(r.sales_owner, ${sql.integer(nobody)}) AS owner, r.deal_value_value AS value,
  r.deal_value_currency AS currency, r.deal_value_in_base_currency_value AS base, r.stage_probability AS chance,
  ${isFound} AS is_found, ${isWithin(request)} AS is_within
FROM deal r WHERE ${visible(schema.resource.name, params, sql`r`)}`
  // By the clock, a deal comes into a filter without an event.
  const only = isVolatile(filter) ? sql`true` : sql`d.id IN (SELECT id FROM touched)`
  const isMatch = sql`deleted_at IS NULL AND is_found`
  return sql`SELECT s.id, created_at, deleted_at IS NOT NULL AS is_deleted, pipeline, pipeline_stage, status,
  expected_close_date AS expected, owner, value, currency, base, chance, ${isMatch} AS is_match, is_within,
  ${isMatch} AND is_within AND status = ${sql.integer(statusOf.open)} AS is_in,
  coalesce(base, 0) AS amount, coalesce(base, 0) * coalesce(chance, 0) * 0.01 AS weighted
FROM (${asOfSql(schema, params, past, { select, only })}) s`
}

/** The condition that the deal `r` is expected in the days of the forecast. */
function isWithin({ expectedFrom, expectedTo }: ChangesRequest): Sql {
  const bounds = [
    ...(expectedFrom ? [sql`r.expected_close_date >= ${expectedFrom}::date`] : []),
    ...(expectedTo ? [sql`r.expected_close_date <= ${expectedTo}::date`] : []),
  ]
  return bounds.length ? sql`coalesce(${sql.join(bounds, sql` AND `)}, false)` : sql`true`
}

/** CTEs: `totals` are the sums of both moments, of the whole and of each owner. */
function totalsSql(caller: Caller, request: ChangesRequest, isByOwner: boolean): Sql {
  const [part, sets] = isByOwner
    ? [sql`CASE WHEN grouping(owner) = 1 THEN 0 ELSE owner END`, sql`GROUPING SETS ((), (owner))`]
    : [sql`0::bigint`, sql`()`]
  const sums = sql`owner, count(*) AS deals, sum(amount) AS value, sum(weighted) AS weighted,
    count(*) FILTER (WHERE value IS NOT NULL AND base IS NULL) AS without_rate`
  const untouched = isVolatile(request.filter)
    ? sql`false`
    : sql`NOT EXISTS (SELECT 1 FROM touched t WHERE t.id = r.id)`
  return sql`untouched AS MATERIALIZED (
  SELECT ${sums} FROM (
    SELECT coalesce(r.sales_owner, ${sql.integer(nobody)}) AS owner, r.deal_value_value AS value,
      r.deal_value_in_base_currency_value AS base, coalesce(r.deal_value_in_base_currency_value, 0) AS amount,
      coalesce(r.deal_value_in_base_currency_value * r.stage_probability, 0) * 0.01 AS weighted
    FROM deal r WHERE ${whereSql(callerParamsOf(caller), request)} AND r.status = ${sql.integer(statusOf.open)}
      AND ${isWithin(request)} AND ${untouched}) r GROUP BY owner
),
totals AS MATERIALIZED (
  SELECT ${part} AS part, is_then, coalesce(sum(deals), 0) AS deals, coalesce(sum(value), 0) AS value,
    coalesce(sum(weighted), 0) AS weighted, coalesce(sum(without_rate), 0) AS without_rate
  FROM (
    SELECT true AS is_then, ${sums} FROM before WHERE is_in GROUP BY owner
    UNION ALL
    SELECT false, ${sums} FROM after WHERE is_in GROUP BY owner
    UNION ALL
    SELECT is_then, untouched.* FROM untouched, (VALUES (true), (false)) v (is_then)) x
  GROUP BY is_then, ${sets}
)`
}

/** The kinds of change of each deal, in the whole and for its owners: one line for each kind. */
function linesSql(from: AsOf, seen: SeenParts, isByOwner: boolean): Sql {
  const owners = sql`CASE WHEN b.owner = a.owner THEN ARRAY[0, a.owner]
      ELSE array_remove(ARRAY[0, b.owner, a.owner], NULL) END`
  const parts = sql`unnest(${isByOwner ? owners : sql`ARRAY[0]`}::bigint[])`
  const ofPart = (row: Sql, is: Sql) => sql`coalesce(${row}.${is} AND part IN (0, ${row}.owner), false)`
  const [b, a] = [sql`b`, sql`a`]
  return sql`  SELECT p.part, coalesce(a.id, b.id) AS id, k.kind, k.open, k.value, k.weighted,
    coalesce(a.base, b.base, 0) AS worth
  FROM before b FULL JOIN after a ON a.id = b.id
    CROSS JOIN LATERAL ${parts} p (part)
    CROSS JOIN LATERAL (SELECT ${ofPart(b, sql`is_in`)} AS was_in, ${ofPart(a, sql`is_in`)} AS is_in,
      ${ofPart(b, sql`is_match`)} AS was_match, ${ofPart(a, sql`is_match`)} AS is_match,
      coalesce(a.expected, 'infinity') > coalesce(b.expected, 'infinity') AS is_later) i
    CROSS JOIN LATERAL (VALUES ${sql.join(changesOf(from, seen))}) k (kind, open, value, weighted)
  WHERE b IS DISTINCT FROM a AND k.kind IS NOT NULL`
}

/**
 * Of a deal as `b` and then as `a`: how it came into the forecast or left it or, if it stayed, how its value,
 * its stage and its date changed. The value counts at the former probability, the stage at the new value: so
 * both add up.
 */
function changesOf(from: AsOf, seen: SeenParts): Sql[] {
  const [open, won] = [sql.integer(statusOf.open), sql.integer(statusOf.won)]
  const isSince = sql`b.id IS NULL AND a.created_at >= ${from.moment}::timestamptz`
  const outcome = sql`CASE WHEN a.status = ${won} THEN 'won' ELSE 'lost' END`
  const dated = sql`CASE WHEN i.is_later THEN 'slipped' ELSE 'pulled_in' END`
  const arrival = sql`CASE WHEN ${isSince} THEN 'new' WHEN NOT i.was_match THEN 'came_in'
        WHEN b.status <> ${open} THEN 'reopened' ELSE ${dated} END`
  const departure = sql`CASE WHEN a.is_deleted THEN 'deleted' WHEN NOT i.is_match THEN 'went_out'
        WHEN a.status <> ${open} THEN ${outcome} ELSE ${dated} END`
  const isClosedSince = sql`i.is_match AND a.status <> ${open}
        AND (${isSince} OR b.status <> a.status)`
  const amount = (column: Sql) => sql`CASE WHEN i.is_in THEN a.${column} ELSE 0 END
        - CASE WHEN i.was_in THEN b.${column} ELSE 0 END`
  const grown = sql`CASE WHEN (b.value, b.currency) IS NOT DISTINCT FROM (a.value, a.currency) THEN 'rates'
        WHEN a.amount > b.amount THEN 'grown' ELSE 'shrunk' END`
  const place = (row: Sql) => sql`(SELECT s.place FROM stage s WHERE s.id = ${row}.pipeline_stage)`
  const [was, is] = [place(sql`b`), place(sql`a`)]
  const moved = sql`CASE WHEN b.pipeline_stage = a.pipeline_stage OR b.pipeline <> a.pipeline THEN 'other'
        WHEN ${is} > ${was} THEN 'moved_forward' WHEN ${is} < ${was} THEN 'moved_back' ELSE 'other' END`
  const isMoved = seen.weighted
    ? sql`(b.pipeline_stage, b.chance) IS DISTINCT FROM (a.pipeline_stage, a.chance)`
    : sql`b.pipeline_stage <> a.pipeline_stage`
  const stays = sql`i.was_in AND i.is_in`
  const weighted = sql`(a.amount - b.amount) * coalesce(b.chance, 0) * 0.01`
  const none = sql`NULL`
  return [
    sql`(CASE WHEN ${stays} THEN NULL WHEN i.was_in THEN ${departure} WHEN i.is_in THEN ${arrival}
        WHEN ${isClosedSince} THEN ${outcome} END, i.is_in::int - i.was_in::int, ${amount(sql`amount`)}, ${amount(sql`weighted`)})`,
    sql`(CASE WHEN ${stays} AND a.amount <> b.amount THEN ${seen.value ? grown : none} END, 0, a.amount - b.amount, ${weighted})`,
    sql`(CASE WHEN ${stays} AND ${isMoved} THEN ${moved} END, 0, 0, a.weighted - b.weighted - ${weighted})`,
    sql`(CASE WHEN ${stays} AND b.expected IS DISTINCT FROM a.expected THEN ${seen.date ? dated : none} END, 0, 0, 0)`,
  ]
}

/** CTEs: the first deals of each kind, or those of one behind a deal; one more than are answered. */
function listedSql({ kind, after, pageSize }: ChangesRequest, seen: SeenParts): Sql {
  // An order by hidden amounts would reveal them (D64).
  const size = seen.value
    ? sql`CASE WHEN kind IN ('grown', 'shrunk', 'rates') THEN abs(value) ELSE worth END`
    : sql`0`
  const of = param(kind)
  const ofKind = kind === null ? sql.none : sql` AND kind = ${of}::text`
  const behind =
    after === null
      ? sql`true`
      : sql`EXISTS (SELECT 1 FROM sized x WHERE x.id = ${String(after)}::bigint AND x.size >= s.size
      AND (x.size > s.size OR x.id < s.id))`
  return sql`sized AS MATERIALIZED (SELECT id, kind, ${size} AS size FROM lines WHERE part = 0${ofKind}),
listed AS MATERIALIZED (
  SELECT id, kind, place FROM (
    SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY size DESC, id) AS place FROM sized s
    WHERE ${behind}) x
  WHERE place <= ${sql.integer(pageSize + 1)}
)`
}

/** The JSON of a deal at a moment, without hidden fields; null: it was not there, or not seen. */
function stateSql(row: Sql, seen: SeenParts, decimals: number): Sql {
  const members = [
    sql`'pipeline_stage', ${row}.pipeline_stage`,
    ...(seen.owner ? [sql`'sales_owner', nullif(${row}.owner, ${sql.integer(nobody)})`] : []),
    ...(seen.date ? [sql`'expected_close_date', ${row}.expected`] : []),
    ...(seen.value ? [sql`'value', trim_scale(${row}.base)`] : []),
    ...(seen.weighted
      ? [sql`'weighted_value', ${halfEven(sql`${row}.weighted`, sql.integer(decimals))}`]
      : []),
  ]
  return sql`CASE WHEN ${row}.id IS NOT NULL AND NOT ${row}.is_deleted THEN json_build_object(${sql.join(members)}) END`
}
