/**
 * Graceful shutdown on SIGTERM: running requests are answered, later ones are refused, the database is
 * closed, and the process ends in time whatever hangs; under npm, as process 1 of a container, and under
 * systemd.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '../../src/db/open.ts'
import { eventually } from '../support/eventually.ts'
import { readyUrl, serviceEnv, token } from './service-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'dealwright-stop-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const env = serviceEnv(directory)
const start = () =>
  spawn(process.execPath, ['bin/dealwright.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] })

test('SIGTERM while requests are under way, and while one never arrives', async () => {
  const service = start()
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
  const service = start()
  const gone = once(service, 'exit')
  const url = await readyUrl(service)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  service.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
})

test('SIGTERM between two requests of a connection: the second is answered, as the last one', async () => {
  const service = start()
  const gone = once(service, 'exit')
  const url = await readyUrl(service)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  after(() => agent.destroy())
  const asked = async () => {
    const [response] = await once(get(`${url}/healthz`, { agent }), 'response')
    await response.resume().toArray()
    return [response.statusCode, response.headers.connection]
  }
  assert.deepEqual(await asked(), [200, 'keep-alive'])
  service.kill('SIGTERM')
  await eventually(async () => {
    const [status, connection] = await asked()
    assert.equal(status, 200)
    return connection === 'close'
  }, 'the last answer')
  assert.deepEqual(await gone, [0, null])
})

/** The environment of `npm test` differs from that of `npm start`. */
const outside = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('npm_')))
const isLinux = process.platform === 'linux'

test('SIGTERM to npm alone: the service goes with it', { skip: !isLinux }, async () => {
  const npm = spawn('npm', ['start'], { env: outside, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  npm.stderr.on('data', text => {
    log += text
  })
  // The service has it open, too.
  const closed = once(npm.stdout, 'close')
  const url = await readyUrl(npm)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  npm.kill('SIGTERM')
  await closed
  assert.match(log, /npm, which started the service, is gone/)
  await assert.rejects(fetch(`${url}/healthz`))
  assert.ok(
    readdirSync(join(directory, 'lock')).every(
      file => readFileSync(join(directory, 'lock', file), 'utf8') === 'released\n',
    ),
  )
})

test('a service that a script of npm has sent into the background stays', { skip: !isLinux }, async () => {
  const other = join(directory, 'other')
  mkdirSync(other)
  const background = `cd '${process.cwd()}' && node bin/dealwright.js & sleep 5`
  writeFileSync(join(other, 'package.json'), JSON.stringify({ name: 'other', scripts: { background } }))
  const npm = spawn('npm', ['run', 'background'], {
    cwd: other,
    env: outside,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [gone, closed] = [once(npm, 'exit'), once(npm.stdout, 'close')]
  const url = await readyUrl(npm)
  await gone
  await new Promise(resolve => setTimeout(resolve, 3000))
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  process.kill(holderOf(directory), 'SIGTERM')
  await closed
})

const canBeFirst = isLinux && spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

test('as process 1 of a container: SIGTERM ends it, also while it starts', {
  skip: !canBeFirst,
}, async () => {
  for (const when of ['starting', 'ready']) {
    const own = mkdtempSync(join(tmpdir(), 'dealwright-first-'))
    after(() => rmSync(own, { recursive: true, force: true }))
    const first = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, 'bin/dealwright.js']
    const service = spawn('unshare', first, {
      env: { ...outside, DATA_DIR: own },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = once(service, 'exit')
    if (when === 'ready') await readyUrl(service)
    else await eventually(() => existsSync(join(own, 'lock', '1')), 'a lock')
    process.kill(childOf(service.pid!), 'SIGTERM')
    assert.deepEqual(await gone, [0, null], when)
  }
})

const unit = readFileSync('deploy/dealwright.service', 'utf8').replaceAll('/opt/dealwright', process.cwd())

test('the unit for systemd is one, and starts the Node.js that is installed with the service', {
  skip: !isLinux,
}, async t => {
  const [command, ...args] = /^ExecStart=(.+)$/m.exec(unit)![1]!.split(' ')
  const started = spawnSync(command!, [...args, '--help'], {
    cwd: /^WorkingDirectory=(.+)$/m.exec(unit)![1]!,
    encoding: 'utf8',
  })
  assert.match(started.stdout, /starts the service/)
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return t.skip('no systemd-analyze here')
  const file = join(directory, 'dealwright.service')
  writeFileSync(file, unit)
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  assert.deepEqual([verified.status, verified.stderr], [0, ''])
})

test('the unit lets the service write where the manual has its backups and its metrics', () => {
  const manual = readFileSync('docs/operating.md', 'utf8')
  const [, backups] = /`BACKUP_DIR=(\/.+?)`/.exec(manual)!
  const [, runtime] = /`METRICS_PORT=\/run\/(.+?)\//.exec(manual)!
  assert.ok(unit.includes(`\nReadWritePaths=-${backups}\n`), backups)
  assert.ok(unit.includes(`\nRuntimeDirectory=${runtime}\n`), runtime)
})

/** The pid of the process that holds the lock of a data directory. */
function holderOf(dataDir: string): number {
  const [file] = readdirSync(join(dataDir, 'lock')).sort((a, b) => Number(b) - Number(a))
  return JSON.parse(readFileSync(join(dataDir, 'lock', file!), 'utf8')).pid
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
