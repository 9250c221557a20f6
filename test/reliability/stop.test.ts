/** SIGTERM: what is under way is answered, nothing new is taken, the database is closed, and the process ends in time whatever hangs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '../../src/db/open.ts'
import { readyUrl } from './crash.ts'

const token = 'stop-test-token-stop-test-token-1'
const directory = mkdtempSync(join(tmpdir(), 'dealwright-stop-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('SIGTERM while requests are under way, and while one never arrives', async () => {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, DATABASE_URL: '', PORT: '0', DATA_DIR: directory, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(service, 'exit')
  const url = await readyUrl(service)
  const tag = (name: string) =>
    fetch(`${url}/rest/api/v1/tag`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
  assert.equal((await tag('before')).status, 201)
  // The head of a request whose body never comes.
  const hanging = connect(Number(new URL(url).port), '127.0.0.1')
  hanging.on('error', () => {})
  hanging.write(
    `POST /rest/api/v1/tag HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  )
  const under = Array.from({ length: 20 }, (_, count) => tag(`under way ${count}`))
  await Promise.race(under)
  service.kill('SIGTERM')
  const ended = await Promise.allSettled(under)
  const statuses = ended.flatMap(end => (end.status === 'fulfilled' ? [end.value.status] : []))
  assert.ok(statuses.every(status => status === 201))
  const [code] = await gone
  assert.equal(code, 0)
  await assert.rejects(tag('after'))
  const db = await openDatabase({ dataDir: directory, log: () => {} })
  const [row] = await db.query("SELECT count(*)::text AS count FROM tag WHERE name LIKE 'under way%'")
  await db.close()
  assert.ok(Number(row!.count) >= statuses.length)
})

test('SIGTERM with nothing under way, but connections that are kept open: a clean end', async () => {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, DATABASE_URL: '', PORT: '0', DATA_DIR: directory, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(service, 'exit')
  const url = await readyUrl(service)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  service.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
})
