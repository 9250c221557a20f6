/** The commands of the calendar: in the palette, by keys, on the key sheet. */
import { useEffectEvent, useMemo } from 'react'
import { type Command, keyHints, useCommands } from '../shell/commands.ts'
import type { View } from './days.ts'

type Acts = {
  /** why nothing may be changed */
  reason: string | undefined
  onToday: () => void
  onView: (view: View) => void
  goBy: (by: 1 | -1) => void
  add: () => void
  /** asks where the focused entry goes */
  ask: () => void
}

const group = 'Calendar'
const toRead = keyHints(group, [
  ['Day or entry beside', 'ArrowLeft / ArrowRight'],
  ['Entry above or below', 'ArrowUp / ArrowDown'],
  ['Open', 'Enter'],
])
const toWrite = keyHints(group, [
  ['Move by a day', 'shift+ArrowLeft / shift+ArrowRight'],
  ['Move by a quarter of an hour, in a month by a week', 'shift+ArrowUp / shift+ArrowDown'],
])

export function useCalendarCommands({ reason, onToday, onView, goBy, add, ask }: Acts): void {
  const today = useEffectEvent(onToday)
  const show = useEffectEvent(onView)
  const by = useEffectEvent(goBy)
  const create = useEffectEvent(add)
  const move = useEffectEvent(ask)
  const commands = useMemo((): readonly Command[] => {
    const read: Command[] = [
      { id: 'calendar-today', title: 'Today', group, keys: 't', act: () => today() },
      { id: 'calendar-week', title: 'Week', group, keys: 'w', act: () => show('week') },
      { id: 'calendar-month', title: 'Month', group, keys: 'm', act: () => show('month') },
      { id: 'calendar-next', title: 'Next week or month', group, keys: 'j', act: () => by(1) },
      { id: 'calendar-before', title: 'Previous week or month', group, keys: 'k', act: () => by(-1) },
      ...toRead,
    ]
    if (reason) return read
    return [
      { id: 'calendar-new', title: 'New activity on this day', group, keys: 'n', act: () => create() },
      {
        ...{ id: 'calendar-move', title: 'Move to a day and a time', group, keys: 'e' },
        ...{ isHidden: true, act: () => move() },
      },
      ...read,
      ...toWrite,
    ]
  }, [reason])
  useCommands(commands)
}
