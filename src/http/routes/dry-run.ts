/**
 * Dry runs (D79): `?dry_run=1` carries a write out in a transaction that is rolled back. So every check runs,
 * the database's too, and the response is that of the write.
 */
import type { Database } from '../../db/open.ts'
import type { Catalog } from '../../fields/catalog.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import type { Parameters } from '../../lists/parameters.ts'
import type { Transaction } from '../../records/store.ts'
import { memoize } from '../../waiting/memoize.ts'
import type { Answer } from '../answer.ts'
import { dryRun } from '../openapi/operation.ts'
import { invalidParameter } from '../parameters.ts'
import type { ApiRequest } from '../request.ts'
import type { Handler } from '../route.ts'

/**
 * True if the resource's writes have dry runs. Those of webhooks resolve a host name, which may take long,
 * and no transaction may stay open for that.
 */
export function takesDryRun(resource: string): boolean {
  return resource !== 'webhook'
}

/** True if the request is a dry run. Throws `malformed_query` for a value other than 1. */
export function isDryRun(query: Parameters): boolean {
  const values = query.get(dryRun)
  if (values === undefined) return false
  if (values.length === 1 && values[0] === '1') return true
  throw invalidParameter(dryRun, 'dry_run must be 1, and given once; leave it out to save.')
}

/** Removes from a dry run's response what is never committed; `made`: the ids of records created with it. */
type Redact = (data: JsonObject, made: ReadonlySet<number>, isNew: boolean, catalog: Catalog) => JsonObject

/**
 * The handlers of `make`, each with a dry run. A dry run makes them anew on a transaction that is rolled
 * back; `isDry` tells them so.
 */
export function withDryRun<Name extends string>(
  db: Database,
  make: (db: Transaction, isDry: boolean) => { readonly [name in Name]: Handler },
  redact: Redact = withoutIds,
): { readonly [name in Name]: Handler } {
  const handlers = make(db, false)
  const both = (name: Name): Handler => {
    const handler = handlers[name]
    return async request => {
      if (!isDryRun(request.query)) return handler(request)
      const asked = { ...withoutDryRun(request), idempotency: null, isDry: true as const }
      const answer = await db.transaction(turnOf(request), async tx => {
        return { commits: false, result: await make(tx, true)[name](asked) }
      })
      return dryAnswer(request, answer, redact)
    }
  }
  const names = Object.keys(handlers) as Name[]
  return Object.fromEntries(names.map(name => [name, both(name)])) as { [name in Name]: Handler }
}

export function withoutDryRun(request: ApiRequest): ApiRequest {
  const query = new Map(request.query)
  query.delete(dryRun)
  return { ...request, query }
}

/** The account whose turn a transaction of the request takes, and the signal that ends its wait. */
export function turnOf({ caller, hungUp }: ApiRequest) {
  return { account: String(caller.catalog.account.id), signal: hungUp() }
}

/** The response of a dry run, without the headers and ids of a committed write. */
function dryAnswer({ caller }: ApiRequest, { status, headers = {}, body }: Answer, redact: Redact): Answer {
  const { etag: _, location: __, ...others } = headers
  const { code, data, meta } = parseJson(String(body)) as JsonObject
  const { created = [], ...told } = (meta ?? {}) as { created?: CreatedRecord[] }
  const made = new Set(created.map(({ id }) => id))
  const kept = isObject(data) ? redact(data, made, status === 201, caller.catalog) : data!
  const all = { ...told, ...(created.length ? { created: created.map(withoutId) } : {}), dryRun: true }
  return { status, headers: others, body: JSON.stringify({ code, data: kept, meta: all }) }
}

type CreatedRecord = { readonly resource: string; readonly id: number }

export function withoutId({ resource }: CreatedRecord) {
  return { resource, id: null }
}

/**
 * A record without ids that are never assigned (its own if it is new, those of `made`) and without secrets.
 */
export function withoutIds(
  record: JsonObject,
  made: ReadonlySet<number>,
  isNew: boolean,
  catalog: Catalog,
): JsonObject {
  const references = made.size ? referencesOf(catalog) : null
  const without = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(without)
    return typeof value === 'number' && made.has(value) ? null : value
  }
  const members = Object.entries(record).map(([name, value]): [string, Json] => {
    if (secrets.has(name) || (isNew && name === 'id')) return [name, null]
    if (name === '_expanded') return [name, withoutIdsIn(value, made)]
    return [name, references?.has(name) ? without(value) : value]
  })
  return Object.fromEntries(members)
}

/** The names of fields, of any resource, with references. */
const referencesOf = memoize(({ resources }: Catalog) => {
  const fields = [...resources.values()].flatMap(schema => schema.fields)
  return new Set(fields.flatMap(({ related, internal_name: name }) => (related ? name : [])))
})

/** The names of references, without the ids. */
function withoutIdsIn(expanded: Json, ids: ReadonlySet<number>): Json {
  if (Array.isArray(expanded)) return expanded.map(one => withoutIdsIn(one, ids))
  if (!isObject(expanded)) return expanded
  const members = Object.entries(expanded).map(([name, value]): [string, Json] => [
    name,
    name === 'id' && ids.has(value as number) ? null : withoutIdsIn(value, ids),
  ])
  return Object.fromEntries(members)
}

const secrets = new Set(['token', 'secret'])
