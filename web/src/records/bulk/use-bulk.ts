/** Bulk actions: progress, failures with reasons, and undo. */
import { useRef, useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { type ListRequest, refresh } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useFormat } from '../../format/use-format.tsx'
import { mayStartJobs, useMe } from '../../shell/me.ts'
import { announce, toast, toastError } from '../../ui/toast.tsx'
import { useIsGone } from '../../ui/use-latest.ts'
import { readSelected } from './read-selected.ts'
import { type BulkAction, type Failed, type Outcome, runBulkAction } from './run-action.ts'
import type { Selection } from './selection.ts'

export type Failures = {
  readonly title: string
  /** number of refused records or cells, of which `list` has the first */
  readonly count: number
  readonly list: readonly { readonly name: string; readonly reason: string }[]
  readonly retry?: (() => void) | undefined
}

export type Progress = { readonly label: string; readonly finished: number; readonly count: number }

type Names = { readonly one: string; readonly many: string; readonly nameFields: readonly string[] }

const named = (failed: readonly Failed[]) =>
  failed.map(({ item, reason }) => ({ name: nameOf(item), reason }))

/** The first reasons, for a message: the page of the list is left. */
const reasonsOf = (failed: readonly Failed[]) =>
  [...new Set(failed.map(({ reason }) => reason))].slice(0, 3).join(' ')

const past = { change: 'changed', delete: 'deleted', restore: 'restored' } as const

export function useBulk(resource: string, names: Names) {
  const [progress, setProgress] = useState<Progress | null>(null)
  const [failures, setFailures] = useState<Failures | null>(null)
  const running = useRef<AbortController | null>(null)
  const { counted } = useFormat()
  const me = useMe()
  const isGone = useIsGone()
  const countLabel = (count: number) => counted(count, names.one, names.many)

  /** `onBegun` is called once the first request of the action itself is sent, or taken by the service. */
  const carryOut = async (
    action: BulkAction,
    request: ListRequest,
    selection: Selection,
    onBegun: () => void,
  ): Promise<void> => {
    if (running.current) return
    const stop = new AbortController()
    running.current = stop
    setProgress({ label: 'Reading the selected records', finished: 0, count: 0 })
    try {
      const fields = [...names.nameFields, ...(action.type === 'change' ? Object.keys(action.values) : [])]
      const records = await readSelected(resource, request, selection, [...new Set(fields)], stop.signal)
      const count = records.length
      let announcedTenth = 0
      const { done, refused, failed, undo } = await runBulkAction(
        resource,
        action,
        records,
        mayStartJobs(me),
        {
          signal: stop.signal,
          onBegun,
          onStep: finished => {
            setProgress({
              label: `${finished} of ${countLabel(count)} ${past[action.type]}`,
              finished,
              count,
            })
            if (finished * 10 < (announcedTenth + 1) * count) return
            announcedTenth = Math.floor((finished * 10) / count)
            announce(`${finished} of ${count}`)
          },
        },
      )
      await refresh(resource)
      if (done) toast(`${countLabel(done)} ${past[action.type]}.`, { action: undo && undoOf(undo) })
      const left = records.length - done - refused
      if (left && stop.signal.aborted)
        toastError(`It was stopped. ${countLabel(left)} not ${past[action.type]}.`)
      // All are tried again then, but not those that a stop has spared.
      const isUnknown = failed.length < refused
      const title = `${countLabel(refused)} could not be ${past[action.type]}`
      if (refused && isGone.current) toastError(`${title}. ${reasonsOf(failed)}`)
      else if (refused)
        setFailures({
          title,
          count: refused,
          list: named(failed),
          retry:
            isUnknown && stop.signal.aborted
              ? undefined
              : () => {
                  setFailures(null)
                  // Those that are changed already stay so.
                  const again = isUnknown ? records : failed.map(({ item }) => item)
                  void run(action, request, { isAll: false, ids: new Set(again.map(({ id }) => id)) })
                },
        })
    } catch (error) {
      void refresh(resource)
      if (!stop.signal.aborted) toastError(errorMessage(error))
    } finally {
      running.current = null
      setProgress(null)
    }
  }
  /** True once it has begun; false if it could not: what was selected and typed is to stay then. */
  const run = (action: BulkAction, request: ListRequest, selection: Selection): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    void carryOut(action, request, selection, () => resolve(true)).finally(() => resolve(false))
    return promise
  }
  const undoOf = (undo: () => Promise<Outcome>) => {
    const act = async () => {
      try {
        const { done, refused, failed } = await undo()
        await refresh(resource)
        if (done) toast(`${countLabel(done)} restored.`, { isNews: true })
        const title = `${countLabel(refused)} could not be restored`
        if (refused && isGone.current) toastError(`${title}. ${reasonsOf(failed)}`)
        else if (refused)
          setFailures({
            title,
            count: refused,
            list: named(failed),
          })
      } catch (error) {
        toastError(errorMessage(error))
      }
    }
    return { label: 'Undo', act }
  }
  return { run, progress, failures, setFailures, stop: () => running.current?.abort() }
}
