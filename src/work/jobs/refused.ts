/** Refused rows and records of a job, with as many problems as people can read, redacted for the reader. */
import { type Problem, type ProblemCode, problemAt, type Refusal } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { hiddenProblem } from '../../records/rendered-record.ts'
import { replayedProblem } from '../../records/write/response.ts'
import { mayRead } from '../../rights/rights.ts'
import type { AuthorizedCaller, Caller } from '../../rights/visibility.ts'
import { type Counts, type Job, otherUsers, type Phase, type Refused, type Result, seenBy } from './job.ts'

const problemsMax = 20

/** A refused row or record. A refusal without problems is a problem itself. */
export function refusedAt(
  place: number,
  { slug, message, problems }: Pick<Refusal, 'slug' | 'message' | 'problems'>,
  more: (problem: Problem) => { readonly [name: string]: Json } = () => ({}),
): Refused {
  // A refusal without problems has its own slug as the code of one.
  const all = problems.length ? problems : [problemAt('', slug as ProblemCode, message)]
  const listed = all.slice(0, problemsMax).map(problem => ({ ...problem, ...more(problem) }))
  return { place, problems: listed as unknown as Json[] }
}

/**
 * A function that redacts a refusal for the current reader of the job: administrators see all, others what a
 * repeated refusal shows (D8). The user of the phase may have seen more.
 */
export function refusedFor(
  caller: AuthorizedCaller,
  job: Pick<Job, 'resource'>,
): (refused: Refused) => Refused {
  if (caller.rights.isAdmin) return refused => refused
  return ({ place, problems }) => ({ place, problems: problems.map(one => problemFor(caller, job, one)) })
}

/**
 * The job as its reader may see it: without names of users that they may not read, and without the counts of
 * values that stored records have, if a phase compared with what another user sees.
 */
export function jobFor(reader: AuthorizedCaller, job: Job): Job {
  const { rights, actor } = reader
  if (rights.isAdmin) return job
  const told = <C extends Counts>(counts: C, by: number | null | undefined): C => ({
    ...counts,
    ...(by === actor ? {} : { not_taken: {}, replaced: {} }),
    ...(mayRead(reader, 'user') ? {} : { users_out_of_use: withoutNames(counts.users_out_of_use) }),
  })
  const results = Object.entries(job.result) as [Phase, Result][]
  return {
    ...job,
    counts: told(job.counts, seenBy(job)),
    result: Object.fromEntries(results.map(([phase, counts]) => [phase, told(counts, counts.seen_by)])),
  }
}

function withoutNames(users: Counts['users_out_of_use'] = {}): Counts['users_out_of_use'] {
  const all = Object.values(users)
  return all.length ? { [otherUsers]: all.reduce((sum, count) => sum + count) } : users
}

function problemFor(caller: Caller, job: Pick<Job, 'resource'>, stored: Json): Json {
  const problem = stored as unknown as Problem
  const { column, line, resource, id } = problem
  const schema = caller.catalog.resources.get((resource as string | undefined) ?? job.resource)!
  const told = replayedProblem({ schema, context: caller }, problem)
  const given = Object.entries({ column: told ? column : undefined, line, resource, id })
  const about = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  return { ...(told ?? hiddenProblem()), ...about } as unknown as Json
}
