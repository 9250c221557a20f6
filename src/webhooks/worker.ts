/**
 * The delivery of webhooks in one process (D72): finds those that have something to do, and lets a courier
 * work for each. Writes of this process are told to it; those of others, and retries, it looks for. Several
 * processes share the work. Owns when they are looked for, not how they are served.
 */
import { randomUUID } from 'node:crypto'
import type { Callers } from '../accounts/callers.ts'
import type { Log } from '../db/open.ts'
import { reasonOf } from '../log.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { within } from '../waiting/timeout.ts'
import { WorkerLoop } from '../waiting/worker-loop.ts'
import { Courier, type CourierOptions } from './courier.ts'
import { Outgoing, type OutgoingOptions } from './outgoing.ts'
import { findWork, type Held, type Webhook } from './progress.ts'
import { progressRow } from './saved.ts'

export type WorkerOptions = OutgoingOptions & {
  readonly db: Queryable
  readonly callers: Callers
  readonly now: () => Date
  readonly log: Log
  /** how often it looks for what is due */
  readonly everyMs?: number
}

const everyDefaultMs = 1000
/** Every so often it looks for events of all accounts that nobody has told it of. */
const thoroughEvery = 5
/** Writes that come together are looked at together. */
const gatherMs = 5
/** An account without anything to do is not looked at again for so long: most have no webhook. */
const quietMs = 500
/** A receiver that fails is told of new events less often: what that costs would be missing for others. */
const failingMs = 1000
/**
 * How long a courier waits after the database failed it. It goes on as it is: it knows which requests are
 * under way and which outcomes were not written down.
 */
const retryMs = 1000
/** After another process turned out to work for a webhook. */
const againMs = 100
/** How many requests of a process may be under way, beside the first of each webhook. */
const requestsMax = 256
/** How long requests under way may take when the service stops. */
const finishWithinMs = 3000
const logEveryMs = 60_000
/** The actor of what the service does by itself. */
const service = 0

/** A webhook that this process works for. */
type Work = Webhook & { readonly courier: Courier }

export class WebhookWorker {
  /** what makes the requests */
  readonly outgoing: Outgoing
  readonly #options: WorkerOptions
  readonly #loop: WorkerLoop<Work>
  /** accounts that were written to and not looked at since */
  readonly #written = new Set<number>()
  /** account → until when it is not looked at */
  readonly #quiet = new Map<number, number>()
  /** those that are served in a while */
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
      post: (...request) => this.outgoing.post(...request),
      disable: (webhook, reason) => this.#disable(webhook, reason),
      slots: { taken: 0, max: requestsMax },
    }
    const holder = randomUUID()
    this.#loop = new WorkerLoop({
      everyMs,
      // The requests are limited, not who makes them.
      concurrency: Number.POSITIVE_INFINITY,
      retryMs,
      look: () => this.#look(),
      begin: webhook => ({ ...webhook, courier: new Courier(shared, { ...webhook, holder }) }),
      run: work => this.#run(work),
      onError: error => this.#logFailure(error),
    })
  }

  /** To be called after each write of this process to an account. */
  wrote(account: number): void {
    if (this.#loop.isStopped || this.#written.has(account)) return
    if ((this.#quiet.get(account) ?? 0) > performance.now()) return
    this.#written.add(account)
    this.#gathering ??= setTimeout(() => this.#lookAtWritten(), gatherMs)
  }

  /** The same after a change of a webhook: it is looked at in any case. */
  changed(account: number): void {
    this.#quiet.delete(account)
    this.wrote(account)
  }

  /** Ends the work: what is under way may end, and is written down; what is not sent is sent later. */
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
    const key = keyOf(webhook)
    if (this.#later.has(key)) return
    const serve = () => {
      this.#later.delete(key)
      this.#serve(webhook)
    }
    // Those that fail were found together, and would be served together.
    this.#later.set(key, setTimeout(serve, failingMs * (0.5 + Math.random())).unref())
  }

  #serve({ account, id }: Webhook): void {
    this.#loop.wake({ account, id })?.courier.wake()
  }

  /** Runs a courier until there is nothing to do. */
  async #run({ account, courier }: Work): Promise<'more' | 'done'> {
    if (await courier.run()) return courier.isWoken ? 'more' : 'done'
    setTimeout(() => this.changed(account), againMs).unref()
    return 'done'
  }

  async #disable({ account, id }: Held, reason: string): Promise<void> {
    const { db, callers, log } = this.#options
    const catalog = await callers.catalogNow(account)
    const fields = catalog.resources.get('webhook')!
    await updateRecord(db, fields, id, { is_active: 'No' }, { catalog, actor: service }, null, {
      values: { disabled_reason: reason },
      rows: by => [progressRow(by, null)],
    })
    log(`Took webhook ${id} of account ${account} out of use. ${reason}`)
  }

  #logFailure(error: unknown): void {
    if (this.#loop.isStopped || performance.now() - this.#loggedAt < logEveryMs) return
    this.#loggedAt = performance.now()
    this.#options.log(`Webhooks could not be delivered; it is tried again in a second: ${reasonOf(error)}`)
  }
}

function keyOf({ account, id }: Webhook): string {
  return `${account} ${id}`
}
