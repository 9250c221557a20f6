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

let turn = 0

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
  const key = jobKey(id)
  const own = ++turn
  noteChanged(id)
  queryClient.setQueryData<Import>(key, before => before && { ...before, ...changes })
  const { formats, ...others } = sent
  const body = {
    ...others,
    ...(formats ? { formats: { date: formats.date ?? null, decimal: formats.decimal ?? null } } : {}),
  }
  last = last
    .then(() => callApi<Import>('PATCH', `/import/${id}`, { body: JSON.parse(JSON.stringify(body)) }))
    .then(async changed => {
      // Another mapping changes the texts without a value. Later changes are shown already.
      if (own === turn) await queryClient.cancelQueries({ queryKey: key })
      if (own === turn) queryClient.setQueryData(key, changed)
    })
    .catch(async error => {
      toastError(errorMessage(error))
      await queryClient.invalidateQueries({ queryKey: key })
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

/** Resolves once all changes are saved. */
export const saved = (): Promise<unknown> => last
