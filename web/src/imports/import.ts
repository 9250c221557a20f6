/** An import (D80), and changes of its plan. */
import { queryOptions } from '@tanstack/react-query'
import { callApi, errorMessage } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { type Job, jobKey, jobQuery } from '../jobs/job.ts'
import { createStore } from '../ui/store.ts'
import { toastError } from '../ui/toast.tsx'

export type Target = {
  /** `title`, `deal_value.value`, `company.name` */
  readonly field: string
  readonly label: string
  readonly type?: string
  readonly isRequired?: boolean
  readonly options?: readonly { readonly id: number; readonly name: string }[]
}
type Mapped = { readonly column: number; readonly field: string }
/** The field of a column; null: it is left out */
export type Answer = { readonly column: number; readonly field: string | null }
export type Column = {
  readonly name: string
  readonly samples: readonly unknown[]
  readonly state: 'mapped' | 'left_out' | 'open'
  /** reason why it is unmapped or left out; null: the user chose it */
  readonly reason: string | null
  /** the guessed target of an open column, until it is confirmed */
  readonly guess: string | null
}
/** target → text of the file → the value it stands for; null: nothing */
export type Values = { readonly [field: string]: { readonly [text: string]: Meaning } }
export type Meaning = string | number | null
export type Formats = {
  readonly date?: 'dmy' | 'mdy' | 'ymd' | null
  readonly decimal?: '.' | ',' | null
  readonly unclear?: readonly string[]
}
export type Duplicates = { readonly by: string | null; readonly action: 'skip' | 'update' | 'create' }
export type Plan = {
  readonly mapping: readonly Mapped[]
  readonly values: Values
  /** target → value for rows that have none */
  readonly defaults: { readonly [field: string]: unknown }
  readonly formats: Formats
  readonly duplicates: Duplicates
}
type UnmatchedText = { readonly text: string }

export type Import = Omit<Job, 'mapping' | 'columns' | 'targets' | 'defaults' | 'values_to_map'> &
  Plan & {
    readonly columns: readonly Column[]
    readonly targets: readonly Target[]
    /** texts of the whole file without a value */
    readonly values_to_map: { readonly field: string; readonly texts: readonly UnmatchedText[] }[]
  }

export const importQuery = (id: number) => queryOptions(jobQuery<Import>('import', id))

/** The resources that have a table and can be imported. */
export const importable = ['deal', 'product', 'contact', 'company', 'activity'] as const

/** The imports that were changed since their last dry run. */
export const changedSince = createStore<ReadonlySet<number>>(new Set())

export function noteTried(id: number): void {
  changedSince.set(new Set([...changedSince.get()].filter(one => one !== id)))
}

let last: Promise<unknown> = Promise.resolve()

/** The number of requests without an answer. */
let pending = 0

/** Default values that are typed within this time are sent in one request. */
const typingMs = 300

type Defaults = Plan['defaults']

/** The default values that are not sent yet. */
let unsent: { readonly id: number; defaults: Defaults } | null = null

/** The default values that could not be saved, and why. They are sent again with the next ones. */
export const refused = createStore<{
  readonly id: number
  readonly defaults: Defaults
  readonly message: string
} | null>(null)

export function noteChanged(id: number): void {
  changedSince.set(new Set([...changedSince.get(), id]))
}

/** The body of a change. `mapping`: null means the guess; unmapped columns stay so until it names them. */
export type Sent = Partial<Omit<Plan, 'mapping'>> & {
  readonly mapping?: readonly Answer[] | null
  readonly confirm?: boolean
}

/** Changes the plan of an import: shown at once, saved one change after the other. */
export function change(
  { id }: Pick<Import, 'id'>,
  changes: Partial<Pick<Import, keyof Plan | 'columns'>>,
  sent: Sent = changes,
): void {
  show(id, changes)
  unsent = null
  const { formats, ...others } = sent
  const body = {
    ...others,
    ...(formats ? { formats: { date: formats.date ?? null, decimal: formats.decimal ?? null } } : {}),
  }
  write(id, () => body)
}

/** Changes default values, which may be typed: what follows quickly goes in the same request. */
export function changeDefaults({ id, defaults }: Pick<Import, 'id' | 'defaults'>, sent: Defaults): void {
  show(id, { defaults: { ...defaults, ...sent } })
  if (unsent?.id === id) {
    unsent.defaults = { ...unsent.defaults, ...sent }
    return
  }
  const own = { id, defaults: sent }
  unsent = own
  const settled = async () => {
    await new Promise(resolve => setTimeout(resolve, typingMs))
    if (unsent === own) unsent = null
    const before = refused.get()
    if (before?.id === id) own.defaults = { ...before.defaults, ...own.defaults }
    refused.set(null)
    return { defaults: own.defaults }
  }
  write(id, settled, message => refused.set({ ...own, message }))
}

function show(id: number, changes: Partial<Import>): void {
  noteChanged(id)
  queryClient.setQueryData<Import>(jobKey(id), before => before && { ...before, ...changes })
}

/** Sends a change after the earlier ones. */
function write(id: number, bodyOf: () => object, onRefused?: (message: string) => void): void {
  const queryKey = jobKey(id)
  pending++
  last = last.then(async () => {
    try {
      const body = JSON.parse(JSON.stringify(await bodyOf()))
      const changed = await callApi<Import>('PATCH', `/import/${id}`, { body })
      // Another mapping changes the texts without a value. Later changes are shown already.
      if (pending === 1) await queryClient.cancelQueries({ queryKey })
      if (pending === 1) queryClient.setQueryData(queryKey, changed)
    } catch (error) {
      const message = errorMessage(error)
      onRefused?.(message)
      toastError(message)
      await queryClient.invalidateQueries({ queryKey })
    } finally {
      pending--
    }
  })
}

/**
 * Maps a column to a target. A target has one column: it is taken from the other one, which becomes left out.
 */
export function answer(job: Import, column: number, field: string | null): Column | null {
  const { mapping, columns } = job
  const before =
    field === null ? undefined : mapping.find(one => one.field === field && one.column !== column)
  const others = mapping.filter(one => one.column !== column && one !== before)
  const withState = (state: Column['state']) => ({ state, reason: null, guess: null })
  const answered = columns.map((one, index) => {
    if (index === column) return { ...one, ...withState(field === null ? 'left_out' : 'mapped') }
    return index === before?.column ? { ...one, ...withState('left_out') } : one
  })
  const all = field === null ? others : [...others, { column, field }]
  change(job, { mapping: all, columns: answered }, { mapping: [...others, { column, field }] })
  return before ? (columns[before.column] ?? null) : null
}

/** Resolves once all changes are sent. False if default values could not be saved, now either. */
export async function saved(id: number): Promise<boolean> {
  await last
  if (refused.get()?.id !== id) return true
  changeDefaults({ id, defaults: queryClient.getQueryData<Import>(jobKey(id))?.defaults ?? {} }, {})
  await last
  return refused.get() === null
}
