/** Chooses and orders the columns of a table. */
import { ArrowDown, ArrowUp, Columns3 } from 'lucide-react'
import { useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import type { Field } from '../../api/api.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox, TextField } from '../../ui/inputs.tsx'
import { Popover } from '../../ui/menu.tsx'
import { type Column, shifted, toggled } from './columns.ts'

type Props = {
  fields: readonly Field[]
  columns: readonly Column[]
  onChange: (columns: readonly Column[]) => void
  /** restores the default columns */
  onReset: () => void
}

export function ColumnsMenu({ fields, columns, onChange, onReset }: Props) {
  const [text, setText] = useState('')
  const named = (field: Field) =>
    field.field_name.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase())
  const byName = new Map(fields.map(field => [field.internal_name, field]))
  const shown = columns.flatMap(({ field }) => byName.get(field) ?? [])
  const hidden = fields.filter(field => !shown.includes(field))
  const box = (field: Field, isShown: boolean) => (
    <Checkbox
      label={field.field_name}
      className="min-w-0 grow"
      checked={isShown}
      disabled={isShown && shown.length === 1}
      onChange={() => onChange(toggled(columns, field.internal_name))}
    />
  )
  return (
    <DialogTrigger>
      <Button variant="quiet" isSmall className="max-sm:hidden">
        <Columns3 size={14} aria-hidden />
        Columns
      </Button>
      <Popover placement="bottom end" className="w-72 max-w-[calc(100vw-16px)]">
        <Dialog aria-label="Columns" className="flex max-h-[60vh] flex-col gap-1 p-2 outline-none">
          <TextField
            label="Find a column"
            isLabelHidden
            placeholder="Find a column…"
            value={text}
            onChange={setText}
          />
          <div className="min-h-0 overflow-auto">
            {shown.filter(named).map(field => (
              <div key={field.internal_name} className="flex items-center">
                {box(field, true)}
                {[-1, 1].map(by => (
                  <IconButton
                    key={by}
                    label={`${field.field_name} ${by < 0 ? 'up' : 'down'}`}
                    className="size-6!"
                    onPress={() => onChange(shifted(columns, field.internal_name, by))}
                  >
                    {by < 0 ? <ArrowUp size={13} aria-hidden /> : <ArrowDown size={13} aria-hidden />}
                  </IconButton>
                ))}
              </div>
            ))}
            <p className="pt-2 text-xs font-medium text-ink-faint">Not shown</p>
            {hidden.filter(named).map(field => (
              <div key={field.internal_name} className="flex">
                {box(field, false)}
              </div>
            ))}
          </div>
          <Button variant="quiet" isSmall className="self-start" onPress={onReset}>
            Reset columns
          </Button>
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}
