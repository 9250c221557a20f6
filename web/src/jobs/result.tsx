/** The result of a job: its counts, the rejected rows with reasons, and the button that undoes it. */
import { useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, callApi } from '../api/api.ts'
import { labelOf, problemText, stepsOf } from '../api/problem-text.ts'
import { fieldsQuery, mayRead } from '../api/queries.ts'
import { nameOf } from '../fields/references/find-records.ts'
import { useFormat } from '../format/use-format.tsx'
import { RelatedLink } from '../records/related-link.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Confirm } from './confirm.tsx'
import { type Counts, canRevert, type Job, type JobProblem, type Phase, sendJobAction } from './job.ts'
import { countsOf } from './job-text.ts'
import { useMayControl } from './progress.tsx'

export function JobCounts({ job, phase, counts }: { job: Job; phase: Phase; counts: Counts }) {
  const format = useFormat()
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-3">
      {countsOf(job.kind, phase, counts).map(({ name, count, words }) => (
        <div key={name} className="flex flex-col-reverse">
          <dt className="text-sm text-ink-soft">{words}</dt>
          <dd
            className={classes(
              'text-xl font-semibold tabular',
              count > 0 && name === 'refused' && 'text-lost',
            )}
          >
            {format.number(count)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

type Ref = { readonly resource: string; readonly id: number }

/** The names of the records of problems, as far as they can be read. */
function useNames(refs: readonly Ref[]): (ref: Ref) => string {
  const groups = [...Map.groupBy(refs, ({ resource }) => resource)].map(
    ([resource, list]) => [resource, [...new Set(list.map(({ id }) => id))].sort((a, b) => a - b)] as const,
  )
  const { data } = useQuery({
    queryKey: ['names', groups],
    queryFn: async () => {
      const found = new Map<string, string>()
      for (const [resource, ids] of groups.filter(([resource]) => mayRead(resource))) {
        const query = { filter: `id:in(${ids.join()})`, pageSize: 500, count: 'none' }
        const list = await callApi<AnyRecord[]>('GET', `/${resource}/view/list`, { query })
        for (const record of list) found.set(`${resource} ${record.id}`, nameOf(record))
      }
      return found
    },
    enabled: refs.length > 0,
  })
  return ({ resource, id }) => data?.get(`${resource} ${id}`) ?? `${resource} ${id}`
}

/** The first refused rows or records, with every reason. */
export function Refusals({ job, phase }: { job: Job; phase: Phase }) {
  const format = useFormat()
  const isOfFile = job.kind === 'import' && phase !== 'revert'
  const refOf = (place: number, { resource, id }: JobProblem): Ref =>
    phase === 'revert'
      ? { resource: resource ?? job.resource, id: id ?? 0 }
      : { resource: job.resource, id: place }
  const rows = job.problems.flatMap(({ place, line, problems }) =>
    (phase === 'revert' ? problems.slice(0, 1) : problems).map((problem, index) => ({
      ...{ key: `${place} ${index}`, place, line, problem, index },
    })),
  )
  // The labels of its fields are loaded with it.
  useQuery({ ...fieldsQuery(job.resource), enabled: rows.length > 0 })
  const named = useNames(isOfFile ? [] : rows.map(({ place, problem }) => refOf(place, problem)))
  if (rows.length === 0) return null
  const left = job.refused - job.problems.length
  return (
    <div className="flex flex-col gap-1">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by the keys */}
      <section aria-label="What was refused" tabIndex={0} className="max-h-[420px] overflow-auto">
        <table className="w-full text-left">
          <thead>
            <tr className="text-sm text-ink-soft">
              <th scope="col" className="w-px py-1.5 pr-4 font-medium">
                {isOfFile ? 'Line' : 'Record'}
              </th>
              {phase !== 'revert' && (
                <th scope="col" className="w-px py-1.5 pr-4 font-medium">
                  {isOfFile ? 'Column' : 'Field'}
                </th>
              )}
              <th scope="col" className="py-1.5 font-medium">
                Reason
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, place, line, problem, index }) => {
              const ref = refOf(place, problem)
              return (
                <tr key={key} className="border-t border-line align-top">
                  <td className="py-1.5 pr-4 tabular whitespace-nowrap max-sm:whitespace-normal">
                    {isOfFile && format.number(line ?? place + 1)}
                    {!isOfFile && index === 0 && <RelatedLink {...ref}>{named(ref)}</RelatedLink>}
                  </td>
                  {phase !== 'revert' && (
                    <td className="max-w-48 py-1.5 pr-4 break-words" dir="auto">
                      {(isOfFile && columnOf(job, problem)) || nameOfField(job, problem) || '—'}
                    </td>
                  )}
                  <td className="py-1.5 break-words" dir="auto">
                    {problemText(
                      { ...problem, message: problem.message.replace(/^Column "[^"]*": /, '') },
                      job.resource,
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </section>
      {left > 0 && (
        <p className="text-sm text-ink-faint">
          And {format.number(left)} more{isOfFile ? ': the file of the refused rows has all of them' : ''}.
        </p>
      )}
    </div>
  )
}

/** The possible targets of a problem: `company.name` of its path, then `company`. */
function targetsOf(problem: JobProblem): readonly string[] {
  const steps = stepsOf(problem)
  return [...steps.keys()].map(index => steps.slice(0, steps.length - index).join('.'))
}

/** The column that a problem is about, by its name in the file. */
function columnOf({ mapping = [], columns = [] }: Job, problem: JobProblem): string | undefined {
  const wanted = [...targetsOf(problem), problem.field]
  const mapped = wanted.flatMap(target => mapping.find(({ field }) => field === target) ?? [])
  return columns[mapped[0]?.column ?? -1]?.name ?? problem.column
}

/** The label of a problem's field. */
function nameOfField({ targets = [], resource }: Job, problem: JobProblem): string | null {
  const names = targetsOf(problem)
  const target = targets.find(({ field }) => field === names[0])
  const [first] = names.at(-1)?.split('.') ?? []
  return target?.label ?? (first && labelOf(first, resource)) ?? problem.field
}

/** Reverts a job after a confirmation. */
export function RevertButton({ job, isSmall = false }: { job: Job; isSmall?: boolean }) {
  const [isAsking, setAsking] = useState(false)
  const mayControl = useMayControl(job)
  if (!mayControl || !canRevert(job)) return null
  return (
    <>
      <Button isSmall={isSmall} onPress={() => setAsking(true)}>
        <Undo2 size={14} aria-hidden />
        {job.kind === 'import' ? 'Undo import' : 'Undo'}
      </Button>
      {isAsking && (
        <Confirm
          title={job.kind === 'import' ? 'Undo the whole import?' : 'Undo the whole change?'}
          action="Undo it"
          onDo={() => sendJobAction(job, 'revert')}
          onClose={() => setAsking(false)}
        >
          <p>
            {job.kind === 'import'
              ? 'Records that it created are deleted, and records that it updated get their previous values. '
              : 'Each record gets its previous values. '}
            Records that were changed since are left alone and listed.
          </p>
        </Confirm>
      )}
    </>
  )
}
