/**
 * How a backup gets a copy of an embedded database that a running service has open. The backup asks the
 * service over a local socket in the data directory. The service copies the database's files while its only
 * session is idle. Owns the socket and its messages. Knows nothing of what becomes of the copy.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyCluster } from '../db/embedded/data-directory.ts'
import type { Database, Log } from '../db/open.ts'
import { BackupError } from './backup-error.ts'
import { isCopyName } from './copies.ts'

type Answer = { readonly is_done: true } | { readonly error: string }

/** The longest path of a socket that every system accepts. */
const longestPath = 100
const longestQuestion = 200

/** The path of the socket of the service that has `dataDir` open. `dataDir` must exist. */
export function socketPath(dataDir: string): string {
  const directory = realpathSync(dataDir)
  const name = `dealwright-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  const path = join(directory, 'backup.sock')
  return Buffer.byteLength(path) <= longestPath ? path : join(tmpdir(), `${name}.sock`)
}

/**
 * Begins to answer requests for copies. The caller has `dataDir` open as `db`. If the socket can't be opened,
 * the service runs without it and `log` is told why. The connections don't keep the process alive.
 */
export async function offerCopies(db: Database, dataDir: string, log: Log): Promise<{ close(): void }> {
  const path = socketPath(dataDir)
  const server = createServer(socket => listen(socket, name => copy(db, dataDir, name))).unref()
  try {
    // No other service can be using it: this one has the lock of the data directory.
    if (process.platform !== 'win32') rmSync(path, { force: true })
    await bind(server, path)
  } catch (error) {
    log(
      `Backups while the service runs are not possible: ${path} can't be opened (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  server.on('error', error => log(`The socket for backups failed: ${error.message}`))
  return { close: () => void server.close() }
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    // The socket is made within the call, and nobody else may be able to use it even for a moment.
    const before = process.umask(0o177)
    try {
      server.listen(path)
    } finally {
      process.umask(before)
    }
    if (process.platform !== 'win32' && existsSync(path)) chmodSync(path, 0o600)
  })
}

function listen(socket: Socket, act: (name: string) => Promise<void>): void {
  let question = ''
  const answer = (value: Answer) => socket.end(`${JSON.stringify(value)}\n`)
  socket.setEncoding('utf8').unref()
  // The client may close the connection at any time.
  socket.on('error', () => {})
  socket.on('data', (text: string) => {
    question += text
    const end = question.indexOf('\n')
    if (question.length > longestQuestion) socket.destroy()
    if (end < 0 || socket.destroyed) return
    socket.removeAllListeners('data')
    act(question.slice(0, end)).then(
      () => answer({ is_done: true }),
      error => answer({ error: String(error instanceof Error ? error.message : error) }),
    )
  })
}

/**
 * The transaction keeps the engine's only session: it waits for what is running, and new statements wait for
 * it.
 */
async function copy(db: Database, dataDir: string, name: string): Promise<void> {
  if (!isCopyName(name)) throw new Error('not a name of a copy')
  await db.sql.begin(async tx => {
    await tx.unsafe('SELECT 1')
    await copyCluster(dataDir, join(dataDir, name))
    // Fails if the engine was reopened meanwhile, because opening it writes to the files.
    await tx.unsafe('SELECT 1')
  })
}

/**
 * Asks the service that has `dataDir` open to copy its database into the folder `name` there. False if no
 * service answers. Throws a BackupError if the service can't.
 */
export async function requestCopy(dataDir: string, name: string, signal: AbortSignal): Promise<boolean> {
  const path = socketPath(dataDir)
  if (process.platform !== 'win32') {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid
    // Anybody could have made a socket in the system's folder for temporary files.
    if (owner === undefined || owner !== statSync(dataDir).uid) return false
  }
  const text = await ask(path, name, signal)
  if (text === null) return false
  const answer = JSON.parse(text || '{"error":"it ended"}') as Answer
  if ('error' in answer)
    throw new BackupError(`The running service could not copy its database: ${answer.error}.`)
  return true
}

/** The answer; '' if the connection ended without one; null if nobody listens. */
function ask(path: string, question: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const stop = () => socket.destroy(signal.reason)
    const socket = createConnection(path, () => socket.write(`${question}\n`)).setEncoding('utf8')
    signal.addEventListener('abort', stop, { once: true })
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null)
      else if (error.code === 'EACCES')
        reject(new BackupError(`${path} is not yours: back up as the user that runs the service.`))
      else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve('')
      else reject(error)
    })
    socket.on('close', () => {
      signal.removeEventListener('abort', stop)
      resolve(answer)
    })
  })
}
