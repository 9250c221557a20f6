/**
 * Attacks a running service as one account, while another account works (neighbour.ts), and counts the
 * effects on the neighbour: wrong answers, faults, refusals, and its p99 as a ratio to its p99 alone. `npm
 * run attack -- --seconds 5 --engine embedded|postgres --only idle`; docs/security.md names the defence
 * against each.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAccount } from '../../src/accounts/create.ts'
import { firstStart } from '../../src/accounts/first-start.ts'
import { createSample } from '../../src/accounts/sample/sample.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { byQueries } from '../support/by-queries.ts'
import { makeManyDeals } from '../support/many-deals.ts'
import { timeouts } from '../support/timeouts.ts'
import { createToken } from '../support/tokens.ts'
import { type Attack, type Attacker, attacker, attacks } from './attacks.ts'
import type { NeighbourOrders, Observed } from './neighbour.ts'
import { type EngineName, enginesOf, judge, onEngine, type Target } from './on-engines.ts'
import { readyUrl } from './service-process.ts'

export type Outcome = {
  readonly attack: string
  /** the attacker's answers: count of each status, `cut` for a connection that ended without an answer */
  readonly answered: { readonly [status: string]: number }
  readonly neighbour: Observed
  /** the neighbour's p99 over its p99 alone, the two taken in turns in the same run */
  readonly ratio: number
}

export type AttackOptions = {
  readonly engine: EngineName
  /** duration of each attack; before each, the neighbour is alone for half as long */
  readonly seconds: number
  /** number of the attacking account's deals */
  readonly deals: number
  /** part of the names of the attacks to carry out; default: all */
  readonly only?: string | undefined
  readonly report?: (outcome: Outcome) => void
}

const title = 'Neighbourly deal '
const ownerName = 'Neighbour'
/** Default limit of open files on many systems. */
const openFiles = 1024

type Tokens = { readonly reader: string; readonly writer: string; readonly neighbour: string }

/** Every attack on one engine; null if the engine is not installed. */
export function attack(options: AttackOptions): Promise<Outcome[] | null> {
  return onEngine(options.engine, target => attackOn(target, options))
}

async function attackOn(
  { env, open }: Target,
  { seconds, deals, only = '', report }: AttackOptions,
): Promise<Outcome[]> {
  const tokens = await prepare(open, deals)
  const service = spawn(
    'sh',
    ['-c', `ulimit -n ${openFiles} && exec "$0" bin/dealwright.js`, process.execPath],
    { env: { ...env, DEALWRIGHT_TOKEN: '', LOG_LEVEL: 'fatal' }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const address = await readyUrl(service)
    const neighbour = await moveIn(address, tokens.neighbour)
    const by = attacker(address, tokens)
    await by.prepare()
    const outcomes = await carryOut(
      neighbour,
      by,
      attacks.filter(({ name }) => name.includes(only)),
      seconds,
    )
    for (const outcome of outcomes) report?.(outcome)
    return outcomes
  } finally {
    const gone = new Promise(resolve => service.once('exit', resolve))
    if (service.exitCode === null && service.kill()) await gone
  }
}

/**
 * The database before the service starts: the attacker's account with very many deals, and the neighbour's.
 */
async function prepare(open: Target['open'], deals: number): Promise<Tokens> {
  const db = await openDatabase({ ...open, ...timeouts(), log: () => {} })
  try {
    await migrate(db)
    const now = new Date()
    const { token: writer } = await firstStart(db, { now, sampleData: true, createSample })
    await makeManyDeals(db, deals)
    const reader = newSecret('token', 1)
    return await db.sql.begin(async sql => {
      const tx = byQueries({
        query: (text, params = []) => sql.query(text, params as (string | null)[]),
      })
      await createToken(tx, {
        account: 1,
        user: 1,
        name: 'Reader',
        scopes: ['deal:read'],
        token: reader,
      })
      const made = await createAccount(tx, {
        name: 'Neighbour',
        ownerName,
        ownerEmail: 'neighbour@example.com',
      })
      const neighbour = newSecret('token', made.account)
      await createToken(tx, {
        account: made.account,
        user: made.owner,
        name: 'Neighbour',
        scopes: ['admin'],
        token: neighbour,
      })
      return { reader, writer: writer!, neighbour }
    })
  } finally {
    await db.close()
  }
}

/** Creates the neighbour's deals and starts it. */
async function moveIn(url: string, token: string): Promise<ChildProcess> {
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/rest/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { data: { id: number } }).data.id
  }
  const contact = await send('POST', '/contact', { last_name: 'Neighbour' })
  const deals: number[] = []
  for (let count = 0; count < 100; count++) {
    const body = { title, pipeline: 2, pipeline_stage: 3, primary_contact: contact, sales_owner: 1 }
    const id = await send('POST', '/deal', body)
    await send('PATCH', `/deal/${id}`, { title: `${title}${id}` })
    deals.push(id)
  }
  const orders: NeighbourOrders = { url, token, deals, title, ownerName }
  return fork(join(import.meta.dirname, 'neighbour.ts'), [JSON.stringify(orders)])
}

