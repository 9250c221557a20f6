/**
 * A drag by mouse, pen or touch, from press to drop. Knows neither what is dragged nor where it may end.
 * React renders nothing meanwhile.
 */

/** Long press that begins a drag by touch; a touch that moves earlier is a scroll. */
const holdMs = 220
const startsAfter = 5

export type Point = { readonly x: number; readonly y: number }

export type DragHandlers<Drag> = {
  /** True if a drag may begin at this element. */
  mayBegin(target: HTMLElement): boolean
  /** Begins a drag at the press. */
  lift(press: PointerEvent): Drag
  /** Shows the drag at the pointer: in each frame, and once more at the drop. */
  follow(drag: Drag, at: Point): void
  /** Removes everything that the drag shows, dropped or not. */
  putDown(drag: Drag): void
  drop(drag: Drag): void
}

/** Handles the pointer on an element. The function that it returns cancels a drag, and ends the handling. */
export function listenForDrags<Drag>(area: HTMLElement, handlers: DragHandlers<Drag>): () => void {
  let drag: { readonly of: Drag; readonly pointer: number } | null = null
  let press: { readonly event: PointerEvent; readonly timer: ReturnType<typeof setTimeout> | null } | null =
    null
  let frame = 0
  let at: Point = { x: 0, y: 0 }

  const begin = () => {
    if (!press) return
    const { event } = press
    press = null
    drag = { of: handlers.lift(event), pointer: event.pointerId }
    document.body.classList.add('dragging')
    getSelection()?.removeAllRanges()
    frame = requestAnimationFrame(follow)
  }
  const follow = () => {
    if (!drag) return
    handlers.follow(drag.of, at)
    frame = requestAnimationFrame(follow)
  }
  const end = (isDropped: boolean) => {
    if (press?.timer) clearTimeout(press.timer)
    press = null
    if (!drag) return
    cancelAnimationFrame(frame)
    const { of } = drag
    if (isDropped) handlers.follow(of, at)
    drag = null
    handlers.putDown(of)
    document.body.classList.remove('dragging')
    // Swallows the click that follows a drop.
    addEventListener('click', swallow, { capture: true, once: true })
    setTimeout(() => removeEventListener('click', swallow, { capture: true }))
    if (isDropped) handlers.drop(of)
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !event.isPrimary || !handlers.mayBegin(event.target as HTMLElement)) return
    at = { x: event.clientX, y: event.clientY }
    press = { event, timer: event.pointerType === 'touch' ? setTimeout(begin, holdMs) : null }
  }
  const move = (event: PointerEvent) => {
    if (drag && event.pointerId !== drag.pointer) return
    at = { x: event.clientX, y: event.clientY }
    if (drag || !press) return
    const { event: first, timer } = press
    if (Math.hypot(at.x - first.clientX, at.y - first.clientY) < startsAfter) return
    // A finger that moves before the long press scrolls.
    if (timer) end(false)
    else begin()
  }
  const cancelByEscape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !drag) return
    swallow(event)
    end(false)
  }
  const over = new AbortController()
  const { signal } = over
  const whileDragging = (event: Event) => drag && event.preventDefault()
  area.addEventListener('pointerdown', down, { signal })
  area.addEventListener('dragstart', event => event.preventDefault(), { signal })
  area.addEventListener('contextmenu', event => (drag || press?.timer) && event.preventDefault(), { signal })
  area.addEventListener('touchmove', whileDragging, { passive: false, signal })
  addEventListener('pointermove', move, { signal })
  const isOther = ({ pointerId }: PointerEvent) => drag && pointerId !== drag.pointer
  addEventListener('pointerup', event => isOther(event) || end(true), { signal })
  addEventListener('pointercancel', event => isOther(event) || end(false), { signal })
  addEventListener('keydown', cancelByEscape, { capture: true, signal })
  return () => {
    end(false)
    over.abort()
  }
}

/** A copy of an element at its place, over everything, to be moved by `transform`. */
export function ghostOf(element: HTMLElement): HTMLElement {
  const { x, y, width, height } = element.getBoundingClientRect()
  const ghost = element.cloneNode(true) as HTMLElement
  ghost.removeAttribute('id')
  ghost.setAttribute('aria-hidden', 'true')
  ghost.classList.add('lifted')
  ghost.style.cssText = `position:fixed;left:0;top:0;width:${width}px;height:${height}px`
  ghost.style.transform = `translate(${x}px,${y}px)`
  document.body.append(ghost)
  return ghost
}

function swallow(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}
