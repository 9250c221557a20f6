/** Adds a field of the account's own: its type in plain words, with a preview that can be tried. */
import { useState } from 'react'
import { callApi, type Field } from '../../api/api.ts'
import { type CustomType, customTypes, draftField, optionsMax, typeInfo } from '../../fields/custom-types.ts'
import { kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextArea, TextField } from '../../ui/inputs.tsx'
import { DialogForm } from '../dialogs.tsx'
import { useSaving } from '../saving.ts'
import { type FieldDraft, FieldRules, Preview } from './field-parts.tsx'
import { changedConfig } from './limits.ts'

const fields = [
  'field_name',
  'type',
  'options',
  'section',
  'is_required',
  'is_unique',
  'config',
  'default_value',
]
const empty: FieldDraft = {
  field_name: '',
  is_required: false,
  is_unique: false,
  case_sensitive: false,
  config: {},
  default_value: null,
}

export function NewFieldDialog(props: {
  source: string
  sections: readonly (readonly Field[])[]
  /** the column of a file for which it is created */
  ofColumn?: {
    readonly label: string
    readonly type: CustomType
    readonly options: readonly string[]
    /** True if it has the ids of the records in another system, which are unique */
    readonly isKey: boolean
  }
  onCreated?: (field: Field) => void
  onClose: () => void
}) {
  const { source, sections, ofColumn, onCreated, onClose } = props
  const { locale } = useFormat()
  const titles = [...new Set(sections.flatMap(part => part[0]?.section ?? []))]
  const [type, setType] = useState<CustomType>(ofColumn?.type ?? 'SINGLE_STRING')
  const [draft, setDraft] = useState({
    ...{ ...empty, field_name: ofColumn?.label ?? '' },
    ...{ is_unique: ofColumn?.isKey ?? false, case_sensitive: ofColumn?.isKey ?? false },
  })
  const [lines, setLines] = useState(ofColumn?.options.join('\n') ?? '')
  const [section, setSection] = useState(titles.includes('Custom fields') ? 'Custom fields' : titles.at(-1))
  const { problems, isBusy, save } = useSaving(fields)
  const options = lines
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
  const field = draftField(type, draft.field_name, options)
  const { hasOptions } = typeInfo(field)
  const types = customTypes.filter(({ isRange }) => !ofColumn || !isRange)
  const change = (changes: Partial<FieldDraft>) => setDraft(before => ({ ...before, ...changes }))
  const make = () => {
    const { default_value: value } = draft
    // An option of a new field has no id yet: it is named.
    const named = (id: unknown) => (hasOptions ? (options[Number(id) - 1] ?? id) : id)
    const sent = Array.isArray(value) && hasOptions ? value.map(named) : named(value)
    const written = value === null || hasOptions ? sent : (kindOf(field).write?.(value) ?? value)
    return callApi<Field>('POST', '/field', {
      body: {
        source,
        type,
        field_name: draft.field_name,
        section,
        is_required: draft.is_required,
        is_unique: draft.is_unique,
        ...changedConfig({}, draft, locale),
        ...(value === null ? {} : { default_value: written }),
        ...(hasOptions ? { options } : {}),
      },
    })
  }
  const message = `Added the field “${draft.field_name}”: it is in forms, tables and filters now`
  const add = async () => {
    let made: Field | undefined
    const act = async () => {
      made = await make()
    }
    if (!(await save(act, message))) return
    onClose()
    if (made) onCreated?.(made)
  }
  return (
    <Dialog title="Add a field" isOpen onClose={onClose} width="wide">
      <DialogForm
        action="Add the field"
        draft={[type, draft, lines, section]}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={() => void add()}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Label"
            isRequired
            autoFocus
            value={draft.field_name}
            onChange={field_name => change({ field_name })}
            error={problems.field_name}
          />
          <Select
            label="Section"
            value={section ?? null}
            onChange={value => setSection(value ?? undefined)}
            choices={titles.map(title => ({ id: title, name: title }))}
            error={problems.section}
          />
          <Select
            label="Field type"
            value={type}
            onChange={value => {
              setType(value as CustomType)
              change({ default_value: null, config: {}, is_unique: false, case_sensitive: false })
            }}
            choices={types.map(one => ({ id: one.type, name: one.name }))}
            error={problems.type}
            hint={`${typeInfo(field).about} It can’t be changed later.`}
          />
          {hasOptions && (
            <TextArea
              label="Options, one a line"
              value={lines}
              onChange={setLines}
              error={problems.options}
              hint={`At most ${optionsMax}. They can be changed later.`}
            />
          )}
        </div>
        <FieldRules key={type} field={field} draft={draft} problems={problems} onChange={change} />
        <Preview key={`preview ${type}`} field={{ ...field, is_required: draft.is_required }} />
      </DialogForm>
    </Dialog>
  )
}
