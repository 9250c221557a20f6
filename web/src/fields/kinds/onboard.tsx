/** CONTACT_ONBOARD and COMPANY_ONBOARD: a related record, or a new one that is created with the record. */
import type { Kind } from '../kind.ts'
import { isNew, type NewRelated, newRelated, textOfNew, writeNew } from '../references/new-related.ts'
import { NewRelatedForm, newFieldsOf } from '../references/new-related-form.tsx'
import { sourceOf } from '../references/reference-name.ts'
import { ReferenceOperand } from '../references/reference-operand.tsx'
import { ReferenceCell, ReferenceInput, readReference, textOfReference } from './reference.tsx'

export const onboard: Kind<number | string | NewRelated> = {
  Cell: ({ value, ...props }) =>
    isNew(value) ? <bdi>{textOfNew(value)}</bdi> : <ReferenceCell value={value} {...props} />,
  Input: ({ value, onChange, ...props }) => {
    const resource = sourceOf(props.field)
    if (!isNew(value)) {
      return (
        <ReferenceInput
          {...props}
          value={value}
          onChange={onChange}
          onCreate={typed => onChange(newRelated(resource, typed))}
        />
      )
    }
    return (
      <NewRelatedForm
        resource={resource}
        label={props.label}
        error={props.error}
        errors={props.errors}
        value={value}
        onChange={onChange}
        onCancel={() => onChange(null)}
        onUse={found => onChange(found.id)}
      />
    )
  },
  Operand: ReferenceOperand,
  text: (value, names) => (isNew(value) ? textOfNew(value) : textOfReference(value, names)),
  parse: readReference,
  fieldsWithin: (value, field) => (isNew(value) ? newFieldsOf(sourceOf(field)) : null),
  write: value => (isNew(value) ? writeNew(value) : value),
  groups: 'value',
  width: 180,
}
