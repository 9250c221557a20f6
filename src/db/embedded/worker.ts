/**
 * The engine's thread: PGlite (PostgreSQL in WebAssembly) behind the wire protocol. It has one session and
 * runs one batch at a time. Owns the running engine. Deliberately does not know locks, timeouts or callers. A
 * failure of the engine ends the thread.
 */
import '../../older-node.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { script, statements } from '../postgres/wire.ts'
import { asStartupError } from '../startup-error.ts'
import { DurableFiles, durableStart } from './durable-files.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'
import { clusterIn } from './ready-cluster.ts'
import { ReplyWriter } from './replies.ts'
import { clear, type Interrupt, shareMemory } from './shared-memory.ts'

const port = parentPort!
const start = workerData as EngineStart
const extensions = { pg_trgm }
const files = start.directory === undefined ? undefined : new DurableFiles(start.directory)

const gathered = new ReplyWriter()
let connection = 0
let started = false
/** PostgreSQL's last fatal message; undefined if there was none */
let lastWords: string | undefined

try {
  const interruptOf = shareMemory()
  const engine = await open()
  const interrupt = interruptOf(engine.Module.HEAPU8.buffer)
  watchSteps(engine, interrupt)
  port.on('message', (message: ToEngine) => {
    if (message.kind === 'batch') void carryOut(engine, message)
    else void close(engine)
  })
  say({ kind: 'open', replies: gathered.shared, interrupt })
} catch (error) {
  fail(error)
}

async function open(): Promise<PGlite> {
  const cluster = start.template === undefined ? {} : clusterIn(start.template)
  const onDisk = files ? { fs: files, startParams: durableStart } : {}
  return PGlite.create({ extensions, onStderr, ...onDisk, ...cluster })
}

/** Stores PostgreSQL's last fatal message: the engine's own error doesn't have it. */
function onStderr(line: string): boolean {
  const [, level, text] = /\b(PANIC|FATAL|DETAIL): +(.*)/.exec(line) ?? []
  if (level === 'DETAIL') lastWords &&= `${lastWords}. ${text!.replace(/\.$/, '')}`
  else lastWords = text ?? lastWords
  return false
}

/**
 * Clears the interrupt before each message: a late one was meant for the message before. PGlite goes on after
 * any error of its engine, although answers may be missing and the engine's state is unknown. This thread
 * goes on only after PostgreSQL's own error of a failed statement.
 */
function watchSteps({ Module: engine }: PGlite, interrupt: Interrupt): void {
  const { _PostgresMainLoopOnce: once } = engine
  engine._PostgresMainLoopOnce = () => {
    clear(interrupt)
    try {
      once()
    } catch (error) {
      if ((error as { status?: number }).status !== statementFailed) fail(error)
      throw error
    }
  }
}

/** Ends the thread; its owner opens the engine again. */
function fail(error: unknown): never {
  const cause = files?.refusal ? asStartupError(files.refusal, start.directory) : error
  const message = cause instanceof Error ? cause.message : JSON.stringify(cause)
  say({
    kind: 'failed',
    message: files?.refusal ? message : (lastWords ?? message),
    isOfDatabase: cause === error,
  })
  process.exit(1)
}

async function carryOut(engine: PGlite, message: Extract<ToEngine, { kind: 'batch' }>): Promise<void> {
  connection = message.connection
  if (files) files.refusal = undefined
  // A start-up packet has no type: it begins with its length, whose first byte is 0.
  if (message.bytes[0] === 0) await startSession(engine, message.bytes)
  else await run(engine, message.bytes, gather)
  send(true)
}

/** The engine has one session for its whole life. It is reset, so that each connection finds a new one. */
async function startSession(engine: PGlite, packet: Uint8Array): Promise<void> {
  if (started) await clearSession(engine, 'DISCARD ALL')
  started = true
  await run(engine, packet, gather)
}

async function close(engine: PGlite): Promise<void> {
  await clearSession(engine, 'CHECKPOINT')
  await engine.close()
  say({ kind: 'closed' })
}

/** Ends what the session has begun, then carries out a statement. */
async function clearSession(engine: PGlite, then: string): Promise<void> {
  for (const bytes of [statements([]), script('ROLLBACK'), script(then)]) await run(engine, bytes, () => {})
}

/** Carries out messages; `onRawData` takes the replies. */
async function run(engine: PGlite, bytes: Uint8Array, onRawData: (bytes: Uint8Array) => void): Promise<void> {
  await engine.execProtocolRawStream(bytes, { syncToFs: false, onRawData })
}

/**
 * `bytes` is a view into the engine's memory, valid only now. So a big result is never in memory as a whole.
 */
function gather(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    at += gathered.add(bytes.subarray(at))
    if (gathered.isFull) send(false)
  }
}

function send(last: boolean): void {
  const bytes = gathered.take()
  say({ kind: 'reply', connection, bytes, last, fsyncs: files?.fsyncs ?? 0 }, [bytes.buffer])
}

function say(message: FromEngine, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

/** exit status by which PGlite's engine ends a failed statement */
const statementFailed = 100
