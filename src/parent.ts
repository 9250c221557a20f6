/**
 * Notices that npm, which started the service, has ended. npm doesn't pass every signal on: after a SIGTERM
 * to npm, the service would run on as an orphan.
 */
import { readFileSync } from 'node:fs'

const everyMs = 1000

/**
 * The commands of `npm start` in package.json, and of `npx dealwright`, which npm quotes or not. Another
 * script may detach the service on purpose.
 */
const ownScripts = ['node --v8-pool-size=1 bin/dealwright.js', 'dealwright', "'dealwright'", '"dealwright"']

/**
 * Stops this process, with a line for the operator, when the `npm start` or `npx` that started it has ended.
 * Never for a process that a supervisor, nohup or a shell started: it may outlive its parent. On Linux only,
 * where a process can see its parents.
 */
export function stopWithNpm(say: (line: string) => void): void {
  const chain = chainToNpm()
  if (!chain) return
  const timer = setInterval(() => {
    if (chain.every(({ pid, parent }) => parentOf(pid) === parent)) return
    clearInterval(timer)
    say('npm, which started the service, is gone: the service stops too.')
    process.kill(process.pid, 'SIGTERM')
  }, everyMs).unref()
}

type Link = { readonly pid: number; readonly parent: number }

/** The processes from this one up to npm, a shell possibly in between; null if npm didn't start this one. */
function chainToNpm(): Link[] | null {
  // Every process that npm starts inherits this variable, so the parents are checked too.
  if (!ownScripts.includes(process.env.npm_lifecycle_script ?? '')) return null
  const chain: Link[] = []
  for (let pid = process.pid; chain.length < 2; ) {
    const parent = parentOf(pid)
    // Process 1 never ends before this one, and a process whose parent is process 1 is an orphan.
    if (parent === null || parent <= 1) return null
    chain.push({ pid, parent })
    if (isNpm(parent)) return chain
    if (!isShell(parent)) return null
    pid = parent
  }
  return null
}

/**
 * The parent's id. Null for a process that has ended, and for every other process on systems without /proc.
 */
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

/** The contents of a system file; '' if there is none. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
