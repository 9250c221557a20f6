/**
 * The OpenAPI document of an account as a caller sees it (D90), made of the route table, the field kinds and
 * the table of errors. Pure; knows no HTTP.
 */
import { setImmediate } from 'node:timers/promises'
import type { ErrorSlug } from '../../errors.ts'
import { buildCatalog, type Catalog } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { text } from '../../fields/kinds/schemas.ts'
import { resources } from '../../resources/resources.ts'
import { commonSchemas } from './common-schemas.ts'
import { type Replacer, withoutHidden } from './hidden.ts'
import { type DescribedRoute, type Operation, type Response, takesKey, tellsSeq } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { recordSchemas } from './records.ts'
import { refusalResponse, refusalsOf, responseName } from './refusals.ts'
import { ownSchemas } from './schemas.ts'

/** The catalog of an unknown account: the service's own fields (D90). */
export const baseCatalog: Catalog = buildCatalog(resources, {
  account: { id: 0, name: '', time_zone: 'UTC', locale: null, base_currency: 0, catalog_version: '0' },
  followed_at: '1970-01-01T00:00:00Z',
  ...{ fields: [], options: [], forms: [], currencies: [], pipelines: [], stages: [], roles: [] },
})

/**
 * The document of these routes as JSON text, for a catalog as a role sees it. A large account has thousands
 * of fields and options, so it yields to other requests after each resource.
 */
export async function openApi(catalog: Catalog, routes: readonly DescribedRoute[]): Promise<string> {
  const paths: { [path: string]: { [method: string]: Schema } } = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, (_, name) => `{${name}}`)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  const components = componentsOf(catalog, routes)
  const replacer = withoutHidden(catalog)
  for (const schema of catalog.resources.values()) {
    addTexts(components, 'schemas', recordSchemas(schema), replacer)
    await setImmediate()
  }
  const tags = [...new Set(routes.map(({ operation }) => operation.tag))]
  const { account } = catalog
  const head = JSON.stringify({
    openapi: '3.1.1',
    info: {
      ...{ title: 'Dealwright', version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
      ...(account.id === 0 ? {} : { 'x-account': { id: account.id, name: account.name } }),
    },
    servers: [{ url: '/' }],
    tags: tags.map(name => ({ name })),
  })
  const pathsText = JSON.stringify(paths, replacer)
  const used = [...referredTo(pathsText, components), ['securitySchemes', JSON.stringify(securitySchemes)]]
  const usedText = used.map(([kind, text]) => `"${kind}":${text}`).join()
  return `${head.slice(0, -1)},"paths":${pathsText},"components":{${usedText}}}`
}

const description =
  'The deals and products of a CRM. With a token, this document is that of its account, with the routes that its scopes allow.'

const securitySchemes: Schema = {
  token: { type: 'http', scheme: 'bearer', description: 'A token, with its scopes.' },
  key: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A token, as above.' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: 'dealwright_session' },
    description: 'The cookie of a sign-in. Over HTTPS its name begins with __Host-.',
  },
}

function operationOf(route: DescribedRoute): Schema {
  const { url, scope, operation } = route
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const names = [
    ...inPath,
    ...(takesKey(route) ? ['idempotency_key'] : []),
    ...(operation.ifMatch ? ['if_match'] : []),
    ...(isTagged(route) ? ['if_none_match'] : []),
  ]
  const parameters = [...names, ...(operation.parameters ?? [])].map(one =>
    typeof one === 'string' ? { $ref: `#/components/parameters/${one}` } : one,
  )
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    tags: [operation.tag],
    ...(parameters.length ? { parameters } : {}),
    ...(operation.body ? { requestBody: requestBody(operation.body) } : {}),
    responses: responsesOf(route),
    security: securityOf(scope),
  }
}

function requestBody({
  schema,
  isOptional,
  mediaTypes = ['application/json'],
}: NonNullable<Operation['body']>): Schema {
  const content = Object.fromEntries(mediaTypes.map(type => [type, { schema }]))
  return { required: !isOptional, content }
}

/** The required scope stands with the token. Without a scope, no authentication is required. */
function securityOf(scope: string): Schema[] {
  if (scope === 'public') return [{}]
  const scopes = scope === 'any' ? [] : [scope]
  return [{ token: scopes }, { key: scopes }, { session: scopes }]
}

function responsesOf(route: DescribedRoute): Schema {
  const refusals = refusalsOf(route)
  const refused = [...refusals].map(([status, slugs]): [string, Schema] => [
    String(status),
    { $ref: `#/components/responses/${responseName(slugs)}` },
  ])
  const answered = route.operation.responses.map((answer): [string, Schema] => [
    String(answer.status),
    either(response(answer, headersOf(route)), refusals.get(answer.status)),
  ])
  const unchanged = isTagged(route) ? { 304: { $ref: `#/components/responses/${unchangedName}` } } : {}
  return { ...Object.fromEntries([...refused, ...answered]), ...unchanged }
}

