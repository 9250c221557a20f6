/**
 * Mixed writes of sixteen clients, while the service is killed by SIGKILL: every acknowledged write must be
 * there, once, whole and with its event; others are retried with their idempotency key. On a server the
 * database is killed in every second round, too.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, type Row } from '../../src/db/open.ts'
import { timeouts } from '../support/timeouts.ts'
import type { Scenario, Target } from './on-engines.ts'
import { type Life, type Send, sendTo, started } from './service-process.ts'

export type Tally = {
  rounds: number
  acknowledged: number
  lost: number
  duplicated: number
  halfWritten: number
}

export type Acknowledged = {
  readonly id: number
  readonly title: string
  version: number
  isDeleted: boolean
}

/** The writes of the clients and their answers. */
export class Known {
  readonly tally: Tally = { rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, halfWritten: 0 }
  readonly records = new Map<number, Acknowledged>()
  /** unanswered creations, by their title, which is their idempotency key */
  readonly unanswered = new Set<string>()
}

const clients = 16

export const writes: Scenario = {
  rounds: 20,
  zero: ['lost', 'duplicated', 'halfWritten'],
  some: ['acknowledged'],
  async act({ env, open, server }, rounds, say) {
    const known = new Known()
    for (let round = 1; round <= rounds; round++) {
      const life = await started(env)
      const isOfServer = server !== null && round % 2 === 0
      await writeAndKill(life, round, known, () => {
        if (isOfServer) void server.kill9()
        else life.service.kill('SIGKILL')
      })
      if (isOfServer) await server.restart()
      await verify(open, known)
      say(`round ${round}: ${JSON.stringify(known.tally)}`)
    }
    return known.tally
  },
}

/**
 * One life of the service: the clients write, unanswered creations first, and `kill` is called 0.2 to 1 s
 * after the first new write.
 */
export async function writeAndKill(
  { service, url, ended }: Life,
  round: number,
  known: Known,
  kill: () => void,
): Promise<void> {
  const send = sendTo(url)
  for (const title of known.unanswered) {
    const id = await createAgain(send, title)
    known.records.set(id, { id, title, version: 1, isDeleted: false })
  }
  known.unanswered.clear()
  let isBegun = false
  const begun = () => {
    if (!isBegun) setTimeout(kill, 200 + Math.random() * 800)
    isBegun = true
  }
  let isAlive = true
  void ended.then(() => {
    isAlive = false
  })
  const names = Array.from({ length: clients }, (_, client) => `r${round}w${client}`)
  await Promise.all(names.map(name => write(send, name, known, () => isAlive, begun)))
  service.kill('SIGKILL')
  await ended
}

/** Creates a deal with a contact of its own, by the key of its title; returns its id. */
async function create(send: Send, title: string): Promise<number> {
  const place = { pipeline: 2, pipeline_stage: 3, sales_owner: 1 }
  const body = { title, ...place, primary_contact: { last_name: title } }
  return (await send('POST', 'deal', body, title)).data.id
}

/** The same until it is answered: a busy database may refuse it for a while. */
async function createAgain(send: Send, title: string): Promise<number> {
  for (;;) {
    try {
      return await create(send, title)
    } catch (error) {
      if (!/: 503 /.test(String(error))) throw error
      await sleep(200)
    }
  }
}

/**
 * Creates a deal with its contact, changes it twice, deletes every third and restores every sixth; records
 * the answers.
 */
export async function write(
  send: Send,
  name: string,
  { records, unanswered }: Known,
  isAlive: () => boolean,
  begun: () => void = () => {},
): Promise<void> {
  try {
    for (let count = 0; isAlive(); count++) {
      const title = `${name}n${count}`
      unanswered.add(title)
      const id = await create(send, title)
      unanswered.delete(title)
      begun()
      const deal: Acknowledged = { id, title, version: 1, isDeleted: false }
      records.set(id, deal)
      for (const version of [2, 3]) {
        await send('PATCH', `deal/${id}`, { description: `version ${version}` })
        deal.version = version
      }
      if (count % 3) continue
      await send('DELETE', `deal/${id}`)
      Object.assign(deal, { version: 4, isDeleted: true })
      if (count % 6) continue
      // During its restoration its state is unknown; it is known once that was answered.
      await send('POST', `deal/${id}/restore`)
      Object.assign(deal, { version: 5, isDeleted: false })
    }
  } catch {
    // The service or its database was killed: unanswered writes are not promised.
  }
}

/** Opens the database after the crash and compares it with the acknowledged writes of an account. */
export async function verify(open: Target['open'], { tally, records }: Known, account = 1): Promise<void> {
  const db = await openDatabase({ ...open, ...timeouts(), log: () => {} })
  try {
    const params = [String(account)]
    const rows = await db.query(
      `SELECT d.id::text AS id, d.title, d.version::text AS version, d.document,
      (d.deleted_at IS NOT NULL)::text AS is_deleted,
      (SELECT last_name FROM contact c WHERE c.account_id = $1::bigint AND c.id = d.primary_contact) AS contact,
      (SELECT count(*) FROM event e
       WHERE e.account_id = $1::bigint AND e.resource = 'deal' AND e.record_id = d.id)::text AS events
      FROM deal d WHERE d.account_id = $1::bigint AND d.title ~ '^r[0-9]+w'`,
      params,
    )
    const [log] = await db.query(
      `SELECT count(*)::text AS n, max(seq)::text AS last,
      (SELECT last_seq::text FROM counter WHERE account_id = $1::bigint) AS counter
      FROM event WHERE account_id = $1::bigint`,
      params,
    )
    const byId = new Map(rows.map(row => [Number(row.id), row]))
    tally.rounds++
    tally.acknowledged = [...records.values()].reduce((sum, write) => sum + write.version, 0)
    tally.lost += [...records.values()].filter(write => isLost(write, byId.get(write.id))).length
    tally.duplicated += rows.length - new Set(rows.map(row => row.title)).size
    // A record has one event for each version, and the log has no gap.
    tally.halfWritten += rows.filter(
      row =>
        row.events !== row.version ||
        row.contact !== row.title ||
        !row.document!.includes(`"title":"${row.title}"`),
    ).length
    if (log!.n !== log!.last || log!.last !== log!.counter) tally.halfWritten++
  } finally {
    await db.close()
  }
}

function isLost(write: Acknowledged, row: Row | undefined): boolean {
  if (!row || row.title !== write.title || Number(row.version) < write.version) return true
  return Number(row.version) === write.version && (row.is_deleted === 'true') !== write.isDeleted
}
