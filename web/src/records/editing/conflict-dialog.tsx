/** Resolves an edit conflict: the user chooses the value of each field that both sides have changed. */
import { useId, useState } from 'react'
import type { AnyRecord, Field, Names } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Button, Cancel } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { namesOf } from '../record/use-record.ts'
import { type EditConflict, isEmpty, type Values } from './draft.ts'

type Side = 'yours' | 'theirs'

export function ConflictDialog(props: {
  conflict: EditConflict
  values: Values
  fields: readonly Field[]
  base: AnyRecord
  /** gets the values that are still to be saved, or null */
  onAnswer: (kept: Values | null) => void
}) {
  const { conflict, values, fields, base, onAnswer } = props
  const [sides, setSides] = useState<{ readonly [field: string]: Side }>({})
  const shown = conflict.fields
    .map(name => fields.find(({ internal_name }) => internal_name === name))
    .filter(field => field !== undefined)
  const sideOf = (name: string): Side => sides[name] ?? 'yours'
  const keep = () => {
    const kept = Object.entries(values).filter(
      ([name]) => !conflict.fields.includes(name) || sideOf(name) === 'yours',
    )
    onAnswer(Object.fromEntries(kept))
  }
  return (
    <Dialog
      title="Somebody else has changed this"
      detail="Your change is not saved yet. Choose what to keep."
      isOpen
      onClose={() => onAnswer(null)}
      width="wide"
      role="alertdialog"
    >
      <div className="flex flex-col gap-4">
        {shown.map(field => {
          const name = field.internal_name
          return (
            <fieldset key={name} className="min-w-0">
              <legend className="mb-1 font-medium">
                {field.field_name}
                <span className="font-normal text-ink-faint">
                  {' '}
                  · before: <Value field={field} value={base[name]} names={namesOf(base)} />
                </span>
              </legend>
              <div className="grid gap-2 sm:grid-cols-2">
                {(['yours', 'theirs'] as const).map(side => (
                  <Choice
                    key={side}
                    label={side === 'yours' ? 'Yours' : 'Theirs'}
                    name={name}
                    isChosen={sideOf(name) === side}
                    onChoose={() => setSides({ ...sides, [name]: side })}
                  >
                    <Whole
                      field={field}
                      value={side === 'yours' ? values[name] : conflict.theirs[name]}
                      names={side === 'yours' ? {} : namesOf(conflict.theirs)}
                    />
                  </Choice>
                ))}
              </div>
            </fieldset>
          )
        })}
      </div>
      <DialogActions>
        <Cancel onPress={() => onAnswer(null)} />
        <Button variant="primary" onPress={keep}>
          Save choices
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function Choice(props: {
  label: string
  /** of the field */
  name: string
  isChosen: boolean
  onChoose: () => void
  children: React.ReactNode
}) {
  const { label, name, isChosen, onChoose, children } = props
  const id = useId()
  return (
    <label
      className="flex min-w-0 gap-2 rounded-md border border-line p-2.5 has-checked:border-accent
        has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
    >
      <input
        type="radio"
        name={`keep-${name}`}
        aria-labelledby={id}
        checked={isChosen}
        onChange={onChoose}
        className="mt-0.5 accent-accent"
      />
      <span id={id} className="min-w-0">
        <span className="block text-sm text-ink-soft">{label}</span>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
        <span tabIndex={0} className="block max-h-60 overflow-auto break-words">
          {children}
        </span>
      </span>
    </label>
  )
}

/** A cell is short: both sides might look the same. Only records are shown by it, which have names. */
function Whole({ field, value, names }: { field: Field; value: unknown; names: Names }) {
  const format = useFormat()
  const { display, text } = kindOf(field)
  if (isEmpty(value) || field.related_field) return <Value {...{ field, value, names }} />
  const write = display ?? text
  return (
    <span className="whitespace-pre-wrap" dir="auto">
      {write(value, names[field.internal_name], format, field)}
    </span>
  )
}

function Value({ field, value, names }: { field: Field; value: unknown; names: Names }) {
  const { Cell } = kindOf(field)
  if (isEmpty(value)) return <span className="text-ink-faint">empty</span>
  return <Cell value={value} field={field} names={names[field.internal_name]} />
}
