/** Parts of the forms of a field: its settings and its preview. */
import { type ReactNode, useState } from 'react'
import type { Field } from '../../api/api.ts'
import { limitNames, typeInfo } from '../../fields/custom-types.ts'
import { kindOf } from '../../fields/kinds.ts'
import { Checkbox, TextField } from '../../ui/inputs.tsx'
import type { Problems } from '../assign-problems.ts'

export type FieldDraft = {
  readonly field_name: string
  readonly is_required: boolean
  readonly is_unique: boolean
  readonly case_sensitive: boolean
  readonly config: { readonly [limit: string]: string }
  readonly default_value: unknown
}

type Props = {
  field: Field
  draft: FieldDraft
  problems: Problems
  onChange: (changes: Partial<FieldDraft>) => void
}

/** Required, unique, the limits of the type, and the default. */
export function FieldRules({ field, draft, problems, onChange }: Props) {
  const { limits = [], isUniqueable, isText } = typeInfo(field)
  const { Input } = kindOf(field)
  return (
    <>
      <div className="flex flex-wrap gap-x-6">
        <Checkbox
          label="Required"
          checked={draft.is_required}
          onChange={is_required => onChange({ is_required })}
        />
        {isUniqueable && (
          <Checkbox
            label="Unique: no two records have the same"
            checked={draft.is_unique}
            onChange={is_unique => onChange({ is_unique })}
          />
        )}
        {isText && field.is_custom && draft.is_unique && (
          <Checkbox
            label="Case matters: aB1 and ab1 are two"
            checked={draft.case_sensitive}
            onChange={case_sensitive => onChange({ case_sensitive })}
          />
        )}
      </div>
      <ProblemText text={problems.is_required} />
      <ProblemText text={problems.is_unique} />
      {limits.length > 0 && (
        <div className="grid gap-4 sm:grid-cols-2">
          {limits.map(limit => (
            <TextField
              key={limit}
              label={limitNames[limit]}
              inputMode="decimal"
              value={draft.config[limit] ?? ''}
              onChange={value => onChange({ config: { ...draft.config, [limit]: value } })}
            />
          ))}
        </div>
      )}
      <ProblemText text={problems.config} />
      <Input
        field={{ ...field, is_required: false }}
        label="Default"
        value={draft.default_value ?? null}
        onChange={default_value => onChange({ default_value })}
        error={problems.default_value}
      />
    </>
  )
}

function ProblemText({ text }: { text: string | undefined }) {
  return text ? (
    <p role="alert" className="text-sm text-lost">
      {text}
    </p>
  ) : null
}

/** A preview of the field: its input, which can be tried, and its cell in a table. */
export function Preview({ field }: { field: Field }) {
  const [value, setValue] = useState<unknown>(null)
  const { Input, Cell, check } = kindOf(field)
  return (
    <section
      aria-label="Preview"
      className="flex flex-col gap-3 rounded-md border border-line border-dashed bg-canvas p-3"
    >
      <Part title="In a form">
        <Input
          field={field}
          label={field.field_name}
          value={value}
          onChange={setValue}
          error={value === null ? undefined : check?.(value, field)}
        />
      </Part>
      <Part title="In a table">
        {value === null ? (
          <span className="text-ink-faint">Try the input.</span>
        ) : (
          <Cell value={value} field={field} names={undefined} />
        )}
      </Part>
    </section>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-xs font-medium text-ink-faint">{title}</p>
      <div className="min-w-0">{children}</div>
    </div>
  )
}
