/** OWNER: a user. */
import { Avatar } from '../../ui/elements.tsx'
import type { Kind } from '../kind.ts'
import { useReferenceName } from '../references/reference-name.ts'
import { ReferenceOperand } from '../references/reference-operand.tsx'
import { ReferenceInput, readReference, textOfReference } from './reference.tsx'

export const owner: Kind<number | string> = {
  Cell: function OwnerCell({ value, field, names }) {
    const name = useReferenceName(field, value, names)
    return (
      <span className="inline-flex max-w-full items-center gap-1.5">
        <Avatar name={name} />
        <bdi className="truncate">{name}</bdi>
      </span>
    )
  },
  Input: ReferenceInput,
  Operand: ReferenceOperand,
  text: textOfReference,
  parse: readReference,
  groups: 'value',
  width: 160,
}
