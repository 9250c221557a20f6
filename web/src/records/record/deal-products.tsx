/** The products tab of a deal: all lines are edited and saved together. */
import { useState } from 'react'
import { problemsByField } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { Button } from '../../ui/button.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { isSame, problemsOf } from '../editing/draft.ts'
import type { Save } from '../editing/use-record-save.tsx'
import { useUnsavedGuard } from '../editing/use-unsaved-guard.ts'
import type { ShownRecord } from './use-record.ts'

export function DealProducts(props: { shown: ShownRecord; save: Save; reason: string | undefined }) {
  const { shown, save, reason } = props
  const { record, fields } = shown
  const name = 'deal_value'
  const field = fields.find(({ internal_name }) => internal_name === name)
  const [draft, setDraft] = useState<{ value: unknown; base: ShownRecord['record'] } | null>(null)
  const [error, setError] = useState<string>()
  const [isSaving, setSaving] = useState(false)
  const value = draft ? draft.value : (record[name] ?? null)
  const isDirty = draft !== null && !isSame(draft.value, draft.base[name])
  useUnsavedGuard(isDirty)
  if (!field) return null
  const { Input } = kindOf(field)
  const submit = async () => {
    if (!draft) return
    const wrong = problemsOf({ [name]: value }, [field], new Set())[name]
    if (wrong) return setError(wrong)
    setSaving(true)
    try {
      if (await save(draft.base, { [name]: value })) setDraft(null)
      setError(undefined)
    } catch (failed) {
      const found = problemsByField(failed)
      setError(Object.values(found).join(' '))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
      onKeyDown={byCtrlEnter(() => void submit())}
      className="flex flex-col gap-3"
    >
      <Input
        field={field}
        label={field.field_name}
        value={value}
        error={error}
        onChange={next => {
          setDraft({ value: next, base: draft?.base ?? record })
          setError(undefined)
        }}
      />
      <div className="flex justify-end gap-2">
        <Button
          variant="quiet"
          isDisabled={!isDirty || isSaving}
          onPress={() => {
            setDraft(null)
            setError(undefined)
          }}
        >
          Discard
        </Button>
        <Button type="submit" variant="primary" isDisabled={!isDirty} isPending={isSaving} reason={reason}>
          Save
        </Button>
      </div>
    </form>
  )
}
