/**
 * The operation of a route in the OpenAPI document (D90): the compiler demands one of every route. Knows no
 * route and no catalog: parts that depend on the account are named here and described by parameters.ts and
 * records.ts.
 */
import type { ErrorSlug } from '../../errors.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { importScope } from '../../rights/scopes.ts'

export type Operation = {
  /** the operationId, as generated clients name it */
  readonly id: string
  readonly summary: string
  /** facts that a program, or a model that calls it, can't learn from the rest */
  readonly description?: string
  readonly tag: string
  /** parameters of the query and headers: by their names in the document, or in full */
  readonly parameters?: readonly (string | Schema)[]
  readonly body?: {
    readonly schema: Schema
    readonly isOptional?: true
    /** default: JSON */
    readonly mediaTypes?: readonly string[]
  }
  /** responses of success */
  readonly responses: readonly Response[]
  /** errors beside the usual ones of such routes (refusals.ts) */
  readonly errors: readonly ErrorSlug[]
  /** true if it takes an Idempotency-Key; default: by its scope */
  readonly takesKey?: boolean
  /** true if it takes If-Match */
  readonly ifMatch?: true
}

/** A response that is no refusal. */
export type Response = {
  readonly status: number
  readonly description: string
  /** null: no body */
  readonly schema: Schema | null
  /** default: JSON */
  readonly mediaType?: string
  /** the other media types, by content negotiation */
  readonly alsoAs?: readonly string[]
  /** true if it is also available as server-sent events */
  readonly isStreamed?: true
  /** names of headers in the document */
  readonly headers?: readonly string[]
}

export type DescribedRoute = {
  readonly method: string
  readonly url: string
  readonly scope: string
  readonly operation: Operation
}

/**
 * A component schema with more properties. Client generators ignore siblings of a $ref, and `required`
 * members that are not described, so the properties are a schema of their own in `allOf`.
 */
export function refined(
  schema: string,
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = Object.keys(properties),
): Schema {
  const isMore = Object.keys(properties).length > 0
  return isMore ? { allOf: [schemaRef(schema), openObject(properties, required)] } : schemaRef(schema)
}

/** The envelope of a response, with `meta` if there is one. */
export function envelope(data: Schema, meta?: Schema, isMetaSure = false): Schema {
  const properties = { code: { const: 0 }, data, ...(meta ? { meta } : {}) }
  return openObject(properties, ['code', 'data', ...(isMetaSure ? ['meta'] : [])])
}

/** The meta of a write with warnings only. */
export const warningsMeta = openObject({ warnings: arrayOf(schemaRef('warning')) })

/** The meta of a page with cursors and without a total. */
export const cursorPageMeta = openObject({
  pageSize: { type: 'integer' },
  hasMore: { type: 'boolean' },
  nextCursor: { type: ['string', 'null'] },
})

export function queryParameter(name: string, description: string, schema: Schema, required = false): Schema {
  return { name, in: 'query', description, schema, ...(required ? { required } : {}) }
}

/** The parameter of a dry run (D79); also its name in the document. */
export const dryRun = 'dry_run'
export const dryRunParameter = [dryRun]

export function ok(description: string, schema: Schema, headers: readonly string[] = []): Response {
  return { status: 200, description, schema, headers }
}

export function created(schema: Schema): Response {
  return { status: 201, description: 'It is created.', schema, headers: ['etag', 'location'] }
}

export const deleted: Response = ok(
  'It is deleted.',
  envelope(schemaRef('deletion'), schemaRef('write_meta')),
)

/** True if an answer of the route may tell of a write, its own or a job's: it has Dealwright-Seq (D172). */
export function tellsSeq({ method, scope }: Pick<DescribedRoute, 'method' | 'scope'>): boolean {
  if (method === 'GET') return scope === 'job:read' || scope === importScope
  return isWrite({ method, scope })
}

export function isWrite({ method, scope }: Pick<DescribedRoute, 'method' | 'scope'>): boolean {
  return method !== 'GET' && scope !== 'public' && !scope.endsWith(':read')
}

/** True if a route takes an Idempotency-Key; every write of records does (D8). */
export function takesKey({ scope, operation }: Pick<DescribedRoute, 'scope' | 'operation'>): boolean {
  return operation.takesKey ?? (scope.endsWith(':write') || scope === 'admin')
}
