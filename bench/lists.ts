/**
 * `npm run bench:lists [-- --deals 1000000 --embedded 100000 --seconds 4]`: lists of a very large account.
 * Each shape over HTTP with eight requests in flight, against the same shape at 10 000 deals and the same
 * statement through the driver alone, in turns of one run. See docs/performance.md.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCatalog } from '../src/accounts/callers.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { newSecret } from '../src/accounts/token.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { digestOf } from '../src/lists/digest.ts'
import { cursorText } from '../src/lists/order.ts'
import { pageStatement } from '../src/lists/page.ts'
import type { Parameters } from '../src/lists/parameters.ts'
import { dependsOnValues } from '../src/lists/plan.ts'
import { readListQuery } from '../src/lists/query.ts'
import { withSelectivity } from '../src/lists/selectivity.ts'
import { workOn } from '../src/records/work.ts'
import { createRecord, updateRecord } from '../src/records/write/save.ts'
import { resources } from '../src/resources/resources.ts'
import { commonWord, makeManyDeals, rareText, rareWord } from '../test/support/many-deals.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { createToken } from '../test/support/tokens.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import type { DriverOrders, Statement } from './driver.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, type Running, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '1000000' },
    embedded: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '4' },
    turns: { type: 'string', default: '2' },
  },
})
const few = Math.min(10_000, Number(values.deals), Number(values.embedded))
const seconds = Number(values.seconds)
const inFlight = 8
const turns = Number(values.turns)
const slice = { warmUp: Math.min(1, seconds), seconds: seconds / turns }
const path = '/rest/api/v1/deal/view/list'
const january = '2027-01-01,2027-01-31'

type Shape = {
  readonly name: string
  /** the query; {id} becomes a random id of the older half */
  readonly query: string
  /** True if it is sorted by created_at, from the middle of the account on */
  readonly isDeep?: true
  /** True if its throughput over HTTP has a target relative to the driver */
  readonly isPlain?: true
  /**
   * True if it is not compared with the driver: the service needs more than the page's statement, or another
   */
  readonly isMore?: true
  /** its user sees only these deals; measured against the same query by a user who sees all */
  readonly sees?: keyof typeof sellers
  /** another path than the list's, one request at a time */
  readonly path?: string
}

/** Users of the sample with deals of their own, and their tokens. */
const sellers = {
  own: { user: 12, token: newSecret('token', 1) },
  territory: { user: 11, token: newSecret('token', 1) },
} as const

const shapes: readonly Shape[] = [
  { name: 'newest 25', query: '', isPlain: true },
  { name: 'one stage by value', query: 'filter=pipeline_stage:eq(5)&sort=deal_value:desc', isPlain: true },
  {
    name: 'owner, open, expected close in a month',
    query: `filter=sales_owner:eq(12),status:eq(Open),expected_close_date:between(${january})&sort=expected_close_date:asc`,
    isPlain: true,
  },
  { name: 'title contains a rare word', query: `filter=title:like(${rareWord})` },
  { name: 'title contains a common word', query: `filter=title:like(${commonWord})` },
  { name: 'tag', query: 'filter=tags:eq(21)' },
  { name: 'custom text equals', query: `filter=cf_custom_text_field:eq(${rareText})` },
  { name: 'custom dropdown equals', query: 'filter=cf_custom_dropdown_field:eq(Gold)' },
  { name: 'deep page by cursor', query: 'sort=created_at:desc', isDeep: true, isPlain: true },
  { name: 'a page and its total, counted anew', query: 'filter=id:gt({id})&pageSize=1', isMore: true },
  {
    name: 'sums by stage (aggregate), one at a time',
    path: '/rest/api/v1/deal/aggregate',
    query: 'group_by=pipeline_stage',
    isMore: true,
  },
  { name: 'newest 25, own', query: '', sees: 'own', isMore: true },
  { name: 'newest 25, territory', query: '', sees: 'territory', isMore: true },
  {
    name: 'one stage by value, own',
    query: 'filter=pipeline_stage:eq(5)&sort=deal_value:desc',
    sees: 'own',
    isMore: true,
  },
]

