/** Creates or edits a condition: field, a part of it, the operator in words, and its operands. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Condition, type Operator, takesList, unprintable } from '../../../client/src/filter.ts'
import type { Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { kindOf } from '../fields/kinds.ts'
import { useFormat } from '../format/use-format.tsx'
import { Button } from '../ui/button.tsx'
import { Select, TextField } from '../ui/inputs.tsx'
import { keepFocus } from '../ui/keys.ts'
import { anyMember, memberLabel, resolvePath } from './field-path.ts'
import { FieldPicker } from './field-picker.tsx'
import { asksPresence } from './filter.ts'
import { Operands, wrongOperand } from './operands.tsx'
import { operatorLabel } from './operator-text.ts'
import { useFields } from './use-fields.ts'

type Props = {
  source: string
  /** null: a new one */
  condition: Condition | null
  onDone: (condition: Condition) => void
  onRemove?: (() => void) | undefined
  /** turns it into an or-group, as it is typed */
  onOr?: ((condition: Condition) => void) | undefined
}

export function ConditionEditor({ source, condition, onDone, onRemove, onOr }: Props) {
  const fields = useFields(source)
  const [draft, setDraft] = useState(condition)
  const [error, setError] = useState<string>()
  const format = useFormat()
  const name = draft?.field.split('.')[0]
  const field = fields.find(({ internal_name }) => internal_name === name)
  const relatedSource = field?.related_field?.source
  const related = useQuery({ ...fieldsQuery(relatedSource ?? ''), enabled: relatedSource !== undefined })
  if (!draft || !field)
    return (
      <FieldPicker
        label="Field to filter by"
        fields={fields.filter(({ is_filterable }) => is_filterable)}
        onPick={picked => setDraft(initialCondition(picked))}
      />
    )
  const others = related.data?.flat() ?? []
  const resolved = resolvePath(draft.field, fields, () => others)
  const change = (changes: Partial<Condition>) => {
    setError(undefined)
    setDraft({ ...draft, ...changes })
  }
  const takePart = (part: string) => {
    const path = part ? `${field.internal_name}.${part}` : field.internal_name
    const next = resolvePath(path, fields, () => others)
    const operator = next?.operators.includes(draft.operator) ? draft.operator : next?.operators[0]
    change({ field: path, operator: operator ?? 'eq', values: operandsFor(operator ?? 'eq', []) })
  }
  const finish = (take: (condition: Condition) => void) => {
    const wrong =
      draft.values.some(value => value === '') || draft.values.length === 0
        ? 'Enter a value.'
        : (wrongOperand(draft, resolved, format) ?? unprintable(draft))
    if (wrong) setError(wrong)
    else take(draft)
  }
  const isTime = kindOf(resolved?.field ?? field).isTime === true
  const label = resolved?.label ?? field.field_name
  const hasParts = (field.members?.length ?? 0) > 0 || relatedSource !== undefined
  return (
    <form
      ref={keepFocus}
      className="flex w-72 max-w-full flex-col gap-2 p-2"
      onSubmit={event => {
        event.preventDefault()
        event.stopPropagation()
        finish(onDone)
      }}
    >
      <div className="flex items-center gap-2">
        <strong className="min-w-0 grow truncate" dir="auto">
          {label}
        </strong>
        <Button variant="quiet" isSmall onPress={() => setDraft(null)}>
          Other field
        </Button>
      </div>
      {hasParts && <PartSelect field={field} others={others} path={draft.field} onChange={takePart} />}
      <Select
        label="Operator"
        isLabelHidden
        autoFocus
        value={draft.operator}
        choices={(resolved?.operators ?? [draft.operator]).map(one => ({
          id: one,
          name: operatorLabel(one, isTime),
        }))}
        onChange={operator =>
          change({
            operator: operator as Operator,
            values: operandsFor(operator as Operator, draft.values),
          })
        }
      />
      {!asksPresence(draft.operator) && (
        <Operands
          {...{ draft, label }}
          field={resolved?.field ?? field}
          member={resolved?.member ?? ''}
          onChange={values => change({ values })}
        />
      )}
      {error && (
        <p role="alert" className="text-sm text-lost">
          {error}
        </p>
      )}
      <div className="mt-1 flex justify-end gap-2">
        {onOr && (
          <Button variant="quiet" onPress={() => finish(onOr)}>
            Or…
          </Button>
        )}
        {onRemove && (
          <Button variant="quiet" onPress={onRemove}>
            Remove
          </Button>
        )}
        <Button variant="primary" type="submit">
          Apply
        </Button>
      </div>
    </form>
  )
}

function initialCondition(field: Field): Condition {
  const preferred: readonly Operator[] = ['like', 'eq']
  const member = field.operators.includes('eq') ? '' : (field.members?.[0]?.name ?? '')
  const known = member ? field.members![0]!.operators : field.operators
  const operator = preferred.find(one => known.includes(one)) ?? known[0]!
  const path = member && member !== anyMember ? `${field.internal_name}.${member}` : field.internal_name
  return { type: 'condition', field: path, operator, values: operandsFor(operator, []) }
}

/** The operands, cut or padded to the number that the operator takes. */
function operandsFor(operator: Operator, values: readonly string[]): readonly string[] {
  if (asksPresence(operator)) return ['true']
  const kept = values[0] === 'true' ? [] : values
  if (operator === 'between') return [kept[0] ?? '', kept[1] ?? '']
  return takesList(operator) ? (kept.length ? kept : ['']) : [kept[0] ?? '']
}

/** The field itself, a member of it, or a field of the record it points to. */
function PartSelect(props: {
  field: Field
  others: readonly Field[]
  path: string
  onChange: (part: string) => void
}) {
  const { field, others, path, onChange } = props
  const part = path.slice(field.internal_name.length + 1)
  const isAny = field.members?.some(({ name }) => name === anyMember)
  if (isAny)
    return <TextField label="Path inside" placeholder="such as notes.from" value={part} onChange={onChange} />
  const choices = [
    ...(field.members ?? []).map(({ name }) => ({ id: name, name: memberLabel(field, name) })),
    ...others
      .filter(({ is_filterable, is_active }) => is_filterable && is_active)
      .flatMap(inner => [
        { id: inner.internal_name, name: inner.field_name },
        ...(inner.members ?? [])
          .filter(({ name }) => name !== anyMember)
          .map(({ name }) => ({
            id: `${inner.internal_name}.${name}`,
            name: `${inner.field_name} › ${memberLabel(inner, name)}`,
          })),
      ]),
  ]
  return (
    <Select
      label={`Part of ${field.field_name}`}
      isLabelHidden
      value={part}
      none={field.field_name}
      choices={choices}
      onChange={id => onChange(id ?? '')}
    />
  )
}
