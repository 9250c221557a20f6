/**
 * Delivers the webhooks of one process (D72): finds those with work, and runs a courier for each. Writes of
 * this process notify it; for those of others, and for retries, it polls. Several processes share the work.
 * Owns the schedule, not the delivery.
 */
import { randomUUID } from 'node:crypto'
import { isDeleted } from '../../accounts/accounts.ts'
import type { Callers } from '../../accounts/callers.ts'
import type { Everywhere } from '../../accounts/everywhere.ts'
import type { Log } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { asDefined } from '../../fields/as-defined.ts'
import { reasonOf } from '../../log.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { updateRecord } from '../../records/write/save.ts'
import { serviceActor } from '../../rights/visibility.ts'
import { within } from '../../waiting/timeout.ts'
import { WorkerLoop } from '../../waiting/worker-loop.ts'
import { Courier, type CourierOptions } from './courier.ts'
import { Outgoing, type OutgoingOptions } from './outgoing.ts'
import { findWork, type LeasedWebhook, type Webhook } from './progress.ts'
import { progressRow } from './store.ts'

export type WorkerOptions = OutgoingOptions & {
  readonly db: Transaction & Everywhere
  readonly callers: Callers
  readonly now: () => Date
  readonly log: Log
  /** polling interval */
  readonly everyMs?: number
}

const everyDefaultMs = 2000
/** Every n-th poll scans the events of all accounts, to catch missed notifications. */
const thoroughEvery = 5
/** Notifications within this time are coalesced. */
const gatherMs = 5
/** An account without work is looked at again after this time at the earliest: most have no webhook. */
const quietMs = 500
/** A failing receiver is served less often, as that costs others. */
const failingMs = 1000
/**
 * Wait of a courier after a database error. It keeps its state: the requests in flight and the outcomes not
 * recorded yet.
 */
const retryMs = 1000
/** First and longest wait after another process held a webhook's lease: it doubles while that one does. */
const [againMs, againMaxMs] = [100, 2000]
/** Maximum of concurrent requests of a process, beside the first of each webhook. */
const requestsMax = 256
/** Grace period for requests in flight when the service stops. */
const finishWithinMs = 3000
const logEveryMs = 60_000

/** A webhook that this process serves. */
type ServedWebhook = Webhook & { readonly courier: Courier }

