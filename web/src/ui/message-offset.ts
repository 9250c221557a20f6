/** Ref of a bar at the foot of the page, which keeps the messages above it. */
export function offsetMessages(bar: HTMLElement | null) {
  if (!bar) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() =>
    style.setProperty('--foot', `${innerHeight - bar.getBoundingClientRect().top}px`),
  )
  observer.observe(bar)
  return () => {
    observer.disconnect()
    style.removeProperty('--foot')
  }
}
