/** The service as a process of its own, for tests of what an operator sees. It ends with the test file. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export type Running = {
  readonly url: string
  readonly token: string
  /** where its metrics are; null without them */
  readonly metrics: string | null
  readonly child: ChildProcess
  /** what it wrote to standard error so far */
  log(): string
  /** Resolves with the first match in the log, once there is one. */
  logged(form: RegExp): Promise<RegExpExecArray>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Ends it by a signal, and waits for its end. */
  end(signal?: NodeJS.Signals): Promise<void>
}

/** A folder that is removed with the test file. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `dealwright-${name}-`))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An environment with these settings and none of the tests' own. */
export function settingsOnly(env: Record<string, string>): NodeJS.ProcessEnv {
  const own = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', 'LANG', 'TZ']
  const kept = Object.entries(process.env).filter(([name]) => own.includes(name))
  return { ...Object.fromEntries(kept), PORT: '0', ...env }
}

export type Ended = { readonly code: number; readonly out: string; readonly err: string }

/** Runs a command of the program with these settings until it ends. */
export function runCommand(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return new Promise(resolve =>
    execFile(
      process.execPath,
      ['bin/dealwright.js', ...args],
      { env: settingsOnly(env) },
      (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }),
    ),
  )
}

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

export type Program = { readonly file: string; readonly args: readonly string[]; readonly cwd?: string }
const own: Program = { file: process.execPath, args: ['bin/dealwright.js'] }

/** Starts it and waits until it is ready. Throws what it said if it ends before. */
export async function runService(env: Record<string, string>, program: Program = own): Promise<Running> {
  const { file, args, cwd } = program
  const child = spawn(file, [...args, 'serve', '--json'], {
    ...(cwd === undefined ? {} : { cwd }),
    env: settingsOnly(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const closed = once(child, 'close')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    said += text
  })
  const start = await firstLine(child)
  if (start === null) {
    await closed
    throw new Error(said)
  }
  const { url, metrics, ...shown } = JSON.parse(start)
  // Only the first start shows it.
  const token = shown.token ?? (shown.token_kept_in && readFileSync(shown.token_kept_in, 'utf8').trim())
  const authorization = `Bearer ${token}`
  return {
    ...{ url, token, metrics, child },
    log: () => said,
    async logged(form) {
      for (;;) {
        const found = form.exec(said)
        if (found) return found
        if (child.exitCode !== null) throw new Error(`It ended without ${form}: ${said}`)
        await Promise.race([once(child.stderr, 'data'), closed])
      }
    },
    get: (path, headers = {}) => fetch(url + path, { headers: { authorization, ...headers } }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await closed
    },
  }
}

/** The first line of its standard output; null if it ends without one. */
async function firstLine({ stdout }: ChildProcess): Promise<string | null> {
  let said = ''
  for await (const text of stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text
    const end = said.indexOf('\n')
    if (end < 0) continue
    stdout!.resume()
    return said.slice(0, end)
  }
  return null
}
