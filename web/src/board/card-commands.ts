/** The commands for the active card: in the palette, by keys, on the key sheet. */
import { useMemo } from 'react'
import { aboutRecord } from '../activities/about.ts'
import { logCommands } from '../activities/log-commands.ts'
import { stageKinds } from '../api/stage-kind.ts'
import { type Command, keyHints, useCommands } from '../shell/commands.ts'
import type { Column, Deal } from './model.ts'

type CardCommandsOptions = {
  deal: Deal | undefined
  /** number of cards that move with it, itself included */
  isOneOf: number
  columns: readonly Column[]
  /** reason why nothing can be changed */
  reason: string | undefined
  /** True if the user may log activities */
  mayLog: boolean
  onMove: (deal: number, stage: number) => void
  onMenu: (deal: number) => void
  onOpen: (deal: number) => void
}

/** Keys that the board handles itself (board-events.ts). */
const keysOfCards = keyHints('Board', [
  ['Move between cards', 'ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['Move within the column, by letters', 'j k'],
  ['First or last of the column', 'Home / End'],
  ['Six cards down or up', 'PageDown / PageUp'],
  ['Open the card', 'Enter'],
  ['Select the card', 'Space'],
  ['Clear the selection', 'Escape'],
])
const keysOfMoves = keyHints('Board', [
  ['Move to the previous or next stage', 'shift+ArrowLeft / shift+ArrowRight'],
])

export function useCardCommands({
  deal,
  isOneOf,
  columns,
  reason,
  mayLog,
  onMove,
  onMenu,
  onOpen,
}: CardCommandsOptions): void {
  const won = columns.find(({ kind }) => kind === stageKinds.won)?.id
  const lost = columns.find(({ kind }) => kind === stageKinds.lost)?.id
  const commands = useMemo((): Command[] => {
    if (!deal) return []
    const group = `“${deal.title}”`
    const open: Command = { id: 'card-open', title: 'Open', group, act: () => onOpen(deal.id) }
    const keys: { readonly [kind: string]: string } = { Call: 'l', Note: 'n' }
    const log = mayLog
      ? logCommands(
          group,
          () => aboutRecord('deal', deal),
          kind => keys[kind],
        )
      : []
    if (reason) return [open, ...log, ...keysOfCards]
    const stages = columns.map(
      ({ id, name }): Command => ({
        id: `move${id}`,
        title: isOneOf > 1 ? `Move all ${isOneOf} selected to ${name}` : `Move to ${name}`,
        group,
        ...(id === won ? { keys: 'w' } : id === lost ? { keys: 'x' } : {}),
        act: () => onMove(deal.id, id),
      }),
    )
    return [
      { id: 'card-menu', title: 'Actions of the card', group, keys: 'm', act: () => onMenu(deal.id) },
      open,
      ...log,
      ...keysOfCards,
      ...keysOfMoves,
      ...stages,
    ]
  }, [deal, isOneOf, columns, won, lost, onMove, onMenu, onOpen, reason, mayLog])
  useCommands(commands)
}
