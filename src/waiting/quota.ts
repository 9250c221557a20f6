/**
 * A quota of a resource that accounts share, such as bytes of memory (D108): a dynamic threshold, as switches
 * use it for their buffers. An account may hold as much as stays free. So one account alone can have half,
 * two a third each, and something is always left for the next. Nothing waits: too much is refused. Networks
 * share what requests without an account may take in the same way.
 */
import { publish } from '../diagnostics.ts'

export type Quota<Key = number> = {
  /** Takes an amount. Returns false, without taking, if the account would then hold more than is free. */
  take(account: Key, amount: number): boolean
  release(account: Key, amount: number): void
}

/** The part of a quota that one account takes. */
export type Share = {
  /** False: there is no room. */
  take(amount: number): boolean
  release(amount: number): void
}

/** The share of an account. */
export function shareOf<Key>(quota: Quota<Key>, account: Key): Share {
  return {
    take: amount => quota.take(account, amount),
    release: amount => quota.release(account, amount),
  }
}

/** `name`: the resource, for diagnostics */
export function quota<Key = number>(name: string, size: number): Quota<Key> {
  const held = new Map<Key, number>()
  let free = size
  return {
    take(account, amount) {
      const own = (held.get(account) ?? 0) + amount
      if (own > free - amount) {
        publish('quota-refusal', { quota: name })
        return false
      }
      held.set(account, own)
      free -= amount
      return true
    },
    release(account, amount) {
      const own = (held.get(account) ?? 0) - amount
      if (own > 0) held.set(account, own)
      else held.delete(account)
      free += amount
    },
  }
}
