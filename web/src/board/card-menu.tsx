/** The menu of a card, for all that dragging does: one for all cards, next to its card. */
import { type LogKind, logKinds } from '../activities/kinds.ts'
import { closingWord } from '../api/stage-kind.ts'
import { type MenuGroup, MenuList, Popover } from '../ui/menu.tsx'
import type { Column } from './model.ts'

type Props = {
  anchor: HTMLElement
  stages: readonly Column[]
  /** the stage that the deal is in */
  current: number | undefined
  /** reason why nothing can be changed */
  mayNot: string | undefined
  /** reason why no card can be moved */
  reason: string | undefined
  isSelected: boolean
  /** number of selected cards; they move together */
  selectedCount: number
  onMove: (stage: number) => void
  onOpen: () => void
  onEdit: () => void
  onSelect: () => void
  /** absent if the user may not log activities */
  onLog: ((kind: LogKind) => void) | undefined
  onPlan: () => void
  onClose: () => void
}

export function CardMenu(props: Props) {
  const { anchor, stages, current, mayNot, reason, isSelected, selectedCount } = props
  const { onMove, onOpen, onEdit, onSelect, onLog, onPlan, onClose } = props
  const isOfMany = isSelected && selectedCount > 1
  const run = (act: () => void) => () => {
    onClose()
    // After the menu has restored the focus.
    setTimeout(act)
  }
  const activities = (log: (kind: LogKind) => void) => [
    ...logKinds.map(({ id, title }) => ({ id: `log${id}`, label: title, act: run(() => log(id)) })),
    { id: 'plan', label: 'Plan an activity', act: run(onPlan) },
  ]
  const groups: MenuGroup[] = [
    {
      title: 'Deal',
      entries: [
        { id: 'open', label: 'Open', act: run(onOpen) },
        { id: 'edit', label: 'Edit', isDisabled: mayNot !== undefined, act: run(onEdit) },
        // Without keys and a pointer that hovers this is the way to select many.
        { id: 'select', label: isSelected ? 'Deselect' : 'Select', act: run(onSelect) },
      ],
    },
    ...(onLog ? [{ title: 'Activities', entries: activities(onLog) }] : []),
    {
      title: isOfMany ? `Move all ${selectedCount} to…` : 'Move to…',
      entries: stages.map(({ id, name, kind }) => ({
        id: `stage${id}`,
        label: name,
        detail: closingWord(kind),
        isChecked: id === current,
        // Others of the selected cards may be elsewhere.
        isDisabled: reason !== undefined || (id === current && !isOfMany),
        act: run(() => onMove(id)),
      })),
    },
  ]
  return (
    <Popover
      isOpen
      onOpenChange={isOpen => !isOpen && onClose()}
      triggerRef={{ current: anchor }}
      aria-label="Actions of the deal"
      placement="bottom end"
      className="min-w-52"
    >
      <MenuList label="Actions of the deal" groups={groups} autoFocus />
    </Popover>
  )
}
