/** The products tab of a deal: all lines are edited and saved together. */
import { useRef, useState } from 'react'
import { type AnyRecord, problemsByField } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { useLockedReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { isSame, problemsOf } from '../editing/draft.ts'
import type { Save } from '../editing/use-record-save.tsx'
import { useUnsavedGuard } from '../editing/use-unsaved-guard.ts'
import { recordPath } from '../tables.ts'
import type { ShownRecord } from './use-record.ts'

const name = 'deal_value'

type Draft = { readonly value: unknown; readonly base: AnyRecord }
type ProductsDraft = ReturnType<typeof useProductsDraft>

/** The unsaved lines and their saving. The place of the tabs keeps both: only the selected tab is mounted. */
export function useProductsDraft({ resource, record }: ShownRecord) {
  const [draft, setDraft] = useState<Draft | null>(null)
  const [error, setError] = useState<string>()
  const [isSaving, setSaving] = useState(false)
  /** number of the draft; what an input finds for a former one, such as a price, comes too late */
  const [nth, setNth] = useState(0)
  const shown = useRef(nth)
  const discard = () => {
    shown.current++
    setNth(shown.current)
    setDraft(null)
    setError(undefined)
  }
  const change = (value: unknown, record: AnyRecord) => {
    if (shown.current !== nth) return
    setDraft(now => ({ value, base: now?.base ?? record }))
    setError(undefined)
  }
  const isDirty = draft !== null && !isSame(draft.value, draft.base[name])
  useUnsavedGuard(isDirty, recordPath(resource, record.id))
  return { draft, nth, setDraft, change, discard, isDirty, error, setError, isSaving, setSaving }
}

export function DealProducts(props: {
  shown: ShownRecord
  kept: ProductsDraft
  save: Save
  reason: string | undefined
}) {
  const { shown, kept, save } = props
  const { draft, nth, setDraft, isDirty, error, setError, isSaving, setSaving } = kept
  const { record, fields } = shown
  const field = fields.find(({ internal_name }) => internal_name === name)
  const reason = useLockedReason('deal', name, props.reason)
  const value = draft ? draft.value : (record[name] ?? null)
  if (!field) return null
  const { Input } = kindOf(field)
  const submit = async () => {
    if (!draft || isSaving || reason) return
    const wrong = problemsOf({ [name]: value }, [field], new Set())[name]
    if (wrong) return setError(wrong)
    setSaving(true)
    try {
      const saved = await save(draft.base, { [name]: value })
      // Lines that were typed meanwhile stay.
      if (saved) setDraft(now => (now === null || now.value === value ? null : { ...now, base: saved }))
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
      <fieldset disabled={reason !== undefined} className="contents">
        <Input
          key={nth}
          field={field}
          label={field.field_name}
          value={value}
          error={error}
          onChange={next => kept.change(next, record)}
        />
      </fieldset>
      <div className="flex justify-end gap-2">
        <Button variant="quiet" isDisabled={!isDirty || isSaving} onPress={kept.discard}>
          Discard
        </Button>
        <Button type="submit" variant="primary" isDisabled={!isDirty} isPending={isSaving} reason={reason}>
          Save
        </Button>
      </div>
    </form>
  )
}
