/**
 * What happens to a request whose caller and body are known: first idempotency, then the handler. A refused
 * handler is tried once more on a newer catalog. Admission comes before (admission.ts). Knows no HTTP
 * library.
 */
import { DatabaseUnavailable } from '../db/unavailable.ts'
import { type ErrorSlug, Refusal } from '../errors.ts'
import { storedResponse } from '../records/idempotency.ts'
import type { Queryable } from '../records/store.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import type { Answer } from './answer.ts'
import type { ApiRequest } from './request.ts'
import type { Handler } from './route.ts'

export type Pipeline = {
  /** Answers a request with a handler. Throws what the handler throws. */
  answer(request: ApiRequest, handler: Handler): Promise<Answer>
}

export function openPipeline(db: Queryable): Pipeline {
  const withIdempotency = idempotency(db)
  return {
    answer: (request, handler) =>
      withIdempotency(request, handler, () => retriedOnNewerCatalog(request, handler)),
  }
}

/** Errors that may come only from a remembered catalog that is older than the database's. */
const judgedByCatalog: ReadonlySet<ErrorSlug> = new Set([
  'validation_failed',
  'malformed_query',
  'field_not_found',
  'not_a_dropdown',
  // A write that an old configuration judged writes nothing (D115).
  'busy_record',
])

/**
 * Tries a refused request once more if the catalog is newer (D52). It is safe, because a refused request has
 * changed nothing.
 */
async function retriedOnNewerCatalog(request: ApiRequest, handler: Handler): Promise<Answer> {
  try {
    return await handler(request)
  } catch (error) {
    if (!(error instanceof Refusal && judgedByCatalog.has(error.slug))) throw error
    const caller = await request.latestCaller()
    if (caller.catalog === request.caller.catalog) throw error
    return handler({ ...request, caller })
  }
}

/**
 * Carries out requests with an Idempotency-Key, one at a time for each key (D8). When a request fails,
 * another process may have carried out the same request meanwhile. The handler then finds its response.
 */
function idempotency(db: Queryable) {
  const inFlight = new KeyedMutex<string>()
  return async (request: ApiRequest, handler: Handler, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const { idempotency, caller } = request
    if (!idempotency) return carryOut()
    const account = String(caller.catalog.account.id)
    const key = `${account} ${idempotency.key}`
    if (inFlight.isLocked(key)) throw requestInFlight()
    return inFlight.run(key, async () => {
      const answer = await carryOut().catch(async error => {
        if (error instanceof DatabaseUnavailable || !(await storedResponse(db, { account, idempotency })))
          throw error
        return handler(request)
      })
      const { headers } = answer
      return idempotency.isReplayed
        ? { ...answer, headers: { ...headers, 'idempotency-replayed': 'true' } }
        : answer
    })
  }
}

function requestInFlight(): Refusal {
  const detail = 'A request with this Idempotency-Key is being carried out; ask again for its answer.'
  return new Refusal('request_in_flight', detail, [], { 'retry-after': '1' })
}
