/** The thread that computes an argon2id hash where Node.js can't. */
import { parentPort, workerData } from 'node:worker_threads'
import { argon2id } from 'hash-wasm'
import type { Argon2Input } from './argon2.ts'

const { message, nonce, memory, passes, parallelism, tagLength } = workerData as Argon2Input
// An empty password, which no stored hash has, must take as long as others; hash-wasm refuses it.
const hash = await argon2id({
  ...{ password: message || '\0', salt: nonce, memorySize: memory, iterations: passes, parallelism },
  ...{ hashLength: tagLength, outputType: 'binary' },
})
parentPort!.postMessage(hash)
