/**
 * The focus in the calendar: one tab stop, from which arrows go to the days and the entries beside. Stops are
 * elements with data-stop, each in its day, which has data-column.
 */
import { type RefObject, useLayoutEffect, useRef } from 'react'

const arrows = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'] as const
export type Arrow = (typeof arrows)[number]

export const isArrow = (key: string): key is Arrow => arrows.includes(key as Arrow)

const stopsOf = (place: ParentNode) => [...place.querySelectorAll<HTMLElement>('[data-stop]')]

/** Keeps one tab stop, `preferred` at first. `follow` keeps the focus on an entry that moves. */
export function useStops(calendar: RefObject<HTMLElement | null>, preferred: string) {
  const active = useRef<string | null>(null)
  const followed = useRef<string | null>(null)
  // After each rendering, as entries come and go.
  useLayoutEffect(() => {
    const place = calendar.current
    if (!place) return
    const stops = stopsOf(place)
    if (followed.current !== null) {
      const entry = place.querySelector<HTMLElement>(`[data-entry="${followed.current}"]`)
      if (entry && document.activeElement !== entry) entry.focus()
    }
    const find = (name: string | null) => stops.find(({ dataset }) => dataset.stop === name)
    const chosen = find(active.current) ?? find(preferred) ?? stops[0]
    for (const stop of stops) stop.tabIndex = stop === chosen ? 0 : -1
  })
  const onFocus = (target: Element) => {
    const stop = target.closest<HTMLElement>('[data-stop]')
    if (!stop || !calendar.current) return
    if (stop.dataset.entry !== followed.current) followed.current = null
    active.current = stop.dataset.stop!
    for (const other of stopsOf(calendar.current)) other.tabIndex = other === stop ? 0 : -1
  }
  const onBlur = (to: Element | null) => {
    if (to && !calendar.current?.contains(to)) followed.current = null
  }
  const follow = (entry: number) => {
    followed.current = String(entry)
  }
  return { onFocus, onBlur, follow }
}

/**
 * The stop in the direction of an arrow: the one above or below on the day; beside, the nearest of the next
 * day. Null at the end.
 */
export function stopBeside(from: HTMLElement, arrow: Arrow): HTMLElement | null {
  const column = from.closest<HTMLElement>('[data-column]')
  const calendar = from.closest('[data-calendar]')
  if (!column || !calendar) return null
  const own = stopsOf(column)
  const days = [...calendar.querySelectorAll<HTMLElement>('[data-column]')]
  const at = days.indexOf(column)
  if (arrow === 'ArrowUp' || arrow === 'ArrowDown') {
    const step = arrow === 'ArrowUp' ? -1 : 1
    const next = own[own.indexOf(from) + step]
    if (next) return next
    const { left } = column.getBoundingClientRect()
    const below = days
      .slice(step < 0 ? 0 : at + 1, step < 0 ? at : undefined)
      .filter(day => Math.abs(day.getBoundingClientRect().left - left) < 2)
    const day = step < 0 ? below.at(-1) : below[0]
    return day ? (stopsOf(day).at(step < 0 ? -1 : 0) ?? null) : null
  }
  const isRtl = getComputedStyle(calendar).direction === 'rtl'
  const day = days[at + ((arrow === 'ArrowLeft') === isRtl ? 1 : -1)]
  if (!day) return null
  const others = stopsOf(day)
  if (own.indexOf(from) === 0) return others[0] ?? null
  const { top } = from.getBoundingClientRect()
  const distance = (stop: HTMLElement) => Math.abs(stop.getBoundingClientRect().top - top)
  const entries = others.slice(1)
  return entries.sort((one, other) => distance(one) - distance(other))[0] ?? others[0] ?? null
}
