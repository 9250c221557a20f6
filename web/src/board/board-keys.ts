/** The keys of the board: arrows go from card to card, with Shift they move the card. */
import type { Column, Place } from './model.ts'

/** The place to which a key moves, or null if it moves nowhere. Columns without cards are skipped. */
export function placeAfter(columns: readonly Column[], { column, row }: Place, key: string): Place | null {
  const count = (at: number) => columns[at]?.cards.length ?? 0
  const inColumn = (to: number) => (to >= 0 && to < count(column) && to !== row ? { column, row: to } : null)
  const beside = (step: 1 | -1) => {
    for (let at = column + step; at >= 0 && at < columns.length; at += step)
      if (count(at) > 0) return { column: at, row: Math.min(row, count(at) - 1) }
    return null
  }
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return inColumn(row + 1)
    case 'ArrowUp':
    case 'k':
      return inColumn(row - 1)
    case 'ArrowLeft':
      return beside(-1)
    case 'ArrowRight':
      return beside(1)
    case 'Home':
      return inColumn(0)
    case 'End':
      return inColumn(count(column) - 1)
    case 'PageDown':
      return inColumn(Math.min(row + 6, count(column) - 1))
    case 'PageUp':
      return inColumn(Math.max(row - 6, 0))
  }
  return null
}

export function columnOf(board: HTMLElement, stage: number): HTMLElement | null {
  return board.querySelector(`[data-column="${stage}"]`)
}

/**
 * Brings a card into view and focuses it as soon as it is drawn. That takes some frames: the column scrolls
 * first, and an unloaded card comes after its window.
 */
export function focusCard(board: HTMLElement, stage: number, row: number, deal?: number): void {
  const column = columnOf(board, stage)
  const scroller = column?.querySelector('[data-scroller]')
  // A collapsed column shows no card.
  if (column && !scroller) column.querySelector('button')?.focus()
  scroller?.dispatchEvent(new CustomEvent('show-row', { detail: row }))
  let frames = 0
  const look = () => {
    const wanted = deal === undefined ? `[data-row="${row}"]` : `[data-card="${deal}"]`
    const card = columnOf(board, stage)?.querySelector<HTMLElement>(`${wanted} a`)
    if (card) {
      card.focus({ preventScroll: true })
      card.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    } else if (++frames < 30) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
