/** The card of a board that the Tab key reaches (roving tabindex): arrows move it, and the focus follows. */
import { type RefObject, useState } from 'react'
import { focusCard } from './board-keys.ts'
import { type BoardData, type Column, type Deal, type Place, placeOf } from './model.ts'

export type ActiveCard = {
  readonly columns: readonly Column[]
  readonly place: Place
  /** undefined: there is no card, or it is not loaded */
  readonly deal: Deal | undefined
  /** makes the card at a place active, and focuses it */
  readonly go: (place: Place) => void
  /** a card got the focus, or with null the board has lost it */
  readonly noteFocus: (deal: number | null) => void
}

/** `onFocus` gets the focused card; `scrollTo` brings a column into view. */
export function useActiveCard(
  element: RefObject<HTMLElement | null>,
  board: BoardData,
  onFocus: (deal: number | null) => void,
  scrollTo: (column: number) => void,
): ActiveCard {
  const { columns } = board
  const [wanted, setWanted] = useState<Place & { readonly deal?: number | undefined }>({ column: 0, row: 0 })
  // Others' changes move a card, which stays active. If it is gone, that of its place is, or the first one.
  const moved = wanted.deal === undefined ? null : placeOf(board, wanted.deal)
  const first = columns.findIndex(({ cards }) => cards.length > 0)
  const isThere = wanted.row < (columns[wanted.column]?.cards.length ?? 0)
  const place = moved ?? (isThere ? wanted : { column: Math.max(0, first), row: 0 })
  return {
    columns,
    place,
    deal: columns[place.column]?.cards[place.row],
    go: next => {
      setWanted({ ...next, deal: columns[next.column]?.cards[next.row]?.id })
      scrollTo(next.column)
      focusCard(element.current!, columns[next.column]!.id, next.row)
    },
    noteFocus: deal => {
      onFocus(deal)
      const next = deal === null ? null : placeOf(board, deal)
      if (next && deal !== null && deal !== wanted.deal) setWanted({ ...next, deal })
    },
  }
}
