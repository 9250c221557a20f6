/**
 * Notices that npm, which started the service, is gone. npm does not pass every signal on: ended by SIGTERM,
 * it would leave the service running, with nobody who knows of it.
 */
import { readFileSync } from 'node:fs'

const everyMs = 1000

/**
 * `npm start`, as package.json has it: a script that sends the service into the background means it to stay.
 */
const ownScript = 'node --v8-pool-size=1 bin/dealwright.js'

/**
 * Calls `act` once, when the `npm start` that began this process has ended. Never for a process that was
 * started otherwise, as by a supervisor or with nohup: that may well outlive whoever started it. On Linux
 * only, where a process can see whose child it is.
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

/** The processes from this one up to npm, of which a shell may be one; null where npm did not start it. */
function chainToNpm(): Link[] | null {
  // Inherited by everything that npm starts; so the parents are looked at, too.
  if (process.env.npm_lifecycle_script !== ownScript) return null
  const chain: Link[] = []
  for (let pid = process.pid; chain.length < 2; ) {
    const parent = parentOf(pid)
    // Process 1 can't go before this one, and who has it for a parent has lost its own.
    if (parent === null || parent <= 1) return null
    chain.push({ pid, parent })
    if (isNpm(parent)) return chain
    if (!isShell(parent)) return null
    pid = parent
  }
  return null
}

/** Null for a process that is gone, and for another than this one where the system does not tell. */
function parentOf(pid: number): number | null {
  if (pid === process.pid) return process.ppid
  // The name of the program stands in parentheses, and may have some itself.
  const parent = /\) \S (\d+) [^)]*$/.exec(read(`/proc/${pid}/stat`))?.[1]
  return parent === undefined ? null : Number(parent)
}

function isNpm(pid: number): boolean {
  return /(^|[/ \0])(npm|pnpm|yarn)(-cli)?(\.c?js)?[ \0]/.test(read(`/proc/${pid}/cmdline`))
}

function isShell(pid: number): boolean {
  return /^\S*sh\0-c\0/.test(read(`/proc/${pid}/cmdline`))
}

/** What a file of the system says; nothing where there is none. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
