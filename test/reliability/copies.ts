/**
 * Copies of an account, maintained by the feed alone, beside ten writers: by polling, by long poll, and by
 * server-sent events. On a server there are two services, of which each round kills one, and every third
 * round the database; on the embedded engine each round kills the one. At the end each copy must equal the
 * database, and no event may be missing or duplicated.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { PresentedEvent } from '../../src/history/present.ts'
import { eventsOf } from '../support/stream.ts'
import type { Scenario, Target } from './on-engines.ts'
import { ask, end, type Life, sendTo, started, token } from './service-process.ts'
import { Known, write } from './writes.ts'

const ways = ['poll', 'long poll', 'stream'] as const
type Way = (typeof ways)[number]

/** Numbers of the account's events; over all ways, of missing and duplicate events and of other records. */
type Tally = { events: number; missed: number; doubled: number; different: number }

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

export const copies: Scenario = {
  rounds: 20,
  zero: ['missed', 'doubled', 'different'],
  some: ['events'],
  async act({ env, server }, rounds, say) {
    const begin = () => started({ ...env, LOG_LEVEL: 'silent' })
    const lives = [await begin(), ...(server ? [await begin()] : [])]
    let last = Number.POSITIVE_INFINITY
    const copies = ways.map(way => ({ way, copy: new Copy() }))
    const following = copies.map(({ way, copy }, index) =>
      follow(
        way,
        copy,
        () => lives[(index + copy.told.length) % lives.length]!.url,
        () => last,
      ),
    )
    try {
      for (let round = 1; round <= rounds; round++) {
        await writeAndKill(lives, server, round)
        lives[round % lives.length] = await begin()
        say(`round ${round}: ${copies.map(({ way, copy }) => `${way} ${copy.after}`).join(', ')}`)
      }
      const { url } = lives[0]!
      // All followers wait for this last event.
      last = (await lastOf(url)) + 1
      await ask(url, 'POST', 'tag', { name: 'The last' })
      await Promise.all(following)
      return await compare(url, copies, last)
    } finally {
      last = 0
      for (const life of lives) await end(life, 'SIGKILL')
    }
  },
}

/** Ten writers for half a second to a second and a half, until a service or the database is killed. */
async function writeAndKill(lives: readonly Life[], server: Target['server'], round: number): Promise<void> {
  let isOver = false
  const known = new Known()
  const writing = Array.from({ length: 10 }, (_, writer) =>
    write(sendTo(lives[writer % lives.length]!.url), `r${round}w${writer}`, known, () => !isOver),
  )
  await sleep(500 + Math.random() * 1000)
  if (server && round % 3 === 0) {
    server.kill9()
    isOver = true
    await Promise.all(writing)
    await server.restart()
  }
  await end(lives[round % lives.length]!, 'SIGKILL')
  isOver = true
  await Promise.all(writing)
}

async function lastOf(url: string): Promise<number> {
  for (;;) {
    try {
      return (await ask(url, 'GET', 'event?limit=1')).meta.last
    } catch {
      await sleep(100)
    }
  }
}

async function compare(
  url: string,
  copies: readonly { readonly way: Way; readonly copy: Copy }[],
  events: number,
): Promise<Tally> {
  const tally: Tally = { events, missed: 0, doubled: 0, different: 0 }
  const live = new Map<string, Copied>()
  for (const resource of ['deal', 'contact']) {
    for (const record of await all(url, resource)) live.set(`${resource} ${record.id}`, record)
  }
  for (const { copy } of copies) {
    const told = new Set(copy.told)
    tally.doubled += copy.told.length - told.size
    tally.missed += Array.from({ length: events }, (_, index) => index + 1).filter(
      seq => !told.has(seq),
    ).length
    const kept = [...copy.records].filter(([key]) => /^(deal|contact) /.test(key))
    const isSame = ([key, fields]: [string, Copied | null]) =>
      Object.entries(fields ?? {}).every(
        ([name, value]) => moved.has(name) || isDeepStrictEqual(live.get(key)?.[name] ?? null, value),
      )
    const unknown = [...live.keys()].filter(key => !copy.records.has(key))
    tally.different += unknown.length + kept.filter(entry => !isSame(entry)).length
  }
  return tally
}

/** Fields that every write moves; the event has them, too. */
const moved = new Set(['updated_at', 'updated_by'])

async function all(url: string, resource: string): Promise<Copied[]> {
  const found: Copied[] = []
  let cursor = ''
  do {
    const query = `sort=id:asc&pageSize=500&count=none${cursor && `&cursor=${cursor}`}`
    const { data, meta } = await ask(url, 'GET', `${resource}/view/list?${query}`)
    found.push(...data)
    cursor = meta.nextCursor ?? ''
  } while (cursor)
  return found
}
