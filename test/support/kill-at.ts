/**
 * To be imported before the service (`node --import`): kills it with SIGKILL at one step of storing the first
 * start's token. KILL_AT is the step, counted from 0: one before each operation on a file named admin-token…,
 * and two at each of the first three statements after the file was written, including the commit: one before
 * it is sent and one after. A service with fewer steps goes on, and prints their number on SIGTERM.
 */
import { promises } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { isMainThread, Worker } from 'node:worker_threads'

const killAt = Number(process.env.KILL_AT)
let steps = 0
let questionsLeft = 0

function step(): void {
  if (steps++ === killAt) process.kill(process.pid, 'SIGKILL')
}

/** Wraps a method: calls `before` before each call, and `after` after it. */
function around(object: object, name: string, before: (first: unknown) => void, after = () => {}): void {
  const methods = object as { [name: string]: (...args: unknown[]) => unknown }
  const original = methods[name]!
  methods[name] = function (this: unknown, ...args) {
    before(args[0])
    const result = original.apply(this, args)
    after()
    return result
  }
}

const beforeFile = (path: unknown) => {
  if (typeof path === 'string' && path.includes('admin-token')) step()
}
const beforeQuestion = () => {
  if (questionsLeft > 0) step()
}
const afterQuestion = () => {
  if (questionsLeft > 0) step()
  questionsLeft--
}

if (isMainThread) {
  for (const name of ['open', 'rename', 'rm']) around(promises, name, beforeFile)
  syncBuiltinESMExports()
  const file = await promises.open(import.meta.filename)
  const methods = Object.getPrototypeOf(file)
  await file.close()
  around(methods, 'writeFile', step)
  around(methods, 'sync', () => {
    step()
    questionsLeft = 3
  })
  around(Socket.prototype, 'write', beforeQuestion, afterQuestion)
  around(Worker.prototype, 'postMessage', beforeQuestion, afterQuestion)
  process.on('SIGTERM', () => console.log(`${steps} steps`))
}
