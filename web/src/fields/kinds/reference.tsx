/** COMPANY, CONTACT, DEAL, TERRITORY: one related record, by its id (D11). */
import { useState } from 'react'
import type { Field } from '../../api/api.ts'
import { Labelled } from '../../ui/inputs.tsx'
import type { InputProps, Kind, NamesOf } from '../kind.ts'
import type { Match } from '../references/find-records.ts'
import { Picker } from '../references/picker.tsx'
import { namedBy, sourceOf, useReferenceName } from '../references/reference-name.ts'
import { ReferenceOperand } from '../references/reference-operand.tsx'

/** An id; a name, which the service looks up (D75). */
type Reference = number | string

function LookedUpName({ value, field }: { value: Reference; field: Field }) {
  return <bdi>{useReferenceName(field, value, null)}</bdi>
}

export function ReferenceCell(props: { value: Reference; field: Field; names: NamesOf }) {
  const { value, field, names } = props
  const known = namedBy(names, value)
  return known ? <bdi>{known.name ?? `No. ${value}`}</bdi> : <LookedUpName value={value} field={field} />
}

/** The input of a reference. `onCreate` offers to create a record of the typed name. */
export function ReferenceInput(props: InputProps<Reference> & { onCreate?: (text: string) => void }) {
  const { value, onChange, field, label, isLabelHidden, error, names, autoFocus, onCreate } = props
  const [picked, setPicked] = useState<Match | null>(null)
  const shown = useReferenceName(field, value, picked?.id === value ? picked : names)
  return (
    <Labelled {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
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
          // The service accepts a name, too, or refuses it: typed text is never lost in silence.
          onText={text => onChange(readReference(text))}
          onCreate={onCreate}
        />
      )}
    </Labelled>
  )
}

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
  groups: 'value',
  width: 180,
}
