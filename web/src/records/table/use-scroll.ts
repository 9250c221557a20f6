/** The scroll position of an element, and the size of its visible part. */
import { type RefObject, useLayoutEffect, useState } from 'react'

type Sight = {
  readonly top: number
  readonly left: number
  readonly height: number
  readonly width: number
}

const before: Sight = { top: 0, left: 0, height: 600, width: 1000 }

export function useScroll(scroller: RefObject<HTMLElement | null>): Sight {
  const [sight, setSight] = useState(before)
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => {
      const { scrollTop: top, scrollLeft: left, clientHeight: height, clientWidth: width } = element
      setSight(last =>
        last.top === top && last.left === left && last.height === height && last.width === width
          ? last
          : { top, left, height, width },
      )
    }
    look()
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller])
  return sight
}

/** The rows in view with an overscan, and one that stays rendered. */
export function rowsIn(first: number, last: number, count: number, kept: number): number[] {
  const [from, to] = [Math.max(0, first - 6), Math.min(count - 1, last + 6)]
  const rows = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  return kept < 0 || kept >= count || (kept >= from && kept <= to) ? rows : [...rows, kept]
}
