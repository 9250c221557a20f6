/**
 * Changes of records that are part of the configuration, such as stages: an account's own come one after the
 * other in this process, each on the configuration that the one before has left.
 */
import { Refusal } from '../../errors.ts'
import type { Transaction } from '../../records/store.ts'
import { KeyedMutex } from '../../waiting/keyed-mutex.ts'
import { memoize } from '../../waiting/memoize.ts'
import type { ApiRequest } from '../request.ts'

/** Maximum of attempts while other processes change the configuration. */
const attempts = 10

const mutexOf = memoize((_db: Transaction) => new KeyedMutex<number>('configuration'))

/**
 * Carries out a change of the configuration for the caller as they are by now. A dry run is carried out at
 * once, because its transaction may have the only connection.
 */
export async function inConfigurationTurn<T>(
  db: Transaction,
  request: ApiRequest,
  act: (request: ApiRequest) => Promise<T>,
): Promise<T> {
  if (!db.transaction) return act(request)
  return mutexOf(db).run(request.caller.catalog.account.id, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act({ ...request, caller: await request.latestCaller() })
      } catch (error) {
        const isOutdated = error instanceof Refusal && error.slug === 'busy_record'
        if (!isOutdated || attempt === attempts) throw error
      }
    }
  })
}
