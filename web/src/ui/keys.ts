/** Ctrl+Enter, or ⌘+Enter, saves a form from any of its inputs. */
import type { KeyboardEvent } from 'react'

export function byCtrlEnter(act: (event: KeyboardEvent) => void): (event: KeyboardEvent) => void {
  return event => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    act(event)
  }
}
