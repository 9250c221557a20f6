/** The selected cards of a board, for bulk changes: by Space, and by Shift and a click. */
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { announce, toast } from '../ui/toast.tsx'
import { type BoardRequest, unloadedMax, unloadedQuery } from './board-query.ts'
import { type BoardData, type Deal, placeOf } from './model.ts'
import { isOld } from './windows.ts'

export type CardSelection = {
  readonly ids: ReadonlySet<number>
  /** the selected deals whose cards are not loaded, or old, by their ids */
  readonly unloaded: ReadonlyMap<number, Deal>
  /** True if anything was selected since the board is shown */
  readonly wasUsed: boolean
  readonly toggle: (deal: number) => void
  /** selects the range from the last selected card, if both are in one column */
  readonly extend: (deal: number) => void
  readonly clear: () => void
}

/** By their ids, deals with the values of the time when they were chosen. */
type Chosen = ReadonlyMap<number, Deal>

const none: Chosen = new Map()

/**
 * A refetch loads the first cards of each column: a selected one further down is read by its id. One that
 * others have removed leaves the selection, with a message. `board` is `whole` without the cards of
 * collapsed columns.
 */
export function useCardSelection(
  whole: BoardData,
  board: BoardData,
  request: BoardRequest,
  collapsedStages: readonly number[],
): CardSelection {
  const list = [request.pipeline, request.filter, request.closed].join()
  const [state, setState] = useState({ list, chosen: none })
  // While rendering, so that no card of the other list is shown selected even once.
  if (state.list !== list) setState({ list, chosen: none })
  const chosen = state.list === list ? state.chosen : none
  const setChosen = useCallback((next: Chosen) => setState({ list, chosen: next }), [list])
  const [wasUsed, setUsed] = useState(false)
  const last = useRef<number | null>(null)
  const missing = useMemo(() => {
    const isMissing = (id: number) => {
      const place = placeOf(whole, id)
      return !place || isOld(whole.columns[place.column]!, place.row)
    }
    return [...chosen.keys()].filter(isMissing)
  }, [whole, chosen])
  const found = useUnloaded(whole, request, missing)
  /** As found, or as chosen while they are being read: what is counted is what a move takes along. */
  const unloaded = useMemo(() => {
    const deals = missing.flatMap(id => (found ? found.get(id) : chosen.get(id)) ?? [])
    return new Map(
      deals.flatMap(deal => (collapsedStages.includes(Number(deal.pipeline_stage)) ? [] : [[deal.id, deal]])),
    )
  }, [missing, found, chosen, collapsedStages])
  const ids = useMemo(
    () => new Set([...chosen.keys()].filter(id => placeOf(board, id) !== null || unloaded.has(id))),
    [board, chosen, unloaded],
  )
  useEffect(() => {
    const gone = found ? missing.filter(id => !found.has(id)) : []
    if (gone.length === 0) return
    setChosen(new Map([...chosen].filter(([id]) => !gone.includes(id))))
    const which = gone.length === 1 ? `${chosen.get(gone[0]!)!.title} is` : `${gone.length} deals are`
    toast(`${which} not on the board any more, and not selected.`, { isNews: true })
  }, [chosen, setChosen, missing, found])
  const choose = (deal: number, next: ReadonlySet<number>) => {
    last.current = deal
    setUsed(true)
    setChosen(
      new Map(
        [...next].flatMap(id => {
          const card = cardOf(whole, id) ?? chosen.get(id)
          return card ? [[id, card]] : []
        }),
      ),
    )
    announce(`${next.size} selected`)
  }
  const toggle = (deal: number) => {
    const next = new Set(ids)
    if (!next.delete(deal)) next.add(deal)
    choose(deal, next)
  }
  const extend = (deal: number) => {
    const from = last.current === null ? null : placeOf(board, last.current)
    const to = placeOf(board, deal)
    if (!from || !to || from.column !== to.column || ids.size === 0) return toggle(deal)
    const [first, end] = [Math.min(from.row, to.row), Math.max(from.row, to.row)]
    // An unloaded card can't be selected.
    const between = board.columns[to.column]!.cards.slice(first, end + 1).flatMap(card => card?.id ?? [])
    choose(deal, new Set([...ids, ...between]))
  }
  const clear = useCallback(() => setChosen(none), [setChosen])
  return { ids, unloaded, wasUsed, toggle, extend, clear }
}

/** Those of the deals which the board still has, though their cards are not loaded; null: not known yet. */
function useUnloaded(board: BoardData, request: BoardRequest, missing: readonly number[]): Chosen | null {
  const isAsked = missing.length > 0 && missing.length <= unloadedMax
  const { data, isFetching } = useQuery({ ...unloadedQuery(request, missing), enabled: isAsked })
  return useMemo(() => {
    if (missing.length === 0) return none
    if (!isAsked || !data || isFetching) return null
    const isOnBoard = ({ pipeline_stage }: Deal) => board.columns.some(({ id }) => id === pipeline_stage)
    return new Map(data.filter(isOnBoard).map(deal => [deal.id, deal]))
  }, [board.columns, missing, isAsked, data, isFetching])
}

function cardOf(board: BoardData, id: number): Deal | undefined {
  const place = placeOf(board, id)
  return place ? board.columns[place.column]!.cards[place.row] : undefined
}
