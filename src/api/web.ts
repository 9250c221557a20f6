/**
 * The web UI (D132): the files that `npm run build` has made of web/. They hold nobody's data. An address
 * such as /deals/477 gets the one page there is; what it shows it asks of the routes, like any client.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { securityHeaders } from './answer.ts'
import type { Connections } from './connections.ts'
import { wantsPage } from './refusals.ts'

export const webDirectory = fileURLToPath(new URL('../../web/dist', import.meta.url))

/** The one style that React Aria puts into the page; test/web says when an upgrade changes it. */
const ariaStyle = 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='

const pageHeaders = {
  ...securityHeaders,
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'self' '${ariaStyle}'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

const year = 31_536_000

/** Whether a request is that of a browser for a page, not that of a program for data. */
export function isForPage(request: FastifyRequest): boolean {
  const { method, url } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  return wantsPage(request) && !/^\/(rest|docs|assets|openapi\.json)(\/|$)/.test(pathOf(url))
}

/** The path of an address as the routes see it. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Serves the UI; false where it has not been built. */
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
      // The names of assets change with what is in them.
      const kept = path.includes('/assets/') ? `public, max-age=${year}, immutable` : 'no-cache'
      for (const [name, value] of Object.entries({ ...pageHeaders, 'cache-control': kept }))
        reply.header(name, value)
    },
  })
  // Every address that has no file and no route.
  app.setNotFoundHandler((_, reply) => reply.sendFile('index.html'))
  return true
}
