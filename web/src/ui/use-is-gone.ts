/** True once the component is gone, for what ends later: its page, its tab or its form was left meanwhile. */
import { type RefObject, useEffect, useRef } from 'react'

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
