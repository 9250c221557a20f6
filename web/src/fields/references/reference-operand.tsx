/** References in a filter: one, or several as chips. */
import { useState } from 'react'
import { keepFocus } from '../../ui/keys.ts'
import type { OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { joinList, splitList } from '../operand-list.ts'
import { Picker } from './picker.tsx'
import { ReferenceChip } from './reference-chip.tsx'
import { sourceOf, useReferenceName } from './reference-name.ts'

const idOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : text)

function OneReference({ value, onChange, field, label }: OperandProps) {
  const shown = useReferenceName(field, idOf(value), null)
  return (
    <Picker
      resource={sourceOf(field)}
      label={label}
      shown={value === '' ? '' : shown}
      onPick={found => onChange(String(found.id))}
      onText={onChange}
    />
  )
}

function ManyReferences({ value, onChange, field, label }: OperandProps) {
  /** the last of the texts, while it is in the box: a name that the service looks up (D75) */
  const [typed, setTyped] = useState('')
  const texts = splitList(value).filter(Boolean)
  const chosen = typed ? texts.slice(0, -1) : texts
  return (
    <div ref={keepFocus} className="flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap gap-1 empty:hidden">
        {chosen.map(one => (
          <ReferenceChip
            key={one}
            value={idOf(one)}
            field={field}
            names={null}
            onRemove={() => onChange(joinList(chosen.filter(other => other !== one)))}
          />
        ))}
      </div>
      <Picker
        resource={sourceOf(field)}
        label={label}
        shown=""
        placeholder="Add…"
        without={chosen.map(idOf)}
        onText={text => onChange(joinList([...chosen, text].filter(Boolean)))}
        onPending={setTyped}
        onPick={found => onChange(joinList([...chosen, String(found.id)]))}
      />
    </div>
  )
}

export const ReferenceOperand = operandOf(OneReference, ManyReferences)
