/**
 * Optimistic concurrency: of concurrent changes of one record the first is saved, and the others are
 * validated again on its result (D7). Owns the retries; does not know what is changed.
 */
import { ask } from '../sql.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { memoize } from '../waiting/memoize.ts'
import type { Transaction } from './store.ts'
import type { Work } from './work.ts'
import type { Operation, Saved } from './write/operation.ts'
import { lockStatement } from './write/protocol.ts'

/** Validates and saves a change; null on a conflict. `recheck`: it is a retry. */
type Act = (on: Transaction, recheck: boolean) => Promise<Saved | null>

/** Number of retries while other requests keep changing the record, or what a new one points to. */
const attempts = { create: 2, other: 5 }

/** Database or transaction → the mutex of its records. */
const mutexOf = memoize((_db: Transaction) => new KeyedMutex<string>('record'))

/**
 * Saves a change, and tries again after a conflict; null if all attempts failed. Once there was a conflict
 * about a record, one change of it is tried at a time, the one that holds the record's mutex. A transaction
 * has mutexes of its own, which prevents deadlocks. Other processes don't see the mutex and may be quicker
 * each time, so the last attempt holds the account's lock from its beginning. A create takes neither this
 * lock nor a mutex, because nobody else changes a record before it is there.
 */
export async function retryOnConflict(
  { db, schema: { resource }, context: { catalog } }: Work,
  { op, id, key, options }: Operation,
  act: Act,
): Promise<Saved | null> {
  if (op === 'create') return (await act(db, false)) ?? repeated(db, act, attempts.create)
  const account = String(catalog.account.id)
  const mutex = mutexOf(db)
  const record = [account, resource.name, id, key?.field.id, key?.text].join()
  const saved = mutex.isLocked(record) ? null : await act(db, false)
  if (saved) return saved
  return mutex.run(record, async () => {
    const saved = await repeated(db, act, attempts.other)
    // `check` queries outside of the transaction, which the embedded engine's one connection can't.
    if (saved || options?.check || !db.transaction) return saved
    return db.transaction({ account }, async tx => {
      await ask(tx, lockStatement(account))
      const result = await act(tx, true)
      return { commits: result !== null, result }
    })
  })
}

async function repeated(db: Transaction, act: Act, times: number): Promise<Saved | null> {
  for (let attempt = 0; attempt < times; attempt++) {
    const saved = await act(db, true)
    if (saved) return saved
  }
  return null
}
