/** For callbacks that end later, such as after an answer of the service. */
import { type RefObject, useEffect, useRef } from 'react'

/**
 * The value of the last render, or one that was set since. With the value of their own render they would undo
 * what came in between.
 */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  latest.current = value
  return latest
}

/** True once the component is gone: its page, its tab or its form was left meanwhile. */
export function useIsGone(): RefObject<boolean> {
  const isGone = useRef(false)
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])
  return isGone
}
