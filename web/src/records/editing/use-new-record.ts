/** The draft of a new record: its values and problems while it is filled in, and its creation. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { type AnyRecord, callApi, problemsByField } from '../../api/api.ts'
import { type Attempt, attemptOf } from '../../api/attempt.ts'
import { fieldsQuery, pipelinesQuery, refresh, stagesQuery } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { may, useMe, whoIsSignedIn } from '../../shell/me.ts'
import type { NewRecordRequest } from '../../shell/new-record.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { recordPath } from '../tables.ts'
import { missingSubject } from './activity-rules.ts'
import { conditionallyRequired, initialValues, withOwnStage } from './deal-rules.ts'
import {
  firstPlace,
  isEmpty,
  isSame,
  isWritable,
  type Problems,
  placeOf,
  problemsLeft,
  problemsOf,
  serializeValues,
  type Values,
} from './draft.ts'
import { focusField } from './record-form.tsx'
import { useUnsavedGuard } from './use-unsaved-guard.ts'

/** The prefix of the ids of the form's inputs. */
export const newForm = 'new'

/** The values that the dialog was opened with, and those that were typed. */
export type Draft = { readonly prefill: Values; readonly typed: Values }

/** "1 7 deal", the account, the user and the resource → draft of a closed dialog, which the next restores. */
const drafts = new Map<string, Draft>()
const keyOf = (resource: string) => `${whoIsSignedIn()} ${resource}`

export function keepDraft(resource: string, draft: Draft): void {
  drafts.set(keyOf(resource), draft)
}

/** `onKeep` gets the draft after each change; null: it is empty. */
export function useNewRecord(props: {
  request: NewRecordRequest
  onKeep: (draft: Draft | null) => void
  onClose: () => void
  isReadOnly: boolean
}) {
  const { request, onKeep, onClose, isReadOnly } = props
  const { resource, onCreated } = request
  const isDeal = resource === 'deal'
  const { data: sections } = useSuspenseQuery(fieldsQuery(resource))
  const fields = sections.flat().filter(isWritable)
  const [kept] = useState(() => draftFor(request))
  const [prefill, setPrefill] = useState<Values>({ ...kept?.prefill, ...request.prefill })
  const { start, stages } = useStart(resource, prefill, fields)
  const [typed, setTyped] = useState<Values>(kept?.typed ?? {})
  const latest = useLatest(typed)
  const [isRestored, setRestored] = useState(Object.keys(typed).length > 0)
  const [problems, setProblems] = useState<Problems>({})
  /** number of the record in the form; what an input finds for a former one comes too late */
  const [nth, setNth] = useState(0)
  const shown = useRef(nth)
  const [isSaving, setSaving] = useState(false)
  const create = useCreate(resource)
  const values = { ...start, ...typed }
  useUnsavedGuard(Object.keys(typed).length > 0)

  const required = new Set([
    ...fields.filter(({ is_required }) => is_required).map(({ internal_name }) => internal_name),
    ...conditionallyRequired(resource, values, stages),
  ])
  const change = (name: string, value: unknown) => {
    if (shown.current !== nth) return
    const before: Values = { ...start, ...latest.current }
    const next = { ...latest.current, [name]: value }
    const settled = isDeal && name === 'pipeline' ? withOwnStage(start, next, stages) : next
    latest.current = settled
    setTyped(settled)
    const isEmptyDraft = Object.entries(settled).every(([field, one]) => isSame(one, start[field]))
    onKeep(isEmptyDraft ? null : { prefill, typed: settled })
    setProblems(now => problemsLeft(now, name, before[name], value))
    const hasCompany = !isEmpty({ ...start, ...settled }.company)
    if (isDeal && name === 'primary_contact' && typeof value === 'number' && !hasCompany)
      void companyOf(value).then(company => {
        if (company === null) return
        setTyped(now => (now.primary_contact === value && isEmpty(now.company) ? { ...now, company } : now))
      })
  }
  const begin = (next: Values) => {
    drafts.delete(keyOf(resource))
    setRestored(false)
    shown.current++
    setNth(shown.current)
    setPrefill(request.prefill)
    setTyped(next)
    setProblems({})
    onKeep(null)
  }
  const refuse = (found: Problems) => {
    setProblems(found)
    const first = firstPlace(found, fields)
    if (first) requestAnimationFrame(() => focusField(newForm, first))
  }
  const save = async (isMore: boolean) => {
    if (isSaving || isReadOnly) return
    const found = { ...problemsOf(values, fields, required), ...missingSubject(resource, values) }
    if (Object.keys(found).length > 0) return refuse(found)
    const filled = fields.map(field => field.internal_name).filter(name => !isEmpty(values[name]))
    setSaving(true)
    try {
      const record = await create(
        serializeValues(Object.fromEntries(filled.map(name => [name, values[name]])), fields),
      )
      // Once nothing here is unsaved: `onCreated` may leave the page.
      setTimeout(() => onCreated?.(record))
      begin(isMore ? keptForNext(typed) : {})
      if (isMore) requestAnimationFrame(() => focusField(newForm, fields[0]!.internal_name))
      else onClose()
    } catch (error) {
      refuse(problemsByField(error, path => placeOf(path, values, fields)))
    } finally {
      setSaving(false)
    }
  }
  return {
    ...{ sections, fields, values, problems, required, isRestored, nth, isSaving, prefill, change, save },
    startOver: () => begin({}),
  }
}

