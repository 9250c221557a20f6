/**
 * A funnel, GET /deal/funnel (D131): how far the deals came that entered a pipeline in a period, from the
 * events of their stages. Knows no HTTP.
 */
import type { Stage } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { momentAfter, momentsOfDay } from '../../fields/kinds/date-time.ts'
import {
  arrayOf,
  day,
  madeOfFields,
  moment,
  number,
  openObject,
  orNull,
  schemaRef,
  whole,
} from '../../fields/kinds/schemas.ts'
import { instantText } from '../../fields/moment.ts'
import { type Json, type JsonObject, parseJson } from '../../json.ts'
import type { Selection } from '../../lists/list-request.ts'
import { periodOf } from '../../lists/parameters.ts'
import { dependsOnValues } from '../../lists/plan.ts'
import { selectionOf } from '../../lists/query.ts'
import { periodParameters, type Report, requireShown } from '../../lists/report.ts'
import { whereSql } from '../../lists/where.ts'
import type { Reader } from '../../records/store.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask, param, type Sql, sql } from '../../sql.ts'
import {
  namedByStages,
  type OfPipeline,
  ofPipeline,
  pipelineParameter,
  shownPipeline,
  shownStage,
  stageMembers,
} from './of-pipeline.ts'

type FunnelRequest = OfPipeline &
  Selection & {
    /** first and last day of the period, in the account's time zone; null: unbounded */
    readonly from: string | null
    readonly to: string | null
  }

const funnelSchema: Schema = openObject({
  pipeline: orNull(schemaRef('named')),
  ...{ from: orNull(day), to: orNull(day) },
  since: { ...orNull(moment), description: 'The oldest event that is kept: what was before is not known.' },
  deals: { ...whole, description: 'How many deals entered the pipeline in the period.' },
  ...{ won: whole, lost: whole },
  stages: arrayOf(schemaRef('funnel_stage')),
})

const funnelStageSchema: Schema = madeOfFields(
  ['pipeline_stage'],
  openObject(
    {
      ...stageMembers,
      entered: { ...whole, description: 'Deals that came to this stage or further.' },
      went_on: { ...whole, description: 'Those of them that came further.' },
      lost_from: { ...whole, description: 'Deals that are lost and were in this open stage last.' },
      conversion: { ...orNull(number), description: 'went_on by entered; null where nothing entered.' },
      median_days: { ...orNull(number), description: 'Of the stays in the stage that ended.' },
    },
    ['id', 'name', 'entered', 'went_on', 'lost_from', 'conversion', 'median_days'],
  ),
)

export const funnel: Report<FunnelRequest> = {
  ...{ resource: 'deal', name: 'funnel', path: 'funnel' },
  summary: 'Shows how far deals come in a pipeline.',
  description:
    'It counts the deals that entered the pipeline in the period, and follows them until now: how many came to each open stage, went on, or were lost from it.',
  parameters: {
    pipeline: pipelineParameter,
    ...periodParameters(
      'from',
      'to',
      which =>
        `The ${which} day of the period, in the account's time zone. Without it, the period has no such end.`,
    ),
    filter: 'filter',
  },
  response: { description: 'The open stages in their order.', data: schemaRef('funnel') },
  schemas: { funnel: funnelSchema, funnel_stage: funnelStageSchema },
  shows: namedByStages,
  read: query => {
    const [from, to] = periodOf(query, 'from', 'to')
    // With a filter that finds one deal, a period tells when that was created, also before an import.
    if (from !== null) requireShown(query, 'from', 'created_at')
    if (to !== null) requireShown(query, 'to', 'created_at')
    const of = ofPipeline(query)
    // It says which stages are open, and how many deals are won and lost: of a filter by id, if that one is.
    if (!namedByStages(query.schema).some(({ is_hidden }) => is_hidden))
      requireShown(query, 'pipeline', 'status')
    return { ...of, ...selectionOf(query), from, to }
  },
  answer: async (db, caller, request) => ({ data: await readFunnel(db, caller, request) }),
}

