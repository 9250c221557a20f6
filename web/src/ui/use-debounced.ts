/** Debounces a text that changes quickly, by typing or scrolling. */
import { useEffect, useState } from 'react'

export function useDebounced(text: string, delayMs: number): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), delayMs)
    return () => clearTimeout(timer)
  }, [text, delayMs])
  return settled
}
