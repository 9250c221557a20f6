/**
 * How many files this process may hold open, and how many connections that leaves room for: each is a file to
 * the system.
 */

/** The process's own: its log, its database's lock, a backup being written, what Node.js needs. */
const otherFiles = 100
const fewestConnections = 16

/**
 * `wanted` connections, or as many as there are files left beside those of the database; `say` hears of it.
 */
export function connectionsWithin(
  wanted: number,
  databaseFiles: number,
  say: (line: string) => void,
): number {
  const files = openFilesMax()
  const room = Math.max(fewestConnections, files - databaseFiles - otherFiles)
  if (room >= wanted) return wanted
  say(
    `Only ${files} files may be open in this process, so it takes ${room} connections at most; raise the limit (ulimit -n) for more.`,
  )
  return room
}

/** The system's limit; infinite where it has none. */
function openFilesMax(): number {
  // Addresses are looked up otherwise, which may ask a name server. Types for Node don't know it yet.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