/** A database with many deals, and the parameters of its shapes. */
type Account = {
  readonly ids: readonly [number, number]
  readonly paths: readonly string[]
  readonly statements: readonly Statement[]
}
type Measured = { readonly ours: Figures[]; readonly few: Figures[]; readonly alone: Figures[] }

const directory = ownDirectory()
sayMachine()
await onServer<[string, string]>((large, small) => benchServer(large, small, Number(values.deals)), 2)
await benchEmbedded(Number(values.embedded))

async function benchServer(large: string, small: string, deals: number): Promise<void> {
  const [account, fewAccount] = [await prepare({ url: large }, deals), await prepare({ url: small }, few)]
  const env = { DATA_DIR: directory, DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service = await startService({ ...env, DATABASE_URL: large })
  const fewService = await startService({ ...env, DATABASE_URL: small })
  const measured = shapes.map((): Measured => ({ ours: [], few: [], alone: [] }))
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, { ours, few, alone }] of measured.entries()) {
      const ways = [
        async () => ours.push(await http(service, account, index)),
        async () => few.push(await http(fewService, fewAccount, index)),
        async () => {
          if (!shapes[index]!.isMore) alone.push(...(await driver({ url: large }, account, [index])))
        },
      ]
      for (const way of turn % 2 ? ways.reverse() : ways) await way()
    }
  }
  await service.stop()
  await fewService.stop()
  print(`PostgreSQL, ${deals} deals`, measured)
}

/** One process at a time may open it: the service first, the driver after. */
async function benchEmbedded(deals: number): Promise<void> {
  const [dataDir, fewDir] = [join(directory, 'many'), join(directory, 'few')]
  const [account, fewAccount] = [await prepare({ dataDir }, deals), await prepare({ dataDir: fewDir }, few)]
  const measured = shapes.map((): Measured => ({ ours: [], few: [], alone: [] }))
  const env = { DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service = await startService({ ...env, DATA_DIR: dataDir })
  const fewService = await startService({ ...env, DATA_DIR: fewDir })
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, { ours, few }] of measured.entries()) {
      ours.push(await http(service, account, index))
      few.push(await http(fewService, fewAccount, index))
    }
  }
  await service.stop()
  await fewService.stop()
  const compared = [...shapes.keys()].filter(index => !shapes[index]!.isMore)
  const alone = await driver({ dataDir }, account, compared)
  for (const [place, figures] of alone.entries()) measured[compared[place]!]!.alone.push(figures)
  print(`Embedded, ${deals} deals`, measured)
}

