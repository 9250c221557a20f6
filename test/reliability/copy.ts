/**
 * Copies of an account, maintained by the feed alone, beside ten writers: by polling, by long poll, and by
 * server-sent events. On a server there are two services, of which each round kills one, and every third
 * round the database; on the embedded engine each round kills the one. At the end each copy must equal the
 * database, and no event may be missing or duplicated. `npm run copy -- --rounds 20 --engine
 * embedded|postgres`
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { PresentedEvent } from '../../src/history/present.ts'
import { createDatabase, startPostgres, type TestServer } from '../support/postgres.ts'
import { eventsOf } from '../support/stream.ts'
import { type Acknowledged, readyUrl, serviceEnv, token, write } from './crash.ts'
import { onEngines } from './on-engines.ts'

const ways = ['poll', 'long poll', 'stream'] as const
export type Way = (typeof ways)[number]

export type Outcome = {
  /** number of the account's events */
  events: number
  /** by way: missing and duplicate events, and records that differ at the end */
  readonly missed: { [way in Way]: number }
  readonly doubled: { [way in Way]: number }
  readonly different: { [way in Way]: number }
}

type Copied = { readonly [name: string]: unknown }

/** A follower's state: its position, and each record built from the changes of its events. */
class Copy {
  readonly records = new Map<string, Copied | null>()
  readonly told: number[] = []
  #deleted = new Map<string, Copied>()
  after = 0

  apply({ seq, type, resource, id, changes }: PresentedEvent): void {
    this.told.push(seq)
    this.after = seq
    const key = `${resource} ${id}`
    const verb = type.split('.')[1]
    const before = this.records.get(key) ?? {}
    if (verb === 'deleted') {
      this.#deleted.set(key, before)
      this.records.delete(key)
    } else if (verb === 'restored') this.records.set(key, this.#deleted.get(key)!)
    else
      this.records.set(key, {
        ...before,
        ...Object.fromEntries(changes.map(({ field, to }) => [field, to])),
      })
  }
}

/** Follows until it has received the event `last()`; reconnects broken connections. */
async function follow(way: Way, copy: Copy, url: () => string, last: () => number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  while (copy.after < last()) {
    try {
      if (way === 'stream') {
        const stream = await eventsOf(`${url()}/rest/api/v1/event`, token, String(copy.after))
        for (; copy.after < last(); ) copy.apply((await stream.next()).data)
        await stream.end()
        continue
      }
      const wait = way === 'poll' ? 0 : 2
      const address = `${url()}/rest/api/v1/event?after=${copy.after}&limit=50&wait=${wait}`
      const response = await fetch(address, { headers })
      if (!response.ok) throw new Error(await response.text())
      const { data, meta } = (await response.json()) as { data: PresentedEvent[]; meta: { next: number } }
      for (const event of data) copy.apply(event)
      copy.after = meta.next
      if (way === 'poll') await sleep(20)
    } catch {
      await sleep(50)
    }
  }
}

/** A service that is killed and restarted. */
class Victim {
  url = ''
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | null = null

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  async begin(): Promise<void> {
    this.#child = spawn(process.execPath, ['bin/dealwright.js'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.url = await readyUrl(this.#child)
  }

