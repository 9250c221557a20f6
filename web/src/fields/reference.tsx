/** COMPANY, CONTACT, DEAL, TERRITORY: one related record, by its id (D11). */
import { useState } from 'react'
import type { Field, Named } from '../api/api.ts'
import { Labelled } from '../ui/inputs.tsx'
import { type Found, useName } from './found.ts'
import type { InputProps, Kind, NamesOf, OperandProps } from './kind.ts'
import { operandOf, TextOperand } from './operand.tsx'
import { Picker } from './picker.tsx'

/** An id; a name, which the service looks up (D75). */
type Reference = number | string

const namedBy = (names: NamesOf, id: unknown): Named | undefined =>
  (Array.isArray(names) ? (names as readonly Named[]) : names ? [names as Named] : []).find(
    one => one.id === id,
  )

export const sourceOf = (field: Field): string => field.related_field?.source ?? ''

/** The name of the record that a value points to. */
export function useReferenceName(field: Field, value: unknown, names: NamesOf): string {
  const id = typeof value === 'number' ? value : null
  const name = useName(sourceOf(field), id, namedBy(names, id))
  return id === null ? String(value ?? '') : (name ?? '')
}

function Looked({ value, field }: { value: Reference; field: Field }) {
  return <bdi>{useReferenceName(field, value, null)}</bdi>
}

export function ReferenceCell(props: { value: Reference; field: Field; names: NamesOf }) {
  const { value, field, names } = props
  const told = namedBy(names, value)
  return told ? <bdi>{told.name ?? `No. ${value}`}</bdi> : <Looked value={value} field={field} />
}

/** The input of a reference. `onCreate` offers to create what was typed. */
export function ReferenceInput(props: InputProps<Reference> & { onCreate?: (text: string) => void }) {
  const { value, onChange, field, label, isBare, error, names, autoFocus, onCreate } = props
  const [picked, setPicked] = useState<Found | null>(null)
  const shown = useReferenceName(field, value, picked?.id === value ? picked : names)
  return (
    <Labelled {...{ label, isBare, error }} isRequired={field.is_required}>
      {wiring => (
        <Picker
          resource={sourceOf(field)}
          label={label}
          wiring={wiring}
          shown={value === null ? '' : shown}
          autoFocus={autoFocus}
          onPick={found => {
            setPicked(found)
            onChange(found.id)
          }}
          onClear={() => onChange(null)}
          onCreate={onCreate}
        />
      )}
    </Labelled>
  )
}

function OneReference({ value, onChange, field, label }: OperandProps) {
  const id = /^\d+$/.test(value) ? Number(value) : value
  const shown = useReferenceName(field, id, null)
  return (
    <Picker
      resource={sourceOf(field)}
      label={label}
      shown={value === '' ? '' : shown}
      onPick={found => onChange(String(found.id))}
      onClear={() => onChange('')}
    />
  )
}

export const ReferenceOperand = operandOf(OneReference, TextOperand)

export const readReference = (typed: string): Reference | null => {
  const text = typed.trim()
  return text === '' ? null : /^\d{1,15}$/.test(text) ? Number(text) : text
}

export const textOfReference = (value: unknown, names: NamesOf): string =>
  typeof value === 'string' ? value : (namedBy(names, value)?.name ?? `${value}`)

export const reference: Kind<Reference> = {
  Cell: ReferenceCell,
  Input: ReferenceInput,
  Operand: ReferenceOperand,
  text: textOfReference,
  parse: readReference,
  width: 180,
}