type FunnelRow = {
  /** time of the oldest stored event; null: there is none */
  readonly since: string | null
  readonly deals: number
  readonly won: number
  readonly lost: number
  /** [place, deals that came so far]: the places of open stages count from 1, and won is after the last */
  readonly reached: readonly (readonly [number, number])[]
  /** [stage, lost deals whose last open stage it was] */
  readonly lost_from: readonly (readonly [number, number])[]
  /** [stage, median of its stays in days] */
  readonly days: readonly (readonly [number, Json])[]
}

/** The funnel of a response: the number of deals, their outcomes, and the open stages. */
async function readFunnel(db: Reader, caller: Caller, request: FunnelRequest): Promise<JsonObject> {
  const { stages, filter, from, to } = request
  const [row] = await ask(db, funnelSql(caller, request), dependsOnValues(filter))
  const found = parseJson(row!.found!) as unknown as FunnelRow
  const { since, deals, won, lost } = found
  const open = stages.filter(({ kind }) => kind === 'open')
  const shown = stagesOf(open, found).map(({ stage, ...counted }) => ({
    ...shownStage(stage, caller),
    ...counted,
  }))
  return { pipeline: shownPipeline(request), from, to, since, deals, won, lost, stages: shown }
}

/** The numbers of each open stage. A deal that reached a stage counts in all before it. Pure. */
export function stagesOf(open: readonly Stage[], { reached, lost_from, days }: Omit<FunnelRow, 'since'>) {
  const from = (place: number) =>
    reached.reduce((sum, [furthest, deals]) => (furthest >= place ? sum + deals : sum), 0)
  const [lost, medians] = [new Map(lost_from), new Map(days)]
  return open.map((stage, index) => {
    const [entered, wentOn] = [from(index + 1), from(index + 2)]
    return {
      stage,
      entered,
      went_on: wentOn,
      lost_from: lost.get(stage.id) ?? 0,
      conversion: entered ? Math.round((wentOn / entered) * 10_000) / 10_000 : null,
      median_days: medians.get(stage.id) ?? null,
    }
  })
}

/** The ids of the stages of a kind, as an array literal. */
function idsOf(stages: readonly Stage[], kind: Stage['kind']): string {
  return `{${stages.flatMap(stage => (stage.kind === kind ? stage.id : [])).join(',')}}`
}

function funnelSql(caller: Caller, request: FunnelRequest): Sql {
  return sql`WITH ${foundSql(caller, request)},
${cohortSql}
${resultSql}`
}

/**
 * CTEs: `stage` are those of the pipeline, deleted ones included; `found` are the deals that may have entered
 * it in the period; `moves` are the events of their stages.
 */
function foundSql(caller: Caller, request: FunnelRequest): Sql {
  const { pipeline, stages, from, to } = request
  const params = callerParamsOf(caller)
  const { account } = params
  const [first, last] = [from, to].map(day => day && (momentsOfDay(day, caller.catalog) ?? [day, day]))
  const own = param(String(pipeline?.id ?? 0))
  return sql`period AS MATERIALIZED (
  SELECT coalesce(${first?.[0] ?? null}::timestamptz, '-infinity') AS begins,
    ${last ? momentAfter(last[1]) : sql`'infinity'::timestamptz`} AS ends,
    (SELECT e.at FROM event e WHERE e.account_id = ${account}::bigint ORDER BY e.seq LIMIT 1) AS since
),
stage AS MATERIALIZED (
  SELECT s.id, o.place, s.id = ANY(${idsOf(stages, 'won')}::bigint[]) AS is_won,
    s.id = ANY(${idsOf(stages, 'lost')}::bigint[]) AS is_lost
  FROM pipeline_stage s
    LEFT JOIN unnest(${idsOf(stages, 'open')}::bigint[]) WITH ORDINALITY o (id, place) ON o.id = s.id
  WHERE s.account_id = ${account}::bigint AND s.pipeline = ${own}::bigint
),
candidates AS (
  SELECT d.id FROM deal d, period p
  WHERE d.account_id = ${account}::bigint AND d.deleted_at IS NULL
    AND d.created_at >= p.begins AND d.created_at < p.ends
  UNION
  SELECT e.record_id FROM event e, period p
  WHERE e.account_id = ${account}::bigint AND e.resource = 'deal' AND e.type = 'deal.updated'
    AND e.changes ? 'pipeline' AND e.at >= p.begins AND e.at < p.ends
    AND (e.changes #>> '{pipeline,after}')::bigint = ${own}::bigint
),
found AS MATERIALIZED (
  SELECT r.id, r.created_at, r.pipeline_stage FROM candidates c JOIN deal r ON r.id = c.id
  WHERE ${whereSql(params, request)}
),
moves AS MATERIALIZED (
  SELECT f.id, f.created_at, f.pipeline_stage, e.seq, e.at,
    (e.changes #>> '{pipeline_stage,before}')::bigint AS before,
    (e.changes #>> '{pipeline_stage,after}')::bigint AS after
  FROM found f LEFT JOIN event e ON e.account_id = ${account}::bigint AND e.record_id = f.id
    AND e.resource = 'deal' AND e.changes ? 'pipeline_stage'
)`
}

