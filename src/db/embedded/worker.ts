/**
 * The engine's thread: PGlite (PostgreSQL in WebAssembly) behind the wire protocol. One session, one batch at a time.
 * Owns the running engine. Deliberately does not know locks, timeouts or who asks; a failure of the engine ends the thread.
 */
import * as fs from 'node:fs'
import * as path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { DurableFiles, durableStart } from './durable-files.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'

const port = parentPort!
const start = workerData as EngineStart
const extensions = { pg_trgm }
const files = start.directory === undefined ? undefined : new DurableFiles(start.directory)

// Answers are gathered here and leave once a batch, or whenever this is full: one big result is never in memory as a whole.
const gathered = new Uint8Array(256 * 1024)
let length = 0
let connection = 0
let started = false

try {
  const engine = await open()
  port.on('message', (message: ToEngine) => {
    // A batch that throws has left the engine in an unknown state; the rejection ends this thread and the owner reopens.
    if (message.kind === 'batch') void carryOut(engine, message)
    else void close(engine)
  })
  say({ kind: 'open' })
} catch (error) {
  say({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
}

async function open(): Promise<PGlite> {
  if (files) return PGlite.create({ extensions, fs: files, startParams: durableStart })
  const options: PGliteOptions = { extensions }
  const { template } = start
  if (template === undefined) return PGlite.create(options)
  if (fs.existsSync(template)) return PGlite.create({ ...options, loadDataDir: new Blob([fs.readFileSync(template)]) })
  const engine = await PGlite.create(options)
  await keep(engine, template)
  return engine
}

/** Several may do this at once: each writes its own file and the rename is atomic. */
async function keep(engine: PGlite, template: string): Promise<void> {
  const cluster = await engine.dumpDataDir('none')
  fs.mkdirSync(path.dirname(template), { recursive: true })
  const own = `${template}.${process.pid}.${Date.now()}`
  fs.writeFileSync(own, new Uint8Array(await cluster.arrayBuffer()))
  fs.renameSync(own, template)
}

async function carryOut(engine: PGlite, message: Extract<ToEngine, { kind: 'batch' }>): Promise<void> {
  connection = message.connection
  // A start-up packet has no type, so its length comes first and its first byte is 0.
  if (message.bytes[0] === 0) await startSession(engine, message.bytes)
  else await engine.execProtocolRawStream(message.bytes, { syncToFs: false, onRawData: gather })
  send(true)
}

/** The engine has one session for ever: whoever connects again finds it as new. */
async function startSession(engine: PGlite, packet: Uint8Array): Promise<void> {
  if (started) {
    for (const text of ['ROLLBACK', 'DISCARD ALL']) {
      await engine.execProtocolRawStream(sync, { syncToFs: false, onRawData: ignore })
      await engine.execProtocolRawStream(simpleQuery(text), { syncToFs: false, onRawData: ignore })
    }
  }
  started = true
  await engine.execProtocolRawStream(packet, { syncToFs: false, onRawData: gather })
}

async function close(engine: PGlite): Promise<void> {
  await engine.execProtocolRawStream(sync, { syncToFs: false, onRawData: ignore })
  for (const text of ['ROLLBACK', 'CHECKPOINT']) {
    await engine.execProtocolRawStream(simpleQuery(text), { syncToFs: false, onRawData: ignore })
  }
  await engine.close()
  say({ kind: 'closed' })
}

/** `bytes` is a view into the engine's memory, valid only now. */
function gather(bytes: Uint8Array): void {
  let offset = 0
  while (offset < bytes.length) {
    const part = bytes.subarray(offset, offset + gathered.length - length)
    gathered.set(part, length)
    length += part.length
    offset += part.length
    if (length === gathered.length) send(false)
  }
}

function ignore(): void {}

function send(last: boolean): void {
  const bytes = gathered.slice(0, length)
  length = 0
  say({ kind: 'reply', connection, bytes, last, fsyncs: files?.fsyncs ?? 0 }, [bytes.buffer])
}

function say(message: FromEngine, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

const sync = Uint8Array.of(0x53, 0, 0, 0, 4)

function simpleQuery(text: string): Uint8Array {
  const body = new TextEncoder().encode(text)
  const message = new Uint8Array(body.length + 6)
  message[0] = 0x51
  new DataView(message.buffer).setUint32(1, body.length + 5)
  message.set(body, 5)
  return message
}
