/** Time of a deal in each stage, from its history. Pure. */
import type { AnyRecord } from '../../api/api.ts'

/** A change of the stage: its time, and the stage before. */
export type StageChange = { readonly at: string; readonly from: number; readonly to: number }

/**
 * Stage → time of the deal in it, in milliseconds. `now` ends the current one. The times of a stage that the
 * deal returned to are added.
 */
export function stageTimes(
  changes: readonly StageChange[],
  { created_at: createdAt, pipeline_stage: current }: AnyRecord,
  now: number,
): ReadonlyMap<number, number> {
  const times = new Map<number, number>()
  let until = now
  for (const { at, to } of changes) {
    times.set(to, (times.get(to) ?? 0) + until - Date.parse(at))
    until = Date.parse(at)
  }
  const first = changes.at(-1)?.from ?? (current as number)
  times.set(first, (times.get(first) ?? 0) + until - Date.parse(String(createdAt)))
  return times
}
