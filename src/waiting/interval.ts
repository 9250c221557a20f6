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
  const actOnce = async () => {
    try {
      await act()
    } catch (error) {
      onError(error)
    }
  }
  const timer = setInterval(() => {
    underWay ??= actOnce().finally(() => {
      underWay = null
    })
  }, everyMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}
