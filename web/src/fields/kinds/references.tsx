/** TAGS and TERRITORIES: several related records, by their ids. */
import { type ReactNode, useState } from 'react'
import type { Field } from '../../api/api.ts'
import { Badge } from '../../ui/elements.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { Group } from '../group.tsx'
import type { InputProps, Kind } from '../kind.ts'
import type { Match } from '../references/find-records.ts'
import { Picker } from '../references/picker.tsx'
import { ReferenceChip } from '../references/reference-chip.tsx'
import { sourceOf } from '../references/reference-name.ts'
import { ReferenceOperand } from '../references/reference-operand.tsx'
import { ReferenceCell, readReference, textOfReference } from './reference.tsx'

export type Ids = readonly (number | string)[]

/** Chips, and an input to find more. */
export function ReferencesInput(
  props: InputProps<Ids> & { onCreate?: (text: string) => void; children?: ReactNode },
) {
  const { value, onChange, field, label, isLabelHidden, error, names, autoFocus, onCreate, children } = props
  const [picked, setPicked] = useState<readonly Match[]>([])
  // The service accepts a name, too, or refuses it: typed text is never lost in silence.
  const [pending, setPending] = useState('')
  const all = value ?? []
  const place = pending ? all.lastIndexOf(pending) : -1
  const ids: Ids = all.filter((_, at) => at !== place)
  const latest = useLatest(ids)
  const change = (next: Ids, text: string) => {
    latest.current = next
    setPending(text)
    onChange(text ? [...next, text] : next)
  }
  const known = [...picked, ...(Array.isArray(names) ? names : [])]
  return (
    <Group {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      {ids.length > 0 && (
        <div className="flex flex-wrap gap-1">
          {ids.map(id => (
            <ReferenceChip
              key={id}
              value={id}
              field={field}
              names={known}
              onRemove={() =>
                change(
                  ids.filter(one => one !== id),
                  pending,
                )
              }
            />
          ))}
        </div>
      )}
      {children}
      <Picker
        resource={sourceOf(field)}
        label={`Add to ${label}`}
        shown=""
        placeholder="Add…"
        without={ids}
        autoFocus={autoFocus}
        onPick={found => {
          setPicked(now => [...now, found])
          change([...latest.current, found.id], '')
        }}
        onPending={text => text !== pending && change(latest.current, text)}
        onCreate={onCreate}
      />
    </Group>
  )
}

export const readReferences = (typed: string): Ids =>
  typed
    .split(/[,;\n]/)
    .map(readReference)
    .filter(one => one !== null)

export function checkCount(value: readonly unknown[], { config: { max_limit } }: Field): string | undefined {
  return max_limit !== undefined && value.length > max_limit
    ? `Must have at most ${max_limit} entries.`
    : undefined
}

export const references: Kind<Ids> = {
  Cell: ({ value, field, names }) =>
    value.length === 0 ? (
      <span className="text-ink-faint">—</span>
    ) : (
      <span className="inline-flex max-w-full flex-wrap gap-1">
        {value.map(id => (
          <Badge key={id} variant="accent">
            <ReferenceCell value={id} field={field} names={names} />
          </Badge>
        ))}
      </span>
    ),
  Input: ReferencesInput,
  Operand: ReferenceOperand,
  text: (value, names) => value.map(id => textOfReference(id, names)).join(', '),
  parse: readReferences,
  check: checkCount,
  width: 180,
}
