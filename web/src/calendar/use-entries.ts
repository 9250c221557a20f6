/** The activities of the days in view, and their moves: shown at once, put back where they are refused. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { useWhose } from '../activities/whose.tsx'
import { type AnyRecord, errorMessage, type Field } from '../api/api.ts'
import { fieldsQuery, mayRead } from '../api/queries.ts'
import { nameOf } from '../fields/references/find-records.ts'
import { useFormat } from '../format/use-format.tsx'
import { saveRow } from '../records/editing/write.ts'
import { refreshAbout } from '../records/timeline/activities.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { conditionOfDays, daysQuery } from './days-query.ts'
import { type Change, changeTo, entriesByDay, isForDay, type Slot } from './entries.ts'

const shown = ['kind', 'subject', 'due_at', 'duration', 'done_at', 'owner', 'version']

/** The fields that the caller's role shows, of those that entries need. */
function shownOf(sections: readonly (readonly Field[])[]): { fields: string; expand: string } {
  const names = new Set(sections.flat().map(({ internal_name }) => internal_name))
  const expand = names.has('owner') && mayRead('user') ? 'owner' : ''
  return { fields: shown.filter(name => names.has(name)).join(), expand }
}

export function useEntries(days: readonly string[]) {
  const { timeZone } = useFormat()
  const { conditions } = useWhose()
  const { data: sections } = useSuspenseQuery(fieldsQuery('activity'))
  const { fields, expand } = shownOf(sections)
  const hasDuration = fields.split(',').includes('duration')
  const filter = [...conditions, conditionOfDays(days, timeZone, hasDuration)].join()
  const read = useQuery(daysQuery(filter, fields, expand))
  const { wanted, move } = useMoves()
  const rows = read.data?.data
  const byDay = useMemo(
    () =>
      entriesByDay(
        (rows ?? []).map(row => ({ ...row, ...wanted.get(row.id) })),
        days,
        timeZone,
      ),
    [rows, wanted, days, timeZone],
  )
  const meta = read.data?.meta
  const cut =
    meta?.hasMore && rows?.length
      ? { ...meta, total: meta.total ?? rows.length, shown: rows.length, last: latestOf(rows) }
      : null
  return { read, byDay, cut, move }
}

const latestOf = (rows: readonly AnyRecord[]) =>
  rows.map(({ due_at }) => String(due_at)).reduce((one, other) => (one > other ? one : other))

/**
 * Moves of activities. Several moves of one that follow each other quickly are one write: the last that was
 * wanted when the one before was saved.
 */
function useMoves() {
  const format = useFormat()
  const [wanted, setWanted] = useState<ReadonlyMap<number, Change>>(new Map())
  const latest = useRef(wanted)
  const want = (id: number, change: Change | null) => {
    const next = new Map(latest.current)
    if (change) next.set(id, change)
    else next.delete(id)
    latest.current = next
    setWanted(next)
  }
  const write = async (before: AnyRecord) => {
    const { id } = before
    try {
      let row = before
      for (let sent: Change | undefined; sent !== latest.current.get(id); ) {
        sent = latest.current.get(id)!
        row = await saveRow('activity', row, sent)
      }
      const text = `Moved “${nameOf(row)}” to ${timeText(row, format)}.`
      toast(text, { action: { label: 'Undo', act: () => moveBack(before, row) } })
    } catch (error) {
      toastError(`“${nameOf(before)}” was not moved. ${errorMessage(error)}`)
    }
    want(id, null)
    void refreshAbout()
  }
  const move = (activity: AnyRecord, to: Slot) => {
    const change = changeTo(activity, to, format.timeZone)
    if (change.due_at === activity.due_at && change.duration === undefined) return
    const isUnderWay = latest.current.has(activity.id)
    want(activity.id, change)
    if (!isUnderWay) void write(activity)
  }
  return { wanted, move }
}

async function moveBack(before: AnyRecord, moved: AnyRecord): Promise<void> {
  const { due_at, duration } = before
  try {
    await saveRow('activity', moved, { due_at, ...('duration' in before ? { duration } : {}) })
    toast(`Moved “${nameOf(before)}” back.`, { isNews: true })
  } catch (error) {
    toastError(errorMessage(error))
  }
  void refreshAbout()
}

/** When an activity is, in words. */
export function timeText(activity: AnyRecord, format: ReturnType<typeof useFormat>): string {
  const due = String(activity.due_at)
  return isForDay(activity, format.timeZone) ? format.longDate(format.dateOf(due)) : format.moment(due)
}
