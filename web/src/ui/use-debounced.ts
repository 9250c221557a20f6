/** A text that changes quickly, by typing or scrolling, once it has rested for some milliseconds. */
import { useEffect, useState } from 'react'

export function useDebounced(text: string, delayMs: number): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), delayMs)
    return () => clearTimeout(timer)
  }, [text, delayMs])
  return settled
}
