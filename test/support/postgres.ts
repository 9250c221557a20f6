/**
 * A PostgreSQL server for tests: the one of TEST_DATABASE_URL, or a throwaway one if its binaries are
 * installed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../src/http/free-port.ts'
import { citusUrl, dropOnWorkers } from './citus.ts'
import { eventually } from './eventually.ts'

export type TestServer = {
  readonly url: string
  /** the folder of its Unix socket; null for a server of TEST_DATABASE_URL */
  readonly sockets: string | null
  /** Stops the server and removes it; leaves a server of TEST_DATABASE_URL unchanged, as do those below. */
  stop(): Promise<void>
  /** Stops it, and leaves its files for `restart`. */
  halt(): Promise<void>
  /** Kills all its processes, as a power cut does. */
  kill9(): Promise<void>
  /** Stops all its processes, as a machine that hangs does; `resume` lets them go on. */
  pause(): void
  resume(): void
  /** Restarts it on the same port and files. */
  restart(): Promise<void>
}

type Account = { uid?: number; gid?: number }

/**
 * Null if neither TEST_DATABASE_URL nor the binaries initdb and postgres are there. `own` wants a throwaway
 * one in any case: a server of TEST_DATABASE_URL can't be killed; `configure` then may put files into its
 * data directory before it starts.
 */
export async function startPostgres(
  own = false,
  configure?: (data: string) => void,
): Promise<TestServer | null> {
  const given = own ? undefined : (citusUrl ?? process.env.TEST_DATABASE_URL)
  const nothing = async () => {}
  if (given) {
    const idle = { stop: nothing, halt: nothing, kill9: nothing, restart: nothing, pause() {}, resume() {} }
    return { url: given, sockets: null, ...idle }
  }
  return startOwn('initdb', (data, run) => {
    const how = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
    run(['-D', data, ...how])
    configure?.(data)
  })
}

/** Starts a streaming replica of a throwaway server, on a port of its own; null without the binaries. */
export function startReplica(primary: string): Promise<TestServer | null> {
  return startOwn('pg_basebackup', (data, run) => {
    const how = ['--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync']
    run(['-d', primary, '-D', data, ...how])
  })
}

/** A throwaway server with the data directory that `prepare` makes by `binary`; null without the binaries. */
async function startOwn(
  binary: string,
  prepare: (data: string, run: (args: readonly string[]) => void) => void,
): Promise<TestServer | null> {
  const binaries = findBinaries(binary)
  const account = serverAccount()
  if (!binaries || !account) return null

  const home = mkdtempSync(join(tmpdir(), 'dealwright-postgres-'))
  if (account.uid !== undefined) chownSync(home, account.uid, account.gid!)
  const data = join(home, 'data')
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  prepare(data, args =>
    execFileSync(join(binaries, binary), args, {
      ...account,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  )
  if (account.uid !== undefined)
    for (const name of readdirSync(data)) chownSync(join(data, name), account.uid, account.gid!)
  const run = () =>
    spawn(
      join(binaries, 'postgres'),
      ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', home, '-c', 'max_connections=200'],
      {
        ...account,
        cwd: home,
        stdio: 'ignore',
      },
    )

  let server = run()
  // "Immediate": a test run that ends without stop() has no time to wait.
  const abandon = () => {
    server.kill('SIGQUIT')
    rmSync(home, { recursive: true, force: true })
  }
  process.once('exit', abandon)
  await answers(url, server)
  return {
    url,
    sockets: home,
    async stop() {
      process.off('exit', abandon)
      await end(server, 'SIGINT')
      rmSync(home, { recursive: true, force: true })
    },
    halt: () => end(server, 'SIGINT'),
    kill9: () => end(server, 'SIGKILL'),
    pause: () => signalAll(server, 'SIGSTOP'),
    resume: () => signalAll(server, 'SIGCONT'),
    async restart() {
      await end(server, 'SIGINT')
      server = run()
      await answers(url, server)
    },
  }
}

/**
 * Creates an empty database on the server of `url`, for one test file; returns its address. `how`: options of
 * CREATE DATABASE.
 */
export async function createDatabase(url: string, how = ''): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asAdministrator(url, client => client.query(`CREATE DATABASE ${name} ${how}`))
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}

/** Drops a database of `createDatabase`, even if it has connections. */
export async function dropDatabase(url: string): Promise<void> {
  const server = new URL(url)
  const name = server.pathname.slice(1)
  server.pathname = '/postgres'
  await asAdministrator(server.href, client => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  if (citusUrl) await dropOnWorkers(url)
}

/** By another client than the service's own. */
async function asAdministrator(url: string, act: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await act(client)
  } finally {
    await client.end()
  }
}

/** True if the server that `startPostgres` starts can load that library. */
export function hasLibrary(name: string): boolean {
  const binaries = findBinaries('initdb')
  if (!binaries || !serverAccount()) return false
  const home = join(dirname(realpathSync(join(binaries, 'postgres'))), '..', 'lib')
  return [home, join(home, 'postgresql')].some(place => existsSync(join(place, `${name}.so`)))
}

/**
 * The directory of that binary and of postgres. Debian's wrappers in the PATH lack initdb; the real ones are
 * in a folder for each version.
 */
function findBinaries(binary: string): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))
    : []
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map(version => join(debian, version, 'bin')),
  ]
  return places.find(place => existsSync(join(place, binary)) && existsSync(join(place, 'postgres')))
}

/**
 * PostgreSQL refuses to run as root: then the package's account `postgres` runs it. Undefined if there is no
 * such account.
 */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return {}
  const idOf = (which: string) =>
    Number(execFileSync('id', [which, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }))
  try {
    return { uid: idOf('-u'), gid: idOf('-g') }
  } catch {
    return undefined
  }
}

/** Waits until the server, or the pooler in front of it, answers. */
export async function answers(url: string, server: ChildProcess): Promise<void> {
  await eventually(() => {
    if (server.exitCode !== null)
      throw new Error(`The server ended with ${server.exitCode} before it was ready`)
    return asAdministrator(url, client => client.query('SELECT 1')).then(
      () => true,
      () => false,
    )
  }, 'a server that answers')
}

/** Signals the server and the processes of its connections, some of which may have ended. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  for (const one of [pid!, ...children.map(Number)])
    try {
      process.kill(one, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}

/** Ends a server, or a pooler, by a signal. */
export function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    server.once('exit', () => resolve())
    server.kill(signal)
  })
}
