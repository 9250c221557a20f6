/** Acts on many records: how far it is, what has failed and why, and its undo. */
import { useRef, useState } from 'react'
import { sayError } from '../../api/api.ts'
import { type ListAsked, refresh } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/found.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'
import { announce, toast, toastError } from '../../ui/toast.tsx'
import { collect } from './bulk.ts'
import { carryOut, type Deed, type Failed, type Outcome } from './carry-out.ts'
import type { Selection } from './selection.ts'

export type Failures = {
  readonly title: string
  readonly list: readonly { readonly name: string; readonly reason: string }[]
  readonly retry?: (() => void) | undefined
}

export type Progress = { readonly label: string; readonly finished: number; readonly count: number }

type Names = { readonly one: string; readonly many: string; readonly nameField: string }

const named = (failed: readonly Failed[]) =>
  failed.map(({ item, reason }) => ({ name: nameOf(item), reason }))

const past = { change: 'changed', delete: 'deleted', restore: 'restored' } as const

export function useBulk(resource: string, names: Names) {
  const [progress, setProgress] = useState<Progress | null>(null)
  const [failures, setFailures] = useState<Failures | null>(null)
  const running = useRef<AbortController | null>(null)
  const { counted } = useFormat()
  const me = useMe()
  const mayTell = may(me, 'job:read') && may(me, 'job:write')
  const say = (count: number) => counted(count, names.one, names.many)

  const run = async (deed: Deed, asked: ListAsked, selection: Selection): Promise<void> => {
    if (running.current) return
    const stop = new AbortController()
    running.current = stop
    setProgress({ label: 'Reading what is selected', finished: 0, count: 0 })
    try {
      const fields = [names.nameField, ...(deed.type === 'change' ? Object.keys(deed.values) : [])]
      const records = await collect(resource, asked, selection, [...new Set(fields)], stop.signal)
      const count = records.length
      let told = 0
      const { done, refused, failed, undo } = await carryOut(resource, deed, records, mayTell, {
        signal: stop.signal,
        onStep: finished => {
          setProgress({ label: `${finished} of ${say(count)} ${past[deed.type]}`, finished, count })
          if (finished * 10 < (told + 1) * count) return
          told = Math.floor((finished * 10) / count)
          announce(`${finished} of ${count}`)
        },
      })
      await refresh(resource)
      if (done) toast(`${say(done)} ${past[deed.type]}.`, { action: undo && undoOf(undo) })
      const left = records.length - done - refused
      if (left && stop.signal.aborted) toastError(`It was stopped. ${say(left)} not ${past[deed.type]}.`)
      if (refused)
        setFailures({
          title: `${say(refused)} could not be ${past[deed.type]}`,
          list: named(failed),
          retry: () => {
            setFailures(null)
            void run(deed, asked, { isAll: false, ids: new Set(failed.map(({ item }) => item.id)) })
          },
        })
    } catch (error) {
      void refresh(resource)
      if (!stop.signal.aborted) toastError(sayError(error))
    } finally {
      running.current = null
      setProgress(null)
    }
  }
  const undoOf = (undo: () => Promise<Outcome>) => {
    const act = async () => {
      try {
        const { done, refused, failed } = await undo()
        await refresh(resource)
        if (done) toast(`${say(done)} as before.`, { isNews: true })
        if (refused) setFailures({ title: `${say(refused)} could not be brought back`, list: named(failed) })
      } catch (error) {
        toastError(sayError(error))
      }
    }
    return { label: 'Undo', act }
  }
  return { run, progress, failures, setFailures, stop: () => running.current?.abort() }
}
