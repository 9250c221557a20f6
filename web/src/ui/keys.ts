/** For the use of forms by keys. */
import type { KeyboardEvent } from 'react'

/** Ctrl+Enter, or ⌘+Enter, saves a form from any of its inputs. */
export function byCtrlEnter(act: (event: KeyboardEvent) => void): (event: KeyboardEvent) => void {
  return event => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    act(event)
  }
}

const focusable = [
  ...['a[href]', 'summary', '[tabindex]:not([tabindex="-1"])'],
  ...['button', 'input', 'select', 'textarea'].map(name => `${name}:not(:disabled, [tabindex="-1"])`),
].join()

/**
 * Ref of an element that has buttons which remove an entry, or themselves. The focus would be lost with such
 * a button: it goes to what is in its place then, or to the last one.
 */
export function keepFocus(holder: HTMLElement | null): (() => void) | undefined {
  if (!holder) return
  let focused: EventTarget | null = null
  let place = -1
  const all = () => [...holder.querySelectorAll<HTMLElement>(focusable)].filter(one => one.checkVisibility())
  const note = ({ type, target, relatedTarget }: FocusEvent) => {
    if (type === 'focusin') {
      focused = target
      place = all().indexOf(target as HTMLElement)
    } else if (relatedTarget) focused = null
  }
  const observer = new MutationObserver(() => {
    if (!(focused instanceof Element) || focused.isConnected) return
    focused = null
    const rest = all()
    if (document.activeElement === document.body) rest[Math.min(place, rest.length - 1)]?.focus()
  })
  holder.addEventListener('focusin', note)
  holder.addEventListener('focusout', note)
  observer.observe(holder, { childList: true, subtree: true })
  return () => {
    observer.disconnect()
    holder.removeEventListener('focusin', note)
    holder.removeEventListener('focusout', note)
  }
}
