/** The menu of a record: edit, duplicate, delete. */
import { useQuery } from '@tanstack/react-query'
import { Copy, Ellipsis, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { refresh, stagesQuery } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import { openNew } from '../../shell/new-record.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { copyOf } from '../editing/deal-rules.ts'
import { EditDialog } from '../editing/edit-dialog.tsx'
import { remove, restore } from '../editing/write.ts'
import type { ShownRecord } from './use-record.ts'

async function bringBack({ resource, record }: ShownRecord): Promise<void> {
  try {
    await restore(resource, record)
    await refresh(resource)
    toast(`Restored “${nameOf(record)}”.`, { isNews: true })
  } catch (error) {
    toastError(errorMessage(error))
  }
}

/** A deleted record has none; but its form stays open if a colleague deletes it meanwhile. */
export function RecordActions({ shown, onDeleted }: { shown: ShownRecord; onDeleted: () => void }) {
  const { resource, record, fields } = shown
  const reason = useReadOnlyReason(resource)
  const { data: stages = [] } = useQuery({ ...stagesQuery, enabled: resource === 'deal' })
  const [isEditing, setEditing] = useState(false)
  const discard = async () => {
    try {
      await remove(resource, record)
      onDeleted()
      void refresh(resource)
      toast(`Deleted “${nameOf(record)}”.`, { action: { label: 'Undo', act: () => void bringBack(shown) } })
    } catch (error) {
      toastError(errorMessage(error))
    }
  }
  const isDisabled = reason !== undefined
  const copy: MenuEntry = {
    id: 'copy',
    label: 'Duplicate',
    icon: <Copy size={14} aria-hidden />,
    isDisabled,
    act: () => openNew(resource, copyOf(record, fields, stages)),
  }
  const edit: MenuEntry = {
    id: 'edit',
    label: 'Edit all fields',
    icon: <Pencil size={14} aria-hidden />,
    isDisabled,
    act: () => setEditing(true),
  }
  const entries: MenuEntry[] = [
    edit,
    ...(resource === 'deal' ? [copy] : []),
    {
      id: 'delete',
      label: 'Delete',
      detail: reason,
      icon: <Trash2 size={14} aria-hidden />,
      isDanger: true,
      isDisabled,
      act: () => void discard(),
    },
  ]
  return (
    <>
      {!record.deleted_at && (
        <Menu label="Actions" groups={[{ title: 'Actions', entries }]}>
          <IconButton label="Actions">
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        </Menu>
      )}
      {isEditing && <EditDialog shown={shown} onClose={() => setEditing(false)} />}
    </>
  )
}

export function DeletedBanner({ shown }: { shown: ShownRecord }) {
  const reason = useReadOnlyReason(shown.resource)
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2 text-warn"
    >
      <span className="grow">This record was deleted. It can be restored for some time.</span>
      <Button isSmall reason={reason} onPress={() => void bringBack(shown)}>
        <RotateCcw size={13} aria-hidden /> Restore
      </Button>
    </div>
  )
}
