/**
 * To be imported before the service (`node --import`): SIGUSR2 ends the thread of the embedded engine, as a
 * crash of WebAssembly does. The service then opens the engine again.
 */
import { Worker } from 'node:worker_threads'

let engine: Worker | undefined
const { postMessage } = Worker.prototype
Worker.prototype.postMessage = function (this: Worker, ...message) {
  engine = this
  return postMessage.apply(this, message)
}
process.on('SIGUSR2', () => void engine?.terminate())
