/**
 * The background jobs. After a change of configuration they update the amounts that follow from stages and
 * rates, and build and remove indexes. They also purge deleted records and fields, and expired
 * Idempotency-Keys and codes. They run at the start, every hour by one process of all, and after each change;
 * several processes may run them at once. Owns their schedule, not their content.
 */
import { loadCatalog } from '../../accounts/callers.ts'
import type { Database, Log } from '../../db/open.ts'
import type { Catalog } from '../../fields/catalog.ts'
import type { Resource } from '../../fields/resource.ts'
import { forgetOldEvents } from '../../history/retention.ts'
import { keepInboxes } from '../../inbox/follow.ts'
import { reasonOf } from '../../log.ts'
import { isDerived } from '../../records/backfill.ts'
import { forgetOldKeys } from '../../records/idempotency.ts'
import { type Purge, purgeRecords } from '../../records/purge.ts'
import { endOlder } from '../../records/write/protocol.ts'
import { redateDeals } from '../../resources/deals/redate.ts'
import { revalueRecords } from '../../resources/deals/revalue.ts'
import { reweighDeals } from '../../resources/deals/reweigh.ts'
import { coalesce } from '../../waiting/coalesce.ts'
import { within } from '../../waiting/timeout.ts'
import { cleanJobs } from '../jobs/store.ts'
import { cleanDeliveries } from '../webhooks/queue.ts'
import { watchChanges } from './changes.ts'
import { accountsDue, beginWith, noteDone } from './due.ts'
import { forgetExpired } from './expired.ts'
import { arrangeIndexes } from './indexes.ts'
import { purgeFields } from './purge.ts'
import { purgeAccount, purgeState } from './purge-account.ts'

const everyDefaultMs = 3_600_000
/** An account needs its hourly turn when no process has begun one for this share of the hour. */
const dueAfter = 0.9
/** Other processes cache a configuration for a second (accounts/callers.ts). */
const knownEverywhereAfterMs = 2_000
/** Jobs take a configuration of this age, as callers do. */
const freshMs = 1_000
/** Grace period of a stop. */
const finishWithinMs = 2_000
/** One account's index may take minutes. */
const accountsAtOnce = 2

type Job = (catalog: Catalog) => Promise<unknown>

export type BackgroundJobOptions = {
  readonly db: Database
  readonly resources: readonly Resource[]
  readonly now: () => Date
  readonly log: Log
  /** retention of deleted records and fields, in days */
  readonly retentionDays: number
  /** retention of events, in days; null or absent: forever (D71) */
  readonly eventRetentionDays?: number | null
  /** interval of the rounds */
  readonly everyMs?: number
  /** calls `act` once this process does the rounds; default: at once */
  readonly whenLeading?: (act: () => void) => void
}

/** Earliest deletion that can still be restored (D9, D36). */
export function oldestKept(now: Date, retentionDays: number): Date {
  return new Date(now.getTime() - retentionDays * 86_400_000)
}

/** The background jobs of a process. They start at once. Their timers do not keep the process alive. */
export class BackgroundJobs {
  readonly #options: BackgroundJobOptions
  /**
   * accounts whose configuration has changed since their last run; true two seconds after the first change:
   * what was judged before is refused from then on
   */
  readonly #changed = new Map<number, boolean>()
  /** accounts with a change that may be missing from other processes' caches */
  readonly #spreading = new Map<number, NodeJS.Timeout>()
  /** account → last logged text about overdue records that can't be purged */
  readonly #loggedKept = new Map<number, string>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #inTurn = coalesce('background_jobs', accountsAtOnce, (account: number) => this.#turn(account))
  #timer: NodeJS.Timeout | undefined
  #watch: ReturnType<typeof watchChanges> | undefined
  #isStopped = false

  constructor(options: BackgroundJobOptions) {
    this.#options = options
    const { whenLeading = act => act(), everyMs = everyDefaultMs } = options
    const begin = (notSinceMs: number) =>
      void this.#round(notSinceMs).catch(error => this.#logFailure('all accounts', error))
    whenLeading(() => {
      if (this.#isStopped) return
      begin(0)
      this.#timer = setInterval(begin, everyMs, everyMs * dueAfter).unref()
      this.#watch = watchChanges(options.db, account => void this.wake(account))
    })
  }

  /**
   * Runs the jobs of an account in its turn (D109), and again two seconds later. Resolves after the first
   * run. A change that follows another does not postpone the second run of that one.
   */
  wake(account: number): Promise<void> {
    this.#changed.set(account, this.#changed.get(account) ?? false)
    if (!this.#spreading.has(account)) this.#spread(account)
    return this.#inTurn(account)
  }

  #spread(account: number): void {
    const knownEverywhere = () => {
      this.#spreading.delete(account)
      this.#changed.set(account, true)
      void this.#inTurn(account)
    }
    this.#spreading.set(account, setTimeout(knownEverywhere, knownEverywhereAfterMs).unref())
  }

  /**
   * Starts nothing new, and waits up to two seconds for running jobs. An interrupted index is built anew at
   * the next start.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    for (const waiting of this.#spreading.values()) clearTimeout(waiting)
    await within(Promise.all([this.#watch?.stop(), ...this.#underWay]), finishWithinMs, () => {})
  }

  /**
   * All accounts that no process has looked after for this long, one after the other. So an account with a
   * change waits for at most one of them.
   */
  async #round(notSinceMs: number): Promise<void> {
    const { db } = this.#options
    for (const account of await accountsDue(db, notSinceMs)) {
      if (this.#isStopped) return
      const begun = await beginWith(db, account, notSinceMs)
      // Another process was faster.
      if (!begun) continue
      const id = Number(account)
      if (begun.isChanged) this.#changed.set(id, !this.#spreading.has(id))
      await this.#inTurn(id)
    }
  }

  async #turn(account: number): Promise<void> {
    const turn = this.#lookAfter(account)
    this.#underWay.add(turn)
    await turn
    this.#underWay.delete(turn)
  }

