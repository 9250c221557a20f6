/**
 * Optimistic concurrency: of concurrent changes of one record the first is saved, and the others are
 * validated again on its result (D7). Owns the retries; does not know what is changed.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { memoize } from '../waiting/memoize.ts'
import type { WriteOptions } from './create.ts'
import type { Saved } from './save.ts'
import type { Transaction } from './store.ts'
import { lockFirst } from './write.ts'

/** Validates and saves a change; null on a conflict. `recheck`: it is a retry. */
type Act = (on: Transaction, recheck: boolean) => Promise<Saved | null>

type About = { readonly schema: ResourceSchema; readonly id: number; readonly account: string }

/** Number of retries while another process keeps changing the record. */
const attempts = 5

/** Database or transaction → the mutex of its records. */
const mutexOf = memoize((_db: Transaction) => new KeyedMutex<string>('record'))

/**
 * Saves a change, at once if nobody waits to change the record, else under the record's mutex. Another
 * process can still be quicker each time: the last attempt holds the account's lock. A transaction has
 * mutexes of its own, which prevents deadlocks. Null if all attempts failed.
 */
export async function retryOnConflict(
  db: Transaction,
  { schema, id, account }: About,
  act: Act,
  { check: judge }: WriteOptions,
): Promise<Saved | null> {
  const mutex = mutexOf(db)
  const key = [account, schema.resource.name, id].join()
  const saved = mutex.isLocked(key) ? null : await act(db, false)
  if (saved) return saved
  return mutex.run(key, async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const saved = await act(db, true)
      if (saved) return saved
    }
    // `judge` queries outside of the transaction, which the embedded engine's one connection can't.
    return !judge && isTransactional(db) ? await underLock(db, account, act) : null
  })
}

function isTransactional(db: Transaction): db is Required<Transaction> {
  return 'transaction' in db
}

function underLock(db: Required<Transaction>, account: string, act: Act): Promise<Saved | null> {
  return db.transaction({ account }, async tx => {
    await tx.query(lockFirst, [account])
    const result = await act(tx, true)
    return { isKept: result !== null, result }
  })
}
