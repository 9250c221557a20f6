/**
 * Delivers the events of one webhook until there are none left (D72): scans new events, sends due deliveries,
 * and records the outcomes. A receiver gets one request at a time until it responds, then more (slow start).
 * Owns the order of these steps; the statements are in progress.ts and queue.ts.
 */
import type { AuthorizedCaller } from '../../rights/visibility.ts'
import { interval } from '../../waiting/interval.ts'
import { type Attempt, gone, type OutgoingDelivery, unseen } from './outgoing.ts'
import { matchingEvents, payloadsOf, type Subscription, subscriptionOf } from './payload.ts'
import {
  type Configuration,
  claim,
  configurationOf,
  eventsAfter,
  eventsOf,
  forget,
  type LeasedWebhook,
  messageId,
  release,
} from './progress.ts'
import type { Delivery, Outcome } from './queue.ts'
import { dueDeliveries, enqueue, giveUp, saveOutcomes, settled } from './queue.ts'
import { isHopeless, nextTry } from './retries.ts'
import { signedHeaders } from './signature.ts'

/** Shared by all couriers of a process. */
export type CourierOptions = {
  readonly db: Parameters<typeof enqueue>[0]
  readonly now: () => Date
  actingFor(account: number, user: number, scopes: readonly string[] | null): Promise<AuthorizedCaller | null>
  post(delivery: OutgoingDelivery): Promise<Attempt | null>
  /** deactivates a webhook, with an event that has the reason; false if it has another version by now */
  disable(webhook: LeasedWebhook, version: number, reason: string): Promise<boolean>
  readonly slots: Slots
}

/** Concurrent requests. Each webhook may have one; more only below `max`. */
export type Slots = { taken: number; readonly max: number }

/** Events per scan. */
const eventsMax = 500
/** Maximum of concurrent requests of a webhook, and read-ahead per request. */
const [widest, readAhead] = [16, 4]
/** Batch size for moving deliveries to the dead letters, or removing them. */
const batch = 5000
/** Cache lifetimes: of a webhook and its user, and of payloads. */
const [ordersMs, bodyMs] = [500, 2000]
/** Interval of lease renewals, also after a failed one. */
const renewMs = 1500
const behindMs = 1000

/** A webhook's current configuration, with its user and filter. */
type CachedConfiguration = Configuration &
  Readonly<{ caller: AuthorizedCaller; asked: Subscription; readAt: number }>

/** A delivery that is ready to be sent. */
type Prepared = Delivery &
  Pick<Configuration, 'version' | 'url' | 'secrets'> &
  Readonly<{ body: string; readAt: number }>

export class Courier {
  readonly #options: CourierOptions
  readonly #held: LeasedWebhook
  #orders: CachedConfiguration | null = null
  #failingSince: Date | null = null
  /** versions of the webhook: as last read, and with the address that answered 410, if one did */
  #version = 0
  #goneVersion = 0
  #ready: Prepared[] = []
  readonly #underWay = new Set<number>()
  #outcomes: Outcome[] = []
  /** maximum of concurrent requests: one until the receiver responds, then doubled with each success */
  #width = 1
  #isWoken = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #isStopped = false
  /** true if it was deactivated: requests in flight may request that again */
  #isGivenUp = false
  #notice = Promise.withResolvers<void>()

  constructor(options: CourierOptions, held: LeasedWebhook) {
    this.#options = options
    this.#held = held
  }

  /** Signals that there may be new events. */
  wake(): void {
    this.#isWoken = true
    this.#notice.resolve()
  }

  /** Sends nothing more; `run` ends when the outcomes of requests in flight are recorded. */
  stop(): void {
    this.#isStopped = true
    this.#ready = []
    this.#notice.resolve()
  }

