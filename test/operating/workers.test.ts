/**
 * Several processes on one port (D167): all serve, limits count over all, one that dies is replaced, and a
 * restart costs no request.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as textOf } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { end, serviceEnv, token } from '../reliability/service-process.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
const home = mkdtempSync(join(tmpdir(), 'dealwright-workers-'))
after(async () => {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

type Answer = { readonly status: number; readonly body: string }
type Fleet = {
  readonly url: string
  /** address of its database */
  readonly database: string
  /** where the metrics are */
  readonly metrics: string | undefined
  readonly process: ChildProcess
  readonly ended: Promise<number | null>
  /** lines on standard error */
  readonly lines: string[]
  /** the processes that have answered requests since the last call */
  pids(): number[]
}

/** `begun` is called as soon as the supervisor runs. */
async function fleet(
  settings: Record<string, string> = {},
  begun: (supervisor: ChildProcess, lines: readonly string[]) => void = () => {},
): Promise<Fleet> {
  const database = await createDatabase(server!.url)
  const child = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...serviceEnv(home), DATABASE_URL: database, WORKERS: '2', LOG_REQUESTS: '1', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The leader of a process group, as at a terminal.
    detached: true,
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', line => lines.push(line))
  const ended = new Promise<number | null>(resolve => child.on('exit', resolve))
  after(() => child.kill('SIGKILL'))
  begun(child, lines)
  const welcome = await welcomeOf(child)
  let from = 0
  return {
    url: /ready at (\S+)/.exec(welcome)![1]!,
    database,
    metrics: /Metrics (\S+)/.exec(welcome)?.[1],
    process: child,
    ended,
    lines,
    pids() {
      const seen = lines.slice(from).filter(line => line.includes('"msg":"request"'))
      from = lines.length
      return [...new Set(seen.map(line => JSON.parse(line).pid as number))].sort()
    },
  }
}

/** The text for the terminal. */
async function welcomeOf({ stdout }: ChildProcess): Promise<string> {
  let text = ''
  for await (const line of createInterface({ input: stdout! })) {
    text += `${line}\n`
    if (/^ {2}Stop /.test(line)) return text
  }
  throw new Error(`It ended before it was ready: ${text}`)
}

/** A request whose body is half sent; `finish` sends the rest, and resolves to the status. */
async function halfSent(url: string): Promise<{ finish(): Promise<number> }> {
  const type = 'application/json'
  const headers = { authorization: `Bearer ${token}`, 'content-type': type, expect: '100-continue' }
  const asked = request(`${url}/rest/api/v1/company`, { method: 'POST', headers, agent: false })
  const status = new Promise<number>((resolve, reject) => {
    asked.on('response', response => resolve(response.resume().statusCode!))
    asked.on('error', reject)
  })
  // It is the test's failure where it is awaited.
  status.catch(() => {})
  asked.flushHeaders()
  // Now a worker has it.
  await once(asked, 'continue')
  asked.write('{"name":')
  return {
    finish() {
      asked.end('"Late"}')
      return status
    },
  }
}

