/** What is to be done with a file (D80): the plan of an import, as it is stored and changed. Pure. */
import type { Job } from '../jobs/job.ts'
import type { Json } from '../json.ts'
import type { Formats } from './cell-values.ts'
import type { Unmapped } from './columns.ts'
import type { Defaults } from './defaults.ts'
import type { GuessedFormats } from './formats.ts'
import type { Guess, Mapping } from './guess.ts'
import type { Source } from './read.ts'

/** How files are written. */
export const formats = ['csv', 'jsonl', 'xlsx'] as const

/** The resources that files can be imported to. */
export const importedResources: ReadonlySet<string> = new Set([
  ...['deal', 'product', 'contact', 'company', 'activity', 'territory', 'tag'],
])

/** What is done with a row whose record is there. */
export const actions = ['skip', 'update', 'create'] as const

export type ImportPlan = {
  readonly format: string
  /** encoding, delimiter, sheet and header line: as sent, else as detected; absent in older plans */
  readonly source?: Omit<Source, 'format'>
  readonly mapping: Mapping
  /** the other columns, with why; those of which a person said so are in neither. Absent in older plans */
  readonly unmapped?: readonly Unmapped[]
  /** both as they were guessed */
  readonly guess?: Guess
  /** field -> text of the file -> what it stands for */
  readonly values: { readonly [field: string]: { readonly [text: string]: Json } }
  /** what all rows have that say nothing of it; absent in plans from before */
  readonly defaults?: Defaults
  /** `unclear`: what its cells leave open, whatever was chosen */
  readonly formats: Formats & { readonly unclear?: GuessedFormats['unclear'] }
  /** the unique field that tells a row's record, and what is done where it is there; null: rows are new */
  readonly duplicates: { readonly by: string | null; readonly action: (typeof actions)[number] }
}

export function planOf({ plan }: Pick<Job, 'plan'>): ImportPlan {
  return plan as unknown as ImportPlan
}
