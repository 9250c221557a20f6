/**
 * Whose turn it is: reads that may take long, such as lists, have a number of places, which accounts share
 * (D102). One account has all of them while no other asks, and a part of them else; a free place goes to the
 * account that has the fewest, or has read the least lately. Whoever keeps others waiting is ended after two
 * seconds, and what nobody waits for any more at once. Owns the places; does not know what is read, or from
 * where.
 */

export type Asker = {
  readonly account: string
  /** aborted when nobody waits for the answer any more */
  readonly signal?: AbortSignal
}

export type FairShare = {
  /**
   * Carries out `act` when it is the account's turn. `act` has to end soon after its signal is aborted.
   * Throws `Waited`.
   */
  take<T>(asker: Asker, act: (ended: AbortSignal) => Promise<T>): Promise<T>
  stop(): void
}

export type FairShareOptions = {
  readonly places: number
  /** how many of them one account may have when others ask, too */
  readonly placesOfOne: number
  /** whether something else waits that what is carried out keeps from its turn */
  isWaitedFor(): boolean
  /** how long one may wait for its turn, in milliseconds */
  readonly patienceMs: number
}

/** It had no turn in time, or nobody waits for it any more. PostgreSQL says so of a lock by the same code. */
export class Waited extends Error {
  override name = 'Waited'
  readonly code = '55P03'
}

/** What waits for its turn or has it. */
type Ticket = {
  readonly account: string
  /** when it began to wait; then, when it had its turn */
  since: number
  readonly ended: AbortController
  begin(): void
  refuse(error: Waited): void
}

/** How long a read may keep others waiting. */
const yieldsAfterMs = 2000
/** How long an account that has asked is taken into account. */
const rememberedMs = 10_000
const halvedEveryMs = 5000
const lookEveryMs = 100

export function fairShare({ places, placesOfOne, isWaitedFor, patienceMs }: FairShareOptions): FairShare {
  const waiting = new Set<Ticket>()
  const reading = new Set<Ticket>()
  /** how many places each account has */
  const taken = new Map<string, number>()
  /** how long each account has read lately, in milliseconds: halved from time to time */
  const used = new Map<string, number>()
  let halvedAt = 0
  let lastAccount: string | undefined
  let othersAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const takenBy = (account: string) => taken.get(account) ?? 0
  const usedBy = (account: string) => used.get(account) ?? 0
  const forget = (now: number) => {
    if (now - halvedAt < halvedEveryMs) return
    halvedAt = now
    for (const [account, ms] of used) {
      if (ms > 2) used.set(account, ms / 2)
      else used.delete(account)
    }
  }
  const hasTurn = (account: string) => {
    const isAlone = performance.now() - othersAt > rememberedMs
    return reading.size < places && takenBy(account) < (isAlone ? places : placesOfOne)
  }
  const begin = (ticket: Ticket) => {
    waiting.delete(ticket)
    reading.add(ticket)
    taken.set(ticket.account, takenBy(ticket.account) + 1)
    ticket.since = performance.now()
    ticket.begin()
  }
  const leave = (ticket: Ticket) => {
    reading.delete(ticket)
    used.set(ticket.account, usedBy(ticket.account) + performance.now() - ticket.since)
    const left = takenBy(ticket.account) - 1
    if (left > 0) taken.set(ticket.account, left)
    else taken.delete(ticket.account)
    goOn()
  }
  /**
   * Of those whose turn it may be, that of the account with the fewest places; of these, of the one that has
   * read the least.
   */
  const next = (): Ticket | undefined => {
    let best: Ticket | undefined
    for (const one of waiting)
      if (hasTurn(one.account) && (!best || comesBefore(one.account, best.account))) best = one
    return best
  }
  const comesBefore = (account: string, other: string) =>
    takenBy(account) === takenBy(other) ? usedBy(account) < usedBy(other) : takenBy(account) < takenBy(other)
  const goOn = () => {
    for (let one = next(); one; one = next()) begin(one)
  }
  const refuse = (ticket: Ticket, why: string) => {
    if (waiting.delete(ticket)) ticket.refuse(new Waited(why))
  }
  const keepsWaiting = (account: string) => {
    for (const one of waiting) if (one.account !== account) return true
    return false
  }
  const look = () => {
    const now = performance.now()
    forget(now)
    for (const one of waiting) if (now - one.since > patienceMs) refuse(one, 'It had no turn in time')
    // One at a time: on the embedded engine the next may only have waited behind it, and has its chance now.
    const slow = [...reading].find(
      ({ account, since, ended }) =>
        !ended.signal.aborted && now - since > yieldsAfterMs && (isWaitedFor() || keepsWaiting(account)),
    )
    slow?.ended.abort()
    goOn()
    if (waiting.size + reading.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const turn = (account: string, ended: AbortController) =>
    new Promise<Ticket>((resolve, reject) => {
      const ticket: Ticket = {
        account,
        since: performance.now(),
        ended,
        begin: () => resolve(ticket),
        refuse: reject,
      }
      timer ??= setInterval(look, lookEveryMs).unref()
      if (lastAccount !== undefined && lastAccount !== account) othersAt = ticket.since
      lastAccount = account
      ended.signal.addEventListener('abort', () => refuse(ticket, 'Nobody waits for it'))
      if (hasTurn(account)) begin(ticket)
      else waiting.add(ticket)
    })

  return {
    async take({ account, signal }, act) {
      const ended = new AbortController()
      const end = () => ended.abort()
      if (signal?.aborted) throw new Waited('Nobody waits for it')
      signal?.addEventListener('abort', end)
      try {
        const ticket = await turn(account, ended)
        return await act(ended.signal).finally(() => leave(ticket))
      } finally {
        signal?.removeEventListener('abort', end)
      }
    },
    stop: () => clearInterval(timer),
  }
}