  async #lookAfter(account: number): Promise<void> {
    if (this.#isStopped) return
    const isInUse = await this.#isInUse(account).catch(error => {
      this.#logFailure(`account ${account}`, error)
      return false
    })
    if (isInUse) await this.#keepUp(account)
  }

  /** True if the account is in use. A deleted one has no jobs until its purge is due (D67). */
  async #isInUse(account: number): Promise<boolean> {
    const { db, now, log, retentionDays } = this.#options
    const oldest = oldestKept(now(), retentionDays)
    const fate = await purgeState(db, account, oldest)
    if (fate !== 'due') return fate === 'in use'
    const withoutFields = { account: { id: account }, resources: new Map() }
    await arrangeIndexes(db.queryWithoutTimeLimit, withoutFields, this.#indexFailed)
    const rows = await purgeAccount(db, account, oldest, () => this.#isStopped)
    if (rows !== null) log(`Purged account ${account}, which was deleted: ${rows} rows.`)
    return false
  }

  async #keepUp(account: number): Promise<void> {
    const isKnownEverywhere = this.#changed.get(account)
    const isChanged = this.#changed.delete(account)
    const version = await this.#carryOut(account, [
      ...(isKnownEverywhere ? [this.#endOlder] : []),
      ...(isChanged ? this.#derive : []),
      ...this.#routine,
    ])
    if (version === null || !isKnownEverywhere) return
    await noteDone(this.#options.db, account, version).catch(error =>
      this.#logFailure(`account ${account}`, error),
    )
  }

  /** The version of the configuration when the jobs began; null if one of them failed. */
  async #carryOut(account: number, jobs: readonly Job[]): Promise<string | null> {
    const { db, resources } = this.#options
    let version: string | null = null
    let isWhole = true
    const latest = latestCatalog(db, resources, account)
    // A failed job does not stop the next one.
    for (const job of jobs) {
      if (this.#isStopped) return null
      try {
        const catalog = await latest()
        version ??= catalog.version
        await job(catalog)
      } catch (error) {
        isWhole = false
        this.#logFailure(`account ${account}`, error)
      }
    }
    return isWhole ? version : null
  }

  readonly #endOlder: Job = ({ account, version }) => endOlder(this.#options.db, account.id, version)

  /** updates of derived values after a change of configuration, unless they follow it already */
  readonly #derive = [reweighDeals, revalueRecords, redateDeals].map(
    (derive): Job =>
      async catalog => {
        const { db } = this.#options
        if (!(await isDerived(db, catalog.account.id))) await derive(db, catalog)
      },
  )

  readonly #routine: readonly Job[] = [
    catalog => this.#purge(catalog),
    ({ account }) => forgetOldKeys(this.#options.db, String(account.id)),
    ({ account }) => forgetExpired(this.#options.db, account.id),
    ({ account }) => cleanDeliveries(this.#options.db, account.id, this.#options.now()),
    // Before events are removed.
    ({ account }) => keepInboxes(this.#options.db, account.id),
    ({ account }) => this.#forgetEvents(account.id),
    ({ account }) => {
      const { db, now, retentionDays } = this.#options
      return cleanJobs(db, account.id, oldestKept(now(), retentionDays))
    },
    // A restored database lacks its indexes, too.
    catalog => arrangeIndexes(this.#options.db.queryWithoutTimeLimit, catalog, this.#indexFailed),
  ]

  readonly #indexFailed = (name: string, error: unknown) => this.#logFailure(`index ${name}`, error)

  async #purge(catalog: Catalog): Promise<void> {
    const { db, now, log, retentionDays } = this.#options
    const account = catalog.account.id
    const oldest = oldestKept(now(), retentionDays)
    const fields = await purgeFields(db, catalog, oldest)
    if (fields.length) log(`Purged the deleted fields ${fields.join(', ')} of account ${account}.`)
    const records = await purgeRecords(db, catalog, oldest)
    if (records.purged) log(`Purged ${records.purged} deleted records of account ${account}.`)
    this.#logKept(account, records.kept)
  }

  async #forgetEvents(account: number): Promise<void> {
    const { db, now, log, eventRetentionDays: days = null } = this.#options
    if (days === null) return
    const forgotten = await forgetOldEvents(db, account, oldestKept(now(), days))
    if (forgotten)
      log(`Removed ${forgotten} events of account ${account}, which were older than ${days} days.`)
  }

  /** Logs overdue records that can't be purged, if they have changed since the last log. */
  #logKept(account: number, kept: Purge['kept']): void {
    const text = Object.entries(kept)
      .map(([resource, count]) => `${count} ${resource}`)
      .join(', ')
    if (text === (this.#loggedKept.get(account) ?? '')) return
    this.#loggedKept.set(account, text)
    if (text)
      this.#options.log(
        `Deleted records of account ${account} are kept, because other records point to them: ${text}.`,
      )
  }

  #logFailure(what: string, error: unknown): void {
    if (this.#isStopped) return
    this.#options.log(
      `A background job (${what}) failed; it is tried again, within the hour at the latest: ${reasonOf(error)}`,
    )
  }
}

/** A function that returns the account's configuration, read again when it is older than a second. */
function latestCatalog(
  db: Database,
  resources: readonly Resource[],
  account: number,
): () => Promise<Catalog> {
  let loaded: { readonly catalog: Catalog; readonly at: number } | null = null
  return async () => {
    const at = performance.now()
    if (!loaded || at - loaded.at > freshMs)
      loaded = { catalog: await loadCatalog(db, resources, account), at }
    return loaded.catalog
  }
}
