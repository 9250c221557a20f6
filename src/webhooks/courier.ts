/**
 * Delivers the events of one webhook, as long as there are any (D72): looks at new events, sends what is due,
 * and writes down how it went. A receiver is sent one at a time until it answers, then more. Owns the order
 * of these steps; the statements are in progress.ts and queue.ts.
 */
import type { Acting } from '../accounts/callers.ts'
import type { Reader } from '../records/store.ts'
import { interval } from '../waiting/interval.ts'
import type { Attempt } from './outgoing.ts'
import { type Asked, askedOf, chosenEvents, payloadsOf } from './payload.ts'
import {
  type Configuration,
  claim,
  configurationOf,
  eventsAfter,
  eventsOf,
  forget,
  type Held,
  messageId,
  release,
} from './progress.ts'
import { type Due, dueDeliveries, enqueue, giveUp, type Outcome, settled, writeDown } from './queue.ts'
import { isHopeless, nextTry } from './retries.ts'
import { signedHeaders } from './signature.ts'

/** What the couriers of a process share. */
export type CourierOptions = {
  readonly db: Reader
  readonly now: () => Date
  actingFor(account: number, user: number, scopes: readonly string[] | null): Promise<Acting | null>
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Attempt | null>
  /** takes a webhook out of use, with an event that says why */
  disable(webhook: Held, reason: string): Promise<void>
  readonly slots: Slots
}

/** How many requests are under way. Each webhook may have one; more only while there are less than `max`. */
export type Slots = { taken: number; readonly max: number }

/** How many events are looked at at once. */
const eventsMax = 500
/** How many requests of a webhook may be under way at once, and how many are read ahead for each. */
const [widest, readAhead] = [16, 4]
/** How many deliveries are put among the dead letters, or removed, at once. */
const batch = 5000
/** How long what was read of a webhook, its user and the records holds. */
const [ordersMs, bodyMs] = [500, 2000]
/** A renewal of the lease that fails is repeated after as long. */
const renewMs = 1500
const behindMs = 1000

/** A webhook, as it is to be served now. */
type Orders = Configuration & { readonly acting: Acting; readonly asked: Asked; readonly readAt: number }

/** A delivery that is about to be sent. */
type Ready = Due & Pick<Configuration, 'url' | 'secrets'> & { readonly body: string; readonly readAt: number }

export class Courier {
  readonly #options: CourierOptions
  readonly #held: Held
  #orders: Orders | null = null
  #failingSince: Date | null = null
  #ready: Ready[] = []
  readonly #underWay = new Set<number>()
  #outcomes: Outcome[] = []
  /** how many are sent at once: one until the receiver answers, then more with each answer */
  #width = 1
  #isWoken = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #isStopped = false
  /** whether it was taken out of use: what is under way may say so again */
  #isGivenUp = false
  #notice = Promise.withResolvers<void>()

  constructor(options: CourierOptions, held: Held) {
    this.#options = options
    this.#held = held
  }

  /** There may be new events. */
  wake(): void {
    this.#isWoken = true
    this.#notice.resolve()
  }

  /** Sends nothing more; `run` ends when what is under way is written down. */
  stop(): void {
    this.#isStopped = true
    this.#ready = []
    this.#notice.resolve()
  }

