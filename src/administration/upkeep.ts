/**
 * What a change of configuration leaves to be done in the background: amounts that follow from stages and rates, indexes made and removed,
 * deleted fields purged. Runs at the start, every hour,
 * and after each change; several processes may do so at once. Owns when; not what.
 */
import { loadCatalog } from '../accounts/directory.ts'
import { revalueRecords } from '../currencies/revalue.ts'
import type { Database, Log } from '../db/open.ts'
import type { Catalog } from '../fields/catalog.ts'
import { reweighDeals } from '../pipelines/reweigh.ts'
import type { Resource } from '../records/resource.ts'
import { arrangeIndexes } from './indexes.ts'
import { purgeFields } from './purge.ts'

const everyMs = 3_600_000
/** Other processes remember a configuration for a second (accounts/directory.ts). */
const settledAfterMs = 2_000

export type Upkeep = {
  /** Looks after an account soon, after what is under way, and again when the processes that remember an older configuration have gone on. */
  wake(account: number): Promise<void>
  /** Begins nothing new. An index that is cut short is begun again at the next start. */
  stop(): void
}

export type UpkeepOptions = {
  readonly db: Database
  readonly resources: readonly Resource[]
  readonly now: () => Date
  readonly log: Log
}

/** Begins the upkeep. Its timer does not keep the process alive. */
export function startUpkeep({ db, resources, now, log }: UpkeepOptions): Upkeep {
  let queue: Promise<void> = Promise.resolve()
  let isStopped = false

  const lookAfter = async (account: number) => {
    const steps: ((catalog: Catalog) => Promise<unknown>)[] = [
      catalog => reweighDeals(db.unhurried, catalog),
      catalog => revalueRecords(db.unhurried, catalog),
      catalog => purge(account, catalog),
      catalog => arrangeIndexes(db.unhurried, catalog, (name, error) => complain(`index ${name} of account ${account}`, error)),
    ]
    // Each with the configuration as it is by then, and none in the way of the next.
    for (const step of steps) {
      if (isStopped) return
      await loadCatalog(db, resources, account)
        .then(step)
        .catch(error => complain(`account ${account}`, error))
    }
  }
  const purge = async (account: number, catalog: Catalog) => {
    const purged = await purgeFields(db, catalog, now())
    if (purged.length) log(`Purged the deleted fields ${purged.join(', ')} of account ${account}.`)
  }
  const complain = (what: string, error: unknown) => {
    if (!isStopped) log(`Upkeep of the configuration (${what}) failed; it is tried again within the hour: ${error}`)
  }
  const soon = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(work).catch(error => complain('all accounts', error))
    return queue
  }
  const all = async () => {
    const rows = await db.query(
      'SELECT DISTINCT account_id::text AS account FROM field WHERE is_indexed OR deleted_at IS NOT NULL',
    )
    for (const { account } of rows) await lookAfter(Number(account))
  }

  soon(all)
  const timer = setInterval(() => soon(all), everyMs).unref()
  return {
    wake: account => {
      setTimeout(() => soon(() => lookAfter(account)), settledAfterMs).unref()
      return soon(() => lookAfter(account))
    },
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}
