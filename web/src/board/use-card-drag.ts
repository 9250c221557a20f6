/**
 * Dragging a card by mouse, pen or touch. The only question is which column: a column's order is the list's.
 * React draws nothing between lift and drop; the card that moves is a copy, moved by `transform`.
 */
import { type RefObject, useEffect, useEffectEvent } from 'react'

/** A touch that rests so long lifts the card; one that moves before is a scroll. */
const holdMs = 220
const startsAfter = 5
const edge = 56

type Drag = {
  readonly card: HTMLElement
  /** all that go, as far as they are drawn */
  readonly left: readonly Element[]
  readonly ghost: HTMLElement
  readonly pointer: number
  readonly dx: number
  readonly dy: number
  over: HTMLElement | null
}

/**
 * `board` has elements with data-column (a stage's id), and in them cards with data-card (a deal's id).
 * `onDrop` gets both ids; `mayDrag` says no where nothing may be changed. With a card of `selected` go all of
 * them: the one that is dragged says how many.
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

function listen(
  board: HTMLElement,
  countOf: (deal: number) => number,
  onDrop: (deal: number, stage: number) => void,
): () => void {
  let drag: Drag | null = null
  let pressed: {
    card: HTMLElement
    event: PointerEvent
    timer: ReturnType<typeof setTimeout> | null
  } | null = null
  let frame = 0
  let at = { x: 0, y: 0 }

  const lift = () => {
    if (!pressed) return
    const { card, event } = pressed
    const box = card.getBoundingClientRect()
    const ghost = card.cloneNode(true) as HTMLElement
    ghost.removeAttribute('id')
    ghost.setAttribute('aria-hidden', 'true')
    ghost.classList.add('lifted')
    ghost.style.cssText = 'position:fixed;left:0;top:0'
    ghost.style.width = `${box.width}px`
    ghost.style.height = `${box.height}px`
    ghost.style.transform = `translate(${box.x}px,${box.y}px)`
    const count = countOf(Number(card.dataset.card))
    if (count > 1) ghost.dataset.count = String(count)
    document.body.append(ghost)
    const left = count > 1 ? [...board.querySelectorAll('[data-selected]')] : [card]
    for (const one of left) one.classList.add('left-behind')
    drag = {
      card,
      left,
      ghost,
      pointer: event.pointerId,
      dx: event.clientX - box.x,
      dy: event.clientY - box.y,
      over: null,
    }
    pressed = null
    document.body.classList.add('dragging')
    getSelection()?.removeAllRanges()
    frame = requestAnimationFrame(follow)
  }
  const follow = () => {
    if (!drag) return
    drag.ghost.style.transform = `translate(${at.x - drag.dx}px,${at.y - drag.dy}px) rotate(1.5deg)`
    const over = document.elementFromPoint(at.x, at.y)?.closest<HTMLElement>('[data-column]') ?? null
    if (over !== drag.over) {
      drag.over?.classList.remove('drop-here')
      over?.classList.add('drop-here')
      drag.over = over
    }
    const box = board.getBoundingClientRect()
    if (at.x > box.right - edge) board.scrollLeft += 14
    else if (at.x < box.left + edge) board.scrollLeft -= 14
    frame = requestAnimationFrame(follow)
  }
  const end = (isDropped: boolean) => {
    if (pressed?.timer) clearTimeout(pressed.timer)
    pressed = null
    if (!drag) return
    cancelAnimationFrame(frame)
    const { card, left, ghost, over } = drag
    drag = null
    ghost.remove()
    for (const one of left) one.classList.remove('left-behind')
    over?.classList.remove('drop-here')
    document.body.classList.remove('dragging')
    // The click that follows is the drop's own, not one on the card.
    addEventListener('click', swallow, { capture: true, once: true })
    setTimeout(() => removeEventListener('click', swallow, { capture: true }))
    if (isDropped && over) onDrop(Number(card.dataset.card), Number(over.dataset.column))
  }
  const swallow = (event: MouseEvent) => {
    event.preventDefault()
    event.stopPropagation()
  }

  const down = (event: PointerEvent) => {
    const target = event.target as HTMLElement
    const card = target.closest<HTMLElement>('[data-card]')
    if (!card || event.button !== 0 || !event.isPrimary || target.closest('button')) return
    at = { x: event.clientX, y: event.clientY }
    const timer = event.pointerType === 'touch' ? setTimeout(lift, holdMs) : null
    pressed = { card, event, timer }
  }
  const move = (event: PointerEvent) => {
    if (drag && event.pointerId !== drag.pointer) return
    at = { x: event.clientX, y: event.clientY }
    if (drag || !pressed) return
    const { event: first, timer } = pressed
    if (Math.hypot(at.x - first.clientX, at.y - first.clientY) < startsAfter) return
    // A finger that moves before the card is lifted scrolls.
    if (timer) end(false)
    else lift()
  }
  const up = () => end(true)
  const cancel = () => end(false)
  const abandon = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !drag) return
    event.preventDefault()
    event.stopPropagation()
    end(false)
  }
  const touchMove = (event: TouchEvent) => {
    if (drag) event.preventDefault()
  }
  const noMenu = (event: Event) => {
    if (drag || pressed?.timer) event.preventDefault()
  }
  const noNative = (event: Event) => event.preventDefault()

  board.addEventListener('pointerdown', down)
  board.addEventListener('dragstart', noNative)
  board.addEventListener('contextmenu', noMenu)
  board.addEventListener('touchmove', touchMove, { passive: false })
  addEventListener('pointermove', move)
  addEventListener('pointerup', up)
  addEventListener('pointercancel', cancel)
  addEventListener('keydown', abandon, { capture: true })
  return () => {
    end(false)
    board.removeEventListener('pointerdown', down)
    board.removeEventListener('dragstart', noNative)
    board.removeEventListener('contextmenu', noMenu)
    board.removeEventListener('touchmove', touchMove)
    removeEventListener('pointermove', move)
    removeEventListener('pointerup', up)
    removeEventListener('pointercancel', cancel)
    removeEventListener('keydown', abandon, { capture: true })
  }
}