  /** Works until there is nothing to do; can be run again after an error. False if another process works. */
  async run(): Promise<boolean> {
    const { db, now } = this.#options
    this.#isWoken = true
    if (!(await claim(db, this.#held, now()))) return false
    const renew = () => claim(db, this.#held, now())
    const renewal = interval(renewMs, renew, () => {})
    try {
      while (await this.#step());
      this.#isWoken = false
    } finally {
      this.#ready = []
      await renewal.stop()
    }
    await release(db, this.#held)
    return true
  }

  /** Whether it was woken when it had come to its end. */
  get isWoken(): boolean {
    return this.#isWoken
  }

  /** One turn of the work; false when there is nothing to do. */
  async #step(): Promise<boolean> {
    if (this.#isToWrite()) await this.#writeDown()
    const orders = this.#isStopped ? null : await this.#ordersNow()
    if (orders) {
      if (this.#isToLook) await this.#look(orders)
      await this.#fill(orders)
    } else this.#ready = []
    if (orders && (this.#isToLook || !this.#orders)) return true
    if (this.#isToWrite()) return true
    if (this.#underWay.size === 0) return false
    const timer = this.#isWoken ? setTimeout(() => this.#notice.resolve(), behindMs) : undefined
    await this.#notice.promise
    clearTimeout(timer)
    this.#notice = Promise.withResolvers()
    return true
  }

  get #hasRoom(): boolean {
    return this.#underWay.size < this.#width
  }

  /** For a receiver that is behind it looks now and then: what that costs would be missing for others. */
  get #isToLook(): boolean {
    return this.#isWoken && (this.#hasRoom || performance.now() - this.#lookedAt > behindMs)
  }

  /** While others are sent, outcomes are written down several at a time; else what follows waits for them. */
  #isToWrite(): boolean {
    const { length } = this.#outcomes
    const isBusy = this.#ready.length > 0 && this.#underWay.size > 0
    return length >= widest || (length > 0 && !isBusy)
  }

  /** The webhook as it is now; null where it is not to be served. */
  async #ordersNow(): Promise<Orders | null> {
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
    this.#isGivenUp = !configuration.isActive
    if (!configuration.isActive) {
      while ((await giveUp(db, this.#held, 'The webhook is out of use.', batch)) === batch);
      return null
    }
    const acting = await actingFor(this.#held.account, configuration.user, configuration.scopes)
    const asked = acting && (await askedOf(this.#options.db, acting, configuration))
    if (acting && asked) this.#orders = { ...configuration, acting, asked, readAt: performance.now() }
    else await disable(this.#held, acting ? 'Its filter can no longer be read.' : 'Its user is out of use.')
    return this.#orders
  }

  /** Looks at new events, which of them are to be delivered. */
  async #look(orders: Orders): Promise<void> {
    const { db, now } = this.#options
    this.#isWoken = false
    this.#lookedAt = performance.now()
    const { seq: from, acting, asked } = orders
    const { rows, hasMore } = await eventsAfter(db, acting, from, eventsMax)
    // Where events are no longer kept, those that are left are the next.
    const to = Number(rows.at(-1)?.seq ?? Math.max(from, orders.lastSeq))
    if (to === from) return
    const chosen = await chosenEvents(db, acting, rows, asked)
    const deliveries = chosen.map(row => ({
      ...{ seq: Number(row.seq), type: row.type!, resource: row.resource!, record: Number(row.id) },
    }))
    const isDone = await enqueue(db, this.#held, { from, to }, deliveries, now())
    // If not, somebody replays, or another process has taken over.
    this.#orders = isDone ? { ...orders, seq: to } : null
    this.#isWoken ||= hasMore || !isDone
  }

  /** Reads what is due, as far as there is room, and sends it. */
  async #fill({ acting, url, secrets }: Orders): Promise<void> {
    const { db, now } = this.#options
    this.#dropStale()
    if (this.#hasRoom && this.#ready.length < this.#width) {
      const atHand = [...this.#underWay, ...[...this.#ready, ...this.#outcomes].map(({ seq }) => seq)]
      const due = await dueDeliveries(db, this.#held, atHand, this.#width * readAhead, now())
      const rows = due.length ? await eventsOf(db, acting, due) : []
      const bodies = await payloadsOf(db, acting, rows)
      const there = new Set(rows.map(row => Number(row.seq)))
      const isCut = rows.at(-1)?.has_next === 'true'
      const readAt = performance.now()
      for (const one of due) {
        const body = bodies.get(one.seq)
        if (body !== undefined) this.#ready.push({ ...one, url, secrets, body, readAt })
        else if (there.has(one.seq)) this.#end(one, unseen, false)
        else if (!isCut) this.#end(one, gone, false)
      }
    }
    this.#send()
  }

  /** Begins as many requests as may be under way. */
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

  /** What was read long ago is read again: it may have been hidden since. */
  #dropStale(): void {
    this.#ready = this.#ready.filter(({ readAt }) => performance.now() - readAt < bodyMs)
  }

  async #deliver(ready: Ready): Promise<void> {
    const { now, post } = this.#options
    const { seq, url, secrets, body } = ready
    const attempt = await post(url, signedHeaders(secrets, messageId(this.#held, seq), now(), body), body)
    // Without one the service stops: it is sent again later.
    if (!attempt) return
    this.#width = attempt.error === null ? Math.min(widest, this.#width * 2) : 1
    this.#end(ready, attempt, attempt.status !== 410)
  }

  /** Notes how an attempt ended. One that has failed is made again, or goes to the dead letters. */
  #end({ seq, tries, round }: Due, attempt: Attempt, mayRepeat: boolean): void {
    const at = this.#options.now()
    const nextAt = attempt.error !== null && mayRepeat ? nextTry(tries + 1, at) : null
    const state = attempt.error === null ? 'delivered' : nextAt ? 'waiting' : 'dead'
    this.#outcomes.push({ seq, tries, round, attempt, at, state, nextAt })
  }

  async #writeDown(): Promise<void> {
    const { db, now, disable } = this.#options
    // Out of use, nothing is tried again, nor is what was under way.
    const outcomes = this.#isGivenUp ? this.#outcomes.map(settled) : this.#outcomes
    // Others end meanwhile.
    this.#outcomes = []
    const made = outcomes.filter(({ attempt }) => attempt !== unseen && attempt !== gone)
    const delivered = made.findLast(({ state }) => state === 'delivered')
    const last = made.at(-1)
    if (delivered) this.#failingSince = null
    if (last?.attempt.error) this.#failingSince ??= last.at
    const deliveredAt = delivered?.at ?? null
    const health = last && { failingSince: this.#failingSince, lastError: last.attempt.error, deliveredAt }
    await writeDown(db, this.#held, outcomes, health ?? null, now()).catch(error => {
      this.#outcomes.unshift(...outcomes)
      throw error
    })
    const isGone = made.some(({ attempt }) => attempt.status === 410)
    if (this.#isGivenUp || (!isGone && !isHopeless(this.#failingSince, now()))) return
    this.#isGivenUp = true
    // What was not looked at yet is given up with the rest, and is seen among the dead letters.
    this.#isWoken = true
    while (this.#isWoken && this.#orders) await this.#look(this.#orders)
    await disable(
      this.#held,
      isGone ? 'Its receiver answered 410.' : 'Its receiver has failed for three days.',
    )
    this.#orders = null
  }
}

/** Why a delivery was not sent at all. */
const unseen = unsent('The user of the webhook no longer sees the record.')
const gone = unsent('The event is no longer kept.')

function unsent(error: string): Attempt {
  return { status: null, error, durationMs: 0, answer: null }
}
