/**
 * The number of records that a filter finds (D28), unless the page shows it, as the last page does. Records
 * are counted up to a bound, and beyond it estimated from a sample. The total is cached until the account's
 * next event. The sample has the account's own rows only, because the planner's statistics cover the rows of
 * all accounts.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { type Reader, tableOf } from '../records/store.ts'
import {
  type Caller,
  callerCacheKey,
  callerParamsOf,
  isLimited,
  visibilityKey,
  visible,
} from '../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { digestOf } from './digest.ts'
import type { ListRequest, RecordSelection } from './list-request.ts'
import { dependsOnValues, isVolatile, resourcesAcross } from './plan.ts'
import { whereSql } from './where.ts'

export type Total = { readonly total: number; readonly totalIsEstimate: boolean }

/** Records are counted up to this number; more are estimated. */
const countedUpTo = { auto: 10_000, exact: Number.POSITIVE_INFINITY, estimate: 0, none: 0 } as const
/**
 * The count goes on beyond the bound by this number. An event removes one record at most. So a count that is
 * n beyond the bound is still above it n events later, and until then no page counts again. Otherwise an
 * account with constant writes would count ten thousand records for every page.
 */
const countedBeyond = 1000

/**
 * An estimate for a caller who sees only some records holds for this time instead: if it changed with the
 * events, it would show that there were some that they don't see. Across references it is the longest time,
 * besides the next event (D28).
 */
const estimateMs = 10_000

/** A cached total, with the events for which it holds, and its expiry by the monotonic clock. */
type CachedTotal = Total & { readonly fromSeq: number; readonly untilSeq: number; readonly until: number }

/**
 * Cached totals, by list and way of counting, each with the events for which it holds. A changed catalog
 * begins with none, because names may mean other ids then.
 */
const cached = memoize((_schema: ResourceSchema) => new Map<string, CachedTotal>())
const cacheMax = 1000

/** SQL of the number of records of a selection. Stops counting at `most`, unless that is infinite. */
export function countSql(params: CallerParams, selection: RecordSelection, most: number): Sql {
  const limit = Number.isFinite(most) ? sql` LIMIT ${sql.integer(most)}` : sql.none
  return sql`(SELECT count(*)::text FROM (
    SELECT 1 FROM ${tableOf(selection.schema)} r WHERE ${whereSql(params, selection)}${limit}) r)`
}

/** SQL of the number of the account's last event, which shows whether a cached total still holds. */
export function lastSeqSql(account: Param): Sql {
  return sql`(SELECT last_seq::text FROM counter WHERE account_id = ${account}::bigint)`
}

/**
 * The total of a request. `seq` is the account's last event when the page was read: an exact total is not
 * older than that, an estimate may be.
 */
export async function totalOf(db: Reader, caller: Caller, request: ListRequest, seq: string): Promise<Total> {
  const { schema, count, isOfDeleted, totalKey } = request
  const known = cached(schema)
  // A filter across references finds only records whose reference the caller sees (D87), and a name means
  // the record of that name that the caller sees (D75): then the count holds for this caller alone.
  const isOfCallerAlone = request.hasNames || resourcesAcross(request.filter).length > 0
  const viewerKey = isOfCallerAlone ? callerCacheKey(caller) : visibilityKey(schema, caller)
  const key = digestOf([count, String(isOfDeleted), viewerKey, totalKey])
  const found = known.get(key)
  const at = Number(seq)
  if (found && found.fromSeq <= at && at <= found.untilSeq && performance.now() < found.until) return found
  const counted = await countRecords(db, caller, request)
  // A total that changes without an event can't be cached.
  if (isVolatile(request.filter)) return counted
  if (known.size >= cacheMax) known.clear()
  known.set(key, counted)
  return counted
}

async function countRecords(db: Reader, caller: Caller, request: ListRequest): Promise<CachedTotal> {
  const { schema } = request
  const params = callerParamsOf(caller)
  const most = countedUpTo[request.count]
  const found = countSql(params, request, most === 0 ? 0 : most + countedBeyond)
  const statement = sql`SELECT ${found} AS total, ${lastSeqSql(params.account)} AS seq`
  const [row] = await ask(db, statement, dependsOnValues(request.filter))
  const counted = Number(row!.total)
  const seq = Number(row!.seq)
  if (counted <= most && request.count !== 'estimate')
    return { total: counted, totalIsEstimate: false, fromSeq: seq, untilSeq: seq, until: Infinity }
  const total = Math.max(counted, await estimated(db, caller, request))
  const estimate = { total, totalIsEstimate: true }
  // One event of a referenced record may remove many.
  if (resourcesAcross(request.filter).length)
    return { ...estimate, fromSeq: seq, untilSeq: seq, until: performance.now() + estimateMs }
  return isLimited(schema)
    ? { ...estimate, fromSeq: 0, untilSeq: Infinity, until: performance.now() + estimateMs }
    : { ...estimate, fromSeq: seq, untilSeq: seq + counted - most, until: Infinity }
}

/** The sample: the account's ids are cut into so many stretches at most, and so many records read of each. */
const stretchesMax = 128
const readOfStretch = 16

/**
 * Estimates the number of records that the request finds. If a stretch has no more records than are read of
 * it, those found in it are counted. Otherwise they are multiplied by how much longer the stretch is than its
 * part that was read. The length of a stretch is a power of two and stays the same until the ids have
 * doubled, so an estimate changes no more than the records do.
 */
async function estimated(db: Reader, caller: Caller, request: ListRequest): Promise<number> {
  const [params, table] = [callerParamsOf(caller), tableOf(request.schema)]
  const isVisible = visible(request.schema.resource.name, params, sql`r`)
  const newest = sql`SELECT max(id)::text AS id FROM ${table} r WHERE ${isVisible}`
  const [last] = await ask(db, newest)
  const ids = param(last!.id!)
  const step = param(String(2 ** Math.ceil(Math.log2(Math.max(1, Number(last!.id) / stretchesMax)))))
  const most = sql.integer(readOfStretch)
  const statement = sql`WITH stretch AS (
  SELECT n * ${step}::bigint AS before FROM generate_series(0, (${ids}::bigint - 1) / ${step}::bigint) n
)
SELECT coalesce(round(sum(x.found * CASE WHEN x.read < ${most} THEN 1
  ELSE least(${step}::bigint, ${ids}::bigint - s.before)::float8 / x.reach END)), 0)::text AS total
FROM stretch s CROSS JOIN LATERAL (
  SELECT count(*) AS read, count(*) FILTER (WHERE ${whereSql(params, request)}) AS found,
    max(r.id) - s.before AS reach
  FROM (
    SELECT * FROM ${table} r
    WHERE ${isVisible} AND r.id > s.before AND r.id <= s.before + ${step}::bigint
    ORDER BY r.id LIMIT ${most}) r) x`
  const [row] = await ask(db, statement)
  return Number(row!.total)
}
