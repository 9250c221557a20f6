/**
 * Dragging a card by mouse, pen or touch. Only the column matters: the order within it is the list's. React
 * renders nothing between lift and drop; the moving card is a copy, moved by `transform`.
 */
import { type RefObject, useEffect, useEffectEvent } from 'react'

/** Long press that lifts the card; a touch that moves earlier is a scroll. */
const holdMs = 220
const startsAfter = 5
const edge = 56

type Drag = {
  readonly card: HTMLElement
  /** the moving cards, as far as they are drawn */
  readonly left: readonly Element[]
  readonly ghost: HTMLElement
  readonly pointer: number
  readonly dx: number
  readonly dy: number
  over: HTMLElement | null
}

/**
 * `board` has elements with data-column (a stage's id), and in them cards with data-card (a deal's id).
 * Elements beside it with data-drop (a stage's id) are targets, too. `onDrop` gets both ids; `mayDrag` is
 * false if nothing may be changed. A card of `selected` takes the others with it: the copy has their number.
 */
export function useCardDrag(
  board: RefObject<HTMLElement | null>,
  mayDrag: boolean,
  selected: ReadonlySet<number>,
  onDrop: (deal: number, stage: number) => void,
): void {
  // A board that changes meanwhile does not end the drag.
  const drop = useEffectEvent(onDrop)
  const countOf = useEffectEvent((deal: number) => (selected.has(deal) ? selected.size : 1))
  useEffect(() => {
    const element = board.current
    if (!element || !mayDrag) return
    return listen(
      element,
      deal => countOf(deal),
      (deal, stage) => drop(deal, stage),
    )
  }, [board, mayDrag])
}

/** A pointer that is down on a card; a touch lifts the card when the timer ends. */
type Press = {
  readonly card: HTMLElement
  readonly event: PointerEvent
  readonly timer: ReturnType<typeof setTimeout> | null
}

/** Handles the pointer on the board, from press to drop. The function that it returns cancels it. */
function listen(
  board: HTMLElement,
  countOf: (deal: number) => number,
  onDrop: (deal: number, stage: number) => void,
): () => void {
  let drag: Drag | null = null
  let press: Press | null = null
  let frame = 0
  let at = { x: 0, y: 0 }

  const begin = () => {
    if (!press) return
    drag = lift(press, board, countOf(Number(press.card.dataset.card)))
    press = null
    frame = requestAnimationFrame(follow)
  }
  const follow = () => {
    if (!drag) return
    moveTo(drag, at, board)
    frame = requestAnimationFrame(follow)
  }
  const end = (isDropped: boolean) => {
    if (press?.timer) clearTimeout(press.timer)
    press = null
    if (!drag) return
    cancelAnimationFrame(frame)
    const { card, over } = drag
    putDown(drag)
    drag = null
    // Swallows the click that follows a drop.
    addEventListener('click', swallow, { capture: true, once: true })
    setTimeout(() => removeEventListener('click', swallow, { capture: true }))
    if (isDropped && over) onDrop(Number(card.dataset.card), Number(over.dataset.column ?? over.dataset.drop))
  }

  const down = (event: PointerEvent) => {
    const target = event.target as HTMLElement
    const card = target.closest<HTMLElement>('[data-card]')
    if (!card || event.button !== 0 || !event.isPrimary || target.closest('button')) return
    at = { x: event.clientX, y: event.clientY }
    const timer = event.pointerType === 'touch' ? setTimeout(begin, holdMs) : null
    press = { card, event, timer }
  }
  const move = (event: PointerEvent) => {
    if (drag && event.pointerId !== drag.pointer) return
    at = { x: event.clientX, y: event.clientY }
    if (drag || !press) return
    const { event: first, timer } = press
    if (Math.hypot(at.x - first.clientX, at.y - first.clientY) < startsAfter) return
    // A finger that moves before the card is lifted scrolls.
    if (timer) end(false)
    else begin()
  }
  const cancelByEscape = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && drag) {
      swallow(event)
      end(false)
    }
  }
  const over = new AbortController()
  const { signal } = over
  board.addEventListener('pointerdown', down, { signal })
  board.addEventListener('dragstart', event => event.preventDefault(), { signal })
  board.addEventListener('contextmenu', event => (drag || press?.timer) && event.preventDefault(), { signal })
  board.addEventListener('touchmove', event => drag && event.preventDefault(), { passive: false, signal })
  addEventListener('pointermove', move, { signal })
  addEventListener('pointerup', () => end(true), { signal })
  addEventListener('pointercancel', () => end(false), { signal })
  addEventListener('keydown', cancelByEscape, { capture: true, signal })
  return () => {
    end(false)
    over.abort()
  }
}

/** Makes the copy that follows the pointer, and marks the cards that go with it. */
function lift({ card, event }: Press, board: HTMLElement, count: number): Drag {
  const box = card.getBoundingClientRect()
  const ghost = card.cloneNode(true) as HTMLElement
  ghost.removeAttribute('id')
  ghost.setAttribute('aria-hidden', 'true')
  ghost.classList.add('lifted')
  ghost.style.cssText = 'position:fixed;left:0;top:0'
  ghost.style.width = `${box.width}px`
  ghost.style.height = `${box.height}px`
  ghost.style.transform = `translate(${box.x}px,${box.y}px)`
  if (count > 1) ghost.dataset.count = String(count)
  document.body.append(ghost)
  const left = count > 1 ? [...board.querySelectorAll('[data-selected]')] : [card]
  for (const one of left) one.classList.add('left-behind')
  document.body.classList.add('dragging')
  getSelection()?.removeAllRanges()
  const [dx, dy] = [event.clientX - box.x, event.clientY - box.y]
  return { card, left, ghost, pointer: event.pointerId, dx, dy, over: null }
}

/** Moves the copy to the pointer, marks the column under it, and scrolls the board at its edges. */
function moveTo(drag: Drag, at: { readonly x: number; readonly y: number }, board: HTMLElement): void {
  drag.ghost.style.transform = `translate(${at.x - drag.dx}px,${at.y - drag.dy}px) rotate(1.5deg)`
  const over =
    document.elementFromPoint(at.x, at.y)?.closest<HTMLElement>('[data-column], [data-drop]') ?? null
  if (over !== drag.over) {
    drag.over?.classList.remove('drop-here')
    over?.classList.add('drop-here')
    drag.over = over
  }
  const box = board.getBoundingClientRect()
  if (at.x > box.right - edge) board.scrollLeft += 14
  else if (at.x < box.left + edge) board.scrollLeft -= 14
}

function putDown({ left, ghost, over }: Drag): void {
  ghost.remove()
  for (const one of left) one.classList.remove('left-behind')
  over?.classList.remove('drop-here')
  document.body.classList.remove('dragging')
}

function swallow(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}