/** Lets the database take new connections, or none; those that it has stay. */
async function letIn(database: string, isAllowed: boolean): Promise<void> {
  const client = new Client({ connectionString: server!.url })
  await client.connect()
  const name = new URL(database).pathname.slice(1)
  await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${isAllowed}`)
  await client.end()
}

/** How many requests the metrics have counted. */
async function countedBy(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text()
  return text
    .split('\n')
    .filter(line => line.startsWith('dealwright_http_request_duration_seconds_count'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** A request over a connection of its own. One that gets no answer in `timeout` milliseconds fails. */
function ask(url: string, path: string, method = 'GET', body?: object, timeout = 60_000): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = request(url + path, { method, headers, agent: false, timeout }, response => {
      textOf(response).then(text => resolve({ status: response.statusCode!, body: text }), reject)
    })
    asked.on('error', reject)
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.end(body && JSON.stringify(body))
  })
}

/** A connection that comes while the last worker stops listening may get no answer before the end. */
const isGone = (url: string) =>
  ask(url, me, 'GET', undefined, 1000).then(
    () => false,
    () => true,
  )

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const me = '/rest/api/v1/me'

/** The two workers that serve, without some that are over. Throws if there are no two. */
async function serving({ url, pids }: Fleet, over: readonly number[] = []): Promise<number[]> {
  let found: number[] = []
  await eventually(async () => {
    // It asks no database: an answer shows that the worker is there.
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, '/healthz')))
    assert.ok(answers.every(({ status }) => status === 200))
    found = pids().filter(pid => !over.includes(pid))
    return found.length === 2
  }, 'requests to two workers')
  return found
}

describe('workers', { skip: !server && 'PostgreSQL is not installed' }, () => {
  test('all serve, one that is killed is replaced, and a restart costs no request', async () => {
    const all = await fleet()
    const { url, process: supervisor, ended, lines } = all
    const first = await serving(all)
    assert.ok(!first.includes(supervisor.pid!))
    process.kill(first[0]!, 'SIGKILL')
    await eventually(() => lines.some(line => /another takes its place/.test(line)), 'a line about it')
    const before = await serving(all, [first[0]!])

    let isOver = false
    const seen: number[] = []
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const { status, body } = await ask(url, me)
          // A database that is slow to answer is no matter of the restart.
          if (status !== 503 || JSON.parse(body).code !== 9002) seen.push(status)
        }
      }),
    )
    supervisor.kill('SIGHUP')
    await eventually(() => lines.some(line => /were restarted/.test(line)), 'a restart')
    isOver = true
    await load
    await serving(all, before)
    assert.ok(seen.length > 20)
    assert.deepEqual(new Set(seen), new Set([200]))

    assert.equal(await end({ service: supervisor, ended, url }, 'SIGTERM'), 0)
    await assert.rejects(ask(url, me))
  })

  test('limits and wrong passwords count over all, and the metrics are those of all', async () => {
    const {
      url,
      metrics,
      process: supervisor,
      ended,
      lines,
    } = await fleet({ RATE_LIMIT: '60', METRICS_PORT: '0' })
    const statuses: number[] = []
    const asked = async () => statuses.push((await ask(url, me)).status)
    for (let n = 0; n < 60; n++) await asked()
    // Each worker learns of the other's requests a twentieth of a second later, on a busy machine later.
    const areRefused = async () => {
      await Promise.all(Array.from({ length: 6 }, asked))
      return statuses.slice(-6).every(status => status === 429)
    }
    await eventually(areRefused, 'refusals by both', 500)
    const taken = statuses.filter(status => status === 200).length
    // Two that each count their own requests only take 120.
    assert.ok(taken >= 60 && taken < 110, `${taken} taken`)

    const wrong = { email: 'owner@example.com', password: 'wrong' }
    const tries: number[] = []
    const tried = async () => {
      tries.push((await ask(url, '/rest/api/v1/session', 'POST', wrong)).status)
      return tries.at(-1) === 429
    }
    for (let n = 0; n < 10; n++) assert.equal(await tried(), false, tries.join())
    await eventually(tried, 'a refusal', 200)
    // Two that each count their own allow ten each.
    assert.ok(tries.length < 19, tries.join())
    // Of a worker that is slow to tell its figures, the metrics have earlier ones.
    const areCounted = async () => (await countedBy(metrics!)) === statuses.length + tries.length
    await eventually(areCounted, 'metrics of all requests', 200)
    supervisor.kill('SIGHUP')
    await eventually(() => lines.some(line => /were restarted/.test(line)), 'a restart')
    // The counts of the workers before stay.
    await eventually(areCounted, 'metrics of all requests after a restart', 200)
    const text = await (await fetch(metrics!)).text()
    assert.match(text, /^dealwright_build_info\{.*engine="postgres".*\} 1$/m)
    assert.match(text, /# EOF\s*$/)
    await end({ service: supervisor, ended, url }, 'SIGTERM')
  })

  test('what is under way is answered when all get a signal at once, and when the supervisor is killed', async () => {
    const atTerminal = await fleet()
    const first = await halfSent(atTerminal.url)
    // Ctrl+C; the supervisor tells its workers to stop, too.
    process.kill(-atTerminal.process.pid!, 'SIGINT')
    await eventually(() => isGone(atTerminal.url), 'the end of listening')
    assert.equal(await first.finish(), 201)
    assert.equal(await atTerminal.ended, 0)

    const all = await fleet()
    const { url, process: supervisor, ended } = all
    const workers = await serving(all)
    const second = await halfSent(url)
    await end({ service: supervisor, ended, url }, 'SIGKILL')
    await eventually(() => isGone(url), 'the end of listening')
    assert.equal(await second.finish(), 201)
    await eventually(() => workers.every(pid => !isAlive(pid)), 'the end of the workers')
  })

  test('a restart goes on if the old workers end while a new one starts', async () => {
    const all = await fleet()
    const { url, database, process: supervisor, ended, lines } = all
    const workers = await serving(all)
    // As while another process upgrades the database: a worker that starts waits for it.
    const client = new Client({ connectionString: database })
    await client.connect()
    await client.query('SELECT pg_advisory_lock(7201553)')
    supervisor.kill('SIGHUP')
    await eventually(() => lines.some(line => /upgrades or restores/.test(line)), 'a worker that waits')
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    await eventually(() => workers.every(pid => !isAlive(pid)), 'the end of the old workers')
    await client.end()
    await eventually(() => lines.some(line => /were restarted/.test(line)), 'the end of the restart')
    await serving(all, workers)
    assert.equal(await end({ service: supervisor, ended, url }, 'SIGTERM'), 0)
  })

  test('a restart during the start waits for its end, and there are as many as before', async () => {
    const database = await createDatabase(server!.url)
    const client = new Client({ connectionString: database })
    await client.connect()
    await client.query('SELECT pg_advisory_lock(7201553)')
    const all = await fleet({ DATABASE_URL: database }, async (supervisor, lines) => {
      await eventually(() => lines.some(line => /upgrades or restores/.test(line)), 'a worker that waits')
      supervisor.kill('SIGHUP')
      await delay(1000)
      await client.end()
    })
    await eventually(() => all.lines.some(line => /were restarted/.test(line)), 'the end of the restart')
    const { pid } = all.process
    const children = spawnSync('ps', ['--ppid', String(pid), '-o', 'pid=']).stdout.toString()
    assert.equal(children.trim().split('\n').length, 2, children)
    assert.equal(await end({ ...all, service: all.process }, 'SIGTERM'), 0)
  })

  test('workers that can not start leave the others alone, and come back by themselves', async () => {
    const all = await fleet()
    const { url, database, process: supervisor, ended, lines } = all
    const workers = await serving(all)
    await letIn(database, false)
    supervisor.kill('SIGHUP')
    await eventually(() => lines.some(line => /^.*The restart ended: /.test(line)), 'the end of the restart')
    assert.deepEqual(await serving(all), workers)

    for (const pid of workers) process.kill(pid, 'SIGKILL')
    // Each once, and one that did not start.
    const ends = () => lines.filter(line => /another takes its place/.test(line)).length
    await eventually(() => ends() >= 4, 'a try in vain')
    await letIn(database, true)
    const isBack = async () => (await ask(url, me).catch(() => null))?.status === 200
    await eventually(isBack, 'a worker that serves')
    await serving(all, workers)
    assert.equal(await end({ service: supervisor, ended, url }, 'SIGTERM'), 0)
  })

  test('a directory for backups that is none ends the start', async () => {
    const settings = { BACKUP_DIR: '/dev/null/backups' }
    await assert.rejects(fleet(settings), /ended before it was ready/)
  })
})

test('WORKERS without a server, or of none, ends the start with a line that says what to do', () => {
  for (const [settings, said] of [
    [{ WORKERS: '2' }, /^WORKERS is for a server: .* Set DATABASE_URL\.$/],
    [{ WORKERS: '0' }, /^WORKERS must be auto or a whole number from 1 to 64/],
    [{ WORKERS: 'all' }, /^WORKERS must be auto or a whole number from 1 to 64/],
  ] as const) {
    const env = { ...serviceEnv(home), ...settings }
    const { status, stderr } = spawnSync(process.execPath, ['bin/dealwright.js'], { env, encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr.trim(), said)
  }
})
