/**
 * Whether the disk has room for what is written. PostgreSQL ends itself where its log can't grow, and can't
 * be opened again before it can; so writes are refused while there is still room, and reads go on. Knows
 * nothing of databases.
 */
import * as fs from 'node:fs'
import type { Log } from '../open.ts'

const megabyte = 1024 * 1024
/**
 * What stays free, enough for what is under way and for the log till its next checkpoint, and what must be
 * free again.
 */
const [refusedBelow, takenAbove] = [64 * megabyte, 80 * megabyte]
const lookAgainMs = 100

/**
 * A function that says whether there is room on the disk of `directory`, which may be asked often. `log`
 * hears when that changes.
 */
export function watchRoom(directory: string, log: Log): () => boolean {
  let hasRoom = true
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - lookedAt < lookAgainMs) return hasRoom
    lookedAt = performance.now()
    const has = freeBytes(directory) >= (hasRoom ? refusedBelow : takenAbove)
    if (has !== hasRoom) {
      log(
        has
          ? `The disk of ${directory} has room again: writes are taken.`
          : `The disk of ${directory} is full but for ${refusedBelow / megabyte} MB: writes are refused until there is room.`,
      )
    }
    hasRoom = has
    return has
  }
}

/** As many as there can be where the system does not say. */
function freeBytes(directory: string): number {
  try {
    const { bavail, bsize, blocks } = fs.statfsSync(directory)
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
