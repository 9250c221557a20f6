/** The form of a small record, from the field list: the named fields, in that order. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type AnyRecord, callApi, type Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { kindOf } from '../fields/kinds.ts'
import { changesOf, serializeValues } from '../records/editing/draft.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Skeleton } from '../ui/elements.tsx'
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
  const { data: sections } = useQuery(fieldsQuery(props.source))
  return (
    <Dialog title={props.title} detail={props.detail} isOpen onClose={props.onClose} width="wide">
      {sections ? <Form {...props} fields={sections.flat()} /> : <Skeleton className="h-40" />}
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
  const send = () => {
    const body = serializeValues(record ? changes : { ...prefill, ...changes }, shown)
    if (write) return write(body)
    return record
      ? callApi('PATCH', `/${source}/${record.id}`, { body })
      : callApi('POST', `/${source}`, { body })
  }
  return (
    <DialogForm
      action={action}
      draft={changesOf(base, changes)}
      isBusy={isBusy}
      problem={problems['']}
      onCancel={onClose}
      onSave={async () => {
        const wrong = props.check?.(draft) ?? {}
        if (Object.keys(wrong).length > 0) return setProblems(wrong)
        if (await save(send, message(draft))) (onDone ?? onClose)()
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
  )
}

function defaultsOf(fields: readonly Field[], record: AnyRecord | undefined): Draft {
  if (record) return {}
  return Object.fromEntries(fields.map(field => [field.internal_name, field.default_value ?? null]))
}
