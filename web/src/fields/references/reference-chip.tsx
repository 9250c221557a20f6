/** The chip of a related record, by its name, with a button that removes it. */
import type { Field } from '../../api/api.ts'
import type { NamesOf } from '../kind.ts'
import { RemovableChip } from '../removable-chip.tsx'
import { useReferenceName } from './reference-name.ts'

export function ReferenceChip(props: {
  value: number | string
  field: Field
  names: NamesOf
  onRemove: () => void
}) {
  const { value, field, names, onRemove } = props
  const name = useReferenceName(field, value, names)
  return (
    <RemovableChip name={name} onRemove={onRemove}>
      <bdi className="truncate">{name}</bdi>
    </RemovableChip>
  )
}
