/**
 * The database pauses, dies and comes back while webhooks, a job and writers are at work: the process
 * survives, resumes, loses nothing, and stops on request (D72, D84).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { answered, eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { serviceEnv, started, token } from './service-process.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'
const server = isServer ? await startPostgres(true) : null
const directory = mkdtempSync(join(tmpdir(), 'dealwright-pauses-'))
after(async () => {
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Somewhat longer than the circuit breaker needs to open. */
const pauseMs = 1300
const importedRows = 600

type Faults = { readonly [name: string]: (pid: number) => Promise<void> }
const faultsOfServer: Faults = {
  'a pause': async () => {
    server!.pause()
    await sleep(pauseMs)
    server!.resume()
  },
  'a kill': async () => {
    await server!.kill9()
    await sleep(pauseMs)
    await server!.restart()
  },
  'a restart': () => server!.restart(),
}
const faultsOfEngine: Faults = {
  'an engine that is opened again': async pid => {
    process.kill(pid, 'SIGUSR2')
    await sleep(pauseMs)
  },
}

test('the database fails while webhooks, a job and writers are at work', {
  skip: isServer && !server && 'PostgreSQL is not installed here',
  timeout: 900_000,
}, async () => {
  const endEngine = new URL('../support/end-engine.ts', import.meta.url).href
  const { service, ended, url } = await started({
    ...serviceEnv(directory),
    ...{ DATABASE_URL: server ? await createDatabase(server.url) : '', LOG_LEVEL: 'error' },
    WEBHOOK_ALLOW_PRIVATE: '1',
    NODE_OPTIONS: `--import=${endEngine}`,
  })
  after(() => service.kill('SIGKILL'))
  const api = apiOf(url)
  const prompt = await startReceiver()
  const slow = await startReceiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 700))
  const hookOf = (url: string) => ({ url, events: ['tag.created'] })
  // The third address has no listener.
  for (const to of [prompt.url, slow.url, 'http://127.0.0.1:9'])
    assert.equal((await answered(() => api('POST', 'webhook', hookOf(to)))).status, 201)
  const written: string[] = []
  for (const [name, fail] of Object.entries(isServer ? faultsOfServer : faultsOfEngine)) {
    const job = await beginImport(url, name)
    const writing = new AbortController()
    const writers = [1, 2].map(number => write(api, `${name} ${number}`, written, writing.signal))
    await eventually(() => written.length > 0, 'a first write')
    await fail(service.pid!)
    assert.equal((await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(30_000) })).status, 200, name)
    const isBack = async () => (await api('POST', 'tag', { name: `after ${name}` })).status === 201
    await eventually(isBack, `writes after ${name}`)
    written.push(`after ${name}`)
    writing.abort()
    await Promise.all(writers)
    const isDone = async () => (await api('GET', `import/${job}`)).data?.state === 'done'
    await eventually(isDone, `the end of the job after ${name}`)
    const path = `company/view/list?filter=name:like(${encodeURIComponent(name)})`
    const imported = await answered(() => api('GET', path))
    assert.equal(imported.meta?.total, importedRows, name)
    const isTold = () => {
      const told = new Set(prompt.got.map(({ body }) => body.data.record.name))
      return written.every(tag => told.has(tag))
    }
    await eventually(isTold, `the deliveries after ${name}`)
  }
  assert.ok(slow.got.length > 0)
  service.kill('SIGTERM')
  assert.equal(await ended, 0)
})

type Reply = {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
  readonly data?: any
  readonly meta?: { readonly total: number }
}

function apiOf(url: string) {
  return async (method: string, path: string, body?: object): Promise<Reply> => {
    const response = await fetch(`${url}/rest/api/v1/${path}`, {
      ...{ method, signal: AbortSignal.timeout(60_000) },
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { ...((await response.json()) as object), status: response.status }
  }
}

/** Begins an import of companies whose names begin with `name`; returns the id of its job. */
async function beginImport(url: string, name: string): Promise<number> {
  const rows = Array.from({ length: importedRows }, (_, row) => `${name} company ${row}`)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  const sent = await answered(() =>
    fetch(`${url}/rest/api/v1/import?resource=company&format=csv`, {
      ...{ method: 'POST', headers },
      body: ['name', ...rows].join('\n'),
    }),
  )
  const { data } = (await sent.json()) as { data: { id: number } }
  const { status } = await answered(() => apiOf(url)('POST', `import/${data.id}/run`))
  // 409: it runs already, and the answer that said so was lost.
  assert.ok(status === 200 || status === 409, `${status}`)
  return data.id
}

/** Creates tags until `isOver`, and records the names of the acknowledged ones. */
async function write(
  api: ReturnType<typeof apiOf>,
  name: string,
  written: string[],
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    const tag = `${name} tag ${count}`
    const { status } = await api('POST', 'tag', { name: tag })
    assert.ok(status === 201 || status === 503, `${status}`)
    if (status === 201) written.push(tag)
    await sleep(10)
  }
}
