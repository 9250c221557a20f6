/**
 * The background work. After a change of configuration it updates the amounts that follow from stages and
 * rates, and builds and removes indexes. It also purges what was deleted, and forgets old keys. It runs at
 * the start, every hour, and after each change; several processes may run it at once. Owns when the work is
 * done, not what it is.
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
import { endOlder } from '../records/write.ts'
import { ask, param, sql } from '../sql.ts'
import { arrangeIndexes } from './indexes.ts'
import { purgeFields } from './purge.ts'
import { turns } from './turns.ts'

const everyMs = 3_600_000
/** Other processes remember a configuration for a second (accounts/directory.ts). */
const settledAfterMs = 2_000
/** An index of one account may take minutes. */
const accountsAtOnce = 2

type Step = (catalog: Catalog) => Promise<unknown>

export type Upkeep = {
  /**
   * Does the work for an account in its turn (D109), and again when no process remembers an older
   * configuration any more. Resolves after the first time.
   */
  wake(account: number): Promise<void>
  /** Begins nothing new. An index that was interrupted is begun again at the next start. */
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

/** Whatever was deleted before this date can no longer be restored (D9, D36). */
export function oldestKept(now: Date, retentionDays: number): Date {
  return new Date(now.getTime() - retentionDays * 86_400_000)
}

/** Begins the upkeep. Its timers do not keep the process alive. */
export function startUpkeep({ db, resources, now, log, retentionDays }: UpkeepOptions): Upkeep {
  /**
   * accounts whose configuration has changed since their last turn; true when every process knows the change
   */
  const changed = new Map<number, boolean>()
  const settling = new Map<number, NodeJS.Timeout>()
  let isStopped = false
  const told = new Map<number, string>()

  const follow: readonly Step[] = [
    catalog => reweighDeals(db, catalog),
    catalog => revalueRecords(db, catalog),
  ]
  const settle: Step = ({ account: { id }, version }) => endOlder(db, id, version)
  const routine: readonly Step[] = [
    catalog => purge(catalog),
    ({ account }) => forgetOldKeys(db, String(account.id)),
    // The indexes of a restored database are missing too.
    catalog => arrangeIndexes(db.unhurried, catalog, (name, error) => complain(`index ${name}`, error)),
  ]
  const lookAfter = async (account: number) => {
    const isSettled = changed.get(account)
    const isChanged = changed.delete(account)
    const done = await carryOut(account, [
      ...(isSettled ? [settle] : []),
      ...(isChanged ? follow : []),
      ...routine,
    ])
    if (done === null || !isSettled) return
    const version = param(done)
    const settled = sql`UPDATE account SET settled_version = ${version}::bigint
      WHERE account_id = ${String(account)}::bigint AND settled_version < ${version}::bigint`
    await ask(db, settled).catch(error => complain(`account ${account}`, error))
  }
  /** The version of the configuration when the steps began; null if one of them failed. */
  const carryOut = async (account: number, steps: readonly Step[]): Promise<string | null> => {
    let done: string | null = null
    let isWhole = true
    // Each step uses the latest configuration. A step that fails does not stop the next one.
    for (const step of steps) {
      if (isStopped) return null
      try {
        const catalog = await loadCatalog(db, resources, account)
        done ??= catalog.version
        await step(catalog)
      } catch (error) {
        isWhole = false
        complain(`account ${account}`, error)
      }
    }
    return isWhole ? done : null
  }
  const purge = async (catalog: Catalog) => {
    const account = catalog.account.id
    const oldest = oldestKept(now(), retentionDays)
    const fields = await purgeFields(db, catalog, oldest)
    if (fields.length) log(`Purged the deleted fields ${fields.join(', ')} of account ${account}.`)
    const records = await purgeRecords(db, catalog, oldest)
    if (records.purged) log(`Purged ${records.purged} deleted records of account ${account}.`)
    sayKept(account, records.kept)
  }
  /** Logs which due records are kept, whenever this differs from the last time. */
  const sayKept = (account: number, kept: Purge['kept']) => {
    const text = Object.entries(kept).map(([resource, count]) => `${count} ${resource}`)
    if (text.join() === (told.get(account) ?? '')) return
    told.set(account, text.join())
    if (text.length)
      log(
        `Deleted records of account ${account} are kept, because other records point to them: ${text.join(', ')}.`,
      )
  }
  const complain = (what: string, error: unknown) => {
    if (!isStopped) log(`Upkeep (${what}) failed; it is tried again within the hour: ${reasonOf(error)}`)
  }
  const inTurn = turns(accountsAtOnce, lookAfter)
  /**
   * All accounts, one after the other, so that an account that has changed something waits for at most one of
   * them.
   */
  const round = async () => {
    const accounts = sql`SELECT account_id::text AS account FROM account ORDER BY account_id`
    for (const { account } of await ask(db, accounts)) {
      if (isStopped) return
      const [row] = await ask(
        db,
        sql`SELECT (settled_version < catalog_version)::text AS changed
          FROM account WHERE account_id = ${account!}::bigint`,
      )
      const id = Number(account)
      if (row?.changed === 'true') changed.set(id, !settling.has(id))
      await inTurn(id)
    }
  }
  const begin = () => void round().catch(error => complain('all accounts', error))

  begin()
  const timer = setInterval(begin, everyMs).unref()
  return {
    wake(account) {
      changed.set(account, false)
      clearTimeout(settling.get(account))
      const settled = () => {
        settling.delete(account)
        changed.set(account, true)
        void inTurn(account)
      }
      settling.set(account, setTimeout(settled, settledAfterMs).unref())
      return inTurn(account)
    },
    stop() {
      isStopped = true
      clearInterval(timer)
      for (const waiting of settling.values()) clearTimeout(waiting)
    },
  }
}
