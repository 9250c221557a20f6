/** A line for each key, such as an account: whoever comes waits for all that came before. Knows no work. */

/** For each key the end of the last in its line. */
export type Lines<Key> = Map<Key, Promise<void>>

/** Waits for those before in the line of `key`. Resolves with the function that ends the turn. */
export async function takeTurn<Key>(lines: Lines<Key>, key: Key): Promise<() => void> {
  const before = lines.get(key)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const last = before ? before.then(() => over) : over
  lines.set(key, last)
  await before
  return () => {
    if (lines.get(key) === last) lines.delete(key)
    resolve()
  }
}
