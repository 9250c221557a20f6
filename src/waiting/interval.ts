/**
 * Work that is done again and again. A call that comes due while the last one is under way is left out. An
 * error is reported and ends nothing. The timer does not keep the process alive.
 */

export type Interval = {
  /** Begins nothing more. Resolves when what is under way has ended. */
  stop(): Promise<void>
}

export function interval(
  everyMs: number,
  act: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Interval {
  let underWay: Promise<void> | null = null
  const actAlone = async () => {
    await act().catch(onError)
    underWay = null
  }
  const timer = setInterval(() => {
    underWay ??= actAlone()
  }, everyMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}
