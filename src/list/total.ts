/**
 * How many records a filter finds (D28): counted up to a bound, beyond it the planner's estimate, and remembered until the account's
 * next event.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import type { Queryable } from '../records/store.ts'
import type { ListRequest } from './query.ts'
import { filterSql, type Params, params } from './sql.ts'

export type Total = { readonly total: number; readonly totalIsEstimate: boolean }

/** How far is counted; what is more is estimated. */
const countedUpTo = { auto: 10_000, exact: Number.POSITIVE_INFINITY, estimate: 0, none: 0 } as const

/** Totals by way of counting and filter, each with the event up to which it holds. A changed catalog begins anew: names may mean other ids. */
const remembered = new WeakMap<ResourceFields, Map<string, Total & { readonly seq: string }>>()
const rememberedMax = 1000

/** The total of a request, as of the account's event `seq` or a later one. */
export async function totalOf(
  db: Queryable,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
  seq: string,
): Promise<Total> {
  const known = remembered.get(fields) ?? new Map()
  remembered.set(fields, known)
  const key = `${request.count} ${request.filterText}`
  const found = known.get(key)
  if (found?.seq === seq && !followsClock(fields, request)) return found
  const counted = await count(db, fields, account, request)
  if (known.size >= rememberedMax) known.clear()
  known.set(key, counted)
  return counted
}

async function count(
  db: Queryable,
  fields: ResourceFields,
  account: number,
  request: ListRequest,
): Promise<Total & { seq: string }> {
  const list = params(String(account))
  const from = `FROM ${identifier(fields.resource.name)} r WHERE ${whereSql(request, list)}`
  const most = countedUpTo[request.count]
  const limit = Number.isFinite(most) ? ` LIMIT ${most + 1}` : ''
  const [row] = await db.query(
    `SELECT (SELECT count(*) FROM (SELECT ${from}${limit}) x)::text AS total, ` +
      '(SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS seq',
    list.values,
  )
  const counted = Number(row!.total)
  if (counted <= most) return { total: counted, totalIsEstimate: false, seq: row!.seq! }
  const [plan] = await db.query(`EXPLAIN (FORMAT JSON) SELECT ${from}`, list.values)
  const [{ Plan }] = JSON.parse(plan!['QUERY PLAN']!) as [{ Plan: { 'Plan Rows': number } }]
  return { total: Math.max(counted, Plan['Plan Rows']), totalIsEstimate: true, seq: row!.seq! }
}

/** The condition of a list: the account, what is not deleted, and the filter. $1 is the account. */
export function whereSql(request: ListRequest, list: Params): string {
  const filter = request.filter ? ` AND ${filterSql(request.filter, list)}` : ''
  return `r.account_id = $1::bigint AND r.deleted_at IS NULL${filter}`
}

/** Such a total changes without an event. */
function followsClock(fields: ResourceFields, { filterText }: ListRequest): boolean {
  return fields.fields.some(field => field.is_volatile && filterText.includes(field.internal_name))
}
