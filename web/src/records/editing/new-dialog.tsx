/** A new record in ten seconds: what it must have, and all else for who wants it. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { type AnyRecord, ask, problemsByField } from '../../api/api.ts'
import { fieldsQuery, pipelinesQuery, refresh, stagesQuery } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/found.ts'
import { recordPath } from '../../routes.tsx'
import { sayKeys } from '../../shell/commands.ts'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import type { NewAsked } from '../../shell/new-record.tsx'
import { Key, Waiting } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/inputs.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { toast } from '../../ui/toast.tsx'
import { tables } from '../tables.ts'
import { beginning, ruledFields, withStage } from './deal-rules.ts'
import {
  firstPlace,
  isEmpty,
  isSame,
  isWritable,
  type Problems,
  placeOf,
  problemsLeft,
  problemsOf,
  type Values,
  written,
} from './draft.ts'
import { useUnsavedGuard } from './guard.ts'
import { FormFoot, focusField, ProblemSummary, RecordForm } from './record-form.tsx'

const form = 'new'
/** What was typed in a dialog that was closed, for the next one of the resource. */
const left = new Map<string, Values>()

const wordFor = (resource: string) =>
  Object.values(tables).find(table => table.resource === resource)?.one ?? resource.replaceAll('_', ' ')

