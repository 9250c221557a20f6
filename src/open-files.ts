/**
 * The limit of open files of this process, and the number of connections that fits into it. To the system,
 * each connection is an open file.
 */

/** Other open files of the process: its log, the database's lock, a backup in progress, and Node.js's own. */
const otherFiles = 100
const fewestConnections = 16

/**
 * The size of the connection pool: `wanted`, or less if the limit of open files leaves less beside the files
 * of the database and of exports; then `say` gets a warning.
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

/** The soft limit of open files; infinite if there is none. */
function openFilesMax(): number {
  // Without this option, the report resolves addresses, which may query a name server. The types of Node.js
  // lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
