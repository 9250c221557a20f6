/** How a process of the service ends by signals. */

/** The first signal shuts down gracefully; `again` is called for each further one. */
export function stopOn(
  signals: readonly NodeJS.Signals[],
  stop: () => Promise<void>,
  again: () => void,
): void {
  let isStopping = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (isStopping) return again()
      isStopping = true
      stop().then(
        () => process.exit(0),
        error => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}
