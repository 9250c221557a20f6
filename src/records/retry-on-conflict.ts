/**
 * Optimistic concurrency: changes of one record that come at the same moment. The first is saved, and the
 * others are judged anew by what it made (D7). Owns who tries when; does not know what is changed.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { memoize } from '../waiting/memoize.ts'
import type { Given } from './create.ts'
import type { Saved } from './save.ts'
import type { Queryable, Transactional } from './store.ts'
import { lockFirst } from './write.ts'

/** Judges and saves a change; null where another was quicker. `isDoubtful`: it was so once before. */
type Act = (on: Queryable, isDoubtful: boolean) => Promise<Saved | null>

type About = { readonly fields: ResourceFields; readonly id: number; readonly account: string }

/** How often a change is tried when another process keeps changing the record. */
const attempts = 5

/** For each database, or transaction, the mutex of each of its records. */
const mutexOf = memoize((_db: Queryable) => new KeyedMutex<string>())

/**
 * Saves a change, at once if nobody waits to change the record, else when it holds the record's mutex.
 * Another process can still be quicker each time: at last it is tried under the account's lock. A transaction
 * has mutexes of its own: it must not wait for who waits for it. Null where all was in vain.
 */
export async function retryOnConflict(
  db: Queryable,
  { fields, id, account }: About,
  act: Act,
  { judge }: Given,
): Promise<Saved | null> {
  const mutex = mutexOf(db)
  const key = [account, fields.resource.name, id].join()
  const saved = mutex.isLocked(key) ? null : await act(db, false)
  if (saved) return saved
  return mutex.run(key, async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const saved = await act(db, true)
      if (saved) return saved
    }
    // What else is judged asks outside of the transaction, which the embedded engine's one session can't.
    return !judge && isTransactional(db) ? await underLock(db, account, act) : null
  })
}

function isTransactional(db: Queryable): db is Queryable & Transactional {
  return 'transaction' in db
}

function underLock(db: Transactional, account: string, act: Act): Promise<Saved | null> {
  return db.transaction({ account }, async tx => {
    await tx.query(lockFirst, [account])
    const result = await act(tx, true)
    return { isKept: result !== null, result }
  })
}
