/**
 * The statement of the changes between two moments (D161): the deals as of each, the sums of both, the kinds
 * of change of each deal, and the first deals of each kind. Knows no HTTP and no parameters.
 */
import { halfEven } from '../../fields/decimal.ts'
import type { Past } from '../../history/past.ts'
import { groupsMax } from '../../lists/aggregate.ts'
import { isVolatile } from '../../lists/plan.ts'
import { whereSql } from '../../lists/where.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { param, type Sql, sql } from '../../sql.ts'
import { isWithin, now, pairsSql, then } from './changes-pairs.ts'
import { type ChangesRequest, nobody, type SeenParts, type StepKind, stepKinds } from './changes-request.ts'
import { statusOf } from './deal.ts'
import { inOrder } from './of-pipeline.ts'

/** SELECT of one row, whose column `found` is JSON. */
export function changesSql(
  caller: Caller,
  request: ChangesRequest,
  { from, to, seen }: { readonly from: Past; readonly to: Past; readonly seen: SeenParts },
): Sql {
  const { isByOwner } = request
  const { account, currencies } = caller.catalog
  const decimals = currencies.get(account.base_currency)!.decimals
  const goesOn =
    request.after === null
      ? sql`true`
      : sql`EXISTS (SELECT 1 FROM sized WHERE id = ${String(request.after)}::bigint)`
  return sql`WITH ${pairsSql(caller, request, { from, to, isByOwner })},
lines AS MATERIALIZED (
${linesSql(caller, seen)}),
steps AS MATERIALIZED (
${stepsSql(isByOwner)}),
${totalsSql(caller, request, isByOwner)},
shown AS MATERIALIZED (
  SELECT part, row_number() OVER (ORDER BY part <> 0, worth DESC, part) AS rank FROM (
    SELECT part, ${seen.value ? sql`max(worth)` : sql`0`} AS worth FROM (
      SELECT part, CASE WHEN NOT is_then THEN value ELSE 0 END AS worth FROM totals
      UNION ALL
      SELECT part, 0 FROM steps) x GROUP BY part) x
  ORDER BY rank LIMIT ${sql.integer(groupsMax + 2)}
),
${listedSql(request, seen)}
SELECT json_build_object(
  'totals', (SELECT coalesce(json_agg(json_build_array(part, is_then, deals, trim_scale(value),
      trim_scale(weighted), without_rate) ORDER BY rank), '[]') FROM totals JOIN shown USING (part)),
  'steps', (SELECT coalesce(json_agg(json_build_array(part, ${kindSql(sql`kind`)}, deals, open, trim_scale(value),
      trim_scale(weighted), trim_scale(worth))), '[]') FROM steps JOIN shown USING (part)),
  'deals', (SELECT coalesce(json_agg(json_build_array(${kindSql(sql`l.kind`)}, json_build_object('id', l.id,
      'title', (SELECT d.title FROM deal d WHERE d.account_id = ${String(account.id)}::bigint AND d.id = l.id),
      'before', ${stateSql(then, seen, decimals)}, 'after', ${stateSql(now, seen, decimals)}))
      ORDER BY l.kind, l.place), '[]')
    FROM listed l JOIN pair p ON p.id = l.id AND p.is_whole),
  'goes_on', ${goesOn})::text AS found`
}

/** Statements know kinds by their numbers, which compare faster than texts. */
const numberOf = (kind: StepKind) => sql.integer(stepKinds.indexOf(kind) + 1)
const kindSql = (number: Sql) => sql`(${`{${stepKinds.join()}}`}::text[])[${number}]`

