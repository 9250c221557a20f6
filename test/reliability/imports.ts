/**
 * An import, and then its revert, while the service is killed by SIGKILL in the middle of them. After each
 * restart the job resumes. In the end each good row is one deal, each bad row is reported once, and after the
 * revert nothing of it is left (D80, D84).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from './on-engines.ts'
import { ask, end, started, token } from './service-process.ts'

type Tally = {
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

/** One row in this number has an unknown stage. */
const badEvery = 17
const [companies, contacts] = [40, 90]

export const imports: Scenario = {
  rounds: 30,
  zero: ['missing', 'twice', 'unnamed', 'doubles', 'left'],
  some: ['kills'],
  async act({ env }, rounds, say) {
    const rows = 500 * Math.max(2, rounds)
    const tally: Tally = { kills: 0, revertKills: 0, missing: 0, twice: 0, unnamed: 0, doubles: 0, left: 0 }
    let life = await started(env)
    const id = await begin(life.url, rows)
    const killed = async (most: number, what: string): Promise<number> => {
      for (let kills = 0; ; kills++) {
        const state = await watched(life.url, id, kills < most)
        say(`${what}: ${kills} kills, ${state}`)
        if (state === 'done') return kills
        if (state !== 'running') throw new Error(`The job is ${state}`)
        await end(life, 'SIGKILL')
        life = await started(env)
      }
    }
    try {
      tally.kills = await killed(rounds, 'import')
      await check(life.url, id, rows, tally)
      await ask(life.url, 'POST', `import/${id}/revert`)
      tally.revertKills = await killed(Math.ceil(rounds / 3), 'revert')
      for (const resource of ['deal', 'contact', 'company']) tally.left += await count(life.url, resource)
    } finally {
      await end(life, 'SIGTERM')
    }
    return tally
  },
}

/** Uploads the file and begins the import. */
async function begin(url: string, rows: number): Promise<number> {
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
}

/** Waits for the end of the job, or, if it `isKilled`, until soon after it has resumed; returns its state. */
async function watched(url: string, id: number, isKilled: boolean): Promise<string> {
  let first = -1
  let until = Number.POSITIVE_INFINITY
  for (;;) {
    const { state, done } = (await ask(url, 'GET', `import/${id}`)).data
    if (state !== 'running' || performance.now() >= until) return state
    if (first === -1) first = done
    if (isKilled && done > first && until === Number.POSITIVE_INFINITY)
      until = performance.now() + Math.random() * 200
    await sleep(10)
  }
}

async function check(url: string, id: number, rows: number, tally: Tally): Promise<void> {
  const found = new Map<string, number>()
  for (let cursor = ''; ; ) {
    const { data, meta } = await ask(url, 'GET', `deal/view/list?pageSize=500&fields=title${cursor}`)
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
}

async function count(url: string, resource: string): Promise<number> {
  return (await ask(url, 'GET', `${resource}/view/list?pageSize=1&count=exact`)).meta.total
}
