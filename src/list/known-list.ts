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

/** The lists of a role, by their texts, and the texts of those that were asked once. */
const known = madeOnce((_catalog: Catalog) => ({
  lists: new Map<string, KnownList>(),
  askedOnce: new Set<string>(),
}))
/** How many are known of a role, and of how many characters. Most that callers put together come once. */
const listsMax = 100
const textMax = 1000

/**
 * What the parameters of a list ask for. Throws as readListQuery does, and as withNames does for the names in
 * its filter. `now` is UTC, with milliseconds.
 */
export async function readKnownList(
  db: Reader,
  fields: ResourceFields,
  viewer: Viewer & { readonly rights?: Rights },
  parameters: Parameters,
  now: string,
): Promise<KnownList> {
  const { lists, askedOnce } = known(viewer.catalog)
  const text = JSON.stringify([fields.resource.name, ...parameters])
  const found = lists.get(text)
  if (found) return { ...found, request: { ...found.request, asOf: now } }
  let times = 0
  const request = await withNames(db, viewer, names => {
    times++
    return readListQuery(parameters, fields, viewer.catalog, now, names)
  })
  // Names may be given to other records, and a page after another one is read once.
  const isRepeatable = times === 1 && !request.cursor && text.length <= textMax
  if (!isRepeatable || !askedOnce.delete(text)) {
    if (isRepeatable) roomIn(askedOnce).add(text)
    return { request, statementOf: null }
  }
  const list = { request, statementOf: preparedPage(fields, viewer, request) }
  roomIn(lists).set(text, list)
  return list
}

/** Makes room for one more. */
function roomIn<Kept extends { readonly size: number; clear(): void }>(all: Kept): Kept {
  if (all.size >= listsMax) all.clear()
  return all
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
