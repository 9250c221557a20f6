/** A supply that accounts share so that none can use it up (D108). */

export type Supply = {
  /** Takes so much for an account; false when that would leave less free than the account then holds. */
  take(account: number, amount: number): boolean
  giveBack(account: number, amount: number): void
}

/**
 * Each account may hold as much as stays free: one alone half of it, two a third each. However many take all
 * they can, something is left for the next.
 */
export function supply(size: number): Supply {
  const held = new Map<number, number>()
  let free = size
  return {
    take(account, amount) {
      const own = (held.get(account) ?? 0) + amount
      if (own > free - amount) return false
      held.set(account, own)
      free -= amount
      return true
    },
    giveBack(account, amount) {
      const own = (held.get(account) ?? 0) - amount
      if (own > 0) held.set(account, own)
      else held.delete(account)
      free += amount
    },
  }
}