/** The initial values of a new record, and for a deal its possible stages. */
function useStart(resource: string, prefill: Values, fields: Parameters<typeof initialValues>[2]) {
  const me = useMe()
  const isDeal = resource === 'deal'
  const { data: pipelines = [] } = useQuery({
    ...pipelinesQuery,
    enabled: isDeal && may(me, 'pipeline:read'),
  })
  const { data: stages = [] } = useQuery({
    ...stagesQuery,
    enabled: isDeal && may(me, 'pipeline_stage:read'),
  })
  return {
    start: initialValues(resource, prefill, fields, { me, pipelines, stages }),
    stages,
  }
}

/** Creates a record and announces it. A retry after a lost answer is idempotent (D8). */
function useCreate(resource: string): (body: Values) => Promise<AnyRecord> {
  const navigate = useNavigate()
  const last = useRef<Attempt | null>(null)
  return async body => {
    last.current = attemptOf(last.current, JSON.stringify(body))
    const headers = { 'idempotency-key': last.current.key }
    const record = await callApi<AnyRecord>('POST', `/${resource}`, { body, headers })
    last.current = null
    // Nothing shows the name of a new record yet.
    for (const changed of [resource, 'contact', 'company', 'deal']) void refresh(changed, undefined, [])
    const open = { label: 'Open', act: () => void navigate({ to: recordPath(resource, record.id) }) }
    toast(`Created “${nameOf(record)}”.`, { action: open })
    return record
  }
}

/** The company of a contact; null if there is none, or the user can't see it. */
async function companyOf(contact: number): Promise<number | null> {
  const read = await callApi<AnyRecord>('GET', `/contact/${contact}`).catch(() => null)
  return typeof read?.company === 'number' ? read.company : null
}

/** The saved draft, unless the dialog is opened with other values than it was, such as those of a copy. */
function draftFor({ resource, prefill }: NewRecordRequest): Draft | undefined {
  const kept = drafts.get(keyOf(resource))
  if (!kept) return undefined
  const isFree = Object.keys(kept.prefill).length === 0
  const fits = (name: string) => (isFree ? !(name in kept.typed) : isSame(kept.prefill[name], prefill[name]))
  return Object.keys(prefill).every(fits) ? kept : undefined
}

/** The next of several records often has the same stage and owner. */
function keptForNext({ pipeline, pipeline_stage, sales_owner, company }: Values): Values {
  const kept = {
    pipeline,
    pipeline_stage,
    sales_owner,
    company: typeof company === 'number' ? company : undefined,
  }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
}
