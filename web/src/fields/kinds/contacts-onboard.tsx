/** CONTACTS_ONBOARD: several contacts, some of which may be created with the record. */
import { useLatest } from '../../ui/use-latest.ts'
import type { InputProps, Kind } from '../kind.ts'
import { isNew, type NewRelated, newRelated, textOfNew, writeNew } from '../references/new-related.ts'
import { NewRelatedForm } from '../references/new-related-form.tsx'
import { sourceOf } from '../references/reference-name.ts'
import { ReferenceOperand } from '../references/reference-operand.tsx'
import { ReferenceCell, textOfReference } from './reference.tsx'
import { checkCount, type Ids, ReferencesInput, readReferences } from './references.tsx'

type Values = readonly (number | string | NewRelated)[]

function ContactsInput({ value, onChange, ...props }: InputProps<Values>) {
  const all = value ?? []
  const latest = useLatest(all)
  const change = (next: Values) => {
    latest.current = next
    onChange(next)
  }
  /** Puts others in the place of the new contact with this number. */
  const replace = (index: number, by: Values) => {
    let nth = -1
    change(latest.current.flatMap(one => (isNew(one) && ++nth === index ? by : [one])))
  }
  const ids = all.filter(one => !isNew(one)) as Ids
  const made = all.filter(isNew)
  const resource = sourceOf(props.field)
  return (
    <ReferencesInput
      {...props}
      value={ids}
      onChange={next => change([...(next ?? []), ...latest.current.filter(isNew)])}
      onCreate={typed => change([...latest.current, newRelated(resource, typed)])}
    >
      {made.map((one, index) => (
        <NewRelatedForm
          // biome-ignore lint/suspicious/noArrayIndexKey: a new one is known by its place only
          key={index}
          resource={resource}
          label={`${props.label}, new ${index + 1}`}
          value={one}
          onChange={next => replace(index, [next])}
          onCancel={() => replace(index, [])}
          onUse={found => replace(index, [found.id])}
        />
      ))}
    </ReferencesInput>
  )
}

export const contactsOnboard: Kind<Values> = {
  Cell: ({ value, field, names }) =>
    value.length === 0 ? (
      <span className="text-ink-faint">—</span>
    ) : (
      value.map((one, index) => (
        <span key={isNew(one) ? textOfNew(one) : one}>
          {index > 0 && ', '}
          {isNew(one) ? textOfNew(one) : <ReferenceCell value={one} field={field} names={names} />}
        </span>
      ))
    ),
  Input: ContactsInput,
  Operand: ReferenceOperand,
  text: (value, names) =>
    value.map(one => (isNew(one) ? textOfNew(one) : textOfReference(one, names))).join(', '),
  parse: readReferences,
  check: checkCount,
  write: value => value.map(one => (isNew(one) ? writeNew(one) : one)),
  width: 200,
}
