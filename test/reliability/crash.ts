/**
 * Kills the service with SIGKILL during mixed writes, over and over, and counts: every acknowledged write
 * must be there, once, whole and with its event; others are retried with their idempotency key. On a server
 * the database is killed in every second round, too. `npm run crash -- --rounds 20 --engine
 * embedded|postgres`
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openDatabase, type Row } from '../../src/db/open.ts'
import { createDatabase, startPostgres, type TestServer } from '../support/postgres.ts'
import { timeouts } from '../support/timeouts.ts'
import { onEngines, wrongCounts } from './on-engines.ts'

export type Tally = {
  rounds: number
  acknowledged: number
  lost: number
  duplicated: number
  halfWritten: number
}

export type Acknowledged = {
  readonly id: number
  readonly title: string
  version: number
  isDeleted: boolean
}
/** Unanswered creations, by their title, which is their idempotency key. */
export type Unanswered = Set<string>
type Target = {
  readonly env: Record<string, string>
  readonly open: { url?: string; dataDir?: string }
  readonly server: TestServer | null
}

export const token = 'crash-test-token-crash-test-token'
export const writers = 16

/** Rounds of killing one engine; null if the engine is not installed. */
export async function crash(
  engine: 'embedded' | 'postgres',
  rounds: number,
  report: (line: string) => void = () => {},
): Promise<Tally | null> {
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-crash-'))
  const server = engine === 'postgres' ? await startPostgres(true) : null
  if (engine === 'postgres' && !server) return null
  const url = server && (await createDatabase(server.url))
  const env = {
    PORT: '0',
    DATA_DIR: directory,
    DEALWRIGHT_TOKEN: token,
    SAMPLE_DATA: '1',
    ...(url ? { DATABASE_URL: url } : {}),
  }
  const target: Target = { env, open: url ? { url } : { dataDir: directory }, server }
  const known = new Map<number, Acknowledged>()
  const unanswered: Unanswered = new Set()
  const tally: Tally = { rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, halfWritten: 0 }
  try {
    for (let round = 1; round <= rounds; round++) {
      await writeAndKill(target, round, known, unanswered)
      await verify(target.open, known, tally)
      tally.rounds = round
      report(`round ${round}: ${JSON.stringify(tally)}`)
    }
  } finally {
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return tally
}

/** One life of the service: sixteen writers, until it is killed between 0.2 and 1 s after the first write. */
async function writeAndKill(
  { env, server }: Target,
  round: number,
  known: Map<number, Acknowledged>,
  unanswered: Unanswered,
): Promise<void> {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise(resolve => service.on('exit', resolve))
  const url = await readyUrl(service)
  for (const title of unanswered) {
    const { id } = await send(url, 'POST', '', bodyOf(title), title)
    known.set(id, { id, title, version: 1, isDeleted: false })
  }
  unanswered.clear()
  const kill = () => void (server && round % 2 === 0 ? server.kill9() : service.kill('SIGKILL'))
  let isBegun = false
  const begun = () => {
    if (!isBegun) setTimeout(kill, 200 + Math.random() * 800)
    isBegun = true
  }
  let isAlive = true
  void gone.then(() => {
    isAlive = false
  })
  const writing = Array.from({ length: writers }, (_, writer) =>
    write(url, `r${round}w${writer}`, known, unanswered, begun, () => isAlive),
  )
  await Promise.all(writing)
  service.kill('SIGKILL')
  await gone
  if (server && round % 2 === 0) await server.restart()
}

/** The environment of a service with the embedded engine, any free port and no sample data. */
export function serviceEnv(dataDir: string, bearer: string): NodeJS.ProcessEnv {
  const own = { DATABASE_URL: '', PORT: '0', DATA_DIR: dataDir, DEALWRIGHT_TOKEN: bearer, SAMPLE_DATA: '0' }
  return { ...process.env, ...own }
}

/**
 * Starts the service with these settings; returns the process, a promise of its exit code, and its address.
 */
export async function started(env: Record<string, string>) {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>(resolve => service.on('exit', code => resolve(code)))
  return { service, ended, url: await readyUrl(service) }
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

async function send(
  url: string,
  method: string,
  path: string,
  body: object | undefined,
  key?: string,
): Promise<{ id: number; version: number }> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(key ? { 'idempotency-key': key } : {}),
  }
  const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const response = await fetch(`${url}/rest/api/v1/deal${path}`, request)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: { id: number; version: number } }).data
}

