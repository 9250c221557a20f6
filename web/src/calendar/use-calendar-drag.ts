/**
 * Dragging in the calendar by mouse, pen or touch: an entry to another day or time, or over free time for
 * something new. React renders nothing between press and drop.
 */
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { clockOf } from './days.ts'
import type { Slot } from './entries.ts'

/** Long press that lifts an entry; a touch that moves earlier is a scroll. */
const holdMs = 220
const startsAfter = 5
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
  /** `entry` is an activity's id */
  onMove: (entry: number, to: Slot) => void
  /** from one slot to another, which may be earlier */
  onDraw: (from: Slot, to: Slot) => void
}

type Point = { readonly x: number; readonly y: number }

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
    return listen(element, {
      onMove: (entry, to) => move(entry, to),
      onDraw: (from, to) => draw(from, to),
    })
  }, [calendar, mayDrag])
}

/** Handles the pointer, from press to drop. The function that it returns cancels a drag. */
function listen(calendar: HTMLElement, { onMove, onDraw }: Dropped): () => void {
  let drag: Drag | null = null
  let press: { readonly event: PointerEvent; readonly timer: ReturnType<typeof setTimeout> | null } | null =
    null
  let frame = 0
  let at: Point = { x: 0, y: 0 }

  const begin = () => {
    if (!press) return
    const { event } = press
    press = null
    drag = lift(event)
    if (drag) frame = requestAnimationFrame(follow)
  }
  const follow = () => {
    if (!drag) return
    show(drag, at)
    scrollAtEdge(calendar, at)
    frame = requestAnimationFrame(follow)
  }
  const end = (isDropped: boolean) => {
    if (press?.timer) clearTimeout(press.timer)
    press = null
    if (!drag) return
    cancelAnimationFrame(frame)
    if (isDropped) show(drag, at)
    const { entry, begun, over } = drag
    putDown(drag)
    drag = null
    // Swallows the click that follows a drop.
    addEventListener('click', swallow, { capture: true, once: true })
    setTimeout(() => removeEventListener('click', swallow, { capture: true }))
    if (!isDropped || !over) return
    if (entry) onMove(Number(entry.dataset.entry), over)
    else if (begun) onDraw(begun, over)
  }
  const down = (event: PointerEvent) => {
    const target = event.target as HTMLElement
    if (event.button !== 0 || !event.isPrimary) return
    const isFree = !target.closest('a, button') && target.closest('[data-day]')
    if (!target.closest('[data-entry]') && !isFree) return
    at = { x: event.clientX, y: event.clientY }
    press = { event, timer: event.pointerType === 'touch' ? setTimeout(begin, holdMs) : null }
  }
  const move = (event: PointerEvent) => {
    at = { x: event.clientX, y: event.clientY }
    if (drag || !press) return
    const { event: first, timer } = press
    if (Math.hypot(at.x - first.clientX, at.y - first.clientY) < startsAfter) return
    if (timer) end(false)
    else begin()
  }
  const cancel = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !drag) return
    swallow(event)
    end(false)
  }
  const over = new AbortController()
  const { signal } = over
  calendar.addEventListener('pointerdown', down, { signal })
  calendar.addEventListener('dragstart', event => event.preventDefault(), { signal })
  calendar.addEventListener('contextmenu', event => (drag || press?.timer) && event.preventDefault(), {
    signal,
  })
  calendar.addEventListener('touchmove', event => drag && event.preventDefault(), { passive: false, signal })
  addEventListener('pointermove', move, { signal })
  addEventListener('pointerup', () => end(true), { signal })
  addEventListener('pointercancel', () => end(false), { signal })
  addEventListener('keydown', cancel, { capture: true, signal })
  return () => {
    end(false)
    over.abort()
  }
}

function lift({ target, clientX, clientY }: PointerEvent): Drag | null {
  const entry = (target as HTMLElement).closest<HTMLElement>('[data-entry]')
  document.body.classList.add('dragging')
  getSelection()?.removeAllRanges()
  if (!entry) {
    const begun = placeAt(clientX, clientY)
    const ghost = document.createElement('div')
    ghost.className = 'drawn-slot'
    ghost.setAttribute('aria-hidden', 'true')
    return { entry, ghost, dx: 0, dy: 0, begun, over: begun }
  }
  const box = entry.getBoundingClientRect()
  const ghost = entry.cloneNode(true) as HTMLElement
  ghost.removeAttribute('id')
  ghost.setAttribute('aria-hidden', 'true')
  ghost.classList.add('lifted')
  ghost.style.cssText = `position:fixed;left:0;top:0;width:${box.width}px;height:${box.height}px`
  document.body.append(ghost)
  entry.classList.add('left-behind')
  return { entry, ghost, dx: clientX - box.x, dy: clientY - box.y, begun: null, over: null }
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
  document.body.classList.remove('dragging')
}

function swallow(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}
