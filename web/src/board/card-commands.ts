/** What can be done with the card that the keys have reached: in the palette, by keys, on the key sheet. */
import { useMemo } from 'react'
import { type Command, useCommands } from '../shell/commands.ts'
import type { Column, Deal } from './model.ts'

type Asked = {
  deal: Deal | undefined
  columns: readonly Column[]
  /** why nothing can be changed */
  reason: string | undefined
  onMove: (deal: number, stage: number) => void
  onMenu: (deal: number) => void
  onOpen: (deal: number) => void
}

export function useCardCommands({ deal, columns, reason, onMove, onMenu, onOpen }: Asked): void {
  const won = columns.find(({ kind }) => kind === 2)?.id
  const lost = columns.find(({ kind }) => kind === 3)?.id
  const commands = useMemo((): Command[] => {
    if (!deal) return []
    const group = `“${deal.title}”`
    const open: Command = { id: 'card-open', title: 'Open', group, act: () => onOpen(deal.id) }
    if (reason) return [open]
    // The board hears these keys itself.
    const onBoard = { group: 'Board', isHidden: true, act: () => {} }
    const stages = columns.map(
      ({ id, name }): Command => ({
        id: `move${id}`,
        title: `Move to ${name}`,
        group,
        ...(id === won ? { keys: 'w' } : id === lost ? { keys: 'x' } : {}),
        act: () => onMove(deal.id, id),
      }),
    )
    return [
      { id: 'card-menu', title: 'Actions of the card', group, keys: 'm', act: () => onMenu(deal.id) },
      open,
      { id: 'card-left', title: 'One stage back', keys: 'shift+ArrowLeft', ...onBoard },
      { id: 'card-right', title: 'One stage on', keys: 'shift+ArrowRight', ...onBoard },
      { id: 'card-select', title: 'Select the card', keys: 'Space', ...onBoard },
      ...stages,
    ]
  }, [deal, columns, won, lost, onMove, onMenu, onOpen, reason])
  useCommands(commands)
}
