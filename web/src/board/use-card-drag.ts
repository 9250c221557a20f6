/**
 * Dragging a card to another column. Only the column matters: the order within it is the list's. The moving
 * card is a copy.
 */
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { ghostOf, listenForDrags, type Point } from '../ui/pointer-drag.ts'

const edge = 56

/** The number of cards that go with the one that is dragged. */
type Counting = (deal: number) => number

type Drag = {
  readonly card: HTMLElement
  /** the moving cards, as far as they are drawn */
  readonly left: readonly Element[]
  readonly ghost: HTMLElement
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
    return listenForDrags<Drag>(element, {
      mayBegin: target => target.closest('[data-card]') !== null && !target.closest('button'),
      lift: press => lift(press, element, deal => countOf(deal)),
      follow: (drag, at) => moveTo(drag, at, element),
      putDown,
      drop: ({ card, over }) =>
        over && drop(Number(card.dataset.card), Number(over.dataset.column ?? over.dataset.drop)),
    })
  }, [board, mayDrag])
}

/** Makes the copy that follows the pointer, and marks the cards that go with it. */
function lift({ target, clientX, clientY }: PointerEvent, board: HTMLElement, countOf: Counting): Drag {
  const card = (target as HTMLElement).closest<HTMLElement>('[data-card]')!
  const count = countOf(Number(card.dataset.card))
  const { x, y } = card.getBoundingClientRect()
  const ghost = ghostOf(card)
  if (count > 1) ghost.dataset.count = String(count)
  const left = count > 1 ? [...board.querySelectorAll('[data-selected]')] : [card]
  for (const one of left) one.classList.add('left-behind')
  return { card, left, ghost, dx: clientX - x, dy: clientY - y, over: null }
}

/** Moves the copy to the pointer, marks the column under it, and scrolls the board at its edges. */
function moveTo(drag: Drag, at: Point, board: HTMLElement): void {
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
}
