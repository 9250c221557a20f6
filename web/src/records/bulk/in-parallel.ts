/** Many requests, a few at a time. Pure but for `act`. */

type Failure<T> = { readonly item: T; readonly error: unknown }
export type Outcome<T, R> = {
  readonly done: readonly { readonly item: T; readonly result: R }[]
  readonly failed: readonly Failure<T>[]
}

/** Runs `act` on each item, at most four at a time. When `signal` aborts, the rest is skipped. */
export async function inParallel<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
  { signal, onStep }: { signal?: AbortSignal; onStep?: (finished: number) => void } = {},
): Promise<Outcome<T, R>> {
  const done: { item: T; result: R }[] = []
  const failed: Failure<T>[] = []
  let begun = 0
  const work = async () => {
    while (begun < items.length && !signal?.aborted) {
      const item = items[begun++]!
      try {
        done.push({ item, result: await act(item) })
      } catch (error) {
        failed.push({ item, error })
      }
      onStep?.(done.length + failed.length)
    }
  }
  await Promise.all(Array.from({ length: Math.min(4, items.length) }, work))
  return { done, failed }
}
