/**
 * Clients that read their exports slowly, or not at all, hold nothing that others need (D81): neither a
 * permit nor a connection, and the disk within quotas. A reader that is too slow is cut off.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { get as ask, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { Spool } from '../../src/work/exports/spool.ts'
import { byQueries } from '../support/by-queries.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const said: string[] = []
const log = pino({ level: 'warn' }, { write: line => void said.push(line) })
const { url, db, made, call, aSecondGoesBy } = await startService({ sampleData: false, log })
const isServer = db.engine === 'postgres'
const tx = byQueries(db)
/** 24 MB: more than the sockets between a service and an idle client buffer. */
const total = 800
const accounts: string[] = []
for (const name of ['first', 'second', 'third']) accounts.push(await tokenOfLargeAccount(name))
const [first, second, third] = accounts as [string, string, string]

/** The token of a new account with many long notes. */
async function tokenOfLargeAccount(name: string): Promise<string> {
  const email = `${name}@example.com`
  const { account, owner } = await createAccount(tx, { name, ownerName: name, ownerEmail: email })
  const token = newSecret('token', account)
  await createToken(tx, { account, user: owner, name, scopes: ['admin'], token })
  const note = { kind: 'Note', subject: 'Long', notes: 'n'.repeat(30_000) }
  const { id } = await made('activity', note, { authorization: `Bearer ${token}` })
  const [row] = await db.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = 'activity' AND column_name <> 'id'`,
  )
  await db.query(
    `INSERT INTO activity (id, ${row!.names}) SELECT id + i, ${row!.names} FROM activity, generate_series(1, $3::int) i
     WHERE account_id = $1::bigint AND id = $2::bigint`,
    [String(account), String(id), String(total - 1)],
  )
  return token
}

/** Begins an export, and reads nothing of it. */
async function begun(token: string, path = 'activity/export?format=jsonl'): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` }
  const asked = ask(`${url}${v1}/${path}`, { headers, agent: false })
  asked.on('error', () => {})
  const [reply] = (await once(asked, 'response')) as [IncomingMessage]
  return reply.on('error', () => {})
}

async function linesOf(reply: IncomingMessage): Promise<number> {
  assert.equal(reply.statusCode, 200)
  return (await reply.setEncoding('utf8').toArray()).join('').split('\n').length - 1
}

async function leave(...replies: IncomingMessage[]): Promise<void> {
  for (const reply of replies) {
    reply.destroy()
    if (!reply.closed) await once(reply, 'close')
  }
  await until(() => spoolFiles() === 0)
}

/** Number of open temporary files of exports in the process; 0 if the system does not report it. */
function spoolFiles(): number {
  if (process.platform !== 'linux') return 0
  return readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('dealwright-export-')
    } catch {
      return false
    }
  }).length
}

const until = (holds: () => boolean | Promise<boolean>) => eventually(holds, 'what was waited for')

async function answersExport(token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  return (await call('GET', `${v1}/tag/export`, undefined, headers)).status === 200
}

test('four clients of two accounts that read nothing keep no other account waiting', async () => {
  const idle = [await begun(first), await begun(first), await begun(second), await begun(second)]
  // The database waits for none of them.
  const held = "datname = current_database() AND state <> 'idle' AND query ~ '^(FETCH|DECLARE)'"
  if (isServer)
    await until(
      async () => (await db.query(`SELECT pid::text FROM pg_stat_activity WHERE ${held}`)).length === 0,
    )
  assert.equal(await linesOf(await begun(third)), total)
  // They have no more than their two each.
  const refused = await begun(first)
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '10'])
  refused.resume()
  // Read later, they are complete.
  const [one, ...others] = idle as [IncomingMessage, ...IncomingMessage[]]
  assert.equal(await linesOf(one), total)
  await leave(...others)
})

test('what a client that leaves has held is free: its place and its file', async t => {
  const idle = [await begun(first), await begun(first)]
  if (process.platform === 'linux') await until(() => spoolFiles() === 2)
  else t.diagnostic('only Linux tells the open files')
  await leave(...idle)
  await until(() => answersExport(first))
  assert.equal(await linesOf(await begun(first)), total)
  await until(() => spoolFiles() === 0)
})

