/**
 * Refuses writes while the disk is nearly full. When PostgreSQL's log can't grow, PostgreSQL ends, and can't
 * be opened again before the log can grow. So writes are refused while some space is left, and reads go on.
 * Knows nothing of databases.
 */
import * as fs from 'node:fs'
import type { Log } from '../open.ts'

const megabyte = 1024 * 1024
/**
 * Hysteresis: writes are refused below the first number, and accepted again above the second. The free rest
 * is enough for the writes under way, and for the log until its next checkpoint.
 */
const [refusedBelow, takenAbove] = [64 * megabyte, 80 * megabyte]
const lookAgainMs = 100

/**
 * Returns a function that is true if the disk of `directory` has space. It may be called often. Logs each
 * change.
 */
export function watchDiskSpace(directory: string, log: Log): () => boolean {
  let hasDiskSpace = true
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - lookedAt < lookAgainMs) return hasDiskSpace
    lookedAt = performance.now()
    const has = freeBytes(directory) >= (hasDiskSpace ? refusedBelow : takenAbove)
    if (has !== hasDiskSpace) {
      log(
        has
          ? `The disk of ${directory} has room again: writes are taken.`
          : `Less than ${refusedBelow / megabyte} MB are free on the disk of ${directory}: writes are refused until ${takenAbove / megabyte} MB are free.`,
      )
    }
    hasDiskSpace = has
    return has
  }
}

/** Infinity when the system does not report it. */
function freeBytes(directory: string): number {
  try {
    const { bavail, bsize, blocks } = fs.statfsSync(directory)
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
