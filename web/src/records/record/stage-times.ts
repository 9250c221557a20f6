/** How long a deal has been in each stage, from its history. Pure. */
import type { AnyRecord } from '../../api/api.ts'

/** A change of the stage: when, and which it was before. */
export type StageChange = { readonly at: string; readonly from: number; readonly to: number }

/**
 * Stage → how long the deal was in it, in milliseconds. `now` is until when the last one counts. A deal that
 * came back to a stage was in it several times.
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
