/**
 * The steps of a request with known caller and body: first idempotency, then the handler. A refused handler
 * is retried once on a newer catalog. Admission comes before (admission.ts). Knows no HTTP library.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { callerKnownMs } from '../accounts/callers.ts'
import { DatabaseUnavailable } from '../db/unavailable.ts'
import { type ErrorSlug, Refusal } from '../errors.ts'
import { storedResponse } from '../records/idempotency.ts'
import type { Transaction } from '../records/store.ts'
import type { Answer } from './answer.ts'
import { type ApiRequest, seqHeader } from './request.ts'
import type { Handler } from './route.ts'

/** Responds to a request with a handler. Throws the handler's errors. */
export type Middleware = (request: ApiRequest, handler: Handler) => Promise<Answer>

/** `hasReplica`: answers that may tell of a write have the account's last `seq` (D172). */
export function openMiddleware(db: Transaction & { readonly hasReplica: boolean }): Middleware {
  const withIdempotency = idempotency(db)
  return (request, handler) => {
    const answered = withIdempotency(request, handler, () => retriedOnNewerCatalog(request, handler))
    return db.hasReplica && request.tellsSeq ? withSeq(request, answered) : answered
  }
}

/**
 * The answer with the account's last `seq`, at least that of the event that it tells of. The caller is looked
 * up again, also after an error, which may have come after a write was committed: so this process knows the
 * `seq`, too. If the database can't be asked, the answer comes once no process knows the caller as of before
 * the write.
 */
async function withSeq(request: ApiRequest, answered: Promise<Answer>): Promise<Answer> {
  const answer = await answered.catch(async error => {
    await request.latestCaller().catch(() => {})
    throw error
  })
  try {
    const { state } = await request.latestCaller()
    return { ...answer, headers: { ...answer.headers, [seqHeader]: String(state.seq) } }
  } catch (error) {
    // A refusal means that the write has ended what the caller may do.
    if (!(error instanceof Refusal)) await delay(callerKnownMs)
    return answer
  }
}

/** Errors that a stale cached catalog can cause. */
const errorsOfStaleCatalog: ReadonlySet<ErrorSlug> = new Set([
  'validation_failed',
  'malformed_query',
  'field_not_found',
  'not_a_dropdown',
  // A write that was validated by an old configuration writes nothing (D115).
  'busy_record',
])

/**
 * Retries a refused request once on a newer catalog (D52). This is safe, because a refused request has
 * changed nothing.
 */
async function retriedOnNewerCatalog(request: ApiRequest, handler: Handler): Promise<Answer> {
  try {
    return await handler(request)
  } catch (error) {
    if (!(error instanceof Refusal && errorsOfStaleCatalog.has(error.slug))) throw error
    const caller = await request.latestCaller()
    if (caller.catalog === request.caller.catalog) throw error
    return handler({ ...request, caller })
  }
}

/**
 * Refuses a request while another with the same Idempotency-Key is carried out here (D8). If a request fails,
 * another process may have carried out the same one meanwhile: then the handler is called again, and finds
 * the stored response.
 */
function idempotency(db: Transaction) {
  const inFlight = new Set<string>()
  return async (request: ApiRequest, handler: Handler, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const { idempotency, caller } = request
    if (!idempotency) return carryOut()
    const key = `${caller.catalog.account.id} ${idempotency.key}`
    if (inFlight.has(key)) throw requestInFlight()
    inFlight.add(key)
    try {
      const answer = await carryOut().catch(async error => {
        if (error instanceof DatabaseUnavailable || !(await storedResponse(db, { ...caller, idempotency })))
          throw error
        return handler(request)
      })
      const { headers } = answer
      return idempotency.isReplayed
        ? { ...answer, headers: { ...headers, 'idempotency-replayed': 'true' } }
        : answer
    } finally {
      inFlight.delete(key)
    }
  }
}

function requestInFlight(): Refusal {
  const detail = 'A request with this Idempotency-Key is being carried out; ask again for its answer.'
  return new Refusal('request_in_flight', detail, [], { 'retry-after': '1' })
}
