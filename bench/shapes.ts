/**
 * `npm run bench:shapes [-- --seconds 3 --engine postgres,embedded]`: the shapes that a write could have
 * (shape-writes.ts), in turns of one run, through the driver alone. Prints the throughput of each as a ratio
 * to today's. See docs/design/writes-and-events.md.
 */
import { parseArgs } from 'node:util'
import { type Database, openDatabase } from '../src/db/open.ts'
import { createDatabase, dropDatabase, startPostgres } from '../test/support/postgres.ts'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import { prepareDeals } from './prepare.ts'
import { type Job, partsOf, preparations, type Shape, shapesOf, slotOf } from './shape-writes.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    deals: { type: 'string', default: '20000' },
    engine: { type: 'string', default: 'postgres,embedded' },
    /** the beginnings of the names of those that are measured beside today's */
    only: { type: 'string', default: '' },
    accounts: { type: 'string', default: '1,16' },
  },
})
const inFlight = 32
/** Each turn is short, and in each round the turns begin with another: others' work disturbs all alike. */
const rounds = 10
const slice = { warmUp: 0.1, seconds: Number(values.seconds) / rounds }
const updated = { first: 1_000_000, each: 60 }

type Kind = 'create' | 'update'
type Measured = { readonly rates: number[]; readonly latencies: number[] }
/** What the next update of a deal must say that it has read. */
type Read = { version: string; state: string }

sayMachine()
if (values.engine.includes('postgres')) {
  const server = await startPostgres()
  if (!server) throw new Error('PostgreSQL is not installed here')
  const url = await createDatabase(server.url)
  await bench('PostgreSQL', { url })
  await dropDatabase(url)
  await server.stop()
}
if (values.engine.includes('embedded')) {
  await bench('Embedded', { dataDir: ownDirectory() })
}

async function bench(title: string, open: { url?: string; dataDir?: string }): Promise<void> {
  const { statements } = await prepareDeals(open, Number(values.deals))
  const texts = { create: statements.create!.at(-1)!, update: statements.update!.at(-1)! }
  const db = await openDatabase({ ...open, log: line => console.error(line) })
  try {
    for (const text of preparations([texts.create.text, texts.update.text])) await db.query(text)
    const reads = await readAll(db)
    for (const kind of ['create', 'update'] as const) {
      const jobs = jobsOf(texts[kind], reads)
      for (const shape of shapesOf(db, texts[kind])) if (shape.isWhole) await refuses(db, shape, kind, jobs)
    }
    for (const kind of ['create', 'update'] as const) {
      const shapes = shapesOf(db, texts[kind]).filter(
        ({ name }, index) => index === 0 || values.only.split(',').some(one => name.startsWith(one)),
      )
      for (const accounts of values.accounts.split(',').map(Number)) {
        const measured = await inTurns(shapes, accounts, jobsOf(texts[kind], reads))
        console.log(
          table(`${title}, ${kind}, ${accounts} account${accounts > 1 ? 's' : ''}`, shapes, measured),
        )
      }
    }
    await hasKeptOrder(db)
  } finally {
    await db.close()
  }
}

async function readAll(db: Database): Promise<Map<string, Read>> {
  const rows = await db.query(
    `SELECT account_id::text AS account, id::text AS id, version::text AS version, xmin::text AS state
    FROM deal WHERE id >= $1::bigint`,
    [String(updated.first)],
  )
  return new Map(
    rows.map(({ account, id, version, state }) => [`${account} ${id}`, { version: version!, state: state! }]),
  )
}

/** A function that makes the next write of a worker in an account; each worker has deals of its own. */
function jobsOf(captured: { text: string; params: readonly (string | null)[] }, reads: Map<string, Read>) {
  const parts = partsOf(captured.text)
  let count = 0
  return (account: number, worker: number) => {
    const params = captured.params.map(value => value?.replaceAll('{n}', String(count)) ?? null)
    count++
    params[slotOf(parts.account)] = String(account)
    const id = String(updated.first + worker + inFlight * Math.floor(Math.random() * updated.each))
    const key = `${account} ${id}`
    if (parts.kind === 'update') {
      const { version, state } = reads.get(key)!
      params[slotOf(parts.id)] = id
      params[slotOf(parts.read)] = version
      params[slotOf(parts.state)] = state
    }
    const job: Job = { account: String(account), params }
    return {
      job,
      parts,
      done(row: Record<string, string | null> | undefined) {
        if (!row) throw new Error('a write was refused')
        if (parts.kind === 'update') reads.set(key, { version: row.version!, state: row.state! })
      },
    }
  }
}

