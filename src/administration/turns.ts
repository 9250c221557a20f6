/**
 * Work that accounts ask for. Accounts take turns, and each waits for one turn at most, however often it
 * asks.
 */

/**
 * Returns a function that asks for a turn of an account. In a turn, `work` is done for the account. `atOnce`
 * accounts have a turn at the same time, each account at most one. `work` must not throw. The promise
 * resolves when a turn ends that began after the call.
 */
export function turns(
  atOnce: number,
  work: (account: number) => Promise<void>,
): (account: number) => Promise<void> {
  /** accounts that have asked and not begun; the one that has waited longest comes first */
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