export function NewDialog({ asked, onClose }: { asked: NewAsked; onClose: () => void }) {
  const { resource } = asked
  const draft = useRef<Values | null>(null)
  const close = () => {
    if (draft.current) left.set(resource, draft.current)
    onClose()
  }
  return (
    <Dialog title={`New ${wordFor(resource)}`} isOpen onClose={close} width="wide">
      <Suspense fallback={<FormWaiting />}>
        <NewForm asked={asked} onKeep={values => (draft.current = values)} onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}

function FormWaiting() {
  return (
    <div aria-hidden className="flex flex-col gap-4">
      {[1, 2, 3, 4].map(row => (
        <Waiting key={row} className="h-13 w-full" />
      ))}
    </div>
  )
}

type FormProps = { asked: NewAsked; onKeep: (values: Values | null) => void; onClose: () => void }

function NewForm({ asked, onKeep, onClose }: FormProps) {
  const { resource, onMade } = asked
  const me = useMe()
  const navigate = useNavigate()
  const reason = useReadOnlyReason(resource)
  const { data: sections } = useSuspenseQuery(fieldsQuery(resource))
  const isDeal = resource === 'deal'
  const { data: pipelines = [] } = useQuery({
    ...pipelinesQuery,
    enabled: isDeal && may(me, 'pipeline:read'),
  })
  const { data: stages = [] } = useQuery({
    ...stagesQuery,
    enabled: isDeal && may(me, 'pipeline_stage:read'),
  })
  const fields = sections.flat().filter(isWritable)
  const start = beginning(resource, asked.prefill, fields, { me, pipelines, stages })
  const [typed, setTyped] = useState<Values>(() => draftFor(asked) ?? {})
  const [isRestored, setRestored] = useState(Object.keys(typed).length > 0)
  const [isAll, setAll] = useState(false)
  const [problems, setProblems] = useState<Problems>({})
  const [isSaving, setSaving] = useState(false)
  const request = useRef({ body: '', key: '' })
  const values = { ...start, ...typed }
  useUnsavedGuard(Object.keys(typed).length > 0)

  const ruled = ruledFields(resource, values, stages)
  const required = new Set([
    ...fields.filter(({ is_required }) => is_required).map(({ internal_name }) => internal_name),
    ...ruled,
  ])
  const isShown = ({ internal_name: name }: { internal_name: string }) =>
    isAll || required.has(name) || name in asked.prefill || name in problems || quick(resource, name)
  const change = (name: string, value: unknown) => {
    const next = { ...typed, [name]: value }
    const settled = isDeal && name === 'pipeline' ? stageOf({ ...start, ...next }, stages, next) : next
    setTyped(settled)
    onKeep(Object.entries(settled).some(([field, one]) => !isSame(one, start[field])) ? settled : null)
    setProblems(problemsLeft(problems, name, values[name], value))
    if (
      isDeal &&
      name === 'primary_contact' &&
      typeof value === 'number' &&
      isEmpty({ ...start, ...settled }.company)
    )
      void companyOf(value).then(company => {
        if (company === null) return
        setTyped(now => (now.primary_contact === value && isEmpty(now.company) ? { ...now, company } : now))
      })
  }
  const begin = (kept: Values) => {
    left.delete(resource)
    setRestored(false)
    setTyped(kept)
    setProblems({})
    onKeep(null)
  }
  const refuse = (found: Problems) => {
    setProblems(found)
    const first = firstPlace(found, fields)
    if (first) requestAnimationFrame(() => focusField(form, first))
  }
  const save = async (isMore: boolean) => {
    if (isSaving || reason) return
    const found = problemsOf(values, fields, required)
    if (Object.keys(found).length > 0) return refuse(found)
    const given = fields.map(field => field.internal_name).filter(name => !isEmpty(values[name]))
    const body = written(Object.fromEntries(given.map(name => [name, values[name]])), fields)
    // Sent again after a lost answer, the same record is made once (D8).
    const text = JSON.stringify(body)
    if (request.current.body !== text) request.current = { body: text, key: crypto.randomUUID() }
    setSaving(true)
    try {
      const headers = { 'idempotency-key': request.current.key }
      const record = await ask<AnyRecord>('POST', `/${resource}`, { body, headers })
      request.current = { body: '', key: '' }
      for (const changed of [resource, 'contact', 'company', 'deal']) void refresh(changed)
      const open = { label: 'Open', act: () => void navigate({ to: recordPath(resource, record.id) }) }
      toast(`Created “${nameOf(record)}”.`, { action: open })
      // When nothing here is unsaved any more: who hears of it may go to another page.
      setTimeout(() => onMade?.(record))
      begin(isMore ? keptForNext(typed) : {})
      if (isMore) requestAnimationFrame(() => focusField(form, fields[0]!.internal_name))
      else onClose()
    } catch (error) {
      refuse(problemsByField(error, path => placeOf(path, values, fields)))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      noValidate
      onKeyDown={byCtrlEnter(event => void save(event.shiftKey))}
      onSubmit={event => {
        event.preventDefault()
        void save(false)
      }}
      className="flex flex-col gap-4"
    >
      {isRestored && (
        <p className="flex items-center gap-2 rounded-md bg-accent-soft px-3 py-1.5">
          <span className="grow">This is what you had typed before.</span>
          <Button look="quiet" isSmall onPress={() => begin({})}>
            Start anew
          </Button>
        </p>
      )}
      <ProblemSummary form={form} problems={problems} fields={fields} />
      <RecordForm
        form={form}
        sections={sections}
        values={values}
        problems={problems}
        isShown={isShown}
        isRequired={({ internal_name }) => required.has(internal_name)}
        onChange={change}
        autoFocus={fields[0]?.internal_name}
        hasHeadings={isAll}
      />
      <FormFoot>
        <Checkbox label="All fields" checked={isAll} onChange={setAll} />
        <span className="ml-auto flex flex-wrap justify-end gap-2">
          <Button look="quiet" reason={reason} isDisabled={isSaving} onPress={() => void save(true)}>
            Create and add another
          </Button>
          <Button type="submit" look="primary" reason={reason} isPending={isSaving}>
            Create
            <span aria-hidden className="flex gap-0.5 max-sm:hidden">
              {sayKeys('mod+Enter').map(key => (
                <Key key={key}>{key}</Key>
              ))}
            </span>
          </Button>
        </span>
      </FormFoot>
    </form>
  )
}

/** The company of a contact; null where there is none, or none that one may see. */
async function companyOf(contact: number): Promise<number | null> {
  const read = await ask<AnyRecord>('GET', `/contact/${contact}`).catch(() => null)
  return typeof read?.company === 'number' ? read.company : null
}

/** The draft that was left, unless this dialog was opened with other values of its own, such as a copy. */
function draftFor({ resource, prefill }: NewAsked): Values | undefined {
  const kept = left.get(resource)
  return kept && !Object.keys(kept).some(name => name in prefill) ? kept : undefined
}

/** What a new record usually has besides what it must have. */
function quick(resource: string, name: string): boolean {
  const usual: { readonly [resource: string]: readonly string[] } = {
    deal: ['company', 'deal_value'],
    contact: ['first_name', 'company', 'emails', 'phones'],
    company: ['website', 'phones'],
    product: ['product_code', 'unit_price'],
    activity: ['due_at', 'deal', 'owner', 'notes'],
  }
  return usual[resource]?.includes(name) ?? false
}

function stageOf(values: Values, stages: Parameters<typeof withStage>[1], typed: Values): Values {
  return { ...typed, pipeline_stage: withStage(values, stages).pipeline_stage }
}

/** The next of several records is often in the same place, and of the same owner. */
function keptForNext({ pipeline, pipeline_stage, sales_owner, company }: Values): Values {
  const kept = {
    pipeline,
    pipeline_stage,
    sales_owner,
    company: typeof company === 'number' ? company : undefined,
  }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}
