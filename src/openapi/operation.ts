/**
 * The operation of a route as the OpenAPI document describes it (D90): every route has one, or does not
 * compile. Knows no route and no catalog: what an account decides is named here and described by
 * parameters.ts and records.ts.
 */
import type { ErrorSlug } from '../errors.ts'
import type { Schema } from '../fields/field.ts'
import { opened, schemaRef } from '../fields/kinds/schemas.ts'

export type Operation = {
  /** the operationId, as generated clients name it */
  readonly id: string
  readonly summary: string
  /** what a program, or a model that calls it, can't know from the rest */
  readonly description?: string
  readonly tag: string
  /** the parameters of the query: by their names in the document, or in full */
  readonly parameters?: readonly (string | Schema)[]
  readonly body?: {
    readonly schema: Schema
    readonly isOptional?: true
    /** JSON if not said */
    readonly mediaTypes?: readonly string[]
  }
  /** those of success */
  readonly responses: readonly Response[]
  /** beside those that all routes like it have (refusals.ts) */
  readonly errors: readonly ErrorSlug[]
  /** whether it takes an Idempotency-Key, where that does not follow from its scope */
  readonly takesKey?: boolean
  /** whether it takes If-Match */
  readonly ifMatch?: true
}

/** A status that is no refusal. */
export type Response = {
  readonly status: number
  readonly description: string
  /** null: the answer has no body */
  readonly schema: Schema | null
  /** JSON if not said */
  readonly mediaType?: string
  /** the other media types that it has, by what is asked for */
  readonly alsoAs?: readonly string[]
  /** whether whoever asks for them gets server-sent events instead */
  readonly isStreamed?: true
  /** by their names in the document */
  readonly headers?: readonly string[]
}

export type DescribedRoute = {
  readonly method: string
  readonly url: string
  readonly scope: string
  readonly operation: Operation
}

/**
 * A schema of the document of which more is said. Generators of clients drop what stands beside a $ref, and
 * what is required where it is not described: it is described in a part of its own.
 */
export function refined(
  schema: string,
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = Object.keys(properties),
): Schema {
  const isMore = Object.keys(properties).length > 0
  return isMore ? { allOf: [schemaRef(schema), opened(properties, required)] } : schemaRef(schema)
}

/** The envelope of an answer; `meta` where it has one. */
export function envelope(data: Schema, meta?: Schema, isMetaSure = false): Schema {
  return {
    type: 'object',
    properties: { code: { const: 0 }, data, ...(meta ? { meta } : {}) },
    required: ['code', 'data', ...(isMetaSure ? ['meta'] : [])],
  }
}

/** The meta of a write that has nothing but warnings to tell. */
export const warningsMeta: Schema = {
  type: 'object',
  properties: { warnings: { type: 'array', items: schemaRef('warning') } },
  required: ['warnings'],
}

/** The meta of a page by cursors without a total. */
export const cursorPageMeta: Schema = {
  type: 'object',
  properties: {
    pageSize: { type: 'integer' },
    hasMore: { type: 'boolean' },
    nextCursor: { type: ['string', 'null'] },
  },
  required: ['pageSize', 'hasMore', 'nextCursor'],
}

/** A parameter of the query that one route takes. */
export function queryParameter(name: string, description: string, schema: Schema, required = false): Schema {
  return { name, in: 'query', description, schema, ...(required ? { required } : {}) }
}

/** The parameter that asks for a dry run (D79), by its name in the document. */
export const dryRunParameter = ['dry_run']

/** The answer to what went well. */
export function ok(description: string, schema: Schema, headers: readonly string[] = []): Response {
  return { status: 200, description, schema, headers }
}

/** The answer to what made something new. */
export function created(schema: Schema): Response {
  return { status: 201, description: 'It is created.', schema, headers: ['etag', 'location'] }
}

/** What every deletion answers. */
export const deleted: Response = ok(
  'It is deleted.',
  envelope(schemaRef('deletion'), schemaRef('write_meta')),
)
