/** A supply that accounts share. No account can use it up (D108). */

export type Supply = {
  /** Takes an amount for an account. False when less would then be free than the account would hold. */
  take(account: number, amount: number): boolean
  giveBack(account: number, amount: number): void
}

/**
 * An account may hold as much as stays free. So one account alone can have half of the supply, and two
 * accounts a third each. Something is always left for the next account.
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
