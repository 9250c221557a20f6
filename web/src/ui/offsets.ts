/** Bars at the head and foot of the page, which dialogs and messages leave free. */

/** Ref of a bar; the style sheet finds its size under the name. */
const measured = (name: string, sizeOf: (bar: HTMLElement) => number) => (bar: HTMLElement | null) => {
  if (!bar) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => style.setProperty(name, `${sizeOf(bar)}px`))
  observer.observe(bar)
  return () => {
    observer.disconnect()
    style.removeProperty(name)
  }
}

/** Ref of a bar at the foot of the page, which keeps the messages above it. */
export const offsetMessages = measured('--foot', bar => innerHeight - bar.getBoundingClientRect().top)

/** Ref of a bar at the head of the page, which keeps the dialogs below it. */
export const offsetDialogs = measured('--head', bar => bar.offsetHeight)
