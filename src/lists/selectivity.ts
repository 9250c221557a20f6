/**
 * The selectivity of custom values in a filter. PostgreSQL has no statistics of values wider than a kilobyte,
 * as `custom` soon is, and takes each value for rare. For a common value it would fetch and sort all records
 * that have it, although walking the order finds a page at once. So the service counts among the newest
 * records from time to time.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Reader } from '../records/store.ts'
import { type Caller, callerParamsOf, visibilityKey, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { digestOf } from './digest.ts'
import type { ListRequest } from './list-request.ts'
import { type Plan, type PlannedCondition, termText } from './plan.ts'
import { filterSql, isContained } from './where.ts'

/**
 * A value is common if one in a hundred of the newest records has it: walking past the others is faster than
 * fetching all that have it.
 */
const sample = 300
const commonFrom = 3
const cacheMs = 60_000
const cacheMax = 1000

type CachedSelectivity = { readonly isCommon: boolean; readonly until: number }

const cached = memoize((_schema: ResourceSchema) => new Map<string, CachedSelectivity>())

/**
 * The request with its common conditions marked; the same object if it has none. The records of a past day
 * are made of the current ones and have no index (D74), so there is nothing to choose.
 */
export async function withSelectivity(
  db: Reader,
  caller: Caller,
  request: ListRequest,
): Promise<ListRequest> {
  const { schema, filter, day } = request
  const doubtful = filter && day === null ? customConditions(filter) : []
  if (doubtful.length === 0) return request
  const known = cached(schema)
  const viewerKey = visibilityKey(schema, caller)
  const now = performance.now()
  const unknown = doubtful.filter(condition => !((known.get(keyOf(condition, viewerKey))?.until ?? 0) > now))
  if (unknown.length > 0) {
    if (known.size >= cacheMax) known.clear()
    const counts = await counted(db, request, caller, unknown)
    for (const [index, condition] of unknown.entries()) {
      known.set(keyOf(condition, viewerKey), { isCommon: counts[index]! >= commonFrom, until: now + cacheMs })
    }
  }
  const common = new Set(doubtful.filter(condition => known.get(keyOf(condition, viewerKey))?.isCommon))
  return common.size ? { ...request, filter: marked(filter!, common) } : request
}

/** The conditions on custom values that every record of the list meets. */
function customConditions(plan: Plan): PlannedCondition[] {
  if (plan.type === 'and') return plan.of.flatMap(customConditions)
  return plan.type === 'condition' && !plan.across && isContained(plan) ? [plan] : []
}

function marked(plan: Plan, common: ReadonlySet<Plan>): Plan {
  if (plan.type === 'and') return { type: 'and', of: plan.of.map(inner => marked(inner, common)) }
  return common.has(plan) && plan.type === 'condition' ? { ...plan, isCommon: true } : plan
}

function keyOf({ term, operator, values }: PlannedCondition, viewerKey: string): string {
  return digestOf([viewerKey, termText(term), operator, ...values])
}

async function counted(
  db: Reader,
  { schema: { resource } }: ListRequest,
  caller: Caller,
  conditions: readonly PlannedCondition[],
): Promise<number[]> {
  const params = callerParamsOf(caller)
  const columns = conditions.map(
    (condition, index) =>
      sql`count(*) FILTER (WHERE ${filterSql(condition, params)})::text AS ${sql.id(`n${index}`)}`,
  )
  const statement = sql`SELECT ${sql.join(columns, sql`,\n  `)}
FROM (
  SELECT r.custom FROM ${sql.id(resource.name)} r
  WHERE ${visible(resource.name, params, sql`r`)} AND r.deleted_at IS NULL
  ORDER BY r.id DESC LIMIT ${sql.integer(sample)}) r`
  const [row] = await ask(db, statement)
  return conditions.map((_condition, index) => Number(row![`n${index}`]))
}
