/** All fields of a record in one form, saved by one write. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { problemsByField } from '../../api/api.ts'
import { stagesQuery } from '../../api/queries.ts'
import { Button, Cancel } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, SavedInputs } from '../../ui/inputs.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { namesOf, type ShownRecord } from '../record/use-record.ts'
import { withOwnStage } from './deal-rules.ts'
import {
  changesOf,
  firstPlace,
  isEmpty,
  isWritable,
  type Problems,
  placeOf,
  problemsLeft,
  problemsOf,
  type Values,
} from './draft.ts'
import { FormFoot, focusField, ProblemSummary, RecordForm } from './record-form.tsx'
import { useRecordSave } from './use-record-save.tsx'

const form = 'edit'

export function EditDialog({ shown, onClose }: { shown: ShownRecord; onClose: () => void }) {
  const [isDirty, setDirty] = useState(false)
  return (
    <Dialog title="Edit all fields" isOpen onClose={onClose} isUnsaved={isDirty} width="wide">
      <EditForm shown={shown} onDirty={setDirty} onClose={onClose} />
    </Dialog>
  )
}

function EditForm(props: { shown: ShownRecord; onDirty: (isDirty: boolean) => void; onClose: () => void }) {
  const { onDirty, onClose } = props
  // Others' changes while this form is open are resolved when it is saved.
  const [shown] = useState(props.shown)
  const { record, sections } = shown
  const fields = sections.flat().filter(isWritable)
  const isDeal = shown.resource === 'deal'
  const { data: stages = [] } = useQuery({ ...stagesQuery, enabled: isDeal })
  const { save, dialogs } = useRecordSave(shown)
  const [typed, setTyped] = useState<Values>({})
  const latest = useLatest(typed)
  const [isFilledOnly, setFilledOnly] = useState(false)
  const [problems, setProblems] = useState<Problems>({})
  const [isSaving, setSaving] = useState(false)
  const values: Values = { ...record, ...typed }
  const changes = changesOf(record, typed)
  const changed = Object.keys(changes).length
  const change = (name: string, value: unknown) => {
    const before: Values = { ...record, ...latest.current }
    const typed = { ...latest.current, [name]: value }
    const { pipeline_stage } = record
    const isMoved = isDeal && name === 'pipeline'
    const next = isMoved ? withOwnStage(record, { ...typed, pipeline_stage }, stages) : typed
    latest.current = next
    setTyped(next)
    onDirty(Object.keys(changesOf(record, next)).length > 0)
    setProblems(now => problemsLeft(now, name, before[name], value))
  }
  const refuse = (found: Problems) => {
    setProblems(found)
    const first = firstPlace(found, fields)
    if (first) requestAnimationFrame(() => focusField(form, first))
  }
  const submit = async () => {
    if (isSaving) return
    if (changed === 0) return onClose()
    const required = new Set(fields.filter(one => one.is_required).map(one => one.internal_name))
    const found = problemsOf(values, fields, required)
    if (Object.keys(found).length > 0) return refuse(found)
    setSaving(true)
    try {
      if (await save(record, changes)) onClose()
    } catch (error) {
      refuse(problemsByField(error, path => placeOf(path, values, fields)))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      noValidate
      onKeyDown={byCtrlEnter(() => void submit())}
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
      className="flex flex-col gap-4"
    >
      <ProblemSummary form={form} problems={problems} fields={fields} />
      <SavedInputs isSaving={isSaving}>
        <RecordForm
          form={form}
          sections={sections}
          values={values}
          names={namesOf(record)}
          problems={problems}
          isShown={({ internal_name: name }) =>
            !isFilledOnly || !isEmpty(record[name]) || name in typed || name in problems
          }
          isRequired={({ is_required }) => is_required}
          onChange={change}
          autoFocus={fields[0]?.internal_name}
          hasHeadings
        />
      </SavedInputs>
      <FormFoot>
        <Checkbox label="Filled fields only" checked={isFilledOnly} onChange={setFilledOnly} />
        <span className="grow" />
        <Cancel onPress={onClose} />
        <Button type="submit" variant="primary" isPending={isSaving}>
          {changed > 1 ? `Save ${changed} changes` : 'Save'}
        </Button>
      </FormFoot>
      {dialogs}
    </form>
  )
}
