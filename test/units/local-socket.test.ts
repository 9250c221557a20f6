/** The socket for commands: whoever waits when the service closes gets an answer (D67). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { answerLocally, askService } from '../../src/local-socket.ts'

test('a service that closes answers the clients that wait, and asks no more questions', async context => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dealwright-socket-'))
  context.after(() => rmSync(dataDir, { recursive: true }))
  const asked = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<never>()
  const answers = {
    command() {
      asked.resolve()
      return ended.promise
    },
  }
  const socket = await answerLocally(dataDir, answers, assert.fail)
  const ask = () => askService(dataDir, 'command', {}, context.signal)
  const answer = ask()
  await asked.promise
  let isClosed = false
  const closed = socket.close().then(() => {
    isClosed = true
  })
  assert.equal(await ask(), null)
  assert.equal(isClosed, false)
  ended.reject(new Error('The database is closed.'))
  await assert.rejects(answer, { message: 'The database is closed.' })
  await closed
})
