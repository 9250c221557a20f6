/** The last steps: dry run, run, progress, result and revert. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { base, errorMessage, type Field, UserError } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { type Counts, manyOf, sendJobAction } from '../jobs/job.ts'
import { stateOf } from '../jobs/job-text.ts'
import { JobProgress } from '../jobs/progress.tsx'
import { JobCounts, Refusals, RevertButton } from '../jobs/result.tsx'
import { tableOf } from '../records/tables.ts'
import { useMe, whoOf } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Panel } from '../ui/page.tsx'
import { changedSince, type Import, noteTried, saved } from './import.ts'
import { missingLabels, unansweredIn } from './missing-fields.ts'
import { savePlan } from './saved-plans.ts'
import { useGo } from './steps.tsx'

const newest = { sort: 'created_at:desc' }

const isGoing = ({ state }: Import) => state === 'running' || state === 'paused'

export function TryStep({ job, fields }: { job: Import; fields: readonly Field[] }) {
  const format = useFormat()
  const go = useGo(job.id)
  const who = whoOf(useMe())
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isChanged = changedSince.use().has(job.id)
  const isTried = job.phase === 'dry_run' && !isGoing(job)
  const counts = job.result.dry_run as Counts | undefined
  const begin = async (action: 'dry_run' | 'run') => {
    setBusy(true)
    setProblem(undefined)
    try {
      if (!(await saved(job.id))) throw new UserError('The default values are not saved.')
      savePlan(who, job)
      await sendJobAction(job, action)
      noteTried(job.id)
      if (action === 'run') go('run')
    } catch (error) {
      setProblem(errorMessage(error))
    } finally {
      setBusy(false)
    }
  }
  const all = format.counted(job.total ?? 0, 'row', 'rows')
  const left = missingLabels(job, fields)
  const imported = (counts?.created ?? 0) + (counts?.updated ?? 0) + (counts?.unchanged ?? 0)
  const unanswered = unansweredIn(job, fields)
  const isLeading = isTried && !isChanged && (counts?.created || counts?.updated)
  const isVain = isTried && !isChanged && counts && !counts.created && !counts.updated
  if (isGoing(job))
    return (
      <Panel title="Trying it" className="p-4">
        <JobProgress job={job} />
      </Panel>
    )
  return (
    <>
      <Panel
        title={isTried ? 'What would happen' : 'Try it first'}
        detail={isTried ? undefined : 'Each row is checked as if it were imported. Nothing is saved.'}
        className="flex flex-col gap-4 p-4"
      >
        {isTried && counts && <JobCounts job={job} phase="dry_run" counts={counts} />}
        {isTried && isChanged && (
          <p className="rounded-sm bg-warn-soft px-3 py-2 text-warn">
            You have changed the import since this test run. Try it again.
          </p>
        )}
        {!isTried && left.length > 0 && (
          <p className="rounded-sm bg-warn-soft px-3 py-2 text-warn">
            No column is mapped to {left.join(', ')}, and there is no default value: rows will be rejected.
          </p>
        )}
        <ErrorMessage text={problem} />
        <div className="flex flex-wrap gap-2">
          <Button
            variant={isLeading ? 'plain' : 'primary'}
            isPending={isBusy}
            reason={unanswered}
            onPress={() => void begin('dry_run')}
          >
            {isTried ? 'Try again' : `Try ${all}`}
          </Button>
          <Button
            variant={isLeading ? 'primary' : 'plain'}
            isPending={isBusy}
            reason={
              unanswered ??
              (isVain ? 'Nothing would be imported. Fix the rejected rows and try again.' : undefined)
            }
            onPress={() => void begin('run')}
          >
            {isTried && !isChanged
              ? `Import ${format.counted(imported, 'row', 'rows')}`
              : 'Import without a test run'}
          </Button>
        </div>
      </Panel>
      {isTried && <CountedPanels counts={job} />}
      {isTried && <RefusedPanel job={job} phase="dry_run" />}
      {isTried && job.refused > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          <Button onPress={() => go('columns')}>Change the columns</Button>
          <Button onPress={() => go('values')}>Map the values</Button>
        </div>
      )}
    </>
  )
}

export function RunStep({ job }: { job: Import }) {
  const { resource, state, phase, error } = job
  const counts = phase === 'revert' ? job : ((job.result.run as Counts | undefined) ?? job)
  const table = tableOf(resource)
  const { text } = stateOf(job)
  const began = phase === 'run' || phase === 'revert'
  return (
    <>
      <Panel title={text} className="flex flex-col gap-4 p-4">
        {isGoing(job) && <JobProgress job={job} />}
        {error && <ErrorMessage text={error} />}
        {!isGoing(job) && began && <JobCounts job={job} phase={phase} counts={counts} />}
        {!isGoing(job) && !began && <p className="text-ink-soft">Nothing was imported.</p>}
        {state === 'cancelled' && phase === 'run' && (
          <p className="text-ink-soft">It was cancelled: the rows that were imported before are kept.</p>
        )}
        <div className="flex flex-wrap gap-x-4 gap-y-2 empty:hidden">
          {!isGoing(job) && (
            <>
              {table && (
                <Link to="/$table" params={{ table }} search={newest} className="linked self-center">
                  See the {manyOf(resource)}
                </Link>
              )}
              <Link to="/import" search={{ resource }} className="linked self-center">
                Import another file
              </Link>
            </>
          )}
          <span className="grow" />
          <RevertButton job={job} />
        </div>
      </Panel>
      {began && <RefusedPanel job={job} phase={phase} />}
      {phase === 'run' && <CountedPanels counts={counts as Partial<Import>} />}
      {began && <LeftOutPanel job={job} />}
    </>
  )
}

type CountedByName = Partial<Pick<Import, 'not_taken' | 'replaced' | 'users_out_of_use'>>

/** Counts that are not obvious from the file: values left unchanged or removed, and deactivated users. */
function CountedPanels({ counts }: { counts: CountedByName }) {
  return (
    <>
      <CountedPanel
        title="Values that were ignored"
        detail="The contacts and companies in the rows exist: they are linked, not changed."
        counts={counts.not_taken}
        words={['value', 'values']}
      />
      <CountedPanel
        title="Entries that are replaced"
        detail="These columns have whole lists: what records had in them besides is removed."
        counts={counts.replaced}
        words={['entry', 'entries']}
      />
      <CountedPanel
        title="Users who are out of use"
        detail="Rows name them, so the records are theirs."
        counts={counts.users_out_of_use}
        words={['row', 'rows']}
      />
    </>
  )
}