  /** Works until there is nothing to do; can be rerun after an error. False if the lease is taken. */
  async run(): Promise<boolean> {
    const { db, now } = this.#options
    this.#isWoken = await claim(db, this.#held, now())
    if (!this.#isWoken) return false
    const renew = () => claim(db, this.#held, now())
    const renewal = interval(renewMs, renew, () => {})
    try {
      while (await this.#step());
    } finally {
      this.#ready = []
      await renewal.stop()
    }
    await release(db, this.#held)
    return true
  }

  /** True if `wake` was called after its last scan. */
  get isWoken(): boolean {
    return this.#isWoken
  }

  /** One iteration of the work; false if there is nothing to do. */
  async #step(): Promise<boolean> {
    if (this.#isToWrite()) await this.#writeDown()
    const orders = this.#isStopped ? null : await this.#ordersNow()
    if (orders) {
      if (this.#isToLook) await this.#look(orders)
      await this.#fill(orders)
    } else this.#ready = []
    if (orders && (this.#isToLook || !this.#orders)) return true
    if (this.#isToWrite()) return true
    if (this.#underWay.size === 0) {
      this.#isWoken = false
      return false
    }
    const timer = this.#isWoken ? setTimeout(() => this.#notice.resolve(), behindMs) : undefined
    await this.#notice.promise
    clearTimeout(timer)
    this.#notice = Promise.withResolvers()
    return true
  }

  get #hasRoom(): boolean {
    return this.#underWay.size < this.#width
  }

  /** A receiver that lags behind causes few scans: many would slow other webhooks down. */
  get #isToLook(): boolean {
    return this.#isWoken && (this.#hasRoom || performance.now() - this.#lookedAt > behindMs)
  }

  /** Records outcomes in batches while requests are in flight; else at once, as deliveries wait for them. */
  #isToWrite(): boolean {
    const { length } = this.#outcomes
    const isBusy = this.#ready.length > 0 && this.#underWay.size > 0
    return length >= widest || (length > 0 && !isBusy)
  }

  /** The webhook's current configuration; null if it must not be served. */
  async #ordersNow(): Promise<CachedConfiguration | null> {
    const known = this.#orders
    if (known && performance.now() - known.readAt < ordersMs) return known
    this.#orders = null
    const { db, actingFor, disable } = this.#options
    const configuration = await configurationOf(db, this.#held)
    if (configuration === null) return null
    if (configuration === 'gone') {
      while (await forget(db, this.#held, batch));
      return null
    }
    this.#failingSince = configuration.failingSince
    this.#version = configuration.version
    this.#isGivenUp = !configuration.isActive
    if (!configuration.isActive) {
      while ((await giveUp(db, this.#held, 'The webhook is out of use.', batch)) === batch);
      return null
    }
    const caller = await actingFor(this.#held.account, configuration.user, configuration.scopes)
    const asked = caller && (await subscriptionOf(this.#options.db, caller, configuration))
    if (caller && asked) this.#orders = { ...configuration, caller, asked, readAt: performance.now() }
    if (this.#orders) return this.#orders
    const reason = caller ? 'Its filter can no longer be read.' : 'Its user is out of use.'
    const isDisabled = await disable(this.#held, configuration.version, reason)
    return isDisabled ? null : this.#ordersNow()
  }

  /** Scans new events for those to deliver. */
  async #look(orders: CachedConfiguration): Promise<void> {
    const { db, now } = this.#options
    this.#isWoken = false
    this.#lookedAt = performance.now()
    const { seq: from, caller, asked } = orders
    const { rows, hasMore } = await eventsAfter(db, caller, from, eventsMax)
    // If the next events are past their retention, the scan skips them.
    const to = Number(rows.at(-1)?.seq ?? Math.max(from, orders.lastSeq))
    if (to === from) return
    const chosen = await matchingEvents(db, caller, rows, asked)
    const deliveries = chosen.map(row => ({
      ...{ seq: Number(row.seq), type: row.type!, resource: row.resource!, record: Number(row.id) },
    }))
    const isDone = await enqueue(db, this.#held, { from, to }, deliveries, now())
    // If not, a replay has begun, or another process has taken the lease.
    this.#orders = isDone ? { ...orders, seq: to } : null
    this.#isWoken ||= hasMore || !isDone
  }

  /** Reads due deliveries, as far as there is room, and sends them. */
  async #fill({ caller, version, url, secrets }: CachedConfiguration): Promise<void> {
    const { db, now } = this.#options
    this.#dropStale()
    if (this.#hasRoom && this.#ready.length < this.#width) {
      const atHand = [...this.#underWay, ...[...this.#ready, ...this.#outcomes].map(({ seq }) => seq)]
      const due = await dueDeliveries(db, this.#held, atHand, this.#width * readAhead, now())
      const rows = due.length ? await eventsOf(db, caller, due) : []
      const bodies = await payloadsOf(db, caller, rows)
      const there = new Set(rows.map(row => Number(row.seq)))
      const isCut = rows.at(-1)?.has_next === 'true'
      const readAt = performance.now()
      for (const one of due) {
        const body = bodies.get(one.seq)
        if (body !== undefined) this.#ready.push({ ...one, version, url, secrets, body, readAt })
        else if (there.has(one.seq)) this.#end(one, unseen, false)
        else if (!isCut) this.#end(one, gone, false)
      }
    }
    this.#send()
  }

  /** Starts as many requests as the limits allow. */
  #send(): void {
    const { slots } = this.#options
    this.#dropStale()
    while (this.#ready.length > 0 && this.#underWay.size < this.#width) {
      if (this.#underWay.size > 0 && slots.taken >= slots.max) return
      const ready = this.#ready.shift()!
      this.#underWay.add(ready.seq)
      slots.taken++
      void this.#deliver(ready).finally(() => {
        slots.taken--
        this.#underWay.delete(ready.seq)
        this.#send()
        this.#notice.resolve()
      })
    }
  }

  /** Payloads that were read long ago are read again: fields may have been hidden since. */
  #dropStale(): void {
    this.#ready = this.#ready.filter(({ readAt }) => performance.now() - readAt < bodyMs)
  }

  async #deliver(ready: Prepared): Promise<void> {
    const { now, post } = this.#options
    const headers = signedHeaders(ready.secrets, messageId(this.#held, ready.seq), now(), ready.body)
    const attempt = await post({ ...ready, headers })
    // Null: the service stops. The delivery is sent again later.
    if (!attempt) return
    this.#width = attempt.error === null ? Math.min(widest, this.#width * 2) : 1
    if (attempt.status === 410) this.#goneVersion = Math.max(this.#goneVersion, ready.version)
    this.#end(ready, attempt, attempt.status !== 410)
  }

  /** Records the outcome of an attempt. A failed delivery is retried, or goes to the dead letters. */
  #end({ seq, tries, round }: Delivery, attempt: Attempt, mayRepeat: boolean): void {
    const at = this.#options.now()
    const nextAt = attempt.error !== null && mayRepeat ? nextTry(tries + 1, at) : null
    const state = attempt.error === null ? 'delivered' : nextAt ? 'waiting' : 'dead'
    this.#outcomes.push({ seq, tries, round, attempt, at, state, nextAt })
  }

  async #writeDown(): Promise<void> {
    const { db, now, disable } = this.#options
    // An inactive webhook has no retries, not even of requests in flight.
    const outcomes = this.#isGivenUp ? this.#outcomes.map(settled) : this.#outcomes
    // More requests may end while the statement runs.
    this.#outcomes = []
    const made = outcomes.filter(({ attempt }) => attempt !== unseen && attempt !== gone)
    const delivered = made.findLast(({ state }) => state === 'delivered')
    const last = made.at(-1)
    if (delivered) this.#failingSince = null
    if (last?.attempt.error) this.#failingSince ??= last.at
    const deliveredAt = delivered?.at ?? null
    const health = last && { failingSince: this.#failingSince, lastError: last.attempt.error, deliveredAt }
    await saveOutcomes(db, this.#held, outcomes, health ?? null, now()).catch(error => {
      this.#outcomes.unshift(...outcomes)
      throw error
    })
    const goneVersion = this.#goneVersion
    if (this.#isGivenUp || (goneVersion === 0 && !isHopeless(this.#failingSince, now()))) return
    this.#isGivenUp = true
    // Events not scanned yet join the other given-up deliveries, so that the dead letters show them.
    this.#isWoken = true
    while (this.#isWoken && this.#orders) await this.#look(this.#orders)
    const reason = goneVersion ? 'Its receiver answered 410.' : 'Its receiver has failed for three days.'
    // Its address may have been changed since the attempt.
    this.#isGivenUp = await disable(this.#held, goneVersion || this.#version, reason)
    if (this.#goneVersion === goneVersion) this.#goneVersion = 0
    this.#orders = null
  }
}
