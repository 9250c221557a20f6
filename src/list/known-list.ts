/**
 * Lists that are asked again and again, for a page in a browser or by a program that looks for changes. Their
 * parameters are read once, and their statement is put together once: who asks, and at what moment, are
 * parameters of it. Both hold for one catalog, and are forgotten with it. Knows no HTTP.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { withNames } from '../records/names.ts'
import type { Reader } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { sightValues, type Viewer } from '../rights/visibility.ts'
import { prepared } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { countedPageSql, type StatementOf } from './list.ts'
import type { Parameters } from './parameters.ts'
import { type ListRequest, readListQuery } from './query.ts'

export type KnownList = {
  readonly request: ListRequest
  /** null for a list that is not asked often */
  readonly statementOf: StatementOf | null
}

type Known = KnownList & { readonly catalog: Catalog }

/**
 * The lists of an account by their role and text, and those that were asked once. Together for all roles, so
 * that there is an end to them: a list may take forty kilobytes. A changed catalog has another account.
 */
const known = memoize((_account: Catalog['account']) => ({
  lists: new Map<string, Known>(),
  askedOnce: new Map<string, true>(),
}))
/** How many are known of an account, and of how many characters. Most that callers put together come once. */
export const [listsMax, textMax] = [50, 1000]

/**
 * What the parameters of a list ask for. Throws as readListQuery does, and as withNames does for the names in
 * its filter. `now` is UTC, with milliseconds.
 */
export async function readKnownList(
  db: Reader,
  fields: ResourceFields,
  viewer: Viewer & { readonly rights: Rights },
  parameters: Parameters,
  now: string,
): Promise<KnownList> {
  const { catalog, rights } = viewer
  const { lists, askedOnce } = known(catalog.account)
  const text = isShort(parameters)
    ? JSON.stringify([rights.role.id, fields.resource.name, ...parameters])
    : null
  const found = text === null ? undefined : lists.get(text)
  // Callers of one role may see different catalogs: a token may take away that its user administers.
  if (text !== null && found?.catalog === catalog) {
    keep(lists, text, found)
    return { ...found, request: { ...found.request, asOf: now } }
  }
  const request = await withNames(db, viewer, names => readListQuery(parameters, fields, catalog, now, names))
  // Names may be given to other records, and a page after another one is read once.
  if (text === null || request.hasNames || request.cursor) return { request, statementOf: null }
  if (!askedOnce.delete(text)) {
    keep(askedOnce, text, true)
    return { request, statementOf: null }
  }
  const list = { request, catalog, statementOf: preparedPage(fields, viewer, request) }
  keep(lists, text, list)
  return list
}

function isShort(parameters: Parameters): boolean {
  const lengths = [...parameters.values()].flat().map(text => text.length)
  return lengths.reduce((sum, length) => sum + length, 0) <= textMax
}

/** Keeps one as the last that was asked; the one that was not asked for longest makes room for it. */
function keep<Of>(all: Map<string, Of>, text: string, one: Of): void {
  all.delete(text)
  if (all.size >= listsMax) all.delete(all.keys().next().value!)
  all.set(text, one)
}

function preparedPage(
  fields: ResourceFields,
  { catalog: { resources } }: Viewer,
  request: ListRequest,
): StatementOf {
  const statement = prepared((account, actor, territories, asOf) =>
    countedPageSql(fields, { account, actor, territories, resources }, request, asOf),
  )
  return (viewer, asOf) => statement(...sightValues(viewer), asOf)
}