/** CTEs: `totals` are the sums of both moments, of the whole and of each owner. */
function totalsSql(caller: Caller, request: ChangesRequest, isByOwner: boolean): Sql {
  const [part, sets] = isByOwner
    ? [sql`CASE WHEN grouping(owner) = 1 THEN 0 ELSE owner END`, sql`GROUPING SETS ((), (owner))`]
    : [sql`0::bigint`, sql`()`]
  const sums = (of: (column: string) => Sql) => sql`${of('owner')} AS owner, count(*) AS deals,
    sum(${of('amount')}) AS value, sum(${of('weighted')}) AS weighted,
    count(*) FILTER (WHERE ${of('value')} IS NOT NULL AND ${of('base')} IS NULL) AS without_rate`
  const untouched = isVolatile(request.filter)
    ? sql`false`
    : sql`NOT EXISTS (SELECT 1 FROM touched t WHERE t.id = r.id)`
  return sql`untouched AS MATERIALIZED (
  SELECT ${sums(column => sql`r.${sql.id(column)}`)} FROM (
    SELECT coalesce(r.sales_owner, ${sql.integer(nobody)}) AS owner, r.deal_value_value AS value,
      r.deal_value_in_base_currency_value AS base, coalesce(r.deal_value_in_base_currency_value, 0) AS amount,
      coalesce(r.deal_value_in_base_currency_value * r.stage_probability, 0) * 0.01 AS weighted
    FROM deal r WHERE ${whereSql(callerParamsOf(caller), request)} AND r.status = ${sql.integer(statusOf.open)}
      AND ${isWithin(request)} AND ${untouched}) r GROUP BY 1
),
totals AS MATERIALIZED (
  SELECT ${part} AS part, is_then, coalesce(sum(deals), 0) AS deals, coalesce(sum(value), 0) AS value,
    coalesce(sum(weighted), 0) AS weighted, coalesce(sum(without_rate), 0) AS without_rate
  FROM (
    SELECT true AS is_then, ${sums(then)} FROM pair p WHERE is_whole AND then_in GROUP BY 2
    UNION ALL
    SELECT false, ${sums(now)} FROM pair p WHERE is_whole AND now_in GROUP BY 2
    UNION ALL
    SELECT is_then, untouched.* FROM untouched, (VALUES (true), (false)) v (is_then)) x
  GROUP BY is_then, ${sets}
)`
}

/** The kinds of change of each pair: one line for each kind. */
function linesSql(caller: Caller, seen: SeenParts): Sql {
  const branches = changesOf(caller, seen).map(({ kind, sums, when }) => {
    return sql`  SELECT p.id, p.is_whole, p.owner, ${kind} AS kind, ${sql.join(sums)},
    coalesce(p.now_base, p.then_base, 0) AS worth FROM pair p WHERE ${when}`
  })
  return sql.join(branches, sql`\n  UNION ALL\n`)
}

/** A change of pairs `when` a condition holds. */
type Change = {
  readonly kind: Sql
  /** open deals, value and weighted value that it adds */
  readonly sums: readonly [Sql, Sql, Sql]
  readonly when: Sql
  /** false if the caller may not see the field that changed */
  readonly isSeen?: boolean
}

/**
 * How a deal came into the forecast or left it or, if it stayed, how its value, its stage and its date
 * changed. The value counts at the former probability, the stage at the new value: so both add up.
 */
function changesOf(caller: Caller, seen: SeenParts): Change[] {
  const [open, won] = [sql.integer(statusOf.open), sql.integer(statusOf.won)]
  const [lost, slipped] = [numberOf('lost'), numberOf('slipped')]
  const outcome = sql`CASE WHEN p.now_status = ${won} THEN ${numberOf('won')} ELSE ${lost} END`
  const dated = sql`CASE WHEN p.is_later THEN ${slipped} ELSE ${numberOf('pulled_in')} END`
  const arrival = sql`CASE WHEN p.is_since THEN ${numberOf('new')} WHEN NOT p.then_match THEN ${numberOf('came_in')}
      WHEN p.then_status <> ${open} THEN ${numberOf('reopened')} ELSE ${dated} END`
  const departure = sql`CASE WHEN p.now_is_deleted THEN ${numberOf('deleted')} WHEN NOT p.now_match THEN ${numberOf('went_out')}
      WHEN p.now_status <> ${open} THEN ${outcome} ELSE ${dated} END`
  const isClosedSince = sql`p.now_match AND p.now_status <> ${open}
      AND (p.is_since OR p.then_status <> p.now_status)`
  const amount = (column: string) => sql`CASE WHEN p.now_in THEN ${now(column)} ELSE 0 END
      - CASE WHEN p.then_in THEN ${then(column)} ELSE 0 END`
  const grown = sql`CASE WHEN (p.then_value, p.then_currency) IS NOT DISTINCT FROM (p.now_value, p.now_currency)
      THEN ${numberOf('rates')} WHEN p.now_amount > p.then_amount THEN ${numberOf('grown')} ELSE ${numberOf('shrunk')} END`
  const isMoved = seen.weighted
    ? sql`(p.then_pipeline_stage, p.then_chance) IS DISTINCT FROM (p.now_pipeline_stage, p.now_chance)`
    : sql`p.then_pipeline_stage <> p.now_pipeline_stage`
  const stays = sql`p.then_in AND p.now_in`
  const difference = sql`p.now_amount - p.then_amount`
  const weighted = sql`(${difference}) * coalesce(p.then_chance, 0) * 0.01`
  const nothing = sql`0`
  const all: readonly Change[] = [
    {
      kind: sql`CASE WHEN p.then_in THEN ${departure} WHEN p.now_in THEN ${arrival} ELSE ${outcome} END`,
      sums: [
        sql`p.now_in::int - p.then_in::int AS open`,
        sql`${amount('amount')} AS value`,
        sql`${amount('weighted')} AS weighted`,
      ],
      when: sql`NOT (${stays}) AND (p.then_in OR p.now_in OR ${isClosedSince})`,
    },
    {
      isSeen: seen.value,
      kind: grown,
      sums: [nothing, difference, weighted],
      when: sql`${stays} AND p.now_amount <> p.then_amount`,
    },
    {
      kind: movedSql(caller),
      sums: [nothing, nothing, sql`p.now_weighted - p.then_weighted - ${weighted}`],
      when: sql`${stays} AND ${isMoved}`,
    },
    {
      isSeen: seen.date,
      kind: dated,
      sums: [nothing, nothing, nothing],
      when: sql`${stays} AND p.then_expected IS DISTINCT FROM p.now_expected`,
    },
  ]
  return all.filter(({ isSeen = true }) => isSeen)
}

