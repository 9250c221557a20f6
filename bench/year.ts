/**
 * `npm run bench:year [-- --accounts 10 --deals 500 --reads 200 --of 10000]`: a year of work in some accounts
 * over HTTP, and what it leaves and costs: rows, disk, statements and processor time, for each account and
 * for `--of` of them. See docs/scaling.md, "A year of ten thousand accounts".
 */
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/create.ts'
import { newSecret } from '../src/accounts/token.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { ask } from '../test/support/citus.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { createToken } from '../test/support/tokens.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import { type Running, spent, spentBetween, startService } from './processes.ts'
import { onCountingServer, statementsOf } from './statements.ts'

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '10' },
    deals: { type: 'string', default: '500' },
    reads: { type: 'string', default: '200' },
    of: { type: 'string', default: '10000' },
  },
})
const [accounts, deals] = [Number(values.accounts), Number(values.deals)]
const [reads, of] = [Number(values.reads), Number(values.of)]

/** The reads of an account's five people on a working day, and how often all of them together read so. */
const readsOfDay: { readonly [name: string]: readonly [perDay: number, path: string] } = {
  'a page of deals': [100, 'deal/view/list?filter=pipeline_stage:eq(7)&sort=updated_at:desc'],
  'a column of the board': [300, 'deal/view/list?filter=pipeline_stage:eq(8)&sort=id:desc&count=none'],
  'a deal': [250, 'deal/{deal}?expand=primary_contact,company'],
  'a timeline': [250, 'activity/view/list?filter=deal:eq({deal})&sort=id:desc'],
  'a search': [50, 'deal/view/list?filter=title:like(Renewal {n})'],
}
const [workingDays, workingHours] = [250, 8]

/** The cost of some requests. */
type Cost = { readonly requests: number; readonly statements: number; readonly processorMs: number }

/** A request of an account; resolves to the id of the record. Throws refusals. */
type Send = (method: string, path: string, body?: object) => Promise<number>

sayMachine()
await onCountingServer(async url => {
  const senders = await prepare(url)
  const service = await startService({ DATABASE_URL: url, DATA_DIR: ownDirectory() })
  const before = await tablesOf(url)
  const made: number[][] = []
  const writes = await costOf(url, service, async () => {
    let count = 0
    const work = senders.map(async (send, index) => {
      const counted = counting(send(service.url), () => count++)
      made[index] = []
      for (let nth = 1; nth <= deals; nth++) made[index]!.push(await lifeOfDeal(counted, nth))
    })
    await Promise.all(work)
    return count
  })
  await ask(url, 'VACUUM (ANALYZE)')
  const after = await tablesOf(url)
  const costs: Request[] = [['a write', (writes.requests / accounts) * (1 / workingDays), each(writes)]]
  for (const [name, [perDay, path]] of Object.entries(readsOfDay)) {
    const cost = await costOf(url, service, async () => {
      const work = senders.map(async (send, index) => {
        for (let nth = 0; nth < reads; nth++) {
          const deal = made[index]![nth % deals]!
          const to = path.replace('{deal}', String(deal)).replace('{n}', String(1 + (nth % deals)))
          await send(service.url)('GET', encodeURI(to))
        }
      })
      await Promise.all(work)
      return accounts * reads
    })
    costs.push([name, perDay, each(cost)])
  }
  await service.stop()
  report(before, after, costs)
})

/** Makes the accounts, each with a token. */
async function prepare(url: string): Promise<((base: string) => Send)[]> {
  const db = await openDatabase({ url, ...timeouts(600_000), log: line => console.error(line) })
  await migrate(db)
  const senders: ((base: string) => Send)[] = []
  for (let count = 1; count <= accounts; count++) {
    const name = `Account ${count}`
    const { account, owner } = await createAccount(db, {
      name,
      ownerName: 'Owner',
      ownerEmail: 'o@example.com',
    })
    const token = newSecret('token', account)
    await createToken(db, { account, user: owner, name: 'Bench', scopes: ['admin'], token })
    senders.push(base => senderOf(base, token))
  }
  await db.close()
  return senders
}

function senderOf(base: string, token: string): Send {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(`${base}/rest/api/v1/${path}`, request)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text).data.id
  }
}

function counting(send: Send, count: () => void): Send {
  return (...request) => {
    count()
    return send(...request)
  }
}

