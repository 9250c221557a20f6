/** Asks for the next activity after one of a deal was done: a deal with nothing planned is forgotten. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { aboutActivity } from '../activities/about.ts'
import { savePlanned } from '../activities/log.ts'
import { NextStep, useNextStep } from '../activities/next-step.tsx'
import { type AnyRecord, errorMessage } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'

export function NextActivity({ after, onClose }: { after: AnyRecord; onClose: () => void }) {
  const deal = typeof after.deal === 'number' ? after.deal : null
  const filter = `deal:eq(${deal}),done_at:isnull(true)`
  const request = { filter, sort: 'due_at:asc', fields: 'id' }
  const { data } = useQuery({ ...pageQuery('activity', request, 1, 1), enabled: deal !== null, staleTime: 0 })
  if (deal === null || data?.meta.total !== 0) return null
  return (
    <Dialog title="What is next?" isOpen onClose={onClose}>
      <PlanForm after={after} onClose={onClose} />
    </Dialog>
  )
}

function PlanForm({ after, onClose }: { after: AnyRecord; onClose: () => void }) {
  const about = aboutActivity(after)
  const [isTried, setTried] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [error, setError] = useState<string>()
  const key = useRef(crypto.randomUUID())
  const next = useNextStep('Call', isTried)
  const plan = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (isSaving || !next.step) return
    setSaving(true)
    try {
      await savePlanned(next.step, about, key.current)
      onClose()
    } catch (failed) {
      key.current = crypto.randomUUID()
      setError(errorMessage(failed))
      setSaving(false)
    }
  }
  return (
    <form noValidate onSubmit={event => void plan(event)} className="flex flex-col gap-4">
      <p>
        Nothing is planned any more for{' '}
        <bdi className="font-medium">{about.deal?.name ?? `deal ${about.deal?.id}`}</bdi>.
      </p>
      <NextStep state={next} isRequired autoFocus />
      {error && (
        <p role="alert" className="text-lost">
          {error}
        </p>
      )}
      <DialogActions>
        <Cancel onPress={onClose}>Nothing now</Cancel>
        <Button type="submit" variant="primary" isDisabled={next.step === null} isPending={isSaving}>
          Plan it
        </Button>
      </DialogActions>
    </form>
  )
}
