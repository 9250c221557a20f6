/**
 * What is done in the background: what a change of configuration leaves to do (amounts that follow from stages and rates, indexes made and
 * removed), and the end of what was deleted or is out of date. Runs at the start, every hour, and after each change; several processes may
 * do so at once. Owns when; not what.
 */
import { loadCatalog } from '../accounts/directory.ts'
import { revalueRecords } from '../currencies/revalue.ts'
import type { Database, Log } from '../db/open.ts'
import type { Catalog } from '../fields/catalog.ts'
import { reasonOf } from '../log.ts'
import { reweighDeals } from '../pipelines/reweigh.ts'
import { forgetOldKeys } from '../records/once.ts'
import { type Purge, purgeRecords } from '../records/purge.ts'
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
  /** how long what is deleted can be restored */
  readonly retentionDays: number
}

/** What was deleted before then can't be restored any more (D9, D36). */
export function oldestKept(now: Date, retentionDays: number): Date {
  return new Date(now.getTime() - retentionDays * 86_400_000)
}

/** Begins the upkeep. Its timer does not keep the process alive. */
export function startUpkeep({ db, resources, now, log, retentionDays }: UpkeepOptions): Upkeep {
  let queue: Promise<void> = Promise.resolve()
  let isStopped = false
  const told = new Map<number, string>()

  const routine: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
    catalog => purge(catalog),
    ({ account }) => forgetOldKeys(db, String(account.id), now()),
    // Those of a restored database are missing, too.
    catalog => arrangeIndexes(db.unhurried, catalog, (name, error) => complain(`index ${name}`, error)),
  ]
  /** `isSettled`: whether all processes have the configuration by now, so that what is done is done for good. */
  const lookAfter = async (account: number, isChanged: boolean, isSettled: boolean) => {
    let done: string | null = null
    let isWhole = true
    const follow = [
      (catalog: Catalog) => reweighDeals(db.unhurried, catalog),
      (catalog: Catalog) => revalueRecords(db.unhurried, catalog),
    ]
    const steps = [...(isChanged ? follow : []), ...routine]
    // Each with the configuration as it is by then, and none in the way of the next.
    for (const step of steps) {
      if (isStopped) return
      try {
        const catalog = await loadCatalog(db, resources, account)
        done ??= catalog.version
        await step(catalog)
      } catch (error) {
        isWhole = false
        complain(`account ${account}`, error)
      }
    }
    if (isWhole && isChanged && isSettled) {
      await db.query(
        'UPDATE account SET settled_version = $2::bigint WHERE account_id = $1::bigint AND settled_version < $2::bigint',
        [String(account), done],
      )
    }
  }
  const purge = async (catalog: Catalog) => {
    const account = catalog.account.id
    const oldest = oldestKept(now(), retentionDays)
    const fields = await purgeFields(db, catalog, oldest)
    if (fields.length) log(`Purged the deleted fields ${fields.join(', ')} of account ${account}.`)
    const records = await purgeRecords(db, catalog, oldest, now())
    if (records.purged) log(`Purged ${records.purged} deleted records of account ${account}.`)
    sayKept(account, records.kept)
  }
  /** What stays although it is due is told when it is another than the last time. */
  const sayKept = (account: number, kept: Purge['kept']) => {
    const text = Object.entries(kept).map(([resource, count]) => `${count} ${resource}`)
    if (text.join() === (told.get(account) ?? '')) return
    told.set(account, text.join())
    if (text.length) log(`Deleted records of account ${account} are kept, as others point to them: ${text.join(', ')}.`)
  }
  const complain = (what: string, error: unknown) => {
    if (!isStopped) log(`Upkeep (${what}) failed; it is tried again within the hour: ${reasonOf(error)}`)
  }
  const soon = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(work).catch(error => complain('all accounts', error))
    return queue
  }
  const all = async () => {
    const accounts = await db.query('SELECT account_id::text AS account FROM account')
    for (const { account } of accounts) {
      const [row] = await db.query(
        'SELECT (settled_version < catalog_version)::text AS changed FROM account WHERE account_id = $1::bigint',
        [account!],
      )
      await lookAfter(Number(account), row?.changed === 'true', true)
    }
  }

  soon(all)
  const timer = setInterval(() => soon(all), everyMs).unref()
  return {
    wake: account => {
      setTimeout(() => soon(() => lookAfter(account, true, true)), settledAfterMs).unref()
      return soon(() => lookAfter(account, true, false))
    },
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}
