/**
 * The socket by which commands ask the service that has a data directory open: only that service can read or
 * write its database. A question is a line of JSON, and so is its answer. Owns the socket, who may use it and
 * its messages. Knows nothing of what is asked.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, parseJson } from './json.ts'

/** What the service answers to questions of a name. What it throws is the answer to one that it refuses. */
export type Answers = { readonly [question: string]: (argument: JsonObject) => Promise<JsonObject> }

/** The running service did not do what it was asked. The message is one line for the operator. */
export class ServiceRefusal extends Error {
  readonly isPlain = true
}

/** The longest path of a socket that every system accepts. */
const longestPath = 100
const longestQuestion = 65_536

/** The path of the socket of the service that has `dataDir` open. `dataDir` must exist. */
export function socketPath(dataDir: string): string {
  const directory = realpathSync(dataDir)
  const name = `dealwright-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  const path = join(directory, 'service.sock')
  return Buffer.byteLength(path) <= longestPath ? path : join(tmpdir(), `${name}.sock`)
}

/**
 * Begins to answer. The caller has `dataDir` open. If the socket can't be opened, the service runs without it
 * and `log` is told why. The connections don't keep the process alive.
 */
export async function answerLocally(
  dataDir: string,
  answers: Answers,
  log: (line: string) => void,
): Promise<{ close(): void }> {
  const path = socketPath(dataDir)
  const server = createServer(socket => listen(socket, answers)).unref()
  try {
    // No other service can be using it: this one has the lock of the data directory.
    if (process.platform !== 'win32') rmSync(path, { force: true })
    await bind(server, path)
  } catch (error) {
    log(
      `Backups and commands while the service runs are not possible: ${path} can't be opened (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  server.on('error', error => log(`The socket for commands failed: ${error.message}`))
  return { close: () => void server.close() }
}

function bind(server: ReturnType<typeof createServer>, path: string): Promise<void> {
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

function listen(socket: Socket, answers: Answers): void {
  let question = ''
  socket.setEncoding('utf8').unref()
  // The client may close the connection at any time.
  socket.on('error', () => {})
  socket.on('data', (text: string) => {
    question += text
    const end = question.indexOf('\n')
    if (question.length > longestQuestion) socket.destroy()
    if (end < 0 || socket.destroyed) return
    socket.removeAllListeners('data')
    answer(question.slice(0, end), answers).then(
      done => socket.end(`${JSON.stringify({ done })}\n`),
      error =>
        socket.end(
          `${JSON.stringify({ refused: error instanceof Error ? error.message : String(error) })}\n`,
        ),
    )
  })
}

async function answer(question: string, answers: Answers): Promise<JsonObject> {
  const { name, argument } = parseJson(question) as JsonObject
  if (typeof name !== 'string' || !Object.hasOwn(answers, name))
    throw new Error('The running service is of another version: start it anew, then repeat the command.')
  return answers[name]!(argument as JsonObject)
}

/**
 * Asks the service that has `dataDir` open. Null if no service answers. Throws a ServiceRefusal when the
 * service refuses, or ends amid the work.
 */
export async function askService(
  dataDir: string,
  name: string,
  argument: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  if (!existsSync(dataDir)) return null
  const path = socketPath(dataDir)
  if (process.platform !== 'win32') {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid
    // Anybody could have made a socket in the system's folder for temporary files.
    if (owner === undefined || owner !== statSync(dataDir).uid) return null
  }
  const text = await exchange(path, JSON.stringify({ name, argument }), signal)
  if (text === null) return null
  if (text === '') throw new ServiceRefusal('The running service ended before it answered.')
  const { done, refused } = parseJson(text) as { done?: JsonObject; refused?: string }
  if (!done) throw new ServiceRefusal(refused)
  return done
}

/** The answer; '' if the connection ended without one; null if nobody listens. */
function exchange(path: string, question: string, signal: AbortSignal): Promise<string | null> {
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
        reject(new ServiceRefusal(`${path} is not yours: do this as the user that runs the service.`))
      else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve('')
      else reject(error)
    })
    socket.on('close', () => {
      signal.removeEventListener('abort', stop)
      resolve(answer)
    })
  })
}
