/**
 * The image (D168): its root file system, made as its build makes it, runs read-only, as a user that it does
 * not know, without a shell. What stops a start is said in one line.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, globSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '../../src/http/free-port.ts'
import { besideProcess, type Container, declaredImage, inContainer } from '../support/image.ts'
import { type Program, type Running, runService, temporaryFolder } from '../support/running-service.ts'

const v1 = '/rest/api/v1'
type Answer = { readonly data: { readonly id: number; readonly name: string } }
const folder = temporaryFolder('image')
const root = join(folder, 'root')
const image = declaredImage()
/** Namespaces and mounts are root's. The gate is. */
const skip = process.getuid?.() !== 0 && process.env.CI === undefined && 'only root can run it'
if (!skip) execFileSync('npm', ['run', 'image', '--', '--to', root], { stdio: 'pipe' })

test('it has Node.js, the libraries that it loads and the release: no shell, nothing to write', {
  skip,
}, () => {
  const entries = globSync('**/*', { cwd: root, withFileTypes: true }).map(entry =>
    join(entry.parentPath, entry.name).slice(root.length),
  )
  const expected =
    /^\/(app|dev|proc|sys|tmp|data|etc|usr|lib|lib64|var)$|^\/app\/|^\/etc\/(passwd|group|nsswitch\.conf|os-release)$|^\/(usr\/)?lib(64)?(\/|$)|^\/usr\/(local(\/bin(\/node)?)?$|share)|^\/var\/lib/
  assert.deepEqual(
    entries.filter(path => !expected.test(path)),
    [],
  )
  const outside = entries.filter(path => !path.startsWith('/app/'))
  assert.ok(outside.length < 60, outside.join(' '))
  const programs = outside.filter(path => /\/s?bin\//.test(path))
  assert.deepEqual(programs, ['/usr/local/bin/node'])
  const places = ['/data', '/tmp']
  const loose = entries.filter(path => {
    const { mode, uid } = lstatSync(root + path)
    return uid !== 0 || ((mode & 0o6022) !== 0 && !places.includes(path)) || (mode & 0o004) === 0
  })
  assert.deepEqual(loose, [])
})

test('the health check takes an empty setting as one that is not set, as the service does', async () => {
  const port = String(await freePort())
  const addressOf = (env: Record<string, string>) =>
    spawnSync(process.execPath, ['bin/health.js'], { env, encoding: 'utf8' }).stderr.split(' ')[0]
  assert.equal(addressOf({ HOST: '', PORT: port }), `http://127.0.0.1:${port}/readyz`)
  assert.equal(addressOf({ HOST: '::', PORT: port }), `http://[::1]:${port}/readyz`)
})

/** A user that the image does not know, and that is not the one of the Dockerfile. */
const user = '4711:4712'
const token = 'a-token-for-the-test-of-the-image-0123456789'
const authorization = `Bearer ${token}`

function container(name: string, more: Partial<Container> = {}): Container {
  const data = join(folder, name)
  mkdirSync(data, { recursive: true })
  chmodSync(data, 0o1777)
  return { root, data, user, ...more, env: { PORT: '0', DEALWRIGHT_TOKEN: token, ...more.env } }
}

const firstProcesses: number[] = []
// Process 1 has changed its user since unshare began it, and so outlives it.
after(() => {
  for (const number of firstProcesses)
    try {
      process.kill(number, 'SIGKILL')
    } catch {}
})
async function started(one: Container): Promise<Running & { readonly process1: number }> {
  const running = await runService({}, inContainer(one, image.entrypoint))
  const { pid } = running.child
  const process1 = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
  firstProcesses.push(process1)
  return { ...running, process1 }
}
const ended = ({ file, args }: Program) => spawnSync(file, args, { encoding: 'utf8' })
/** A start that is to be refused. */
const refused = (one: Container) => ended(inContainer(one, [...image.entrypoint, ...image.command]))

/** The schedule looks once a minute, so this one begins before the others. */
const backing = skip
  ? null
  : started(container('backing', { env: { BACKUP_DIR: '/data/backups', SAMPLE_DATA: '0' } }))

/** The states of the processes that process 1 has started: Z is one that it has not waited for. */
function statesOfChildren(parent: number): string[] {
  return globSync('/proc/[0-9]*/stat').flatMap(file => {
    const [state, of] = stat(file)
    return Number(of) === parent ? [state!] : []
  })
}
function stat(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    // It has ended since.
    return []
  }
}