/**
 * CTEs: `steps` are the stages of the deals with the time each began; the oldest event also gives the stage
 * before it. `cohort` are the stays in this pipeline of the deals that entered it in the period.
 */
const cohortSql = sql`steps AS (
  SELECT id, seq, at, CASE WHEN before IS NULL THEN created_at ELSE at END AS begun_at, after AS stage,
    false AS is_assumed
  FROM moves WHERE seq IS NOT NULL
  UNION ALL
  SELECT * FROM (
    SELECT DISTINCT ON (id) id, 0, created_at, created_at,
      coalesce(before, CASE WHEN seq IS NULL THEN pipeline_stage END) AS stage, true
    FROM moves ORDER BY id, seq) oldest
  WHERE stage IS NOT NULL
),
stays AS (
  SELECT s.id, s.seq, s.at, s.is_assumed, t.id AS stage, t.place, t.is_won, t.is_lost,
    lead(s.at) OVER each AS left_at, lead(s.seq) OVER each IS NULL AS is_last,
    min(s.begun_at) FILTER (WHERE t.id IS NOT NULL) OVER (PARTITION BY s.id) AS entered_at
  FROM steps s LEFT JOIN stage t ON t.id = s.stage
  WINDOW each AS (PARTITION BY s.id ORDER BY s.seq)
),
cohort AS MATERIALIZED (
  SELECT s.* FROM stays s, period p
  WHERE s.stage IS NOT NULL AND s.entered_at >= p.begins AND s.entered_at < p.ends
),
deals AS MATERIALIZED (
  SELECT id, bool_or(is_last AND is_won) AS is_won, bool_or(is_last AND is_lost) AS is_lost,
    max(CASE WHEN is_won THEN (SELECT count(place) FROM stage) + 1 ELSE coalesce(place, 0) END) AS reached,
    (array_agg(stage ORDER BY seq DESC) FILTER (WHERE place IS NOT NULL))[1] AS last_open
  FROM cohort GROUP BY id
)`

const resultSql = sql`SELECT json_build_object(
  'since', (SELECT ${instantText(sql`since`)} FROM period),
  'deals', (SELECT count(*) FROM deals),
  'won', (SELECT count(*) FROM deals WHERE is_won), 'lost', (SELECT count(*) FROM deals WHERE is_lost),
  'reached', (SELECT coalesce(json_agg(json_build_array(reached, n)), '[]') FROM (
    SELECT reached, count(*) AS n FROM deals GROUP BY reached) x),
  'lost_from', (SELECT coalesce(json_agg(json_build_array(last_open, n)), '[]') FROM (
    SELECT last_open, count(*) AS n FROM deals WHERE is_lost AND last_open IS NOT NULL GROUP BY last_open) x),
  'days', (SELECT coalesce(json_agg(json_build_array(stage, days)), '[]') FROM (
    SELECT stage, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM left_at - at)))::numeric
      / 86400, 2) AS days
    FROM cohort, period
    WHERE place IS NOT NULL AND left_at IS NOT NULL AND NOT (is_assumed AND at < since) GROUP BY stage) x)
)::text AS found`
