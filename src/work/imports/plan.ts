/** The plan of an import (D80): how its file becomes records, as stored and changed. Pure. */
import { Refusal } from '../../errors.ts'
import { type ResourceSchema, shownField } from '../../fields/catalog.ts'
import type { Source } from '../../files/read.ts'
import type { Json } from '../../json.ts'
import { businessData } from '../../resources/resources.ts'
import type { Job } from '../jobs/job.ts'
import type { Formats } from './cell-values.ts'
import type { Unmapped } from './columns.ts'
import type { Defaults } from './defaults.ts'
import type { GuessedFormats } from './formats.ts'
import type { Guess, Mapping } from './guess.ts'

export const formats = ['csv', 'jsonl', 'xlsx'] as const

/** The resources that files can be imported to. */
export const importedResources: ReadonlySet<string> = new Set([...businessData, 'territory', 'tag'])

/** The actions for a row whose record exists. */
export const actions = ['skip', 'update', 'create'] as const

export type ImportPlan = {
  readonly format: string
  /** encoding, delimiter, sheet and header line: as sent, else as detected; absent in older plans */
  readonly source?: Omit<Source, 'format'>
  readonly mapping: Mapping
  /** unmapped columns, with reasons; one that a person left out is in neither; absent in older plans */
  readonly unmapped?: readonly Unmapped[]
  /** the guessed mapping and unmapped columns */
  readonly guess?: Guess
  /** field -> text of the file -> its value */
  readonly values: { readonly [field: string]: { readonly [text: string]: Json } }
  /** defaults of all rows; absent in older plans */
  readonly defaults?: Defaults
  /** `unclear`: formats that the cells leave open, whatever was chosen */
  readonly formats: Formats & { readonly unclear?: GuessedFormats['unclear'] }
  /** the unique field that identifies a row's record, and the action if it exists; null: rows are new */
  readonly duplicates: { readonly by: string | null; readonly action: (typeof actions)[number] }
}

/**
 * True if the field of the plan still identifies records: it may no longer be unique, or be hidden. Without
 * it each row of an existing record would create another.
 */
export function canTell(schema: ResourceSchema, { by, action }: ImportPlan['duplicates']): boolean {
  if (action === 'create') return true
  return by !== null && shownField(schema, by)?.is_unique === true
}

/** The message if it doesn't. */
export const untold = 'The field by which rows are told is no unique field by now.'

/** The message if a column or a value for all rows is of a field that was deleted, or is hidden by now. */
export const goneTarget = {
  column: 'The field to which a column is mapped is not there any more.',
  value: 'The field of a value for all rows is not there any more.',
} as const

/** Throws `wrong_state` if a target of the plan is gone: its values would be left out in silence. */
export function requireTargets(plan: ImportPlan, targets: { has(target: string): boolean }): void {
  if (!plan.mapping.every(({ field }) => targets.has(field)))
    throw new Refusal('wrong_state', goneTarget.column)
  if (goneDefaults(plan, targets).length) throw new Refusal('wrong_state', goneTarget.value)
}

/** The targets of values for all rows that are not there any more, such as a field that was deleted since. */
export function goneDefaults(
  { defaults = {} }: Pick<ImportPlan, 'defaults'>,
  targets: { has(target: string): boolean },
): readonly string[] {
  return Object.keys(defaults).filter(target => !targets.has(target))
}

export function planOf({ plan }: Pick<Job, 'plan'>): ImportPlan {
  return plan as unknown as ImportPlan
}
