/**
 * Counts that processes share, such as those of a rate limit: each adds its own at once, and learns those of
 * the others a moment later. Knows no process and no limit.
 */

export type SharedCounts = {
  /** Tells the others that this process has added an amount to the count of a key. */
  add(of: string, key: string, amount: number): void
  /** Calls `act` with what another process has added. */
  onAdded(of: string, act: (key: string, amount: number) => void): void
}

/** An amount that was added: which count, its key and the amount. */
export type Added = readonly [of: string, key: string, amount: number]

/** The counts of a process without others. */
export const ownCounts: SharedCounts = { add() {}, onAdded() {} }

/**
 * Counts that are sent to the other processes by `send`, together after `everyMs`. `take` takes what was sent
 * by another one.
 */
export function sharedCounts(
  send: (added: readonly Added[]) => void,
  everyMs: number,
): SharedCounts & { take(added: readonly Added[]): void } {
  const unsent = new Map<string, Map<string, number>>()
  const listeners = new Map<string, (key: string, amount: number) => void>()
  const flush = () => {
    const all = [...unsent].flatMap(([of, keys]) =>
      [...keys].map(([key, amount]): Added => [of, key, amount]),
    )
    unsent.clear()
    send(all)
  }
  return {
    add(of, key, amount) {
      if (unsent.size === 0) setTimeout(flush, everyMs).unref()
      const keys = unsent.get(of) ?? new Map<string, number>()
      keys.set(key, (keys.get(key) ?? 0) + amount)
      unsent.set(of, keys)
    },
    onAdded(of, act) {
      listeners.set(of, act)
    },
    take(added) {
      for (const [of, key, amount] of added) listeners.get(of)?.(key, amount)
    },
  }
}
