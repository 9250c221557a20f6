/** Global state outside of the components, which subscribe to it: a message, a preference, an open dialog. */
import { useSyncExternalStore } from 'react'

type Store<T> = {
  readonly get: () => T
  readonly set: (next: T) => void
  /** the value, in a component */
  readonly use: () => T
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  const get = () => value
  const follow = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get,
    set: next => {
      value = next
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(follow, get),
  }
}
