/** What was refused in a job, with as many of its problems as people can read. */
import { type Problem, problemAt, type Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Refused } from './job.ts'

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
