/**
 * The capacity of a process, and the part of it that each request reserves (D108). Accounts share it, and the
 * networks of guests share a part of it. Knows no caller.
 */
import { Refusal } from '../errors.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { type Quota, quota } from '../waiting/quota.ts'

export type Reservation = {
  /**
   * Reserves memory for the request until `release`. Throws `overloaded` if the account has used up its
   * share.
   */
  reserveBytes(bytes: number): void
  /**
   * Reserves memory for a long answer until the returned function is called: at its end, however slowly it is
   * read. Null for a short one. Throws `overloaded` if the account has used up its share.
   */
  reserveAnswer(bytes: number): (() => void) | null
  /**
   * Waits until no other request of the account holds this turn, and until the event loop has served all
   * others.
   */
  lockLargeBodies(): Promise<void>
  /** Releases what the request has reserved. Idempotent. */
  release(): void
}

/** Maximum of concurrent requests. More would only make each wait longer. */
const underWayMax = 500
/** Maximum of bytes of bodies in memory, from arrival to the end of their requests. */
const bodiesBytes = 67_108_864
/** An answer from this size on counts for its account until its client has read it. */
const longAnswerBytes = 262_144
/** Maximum of bytes of long answers in memory, until their clients have read them. */
const answersBytes = 268_435_456

/** The account that guests are in the quota of requests. */
const guests = 0

/** Reserves a place for a request, of an account or of a guest from a network. Throws `overloaded`. */
export type Capacity = {
  reserveFor(account: number): Reservation
  reserveForGuest(network: string): Reservation
}

export function openCapacity(bodyLimitBytes: number): Capacity {
  const alone = new KeyedMutex<number>('large_body')
  const shared = {
    requests: quota('requests', underWayMax),
    memory: quota('body_bytes', Math.max(bodiesBytes, 8 * bodyLimitBytes)),
    answers: quota('answer_bytes', answersBytes),
  }
  const networks = quota<string>('guest_requests', underWayMax / 2)
  const reserveFor = (account: number, onRelease = () => {}) => {
    if (shared.requests.take(account, 1)) return reservation(account, shared, alone, onRelease)
    onRelease()
    throw tooMany()
  }
  return {
    reserveFor: account => reserveFor(account),
    reserveForGuest(network) {
      if (!networks.take(network, 1)) throw tooMany()
      return reserveFor(guests, () => networks.release(network, 1))
    },
  }
}

type Shared = { readonly requests: Quota; readonly memory: Quota; readonly answers: Quota }

function reservation(
  account: number,
  { requests, memory, answers }: Shared,
  alone: KeyedMutex<number>,
  onRelease: () => void,
): Reservation {
  let isGone = false
  let reserved = 0
  let unlock = () => {}
  return {
    reserveBytes(bytes) {
      if (!memory.take(account, bytes))
        throw overloaded('Too many large bodies are under way; try again in a moment.')
      reserved += bytes
    },
    reserveAnswer(bytes) {
      if (bytes < longAnswerBytes) return null
      if (!answers.take(account, bytes))
        throw overloaded('Too many long answers wait to be read; read them, or ask for less at once.')
      return () => answers.release(account, bytes)
    },
    async lockLargeBodies() {
      unlock = await alone.lock(account)
      await new Promise(setImmediate)
    },
    release() {
      if (isGone) return
      isGone = true
      unlock()
      requests.release(account, 1)
      memory.release(account, reserved)
      onRelease()
    },
  }
}

function tooMany(): Refusal {
  return overloaded('Too many requests are being carried out; try again in a moment.')
}

function overloaded(detail: string): Refusal {
  return new Refusal('overloaded', detail, [], { 'retry-after': '1' })
}