function CountedPanel(props: {
  title: string
  detail: string
  counts: { readonly [name: string]: number } | undefined
  words: readonly [one: string, several: string]
}) {
  const { title, detail, counts = {}, words } = props
  const format = useFormat()
  const all = Object.entries(counts)
  if (all.length === 0) return null
  return (
    <Panel title={title} detail={detail} className="p-4">
      <ul className="flex flex-col gap-1">
        {all.map(([name, count]) => (
          <li key={name}>
            <span className="font-medium" dir="auto">
              {name}
            </span>{' '}
            <span className="text-ink-soft">{format.counted(count, ...words)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** The columns that were left out, with the reasons. */
function LeftOutPanel({ job }: { job: Import }) {
  const out = job.columns.filter(({ state }) => state !== 'mapped')
  if (out.length === 0) return null
  return (
    <Panel title="Columns that were not imported" className="p-4">
      <ul className="flex flex-col gap-1">
        {out.map(({ name, reason }) => (
          <li key={name}>
            <span className="font-medium" dir="auto">
              {name}
            </span>{' '}
            <span className="text-ink-soft">{reason ?? 'Left out by you.'}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function RefusedPanel({ job, phase }: { job: Import; phase: 'dry_run' | 'run' | 'revert' }) {
  if (job.refused === 0) return null
  return (
    <Panel
      title={phase === 'revert' ? 'Left unchanged' : 'Refused rows'}
      className="p-4"
      actions={
        phase !== 'revert' && (
          <a href={`${base}/import/${job.id}/errors.csv`} download className="linked">
            Download them as CSV, with the reasons
          </a>
        )
      }
    >
      <Refusals job={job} phase={phase} />
    </Panel>
  )
}
