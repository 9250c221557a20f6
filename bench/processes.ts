/** The child processes of the bench: starts, calls and stops them, however the bench ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const root = dirname(import.meta.dirname)
const run = promisify(execFile)
/** far longer than a first start takes, also on a busy machine */
const startLimitMs = 300_000
const running = new Set<ChildProcess>()

process.on('exit', endAll)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export type Running = {
  readonly pid: number
  readonly url: string /** seconds from the spawn to the ready line */
  readonly seconds: number
  stop(): Promise<void>
}

/** The service, of this version or another. Settings in the environment are ignored. */
export function startService(env: Record<string, string>, of = root): Promise<Running> {
  const settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: '',
    DEALWRIGHT_TOKEN: '',
    SAMPLE_DATA: '',
    LOG_LEVEL: 'warn',
  }
  return startProcess('bin/dealwright.js', { ...settings, ...env }, of)
}

/** A process that prints "ready at <url>". */
export async function startProcess(file: string, env: Record<string, string>, cwd = root): Promise<Running> {
  const began = performance.now()
  const child = spawn(process.execPath, [...nodeOptions(file), file], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  gone.then(() => running.delete(child))
  const late = setTimeout(() => child.kill('SIGKILL'), startLimitMs)
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /ready at (\S+)/.exec(line)?.[1]
      if (!url) continue
      const seconds = (performance.now() - began) / 1000
      child.stdout.resume()
      return { pid: child.pid!, url, seconds, stop: () => end(child, gone) }
    }
  } finally {
    clearTimeout(late)
  }
  throw new Error(`${file} ended before it was ready`)
}

/** BENCH_PROFILE=<directory> leaves a CPU profile of each service there. */
function nodeOptions(file: string): string[] {
  const directory = process.env.BENCH_PROFILE
  return directory && file.startsWith('bin/') ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
}

/** Ends all running processes at once: after a failure, before the database is dropped. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

async function end(child: ChildProcess, gone: Promise<void>): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
  child.kill('SIGTERM')
  await gone
  clearTimeout(late)
}

/** Runs a script of the bench and parses its output. */
export async function ask<T>(file: string, orders: object): Promise<T> {
  return JSON.parse(await output(process.execPath, [join(root, file), JSON.stringify(orders)])) as T
}

/** The output of a program. Throws when it fails or takes more than five minutes. */
export async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: root, maxBuffer: 1 << 28, timeout: 300_000 })
  return stdout
}

/** Peak memory of the service, in megabytes; `?` if the system does not report it. */
export const peakOf = (service: Running): string => megabytesOf(service, 'VmHWM')
/** Resident memory of the service now, likewise. */
export const memoryOf = (service: Running): string => megabytesOf(service, 'VmRSS')

function megabytesOf({ pid }: Running, name: 'VmHWM' | 'VmRSS'): string {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .find(one => one.startsWith(`${name}:`))
    return String(Math.round(Number.parseInt(line!.slice(name.length + 1), 10) / 1024))
  } catch {
    return '?'
  }
}

/**
 * Process → its processor time so far: the service with its workers, and each process of PostgreSQL and
 * PgBouncer on this machine.
 */
export type Spent = ReadonlyMap<string, number>

/** The processor times now; empty if the system does not report them. */
export function spent({ pid }: Running): Spent {
  try {
    const all = readdirSync('/proc').filter(name => /^\d+$/.test(name))
    return new Map(all.map(process => [process, msOf(process, String(pid))]))
  } catch {
    return new Map()
  }
}

/**
 * Milliseconds between the two, NaN if the system does not report them. A process that has ended meanwhile
 * does not count; the minimum is the system's smallest unit.
 */
export function spentBetween(before: Spent, after: Spent): number {
  if (before.size === 0) return Number.NaN
  return Math.max(
    tickMs,
    [...after].reduce((sum, [process, ms]) => sum + ms - (before.get(process) ?? 0), 0),
  )
}

const tickMs = 10

function msOf(process: string, service: string): number {
  try {
    const [, name, rest] = /\((.*)\) (.*)/.exec(readFileSync(`/proc/${process}/stat`, 'utf8'))!
    const [parent, user, system] = [1, 11, 12].map(index => rest!.split(' ')[index])
    const isOwn = process === service || parent === service
    return isOwn || name === 'postgres' || name === 'pgbouncer' ? (Number(user) + Number(system)) * tickMs : 0
  } catch {
    return 0
  }
}