export class WebhookWorker {
  readonly outgoing: Outgoing
  readonly #options: WorkerOptions
  readonly #loop: WorkerLoop<ServedWebhook>
  /** accounts with writes since the last look */
  readonly #written = new Set<number>()
  /** account → end of its quiet period */
  readonly #quiet = new Map<number, number>()
  /** accounts with writes in their quiet period */
  readonly #awaited = new Set<number>()
  /** webhooks whose lease another process held → the wait after that, and its end */
  readonly #refused = new Map<string, { readonly waitMs: number; readonly until: number }>()
  /** delayed webhooks */
  readonly #later = new Map<string, NodeJS.Timeout>()
  #gathering: NodeJS.Timeout | undefined
  #rounds = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(options: WorkerOptions) {
    const { db, callers, now, everyMs = everyDefaultMs } = options
    this.#options = options
    this.outgoing = new Outgoing(options)
    const shared: CourierOptions = {
      db,
      now,
      actingFor: (...whom) => callers.actingFor(...whom),
      post: delivery => this.outgoing.post(delivery),
      disable: (...disabled) => this.#disable(...disabled),
      slots: { taken: 0, max: requestsMax },
    }
    const holder = randomUUID()
    this.#loop = new WorkerLoop({
      name: 'webhook',
      everyMs,
      // The number of requests is limited, not that of couriers.
      concurrency: Number.POSITIVE_INFINITY,
      retryMs,
      look: () => this.#look(),
      begin: webhook => ({ ...webhook, courier: new Courier(shared, { ...webhook, holder }) }),
      run: work => this.#run(work),
      isWoken: ({ courier }) => courier.isWoken,
      onError: error => this.#logFailure(error),
    })
  }

  /** Must be called after each write of this process to an account. */
  wrote(account: number): void {
    if (this.#loop.isStopped || this.#written.has(account)) return
    const quietFor = (this.#quiet.get(account) ?? 0) - performance.now()
    if (quietFor > 0) this.#lookAfter(account, quietFor)
    else {
      this.#written.add(account)
      this.#gathering ??= setTimeout(() => this.#lookAtWritten(), gatherMs)
    }
  }

  /** The write before may have had no event, so this one may be the first that a webhook asks for. */
  #lookAfter(account: number, waitMs: number): void {
    if (this.#awaited.has(account)) return
    this.#awaited.add(account)
    const look = () => {
      this.#awaited.delete(account)
      this.wrote(account)
    }
    setTimeout(look, waitMs).unref()
  }

  /** Like `wrote`, after a change of a webhook: ignores the quiet period. */
  changed(account: number): void {
    this.#quiet.delete(account)
    this.wrote(account)
  }

  /** Graceful stop: requests in flight may end, and their outcomes are recorded; the rest is sent later. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop()
    clearTimeout(this.#gathering)
    for (const later of this.#later.values()) clearTimeout(later)
    for (const { courier } of this.#loop.tasks) courier.stop()
    await within(ended, finishWithinMs, () => {})
    await this.outgoing.stop()
    await ended
  }

  async #look(): Promise<void> {
    const at = performance.now()
    for (const [account, until] of this.#quiet) if (until <= at) this.#quiet.delete(account)
    for (const [key, wait] of this.#refused) if (!isRecent(wait, at)) this.#refused.delete(key)
    const isThorough = this.#rounds++ % thoroughEvery === 0
    await Promise.all([this.#find('due'), ...(isThorough ? [this.#find('behind')] : [])])
  }

  async #lookAtWritten(): Promise<void> {
    this.#gathering = undefined
    const among = [...this.#written]
    this.#written.clear()
    const found = await this.#find({ among })
    const busy = new Set(found.map(({ account }) => account))
    const until = performance.now() + quietMs
    for (const account of among) if (!busy.has(account)) this.#quiet.set(account, until)
  }

  async #find(where: Parameters<typeof findWork>[1]): Promise<Webhook[]> {
    const { db, now } = this.#options
    const found = await findWork(db, where, now()).catch(error => {
      this.#logFailure(error)
      return []
    })
    for (const webhook of found)
      if (webhook.isFailing) this.#serveLater(webhook)
      else this.#serve(webhook)
    return found
  }

  #serveLater(webhook: Webhook): void {
    const key = `${webhook.account} ${webhook.id}`
    if (this.#later.has(key)) return
    const serve = () => {
      this.#later.delete(key)
      this.#serve(webhook)
    }
    // Jitter: failing webhooks are found together, and should not be served together.
    this.#later.set(key, setTimeout(serve, failingMs * (0.5 + Math.random())).unref())
  }

  #serve({ account, id }: Webhook): void {
    this.#loop.wake({ account, id })?.courier.wake()
  }

  /** Runs a courier until there is nothing to do. */
  async #run({ account, id, courier }: ServedWebhook): Promise<'more' | 'done'> {
    const key = `${account} ${id}`
    if (await courier.run()) this.#refused.delete(key)
    else this.#askAgain(account, key)
    return 'done'
  }

  #askAgain(account: number, key: string): void {
    const at = performance.now()
    const before = this.#refused.get(key)
    if (before && at < before.until) return
    const waitMs = before && isRecent(before, at) ? Math.min(2 * before.waitMs, againMaxMs) : againMs
    this.#refused.set(key, { waitMs, until: at + waitMs })
    setTimeout(() => this.changed(account), waitMs).unref()
  }

  async #disable({ account, id }: LeasedWebhook, version: number, reason: string): Promise<boolean> {
    const { db, callers, log } = this.#options
    // The users of a deleted account are out of use until it is restored.
    if (await isDeleted(db, account)) return true
    // An account may require values that its older webhooks lack.
    const catalog = asDefined(await callers.catalogNow(account), 'webhook')
    const work = workOn(db, { catalog, actor: serviceActor }, 'webhook')
    const isSame = await updateRecord(work, id, { is_active: 'No' }, [String(version)], {
      values: { disabled_reason: reason },
      steps: params => [progressRow(params, null)],
    }).then(
      () => true,
      error => {
        if (error instanceof Refusal && error.slug === 'version_conflict') return false
        throw error
      },
    )
    if (isSame) log(`Took webhook ${id} of account ${account} out of use. ${reason}`)
    return isSame
  }

  #logFailure(error: unknown): void {
    if (this.#loop.isStopped || performance.now() - this.#loggedAt < logEveryMs) return
    this.#loggedAt = performance.now()
    this.#options.log(`Webhooks could not be delivered; it is tried again in a second: ${reasonOf(error)}`)
  }
}

/** True until as long after its end as the wait took: a refusal by then is for the same run elsewhere. */
function isRecent(wait: { readonly waitMs: number; readonly until: number }, at: number): boolean {
  return at < wait.until + wait.waitMs
}
