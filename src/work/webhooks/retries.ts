/** The retry schedule of deliveries (D72). Pure. */

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** Backoff after each failed attempt. */
const waits = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
  24 * hour,
  48 * hour,
] as const

/** Maximum time that later events of a record wait for an earlier one, in minutes. */
export const orderMinutes = 10
/** A webhook that has failed for this long is deactivated. */
const failingMax = 3 * 24 * hour

/** The next retry of a delivery that has failed `tries` times; null: never. */
export function nextTry(tries: number, now: Date): Date | null {
  const wait = waits[tries - 1]
  return wait === undefined ? null : new Date(now.getTime() + wait)
}

/** True if a webhook has failed for so long that it must be deactivated. */
export function isHopeless(failingSince: Date | null, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= failingMax
}
