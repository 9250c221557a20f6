/** Locks that the database keeps for all processes of the service. Owns the waiting for them. */
import { setTimeout as delay } from 'node:timers/promises'
import type { PoolTransaction } from './open.ts'

const lookAgainMs = 100
/** A wait of this length is reported. */
const longWaitMs = 2000

/**
 * Takes the lock `key` until the transaction ends, so it works behind a pooler too. Asks again and again
 * instead of waiting in a statement: its snapshot would keep CREATE INDEX CONCURRENTLY waiting for it
 * forever, and its time would be limited. `onLong` is called when it takes more than two seconds.
 */
export async function advisoryLock(
  tx: Pick<PoolTransaction, 'query'>,
  key: number,
  onLong: () => void = () => {},
): Promise<void> {
  for (let waited = 0; ; waited += lookAgainMs) {
    if (waited === longWaitMs) onLong()
    const [row] = await tx.query<{ locked: string }[]>(
      `SELECT pg_try_advisory_xact_lock(${key})::text AS locked`,
    )
    if (row!.locked === 'true') return
    await delay(lookAgainMs)
  }
}
