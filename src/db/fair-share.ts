/**
 * Whose turn it is to read. Reads that may take long, such as lists, have a limited number of places, which
 * accounts share (D102). While no other account asks, one account may have all places; else it may have a
 * part of them. A free place goes to the account that has the fewest, or has read the least lately. A read
 * that keeps others waiting is ended after two seconds. A read whose caller has left is ended at once. What
 * can't be ended in the middle may have its account rest afterwards. Owns the places; does not know what is
 * read, or from where.
 */

export type Asker = {
  readonly account: string
  /** aborted when nobody waits for the answer any more */
  readonly signal?: AbortSignal
}

export type FairShareOptions = {
  readonly places: number
  /** how many places one account may have while others ask too */
  readonly placesOfOne: number
  /** whether the reads keep other statements from their turn */
  isWaitedFor(): boolean
  /** how long a read may wait for its turn, in milliseconds */
  readonly waitMs: number
  /** how long a read may keep others waiting, in milliseconds */
  readonly yieldsAfterMs: number
}

/**
 * A read had no turn in time, or its caller has left. PostgreSQL uses the same code when a statement can't
 * get a lock.
 */
export class Waited extends Error {
  override name = 'Waited'
  readonly code = '55P03'
}

/** A read that waits for its turn, or has it. */
type Ticket = {
  readonly account: string
  /** when it began to wait; from its turn on, when that began */
  since: number
  readonly ended: AbortController
  begin(): void
  refuse(error: Waited): void
  /** whether its account has no turn for as long as this one took */
  restsAfter: boolean
}

/** How long an account that has asked is taken into account. */
const rememberedMs = 10_000
const lookEveryMs = 100

export class FairShare {
  readonly #options: FairShareOptions
  readonly #waiting = new Set<Ticket>()
  readonly #reading = new Set<Ticket>()
  /** the accounts that have no turn for now */
  readonly #resting = new Set<string>()
  /** how many places each account has */
  readonly #taken = new Map<string, number>()
  readonly #used = new UsedTime()
  #lastAccount: string | undefined
  /** when an account other than the one before it asked last */
  #othersAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(options: FairShareOptions) {
    this.#options = options
  }

  /**
   * Carries out `act` when it is the account's turn. `act` has to end soon after its signal is aborted. If it
   * calls `rest`, the account has its next turn only after the time that this one took. Throws `Waited`.
   */
  async take<T>(
    { account, signal }: Asker,
    act: (ended: AbortSignal, rest: () => void) => Promise<T>,
  ): Promise<T> {
    const ended = new AbortController()
    const end = () => ended.abort()
    if (signal?.aborted) throw new Waited('Nobody waits for it')
    signal?.addEventListener('abort', end)
    try {
      const ticket = await this.#turn(account, ended)
      const rest = () => {
        ticket.restsAfter = true
      }
      return await act(ended.signal, rest).finally(() => this.#leave(ticket))
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Resolves when the account has its turn. */
  #turn(account: string, ended: AbortController): Promise<Ticket> {
    return new Promise((resolve, reject) => {
      const ticket: Ticket = {
        account,
        since: performance.now(),
        ended,
        begin: () => resolve(ticket),
        refuse: reject,
        restsAfter: false,
      }
      this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref()
      if (this.#lastAccount !== undefined && this.#lastAccount !== account) this.#othersAt = ticket.since
      this.#lastAccount = account
      ended.signal.addEventListener('abort', () => this.#refuse(ticket, 'Nobody waits for it'))
      if (this.#mayBegin(account)) this.#begin(ticket)
      else this.#waiting.add(ticket)
    })
  }

  #mayBegin(account: string): boolean {
    const { places, placesOfOne } = this.#options
    const isAlone = performance.now() - this.#othersAt > rememberedMs
    if (this.#resting.has(account) || this.#reading.size >= places) return false
    return this.#takenBy(account) < (isAlone ? places : placesOfOne)
  }

  #takenBy(account: string): number {
    return this.#taken.get(account) ?? 0
  }

  #begin(ticket: Ticket): void {
    this.#waiting.delete(ticket)
    this.#reading.add(ticket)
    this.#taken.set(ticket.account, this.#takenBy(ticket.account) + 1)
    ticket.since = performance.now()
    ticket.begin()
  }

  #leave(ticket: Ticket): void {
    this.#reading.delete(ticket)
    const tookMs = performance.now() - ticket.since
    this.#used.add(ticket.account, tookMs)
    if (ticket.restsAfter) this.#rest(ticket.account, tookMs)
    const left = this.#takenBy(ticket.account) - 1
    if (left > 0) this.#taken.set(ticket.account, left)
    else this.#taken.delete(ticket.account)
    this.#beginNext()
  }

  #rest(account: string, forMs: number): void {
    this.#resting.add(account)
    const end = () => {
      this.#resting.delete(account)
      this.#beginNext()
    }
    setTimeout(end, forMs).unref()
  }

  #beginNext(): void {
    for (let one = this.#next(); one; one = this.#next()) this.#begin(one)
  }

  /** Of the tickets that may begin, the one whose account comes first. */
  #next(): Ticket | undefined {
    let best: Ticket | undefined
    for (const one of this.#waiting)
      if (this.#mayBegin(one.account) && (!best || this.#comesBefore(one.account, best.account))) best = one
    return best
  }

  /** The account with fewer places comes first; among equals, the one that has read less lately. */
  #comesBefore(account: string, other: string): boolean {
    const [own, others] = [this.#takenBy(account), this.#takenBy(other)]
    return own === others ? this.#used.of(account) < this.#used.of(other) : own < others
  }

  #refuse(ticket: Ticket, why: string): void {
    if (this.#waiting.delete(ticket)) ticket.refuse(new Waited(why))
  }

  /** Refuses what has waited too long, and ends a read that keeps others waiting. */
  #look(): void {
    const { waitMs, yieldsAfterMs, isWaitedFor } = this.#options
    const now = performance.now()
    this.#used.halve(now)
    for (const one of this.#waiting) if (now - one.since > waitMs) this.#refuse(one, 'It had no turn in time')
    // Ends one read at a time. On the embedded engine the next read may only have waited behind this one, and
    // now has its chance.
    const slow = [...this.#reading].find(
      ({ account, since, ended }) =>
        !ended.signal.aborted &&
        now - since > yieldsAfterMs &&
        (isWaitedFor() || this.#keepsWaiting(account)),
    )
    slow?.ended.abort()
    this.#beginNext()
    if (this.#waiting.size + this.#reading.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Whether another account waits. */
  #keepsWaiting(account: string): boolean {
    for (const one of this.#waiting) if (one.account !== account) return true
    return false
  }
}

const halvedEveryMs = 5000

/** How long each account has read lately, in milliseconds: halved from time to time. */
class UsedTime {
  readonly #used = new Map<string, number>()
  #halvedAt = 0

  of(account: string): number {
    return this.#used.get(account) ?? 0
  }

  add(account: string, ms: number): void {
    this.#used.set(account, this.of(account) + ms)
  }

  halve(now: number): void {
    if (now - this.#halvedAt < halvedEveryMs) return
    this.#halvedAt = now
    for (const [account, ms] of this.#used) {
      if (ms > 2) this.#used.set(account, ms / 2)
      else this.#used.delete(account)
    }
  }
}
