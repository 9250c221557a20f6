/**
 * One process for each data directory: two engines on the same files would destroy them. The lock is a series
 * of numbered files in `lock`, each naming its holder. A process takes it by creating the next number
 * (exclusively) once the holder of the highest is dead, if no higher one exists afterwards. The highest file
 * is never removed, so no number is used twice: a process with an outdated view can't take the lock.
 */
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../open.ts'
import { StartupError } from '../startup-error.ts'
import { makeDirectory } from './disk.ts'

export type Lock = { release(): void }

/** Another process holds the lock. */
export class LockHeld extends StartupError {}

type Holder = {
  readonly pid: number
  /**
   * start time of the process by the system's clock, which detects a reused pid; '' when the system does not
   * report it
   */
  readonly started: string
  readonly host: string
  readonly boot: string
  /** pid namespace: processes in different containers can't see each other's pids */
  readonly pids: string
}

const beatMs = 1000
const waitMs = 5000
const released = 'released\n'

/**
 * Takes the lock of `dataDir`, which must exist. Throws LockHeld with the holder's pid when another
 * process holds it. The lock of a killed process is taken over: at once when the process can be looked up,
 * otherwise when it was not renewed for five seconds. `onLost` is called when another process takes the lock
 * regardless, for example because this process was suspended. A lock that can't be renewed is logged; that is
 * harmless as long as no process on another host wants it.
 */
export async function acquireLock(dataDir: string, onLost: () => void, log: Log = () => {}): Promise<Lock> {
  const directory = path.join(dataDir, 'lock')
  makeDirectory(directory)
  for (;;) {
    const highest = numbers(directory)[0] ?? 0
    if (highest > 0 && (await isHeld(path.join(directory, `${highest}`))))
      throw new LockHeld(heldMessage(directory, highest))
    const own = highest + 1
    const file = create(path.join(directory, `${own}`))
    if (file === undefined) continue
    if (numbers(directory)[0] !== own) {
      fs.closeSync(file)
      fs.rmSync(path.join(directory, `${own}`), { force: true })
      continue
    }
    for (const number of numbers(directory).slice(1))
      fs.rmSync(path.join(directory, `${number}`), { force: true })
    return hold(directory, own, file, onLost, log)
  }
}

/** Holds the lock. Its `file` stays open, as renewing must work when no file descriptor is left. */
function hold(directory: string, own: number, file: number, onLost: () => void, log: Log): Lock {
  const next = path.join(directory, `${own + 1}`)
  let isOver = false
  let isRenewed = true
  const end = () => {
    isOver = true
    clearInterval(beat)
    fs.closeSync(file)
  }
  // A process that takes the lock makes the next number and removes the earlier files.
  const isLost = () =>
    fs.fstatSync(file).nlink === 0 || fs.statSync(next, { throwIfNoEntry: false }) !== undefined
  const renew = () => {
    const now = new Date()
    fs.futimesSync(file, now, now)
    if (!isRenewed) log('The lock of the data directory is renewed again.')
    isRenewed = true
  }
  const beat = setInterval(() => {
    try {
      if (isLost()) {
        end()
        onLost()
      } else renew()
    } catch (error) {
      // An I/O error does not show whose lock it is.
      if (isRenewed)
        log(`The lock of the data directory could not be renewed (${(error as NodeJS.ErrnoException).code}).`)
      isRenewed = false
    }
  }, beatMs).unref()
  return {
    release() {
      if (isOver) return
      try {
        // The file is overwritten, not truncated first: on a full disk there might be no space to write
        // again.
        fs.writeSync(file, released, 0)
        fs.ftruncateSync(file, released.length)
      } catch {
        // The next start finds that this process is dead.
      }
      end()
    },
  }
}

function numbers(directory: string): number[] {
  return fs
    .readdirSync(directory)
    .filter(name => /^[1-9][0-9]*$/.test(name))
    .map(Number)
    .sort((a, b) => b - a)
}

/** Creates and opens the file. Undefined when it already exists. */
function create(name: string): number | undefined {
  let file: number
  try {
    file = fs.openSync(name, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  try {
    fs.writeSync(file, JSON.stringify(self()) + '\n')
  } catch (error) {
    // The file stays: its number was seen, and must not be used twice.
    fs.closeSync(file)
    throw error
  }
  return file
}

async function isHeld(file: string): Promise<boolean> {
  const content = read(file)
  if (content === released) return false
  const holder = parse(content)
  const here = self()
  if (holder && holder.host === here.host) {
    if (holder.boot !== here.boot) return false
    if (holder.pids === here.pids) {
      if (!exists(holder.pid)) return false
      if (holder.started !== '') return startOf(holder.pid) === holder.started
    }
  }
  // The process can't be looked up from here, or the file is being written now. A living holder renews the
  // lock.
  return isRenewed(file)
}

async function isRenewed(file: string): Promise<boolean> {
  const before = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  for (let waited = 0; waited < waitMs; waited += 200) {
    await sleep(200)
    if (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs !== before) return read(file) !== released
  }
  return false
}

function heldMessage(directory: string, number: number): string {
  const holder = parse(read(path.join(directory, `${number}`)))
  const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process'
  return `The data directory ${path.dirname(directory)} is in use by ${who}. Stop it first, or set DATA_DIR to another directory.`
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function parse(content: string): Holder | undefined {
  try {
    return JSON.parse(content) as Holder
  } catch {
    return undefined
  }
}

function self(): Holder {
  const boot = read('/proc/sys/kernel/random/boot_id').trim()
  let pids = ''
  try {
    pids = fs.readlinkSync('/proc/self/ns/pid')
  } catch {
    // not available on this system
  }
  return { pid: process.pid, started: startOf(process.pid), host: os.hostname(), boot, pids }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Field 22 of /proc/<pid>/stat (proc(5)), in clock ticks since the boot; the name in field 2 may itself hold
 * spaces and brackets.
 */
function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
