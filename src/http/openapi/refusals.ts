/** The refusals of a route, from the table of errors, as responses of the document. */
import { type ErrorSlug, errorTable } from '../../errors.ts'
import type { Schema } from '../../fields/field.ts'
import { type DescribedRoute, isWrite, refined, takesKey } from './operation.ts'

/** The errors of a route, by status: the usual ones of such routes, and its own. */
export function refusalsOf(route: DescribedRoute): ReadonlyMap<number, readonly ErrorSlug[]> {
  const slugs = new Set([...usual(route), ...route.operation.errors])
  const inOrder = (Object.keys(errorTable) as ErrorSlug[]).filter(slug => slugs.has(slug))
  return Map.groupBy(inOrder, slug => errorTable[slug].status)
}

function usual({ method, url, scope, operation }: DescribedRoute): ErrorSlug[] {
  const isJson = operation.responses.every(({ mediaType }) => mediaType === undefined)
  const isRead = method === 'GET'
  return [
    ...(['request_timeout', 'header_too_large', 'overloaded', 'internal'] as const),
    ...(isJson ? (['not_acceptable'] as const) : []),
    ...(url.includes(':') ? (['malformed_path'] as const) : []),
    ...(isRead ? [] : (['malformed_json', 'unsupported_media_type', 'body_too_large'] as const)),
    ...(scope === 'public' ? [] : ofAccounts),
    // A write with a cookie may be cross-site request forgery.
    ...(scope !== 'public' && (scope !== 'any' || !isRead) ? (['forbidden'] as const) : []),
    ...(takesKey({ scope, operation }) ? ofKeys : []),
    // Every write judges the conditions of the head, or refuses them (D7).
    ...(isWrite({ method, scope }) ? (['malformed_request', 'version_conflict'] as const) : []),
  ]
}

const ofAccounts = [
  ...(['unauthenticated', 'rate_limited', 'malformed_query', 'unknown_parameter'] as const),
  ...(['query_too_slow', 'database_unavailable'] as const),
]
const ofKeys = ['malformed_request', 'idempotency_key_reused', 'request_in_flight', 'busy_record'] as const

/** The component name of the response with these errors. */
export function responseName(slugs: readonly ErrorSlug[]): string {
  return slugs.join('.')
}

/** The response with these errors, which share one status. */
export function refusalResponse(slugs: readonly ErrorSlug[]): Schema {
  const { status } = errorTable[slugs[0]!]
  const code = { enum: slugs.map(slug => errorTable[slug].code) }
  const schema = refined('problem', { status: { const: status }, code })
  const headers = ['x-request-id', ...(headersOf[status] ?? [])]
  return {
    description: slugs.map(slug => `${errorTable[slug].title} (\`${slug}\`).`).join(' '),
    headers: Object.fromEntries(headers.map(name => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/problem+json': { schema } },
  }
}

const headersOf: { readonly [status: number]: readonly string[] } = {
  401: ['www-authenticate'],
  409: ['retry-after'],
  412: ['etag'],
  429: ['retry-after', 'ratelimit', 'ratelimit-policy'],
  503: ['retry-after'],
}
