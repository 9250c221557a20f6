/**
 * `npm run bench:search [-- --deals 1000000 --contacts 300000 --seconds 4]`: searches in a very large
 * account, over HTTP, one at a time, against the same searches in an account of 10 000 deals and 3 000
 * contacts, in turns of one run. See docs/performance.md.
 */
import { parseArgs } from 'node:util'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { commonWord, makeManyDeals, rareWord } from '../test/support/many-deals.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, type Running, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '1000000' },
    contacts: { type: 'string', default: '300000' },
    seconds: { type: 'string', default: '4' },
    turns: { type: 'string', default: '2' },
  },
})
const large = { deals: Number(values.deals), contacts: Number(values.contacts) }
const small = { deals: Math.min(10_000, large.deals), contacts: Math.min(3000, large.contacts) }
const turns = Number(values.turns)
const seconds = Number(values.seconds)
const slice = { warmUp: Math.min(1, seconds), seconds: seconds / turns }

/** Name of a search, by its peculiarity, and its text. */
const searches: readonly (readonly [name: string, q: string])[] = [
  ['a rare word', rareWord],
  ['a common word', commonWord],
  ['a common and a rare word', `${commonWord} ${rareWord}`],
  ['two common words', `${commonWord} support`],
  ['a number at the end of titles', '9137'],
  ['a first and a last name', 'ada lindqvist7'],
  ['an e-mail', 'lindqvist77@mail'],
  ['a phone number', '+1 (555) 000-1234'],
  ['a part of it, in groups', '555 00 12 34'],
  ['the beginning of a word', 'zep'],
  ['two letters', 'ex'],
  ['nothing has it', 'quetzalcoatl'],
]

const directory = ownDirectory()
sayMachine()
await onServer<[string, string]>(bench, 2)

async function bench(largeUrl: string, smallUrl: string): Promise<void> {
  await prepare(largeUrl, large)
  await prepare(smallUrl, small)
  const env = { DATA_DIR: directory, DEALWRIGHT_TOKEN: accountTokens[0]! }
  const services = [
    await startService({ ...env, DATABASE_URL: largeUrl }),
    await startService({ ...env, DATABASE_URL: smallUrl }),
  ]
  const measured = searches.map((): [number[], number[]] => [[], []])
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, [, q]] of searches.entries()) {
      for (const side of turn % 2 ? [1, 0] : [0, 1])
        measured[index]![side]!.push(...(await latencies(services[side]!, q)))
    }
  }
  for (const service of services) await service.stop()
  print(measured)
}

async function prepare(url: string, { deals, contacts }: typeof large): Promise<void> {
  const db = await openDatabase({ url, ...timeouts(3_600_000), log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    await makeContacts(db, contacts)
    await makeManyDeals(db, deals)
  } finally {
    await db.close()
  }
}

/** Contacts with names, addresses and numbers of their own, with the ids from a hundred million on. */
async function makeContacts(db: Database, count: number): Promise<void> {
  await db.query(
    `INSERT INTO contact (account_id, id, first_name, last_name, emails, phones, document, created_at, updated_at)
     SELECT 1, 100000000 + i, (ARRAY['Ada', 'Noor', 'Ester', 'Jonas', 'Mai'])[1 + i % 5], 'Lindqvist' || i,
       json_build_array(json_build_object('email_type', 1, 'email_value', 'lindqvist' || i || '@mail.example')),
       json_build_array(json_build_object('phone_type', 1,
         'phone_number', '+1 (555) ' || lpad((i / 10000)::text, 3, '0') || '-' || lpad((i % 10000)::text, 4, '0'))),
       '', now(), now()
     FROM generate_series(0, $1::bigint - 1) i`,
    [String(count)],
  )
}

async function latencies({ url }: Running, q: string): Promise<readonly number[]> {
  const path = `/rest/api/v1/search?q=${encodeURIComponent(q)}`
  const orders = { port: Number(new URL(url).port), connections: 1, ...slice, method: 'GET', path }
  const asked = { ...orders, ids: [1, 1], body: null, tokens: [accountTokens[0]!] } satisfies Orders
  return (await ask<Figures>('bench/load.ts', asked)).latencies
}

function print(measured: readonly (readonly [number[], number[]])[]): void {
  console.log(`\n${large.deals} deals, ${large.contacts} contacts, one search at a time\n`)
  console.log('| Search for | p50 ms | p99 ms | p50, to that of the small account |')
  console.log('|---|--:|--:|--:|')
  for (const [index, [ours, few]] of measured.entries()) console.log(row(searches[index]![0], ours, few))
}

function row(name: string, ours: readonly number[], few: readonly number[]): string {
  const [middle, slowest] = [at(ours, 0.5), at(ours, 0.99)]
  const ratio = middle / at(few, 0.5)
  const cells = [
    name,
    `${middle.toFixed(1)} (aim 60 ${middle <= 60 ? '✓' : '✗'})`,
    slowest.toFixed(1),
    `${ratio.toFixed(2)} (aim 1.5 ${ratio <= 1.5 ? '✓' : '✗'})`,
  ]
  return `| ${cells.join(' | ')} |`
}

function at(latencies: readonly number[], part: number): number {
  const sorted = latencies.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * part)] ?? 0
}
