/**
 * The socket by which commands call the service that has a data directory open: only that service can use its
 * database. A request is a line of JSON, and so is its response. Owns the socket, its permissions and its
 * messages. Knows nothing of the commands.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asUnavailable, DatabaseUnavailable } from './db/unavailable.ts'
import { type JsonObject, parseJson } from './json.ts'

/**
 * Request name → handler. An error that the handler throws is sent as a refusal. `left` aborts when the
 * client goes before it has its answer.
 */
export type Answers = {
  readonly [question: string]: (argument: JsonObject, left: AbortSignal) => Promise<JsonObject>
}

/** The running service refused or failed. The message is one line for the operator. */
export class ServiceRefusal extends Error {
  readonly isPlain = true
}

/** The service ended before its answer, or its database is away. */
export class ServiceAway extends ServiceRefusal {}

/** The longest path of a socket that every system accepts. */
const longestPath = 100
/** A command may have a whole map of an import. */
const longestQuestion = 4_194_304

/** The path of the socket of the service that has `dataDir` open. `dataDir` must exist. */
export function socketPath(dataDir: string): string {
  const directory = realpathSync(dataDir)
  const name = `dealwright-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  const path = join(directory, 'service.sock')
  return Buffer.byteLength(path) <= longestPath ? path : join(tmpdir(), `${name}.sock`)
}

/**
 * Starts to listen. The caller has `dataDir` open. If the socket can't be opened, the reason is logged and
 * the service runs without it. `close` resolves once every client that waits has its answer: the caller ends
 * what the answers wait for.
 */
export async function answerLocally(
  dataDir: string,
  answers: Answers,
  log: (line: string) => void,
): Promise<{ close(): Promise<void> }> {
  const path = socketPath(dataDir)
  const waiting = new Set<Socket>()
  const server = createServer(socket => listen(socket, answers, waiting)).unref()
  try {
    // No other service uses the socket: this one holds the lock of the data directory.
    if (process.platform !== 'win32') rmSync(path, { force: true })
    await bind(server, path)
  } catch (error) {
    log(
      `Backups and commands while the service runs are not possible: ${path} can't be opened (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  server.on('error', error => log(`The socket for commands failed: ${error.message}`))
  const close = async () => {
    server.close()
    await Promise.all([...waiting].map(socket => new Promise(resolve => socket.once('close', resolve))))
  }
  return { close }
}

function bind(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    // `listen` creates the socket synchronously. The umask keeps other users out from the first moment.
    const before = process.umask(0o177)
    try {
      server.listen(path)
    } finally {
      process.umask(before)
    }
    if (process.platform !== 'win32' && existsSync(path)) chmodSync(path, 0o600)
  })
}

/** Reads one question and answers it. `waiting` holds the socket meanwhile. */
function listen(socket: Socket, answers: Answers, waiting: Set<Socket>): void {
  let question = ''
  const left = new AbortController()
  socket.on('close', () => {
    waiting.delete(socket)
    left.abort()
  })
  socket.setEncoding('utf8').unref()
  // The client may close the connection at any time.
  socket.on('error', () => {})
  socket.on('data', (text: string) => {
    question += text
    const end = question.indexOf('\n')
    if (question.length > longestQuestion) socket.destroy()
    if (end < 0 || socket.destroyed) return
    socket.removeAllListeners('data')
    // A connection keeps the process alive only while its client waits.
    waiting.add(socket.ref())
    answer(question.slice(0, end), answers, left.signal).then(
      done => socket.end(`${JSON.stringify({ done })}\n`),
      error => {
        const isAway = asUnavailable((error as Error).cause) instanceof DatabaseUnavailable
        const refused = error instanceof Error ? error.message : String(error)
        socket.end(`${JSON.stringify({ refused, isAway })}\n`)
      },
    )
  })
}

async function answer(question: string, answers: Answers, left: AbortSignal): Promise<JsonObject> {
  const { name, argument } = parseJson(question) as JsonObject
  if (typeof name !== 'string' || !Object.hasOwn(answers, name))
    throw new Error('The running service is of another version: restart it, then repeat the command.')
  return answers[name]!(argument as JsonObject, left)
}

/**
 * Sends a request to the service that has `dataDir` open. Null if no service answers. Throws a ServiceRefusal
 * if the service refuses, or ends before it responds.
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
    // Any user can create a socket in the system's folder for temporary files. The volume of a container may
    // belong to root; the socket is the service's.
    if (owner === undefined || ![statSync(dataDir).uid, process.getuid!()].includes(owner)) return null
  }
  const question = JSON.stringify({ name, argument })
  if (question.length >= longestQuestion)
    throw new ServiceRefusal(
      'The command is too long for a service that runs: stop it first, or make its map shorter.',
    )
  const text = await exchange(path, question, signal)
  if (text === null) return null
  if (text === '')
    throw new ServiceAway(
      'The running service ended before it answered: see what it has done before you repeat the command.',
    )
  const { done, refused, isAway } = parseJson(text) as {
    done?: JsonObject
    refused?: string
    isAway?: boolean
  }
  if (!done) throw isAway ? new ServiceAway(refused) : new ServiceRefusal(refused)
  return done
}

/** The response; '' if the connection ended without one; null if nobody listens. */
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
