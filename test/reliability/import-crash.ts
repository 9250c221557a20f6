/**
 * Kills the service with SIGKILL in the middle of an import, over and over, and then in the middle of its
 * revert. After each restart the job resumes. In the end each good row is one deal, each bad row is reported
 * once, and after the revert nothing of it is left (D80, D84). `npm run import-crash -- --rounds 30 --engine
 * embedded|postgres`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { started } from './crash.ts'
import { onEngines, wrongCounts } from './on-engines.ts'

export type Tally = {
  /** number of kills during imports and during reverts */
  kills: number
  revertKills: number
  /** rows with no deal, or more than one, in the end; and refused rows that are not reported once */
  missing: number
  twice: number
  unnamed: number
  /** duplicate companies or contacts */
  doubles: number
  /** records left after the revert */
  left: number
}

const token = 'import-crash-token-import-crash-token'
/** One row in this number has an unknown stage. */
const badEvery = 17
const [companies, contacts] = [40, 90]

/** Kills one engine's service `rounds` times; null if the engine is not installed. */
export async function importCrash(
  engine: 'embedded' | 'postgres',
  rounds: number,
  report: (line: string) => void = () => {},
): Promise<Tally | null> {
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-imports-'))
  const server = engine === 'postgres' ? await startPostgres(true) : null
  if (engine === 'postgres' && !server) return null
  const url = server && (await createDatabase(server.url))
  const env = {
    ...{ PORT: '0', DATA_DIR: directory, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '0' },
    ...{ DATABASE_URL: url ?? '', LOG_LEVEL: 'error' },
  }
  const rows = 500 * Math.max(2, rounds)
  const tally: Tally = { kills: 0, revertKills: 0, missing: 0, twice: 0, unnamed: 0, doubles: 0, left: 0 }
  try {
    const id = await begin(env, rows)
    tally.kills = await killed(env, id, rounds, line => report(`import: ${line}`))
    await check(env, id, rows, tally)
    await once(env, url => ask(url, 'POST', `import/${id}/revert`))
    tally.revertKills = await killed(env, id, Math.ceil(rounds / 3), line => report(`revert: ${line}`))
    await once(env, async url => {
      for (const resource of ['deal', 'contact', 'company']) tally.left += await count(url, resource)
    })
  } finally {
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return tally
}

/** Uploads the file and begins the import. */
async function begin(env: Record<string, string>, rows: number): Promise<number> {
  return once(env, async url => {
    const [user] = (await ask(url, 'GET', 'user/view/list?pageSize=1')).data
    const [pipeline] = (await ask(url, 'GET', 'pipeline/view/list?pageSize=1')).data
    const header =
      'title,pipeline,pipeline_stage,sales_owner,company.name,primary_contact.last_name,primary_contact.emails'
    const lines = Array.from({ length: rows }, (_, index) =>
      [
        ...[`Row ${index}`, pipeline.name, index % badEvery === 3 ? 'Nowhere' : 'New', user.email],
        ...[`Company ${index % companies}`, `Person ${index % contacts}`, `p${index % contacts}@example.com`],
      ].join(','),
    )
    const response = await fetch(`${url}/rest/api/v1/import?resource=deal&format=csv`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
      body: [header, ...lines].join('\n'),
    })
    if (!response.ok) throw new Error(await response.text())
    const { id } = ((await response.json()) as { data: { id: number } }).data
    await ask(url, 'POST', `import/${id}/run`)
    return id
  })
}

/**
 * Starts the service and kills it, up to `most` times, until the job has ended; returns the number of kills.
 */
async function killed(
  env: Record<string, string>,
  id: number,
  most: number,
  report: (line: string) => void,
): Promise<number> {
  for (let kills = 0; ; kills++) {
    const { service, ended, url } = await started(env)
    let [state, first] = ['running', -1]
    // Killed while it works: soon after it has resumed.
    let until = Number.POSITIVE_INFINITY
    while (state === 'running' && performance.now() < until) {
      const { data } = await ask(url, 'GET', `import/${id}`)
      state = data.state
      if (first === -1) first = data.done
      const isGoing = data.done > first && kills < most
      if (isGoing && until === Number.POSITIVE_INFINITY) until = performance.now() + Math.random() * 200
      await sleep(10)
    }
    report(`${kills} kills, ${state}`)
    service.kill(state === 'running' ? 'SIGKILL' : 'SIGTERM')
    await ended
    if (state === 'done') return kills
    if (state !== 'running') throw new Error(`The job is ${state}`)
  }
}

async function check(env: Record<string, string>, id: number, rows: number, tally: Tally): Promise<void> {
  await once(env, async url => {
    const found = new Map<string, number>()
    const names = { deal: 'title', company: 'name', contact: 'emails' }
    for (let cursor = ''; ; ) {
      const { data, meta } = await ask(
        url,
        'GET',
        `deal/view/list?pageSize=500&fields=${names.deal}${cursor}`,
      )
      for (const { title } of data) found.set(title, (found.get(title) ?? 0) + 1)
      if (!meta.nextCursor) break
      cursor = `&cursor=${meta.nextCursor}`
    }
    const bad = Array.from({ length: rows }, (_, index) => index).filter(index => index % badEvery === 3)
    tally.missing = rows - bad.length - found.size
    tally.twice = [...found.values()].filter(times => times > 1).length
    const { data } = await ask(url, 'GET', `import/${id}`)
    tally.unnamed = Math.abs(data.refused - bad.length) + Math.abs(data.created - found.size)
    const file = await fetch(`${url}/rest/api/v1/import/${id}/errors.csv`, {
      headers: { authorization: `Bearer ${token}` },
    })
    tally.unnamed += Math.abs((await file.text()).trim().split('\n').length - 1 - bad.length)
    const made = (await count(url, 'company')) + (await count(url, 'contact'))
    tally.doubles = made - companies - contacts
  })
}

async function count(url: string, resource: string): Promise<number> {
  return (await ask(url, 'GET', `${resource}/view/list?pageSize=1&count=exact`)).meta.total
}

/** Starts the service, runs `act`, and stops it. */
async function once<T>(env: Record<string, string>, act: (url: string) => Promise<T>): Promise<T> {
  const { service, ended, url } = await started(env)
  try {
    return await act(url)
  } finally {
    service.kill('SIGTERM')
    await ended
  }
}

// biome-ignore lint/suspicious/noExplicitAny: of the service's answers little is read
async function ask(url: string, method: string, path: string): Promise<any> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/rest/api/v1/${path}`, { method, headers })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

if (import.meta.main)
  await onEngines(30, importCrash, tally =>
    wrongCounts(tally, { zero: ['missing', 'twice', 'unnamed', 'doubles', 'left'] }),
  )
