/**
 * The way of a request whose caller and body are known: idempotency, then the handler, which is tried once
 * more on a newer catalog. What comes before is in admission.ts. Knows no HTTP library.
 */
import type { Caller, Directory } from '../accounts/directory.ts'
import { DatabaseUnavailable } from '../db/unavailable.ts'
import { type ErrorSlug, Refusal } from '../errors.ts'
import { recall } from '../records/once.ts'
import type { Queryable } from '../records/store.ts'
import { allowed } from './admission.ts'
import type { Answer } from './answer.ts'
import type { ApiRequest } from './request.ts'
import type { Handler } from './routes.ts'

export type Pipeline = {
  /** Answers a request with a handler that needs this scope. Throws what the handler throws. */
  answer(request: ApiRequest, scope: string, handler: Handler): Promise<Answer>
}

export function openPipeline(db: Queryable, directory: Directory): Pipeline {
  const withIdempotency = idempotency(db)
  return {
    answer: (request, scope, handler) =>
      withIdempotency(request, handler, () => {
        const latestCaller = async () => allowed(await directory.callerNow(request.token), scope)
        return retriedOnNewerCatalog(request, handler, latestCaller)
      }),
  }
}

/** What may be refused only because this process remembers an older catalog than the database has. */
const judgedByCatalog: ReadonlySet<ErrorSlug> = new Set([
  'validation_failed',
  'malformed_query',
  'field_not_found',
  'not_a_dropdown',
  // Nothing is written by a configuration that is too old (D115).
  'busy_record',
])

/** A refused request has left no trace, so that it can be tried once more when the catalog is newer (D52). */
async function retriedOnNewerCatalog(
  request: ApiRequest,
  handler: Handler,
  latestCaller: () => Promise<Caller>,
): Promise<Answer> {
  try {
    return await handler(request)
  } catch (error) {
    if (!(error instanceof Refusal && judgedByCatalog.has(error.slug))) throw error
    const caller = await latestCaller()
    if (caller.catalog === request.caller.catalog) throw error
    return handler({ ...request, caller })
  }
}

/**
 * Carries out requests with an Idempotency-Key one at a time for each key (D8). When one fails, another
 * process may have carried out the same request meanwhile: then the handler finds its answer.
 */
function idempotency(db: Queryable) {
  const inFlight = new Set<string>()
  return async (request: ApiRequest, handler: Handler, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const { once, caller } = request
    if (!once) return carryOut()
    const account = String(caller.catalog.account.id)
    const key = `${account} ${once.key}`
    if (inFlight.has(key)) throw requestInFlight()
    inFlight.add(key)
    try {
      const answer = await carryOut().catch(async error => {
        if (error instanceof DatabaseUnavailable || !(await recall(db, { account, once }))) throw error
        return handler(request)
      })
      const { headers } = answer
      return once.isReplayed ? { ...answer, headers: { ...headers, 'idempotency-replayed': 'true' } } : answer
    } finally {
      inFlight.delete(key)
    }
  }
}

function requestInFlight(): Refusal {
  const detail = 'A request with this Idempotency-Key is being carried out; ask again for its answer.'
  return new Refusal('request_in_flight', detail, [], { 'retry-after': '1' })
}
