/** Work that accounts ask for: they take turns, and each waits for one at most, however often it asks. */

/**
 * Gives what asks for a turn of an account, in which `work` is done for it, `atOnce` accounts at the same
 * time and each once. `work` must not throw. The asking resolves when a turn is over that began after it.
 */
export function turns(
  atOnce: number,
  work: (account: number) => Promise<void>,
): (account: number) => Promise<void> {
  /** who has asked and not begun, the longest first */
  const waiting = new Map<number, PromiseWithResolvers<void>>()
  const underWay = new Set<number>()

  const begin = () => {
    for (const [account, turn] of waiting) {
      if (underWay.size === atOnce) return
      if (underWay.has(account)) continue
      waiting.delete(account)
      underWay.add(account)
      void work(account).then(() => {
        underWay.delete(account)
        turn.resolve()
        begin()
      })
    }
  }
  return account => {
    const turn = waiting.get(account) ?? Promise.withResolvers<void>()
    waiting.set(account, turn)
    begin()
    return turn.promise
  }
}
