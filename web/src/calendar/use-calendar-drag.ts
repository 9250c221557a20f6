/** Dragging in the calendar: an entry to another day or time, or over free time for something new. */
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { ghostOf, listenForDrags, type Point } from '../ui/pointer-drag.ts'
import { clockOf } from './days.ts'
import type { Slot } from './entries.ts'

const edge = 48
/** Minutes to which times are rounded. */
export const quarter = 15

/** A slot on the page. Days are elements with data-day; those with hours have data-hours, too. */
type Place = Slot & { readonly element: HTMLElement }

type Drag = {
  readonly entry: HTMLElement | null
  readonly ghost: HTMLElement
  /** from the pointer to the beginning of the entry */
  readonly dx: number
  readonly dy: number
  readonly begun: Place | null
  over: Place | null
}

export type Dropped = {
  /** `to`: where the beginning of the entry is now, which may be a later day of its activity */
  onMove: (entry: HTMLElement, to: Slot) => void
  /** from one slot to another, which may be earlier */
  onDraw: (from: Slot, to: Slot) => void
}

/** `mayDrag` is false if nothing may be changed. Entries are elements with data-entry. */
export function useCalendarDrag(
  calendar: RefObject<HTMLElement | null>,
  mayDrag: boolean,
  { onMove, onDraw }: Dropped,
): void {
  const move = useEffectEvent(onMove)
  const draw = useEffectEvent(onDraw)
  useEffect(() => {
    const element = calendar.current
    if (!element || !mayDrag) return
    return listenForDrags<Drag>(element, {
      mayBegin,
      lift,
      follow: (drag, at) => {
        show(drag, at)
        scrollAtEdge(element, at)
      },
      putDown,
      drop: ({ entry, begun, over }) => {
        if (entry && over) move(entry, over)
        else if (begun && over) draw(begun, over)
      },
    })
  }, [calendar, mayDrag])
}

/** At an entry, or at the free time of a day. */
function mayBegin(target: HTMLElement): boolean {
  if (target.closest('[data-entry]')) return true
  return target.closest('[data-day]') !== null && !target.closest('a, button')
}

function lift({ target, clientX, clientY }: PointerEvent): Drag {
  const entry = (target as HTMLElement).closest<HTMLElement>('[data-entry]')
  if (!entry) {
    const begun = placeAt(clientX, clientY)
    const ghost = document.createElement('div')
    ghost.className = 'drawn-slot'
    ghost.setAttribute('aria-hidden', 'true')
    return { entry, ghost, dx: 0, dy: 0, begun, over: begun }
  }
  const { x, y } = entry.getBoundingClientRect()
  const ghost = ghostOf(entry)
  entry.classList.add('left-behind')
  return { entry, ghost, dx: clientX - x, dy: clientY - y, begun: null, over: null }
}

/** The slot under a point; the time is that of `top`, rounded. */
function placeAt(x: number, y: number, top = y): Place | null {
  const element = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-day]')
  if (!element) return null
  const day = element.dataset.day!
  if (element.dataset.hours === undefined) return { element, day, minutes: null }
  const box = element.getBoundingClientRect()
  const minutes = ((top - box.top) / box.height) * 1440
  const rounded = Math.round(minutes / quarter) * quarter
  return { element, day, minutes: Math.min(Math.max(rounded, 0), 1440 - quarter) }
}

/** Shows where the drag would end. */
function show(drag: Drag, { x, y }: Point): void {
  const { ghost, begun, entry, dx, dy } = drag
  const over = placeAt(x, y, entry ? y - dy : y)
  if (over?.element !== drag.over?.element || !drag.over) {
    drag.over?.element.classList.remove('drop-here')
    over?.element.classList.add('drop-here')
  }
  drag.over = over
  if (entry) {
    ghost.style.transform = `translate(${x - dx}px,${y - dy}px)`
    const label = ghost.querySelector('[data-time]')
    if (label && over?.minutes != null) label.textContent = clockOf(over.minutes)
    return
  }
  if (!begun || !over || begun.minutes === null || over.minutes === null) return
  const [from, to] = drawn(begun.minutes, over.minutes)
  ghost.style.top = `${(from / 1440) * 100}%`
  ghost.style.height = `${((to - from) / 1440) * 100}%`
  ghost.textContent = `${clockOf(from)}–${clockOf(to)}`
  if (ghost.parentElement !== begun.element) begun.element.append(ghost)
}

/** The times of what was drawn between two of them, in either direction. */
export function drawn(one: number, other: number): readonly [number, number] {
  const [from, to] = [Math.min(one, other), Math.max(one, other)]
  return [from, Math.max(to, from + quarter)]
}

function scrollAtEdge(calendar: HTMLElement, { y }: Point): void {
  const box = calendar.getBoundingClientRect()
  if (y > box.bottom - edge) calendar.scrollTop += 10
  else if (y < box.top + edge) calendar.scrollTop -= 10
}

function putDown({ ghost, entry, over, begun }: Drag): void {
  ghost.remove()
  entry?.classList.remove('left-behind')
  over?.element.classList.remove('drop-here')
  begun?.element.classList.remove('drop-here')
}