test('it serves, is killed, has lost nothing, and ends by SIGTERM', { skip }, async () => {
  assert.notEqual(image.user, user)
  const volume = container('volume')
  const first = await started(volume)
  const board = await first.get(`${v1}/deal/view/board`, { authorization })
  assert.equal(board.status, 200)
  assert.ok((await board.text()).length > 1000)
  const page = await first.get('/deals', { accept: 'text/html' })
  assert.match(await page.text(), /<!doctype html>/)
  const made = await first.post(`${v1}/tag`, { name: 'Before the kill' }, { authorization })
  const { data: tag } = (await made.json()) as Answer
  assert.equal(made.status, 201)
  process.kill(first.process1, 'SIGKILL')
  await first.end()

  const second = await started(volume)
  const again = await second.get(`${v1}/tag/${tag.id}`, { authorization })
  assert.deepEqual(((await again.json()) as Answer).data.name, 'Before the kill')
  const list = await second.get(`${v1}/deal/view/list?pageSize=1`, { authorization })
  const deals = (await list.json()) as { data: readonly { id: number }[] }
  assert.equal((await second.get(`${v1}/deal/${deals.data[0]!.id}`, { authorization })).status, 200)
  const { process1 } = second
  assert.match(readFileSync(`/proc/${process1}/status`, 'utf8'), /^CapEff:\s+0+$/m)

  // Its health check and its commands need no shell either.
  const { port } = new URL(second.url)
  const beside = { ...volume, env: { ...volume.env, PORT: port } }
  const inside = [
    image.health,
    ...['token list', 'check'].map(one => [...image.entrypoint, ...one.split(' ')]),
  ]
  for (const command of inside) {
    const { status, stdout, stderr } = ended(besideProcess(process1, beside, command))
    assert.equal(status, 0, stdout + stderr)
  }

  process.kill(process1, 'SIGTERM')
  await second.end()
  assert.equal(second.child.exitCode, 0, second.log())
  const gone = ended(inContainer(beside, image.health))
  assert.equal(gone.status, 1)
  assert.match(gone.stderr, /^http:\/\/127\.0\.0\.1:\d+\/readyz does not answer: ECONNREFUSED\.$/m)
})

test('on a volume of somebody else, one line has the command that mends it', { skip }, async () => {
  const volume = container('of-root', { env: { SAMPLE_DATA: '0' } })
  chmodSync(volume.data, 0o755)
  const { status, stderr } = refused(volume)
  assert.equal(status, 1)
  const form = /^\/data\/\S+ can't be used: .+ \(EACCES\)\. .+: (chown -R 4711:4712 '\/data')\n$/
  assert.match(stderr, form)
  execFileSync('sh', ['-c', form.exec(stderr)![1]!.replace('/data', volume.data)])
  const running = await started(volume)
  process.kill(running.process1, 'SIGKILL')
  await running.end()

  // Another user than the one whose database it is.
  chownSync(volume.data, 4713, 4713)
  const other = refused({ ...volume, user: '4713:4713' })
  assert.equal(other.status, 1)
  assert.match(other.stderr, /^\/data\S* can't be used: .+ \(EACCES\)\. .+: chown -R 4713:4713 '\/data'\n$/)
})

test('on a volume that is full or read-only, one line says what to do', { skip }, () => {
  const full = refused(container('full', { bytes: 4_000_000 }))
  assert.equal(full.status, 1)
  assert.match(full.stderr, /^[^\n]+no space left on device \(ENOSPC\)\. Make room on the disk[^\n]*\n$/)
  const fixed = refused(container('fixed', { isVolumeReadOnly: true }))
  assert.equal(fixed.status, 1)
  assert.match(fixed.stderr, /^[^\n]+read-only file system \(EROFS\)\. [^\n]+DATA_DIR[^\n]*\n$/)
})

test('it makes and verifies a backup by schedule, and leaves no zombie', { skip }, async () => {
  const { process1, child, logged, end } = (await backing)!
  await logged(/Backup dealwright-\S+\.backup \(.+\): written in .+, verified by a restore/)
  // Its two processes have ended, and process 1 has waited for them.
  assert.deepEqual(statesOfChildren(process1), [])
  process.kill(process1, 'SIGTERM')
  await end()
  assert.equal(child.exitCode, 0)
})

test('the Dockerfile pins its base by digest, with the Node.js of the lock file', () => {
  const text = readFileSync('Dockerfile', 'utf8')
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(text)!
  const escaped = devDependencies.node.replaceAll('.', '\\.')
  assert.match(base!, new RegExp(`^docker\\.io/library/node:${escaped}-bookworm-slim@sha256:[0-9a-f]{64}$`))
  const bases = [...text.matchAll(/^FROM (?:--platform=\S+ )?\$?\{?(\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(bases, ['NODE_IMAGE', 'NODE_IMAGE', 'scratch'])
})
