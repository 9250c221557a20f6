/** CORS: allowed origins may call the service (D89). Knows no route. */
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Response headers that a page may read. */
const exposedHeaders = [
  ...['allow', 'content-disposition', 'dealwright-seq', 'etag', 'idempotency-replayed'],
  ...['location', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
]

/**
 * Allows calls with a token from pages of these origins. A session's cookie never works from there: no
 * response allows credentials.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders,
    maxAge: 7200,
    strictPreflight: false,
  })
}