type Jobs = ReturnType<typeof jobsOf>

async function inTurns(shapes: readonly Shape[], accounts: number, jobs: Jobs): Promise<Measured[]> {
  const measured = shapes.map((): Measured => ({ rates: [], latencies: [] }))
  for (let round = 0; round < rounds; round++) {
    const begin = (5 * round) % shapes.length
    const order = [...shapes.keys()].map(index => (index + begin) % shapes.length)
    for (const index of round % 2 ? order.reverse() : order) {
      const { rates, latencies } = measured[index]!
      const found = await carryOut(shapes[index]!, accounts, jobs)
      rates.push(found.length / slice.seconds)
      latencies.push(...found)
    }
  }
  return measured
}

async function carryOut(shape: Shape, accounts: number, jobs: Jobs): Promise<number[]> {
  const from = performance.now() + slice.warmUp * 1000
  const until = from + slice.seconds * 1000
  const latencies: number[] = []
  const worker = async (_value: unknown, index: number) => {
    for (let began = performance.now(); began < until; ) {
      const { job, done } = jobs(1 + Math.floor(Math.random() * accounts), index)
      done(await shape.write(job))
      const now = performance.now()
      if (now >= from && now < until) latencies.push(now - began)
      began = now
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return latencies
}

/** One that must be refused, among others: nothing of it is saved, and all of the others. */
async function refuses(db: Database, shape: Shape, kind: Kind, jobs: Jobs): Promise<void> {
  const account = 2
  const counter = () =>
    db.query(
      `SELECT last_seq::text AS seq, (SELECT count(*) FROM event WHERE account_id = 2)::text AS events,
        (SELECT count(*) FROM deal WHERE account_id = 2)::text AS deals, last_id::text AS id
      FROM counter WHERE account_id = 2`,
    )
  const { parts } = jobs(account, 0)
  const bad = {
    create: { [parts.version]: '-1', [parts.references[0] ?? '']: '{987654}' },
    update: { [parts.version]: '-1', [parts.kind === 'update' ? parts.state : '']: '3' },
  }[kind]
  for (const [number, value] of Object.entries(bad)) {
    const before = (await counter())[0]!
    const made = [0, 1, 2, 3].map(worker => jobs(account, worker))
    const params = made[2]!.job.params.with(slotOf(number), value)
    const sent = made.map(({ job }, index) => (index === 2 ? { ...job, params } : job))
    const rows = await Promise.all(sent.map(job => shape.write(job)))
    for (const index of [0, 1, 3]) made[index]!.done(rows[index])
    const after = (await counter())[0]!
    const more = (name: string) => Number(after[name]) - Number(before[name])
    const deals = kind === 'create' ? 3 : 0
    if (
      rows[2] ||
      more('seq') !== 3 ||
      more('events') !== 3 ||
      more('deals') !== deals ||
      more('id') !== deals
    )
      throw new Error(`${shape.name}, ${kind}, ${number}: ${JSON.stringify([rows[2], before, after])}`)
  }
}

/** The events of each account have no gap, and are in the order of their times. */
async function hasKeptOrder(db: Database): Promise<void> {
  const wrong = await db.query(
    `SELECT c.account_id::text FROM counter c WHERE c.last_seq <> (
      SELECT count(*) FROM event e WHERE e.account_id = c.account_id AND e.seq BETWEEN 1 AND c.last_seq)
    OR EXISTS (SELECT 1 FROM (
      SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM event e WHERE e.account_id = c.account_id) o
      WHERE at < before)`,
  )
  if (wrong.length > 0) throw new Error(`accounts with a gap or out of order: ${JSON.stringify(wrong)}`)
}

function table(title: string, shapes: readonly Shape[], measured: readonly Measured[]): string {
  const today = measured[0]!
  const rows = measured.map(({ rates, latencies }, index) => {
    const sorted = latencies.toSorted((one, other) => one - other)
    const part = (of: number) => (sorted[Math.floor(sorted.length * of)] ?? 0).toFixed(1)
    const ratios = rates.map((rate, round) => rate / today.rates[round]!).sort((one, other) => one - other)
    const spread = `${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}`
    const rate = rates.reduce((sum, one) => sum + one, 0) / rounds
    const cells = [
      shapes[index]!.name,
      Math.round(rate),
      middle(ratios).toFixed(2),
      spread,
      part(0.5),
      part(0.99),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `\n${title}, ${inFlight} in flight\n
| Shape | per second | of today's | in ten turns | p50 ms | p99 ms |
|---|--:|--:|--:|--:|--:|
${rows.join('\n')}`
}
