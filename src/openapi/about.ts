/**
 * What the route table says of a route, so that the OpenAPI document can describe it (D90). A route without
 * it does not compile. Knows no route and no catalog: what an account decides is named here and described by
 * components.ts.
 */
import type { ErrorSlug } from '../errors.ts'
import type { Schema } from '../fields/field.ts'
import { opened } from '../fields/kinds/schemas.ts'

export type About = {
  /** the name of the operation, as programs call it */
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
  readonly answers: readonly Answered[]
  /** what it refuses beyond what all routes like it do (refusals.ts) */
  readonly refuses: readonly ErrorSlug[]
  /** whether it takes an Idempotency-Key, where that does not follow from its scope */
  readonly takesKey?: boolean
  /** whether it takes If-Match */
  readonly ifMatch?: true
}

/** A status that is no refusal. */
export type Answered = {
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
  readonly about: About
}

/** A schema of the document, by its name. */
export function named(schema: string): Schema {
  return { $ref: `#/components/schemas/${schema}` }
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
  return isMore ? { allOf: [named(schema), opened(properties, required)] } : named(schema)
}

/** The envelope of an answer; `meta` where it has one. */
export function enveloped(data: Schema, meta?: Schema, isMetaSure = false): Schema {
  return {
    type: 'object',
    properties: { code: { const: 0 }, data, ...(meta ? { meta } : {}) },
    required: ['code', 'data', ...(isMetaSure ? ['meta'] : [])],
  }
}

/** The meta of a write that has nothing but warnings to tell. */
export const warned: Schema = {
  type: 'object',
  properties: { warnings: { type: 'array', items: named('warning') } },
  required: ['warnings'],
}

/** The parameter that asks for a dry run (D79), by its name in the document. */
export const tried = ['dry_run']

/** The answer to what went well. */
export function ok(description: string, schema: Schema, headers: readonly string[] = []): Answered {
  return { status: 200, description, schema, headers }
}

/** The answer to what made something new. */
export function created(schema: Schema): Answered {
  return { status: 201, description: 'It is created.', schema, headers: ['etag', 'location'] }
}

/** What every deletion answers. */
export const deleted: Answered = ok('It is deleted.', enveloped(named('deletion'), named('write_meta')))
