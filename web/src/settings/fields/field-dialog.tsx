/** Changes a field: its label and its rules. Type and internal name never change (D36). */
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { callApi, type Field, UserError, VersionConflict } from '../../api/api.ts'
import { fieldsQuery, pageQuery, queryClient } from '../../api/queries.ts'
import { typeInfo } from '../../fields/custom-types.ts'
import { writeDecimal } from '../../fields/decimal.ts'
import { kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/inputs.tsx'
import { DialogForm } from '../dialogs.tsx'
import { useSaving } from '../saving.ts'
import { type FieldDraft, FieldRules, Preview } from './field-parts.tsx'
import { changedConfig } from './limits.ts'

const fields = ['field_name', 'is_required', 'is_unique', 'config', 'default_value', 'is_active']

export function FieldDialog(props: { source: string; field: Field; onClose: () => void }) {
  const { source, field, onClose } = props
  const { locale } = useFormat()
  const { case_sensitive = false, ...limits } = field.config
  const [draft, setDraft] = useState<FieldDraft>(() => ({
    field_name: field.field_name,
    is_required: field.is_required,
    is_unique: field.is_unique,
    case_sensitive,
    config: Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [name, writeDecimal(value, locale)]),
    ),
    default_value: field.default_value ?? null,
  }))
  const [isActive, setActive] = useState(field.is_active)
  const { problems, isBusy, save } = useSaving(fields)
  const change = (changes: Partial<FieldDraft>) => setDraft(before => ({ ...before, ...changes }))
  const version = useRef(field.version)
  /** Others' changes of other settings stay; those of the same ones are said first. */
  const send = async (body: { readonly [name: string]: unknown }): Promise<unknown> => {
    const headers = { 'if-match': `"${version.current}"` }
    try {
      return await callApi('PATCH', `/field/${field.id}`, { body, headers })
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      const all = await queryClient.fetchQuery({ ...fieldsQuery(source), staleTime: 0 })
      const theirs = all.flat().find(({ id }) => id === field.id)
      if (!theirs || theirs.version === version.current) throw error
      version.current = theirs.version
      const isTheirs = (name: string) =>
        JSON.stringify(theirs[name as keyof Field]) !== JSON.stringify(field[name as keyof Field])
      if (!Object.keys(body).some(isTheirs)) return send(body)
      throw new UserError(
        'Somebody else has changed the same settings meanwhile. Save again to replace them.',
      )
    }
  }
  const write = () => {
    const { default_value: value } = draft
    const body = {
      ...(draft.field_name === field.field_name ? {} : { field_name: draft.field_name }),
      ...(draft.is_required === field.is_required ? {} : { is_required: draft.is_required }),
      ...(draft.is_unique === field.is_unique ? {} : { is_unique: draft.is_unique }),
      ...(isActive === field.is_active ? {} : { is_active: isActive }),
      ...changedConfig(field.config, draft, locale),
      ...(JSON.stringify(value) === JSON.stringify(field.default_value ?? null)
        ? {}
        : { default_value: value === null ? null : (kindOf(field).write?.(value) ?? value) }),
    }
    return send(body)
  }
  const shown = { ...field, field_name: draft.field_name || field.field_name, is_required: draft.is_required }
  return (
    <Dialog
      title={`Edit the field “${field.field_name}”`}
      detail={`${typeInfo(field).name} · ${field.internal_name} in the interface`}
      isOpen
      onClose={onClose}
      width="wide"
    >
      <DialogForm
        action="Save"
        draft={[draft, isActive]}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () => (await save(write, `Saved the field “${draft.field_name}”`)) && onClose()}
      >
        <TextField
          label="Label"
          isRequired
          autoFocus
          value={draft.field_name}
          onChange={field_name => change({ field_name })}
          error={problems.field_name}
        />
        {!field.is_read_only && (
          <>
            <FieldRules field={field} draft={draft} problems={problems} onChange={change} />
            {draft.is_required && !field.is_required && <Lacking source={source} field={field} />}
          </>
        )}
        <div>
          <Checkbox label="Active: shown in forms and tables" checked={isActive} onChange={setActive} />
          {problems.is_active && <p className="text-sm text-lost">{problems.is_active}</p>}
        </div>
        {!field.is_read_only && <Preview field={shown} />}
      </DialogForm>
    </Dialog>
  )
}

/** Counts the records without a value of a field that becomes required (D36). */
function Lacking({ source, field }: { source: string; field: Field }) {
  const format = useFormat()
  const filter = `${field.internal_name}:isnull(true)`
  const mayAsk = field.operators.includes('isnull')
  const { data } = useQuery({ ...pageQuery(source, { filter, fields: 'id' }, 1, 1), enabled: mayAsk })
  const total = data?.meta.total
  return (
    <p role="status" className="rounded-sm bg-warn-soft px-3 py-2 text-warn">
      {typeof total === 'number'
        ? `${format.number(total)} records have no value. They are not changed;`
        : 'Records without a value are not changed;'}{' '}
      whoever changes one has to fill it in.
    </p>
  )
}
