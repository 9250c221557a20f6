/** Keeps what is calculated anew in each render. */
import { useMemo } from 'react'

/** The same array as long as its members are the same. */
export function useStable<T>(list: readonly T[]): readonly T[] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text has all of it
  return useMemo(() => list, [JSON.stringify(list)])
}
