/** The service as a process of its own, which tests stop and kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The preset token of these services. */
export const token = 'token-of-a-service-process-of-a-test'

/** A running service; `ended` resolves to its exit code. */
export type Life = {
  readonly service: ChildProcess
  readonly ended: Promise<number | null>
  readonly url: string
}

/** The environment of a service with the embedded engine, any free port and no sample data. */
export function serviceEnv(dataDir: string): NodeJS.ProcessEnv {
  const own = { DATABASE_URL: '', PORT: '0', DATA_DIR: dataDir, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '0' }
  return { ...process.env, ...own }
}

/** Starts the service in this environment, and waits until it is ready. */
export async function started(env: NodeJS.ProcessEnv): Promise<Life> {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>(resolve => service.on('exit', code => resolve(code)))
  return { service, ended, url: await readyUrl(service) }
}

/** Ends a service by a signal; returns its exit code. */
export async function end({ service, ended }: Life, signal: NodeJS.Signals): Promise<number | null> {
  service.kill(signal)
  return ended
}

export async function readyUrl(service: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: service.stdout! })) {
    const url = /ready at (\S+)/.exec(line)?.[1]
    if (url) {
      service.stdout!.resume()
      return url
    }
  }
  throw new Error('the service ended before it was ready')
}

/** Sends a request to a service; `key` is its idempotency key. */
export type Send = (
  method: string,
  path: string,
  body?: object,
  key?: string,
  // biome-ignore lint/suspicious/noExplicitAny: of the service's answers little is read
) => Promise<any>

/** The requests to one service. */
export const sendTo =
  (url: string): Send =>
  (...request) =>
    ask(url, ...request)

/** Sends a request. Throws refusals. */
export async function ask(url: string, ...[method, path, body, key]: Parameters<Send>): ReturnType<Send> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(key ? { 'idempotency-key': key } : {}),
  }
  const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const response = await fetch(`${url}/rest/api/v1/${path}`, request)
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