async function carryOut(
  neighbour: ChildProcess,
  by: Attacker,
  chosen: readonly Attack[],
  seconds: number,
): Promise<Outcome[]> {
  const answered = new Map<string, { [status: string]: number }>()
  /** Waits until the neighbour has sent a request under the label: on a busy machine that may take longer. */
  const label = async (name: string, meanwhile: Promise<unknown>) => {
    const asked = told(neighbour)
    neighbour.send({ label: name })
    await Promise.all([asked, meanwhile])
  }
  await label('warm-up', sleep(2000))
  for (const { name, run } of chosen) {
    await label('alone', sleep(seconds * 500))
    const attacked = by.during(seconds, run)
    await label(name, attacked)
    answered.set(name, await attacked)
    await label('after', by.calm())
  }
  const observed = told(neighbour)
  neighbour.send('stop')
  const of = (await observed) as { [name: string]: Observed }
  const { p99 } = of.alone!
  return ['alone', 'after', ...chosen.map(({ name }) => name)].map(name => ({
    attack: name,
    answered: answered.get(name) ?? {},
    neighbour: of[name]!,
    ratio: Math.round((of[name]!.p99 / p99) * 10) / 10,
  }))
}

/** The neighbour's next message. */
function told(neighbour: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the neighbour ended with ${code}`))
    neighbour.once('exit', ended)
    neighbour.once('message', message => {
      neighbour.off('exit', ended)
      resolve(message)
    })
  })
}

/** An outcome in one line, and its wrong or failed answers below it. */
export function described({ attack, answered, neighbour, ratio }: Outcome): string {
  const { answers, refused, faults, wrong, p99, max } = neighbour
  const told = Object.entries(answered).map(([status, count]) => `${count} × ${status}`)
  const figures = `${answers} answers, ${refused} × 503, ${faults.length} faults, ${wrong.length} wrong, p99 ${p99} ms (${ratio}), max ${max} ms`
  return [
    `${attack.padEnd(34)} ${figures}${told.length ? `; attacker: ${told.join(', ')}` : ''}`,
    ...faults.slice(0, 5),
    ...wrong.slice(0, 5),
  ].join('\n    ')
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '5' },
      deals: { type: 'string', default: '20000' },
      engine: { type: 'string' },
      only: { type: 'string' },
    },
  })
  for (const engine of enginesOf(values.engine)) {
    console.log(`── ${engine} ──`)
    const outcomes = await attack({
      engine,
      seconds: Number(values.seconds),
      deals: Number(values.deals),
      only: values.only,
      report: outcome => console.log(described(outcome)),
    })
    if (outcomes) judge(outcomes.filter(isWrong).map(({ attack }) => attack))
    else console.log('not installed')
  }
}

/** True if the neighbour had more than a delay, or the attacker's answers include a fault. */
function isWrong({ answered, neighbour }: Outcome): boolean {
  const faults = Object.keys(answered).filter(
    status => status >= '500' && status !== '503' && status !== 'cut',
  )
  return faults.length + neighbour.wrong.length + neighbour.faults.length > 0 || neighbour.answers === 0
}
