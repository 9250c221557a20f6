/**
 * The windows of the board's columns: the first comes with the board, the others as they come into view. Pure
 * functions, as those of the model.
 */
import { type BoardData, type Column, type Deal, mapColumn, placeOf, sized } from './model.ts'

/** Number of cards that are read at once. */
export const windowSize = 30

/** True if a card is not loaded, or was read before the board was. */
export const isOld = ({ cards, old }: Column, row: number): boolean => {
  const card = cards[row]
  return !card || old.includes(card.id)
}

/**
 * The board as just read, with the cards that were read before beyond its first windows: without them each
 * change of others would empty the columns. They may be a few rows off until they are read again.
 */
export function withFormer(board: BoardData, before: BoardData): BoardData {
  const read = new Set(board.columns.flatMap(({ cards }) => cards.map(card => card?.id)))
  const columns = board.columns.map(column => {
    const former = before.columns.find(({ id }) => id === column.id)?.cards ?? []
    const kept = former.filter(card => !card || !read.has(card.id))
    // Most changes are of the first cards: counted from the end, the others stand where they stood.
    const shift = column.cards.length - kept.length
    const cards = column.cards.map((card, row) => card ?? kept[row - shift])
    const old = cards.flatMap((card, row) => (card && !column.cards[row] ? card.id : []))
    return { ...column, cards, old }
  })
  return { ...board, columns }
}

/**
 * The board with a window of a column as just read. A card that is in another column stays there, if it was
 * not read before the board was.
 */
export function withWindow(
  board: BoardData,
  stage: number,
  from: number,
  read: readonly Deal[],
  total: number | null,
): BoardData {
  const isElsewhere = (id: number) => {
    const place = placeOf(board, id)
    const other = place && board.columns[place.column]!
    return other !== null && other.id !== stage && !isOld(other, place!.row)
  }
  const shown = read.map(card => (isElsewhere(card.id) ? undefined : card))
  const ids = new Set(shown.map(card => card?.id))
  const isShown = (card: Deal | undefined) => card !== undefined && ids.has(card.id)
  const columns = board.columns.map(column =>
    column.cards.some(isShown)
      ? { ...column, cards: column.cards.map(card => (isShown(card) ? undefined : card)) }
      : column,
  )
  return mapColumn({ ...board, columns }, stage, column => {
    const cards = sized(column.cards, total ?? column.count).slice(0, total ?? undefined)
    for (const [index, card] of shown.entries())
      if (card && from + index < cards.length) cards[from + index] = card
    const inWindow = new Set(cards.slice(from, from + windowSize).map(card => card?.id))
    const old = column.old.filter(id => !inWindow.has(id))
    return { ...column, count: total ?? column.count, cards, old }
  })
}
