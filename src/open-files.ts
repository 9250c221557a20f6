/**
 * How many files this process may hold open, and how many connections fit into this limit. To the system,
 * each connection is an open file.
 */

/**
 * Files of the process itself: its log, the lock of its database, a backup that is written, and those of
 * Node.js.
 */
const otherFiles = 100
const fewestConnections = 16

/**
 * `wanted` connections, or as many as the limit leaves beside the files of the database and of exports; then
 * `say` is told.
 */
export function connectionsWithin(wanted: number, ownFiles: number, say: (line: string) => void): number {
  const files = openFilesMax()
  const room = Math.max(fewestConnections, files - ownFiles - otherFiles)
  if (room >= wanted) return wanted
  say(
    `Only ${files} files may be open in this process, so it takes ${room} connections at most; raise the limit (ulimit -n) for more.`,
  )
  return room
}

/** The system's limit; infinite where it has none. */
function openFilesMax(): number {
  // Without this, a report looks up the names of addresses, which may ask a name server. The types of Node.js
  // lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