/** How the stage of a deal that stayed changed, by the order of today. */
function movedSql({ catalog: { stages } }: Caller): Sql {
  const inTheirOrder = inOrder([...stages.values()]).map(({ id }) => id)
  const ids = param(`{${inTheirOrder.join()}}`)
  const place = (of: Sql) => sql`array_position(${ids}::bigint[], ${of})`
  const [before, after] = [place(then('pipeline_stage')), place(now('pipeline_stage'))]
  return sql`CASE
      WHEN p.then_pipeline_stage = p.now_pipeline_stage OR p.then_pipeline <> p.now_pipeline THEN ${numberOf('other')}
      WHEN ${after} > ${before} THEN ${numberOf('moved_forward')}
      WHEN ${after} < ${before} THEN ${numberOf('moved_back')} ELSE ${numberOf('other')} END`
}

/** The sums of each kind, of the whole and of each owner. */
function stepsSql(isByOwner: boolean): Sql {
  const sums = sql`kind, count(*) AS deals, sum(open) AS open, sum(value) AS value, sum(weighted) AS weighted,
    sum(worth) AS worth`
  const ofOwners = sql`
  UNION ALL
  SELECT owner, ${sums} FROM lines WHERE owner IS NOT NULL GROUP BY owner, kind`
  return sql`  SELECT 0::bigint AS part, ${sums} FROM lines WHERE is_whole GROUP BY kind${isByOwner ? ofOwners : sql.none}`
}

/** CTEs: the first deals of each kind, or those of one behind a deal; one more than are answered. */
function listedSql({ kind, after, pageSize }: ChangesRequest, seen: SeenParts): Sql {
  // An order by hidden amounts would reveal them (D64).
  const size = seen.value
    ? sql`CASE WHEN kind IN (${sql.join((['grown', 'shrunk', 'rates'] as const).map(numberOf))}) THEN abs(value) ELSE worth END`
    : sql`0`
  const ofKind = kind === null ? sql.none : sql` AND kind = ${numberOf(kind)}`
  const behind =
    after === null
      ? sql`true`
      : sql`EXISTS (SELECT 1 FROM sized x WHERE x.id = ${String(after)}::bigint AND x.size >= s.size
      AND (x.size > s.size OR x.id < s.id))`
  return sql`sized AS MATERIALIZED (SELECT id, kind, ${size} AS size FROM lines WHERE is_whole${ofKind}),
listed AS MATERIALIZED (
  SELECT id, kind, place FROM (
    SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY size DESC, id) AS place FROM sized s
    WHERE ${behind}) x
  WHERE place <= ${sql.integer(pageSize + 1)}
)`
}

/** The JSON of a deal at one end of its pair, without hidden fields; null: it was not there, or not seen. */
function stateSql(of: (column: string) => Sql, seen: SeenParts, decimals: number): Sql {
  const members = [
    sql`'pipeline_stage', ${of('pipeline_stage')}`,
    ...(seen.owner ? [sql`'sales_owner', nullif(${of('owner')}, ${sql.integer(nobody)})`] : []),
    ...(seen.date ? [sql`'expected_close_date', ${of('expected')}`] : []),
    ...(seen.value ? [sql`'value', trim_scale(${of('base')})`] : []),
    ...(seen.weighted ? [sql`'weighted_value', ${halfEven(of('weighted'), sql.integer(decimals))}`] : []),
  ]
  return sql`CASE WHEN NOT ${of('is_deleted')} THEN json_build_object(${sql.join(members)}) END`
}
