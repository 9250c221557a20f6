/** Acts on many records: how far it is, what has failed and why, and its undo. */
import { useRef, useState } from 'react'
import { type AnyRecord, sayError } from '../api/api.ts'
import { type ListAsked, refresh } from '../api/queries.ts'
import { nameOf } from '../fields/found.ts'
import { useFormat } from '../format/use-format.tsx'
import { announce, toast, toastError } from '../ui/toast.tsx'
import { collect } from './bulk.ts'
import { formerOf, undoneBy } from './deal-rules.ts'
import { update, type Values } from './draft.ts'
import { inParallel } from './in-parallel.ts'
import type { Selection } from './selection.ts'
import { remove, restore } from './write.ts'

/** What is done to each record: the values it gets, or that it goes, or comes back. */
export type Deed =
  | { readonly type: 'change'; readonly values: Values }
  | { readonly type: 'delete' | 'restore' }

export type Failures = {
  readonly title: string
  readonly list: readonly { readonly name: string; readonly reason: string }[]
  readonly retry?: (() => void) | undefined
}

export type Progress = { readonly label: string; readonly finished: number; readonly count: number }

type Names = { readonly one: string; readonly many: string; readonly nameField: string }

const past = { change: 'changed', delete: 'deleted', restore: 'restored' } as const

export function useBulk(resource: string, names: Names) {
  const [progress, setProgress] = useState<Progress | null>(null)
  const [failures, setFailures] = useState<Failures | null>(null)
  const running = useRef<AbortController | null>(null)
  const { counted } = useFormat()
  const say = (count: number) => counted(count, names.one, names.many)

  const act = (deed: Deed, record: AnyRecord): Promise<unknown> => {
    if (deed.type === 'change') return update(resource, record, deed.values, '')
    return deed.type === 'delete' ? remove(resource, record) : restore(resource, record)
  }
  const run = async (deed: Deed, asked: ListAsked, selection: Selection): Promise<void> => {
    if (running.current) return
    const stop = new AbortController()
    running.current = stop
    setProgress({ label: 'Reading what is selected', finished: 0, count: 0 })
    try {
      const fields = [names.nameField, ...(deed.type === 'change' ? undoneBy(Object.keys(deed.values)) : [])]
      const records = await collect(resource, asked, selection, [...new Set(fields)], stop.signal)
      const count = records.length
      let told = 0
      const { done, failed } = await inParallel(records, record => act(deed, record), {
        signal: stop.signal,
        onStep: finished => {
          setProgress({ label: `${finished} of ${say(count)} ${past[deed.type]}`, finished, count })
          if (finished * 10 < (told + 1) * count) return
          told = Math.floor((finished * 10) / count)
          announce(`${finished} of ${count}`)
        },
      })
      await refresh(resource)
      if (done.length) toast(`${say(done.length)} ${past[deed.type]}.`, { action: undoOf(deed, done) })
      const left = records.length - done.length - failed.length
      if (left) toastError(`It was stopped. ${say(left)} not ${past[deed.type]}.`)
      if (failed.length)
        setFailures({
          title: `${say(failed.length)} could not be ${past[deed.type]}`,
          list: failed.map(({ item, error }) => ({ name: nameOf(item), reason: sayError(error) })),
          retry: () => {
            setFailures(null)
            void run(deed, asked, { isAll: false, ids: new Set(failed.map(({ item }) => item.id)) })
          },
        })
    } catch (error) {
      if (!stop.signal.aborted) toastError(sayError(error))
    } finally {
      running.current = null
      setProgress(null)
    }
  }
  const undoOf = (deed: Deed, done: readonly { item: AnyRecord; result: unknown }[]) => {
    if (deed.type === 'restore') return undefined
    const undo = async () => {
      const { done: undone, failed } = await inParallel(done, ({ item, result }) => {
        if (deed.type !== 'change') return restore(resource, item)
        return update(resource, result as AnyRecord, formerOf(item, Object.keys(deed.values)), '')
      })
      await refresh(resource)
      if (undone.length) toast(`${say(undone.length)} as before.`, { isNews: true })
      if (failed.length)
        setFailures({
          title: `${say(failed.length)} could not be brought back`,
          list: failed.map(({ item, error }) => ({ name: nameOf(item.item), reason: sayError(error) })),
        })
    }
    return { label: 'Undo', act: () => void undo() }
  }
  return { run, progress, failures, setFailures, stop: () => running.current?.abort() }
}
