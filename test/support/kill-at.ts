/**
 * To be imported before the service (`node --import`): kills it, as `kill -9` does, at one step of keeping
 * the first start's token. The steps are counted from 0. Before each thing that is done to a file named
 * admin-token… comes one. So do two at each of the first three questions to the database once the file was
 * written, the commit among them: one before it is sent and one after. KILL_AT says at which step; a service
 * that has fewer goes on, and says how many it had when it is asked to end.
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

/** Does `before` before each call of a method, and `after` after it. */
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
