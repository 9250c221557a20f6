/** A bulk change of all records of a filter: its dry run, progress, result and undo. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { type Counts, type Job, jobQuery, manyOf, sendJobAction } from '../../jobs/job.ts'
import { JobOutcome } from '../../jobs/outcome.tsx'
import { RevertButton } from '../../jobs/result.tsx'
import { LoadError } from '../../shell/load-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Skeleton } from '../../ui/elements.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'

export function BulkJobDialog(props: {
  resource: string
  id: number
  onClose: (job: Job | undefined) => void
}) {
  const { resource, id, onClose } = props
  const { data: job, error, refetch } = useQuery(jobQuery('bulk', id))
  const format = useFormat()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = async (tried: Job) => {
    setBusy(true)
    try {
      await sendJobAction(tried, 'run')
    } catch (error) {
      setProblem(errorMessage(error))
    } finally {
      setBusy(false)
    }
  }
  const close = () => onClose(job)
  const isTried = job?.state === 'waiting'
  const { updated = 0 } = (job?.result.dry_run ?? {}) as Partial<Counts>
  return (
    <Dialog
      title={`Change all ${manyOf(resource)} that the filter finds`}
      isOpen
      onClose={close}
      width="wide"
    >
      <LoadError error={error} onRetry={() => void refetch()} />
      <div className="flex flex-col gap-4">
        {job ? <JobOutcome job={job} /> : <Skeleton className="h-16" />}
        {isTried && <p className="text-ink-soft">This was a test run: nothing has been changed yet.</p>}
        <ErrorMessage text={problem} />
      </div>
      <DialogActions>
        {job && <RevertButton job={job} />}
        <Button variant={isTried ? 'plain' : 'primary'} onPress={close}>
          {isTried ? 'Change nothing' : 'Close'}
        </Button>
        {isTried && updated > 0 && (
          <Button variant="primary" isPending={isBusy} onPress={() => void run(job)}>
            Change {format.number(updated)}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