/** With a contact of its own. */
function bodyOf(title: string): object {
  return { title, pipeline: 2, pipeline_stage: 3, primary_contact: { last_name: title }, sales_owner: 1 }
}

/**
 * Creates a deal with its contact, changes it twice, deletes every third and restores every sixth; records
 * the answers.
 */
export async function write(
  url: string,
  name: string,
  known: Map<number, Acknowledged>,
  unanswered: Unanswered,
  begun: () => void,
  isAlive: () => boolean,
): Promise<void> {
  try {
    for (let count = 0; isAlive(); count++) {
      const title = `${name}n${count}`
      unanswered.add(title)
      const { id } = await send(url, 'POST', '', bodyOf(title), title)
      unanswered.delete(title)
      begun()
      const deal: Acknowledged = { id, title, version: 1, isDeleted: false }
      known.set(id, deal)
      for (const version of [2, 3]) {
        await send(url, 'PATCH', `/${id}`, { description: `version ${version}` })
        deal.version = version
      }
      if (count % 3) continue
      await send(url, 'DELETE', `/${id}`, undefined)
      Object.assign(deal, { version: 4, isDeleted: true })
      if (count % 6) continue
      // During its restoration its state is unknown; it is known once that was answered.
      await send(url, 'POST', `/${id}/restore`, undefined)
      Object.assign(deal, { version: 5, isDeleted: false })
    }
  } catch {
    // The service or its database was killed: unanswered writes are not promised.
  }
}

/** Opens the database after the crash and compares it with the acknowledged writes. */
export async function verify(
  open: Target['open'],
  known: Map<number, Acknowledged>,
  tally: Tally,
): Promise<void> {
  const db = await openDatabase({ ...open, ...timeouts(), log: () => {} })
  try {
    const rows =
      await db.query(`SELECT d.id::text AS id, d.title, d.version::text AS version, d.document, (d.deleted_at IS NOT NULL)::text AS is_deleted,
      (SELECT last_name FROM contact c WHERE c.account_id = d.account_id AND c.id = d.primary_contact) AS contact,
      (SELECT count(*) FROM event e WHERE e.account_id = d.account_id AND e.resource = 'deal' AND e.record_id = d.id)::text AS events
      FROM deal d WHERE d.account_id = 1 AND d.title ~ '^r[0-9]+w'`)
    const [log] = await db.query(
      'SELECT count(*)::text AS n, max(seq)::text AS last, (SELECT last_seq::text FROM counter WHERE account_id = 1) AS counter FROM event',
    )
    const byId = new Map(rows.map(row => [Number(row.id), row]))
    tally.acknowledged = [...known.values()].reduce((sum, write) => sum + write.version, 0)
    tally.lost += [...known.values()].filter(write => isLost(write, byId.get(write.id))).length
    tally.duplicated += rows.length - new Set(rows.map(row => row.title)).size
    // A record has one event for each version, and the log has no gap.
    tally.halfWritten += rows.filter(
      row =>
        row.events !== row.version ||
        row.contact !== row.title ||
        !row.document!.includes(`"title":"${row.title}"`),
    ).length
    if (log!.n !== log!.last || log!.last !== log!.counter) tally.halfWritten++
  } finally {
    await db.close()
  }
}

function isLost(write: Acknowledged, row: Row | undefined): boolean {
  if (!row || row.title !== write.title || Number(row.version) < write.version) return true
  return Number(row.version) === write.version && (row.is_deleted === 'true') !== write.isDeleted
}

if (import.meta.main)
  await onEngines(20, crash, tally =>
    wrongCounts(tally, { zero: ['lost', 'duplicated', 'halfWritten'], some: ['acknowledged'] }),
  )
