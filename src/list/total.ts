/**
 * How many records a filter finds (D28): counted up to a bound, beyond it the planner's estimate, and remembered until the account's
 * next event.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import type { Queryable } from '../records/store.ts'
import { listIdentity } from './cursor.ts'
import type { ListRequest, Selection } from './query.ts'
import { dependsOnValues, type Plan } from './resolve.ts'
import { filterSql, type Params, params } from './sql.ts'

export type Total = { readonly total: number; readonly totalIsEstimate: boolean }

/** How far is counted; what is more is estimated. */
const countedUpTo = { auto: 10_000, exact: Number.POSITIVE_INFINITY, estimate: 0, none: 0 } as const
/**
 * Counted beyond the bound, so that an estimate holds for as many events: each takes at most one record away. Otherwise an account that
 * is written to all the time would count ten thousand records with every page.
 */
const countedBeyond = 1000

type Remembered = Total & { readonly from: number; readonly until: number }

/** Totals by way of counting and list, each with the events for which it holds. A changed catalog begins anew: names may mean other ids. */
const remembered = new WeakMap<ResourceFields, Map<string, Remembered>>()
const rememberedMax = 1000

/** The total of a request, as of the account's event `seq` or a later one. */
export async function totalOf(
  db: Queryable,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
  seq: string,
): Promise<Total> {
  const known = remembered.get(fields) ?? new Map<string, Remembered>()
  remembered.set(fields, known)
  const key = listIdentity([request.count, String(request.isOfDeleted), request.filterText])
  const found = known.get(key)
  const at = Number(seq)
  if (found && found.from <= at && at <= found.until && !followsClock(request.filter)) return found
  const counted = await count(db, fields, account, request)
  if (known.size >= rememberedMax) known.clear()
  known.set(key, counted)
  return counted
}

async function count(db: Queryable, fields: ResourceFields, account: number, request: ListRequest): Promise<Remembered> {
  const list = params(String(account))
  const from = `FROM ${identifier(fields.resource.name)} r WHERE ${whereSql(request, list)}`
  const most = countedUpTo[request.count]
  const limit = Number.isFinite(most) ? ` LIMIT ${most + (most && countedBeyond)}` : ''
  const [row] = await db.query(
    `SELECT (SELECT count(*) FROM (SELECT ${from}${limit}) x)::text AS total, ` +
      '(SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS seq',
    list.values,
    request.filter !== null && dependsOnValues(request.filter),
  )
  const counted = Number(row!.total)
  const seq = Number(row!.seq)
  if (counted <= most && request.count !== 'estimate') return { total: counted, totalIsEstimate: false, from: seq, until: seq }
  const [plan] = await db.query(`EXPLAIN (FORMAT JSON) SELECT ${from}`, list.values, true)
  const [{ Plan }] = JSON.parse(plan!['QUERY PLAN']!) as [{ Plan: { 'Plan Rows': number } }]
  const total = Math.max(counted, Plan['Plan Rows'])
  return { total, totalIsEstimate: true, from: seq, until: seq + counted - most }
}

/** The condition of a list or of sums: the account, what is not deleted (or what is), and the filter. $1 is the account. */
export function whereSql(selection: Selection, list: Params): string {
  const filter = selection.filter ? ` AND ${filterSql(selection.filter, list)}` : ''
  return `r.account_id = $1::bigint AND r.deleted_at IS ${selection.isOfDeleted ? 'NOT NULL' : 'NULL'}${filter}`
}

/** Such a total changes without an event. */
function followsClock(filter: Plan | null): boolean {
  if (filter === null) return false
  if (filter.type === 'not') return followsClock(filter.of)
  return filter.type === 'condition' ? filter.term.sql.includes('now()') : filter.of.some(followsClock)
}
