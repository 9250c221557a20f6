/**
 * Notices that npm, which started the service, is gone. npm does not pass every signal on: when SIGTERM ends
 * npm, the service would go on running unnoticed.
 */
import { readFileSync } from 'node:fs'

const everyMs = 1000

/**
 * The command of `npm start` in package.json. Another script may send the service into the background on
 * purpose.
 */
const ownScript = 'node --v8-pool-size=1 bin/dealwright.js'

/**
 * Calls `act` once, when the `npm start` that began this process has ended. Never for a process that was
 * started in another way, such as by a supervisor or with nohup: it may outlive the program that started it.
 * On Linux only, where a process can see its parents.
 */
export function whenNpmIsGone(act: () => void): void {
  const chain = chainToNpm()
  if (!chain) return
  const timer = setInterval(() => {
    if (chain.every(({ pid, parent }) => parentOf(pid) === parent)) return
    clearInterval(timer)
    act()
  }, everyMs).unref()
}

type Link = { readonly pid: number; readonly parent: number }

/**
 * The processes from this one up to npm, possibly with a shell in between; null if npm did not start this
 * process.
 */
function chainToNpm(): Link[] | null {
  // Every process that npm starts inherits this variable, so the parents are checked too.
  if (process.env.npm_lifecycle_script !== ownScript) return null
  const chain: Link[] = []
  for (let pid = process.pid; chain.length < 2; ) {
    const parent = parentOf(pid)
    // Process 1 never ends before this one, and a process whose parent is process 1 has lost its own parent.
    if (parent === null || parent <= 1) return null
    chain.push({ pid, parent })
    if (isNpm(parent)) return chain
    if (!isShell(parent)) return null
    pid = parent
  }
  return null
}

/** Null for a process that is gone, and for every other process on systems that do not tell. */
function parentOf(pid: number): number | null {
  if (pid === process.pid) return process.ppid
  // The name of the program is in parentheses, and may contain parentheses itself.
  const parent = /\) \S (\d+) [^)]*$/.exec(read(`/proc/${pid}/stat`))?.[1]
  return parent === undefined ? null : Number(parent)
}

function isNpm(pid: number): boolean {
  return /(^|[/ \0])(npm|pnpm|yarn)(-cli)?(\.c?js)?[ \0]/.test(read(`/proc/${pid}/cmdline`))
}

function isShell(pid: number): boolean {
  return /^\S*sh\0-c\0/.test(read(`/proc/${pid}/cmdline`))
}

/** The contents of a file of the system; empty if there is none. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