test('a client that reads too slowly is cut off, and one that reads steadily is not', async () => {
  const idle = await begun(first)
  const steady = await begun(second)
  let lines = 0
  const reading = (async () => {
    for await (const chunk of steady.setEncoding('utf8')) {
      lines += chunk.split('\n').length - 1
      await delay(20)
    }
  })()
  const tooSlow = () =>
    said.filter(line => /activity\/export was ended: its client reads too slowly/.test(line))
  while (tooSlow().length === 0) {
    // The service checks once a second.
    for (let second = 0; second < 60; second++) aSecondGoesBy()
    await delay(1100)
  }
  await reading
  assert.deepEqual([steady.complete, lines], [true, total])
  await assert.rejects(linesOf(idle))
  assert.equal(idle.complete, false)
  assert.equal(tooSlow().length, 1)
  await until(() => answersExport(first))
})

test('without room on the disk, an export on a server waits for its reader, and an embedded one is refused', async () => {
  const usual = process.env.TMPDIR
  process.env.TMPDIR = '/there/is/no/such/folder'
  try {
    const reply = await begun(first)
    if (isServer) {
      await delay(200)
      assert.equal(await linesOf(reply), total)
    } else {
      assert.deepEqual([reply.statusCode, reply.headers['retry-after']], [503, '10'])
      assert.match((await reply.setEncoding('utf8').toArray()).join(''), /no room for the temporary file/)
    }
    assert.equal(said.filter(line => /can't be written in .there.is.no/.test(line)).length, 1)
    // A small export needs no file.
    assert.equal(await answersExport(first), true)
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
  assert.notEqual(tmpdir(), '/there/is/no/such/folder')
})

test('a spool gives what it got, however its reader and its producer alternate', async () => {
  for (const quota of [0, 3_000_000, Number.POSITIVE_INFINITY]) {
    let [free, least] = [quota, quota]
    const spool = new Spool({
      take: bytes => {
        if (bytes > free) return false
        free -= bytes
        least = Math.min(least, free)
        return true
      },
      release: bytes => {
        free += bytes
      },
      say: line => assert.fail(line),
    })
    const chunks = Array.from({ length: 60 }, (_, index) => randomBytes(1 + ((index * 7919) % 397) * 1000))
    const producing = (async () => {
      for (const [index, chunk] of chunks.entries()) {
        if (!(await spool.offer(chunk))) await spool.pass(chunk)
        if (index % 10 === 0) await delay(20)
      }
      spool.finish()
    })()
    const read: Buffer[] = []
    for await (const piece of spool) {
      read.push(piece)
      if (read.length % 40 === 0) await delay(10)
    }
    await producing
    assert.deepEqual(Buffer.concat(read), Buffer.concat(chunks))
    assert.deepEqual([spool.bytes, spool.closed, free], [Buffer.concat(chunks).length, true, quota])
    if (quota > 0 && quota < Number.POSITIVE_INFINITY) assert.ok(least < quota)
  }
  assert.equal(spoolFiles(), 0)
})

/** A quota without room for files. */
const noRoom = { take: () => false, release: () => {}, say: (line: string) => assert.fail(line) }
const piece = randomBytes(65_536)

test('a producer does not wait for a reader that is gone', async () => {
  const spool = new Spool(noRoom)
  assert.equal(await spool.offer(randomBytes(1_000_000)), true)
  spool.destroy()
  // It would wait for thirty seconds.
  const late = delay(10_000, 'late', { ref: false })
  const passed = spool.pass(piece).catch(error => error.message)
  assert.match(await Promise.race([passed, late]), /Nobody waits for the export/)
})

test('a reader has its time for the whole export, not anew for each of its pieces', async () => {
  const spool = new Spool(noRoom, 400)
  assert.equal(await spool.offer(piece), true)
  const reading = (async () => {
    for await (const _ of spool) await delay(200)
  })().catch(() => {})
  // Each chunk is taken in time. Together they would take six times the limit.
  const passing = (async () => {
    for (let pieces = 0; pieces < 30; pieces++) await spool.pass(piece)
  })()
  await assert.rejects(passing, /its client reads too slowly/)
  spool.destroy()
  await reading
})
