/** The form of a small record, from the field list: the named fields, in that order. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type AnyRecord, callApi, type Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { kindOf } from '../fields/kinds.ts'
import { ConflictDialog } from '../records/editing/conflict-dialog.tsx'
import { changesOf, EditConflict, serializeValues, update, type Values } from '../records/editing/draft.ts'
import { Loading } from '../shell/load-error.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { Problems } from './assign-problems.ts'
import { DialogForm } from './dialogs.tsx'
import { useSaving } from './saving.ts'

export type Draft = { readonly [field: string]: unknown }

type Props = {
  source: string
  /** the internal names of the form's fields */
  names: readonly string[]
  title: string
  detail?: string | undefined
  action: string
  message: (draft: Draft) => string
  /** the record to change; default: a new one */
  record?: AnyRecord | undefined
  /** initial values of a new one */
  prefill?: Draft
  /** replaces the request */
  write?: (body: Draft) => Promise<unknown>
  onClose: () => void
  /** called after saving; default: close */
  onDone?: () => void
  /** fields whose problems `children` show */
  problemFields?: readonly string[]
  /** problems before sending */
  check?: (draft: Draft) => Problems
  /** inputs of its own, after those of the fields */
  children?: (draft: Draft, change: (changes: Draft) => void, problems: Problems) => ReactNode
}

export function RecordDialog(props: Props) {
  const read = useQuery(fieldsQuery(props.source))
  return (
    <Dialog title={props.title} detail={props.detail} isOpen onClose={props.onClose} width="wide">
      <Loading of={[read]} className="h-40" />
      {read.data && <Form {...props} fields={read.data.flat()} />}
    </Dialog>
  )
}

function Form(props: Props & { fields: readonly Field[] }) {
  const { source, names, action, message, record, prefill, write, onClose, onDone, children, fields } = props
  const shown = names.flatMap(name => fields.find(field => field.internal_name === name) ?? [])
  const [changes, setChanges] = useState<Draft>({})
  const { problems, isBusy, save, setProblems } = useSaving([...names, ...(props.problemFields ?? [])])
  const base: Draft = { ...defaultsOf(shown, record), ...prefill, ...record }
  const draft: Draft = { ...base, ...changes }
  const change = (more: Draft) => setChanges(before => ({ ...before, ...more }))
  const [conflict, setConflict] = useState<EditConflict | null>(null)
  /** `onto`: the record as the user knows it; none: a new one */
  const send = (values: Values, onto: AnyRecord | undefined): Promise<unknown> => {
    const body = serializeValues(values, shown)
    if (write) return write(body)
    if (!onto) return callApi('POST', `/${source}`, { body })
    return update(source, onto, body, '').catch(error => {
      if (error instanceof EditConflict) setConflict(error)
      throw error
    })
  }
  const submit = async (values: Values, onto: AnyRecord | undefined) => {
    if (await save(() => send(values, onto), message(draft))) (onDone ?? onClose)()
  }
  const changed = changesOf(base, changes)
  return (
    <>
      <DialogForm
        action={action}
        draft={changed}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={() => {
          const wrong = props.check?.(draft) ?? {}
          if (Object.keys(wrong).length > 0) setProblems(wrong)
          else void submit(record ? changed : { ...prefill, ...changes }, record)
        }}
      >
        {shown.map((field, index) => {
          const { Input } = kindOf(field)
          const name = field.internal_name
          return (
            <Input
              key={name}
              field={field}
              label={field.field_name}
              value={draft[name] ?? null}
              names={record?._expanded?.[name]}
              onChange={value => change({ [name]: value })}
              error={problems[name]}
              autoFocus={index === 0}
            />
          )
        })}
        {children?.(draft, change, problems)}
      </DialogForm>
      {conflict && record && (
        <ConflictDialog
          {...{ conflict, fields }}
          values={changed}
          base={record}
          onAnswer={kept => {
            setConflict(null)
            if (kept && Object.keys(kept).length > 0) void submit(kept, conflict.theirs)
            else if (kept) onClose()
          }}
        />
      )}
    </>
  )
}

function defaultsOf(fields: readonly Field[], record: AnyRecord | undefined): Draft {
  if (record) return {}
  return Object.fromEntries(fields.map(field => [field.internal_name, field.default_value ?? null]))
}
