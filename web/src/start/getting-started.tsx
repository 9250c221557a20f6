/** The first steps of a new account (D162): ways in for its deals, and a list that ticks itself off. */
import { Link, useNavigate } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { useMe } from '../shell/me.ts'
import { openNew } from '../shell/new-record.tsx'
import { prefer, usePreferences } from '../shell/preferences.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Panel } from '../ui/page.tsx'
import { importSampleDeals } from './sample-deals.ts'
import { type Step, useSteps } from './steps.ts'

/** Nothing once all is done, the account is in use, or the user has hidden it in this browser. */
export function GettingStarted() {
  const { isStartHidden } = usePreferences()
  const steps = useSteps(!isStartHidden)
  if (!steps || isStartHidden) return null
  const done = steps.filter(({ isDone }) => isDone).length
  if (done === steps.length) return null
  return (
    <div className="mx-auto w-full max-w-[640px] px-4 pb-6">
      <Panel
        title="Getting started"
        detail={`${done} of ${steps.length} done`}
        actions={
          <Button variant="quiet" isSmall onPress={() => prefer({ isStartHidden: true })}>
            Hide
          </Button>
        }
      >
        <ol className="divide-y divide-line">
          {steps.map(step => (
            <StepRow key={step.title} step={step} />
          ))}
        </ol>
      </Panel>
    </div>
  )
}

function StepRow({ step: { title, detail, isDone, page } }: { step: Step }) {
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <span
        className={classes(
          'mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full border',
          isDone ? 'border-won bg-won-soft text-won' : 'border-line-strong',
        )}
      >
        {isDone && <Check size={13} aria-hidden />}
      </span>
      <div className="min-w-0 grow">
        <p className={classes('font-medium', isDone && 'text-ink-faint line-through')}>
          {page && !isDone ? (
            <Link to={page} className="linked">
              {title}
            </Link>
          ) : (
            title
          )}
          {isDone && <span className="unseen">, done</span>}
        </p>
        {!isDone && <p className="text-sm text-ink-soft">{detail}</p>}
        {!isDone && page === null && <WaysIn />}
      </div>
    </li>
  )
}

function WaysIn() {
  const me = useMe()
  const format = useFormat()
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const sample = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      const job = await importSampleDeals(format.today(), me)
      void navigate({ to: '/import/$id', params: { id: String(job.id) }, search: { step: 'run' } })
    } catch (error) {
      setProblem(errorMessage(error))
      setBusy(false)
    }
  }
  return (
    <>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          variant="primary"
          isSmall
          onPress={() => void navigate({ to: '/import', search: { resource: 'deal' } })}
        >
          Import a file
        </Button>
        <Button isSmall onPress={() => openNew('deal')}>
          New deal
        </Button>
        <Button isSmall isPending={isBusy} onPress={() => void sample()}>
          Try ten sample deals
        </Button>
      </div>
      <ErrorMessage text={problem} />
    </>
  )
}
