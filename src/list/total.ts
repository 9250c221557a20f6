/**
 * How many records a filter finds (D28): counted up to a bound, beyond it estimated from a sample, and
 * remembered until the account's next event. It reads the account's own rows only: the planner's statistics
 * would tell of everybody's.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { madeOnce } from '../made-once.ts'
import { type Reader, tableOf } from '../records/store.ts'
import { ask, param, sql } from '../sql.ts'
import { listIdentity } from './cursor.ts'
import type { ListRequest } from './query.ts'
import { dependsOnValues, type Plan } from './resolve.ts'
import { whereSql } from './sql.ts'

export type Total = { readonly total: number; readonly totalIsEstimate: boolean }

/** How far is counted; what is more is estimated. */
const countedUpTo = { auto: 10_000, exact: Number.POSITIVE_INFINITY, estimate: 0, none: 0 } as const
/**
 * Counted beyond the bound, so that an estimate holds for as many events: each takes at most one record away.
 * Otherwise an account that is written to all the time would count ten thousand records with every page.
 */
const countedBeyond = 1000

type Remembered = Total & { readonly from: number; readonly until: number }

/**
 * Totals by way of counting and list, each with the events for which it holds. A changed catalog begins anew:
 * names may mean other ids.
 */
const remembered = madeOnce((_fields: ResourceFields) => new Map<string, Remembered>())
const rememberedMax = 1000

/** The total of a request, as of the account's event `seq` or a later one. */
export async function totalOf(
  db: Reader,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
  seq: string,
): Promise<Total> {
  const known = remembered(fields)
  const key = listIdentity([request.count, String(request.isOfDeleted), request.filterText])
  const found = known.get(key)
  const at = Number(seq)
  if (found && found.from <= at && at <= found.until) return found
  const counted = await count(db, fields, account, request)
  // What changes without an event would be remembered wrong.
  if (request.filter !== null && isVolatile(request.filter)) return counted
  if (known.size >= rememberedMax) known.clear()
  known.set(key, counted)
  return counted
}

async function count(
  db: Reader,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): Promise<Remembered> {
  const own = param(String(account))
  const most = countedUpTo[request.count]
  const limit = Number.isFinite(most) ? sql` LIMIT ${sql.integer(most + (most && countedBeyond))}` : sql.none
  const found = sql`SELECT 1 FROM ${tableOf(fields)} r WHERE ${whereSql(own, request)}${limit}`
  const statement = sql`SELECT (SELECT count(*) FROM (${found}) x)::text AS total,
  (SELECT last_seq::text FROM counter WHERE account_id = ${own}::bigint) AS seq`
  const [row] = await ask(db, statement, request.filter !== null && dependsOnValues(request.filter))
  const counted = Number(row!.total)
  const seq = Number(row!.seq)
  if (counted <= most && request.count !== 'estimate')
    return { total: counted, totalIsEstimate: false, from: seq, until: seq }
  const total = Math.max(counted, await estimated(db, fields, account, request))
  return { total, totalIsEstimate: true, from: seq, until: seq + counted - most }
}

/**
 * A sample of the account's ids: so many stretches of the same length, and in each the records that come
 * first.
 */
const stretchesMax = 128
const readOfStretch = 16

/**
 * How many records the request finds, as a sample says: a stretch that is read whole counts as it is, of a
 * longer one the part that was read stands for the rest. The stretches are the same until the ids have
 * doubled, so that an estimate moves no more than what it tells of.
 */
async function estimated(
  db: Reader,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): Promise<number> {
  const [own, table] = [param(String(account)), tableOf(fields)]
  const newest = sql`SELECT max(id)::text AS id FROM ${table} WHERE account_id = ${own}::bigint`
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
  SELECT count(*) AS read, count(*) FILTER (WHERE ${whereSql(own, request)}) AS found,
    max(r.id) - s.before AS reach
  FROM (
    SELECT * FROM ${table} r
    WHERE r.account_id = ${own}::bigint AND r.id > s.before AND r.id <= s.before + ${step}::bigint
    ORDER BY r.id LIMIT ${most}) r) x`
  const [row] = await ask(db, statement)
  return Number(row!.total)
}

/** Whether the records that a filter finds change without an event: with the clock, a stage or a rate. */
function isVolatile(filter: Plan): boolean {
  if (filter.type === 'not') return isVolatile(filter.of)
  return filter.type === 'condition' ? filter.isVolatile === true : filter.of.some(isVolatile)
}
