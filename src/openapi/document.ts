/**
 * The OpenAPI document of an account as a caller sees it (D90), made of the route table, the field kinds and
 * the table of errors. Pure; knows no HTTP.
 */
import type { ErrorSlug } from '../errors.ts'
import { buildCatalog, type Catalog } from '../fields/catalog.ts'
import type { Schema } from '../fields/field.ts'
import { resources } from '../resources.ts'
import type { About, Answered, DescribedRoute } from './about.ts'
import { parametersOf } from './parameters.ts'
import { recordSchemas } from './records.ts'
import { refusalResponse, refusalsOf, responseName, takesKey } from './refusals.ts'
import { shapes } from './shapes.ts'

/** An account of which nothing is known: the service's own fields (D90). */
export const baseCatalog: Catalog = buildCatalog(resources, {
  account: { id: 0, name: '', time_zone: 'UTC', base_currency: 0, catalog_version: '0' },
  followed_at: '1970-01-01T00:00:00Z',
  ...{ fields: [], options: [], forms: [], currencies: [], pipelines: [], stages: [], roles: [] },
})

/** The document of these routes, for a catalog as a role sees it. */
export function openApi(catalog: Catalog, routes: readonly DescribedRoute[]): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, (_, name) => `{${name}}`)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  const tags = [...new Set(routes.map(({ about }) => about.tag))]
  return {
    openapi: '3.1.1',
    info: { title: 'Dealwright', version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: tags.map(name => ({ name })),
    paths,
    components: { ...referredTo(paths, componentsOf(catalog, routes)), securitySchemes },
  }
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

function operation(route: DescribedRoute): Schema {
  const { url, scope, about } = route
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const names = [
    ...inPath,
    ...(takesKey(route) ? ['idempotency_key'] : []),
    ...(about.ifMatch ? ['if_match'] : []),
  ]
  const parameters = [...names, ...(about.parameters ?? [])].map(one =>
    typeof one === 'string' ? { $ref: `#/components/parameters/${one}` } : one,
  )
  return {
    operationId: about.id,
    summary: about.summary,
    tags: [about.tag],
    ...(parameters.length ? { parameters } : {}),
    ...(about.body ? { requestBody: requestBody(about.body) } : {}),
    responses: responsesOf(route),
    security: securityOf(scope),
  }
}

function requestBody({ schema, isOptional }: NonNullable<About['body']>): Schema {
  return { required: !isOptional, content: { 'application/json': { schema } } }
}

/** A scope that a caller needs stands with the token. Without any, nobody is asked for one. */
function securityOf(scope: string): Schema[] {
  if (scope === 'public') return [{}]
  const scopes = scope === 'any' ? [] : [scope]
  return [{ token: scopes }, { key: scopes }, { session: scopes }]
}

function responsesOf(route: DescribedRoute): Schema {
  const refused = [...refusalsOf(route)].map(([status, slugs]): [string, Schema] => [
    String(status),
    { $ref: `#/components/responses/${responseName(slugs)}` },
  ])
  const answered = route.about.answers.map((answer): [string, Schema] => [
    String(answer.status),
    response(answer, takesKey(route)),
  ])
  return Object.fromEntries([...refused, ...answered])
}

function response({ description, schema, mediaType, headers = [] }: Answered, isReplayed: boolean): Schema {
  const names = ['x-request-id', ...headers, ...(isReplayed ? ['idempotency-replayed'] : [])]
  return {
    description,
    headers: Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])),
    ...(schema ? { content: { [mediaType ?? 'application/json']: { schema } } } : {}),
  }
}

type Components = { readonly [kind: string]: { readonly [name: string]: Schema } }

function componentsOf(catalog: Catalog, routes: readonly DescribedRoute[]): Components {
  const refused = routes.flatMap(route => [...refusalsOf(route).values()])
  return {
    schemas: schemasOf(catalog),
    parameters: parametersOf(catalog),
    responses: Object.fromEntries(
      refused.map((slugs: readonly ErrorSlug[]) => [responseName(slugs), refusalResponse(slugs)]),
    ),
    headers,
  }
}

/** The schemas of all that an account's records, fields and answers are. */
export function schemasOf({ resources }: Catalog): { readonly [name: string]: Schema } {
  return { ...shapes, ...Object.assign({}, ...[...resources.values()].map(recordSchemas)) }
}

const text = { type: 'string' }
const headers: { readonly [name: string]: Schema } = {
  'x-request-id': { description: 'The request, as the log names it.', schema: text },
  etag: { description: 'The version, for If-Match.', schema: text },
  location: { description: 'Where it is.', schema: text },
  'set-cookie': { description: 'The cookie of the session.', schema: text },
  'retry-after': { description: 'The seconds after which to try again.', schema: { type: 'integer' } },
  ratelimit: { description: 'How many requests are left.', schema: text },
  'ratelimit-policy': { description: 'How many requests are allowed.', schema: text },
  'www-authenticate': { description: 'How to authenticate.', schema: text },
  'idempotency-replayed': {
    description: 'Whether an earlier request is answered.',
    schema: { const: 'true' },
  },
}

/** The components that something refers to. */
function referredTo(paths: Schema, all: Components): Components {
  const found = new Set<string>()
  const look = (value: unknown) => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
      if (found.has(`${kind} ${name}`)) continue
      found.add(`${kind} ${name}`)
      look(all[kind!]![name!])
    }
  }
  look(paths)
  const kept = Object.entries(all).map(([kind, named]) => [
    kind,
    Object.fromEntries(Object.entries(named).filter(([name]) => found.has(`${kind} ${name}`))),
  ])
  return Object.fromEntries(kept)
}
