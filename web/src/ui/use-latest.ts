/**
 * A value for callbacks that end later, such as after an answer of the service: that of the last render, or
 * one that was set since. With the value of their own render they would undo what came in between.
 */
import { type RefObject, useRef } from 'react'

export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  latest.current = value
  return latest
}
