/** Chooses the field by which the rows of a table are grouped, and collapses or opens all groups. */
import { Group as GroupIcon } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Field } from '../../api/api.ts'
import { useCommands } from '../../shell/commands.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuGroup } from '../../ui/menu.tsx'
import { isGroupable } from './groupable.ts'
import type { Collapsed, Grouping } from './grouping.ts'

export function GroupMenu(props: {
  fields: readonly Field[]
  grouping: Grouping | null
  collapsed: Collapsed
  /** undefined: no groups */
  onGroup: (field: string | undefined) => void
  onCollapse: (collapsed: Collapsed) => void
}) {
  const { fields, grouping, onGroup, onCollapse } = props
  const [isOpen, setOpen] = useState(false)
  const commands = useMemo(
    () => [{ id: 'group', title: 'Group', group: 'List', act: () => setOpen(true) }],
    [],
  )
  useCommands(commands)
  const choices = fields.filter(isGroupable).map(field => ({
    id: field.internal_name,
    label: field.field_name,
    isChecked: grouping?.field === field,
    act: () => onGroup(field.internal_name),
  }))
  const ofAll = (id: string, label: string, isAll: boolean) => ({
    id,
    label,
    act: () => onCollapse({ isAll, keys: new Set() }),
  })
  const groups: MenuGroup[] = [
    ...(grouping
      ? [
          {
            title: 'Groups',
            entries: [ofAll('close', 'Collapse all', true), ofAll('open', 'Open all', false)],
          },
        ]
      : []),
    {
      title: 'Group by',
      entries: [
        { id: '', label: 'Nothing', isChecked: grouping === null, act: () => onGroup(undefined) },
        ...choices,
      ],
    },
  ]
  return (
    <Menu label="Group" groups={groups} isOpen={isOpen} onOpenChange={setOpen}>
      <Button variant="quiet" isSmall className="max-w-48">
        <GroupIcon size={14} aria-hidden />
        <span className="truncate">{grouping ? `Group: ${grouping.field.field_name}` : 'Group'}</span>
      </Button>
    </Menu>
  )
}
