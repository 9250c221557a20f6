/** The fields of a resource, and of those that its filters reach. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { FilterNode } from '../../../client/src/filter.ts'
import type { Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { type ResolvedPath, relatedSources, resolvePath } from './field-path.ts'

const none: readonly Field[] = []

/** The active fields of a resource in the order of its form; empty until they are loaded. */
export function useFields(source: string): readonly Field[] {
  const { data } = useQuery(fieldsQuery(source))
  return useMemo(() => data?.flat().filter(({ is_active }) => is_active) ?? none, [data])
}

/** Resolves paths. `isWaiting`: True if fields of other resources are still loading. */
export function useFieldPaths(
  source: string,
  paths: readonly string[],
): { find: (path: string) => ResolvedPath | null; isWaiting: boolean } {
  const fields = useFields(source)
  const sources = relatedSources(paths, fields)
  const others = useQueries({ queries: sources.map(fieldsQuery) })
  const find = (path: string) =>
    resolvePath(path, fields, other => others[sources.indexOf(other)]?.data?.flat())
  return { find, isWaiting: fields.length === 0 || others.some(({ isPending }) => isPending) }
}

/** The paths in terms. */
export const pathsOf = (terms: readonly FilterNode[]): string[] =>
  terms.flatMap(term => (term.type === 'condition' ? [term.field] : pathsOf(term.of)))
