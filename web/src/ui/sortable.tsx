/**
 * Lists whose rows can be reordered: by dragging a handle (mouse, pen or finger), and by two buttons, for the
 * keyboard. Rows are found by their attributes, so that a row can be any element.
 */
import { ArrowDown, ArrowUp, GripVertical } from 'lucide-react'
import { type PointerEvent, type RefObject, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import type { Place } from './order.ts'

export type Sorting = {
  readonly root: RefObject<HTMLDivElement | null>
  /** the dragged row */
  readonly dragged: string | null
  /** its drop target */
  readonly over: Place | null
  readonly begin: (key: string, event: PointerEvent) => void
}

/** `onMove` gets the place where a row was dropped. */
export function useSorting(onMove: (key: string, to: Place) => void): Sorting {
  const root = useRef<HTMLDivElement>(null)
  const [state, setState] = useState<{ key: string; over: Place | null } | null>(null)
  const begin = (key: string, event: PointerEvent) => {
    if (event.button !== 0) return
    event.preventDefault()
    const { pointerId } = event
    const handle = event.currentTarget as HTMLElement
    handle.setPointerCapture(pointerId)
    let over: Place | null = null
    setState({ key, over })
    const move = (moved: globalThis.PointerEvent) => {
      scrollNear(handle, moved.clientY)
      const next = placeAt(root.current, moved.clientY)
      if (next?.list === over?.list && next?.index === over?.index) return
      over = next
      setState({ key, over })
    }
    const end = (isDropped: boolean) => {
      handle.removeEventListener('pointermove', move)
      handle.removeEventListener('pointerup', drop)
      handle.removeEventListener('pointercancel', cancel)
      document.removeEventListener('keydown', giveUp, true)
      setState(null)
      if (isDropped && over) onMove(key, over)
    }
    const drop = () => end(true)
    const cancel = () => end(false)
    const giveUp = (pressed: KeyboardEvent) => {
      if (pressed.key !== 'Escape') return
      pressed.stopPropagation()
      end(false)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('pointerup', drop)
    handle.addEventListener('pointercancel', cancel)
    document.addEventListener('keydown', giveUp, true)
  }
  return { root, dragged: state?.key ?? null, over: state?.over ?? null, begin }
}

/** The place nearest to a vertical position on the screen. */
function placeAt(root: HTMLElement | null, y: number): Place | null {
  let best: { distance: number; place: Place } | null = null
  for (const row of root?.querySelectorAll<HTMLElement>('[data-sort-list]') ?? []) {
    const { top, bottom } = row.getBoundingClientRect()
    const isAfter = y > (top + bottom) / 2
    const distance = Math.abs(y - (isAfter ? bottom : top))
    if (best && best.distance <= distance) continue
    const index = Number(row.dataset.sortIndex) + (isAfter ? 1 : 0)
    best = { distance, place: { list: row.dataset.sortList ?? '', index } }
  }
  return best?.place ?? null
}

/** Scrolls the handle's container near its edges. */
function scrollNear(handle: HTMLElement, y: number): void {
  let box: HTMLElement | null = handle.parentElement
  while (box && (box.scrollHeight <= box.clientHeight || getComputedStyle(box).overflowY === 'visible'))
    box = box.parentElement
  if (!box) return
  const { top, bottom } = box.getBoundingClientRect()
  if (y < top + 40) box.scrollBy(0, -12)
  else if (y > bottom - 40) box.scrollBy(0, 12)
}

/** The attributes of a row, by which it is found and shown as a drop target. */
export function sortRow({ over, dragged }: Sorting, key: string, list: string, index: number, count: number) {
  const isHere = over !== null && over.list === list && dragged !== null
  const isLast = index === count - 1
  const drop =
    isHere && over.index === index ? 'before' : isHere && isLast && over.index > index ? 'after' : null
  return {
    'data-sort-list': list,
    'data-sort-index': index,
    'data-sort-key': key,
    'data-dragged': dragged === key || undefined,
    'data-drop': drop ?? undefined,
  }
}

/** Classes of a row with the attributes of `sortRow`. */
export const sortLook =
  'data-dragged:opacity-50 data-[drop=before]:shadow-[inset_0_2px_0_var(--accent)] ' +
  'data-[drop=after]:shadow-[inset_0_-2px_0_var(--accent)]'

/** The drag handle. It is no Tab stop, because the buttons beside it do the same. */
export function SortHandle({
  sorting,
  id,
  isDisabled,
}: {
  sorting: Sorting
  id: string
  isDisabled?: boolean
}) {
  return (
    <span
      aria-hidden
      onPointerDown={isDisabled ? undefined : event => sorting.begin(id, event)}
      className={`inline-flex size-6 shrink-0 touch-none items-center justify-center rounded-sm text-ink-faint ${
        isDisabled ? 'opacity-40' : 'cursor-grab hover:bg-hover hover:text-ink active:cursor-grabbing'
      }`}
    >
      <GripVertical size={14} aria-hidden />
    </span>
  )
}

/** The buttons for one step up and one down. They keep the focus when the row moves. */
export function SortButtons(props: {
  name: string
  id: string
  up: (() => void) | null
  down: (() => void) | null
  reason?: string | undefined
}) {
  const { name, id, up, down, reason } = props
  const press = (act: (() => void) | null, direction: string) => () => {
    if (!act) return
    act()
    // The row may be another element now, or elsewhere.
    requestAnimationFrame(() => {
      const selector = `[data-sort-button="${CSS.escape(`${id} ${direction}`)}"] button`
      document.querySelector<HTMLElement>(selector)?.focus()
    })
  }
  return (
    <>
      <span data-sort-button={`${id} up`}>
        <IconButton
          label={`Move ${name} up`}
          reason={reason ?? (up ? undefined : 'It is the first.')}
          onPress={press(up, 'up')}
          className="size-7!"
        >
          <ArrowUp size={14} aria-hidden />
        </IconButton>
      </span>
      <span data-sort-button={`${id} down`}>
        <IconButton
          label={`Move ${name} down`}
          reason={reason ?? (down ? undefined : 'It is the last.')}
          onPress={press(down, 'down')}
          className="size-7!"
        >
          <ArrowDown size={14} aria-hidden />
        </IconButton>
      </span>
    </>
  )
}
