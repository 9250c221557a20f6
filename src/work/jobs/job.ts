/** Model of a job (D84): its states, its counts, and its JSON. Pure. */
import { type Json, type JsonObject, parseJson } from '../../json.ts'
import type { RequestWork } from '../../records/write/operation.ts'
import { adminScope } from '../../rights/scopes.ts'

export const states = ['waiting', 'running', 'paused', 'done', 'failed', 'cancelled'] as const
export type State = (typeof states)[number]
/** The phases of a job: dry run, run, revert. */
export const phases = ['dry_run', 'run', 'revert'] as const
export type Phase = (typeof phases)[number]
export type Kind = 'import' | 'bulk'

/** Outcomes of the rows, records or events of a phase. */
export type Counts = {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly skipped: number
  readonly refused: number
  readonly reverted: number
  /** contacts and companies that were created with the records */
  readonly related: number
  /** column → number of its values that linked contacts and companies, which stay unchanged, did not get */
  readonly not_taken: { readonly [column: string]: number }
  /** column → number of entries that it removed from records' lists */
  readonly replaced: { readonly [column: string]: number }
  /** inactive user → number of imported rows that name them */
  readonly users_out_of_use: { readonly [name: string]: number }
}

/** The counts of a phase that has ended. `seen_by` as of `seenBy`; unknown in results of earlier versions. */
export type Result = Counts & { readonly seen_by?: number | null }

const noCounts: Counts = {
  ...{ created: 0, updated: 0, unchanged: 0, skipped: 0, refused: 0 },
  ...{ reverted: 0, related: 0, not_taken: {}, replaced: {}, users_out_of_use: {} },
}

/** Replaces the names of users if there are many, or if the reader may not read users. */
export const otherUsers = 'others'

export type Job = {
  readonly account: number
  readonly id: number
  readonly kind: Kind
  readonly resource: string
  readonly name: string | null
  readonly state: State
  readonly phase: Phase | null
  /** the user who owns it */
  readonly actor: number
  /** the user who started its phase */
  readonly actsAs: number
  readonly token: number | null
  readonly session: number | null
  readonly requestId: string | null
  readonly scopes: readonly string[]
  readonly plan: JsonObject
  readonly columns: JsonObject[] | null
  readonly total: number | null
  /** the last row, id or seq that was processed */
  readonly position: number
  readonly done: number
  readonly counts: Counts
  readonly workedMs: number
  readonly result: { readonly [phase in Phase]?: Result }
  readonly error: string | null
  readonly createdAt: string
  readonly begunAt: string | null
  readonly endedAt: string | null
}

/**
 * The unit of work of a step: at most `count` rows, records or events of its job. It can restore records that
 * were deleted at `oldest` or later.
 */
export type StepWork = RequestWork & {
  readonly job: Job
  readonly oldest: Date
  readonly count: number
}

/** The result of a step: the additions to the counts, and the position where the next one begins. */
export type Step = {
  readonly position: number
  readonly done: number
  readonly counts: Partial<Counts>
  readonly problems: readonly Refused[]
  readonly isEnd: boolean
}

/** A refused row, record or event, by its number, with the reasons. */
export type Refused = {
  readonly place: number
  readonly problems: readonly Json[]
  /** the line of the file, for a row with a known line */
  readonly line?: number | null
}

/** A job from its row, as read by `jobColumns` (store.ts). */
export function jobOf(row: Readonly<Record<string, string | null>>): Job {
  const number = (text: string | null | undefined) =>
    text === null || text === undefined ? null : Number(text)
  const instant = (text: string | null | undefined) => (text ? (JSON.parse(text) as string) : null)
  return {
    account: Number(row.account_id),
    id: Number(row.id),
    kind: row.kind as Kind,
    resource: row.resource!,
    name: row.name ?? null,
    state: row.state as State,
    phase: row.phase as Phase | null,
    actor: Number(row.actor),
    actsAs: Number(row.acts_as),
    token: number(row.token),
    session: number(row.session),
    requestId: row.request_id ?? null,
    scopes: JSON.parse(row.scopes!) as string[],
    plan: parseJson(row.plan!) as JsonObject,
    columns: row.columns ? (parseJson(row.columns) as JsonObject[]) : null,
    total: number(row.total),
    position: Number(row.position),
    done: Number(row.done),
    counts: { ...noCounts, ...(JSON.parse(row.counts!) as Partial<Counts>) },
    workedMs: Number(row.worked_ms),
    result: JSON.parse(row.result!) as Job['result'],
    error: row.error ?? null,
    createdAt: instant(row.created_at)!,
    begunAt: instant(row.begun_at),
    endedAt: instant(row.ended_at),
  }
}

/** The user with whose sight the phase of a job is carried out; null: with that of an administrator. */
export function seenBy({ actsAs, scopes }: Pick<Job, 'actsAs' | 'scopes'>): number | null {
  return scopes.includes(adminScope) ? null : actsAs
}

/** A job as JSON; `problems`: the first of its phase. */
export function jobJson(job: Job, problems: readonly Refused[] = []): JsonObject {
  const { id, kind, resource, name, state, phase, total, done, counts, workedMs, result, error } = job
  return {
    ...{ id, kind, resource, name, state, phase, done, total },
    rate: workedMs > 0 ? Math.round((done / workedMs) * 1000) : null,
    ...counts,
    problems: problems.map(({ place, line, problems }) => ({
      ...{ place, ...(line === undefined ? {} : { line }) },
      problems: [...problems],
    })),
    result: Object.fromEntries(
      Object.entries(result).map(([name, { seen_by: _, ...counts }]) => [name, counts]),
    ),
    error,
    created_by: job.actor,
    created_at: job.createdAt,
    begun_at: job.begunAt,
    ended_at: job.endedAt,
  }
}
