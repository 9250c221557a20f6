/**
 * The service's own routes: the documentation (D140), the OpenAPI document (D90), and health checks. Texts
 * and documents are built at the first request.
 */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { Refusal } from '../../errors.ts'
import type { Catalog } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { openObject } from '../../fields/kinds/schemas.ts'
import { allows } from '../../rights/scopes.ts'
import { memoize } from '../../waiting/memoize.ts'
import type { Answer } from '../answer.ts'
import { documents } from '../documents.ts'
import { baseCatalog, openApi } from '../openapi/document.ts'
import { type DescribedRoute, type Operation, ok } from '../openapi/operation.ts'
import { readParameters } from '../parameters.ts'
import type { AnonymousHandler, AnonymousRoute, PublicRoute, Route } from '../route.ts'
import { signInLimit } from './sessions.ts'

const tag = 'service'

/** `routes` returns the whole table, of which these are a part. */
export function serviceRoutes(db: { ready(): Promise<boolean> }, routes: () => readonly Route[]): Route[] {
  return [...docsRoutes(routes), ...healthRoutes(db), openApiRoute(routes)]
}

function publicRoute(url: string, handler: PublicRoute['handler'], operation: Operation): PublicRoute {
  return { method: 'GET', url, scope: 'public', handler, operation }
}

/** Browsers get the web UI at these addresses, which shows the same texts. */
function docsRoutes(routes: () => readonly DescribedRoute[]): PublicRoute[] {
  const markdown = 'text/markdown; charset=utf-8'
  let texts: ReadonlyMap<string, string> | undefined
  const docs = async (name: string): Promise<Answer> => {
    texts ??= documents([...new Set(routes().map(({ operation }) => operation.tag))])
    const body = texts.get(name)
    if (body === undefined)
      throw new Refusal('route_not_found', `There is no page ${name}: /docs lists them.`)
    return { status: 200, headers: { 'content-type': markdown }, body }
  }
  const responses = [
    { ...ok('A page.', { type: 'string' }), mediaType: 'text/html; charset=utf-8', alsoAs: [markdown] },
  ]
  const page = (
    url: string,
    handler: PublicRoute['handler'],
    operation: Pick<Operation, 'id' | 'summary' | 'errors'>,
  ) => ({ ...publicRoute(url, handler, { ...operation, tag, responses }), isPage: true as const })
  return [
    page('/docs', () => docs(''), { id: 'docs', summary: 'The documentation, for people.', errors: [] }),
    page('/docs/errors', () => docs('errors'), {
      id: 'errors',
      summary: 'The errors, for people.',
      errors: [],
    }),
    page('/docs/:name', docs, {
      ...{ id: 'docs_page', summary: 'A page of the documentation, for people.' },
      errors: ['route_not_found'],
    }),
  ]
}

/** Health checks, for monitoring. */
function healthRoutes(db: { ready(): Promise<boolean> }): PublicRoute[] {
  const answer = (status: number, word: string): Answer => ({
    status,
    body: JSON.stringify({ status: word }),
  })
  const schema = (word: string): Schema => openObject({ status: { const: word } })
  return [
    publicRoute('/healthz', async () => answer(200, 'alive'), {
      ...{ id: 'alive', summary: 'Says that the service runs.', tag, errors: [] },
      responses: [ok('It runs.', schema('alive'))],
    }),
    publicRoute(
      '/readyz',
      async () => ((await db.ready()) ? answer(200, 'ready') : answer(503, 'not ready')),
      {
        ...{ id: 'ready', summary: 'Says whether the database answers.', tag, errors: [] },
        responses: [
          ok('It answers.', schema('ready')),
          { status: 503, description: 'It does not answer.', schema: schema('not ready') },
        ],
      },
    ),
  ]
}

/**
 * GET /openapi.json: the document of the caller's account, with the routes that their scopes allow; without a
 * token, that of the service.
 */
function openApiRoute(routes: () => readonly DescribedRoute[]): AnonymousRoute {
  return {
    ...{ method: 'GET', url: '/openapi.json', scope: 'public', anonymousHandler: openApiHandler(routes) },
    ...{ bodyLimit: signInLimit, takesToken: true },
    operation: {
      ...{ id: 'openapi', summary: 'This document, for whoever asks.', tag },
      responses: [
        ok('The document.', {
          type: 'object',
          properties: { openapi: { const: '3.1.1' } },
          additionalProperties: true,
          required: ['openapi'],
        }),
      ],
      errors: ['unauthenticated', 'rate_limited', 'database_unavailable', 'unknown_parameter'],
    },
  }
}

const [compressed, plain] = [promisify(gzip), promisify(gunzip)]

/**
 * Maximum of cached documents per catalog and role, compressed: tokens may have any combination of scopes.
 */
const keptMax = 4

export function openApiHandler(routes: () => readonly DescribedRoute[]): AnonymousHandler {
  const documents = memoize((_catalog: Catalog) => new Map<string, Promise<Buffer>>())
  const made = (catalog: Catalog, scopes: ReadonlySet<string> | null): Promise<Buffer> => {
    const known = documents(catalog)
    const key = [...(scopes ?? [])].sort().join()
    const kept = known.get(key)
    if (kept) return kept
    if (known.size >= keptMax) known.clear()
    const open = ['any', 'public']
    const allowed = routes().filter(({ scope }) => !scopes || open.includes(scope) || allows(scopes, scope))
    const making = openApi(catalog, allowed).then(compressed)
    known.set(key, making)
    return making
  }
  return async ({ caller, query }) => {
    readParameters(query, [], [])
    const document = await made(caller?.catalog ?? baseCatalog, caller?.rights.scopes ?? null)
    return { status: 200, body: await plain(document) }
  }
}
