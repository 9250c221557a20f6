/**
 * Measures how long this process stood still, as on a machine that is busy. What is timed by regular looks
 * leaves that time out: answers that came meanwhile lie there unread, and nobody had a turn.
 */

/** A look that is later than this says that the process stood still. */
const lateMs = 500

export type Standstill = {
  /** Notes that the looks begin now. */
  begin(): void
  /** To be called at each look: how long the process has stood still since the last one, in milliseconds. */
  sinceLastLook(): number
}

/** `everyMs`: interval of the looks. */
export function watchStandstill(everyMs: number): Standstill {
  let lookedAt = 0
  return {
    begin() {
      lookedAt = performance.now()
    },
    sinceLastLook() {
      const passed = performance.now() - lookedAt
      lookedAt += passed
      return passed > Math.max(lateMs, 5 * everyMs) ? passed : 0
    },
  }
}