/** A deal with its contact and every other time its company, from the first call until it is closed. */
async function lifeOfDeal(send: Send, nth: number): Promise<number> {
  const last_name = `Contact ${nth}`
  const emails = [{ email_type: 1, email_value: `contact.${nth}@example.com` }]
  const contact = await send('POST', 'contact', { first_name: 'Some', last_name, emails })
  const company = nth % 2 ? null : await send('POST', 'company', { name: `Company ${nth}` })
  const deal = await send('POST', 'deal', {
    ...{ title: `Renewal ${nth} of a yearly agreement`, pipeline: 2, pipeline_stage: 3, sales_owner: 1 },
    ...{ primary_contact: contact, ...(company ? { company } : {}) },
    ...{ deal_value: { currency: 'USD', value: 1000 + nth }, expected_close_date: '2031-03-31' },
  })
  const now = new Date().toISOString()
  const about = {
    deal,
    owner: 1,
    notes: 'They asked for an offer with another term, and for a call next week.',
  }
  for (const stage of [4, 5, 6]) {
    await send('POST', 'activity', {
      ...about,
      kind: 'Call',
      subject: 'Call',
      outcome: 'Reached',
      done_at: now,
    })
    const planned = { ...about, kind: 'Meeting', subject: 'Meeting', due_at: now }
    const meeting = await send('POST', 'activity', planned)
    await send('PATCH', `activity/${meeting}`, { done_at: now })
    await send('PATCH', `deal/${deal}`, { pipeline_stage: stage })
  }
  await send('PATCH', `deal/${deal}`, { deal_value: { currency: 'USD', value: 2000 + nth } })
  const won = { pipeline_stage: 7, won_reason: 'Price' }
  const lost = { pipeline_stage: 8, lost_reason: 'Not interested' }
  await send('PATCH', `deal/${deal}`, { ...(nth % 3 ? lost : won), deal_closed_on: now.slice(0, 10) })
  return deal
}

async function costOf(url: string, service: Running, act: () => Promise<number>): Promise<Cost> {
  const [statements, processor] = [await statementsOf(url), spent(service)]
  const requests = await act()
  const processorMs = spentBetween(processor, spent(service))
  return { requests, statements: (await statementsOf(url)) - statements, processorMs }
}

/** The cost of one of them. */
function each({ requests, statements, processorMs }: Cost): Omit<Cost, 'requests'> {
  return { statements: statements / requests, processorMs: processorMs / requests }
}

/** The name of a request, how often it comes on a day, and what one costs. */
type Request = [name: string, perDay: number, cost: Omit<Cost, 'requests'>]
type Table = { readonly name: string; readonly rows: number; readonly bytes: number }

async function tablesOf(url: string): Promise<Table[]> {
  const names = (await ask(
    url,
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  )) as Table[]
  const found: Table[] = []
  for (const { name } of names) {
    const text = `SELECT count(*)::int AS rows, pg_total_relation_size('"${name}"')::float8 AS bytes FROM "${name}"`
    const [row] = (await ask(url, text)) as Table[]
    found.push({ ...row!, name })
  }
  return found
}

function report(before: Table[], after: Table[], costs: Request[]): void {
  const grown = after.map(({ name, rows, bytes }) => {
    const old = before.find(one => one.name === name)
    return { name, rows: (rows - (old?.rows ?? 0)) / accounts, bytes: (bytes - (old?.bytes ?? 0)) / accounts }
  })
  grown.sort((one, other) => other.bytes - one.bytes)
  const line = (cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
  const gigabytes = (bytes: number) => ((bytes * of) / 1e9).toFixed(0)
  const millions = (rows: number) => ((rows * of) / 1e6).toFixed(0)
  console.log(`\nA year of ${deals} deals in each of ${accounts} accounts\n`)
  line(['Table', 'rows an account', 'MB an account', `million rows, ${of} accounts`, 'GB'])
  line(['---', '--:', '--:', '--:', '--:'])
  const sum = (key: 'rows' | 'bytes') => grown.reduce((all, one) => all + one[key], 0)
  for (const { name, rows, bytes } of [
    ...grown.filter(one => one.bytes > sum('bytes') / 100),
    { name: 'all', rows: sum('rows'), bytes: sum('bytes') },
  ])
    line([name, Math.round(rows), (bytes / 1e6).toFixed(2), millions(rows), gigabytes(bytes)])
  console.log('')
  const perSecond = of / (workingHours * 3600)
  line(['Request', 'an account and day', 'statements', 'processor ms', `a second, ${of} accounts`, 'cores'])
  line(['---', '--:', '--:', '--:', '--:', '--:'])
  let [requests, cores] = [0, 0]
  for (const [name, perDay, { statements, processorMs }] of costs) {
    const [rate, busy] = [perDay * perSecond, (perDay * perSecond * processorMs) / 1000]
    requests += rate
    cores += busy
    line([
      name,
      Math.round(perDay),
      statements.toFixed(1),
      processorMs.toFixed(2),
      Math.round(rate),
      busy.toFixed(2),
    ])
  }
  line(['all', '', '', '', Math.round(requests), cores.toFixed(1)])
}
