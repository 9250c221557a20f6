/** Handles the keys and clicks of a board: one listener each for all cards. */
import type { FocusEvent, KeyboardEvent, MouseEvent } from 'react'
import { toastError } from '../ui/toast.tsx'
import { placeAfter } from './board-keys.ts'
import type { Menu } from './card-overlays.tsx'
import type { ActiveCard } from './use-active-card.ts'
import type { CardSelection } from './use-card-selection.ts'

export function boardEvents(board: {
  active: ActiveCard
  selected: CardSelection
  /** reason why nothing can be changed */
  reason: string | undefined
  moveCard: (deal: number, stage: number) => void
  onOpen: (deal: number) => void
  onMenu: (menu: Menu) => void
  onLog: (deal: number) => void
}) {
  const { active, selected, reason, moveCard, onOpen, onMenu, onLog } = board
  const moveBy = (step: 1 | -1) => {
    const target = active.columns[active.place.column + step]
    if (reason) toastError(reason)
    else if (active.deal && target) moveCard(active.deal.id, target.id)
  }
  return {
    onKeyDown: (event: KeyboardEvent) => {
      if (!cardOf(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.shiftKey) {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
        event.preventDefault()
        return moveBy(event.key === 'ArrowRight' ? 1 : -1)
      }
      if (event.key === ' ' && active.deal) selected.toggle(active.deal.id)
      if (event.key === 'Escape') selected.clear()
      const next = placeAfter(active.columns, active.place, event.key)
      if (next) active.go(next)
      if (next || /^(Arrow|Home|End|Page| )/.test(event.key)) event.preventDefault()
    },
    onClick: (event: MouseEvent) => {
      const card = cardOf(event)
      if (!card) return
      const target = event.target as HTMLElement
      const id = Number(card.dataset.card)
      const button = target.closest<HTMLElement>('[data-menu]')
      if (button) onMenu({ deal: id, anchor: button })
      else if (target.closest('[data-log]')) onLog(id)
      else if (target.closest('[data-select]')) event.shiftKey ? selected.extend(id) : selected.toggle(id)
      else if (!event.ctrlKey && !event.metaKey) {
        event.preventDefault()
        if (event.shiftKey) selected.extend(id)
        else onOpen(id)
      }
    },
    onFocus: (event: FocusEvent) => {
      const card = cardOf(event)
      if (card) active.noteFocus(Number(card.dataset.card))
    },
    onBlur: () => active.noteFocus(null),
  }
}

const cardOf = ({ target }: { target: EventTarget }) =>
  (target as HTMLElement).closest<HTMLElement>('[data-card]')
