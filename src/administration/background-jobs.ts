/**
 * The background jobs. After a change of configuration they update the amounts that follow from stages and
 * rates, and build and remove indexes. They also purge deleted records and fields, and forget old
 * Idempotency-Keys. They run at the start, every hour, and after each change; several processes may run them
 * at once. Owns when the jobs run, not what they do.
 */
import { loadCatalog } from '../accounts/callers.ts'
import { redateDeals } from '../activities/redate.ts'
import { revalueRecords } from '../currencies/revalue.ts'
import type { Database, Log } from '../db/open.ts'
import { forgetOldEvents } from '../events/retention.ts'
import type { Catalog } from '../fields/catalog.ts'
import { cleanJobs } from '../jobs/store.ts'
import { reasonOf } from '../log.ts'
import { reweighDeals } from '../pipelines/reweigh.ts'
import { forgetOldKeys } from '../records/idempotency.ts'
import { type Purge, purgeRecords } from '../records/purge.ts'
import type { Resource } from '../records/resource.ts'
import { endOlder } from '../records/write.ts'
import { ask, param, sql } from '../sql.ts'
import { coalesce } from '../waiting/coalesce.ts'
import { within } from '../waiting/timeout.ts'
import { cleanDeliveries } from '../webhooks/cleanup.ts'
import { arrangeIndexes } from './indexes.ts'
import { purgeFields } from './purge.ts'
import { fateOf, purgeAccount } from './purge-account.ts'

const everyMs = 3_600_000
/** Other processes remember a configuration for a second (accounts/callers.ts). */
const knownEverywhereAfterMs = 2_000
/** How long a stop waits for them. */
const finishWithinMs = 2_000
/** An index of one account may take minutes. */
const accountsAtOnce = 2

type Job = (catalog: Catalog) => Promise<unknown>

export type BackgroundJobOptions = {
  readonly db: Database
  readonly resources: readonly Resource[]
  readonly now: () => Date
  readonly log: Log
  /** how long what is deleted can be restored */
  readonly retentionDays: number
  /** how long events are kept; null or absent: for ever (D71) */
  readonly eventRetentionDays?: number | null
}

/** Whatever was deleted before this date can no longer be restored (D9, D36). */
export function oldestKept(now: Date, retentionDays: number): Date {
  return new Date(now.getTime() - retentionDays * 86_400_000)
}

/** The background jobs of a process. They begin at once. Their timers do not keep the process alive. */
export class BackgroundJobs {
  readonly #options: BackgroundJobOptions
  /**
   * accounts whose configuration has changed since their last turn; true when every process knows the change
   */
  readonly #changed = new Map<number, boolean>()
  /** accounts whose change another process may not know yet */
  readonly #spreading = new Map<number, NodeJS.Timeout>()
  /** account → what was last logged of records that are due but kept */
  readonly #loggedKept = new Map<number, string>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #inTurn = coalesce(accountsAtOnce, (account: number) => this.#turn(account))
  readonly #timer: NodeJS.Timeout
  #isStopped = false

  constructor(options: BackgroundJobOptions) {
    this.#options = options
    const begin = () => void this.#round().catch(error => this.#logFailure('all accounts', error))
    begin()
    this.#timer = setInterval(begin, everyMs).unref()
  }

  /**
   * Does the jobs of an account in its turn (D109), and again when no process remembers an older
   * configuration any more. Resolves after the first time.
   */
  wake(account: number): Promise<void> {
    this.#changed.set(account, false)
    clearTimeout(this.#spreading.get(account))
    const knownEverywhere = () => {
      this.#spreading.delete(account)
      this.#changed.set(account, true)
      void this.#inTurn(account)
    }
    this.#spreading.set(account, setTimeout(knownEverywhere, knownEverywhereAfterMs).unref())
    return this.#inTurn(account)
  }

  /**
   * Begins nothing new, and waits up to two seconds for what is under way. An index that was interrupted is
   * begun again at the next start.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    for (const waiting of this.#spreading.values()) clearTimeout(waiting)
    await within(Promise.all(this.#underWay), finishWithinMs, () => {})
  }

  /**
   * All accounts, one after the other. So an account that has changed something waits for at most one of
   * them.
   */
  async #round(): Promise<void> {
    const { db } = this.#options
    const accounts = sql`SELECT account_id::text AS account FROM account ORDER BY account_id`
    for (const { account } of await ask(db, accounts)) {
      if (this.#isStopped) return
      const [row] = await ask(
        db,
        sql`SELECT (settled_version < catalog_version)::text AS changed
          FROM account WHERE account_id = ${account!}::bigint`,
      )
      const id = Number(account)
      if (row?.changed === 'true') this.#changed.set(id, !this.#spreading.has(id))
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

  /** Whether the account is in use. One that is deleted rests, until it is due to be purged (D67). */
  async #isInUse(account: number): Promise<boolean> {
    const { db, now, log, retentionDays } = this.#options
    const oldest = oldestKept(now(), retentionDays)
    const fate = await fateOf(db, account, oldest)
    if (fate !== 'due') return fate === 'in use'
    const failed = (name: string, error: unknown) => this.#logFailure(`index ${name}`, error)
    const withoutFields = { account: { id: account }, resources: new Map() }
    await arrangeIndexes(db.queryWithoutTimeLimit, withoutFields, failed)
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
    // Each job uses the latest configuration. A job that fails does not stop the next one.
    for (const job of jobs) {
      if (this.#isStopped) return null
      try {
        const catalog = await loadCatalog(db, resources, account)
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

  /** what follows from a change of configuration */
  readonly #derive: readonly Job[] = [
    catalog => reweighDeals(this.#options.db, catalog),
    catalog => revalueRecords(this.#options.db, catalog),
    catalog => redateDeals(this.#options.db, catalog),
  ]

  readonly #routine: readonly Job[] = [
    catalog => this.#purge(catalog),
    ({ account }) => forgetOldKeys(this.#options.db, String(account.id)),
    ({ account }) => cleanDeliveries(this.#options.db, account.id, this.#options.now()),
    ({ account }) => this.#forgetEvents(account.id),
    ({ account }) => {
      const { db, now, retentionDays } = this.#options
      return cleanJobs(db, account.id, oldestKept(now(), retentionDays))
    },
    // The indexes of a restored database are missing too.
    catalog =>
      arrangeIndexes(this.#options.db.queryWithoutTimeLimit, catalog, (name, error) =>
        this.#logFailure(`index ${name}`, error),
      ),
  ]

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

  /** Logs which due records are kept, whenever this differs from the last time. */
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
      `A background job (${what}) failed; it is tried again within the hour: ${reasonOf(error)}`,
    )
  }
}

/** Notes the configuration up to which an account's jobs are done. */
async function noteDone(db: Database, account: number, version: string): Promise<void> {
  const done = param(version)
  await ask(
    db,
    sql`UPDATE account SET settled_version = ${done}::bigint
      WHERE account_id = ${String(account)}::bigint AND settled_version < ${done}::bigint`,
  )
}
