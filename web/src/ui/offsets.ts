/** Bars at the head and foot of the page, which dialogs, messages and the focus leave free. */

type Ref = (bar: HTMLElement | null) => (() => void) | undefined

/** Ref of a bar; the style sheet finds its size under the name. */
const measured =
  (
    name: string,
    sizeOf: (bar: HTMLElement) => number,
    holderOf = (_bar: HTMLElement) => document.documentElement,
  ): Ref =>
  bar => {
    if (!bar) return
    const { style } = holderOf(bar)
    const observer = new ResizeObserver(() => style.setProperty(name, `${sizeOf(bar)}px`))
    observer.observe(bar)
    return () => {
      observer.disconnect()
      style.removeProperty(name)
    }
  }

/** The element in which a bar sticks to an edge. */
function scrollerOf(bar: HTMLElement): HTMLElement {
  let holder = bar.parentElement
  while (holder && !/auto|scroll/.test(getComputedStyle(holder).overflowY)) holder = holder.parentElement
  return holder ?? document.documentElement
}

/** Ref of a bar at the foot of the page, which keeps the messages above it. */
export const offsetMessages = measured('--foot', bar => innerHeight - bar.getBoundingClientRect().top)

/** Ref of a bar at the head of the page, which keeps the dialogs below it. */
export const offsetDialogs = measured('--head', bar => bar.offsetHeight)

/** Refs of a sticky bar: what gets the focus is scrolled out from below it (WCAG 2.4.11). */
export const freeBelow = measured('scroll-padding-top', bar => bar.offsetHeight, scrollerOf)
export const freeAbove = measured('scroll-padding-bottom', bar => bar.offsetHeight, scrollerOf)

/** Ref of a sticky bar at the foot of the page. */
export const offsetFoot: Ref = bar => {
  const ends = [offsetMessages(bar), freeAbove(bar)]
  return () => {
    for (const end of ends) end?.()
  }
}
