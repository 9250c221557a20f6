/** The receivers of docs/webhooks.md work as printed, and are short (D72). */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { freePort } from '../../src/http/free-port.ts'
import { eventually } from '../support/eventually.ts'
import { missing, runtimes } from '../support/runtimes.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, known } = await startService({ webhooks: { allowPrivate: true, everyMs: 20 } })
const document = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const directory = mkdtempSync(join(tmpdir(), 'dealwright-receivers-'))
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

const python = spawnSync('python3', ['--version']).error ? undefined : 'python3'
const programs = [
  ...runtimes
    .filter(({ name }) => name.startsWith('Node.js'))
    .map(one => ({ ...one, language: 'js', script: 'receiver.mjs' })),
  { name: 'Python', variable: 'PATH', args: [], file: python, language: 'python', script: 'receiver.py' },
]

for (const program of programs) {
  const { name, language, script, args, file } = program
  test(`the receiver in ${language} on ${name}`, { skip: missing(program) }, async () => {
    const code = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(document)![1]!
    const lines = code.split('\n').filter(line => line.trim() && !/^(\/\/|#)/.test(line))
    assert.ok(lines.length <= 20, `${lines.length} lines`)
    writeFileSync(join(directory, script), code)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/`
    const made = await call('POST', `${v1}/webhook`, { url, events: ['deal.created'] })
    const { id, secret } = made.body.data
    const child = spawn(file!, [...args, script], {
      cwd: directory,
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    let said = ''
    child.stdout.on('data', data => {
      said += data
    })
    const isSent = async () => {
      const { data } = (await call('POST', `${v1}/webhook/${id}/test`)).body
      assert.ok([null, 204].includes(data.status), JSON.stringify(data))
      return data.status === 204
    }
    await eventually(isSent, 'a receiver that answers')
    const title = `Told on ${name}, é`
    const deal = (await call('POST', `${v1}/deal`, dealBody(known, { title }))).body.data
    const line = `deal.created ${deal.id} ${title}`
    await eventually(() => said.includes(line), `"${line}"`)
    // A redelivery is processed once.
    const [delivery] = (await call('GET', `${v1}/webhook/${id}/deliveries`)).body.data
    await call('POST', `${v1}/webhook/${id}/deliveries/${delivery.id}/replay`)
    await eventually(async () => {
      const [again] = (await call('GET', `${v1}/webhook/${id}/deliveries`)).body.data
      return again.attempts === 2 && again.state === 'delivered'
    }, 'a second delivery')
    assert.equal(said.split(line).length, 2)
    // A client that aborts a request doesn't end it: the next ones are answered.
    const broken = connect(port, '127.0.0.1')
    broken.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', () => broken.destroy())
    await once(broken, 'close')
    const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
    // The last but one has as many characters as a signature, and one byte more.
    for (const signature of ['v1,AAAA', 'v1a,x v1,', `v1,${'A'.repeat(43)}é`, '']) {
      const headers = { ...forged, 'webhook-signature': signature }
      const { status } = await fetch(url, {
        method: 'POST',
        headers,
        body: '{"type":"deal.created","data":{}}',
      })
      assert.equal(status, 401, signature)
    }
    const bare = connect(port, '127.0.0.1')
    bare.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.match(await text(bare), /^HTTP\/1\.[01] 401 /)
  })
}
