/** Refused rows and records of a job, with as many problems as people can read, redacted for the reader. */
import { type Problem, type ProblemCode, problemAt, type Refusal } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { replayedProblem } from '../../records/write/answer.ts'
import { hiddenProblem } from '../../records/write/rules.ts'
import { mayRead, type Rights } from '../../rights/rights.ts'
import type { AuthorizedCaller, Caller } from '../../rights/visibility.ts'
import { type Counts, type Job, otherUsers, type Phase, type Refused } from './job.ts'

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

/** The job without names of users that its reader may not read: whoever ran it may have read them. */
export function jobFor(reader: { readonly rights: Rights }, job: Job): Job {
  if (mayRead(reader, 'user')) return job
  const told = <C extends Partial<Counts>>(counts: C): C => {
    const all = Object.values(counts.users_out_of_use ?? {})
    if (all.length === 0) return counts
    return { ...counts, users_out_of_use: { [otherUsers]: all.reduce((sum, count) => sum + count) } }
  }
  const results = Object.entries(job.result) as [Phase, Counts][]
  return {
    ...job,
    counts: told(job.counts),
    result: Object.fromEntries(results.map(([phase, counts]) => [phase, told(counts)])),
  }
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
