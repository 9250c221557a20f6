/** Pages of other origins that may ask the service (D89). Knows no route. */
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** What a page may read besides the body. */
const exposedHeaders = [
  'allow',
  'content-disposition',
  'etag',
  'idempotency-replayed',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'x-request-id',
]

/**
 * Lets pages of these origins ask with a token. A session's cookie never comes along from there: no answer
 * allows credentials.
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
