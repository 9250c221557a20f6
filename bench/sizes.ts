/**
 * `npm run bench:sizes [-- --deals 10000,100000,1000000 --seconds 10 --engine postgres,embedded]`: disk and
 * memory of a service by the number of its deals, on each engine. The memory is that of the service's
 * process: with the embedded engine the database is in it. See docs/operating.md, "How large a machine".
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { makeManyDeals } from '../test/support/many-deals.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, memoryOf, peakOf, type Running, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '10000,100000,1000000' },
    seconds: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'postgres,embedded' },
  },
})
const counts = values.deals.split(',').map(Number)
const seconds = Number(values.seconds)
const inFlight = 8

type Place = { readonly url: string } | { readonly dataDir: string }

/** The work of a day, one kind after the other. */
const requests: readonly { method: string; path: string; body: string | null }[] = [
  { method: 'GET', path: '/rest/api/v1/deal/view/list?sort=updated_at:desc', body: null },
  { method: 'GET', path: '/rest/api/v1/deal/{id}', body: null },
  { method: 'PATCH', path: '/rest/api/v1/deal/{id}', body: '{"title":"Renewal {n}"}' },
]

const directory = ownDirectory()
sayMachine()
console.log(
  '\n| Deals | Engine | disk MB | bytes a deal | bytes an event | start s | memory at start MB | at rest | under load |',
)
console.log('|--:|---|--:|--:|--:|--:|--:|--:|--:|')
for (const count of counts) {
  if (values.engine.includes('postgres')) await onServer(url => measure({ url }, 'PostgreSQL', count))
  if (values.engine.includes('embedded'))
    await measure({ dataDir: join(directory, String(count)) }, 'embedded', count)
}

async function measure(place: Place, engine: string, count: number): Promise<void> {
  const before = await onDatabase(place, async db => {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    const empty = await bytesOf(db, 'pg_database_size(current_database())')
    await makeManyDeals(db, count)
    const whole = await bytesOf(db, 'pg_database_size(current_database())')
    return { whole, aDeal: (whole - empty) / count, events: await eventsOf(db) }
  })
  const { service, start, rest, peak } = await underLoad(place, count)
  const after = await onDatabase(place, eventsOf)
  const anEvent = (after.bytes - before.events.bytes) / (after.count - before.events.count)
  // The embedded engine keeps its write-ahead log beside the tables.
  const disk = 'dataDir' in place ? bytesIn(place.dataDir) : before.whole
  const cells = [
    ...[count, engine, Math.round(disk / 1e6), Math.round(before.aDeal), Math.round(anEvent)],
    ...[service.seconds.toFixed(1), start, rest, peak],
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

async function underLoad(place: Place, count: number) {
  const env = { DATA_DIR: directory, DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service = await startService({
    ...env,
    ...('url' in place ? { DATABASE_URL: place.url } : { DATA_DIR: place.dataDir }),
  })
  const start = peakOf(service)
  // The memory of a start is free again within some seconds.
  await new Promise(resolve => setTimeout(resolve, Math.min(15, seconds * 2) * 1000))
  const rest = memoryOf(service)
  forgetPeak(service)
  const ids = [1000, 999 + count] as const
  const load = { connections: inFlight, warmUp: 0, seconds, ids, tokens: [accountTokens[0]!] }
  const port = Number(new URL(service.url).port)
  for (const request of requests)
    await ask<Figures>('bench/load.ts', { ...load, ...request, port } satisfies Orders)
  const peak = peakOf(service)
  await service.stop()
  return { service, start, rest, peak }
}

async function onDatabase<T>(place: Place, act: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase({ ...place, ...timeouts(3_600_000), log: line => console.error(line) })
  try {
    return await act(db)
  } finally {
    await db.close()
  }
}

async function eventsOf(db: Database): Promise<{ count: number; bytes: number }> {
  return {
    count: await bytesOf(db, '(SELECT count(*) FROM event)'),
    bytes: await bytesOf(db, "pg_total_relation_size('event')"),
  }
}

async function bytesOf(db: Database, expression: string): Promise<number> {
  const [row] = await db.sql.query(`SELECT (${expression})::text AS bytes`)
  return Number((row as { bytes: string }).bytes)
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** Makes the system measure the peak anew; without it, that of the start counts, too. */
function forgetPeak({ pid }: Running): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    console.error('The memory under load includes that of the start.')
  }
}
