/** Texts for the state, progress and counts of a job. Pure. */
import type { Formats } from '../format/format.ts'
import type { Counts, Job, Phase } from './job.ts'

type Look = 'plain' | 'accent' | 'won' | 'lost' | 'warn'
type JobStatus = Pick<Job, 'kind' | 'state' | 'phase'>

/** "Trying", "Done", "Taken back"; and the colour of the badge. */
export function stateOf({ kind, state, phase }: JobStatus): { readonly text: string; readonly look: Look } {
  const doing = {
    dry_run: 'Trying',
    run: kind === 'import' ? 'Importing' : 'Changing',
    revert: 'Undoing',
  }
  switch (state) {
    case 'running':
      return { text: phase ? doing[phase] : 'Running', look: 'accent' }
    case 'paused':
      return { text: 'Paused', look: 'warn' }
    case 'waiting':
      return { text: phase === 'dry_run' ? 'Tried, not yet run' : 'Not yet run', look: 'plain' }
    case 'done':
      return phase === 'revert' ? { text: 'Undone', look: 'plain' } : { text: 'Done', look: 'won' }
    case 'failed':
      return { text: 'Failed', look: 'lost' }
    default:
      return { text: 'Cancelled', look: 'plain' }
  }
}

/** The noun of a phase's counts: rows of an import, records of a bulk change, changes of an undo. */
function nounOf(kind: Job['kind'], phase: Phase | null): readonly [one: string, many: string] {
  if (phase === 'revert') return ['change', 'changes']
  return kind === 'import' ? ['row', 'rows'] : ['record', 'records']
}

/** "1,200 of 5,000 rows · 850 a second · about 5 seconds left" */
export function progressOf(job: Job, format: Formats): string {
  const { kind, phase, done, total, rate, state } = job
  const [, many] = nounOf(kind, phase)
  const of = total === null ? format.number(done) : `${format.number(done)} of ${format.number(total)}`
  const left = rate && total && state === 'running' ? Math.ceil((total - done) / rate) : 0
  return [
    `${of} ${many}`,
    rate && state === 'running' && `${format.number(rate)} a second`,
    left > 1 && `about ${durationOf(left, format)} left`,
  ]
    .filter(Boolean)
    .join(' · ')
}

function durationOf(seconds: number, { counted }: Formats): string {
  if (seconds < 90) return counted(seconds, 'second', 'seconds')
  const minutes = Math.round(seconds / 60)
  return minutes < 90
    ? counted(minutes, 'minute', 'minutes')
    : counted(Math.round(minutes / 60), 'hour', 'hours')
}

type Words = { readonly [count in keyof Counts]?: string }

const imported: { readonly [phase in Phase]: Words } = {
  dry_run: { created: 'would be created', updated: 'would be updated', skipped: 'would be skipped' },
  run: {
    created: 'created',
    updated: 'updated',
    skipped: 'skipped',
    related: 'contacts and companies created',
  },
  revert: {},
}
const changed: { readonly [phase in Phase]: Words } = {
  dry_run: { updated: 'would be changed', unchanged: 'already have the value' },
  run: { updated: 'changed', unchanged: 'already had the value' },
  revert: {},
}

/** The counts of a phase, each with its words; empty ones are left out. */
export function countsOf(
  kind: Job['kind'],
  phase: Phase,
  counts: Counts,
): readonly { readonly name: keyof Counts; readonly count: number; readonly words: string }[] {
  const own = kind === 'import' ? imported[phase] : changed[phase]
  const refused = { dry_run: 'would be refused', run: 'refused', revert: 'not undone' }[phase]
  const words: Words = {
    ...own,
    ...(phase === 'revert' ? { reverted: 'undone' } : {}),
    refused,
  }
  const always = [kind === 'import' ? 'created' : 'updated', 'reverted', 'refused']
  return (Object.keys(words) as (keyof Counts)[]).flatMap(name => {
    const count = counts[name] ?? 0
    if (count === 0 && !always.includes(name)) return []
    return [{ name, count, words: words[name]! }]
  })
}
