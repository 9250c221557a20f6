/**
 * Lists that are asked again and again, for a page in a browser or by a program that looks for changes. Their
 * parameters are read once, and their statement is put together once: who asks, and at what moment, are
 * parameters of it. Both hold for one catalog, and are forgotten with it. Knows no HTTP.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { madeOnce } from '../made-once.ts'
import { withNames } from '../records/names.ts'
import type { Reader } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { sightValues, type Viewer } from '../rights/visibility.ts'
import { prepared } from '../sql.ts'
import { countedPageSql, type pageStatement } from './list.ts'
import type { Parameters } from './parameters.ts'
import { type ListRequest, readListQuery } from './query.ts'

export type KnownList = {
  readonly request: ListRequest
  /** what makes its statement; null for a list that is not asked often */
  readonly statementOf: typeof pageStatement | null
}

/**
 * The lists of an account by their role and text, and those that were asked once. Together for all roles, so
 * that there is an end to them: a list may take forty kilobytes. A changed catalog has another account.
 */
const known = madeOnce((_account: Catalog['account']) => ({
  lists: new Map<string, KnownList>(),
  askedOnce: new Map<string, true>(),
}))
/** How many are known of an account, and of how many characters. Most that callers put together come once. */
const listsMax = 200
const textMax = 1000

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
  const text = JSON.stringify([rights.role.id, fields.resource.name, ...parameters])
  const found = lists.get(text)
  if (found) return { ...found, request: { ...found.request, asOf: now } }
  let times = 0
  const request = await withNames(db, viewer, names => {
    times++
    return readListQuery(parameters, fields, catalog, now, names)
  })
  // Names may be given to other records, and a page after another one is read once.
  const isRepeatable = times === 1 && !request.cursor && text.length <= textMax
  if (isRepeatable && askedOnce.delete(text)) {
    const list = { request, statementOf: preparedPage(fields, viewer, request) }
    keep(lists, text, list)
    return list
  }
  if (isRepeatable) keep(askedOnce, text, true)
  return { request, statementOf: null }
}

/** Keeps one more; the oldest makes room for it. */
function keep<Of>(all: Map<string, Of>, text: string, one: Of): void {
  if (all.size >= listsMax) all.delete(all.keys().next().value!)
  all.set(text, one)
}

function preparedPage(
  fields: ResourceFields,
  { catalog: { resources } }: Viewer,
  request: ListRequest,
): typeof pageStatement {
  const statement = prepared((account, actor, territories, asOf) =>
    countedPageSql(fields, { account, actor, territories, resources }, request, asOf),
  )
  return (_fields, viewer, { asOf }) => statement(...sightValues(viewer), asOf)
}
