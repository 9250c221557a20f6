/**
 * Backups by schedule (D155): each is written, restored into an empty embedded database to prove it, and then
 * kept under its time; the oldest are removed. The work is done by the program's own commands in processes of
 * their own, so that it takes nothing of the service's event loop. Knows no setting and no clock.
 */
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BackupSettings } from '../config.ts'
import { makeDirectory, syncDirectory } from '../db/embedded/disk.ts'
import { acquireLock, LockHeld } from '../db/embedded/lock.ts'
import { asStartupError, StartupError } from '../db/startup-error.ts'
import { publish } from '../diagnostics.ts'
import { type Interval, interval } from '../waiting/interval.ts'
import { size } from './progress.ts'

export type ScheduleOptions = BackupSettings & {
  readonly now: () => Date
  readonly say: (line: string) => void
  /** the arguments of Node.js that run the program */
  readonly program: readonly string[]
  /** how often it looks whether a backup is due; default: a minute */
  readonly lookEveryMs?: number
}

const form = /^dealwright-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\.backup$/
const minuteMs = 60_000
/** Longest delay of a retry after a backup that failed. */
const retryMs = 60 * minuteMs

export type Schedule = Interval & {
  /** From now on backups are made, the first when the newest is old enough. */
  begin(): void
}

/** Throws a StartupError if backups can't be written to the directory. */
export function scheduleBackups(options: ScheduleOptions): Schedule {
  const { directory, everyMs, now, say, lookEveryMs = minuteMs } = options
  requireWritable(directory)
  const running = new AbortController()
  let looking: Interval | null = null
  let failedAt = Number.NEGATIVE_INFINITY
  let newest: string | undefined
  // Another process that shares the directory may have made it.
  const findNewest = () => {
    const found = backupsIn(options)[0]
    if (found && found !== newest) publish('backup', { outcome: 'found', ...factsOf(directory, found) })
    newest = found
  }
  const isWaiting = () => {
    const sinceMs = now().getTime() - failedAt
    // Below zero, the clock was put back.
    return sinceMs >= 0 && sinceMs < Math.min(everyMs, retryMs)
  }
  const look = async () => {
    if (isWaiting()) return
    findNewest()
    await backUpIfDue(options, running.signal)
  }
  const failed = (error: unknown) => {
    if (running.signal.aborted) return
    failedAt = now().getTime()
    publish('backup', { outcome: 'failed' })
    say(`A backup by schedule failed: ${(error as Error).message}`)
  }
  return {
    begin() {
      try {
        findNewest()
      } catch (error) {
        // The directory may have gone since the start.
        failed(error)
      }
      looking = interval(lookEveryMs, look, failed)
    },
    async stop() {
      running.abort()
      await looking?.stop()
    },
  }
}

function requireWritable(directory: string): void {
  try {
    makeDirectory(directory)
    accessSync(directory, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { message } = asStartupError(error) as Error
    throw new StartupError(`BACKUP_DIR: ${message}`)
  }
}

/**
 * Names of the backups up to now, the newest first. Those of a clock that was put back since are in the
 * future: they are neither the newest one nor among those that are removed, until their time has come.
 */
function backupsIn({ directory, now }: Pick<ScheduleOptions, 'directory' | 'now'>): string[] {
  return readdirSync(directory)
    .filter(name => form.test(name) && timeOf(name) <= now().getTime())
    .sort()
    .reverse()
}

function timeOf(name: string): number {
  const [, day, time] = /^dealwright-([\d-]+)T([\d-]+)Z/.exec(name)!
  return Date.parse(`${day}T${time!.replaceAll('-', ':')}Z`)
}

function factsOf(directory: string, name: string): { at: number; bytes: number } {
  return { at: timeOf(name), bytes: statSync(join(directory, name)).size }
}

async function backUpIfDue(options: ScheduleOptions, signal: AbortSignal): Promise<void> {
  if (!isDue(options)) return
  const { directory, say } = options
  // Several processes may share a database and the directory.
  const lock = await acquireLock(directory, () => {}).catch(error => {
    if (error instanceof LockHeld) return null
    throw error
  })
  try {
    if (lock && isDue(options)) await backUp(options, signal)
  } finally {
    lock?.release()
    if (signal.aborted) say('The backup by schedule was stopped; the next start makes it.')
  }
}

function isDue(options: ScheduleOptions): boolean {
  const newest = backupsIn(options)[0]
  return !newest || options.now().getTime() - timeOf(newest) >= options.everyMs
}

async function backUp(options: ScheduleOptions, signal: AbortSignal): Promise<void> {
  const { directory, keep, now, say } = options
  removeLeft(directory, 'unverified')
  const begun = performance.now()
  const name = `dealwright-${now().toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`
  const unverified = join(directory, `${name}.unverified`)
  await run(options, ['backup', unverified], {}, signal)
  const written = performance.now()
  await verify(options, unverified, signal)
  renameSync(unverified, join(directory, name))
  syncDirectory(directory)
  for (const old of backupsIn(options).slice(keep)) rmSync(join(directory, old))
  const facts = factsOf(directory, name)
  publish('backup', { outcome: 'verified', ...facts })
  const [wrote, verified] = [written - begun, performance.now() - written].map(ms => (ms / 1000).toFixed(1))
  say(`Backup ${name} (${size(facts.bytes)}): written in ${wrote} s, verified by a restore in ${verified} s.`)
}

/** Removes files that a backup by schedule has left, also of one that was killed; foreign ones stay. */
function removeLeft(directory: string, ending: 'unverified' | 'failed'): void {
  for (const name of readdirSync(directory)) {
    const [own, left] =
      /^(.*\.backup)\.(unverified|failed)(?:\.unfinished-[0-9a-f]{8})?$/.exec(name)?.slice(1) ?? []
    if (own !== undefined && form.test(own) && left === ending) rmSync(join(directory, name))
  }
}

/**
 * Makes a folder for a verification, and removes those of killed ones. Their names have a hash of the
 * backups' directory, whose lock this process holds.
 */
function makeHome(directory: string): string {
  const prefix = `dealwright-verify-${hash('sha256', resolve(directory), 'hex').slice(0, 16)}-`
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(prefix)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  return mkdtempSync(join(tmpdir(), prefix))
}

/** Restores the file into a database that is removed afterwards. */
async function verify(options: ScheduleOptions, file: string, signal: AbortSignal): Promise<void> {
  const home = makeHome(options.directory)
  try {
    // The embedded database takes no setting of a server.
    const ofServer = { DATABASE_URL: '', DATABASE_READ_URL: '', DATABASE_POOLER: '', WORKERS: '' }
    const embedded = { ...ofServer, DATA_DIR: join(home, 'data') }
    await run(options, ['restore', file], embedded, signal)
  } catch (error) {
    if (signal.aborted || !existsSync(file)) throw error
    const bad = file.replace(/\.unverified$/, '.failed')
    // The newest one tells enough, and the disk has an end.
    removeLeft(options.directory, 'failed')
    renameSync(file, bad)
    throw new Error(`${bad} can't be restored: ${(error as Error).message}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Runs a command of the program. Throws what it says, in one line. */
function run(
  { program }: ScheduleOptions,
  command: readonly string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const [file, ...args] = [...program, ...command]
  return new Promise((resolve, reject) => {
    execFile(file!, args, { env: { ...process.env, ...env }, signal }, (error, _, said) => {
      if (error) reject(new Error(said.trim().split('\n').at(-1) || error.message))
      else resolve()
    })
  })
}
