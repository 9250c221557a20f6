/**
 * The web UI (D132): the files that `npm run build` makes of web/. They contain no data. A path such as
 * /deals/477 gets the single page, which loads its data from the routes, like any client.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { securityHeaders } from './answer.ts'
import type { Connections } from './connections.ts'
import { wantsPage } from './refusals.ts'

export const webDirectory = fileURLToPath(new URL('../../web/dist', import.meta.url))

/** Hash of the one inline style of React Aria; test/web fails if an upgrade changes it. */
const ariaStyle = 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='

export const pageHeaders = {
  ...securityHeaders,
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'self' '${ariaStyle}'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

const year = 31_536_000

/** True if a browser requests a page, not a program data. */
export function isForPage(request: FastifyRequest): boolean {
  const { method, url } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  return wantsPage(request) && !/^\/(rest|assets|oauth|\.well-known|openapi\.json)(\/|$)/.test(pathOf(url))
}

/** The decoded path of a URL, as the routes match it. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Serves the UI; false if it has not been built. */
export function serveWeb(app: FastifyInstance, connections: Connections): boolean {
  if (!existsSync(`${webDirectory}/index.html`)) return false
  app.register(fastifyStatic, {
    root: webDirectory,
    wildcard: false,
    preCompressed: true,
    cacheControl: false,
    acceptRanges: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    setHeaders(reply, path) {
      connections.answer(reply.request.raw, reply.raw)
      // Names of assets contain a hash of their content.
      const cacheControl = path.includes('/assets/') ? `public, max-age=${year}, immutable` : 'no-cache'
      for (const [name, value] of Object.entries({ ...pageHeaders, 'cache-control': cacheControl }))
        reply.header(name, value)
    },
  })
  // For every path without a file or a route.
  app.setNotFoundHandler((_, reply) => reply.sendFile('index.html'))
  return true
}