  async kill(): Promise<void> {
    const gone = new Promise(resolve => this.#child!.once('exit', resolve))
    this.#child!.kill('SIGKILL')
    await gone
  }
}

/** Rounds of kills; null if the engine is not installed. */
export async function copied(
  engine: 'embedded' | 'postgres',
  rounds: number,
  report: (line: string) => void = () => {},
): Promise<Outcome | null> {
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-copy-'))
  const server = engine === 'postgres' ? await startPostgres(true) : null
  if (engine === 'postgres' && !server) return null
  const own = server ? { DATABASE_URL: await createDatabase(server.url) } : {}
  const env = { ...serviceEnv(directory, token), SAMPLE_DATA: '1', LOG_LEVEL: 'silent', ...own }
  const services = Array.from({ length: server ? 2 : 1 }, () => new Victim(env))
  for (const service of services) await service.begin()
  let last = Number.POSITIVE_INFINITY
  const copies = ways.map(way => ({ way, copy: new Copy() }))
  const following = copies.map(({ way, copy }, index) =>
    follow(
      way,
      copy,
      () => services[(index + copy.told.length) % services.length]!.url,
      () => last,
    ),
  )
  try {
    for (let round = 1; round <= rounds; round++) {
      await writeAndKill(services, server, round)
      report(`round ${round}: ${copies.map(({ way, copy }) => `${way} ${copy.after}`).join(', ')}`)
    }
    // All followers wait for this last event.
    last = (await lastOf(services[0]!.url)) + 1
    const body = JSON.stringify({ name: 'The last' })
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
    const response = await fetch(`${services[0]!.url}/rest/api/v1/tag`, sent)
    if (!response.ok) throw new Error(await response.text())
    await Promise.all(following)
    return await judge(services[0]!.url, copies, last)
  } finally {
    last = 0
    for (const service of services) await service.kill()
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Ten writers for half a second to a second and a half, until a service or the database is killed. */
async function writeAndKill(
  services: readonly Victim[],
  server: TestServer | null,
  round: number,
): Promise<void> {
  let isOver = false
  const known = new Map<number, Acknowledged>()
  const writing = Array.from({ length: 10 }, (_, writer) =>
    write(
      services[writer % services.length]!.url,
      `r${round}w${writer}`,
      known,
      new Set(),
      () => {},
      () => !isOver,
    ),
  )
  await sleep(500 + Math.random() * 1000)
  if (server && round % 3 === 0) {
    server.kill9()
    isOver = true
    await Promise.all(writing)
    await server.restart()
  }
  const victim = services[round % services.length]!
  await victim.kill()
  isOver = true
  await Promise.all(writing)
  await victim.begin()
}

const headers = { authorization: `Bearer ${token}` }

async function lastOf(url: string): Promise<number> {
  for (;;) {
    const response = await fetch(`${url}/rest/api/v1/event?limit=1`, { headers })
    if (response.ok) return ((await response.json()) as { meta: { last: number } }).meta.last
    await sleep(100)
  }
}

async function judge(
  url: string,
  copies: readonly { readonly way: Way; readonly copy: Copy }[],
  events: number,
): Promise<Outcome> {
  const zero = () => Object.fromEntries(ways.map(way => [way, 0])) as { [way in Way]: number }
  const outcome: Outcome = { events, missed: zero(), doubled: zero(), different: zero() }
  const live = new Map<string, Copied>()
  for (const resource of ['deal', 'contact']) {
    for (const record of await all(url, resource)) live.set(`${resource} ${record.id}`, record)
  }
  for (const { way, copy } of copies) {
    const told = new Set(copy.told)
    outcome.doubled[way] = copy.told.length - told.size
    outcome.missed[way] = Array.from({ length: events }, (_, index) => index + 1).filter(
      seq => !told.has(seq),
    ).length
    const kept = [...copy.records].filter(([key]) => /^(deal|contact) /.test(key))
    const isSame = ([key, fields]: [string, Copied | null]) =>
      Object.entries(fields ?? {}).every(
        ([name, value]) => moved.has(name) || isDeepStrictEqual(live.get(key)?.[name] ?? null, value),
      )
    const unknown = [...live.keys()].filter(key => !copy.records.has(key))
    outcome.different[way] = unknown.length + kept.filter(entry => !isSame(entry)).length
  }
  return outcome
}

/** Fields that every write moves; the event has them, too. */
const moved = new Set(['updated_at', 'updated_by'])

async function all(url: string, resource: string): Promise<Copied[]> {
  const found: Copied[] = []
  let cursor = ''
  do {
    const query = `sort=id:asc&pageSize=500&count=none${cursor && `&cursor=${cursor}`}`
    const response = await fetch(`${url}/rest/api/v1/${resource}/view/list?${query}`, { headers })
    const { data, meta } = (await response.json()) as {
      data: Copied[]
      meta: { nextCursor: string | null }
    }
    found.push(...data)
    cursor = meta.nextCursor ?? ''
  } while (cursor)
  return found
}

if (import.meta.main)
  await onEngines(20, copied, ({ events, missed, doubled, different }) => {
    const faults = { missed, doubled, different }
    const wrong = Object.entries(faults).flatMap(([what, byCopy]) =>
      Object.entries(byCopy).map(([copy, count]) => ({ what: `${what} by ${copy}`, count })),
    )
    const told = wrong.filter(({ count }) => count > 0).map(({ what, count }) => `${count} ${what}`)
    return events > 0 ? told : [...told, 'there are no events']
  })
