/** What was refused in a job, with as many of its problems as people can read, and what of it is told. */
import { type Problem, problemAt, type Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { problemAgain } from '../records/replay.ts'
import { hiddenProblem } from '../records/save.ts'
import type { Rights } from '../rights/rights.ts'
import type { Viewer } from '../rights/visibility.ts'
import type { Job, Refused } from './job.ts'

const problemsMax = 20

/** A row or record that was refused. A refusal without problems is one itself. */
export function refusedAt(
  place: number,
  { slug, message, problems }: Pick<Refusal, 'slug' | 'message' | 'problems'>,
  more: (problem: Problem) => { readonly [name: string]: Json } = () => ({}),
): Refused {
  const all = problems.length ? problems : [problemAt('', slug, message)]
  const listed = all.slice(0, problemsMax).map(problem => ({ ...problem, ...more(problem) }))
  return { place, problems: listed as unknown as Json[] }
}

/**
 * A function that says what was refused to somebody who reads the job by now: administrators are told all,
 * anybody else as a refusal is told again (D8). Whoever carried the phase out may have seen more.
 */
export function refusedFor(
  viewer: Viewer & { readonly rights: Rights },
  job: Pick<Job, 'resource'>,
): (refused: Refused) => Refused {
  if (viewer.rights.isAdmin) return refused => refused
  return ({ place, problems }) => ({ place, problems: problems.map(one => problemFor(viewer, job, one)) })
}

function problemFor(viewer: Viewer, job: Pick<Job, 'resource'>, stored: Json): Json {
  const problem = stored as unknown as Problem
  const { column, line, resource, id } = problem
  const fields = viewer.catalog.resources.get((resource as string | undefined) ?? job.resource)!
  const told = problemAgain(fields, viewer, problem)
  const given = Object.entries({ column: told ? column : undefined, line, resource, id })
  const about = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  return { ...(told ?? hiddenProblem()), ...about } as unknown as Json
}
