/**
 * Cache of repeated lists, such as a page in a browser or a program that polls for changes. Their parameters
 * are parsed once, and their statement is built once: the caller and the moment are parameters of it. The
 * cache belongs to one catalog. Knows no HTTP.
 */
import type { Catalog } from '../fields/catalog.ts'
import { resolveNames } from '../records/names.ts'
import type { Reader } from '../records/store.ts'
import type { Work } from '../records/work.ts'
import type { AuthorizedCaller } from '../rights/visibility.ts'
import { memoize } from '../waiting/memoize.ts'
import type { ListRequest } from './list-request.ts'
import { preparedPageStatement, type StatementOf } from './page.ts'
import type { Parameters } from './parameters.ts'
import { readListQuery } from './query.ts'

export type ParsedList = {
  readonly request: ListRequest
  /** null for a list that is not repeated */
  readonly statementOf: StatementOf | null
}

type CachedList = ParsedList & { readonly catalog: Catalog }

/**
 * The cached lists of an account by role and text, and those requested once. One cache for all roles bounds
 * its memory: a list may take forty kilobytes. A changed catalog has another account object.
 */
const cache = memoize((_account: Catalog['account']) => ({
  lists: new Map<string, CachedList>(),
  askedOnce: new Map<string, true>(),
}))
/** Limits of an account's cache: lists, and characters of a list. Most long lists are requested only once. */
export const [listsMax, cachedTextMax] = [50, 1000]

/**
 * Parses the parameters of a list, or takes them from the cache. Throws as readListQuery does, and as
 * resolveNames does for the names in its filter. `now` is UTC, with milliseconds.
 */
export async function readListRequest(
  { db, schema, context }: Work<Reader, AuthorizedCaller>,
  parameters: Parameters,
  now: string,
): Promise<ParsedList> {
  const { catalog, rights } = context
  const { lists, askedOnce } = cache(catalog.account)
  const text = isShort(parameters)
    ? JSON.stringify([rights.role.id, schema.resource.name, ...parameters])
    : null
  const found = text === null ? undefined : lists.get(text)
  // Callers of one role may see different catalogs: a token may lack its user's administrator rights.
  if (text !== null && found?.catalog === catalog) {
    keep(lists, text, found)
    return { ...found, request: { ...found.request, clock: now } }
  }
  const request = await resolveNames(db, context, names =>
    readListQuery(parameters, schema, catalog, now, names),
  )
  // Not cached: a list with names, as a name may mean another record the next time; and a page by a cursor,
  // as it is mostly read once.
  if (text === null || request.hasNames || request.cursor) return { request, statementOf: null }
  if (!askedOnce.delete(text)) {
    keep(askedOnce, text, true)
    return { request, statementOf: null }
  }
  const list = { request, catalog, statementOf: preparedPageStatement(context, request) }
  keep(lists, text, list)
  return list
}

function isShort(parameters: Parameters): boolean {
  const lengths = [...parameters.values()].flat().map(text => text.length)
  return lengths.reduce((sum, length) => sum + length, 0) <= cachedTextMax
}

/** Inserts a list as the most recently used, and evicts the least recently used (LRU). */
function keep<Of>(all: Map<string, Of>, text: string, one: Of): void {
  all.delete(text)
  if (all.size >= listsMax) all.delete(all.keys().next().value!)
  all.set(text, one)
}
