/** A native list or menu that a press opens takes its release: a key ends the press, too. */
const ends = ['pointerup', 'pointercancel', 'contextmenu', 'keydown'] as const

/** True while a pointer is pressed. */
let isPressed = false

/** Follows the presses of all pointers, from the first render on. */
export function followPresses(): void {
  const set = (now: boolean) => () => {
    isPressed = now
  }
  addEventListener('pointerdown', set(true), true)
  for (const type of ends) addEventListener(type, set(false), true)
}

/**
 * Calls `act` at once, or after the end of the press that just took the focus away. What moves the elements
 * of the page waits for it: a button that moves away between the press and its release gets no click.
 */
export function afterPress(act: () => void): void {
  if (!isPressed) {
    act()
    return
  }
  const ended = new AbortController()
  const end = () => {
    ended.abort()
    // The click follows its pointerup within the same task.
    setTimeout(act)
  }
  for (const type of ends) addEventListener(type, end, { signal: ended.signal, capture: true })
}
