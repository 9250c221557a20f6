/** When a delivery is sent again, and when it is given up (D72). Pure. */

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** After an attempt has failed, the next one. */
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

/** For how long the later events of a record wait for an earlier one, in minutes. */
export const orderMinutes = 10
/** A webhook that has failed for so long is taken out of use. */
const failingMax = 3 * 24 * hour

/** When a delivery that has failed `tries` times is sent again; null: never. */
export function nextTry(tries: number, now: Date): Date | null {
  const wait = waits[tries - 1]
  return wait === undefined ? null : new Date(now.getTime() + wait)
}

/** Whether a webhook whose deliveries have failed since then is to be given up. */
export function isHopeless(failingSince: Date | null, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= failingMax
}
