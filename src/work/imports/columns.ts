/**
 * States of the columns of a file (D80): mapped, left out by choice, left out for a reason, or open until a
 * person decides. Pure.
 */
import { type Problem, problemAt } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Job } from '../jobs/job.ts'
import type { ImportPlan } from './plan.ts'

export type State = 'mapped' | 'left_out' | 'open'

/** Reasons why a column is left out without a person's choice. */
export const leftOut = {
  empty: () => 'The column has no values.',
  read_only: () => 'The field is read-only.',
  foreign_id: () =>
    'It has ids of another system. To keep them, map it to a unique text field such as "External id".',
  nowhere: () => 'There is no such field here. To keep it, map it to a custom field.',
  refused_file: () => 'It was added by the file of refused rows.',
  said_better: () => 'Other columns have the same, as a whole or in parts.',
} as const

/** Reasons why a column is open. `label`: of the target that the reason is about. */
export const open = {
  unknown: () => 'No field has this name.',
  near: (label: string) => `The name resembles ${label}.`,
  contents: (label: string) => `The values look like ${label}, but the name does not say so.`,
  misfit: (label: string) => `The name suggests ${label}, but the values are something else.`,
  taken: (label: string) => `Another column is mapped to ${label}.`,
  numbers: () => 'It has numbers, which may be ids of another system.',
  unnamed: (label: string) => `It may be ${label}, but no column names that record.`,
  gone: () => 'The field to which it was mapped is not there any more.',
} as const

export type LeftOutReason = keyof typeof leftOut
export type OpenReason = LeftOutReason | keyof typeof open

/** A column that is not mapped. `field`: the target that the reason is about. */
export type Unmapped = { readonly column: number; readonly why: OpenReason; readonly field: string | null }

export function isOpen({ why }: Unmapped): boolean {
  return Object.hasOwn(open, why)
}

/** The target of an open column if it is confirmed; null: the column is left out. */
function guessOf({ why, field }: Unmapped): string | null {
  return why === 'near' || why === 'contents' ? field : null
}

function sentenceOf({ why, field }: Unmapped, labels: ReadonlyMap<string, string>): string {
  const label = field === null ? undefined : labels.get(field)
  return { ...leftOut, ...open }[why](label === undefined ? 'a field' : JSON.stringify(label))
}

/** A column with its state, as in responses. `reason`: null if there is none. */
export type ColumnState = {
  readonly name: string
  readonly state: State
  readonly field: string | null
  readonly reason: string | null
  readonly guess: string | null
}

/** The columns of an import, in their order. `labels`: of the targets. */
export function columnStates(
  { columns }: Pick<Job, 'columns'>,
  { mapping, unmapped = [] }: Pick<ImportPlan, 'mapping' | 'unmapped'>,
  labels: ReadonlyMap<string, string>,
): readonly ColumnState[] {
  const fields = new Map(mapping.map(({ column, field }) => [column, field]))
  const others = new Map(unmapped.map(one => [one.column, one]))
  return (columns ?? []).map(({ name }, column): ColumnState => {
    const [field, other] = [fields.get(column) ?? null, others.get(column)]
    const about = { name: String(name), field }
    if (field !== null) return { ...about, state: 'mapped', reason: null, guess: null }
    if (!other) return { ...about, state: 'left_out', reason: null, guess: null }
    const reason = sentenceOf(other, labels)
    return { ...about, state: isOpen(other) ? 'open' : 'left_out', reason, guess: guessOf(other) }
  })
}

/**
 * The plan in which a column is open if its target is gone, such as a field that was deleted since. Else its
 * values would be lost in silence (D4).
 */
export function withoutGone<P extends Pick<ImportPlan, 'mapping' | 'unmapped'>>(
  plan: P,
  targets: { has(target: string): boolean },
): P {
  const mapping = plan.mapping.filter(({ field }) => targets.has(field))
  if (mapping.length === plan.mapping.length) return plan
  const gone = plan.mapping.filter(({ field }) => !targets.has(field))
  const unmapped = gone.map(({ column }): Unmapped => ({ column, why: 'gone', field: null }))
  return { ...plan, mapping, unmapped: [...(plan.unmapped ?? []), ...unmapped] }
}

/** The plan in which each open column is mapped to its guess, or left out. */
export function confirmed<P extends Pick<ImportPlan, 'mapping' | 'unmapped'>>(plan: P): P {
  const taken = new Set(plan.mapping.map(({ field }) => field))
  const added = (plan.unmapped ?? []).flatMap(one => {
    const field = isOpen(one) ? guessOf(one) : null
    if (field === null || taken.has(field)) return []
    taken.add(field)
    return [{ column: one.column, field }]
  })
  const unmapped = (plan.unmapped ?? []).filter(one => !isOpen(one))
  return { ...plan, mapping: [...plan.mapping, ...added], unmapped }
}

/** Problems that keep an import from a dry run or a run: columns that are still open. */
export function openColumns(states: readonly ColumnState[]): Problem[] {
  return states.flatMap(({ name, state, reason }, index) => {
    if (state !== 'open') return []
    const message = `Column ${JSON.stringify(name)} needs an answer. ${reason}`
    const hint = `Send mapping with {"column": ${index}, "field": …}, null to leave it out; or confirm: true.`
    return [{ ...problemAt('/mapping', 'required', message), hint, column: name }]
  })
}

/** The states as JSON, with samples of each column. */
export function columnsJson(job: Pick<Job, 'columns'>, states: readonly ColumnState[]): JsonObject[] {
  return states.map((state, index) => {
    const { name, state: is, reason, guess } = state
    return { name, samples: job.columns![index]!.samples!, state: is, reason, guess }
  })
}
