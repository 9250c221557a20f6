/**
 * Scopes needed to read the names, sort keys and filtered resources of a request (D65, D87). Every reader of
 * a selection for a caller checks here, since a filter alone reveals what it reaches. Pure.
 */
import type { Field } from '../fields/field.ts'
import type { Rights } from '../rights/rights.ts'
import type { ListRequest } from './query.ts'
import { reachedBy } from './resolve.ts'

/**
 * Throws `forbidden` unless the caller may read the resources whose names are shown or sorted by, or that the
 * filter reaches.
 */
export function requireReadScopes(
  rights: Rights,
  shown: readonly Field[],
  { sort = [], filter = null }: Partial<Pick<ListRequest, 'sort' | 'filter'>> = {},
): void {
  const byName = [...shown.map(({ related }) => related), ...sort.map(({ order }) => order.namesOf)]
  const resources = [...byName, ...reachedBy(filter)]
  for (const resource of resources) if (resource) rights.need(`${resource}:read`)
}
