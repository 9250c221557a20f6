/**
 * Repeated work. A call that comes due while the last one is running is skipped. An error is reported and
 * stops nothing. The timer does not keep the process alive.
 */

export type Interval = {
  /** Starts nothing more. Resolves when the running call has ended. */
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