async function prepare(open: { url?: string; dataDir?: string }, deals: number): Promise<Account> {
  const db = await openDatabase({ ...open, ...timeouts(3_600_000), log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    await makeManyDeals(db, deals, progress)
    await makeSellers(db)
    const catalog = await loadCatalog(db, resources, 1)
    const schema = catalog.resources.get('deal')!
    const middle = String(1000 + deals / 2)
    const [row] = await db.query(
      'SELECT json_build_array(created_at, id)::text AS position FROM deal WHERE account_id = 1 AND id = $1::bigint',
      [middle],
    )
    const now = new Date().toISOString()
    const asked = shapes.map(({ query, isDeep, isMore }) => {
      const request = readListQuery(parametersOf(isMore ? '' : query), schema, catalog, now)
      if (!isDeep) return { query, request }
      const cursor = cursorText(digestOf(request.identity), row!.position!, now)
      const deep = `${query}&cursor=${cursor}`
      return { query: deep, request: readListQuery(parametersOf(deep), schema, catalog, now) }
    })
    return {
      ids: [1000, 1000 + deals / 2],
      paths: asked.map(({ query }, index) => `${shapes[index]!.path ?? path}?${query}`),
      statements: await Promise.all(
        asked.map(async ({ request }) => {
          const { text, values } = pageStatement(
            { catalog, actor: 1 },
            await withSelectivity(db, { catalog, actor: 1 }, request),
          )
          const isReplanned = dependsOnValues(request.filter)
          return { text, params: values, isWrite: false, isReplanned }
        }),
      ),
    }
  } finally {
    await db.close()
  }
}

/** Creates roles that see a part of the deals, and tokens, for users of the sample. */
async function makeSellers(db: Database): Promise<void> {
  for (const [visibility, { user, token }] of Object.entries(sellers)) {
    const catalog = await loadCatalog(db, resources, 1)
    const context = { catalog, actor: 1 }
    const role = { name: `Sees ${visibility}`, scopes: ['deal:read'], visibility: { deal: visibility } }
    const { id } = await createRecord(workOn(db, context, 'role'), role)
    const latest = { catalog: await loadCatalog(db, resources, 1), actor: 1 }
    const [territory] = await db.query('SELECT min(id)::text AS id FROM territory WHERE account_id = 1')
    const seller = { role: id, territories: [Number(territory!.id)] }
    await updateRecord(workOn(db, latest, 'user'), user, seller)
    await createToken(db, { account: 1, user, name: 'Bench', scopes: ['admin'], token })
  }
}

function parametersOf(query: string): Parameters {
  return new Map([...new URLSearchParams(query)].map(([name, value]) => [name, [value]]))
}

function http({ url }: Running, { ids, paths }: Account, index: number): Promise<Figures> {
  const connections = shapes[index]!.path ? 1 : inFlight
  const orders = {
    port: Number(new URL(url).port),
    connections,
    ...slice,
    method: 'GET',
    path: paths[index]!,
    ids,
  }
  return ask('bench/load.ts', { ...orders, body: null, tokens: [tokenOf(shapes[index]!)] } satisfies Orders)
}

function tokenOf({ sees }: Shape): string {
  return sees ? sellers[sees].token : accountTokens[0]!
}

async function driver(
  open: DriverOrders['open'],
  { ids, statements }: Account,
  indexes: readonly number[],
): Promise<Figures[]> {
  const jobs = indexes.map(index => ({ statements: [statements[index]!], ids, accounts: [1, 1] as const }))
  return ask('bench/driver.ts', { open, inFlight, ...slice, jobs } satisfies DriverOrders)
}

function print(title: string, measured: readonly Measured[]): void {
  console.log(`\n${title}, ${inFlight} in flight, ${seconds} s each\n`)
  console.log(
    '| List | per second | p50 ms | p99 ms | time, to that at 10 000 deals | throughput, of the driver alone | time, to that of who sees all |',
  )
  console.log('|---|--:|--:|--:|--:|--:|--:|')
  for (const [index, { ours, few, alone }] of measured.entries()) {
    const { name, isPlain, isMore, sees, query } = shapes[index]!
    const toAll = measured[shapes.findIndex(shape => shape.query === query && !shape.path)]!
    const ratio = perSecond(ours) / perSecond(alone)
    const slowest = at(ours, 0.99)
    const cells = [
      name,
      Math.round(perSecond(ours)),
      at(ours, 0.5).toFixed(1),
      `${slowest.toFixed(1)}${slowest < 250 ? '' : ' (aim 250 ✗)'}`,
      verdict(at(ours, 0.5) / at(few, 0.5), 1.5, value => value <= 1.5),
      isPlain ? verdict(ratio, 0.5, value => value >= 0.5) : isMore ? '–' : ratio.toFixed(2),
      sees ? verdict(at(ours, 0.5) / at(toAll.ours, 0.5), 1.5, value => value <= 1.5) : '–',
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function verdict(value: number, aim: number, isReached: (value: number) => boolean): string {
  return `${value.toFixed(2)} (aim ${aim} ${isReached(value) ? '✓' : '✗'})`
}

function perSecond(figures: readonly Figures[]): number {
  const sum = (of: (one: Figures) => number) => figures.reduce((total, one) => total + of(one), 0)
  return sum(one => one.count) / sum(one => one.seconds)
}

function at(figures: readonly Figures[], part: number): number {
  const latencies = figures.flatMap(one => one.latencies).sort((one, other) => one - other)
  return latencies[Math.floor(latencies.length * part)] ?? 0
}

function progress(done: number, of: number, what: string): void {
  const bar = '█'.repeat(Math.round((30 * done) / of)).padEnd(30, '░')
  process.stderr.write(`\r${bar} ${what}\u001b[K${done === of ? '\n' : ''}`)
}
