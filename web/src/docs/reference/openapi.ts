/** The parts of an OpenAPI document that the reference shows, and their places in it. */

/** The members of JSON Schema that the service uses. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Members
  readonly required?: readonly string[]
  readonly title?: string
  readonly description?: string
  readonly readOnly?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

export type Members = { readonly [name: string]: Schema }

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Ref = { readonly $ref: string }
type Content = { readonly [mediaType: string]: { readonly schema: Schema } }
export type Response = { readonly description: string; readonly content?: Content }

type Described = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly (Parameter | Ref)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly [status: string]: Response | Ref }
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[]
}

export type ApiDocument = {
  readonly info: { readonly 'x-account'?: { readonly id: number; readonly name: string } }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: { readonly [path: string]: { readonly [method: string]: Described } }
  readonly components: {
    readonly schemas: Members
    readonly parameters: { readonly [name: string]: Parameter }
    readonly responses: { readonly [name: string]: Response }
  }
}

/** A request, with all that it refers to in its place. */
export type Operation = Omit<Described, 'parameters' | 'responses' | 'security'> & {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly responses: readonly (readonly [status: string, Response])[]
  readonly scopes: readonly string[]
  /** True if it needs neither a session nor a token */
  readonly isPublic: boolean
}

/** The requests of a document that have this tag. */
export function operationsOf({ paths, components }: ApiDocument, tag: string): Operation[] {
  const found = <T extends object>(of: { readonly [name: string]: T }, one: T | Ref): T =>
    '$ref' in one ? of[nameOf(one.$ref)]! : one
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, { parameters = [], responses, security, ...described }]) => ({
        ...{ ...described, path, method: method.toUpperCase() },
        parameters: parameters.map(one => found(components.parameters, one)),
        responses: Object.entries(responses).map(
          ([status, one]) => [status, found(components.responses, one)] as const,
        ),
        scopes: [...new Set(security.flatMap(one => Object.values(one).flat()))],
        isPublic: security.some(one => Object.keys(one).length === 0),
      })),
  )
}

/** The schema of a request's JSON body; undefined if it takes none. */
export function jsonBodyOf({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content['application/json']?.schema
}

const nameOf = (ref: string) => ref.split('/').at(-1)!

/** The schemas of a resource's records: what is read, and what may be sent. */
export type Fields = { readonly read: Members; readonly sent: Members; readonly required: readonly string[] }

/** Null if a tag is no resource. */
export function fieldsOf({ components: { schemas } }: ApiDocument, tag: string): Fields | null {
  const read = schemas[tag]?.properties
  if (!read || !schemas[`${tag}_read`]) return null
  const required = schemas[`${tag}_new`]?.allOf?.at(-1)?.required ?? []
  return { read, sent: schemas[`${tag}_input`]?.properties ?? {}, required }
}

/** The names of the schemas that are no record's: they have a page of their own. */
export function otherSchemas({ components: { schemas } }: ApiDocument): string[] {
  return Object.keys(schemas).filter(name => !isRecord(schemas, name))
}

/** The names of the schemas that bodies of requests are made of. */
export function schemasOfBodies({ paths, components: { schemas } }: ApiDocument): ReadonlySet<string> {
  const names = new Set<string>()
  const look = (part: unknown) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name!)) continue
      names.add(name!)
      look(schemas[name!])
    }
  }
  for (const methods of Object.values(paths))
    for (const { requestBody } of Object.values(methods)) if (requestBody) look(requestBody)
  return names
}

const isRecord = (schemas: Members, name: string) => `${resourceOf(name)}_read` in schemas
const resourceOf = (name: string) => name.replace(/_(read|new|input)$/, '')

/** Where the reference describes a schema. */
export function schemaPlace(schemas: Members, ref: string): { name: string; href: string } {
  const name = nameOf(ref)
  return {
    name,
    href: isRecord(schemas, name)
      ? `/docs/reference/${resourceOf(name)}#fields`
      : `/docs/reference/schemas#${name}`,
  }
}

/** `pipeline_stage` → Pipeline stage */
export const titleOf = (tag: string) => `${tag[0]!.toUpperCase()}${tag.slice(1).replaceAll('_', ' ')}`