/** The headers of a success besides those that its operation names. */
function headersOf(route: DescribedRoute): string[] {
  return [
    ...(takesKey(route) ? ['idempotency-replayed'] : []),
    ...(tellsSeq(route) ? ['dealwright-seq'] : []),
  ]
}

/** True if the response has an ETag for conditional requests (D89). */
function isTagged({ method, operation }: DescribedRoute): boolean {
  return (
    method === 'GET' &&
    operation.responses.some(({ status, headers }) => status === 200 && headers?.includes('etag'))
  )
}

const unchangedName = 'unchanged'
const unchanged: Schema = response(
  {
    ...{ status: 304, description: 'The client has it already: If-None-Match names its tag.' },
    ...{ schema: null, headers: ['etag'] },
  },
  [],
)

/** A response whose status is also that of refusals: its media type tells which it is. */
function either(answer: Schema, refused: readonly ErrorSlug[] | undefined): Schema {
  if (!refused) return answer
  const other = refusalResponse(refused)
  return {
    description: `${answer.description} Or: ${other.description}`,
    headers: { ...(other.headers as Schema), ...(answer.headers as Schema) },
    content: { ...(answer.content as Schema), ...(other.content as Schema) },
  }
}

function response(answer: Response, more: readonly string[]): Schema {
  const {
    description,
    schema,
    mediaType = 'application/json',
    alsoAs = [],
    isStreamed,
    headers = [],
  } = answer
  const content = Object.fromEntries([mediaType, ...alsoAs].map(type => [type, { schema }]))
  const names = ['x-request-id', ...headers, ...more]
  return {
    description,
    headers: Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])),
    ...(schema ? { content: { ...content, ...(isStreamed ? streamed : {}) } } : {}),
  }
}

const streamed = { 'text/event-stream': { schema: { type: 'string' } } }

/** The schemas that are the same in every account. */
const sharedSchemas: { readonly [name: string]: Schema } = { ...commonSchemas, ...ownSchemas }

/** kind → name → the text of the component */
type Components = Map<string, Map<string, string>>

/** All components except the schemas of records. */
function componentsOf(catalog: Catalog, routes: readonly DescribedRoute[]): Components {
  const refused = routes.flatMap(route => [...refusalsOf(route).values()])
  const byName = new Map(refused.map(slugs => [responseName(slugs), slugs]))
  const components: Components = new Map()
  const replacer = withoutHidden(catalog)
  addTexts(components, 'schemas', sharedSchemas, replacer)
  addTexts(components, 'parameters', parametersOf(catalog), replacer)
  for (const [name, slugs] of byName) addTexts(components, 'responses', { [name]: refusalResponse(slugs) })
  addTexts(components, 'responses', { [unchangedName]: unchanged })
  addTexts(components, 'headers', headers)
  return components
}

function addTexts(
  components: Components,
  kind: string,
  added: { readonly [name: string]: Schema },
  replacer?: Replacer,
): void {
  const texts = components.get(kind) ?? new Map<string, string>()
  for (const [name, component] of Object.entries(added)) texts.set(name, JSON.stringify(component, replacer))
  components.set(kind, texts)
}

/** All schemas of an account's records, fields and responses. */
export function schemasOf({ resources }: Catalog): { readonly [name: string]: Schema } {
  return { ...sharedSchemas, ...Object.assign({}, ...[...resources.values()].map(recordSchemas)) }
}

const headers: { readonly [name: string]: Schema } = {
  'x-request-id': { description: 'The request, as the log names it.', schema: text },
  etag: { description: 'The version, for If-Match, where there is a record.', schema: text },
  'content-disposition': { description: 'The name of the file.', schema: text },
  location: { description: 'Path of the new record.', schema: text },
  'set-cookie': { description: 'The cookie of the session.', schema: text },
  'retry-after': { description: 'The seconds after which to try again.', schema: { type: 'integer' } },
  ratelimit: { description: 'How many requests are left.', schema: text },
  'ratelimit-policy': { description: 'How many requests are allowed.', schema: text },
  'www-authenticate': { description: 'How to authenticate.', schema: text },
  'dealwright-seq': {
    description: 'With a replica: send this value as Dealwright-Seq to read what this response shows.',
    schema: { type: 'integer' },
  },
  'idempotency-replayed': {
    description: 'true if this is the stored response of an earlier request.',
    schema: { const: 'true' },
  },
}

/** The components that a text refers to, transitively, in their order: kind and text. */
function referredTo(text: string, all: Components): [string, string][] {
  const found = new Set<string>()
  const look = (within: string) => {
    for (const [, kind, name] of within.matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
      if (found.has(`${kind} ${name}`)) continue
      found.add(`${kind} ${name}`)
      look(all.get(kind!)!.get(name!)!)
    }
  }
  look(text)
  return [...all].map(([kind, texts]) => {
    const kept = [...texts].filter(([name]) => found.has(`${kind} ${name}`))
    return [kind, `{${kept.map(([name, component]) => `"${name}":${component}`).join()}}`]
  })
}
