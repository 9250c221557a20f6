/** A low limit of open files: connections leave the database the files that it needs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rawClient } from '../support/raw.ts'
import { readyUrl, serviceEnv, token } from './service-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'dealwright-files-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('more idle connections than files: the embedded database goes on', {
  skip: process.platform === 'win32',
}, async () => {
  const service = spawn('sh', ['-c', `ulimit -n 1024; exec "${process.execPath}" bin/dealwright.js`], {
    env: serviceEnv(directory),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  service.stderr.on('data', text => {
    log += text
  })
  const gone = once(service, 'exit')
  try {
    const url = await readyUrl(service)
    assert.match(log, /Only 1024 files may be open in this process, so it takes \d+ connections at most/)
    const idle = await Promise.all(Array.from({ length: 1100 }, () => rawClient(url)))
    for (let count = 0; count < 10; count++) {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        connection: 'close',
      }
      const made = await fetch(`${url}/rest/api/v1/tag`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: `Tag ${count}` }),
      })
      assert.equal(made.status, 201, await made.text())
    }
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.match(log, /connections are open, as many as MAX_CONNECTIONS allows/)
    for (const { socket } of idle) socket.destroy()
  } finally {
    service.kill('SIGTERM')
    await gone
  }
})
