/**
 * `npm run bench:events [-- --deals 100000 --events 1000000 --writes 100]`: an account with very many events,
 * on PostgreSQL: how fast the feed is read, how long a list and sums as of a past day take, and the lag from
 * a write, by the same process and by another, to those who wait for events. See docs/performance.md.
 */
import { parseArgs } from 'node:util'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { makeManyDeals } from '../test/support/many-deals.ts'
import { eventsOf, type Stream } from '../test/support/stream.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens } from './prepare.ts'
import { type Running, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '100000' },
    events: { type: 'string', default: '1000000' },
    writes: { type: 'string', default: '100' },
  },
})
const [deals, events, writes] = [values.deals, values.events, values.writes].map(Number) as [
  number,
  number,
  number,
]
const token = accountTokens[0]!
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const chunk = 100_000
const pages = 50
const times = 5

const directory = ownDirectory()
sayMachine()
await onServer(bench)

async function bench(url: string): Promise<void> {
  const first = await prepare(url)
  const env = { DATA_DIR: directory, DEALWRIGHT_TOKEN: token, DATABASE_URL: url }
  const services = [await startService(env), await startService(env)] as const
  console.log(`\n${deals} deals, ${events} events\n\n| What | Measured | Aim |\n|---|--:|--:|`)
  await feed(services[0], first)
  await past(services[0])
  for (const [name, by] of [
    ['the same process', services[0]],
    ['another process', services[1]],
  ] as const) {
    for (const way of ['long poll', 'stream'] as const) {
      const lags = await lag(services[0], by, way)
      const aim = by === services[0] ? 50 : 400
      row(`lag of a ${way}, ${name}, p50`, `${at(lags, 0.5).toFixed(0)} ms`, `${aim} ms`)
    }
  }
  for (const service of services) await service.stop()
}

/**
 * Deals and their changes, ten or so each, over the last three years; returns the number of the first change.
 */
async function prepare(url: string): Promise<number> {
  const db = await openDatabase({ url, ...timeouts(3_600_000), log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: token, createSample })
    await makeManyDeals(db, deals)
    await db.query("UPDATE event SET at = at - interval '10 years' WHERE account_id = 1")
    const [row] = await db.query('SELECT last_seq::text AS last FROM counter WHERE account_id = 1')
    const before = Number(row!.last)
    for (let from = 0; from < events; from += chunk) await makeEvents(db, before, from)
    await db.query(
      'UPDATE counter SET last_seq = last_seq + $1::bigint, last_at = now() WHERE account_id = 1',
      [String(events)],
    )
    await db.query("UPDATE deal SET created_at = now() - interval '4 years' WHERE account_id = 1")
    await db.sql.query('VACUUM (ANALYZE)')
    return before
  } finally {
    await db.close()
  }
}

async function makeEvents(db: Database, before: number, from: number): Promise<void> {
  await db.query(
    `INSERT INTO event (account_id, seq, type, also, resource, record_id, version, actor, at, changes)
     SELECT 1, $1::bigint + i, 'deal.updated', '{}', 'deal', 1000 + i * 7919 % $3::bigint, 2, 1,
       now() - interval '3 years' * (1 - i / $4::float8),
       json_build_object('title', json_build_object('before', 'Earlier ' || i, 'after', 'Later ' || i),
         'expected_close_date', json_build_object('before', NULL, 'after', '2027-01-31'))
     FROM generate_series($2::bigint + 1, $2::bigint + $5::bigint) i`,
    [before, from, deals, events, Math.min(chunk, events - from)].map(String),
  )
}

async function feed({ url }: Running, first: number): Promise<void> {
  let [after, told] = [first, 0]
  const began = performance.now()
  for (let page = 0; page < pages; page++) {
    const response = await fetch(`${url}/rest/api/v1/event?after=${after}&limit=1000`, { headers })
    const { data, meta } = (await response.json()) as { data: unknown[]; meta: { next: number } }
    told += data.length
    after = meta.next
  }
  const perSecond = told / ((performance.now() - began) / 1000)
  row('feed, in pages of 1000', `${perSecond.toFixed(0)} events/s`, '20000 events/s')
}

async function past({ url }: Running): Promise<void> {
  for (const [name, years] of [
    ['a tenth of the events ago', 0.3],
    ['half of the events ago', 1.5],
  ] as const) {
    const day = new Date(Date.now() - years * 365.25 * 86_400_000).toISOString().slice(0, 10)
    for (const [what, query] of [
      ['open deals, the newest first,', 'deal/view/list?filter=status:eq(Open)'],
      ['open deals by what each event changed,', 'deal/view/list?filter=status:eq(Open)&sort=title:asc'],
      ['sums by stage', 'deal/aggregate?group_by=pipeline_stage'],
    ] as const) {
      const taken: number[] = []
      for (let time = 0; time < times; time++) {
        const began = performance.now()
        const response = await fetch(`${url}/rest/api/v1/${query}&as_of=${day}`, { headers })
        if (response.status !== 200) throw new Error(await response.text())
        await response.text()
        taken.push(performance.now() - began)
      }
      row(`${what} as of ${name}, p50`, `${at(taken, 0.5).toFixed(0)} ms`, '1000 ms')
    }
  }
}

/** Milliseconds from the answer to a write until the follower has the event. */
async function lag(follower: Running, by: Running, way: 'long poll' | 'stream'): Promise<number[]> {
  const address = `${follower.url}/rest/api/v1/event`
  const last = async () => {
    const response = await fetch(`${address}?limit=1`, { headers })
    return ((await response.json()) as { meta: { last: number } }).meta.last
  }
  let after = await last()
  const stream: Stream | null = way === 'stream' ? await eventsOf(`${address}?after=${after}`, token) : null
  const lags: number[] = []
  for (let write = 0; write < writes; write++) {
    const heard = (
      stream ? stream.next() : fetch(`${address}?after=${after}&wait=30`, { headers }).then(r => r.text())
    ).then(() => performance.now())
    await new Promise(resolve => setTimeout(resolve, 20 + Math.random() * 250))
    const body = JSON.stringify({ name: `Lag ${way} ${by.url} ${write}` })
    const response = await fetch(`${by.url}/rest/api/v1/tag`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(await response.text())
    const answered = performance.now()
    lags.push((await heard) - answered)
    after++
  }
  await stream?.end()
  return lags
}

function row(what: string, measured: string, aim: string): void {
  console.log(`| ${what} | ${measured} | ${aim} |`)
}

function at(measured: readonly number[], part: number): number {
  const sorted = measured.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * part)] ?? 0
}
