/**
 * argon2id, computed outside the event loop: by Node.js itself from 24.7 on, before that by WebAssembly in a
 * thread of its own (D153). Both give the same bytes.
 */
import * as crypto from 'node:crypto'
import { Worker } from 'node:worker_threads'

export type Argon2Parameters = {
  /** in KiB */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

export type Argon2Input = Argon2Parameters & {
  readonly message: string
  readonly nonce: Uint8Array
  readonly tagLength: number
}

export function argon2id(input: Argon2Input): Promise<Buffer> {
  return 'argon2' in crypto ? byNode(input) : byThread(input)
}

function byNode(input: Argon2Input): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    crypto.argon2('argon2id', input, (error, hash) => (error ? reject(error) : resolve(Buffer.from(hash))))
  })
}

/** A thread for each hash: its memory is free afterwards, and a process computes one at a time. */
export function byThread(input: Argon2Input): Promise<Buffer> {
  const url = new URL('./argon2-thread.ts', import.meta.url)
  const thread = new Worker(url, { workerData: input, execArgv: [] })
  return new Promise((resolve, reject) => {
    thread.once('message', (hash: Uint8Array) => resolve(Buffer.from(hash)))
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('The thread of a password hash ended')))
  })
}
