/**
 * Fault injection: the database client throws at each step of sending and of reading, amid the statements of
 * several accounts. Every answer belongs to its statement, or is a clear failure (D100).
 */
import assert from 'node:assert/strict'
import { Duplex, PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
after(() => server?.stop())
const answersMin = 10_000
const accounts = ['1', '2', '3', '4']

describe('embedded', () => suite(async () => ({})))
describe('PostgreSQL', { skip: !server && 'no PostgreSQL here' }, () =>
  suite(async () => ({ url: await createDatabase(server!.url) })),
)

test('a throw as a connection is made is told as one of the client, without its message', async () => {
  const said: string[] = []
  const write = () => {
    throw new Fault('of a secret')
  }
  const session = new Connection({
    user: 'somebody',
    password: 'something',
    settings: {},
    channelBinding: 'disable',
    target: 'any',
    servers: [() => Object.assign(new PassThrough(), { write })],
    delayMs: 0,
    onNotice() {},
    isRemote: true,
    connectWithinMs: null,
    onAnswer() {},
    onOver() {},
    log: line => said.push(line),
  })
  const refusal = { name: 'DatabaseUnavailable', message: 'The client failed on the connection' }
  await assert.rejects(session.ask('SELECT 1', []), refusal)
  assert.match(said.join(), /client failed: Fault at/)
  assert.doesNotMatch(said.join(), /secret/)
})

function suite(place: () => Promise<{ url?: string }>) {
  let db: Database
  let where: { url?: string }
  const said: string[] = []
  before(async () => {
    where = await place()
    db = await openDatabase({ ...where, waitMs: 60_000, log: line => said.push(line) })
    await db.query('CREATE TABLE kept (account bigint, n bigint, PRIMARY KEY (account, n))')
  })
  after(async () => {
    await db.close()
    if (where.url) await dropDatabase(where.url)
  })

  test('a throw at each step: 10 000 answers, none foreign, none lost', async () => {
    const tally = { right: 0, refused: 0 }
    const faults = throwInside(
      /\/src\/db\/postgres\/(connection|response-queue|wire|login|greeting|expected|message-writer|message-shape)\.ts/,
    )
    try {
      for (let batch = 0; tally.right < answersMin; batch++) {
        faults.arm((batch * 7919) % 4001)
        await Promise.all(accounts.flatMap(account => neighbours(db, account, batch, tally)))
      }
    } finally {
      faults.end()
    }
    assert.ok(faults.steps() > 30, `thrown at ${faults.steps()} steps`)
    assert.ok(tally.refused > faults.steps() / 2, `${tally.refused} refused`)
    assert.ok(tally.refused < tally.right, `${tally.refused} refused, ${tally.right} right`)
    assert.match(said.join('\n'), /client failed: Fault/)
    assert.doesNotMatch(said.join('\n'), /secret/)
    // Everything acknowledged is there.
    for (const account of accounts) {
      const rows = await db.query('SELECT n FROM kept WHERE account = $1::bigint', [account])
      const kept = new Set(rows.map(row => Number(row.n)))
      assert.deepEqual(
        acknowledged.get(account)!.filter(n => !kept.has(n)),
        [],
      )
      acknowledged.delete(account)
    }
  })

  test('an error amid the rows of an answer leaves nothing of it in the next one', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const failing = db.query(
        `SELECT 1 / (2000 - n) AS n, repeat('x', 100) AS text FROM generate_series(1, 4000) n`,
      )
      const next = Array.from({ length: 10 }, (_, n) => db.query('SELECT $1::text AS n', [`${n}`]))
      await assert.rejects(failing, { code: '22012' })
      for (const [n, rows] of (await Promise.all(next)).entries())
        assert.deepEqual([rows.length, rows[0]!.n], [1, `${n}`])
    }
  })

  test('more parameters than the protocol takes, or none that it takes, are refused and harm nobody', async () => {
    const text = (count: number) => `SELECT count(*) AS n FROM (VALUES ${places(count)}) v`
    const places = (count: number) =>
      Array.from({ length: count }, (_, index) => `($${index + 1}::text)`).join()
    const ask = (count: number) => db.query(text(count), Array.from<string>({ length: count }).fill('v'))
    const refusedAs = (error: unknown) => databaseRefusal(error)?.slug
    for (let turn = 0; turn < 20; turn++) {
      const beside = Array.from({ length: 20 }, (_, n) => db.query('SELECT $1::text AS n', [`${n}`]))
      const tooMany = [65_534, 65_600].map(count => ask(count).catch(refusedAs))
      const inTransaction = db.sql
        .begin(tx => tx.query('SELECT 1', Array.from<string>({ length: 70_000 }).fill('v')))
        .catch(refusedAs)
      const strange = [undefined, 1, {}, Symbol('s')].map(value =>
        assert.rejects(db.query('SELECT $1::text', [value as string]), TypeError),
      )
      assert.deepEqual(await Promise.all(tooMany), ['body_too_large', 'body_too_large'])
      assert.equal(await inTransaction, 'body_too_large')
      await Promise.all(strange)
      for (const [n, rows] of (await Promise.all(beside)).entries()) assert.equal(rows[0]!.n, `${n}`)
    }
    assert.equal((await ask(65_533))[0]!.n, '65533')
  })
}

const acknowledged = new Map<string, number[]>()

/**
 * One account's concurrent statements: few rows and many, prepared and not, text and bytes, refused ones,
 * writes alone and batched.
 */
function neighbours(
  db: Database,
  account: string,
  batch: number,
  tally: { right: number; refused: number },
): Promise<void>[] {
  const mark = (n: number) => `secret of ${account}: ${batch} ${n}`
  const kinds: ((n: number) => Promise<void>)[] = [
    async n => assert.equal((await db.query('SELECT $1::text AS mark', [mark(n)]))[0]!.mark, mark(n)),
    async n =>
      assert.equal(
        (await db.query(`SELECT $1::text AS mark, ${batch} AS batch`, [mark(n)]))[0]!.mark,
        mark(n),
      ),
    async n => {
      const text = 'SELECT $1::text AS mark, n FROM generate_series(1, $2::int) n'
      const rows = await db.query(text, [mark(n), '9'])
      assert.deepEqual(
        rows.map(row => `${row.mark} ${row.n}`),
        Array.from({ length: 9 }, (_, index) => `${mark(n)} ${index + 1}`),
      )
    },
    async n => {
      const [row] = await db.queryBytes('SELECT $1::text, NULL', [mark(n)])
      assert.deepEqual([row![0]!.toString(), row![1]], [mark(n), null])
    },
    async () => {
      const error = await db.query('SELECT 1 / $1::int', ['0']).catch(error => error)
      if (error.code !== '22012') throw error
    },
    async n => {
      const text = 'INSERT INTO kept VALUES ($1::bigint, $2::bigint) RETURNING n'
      const [row] = await db.write(account, [{ text, values: [account, `${batch * 100 + n}`] }])
      assert.equal(row!.n, `${batch * 100 + n}`)
      acknowledged.set(account, [...(acknowledged.get(account) ?? []), Number(row!.n)])
    },
    n =>
      db.sql.begin(async tx => {
        const [row] = await tx.query('SELECT $1::text AS mark', [mark(n)])
        assert.equal(row!.mark, mark(n))
      }),
  ]
  return Array.from({ length: 14 }, (_, n) =>
    kinds[n % kinds.length]!(n).then(
      () => {
        tally.right++
      },
      error => {
        // Before the statement is queued, an error affects only its caller.
        if (!(error instanceof DatabaseUnavailable) && !(error instanceof Fault)) throw error
        // A session logs the reason of its end.
        if (!(error instanceof Fault)) assert.doesNotMatch(error.message, /secret/)
        tally.refused++
      },
    ),
  )
}

class Fault extends Error {
  override name = 'Fault'
}

/**
 * Makes Node's functions throw when `inside` calls them, once each time that it is armed: at a new step, or
 * after a number of steps. A step is a call site in that code.
 */
function throwInside(inside: RegExp) {
  const steps = new Set<string>()
  let isArmed = false
  let after = 0
  const undo: (() => void)[] = []
  const step = (below: object): string | null => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 4
    const trace = { stack: '' }
    Error.captureStackTrace(trace, below as () => void)
    Error.stackTraceLimit = stackTraceLimit
    const [first, ...rest] = trace.stack.split('\n').slice(1)
    if (!first || !inside.test(first)) return null
    const place = [first, ...rest]
      .filter(line => inside.test(line))
      .map(line => line.replace(/^\s+at |\(?file:.*\//g, ''))
    return place.join(' < ')
  }
  const patch = <T extends object>(owner: T, names: readonly (keyof T & string)[]) => {
    for (const name of names) {
      const original = owner[name] as (...args: unknown[]) => unknown
      const patched = function (this: unknown, ...args: unknown[]) {
        if (!isArmed) return original.apply(this, args)
        isArmed = false
        const at = step(patched)
        isArmed = at === null || (steps.has(at) && after-- > 0)
        if (isArmed) return original.apply(this, args)
        steps.add(at!)
        throw new Fault('of a secret')
      }
      owner[name] = patched as T[keyof T & string]
      undo.push(() => {
        owner[name] = original as T[keyof T & string]
      })
    }
  }
  patch(Buffer, ['concat', 'from', 'byteLength', 'allocUnsafe'])
  patch(Buffer.prototype, ['toString', 'subarray', 'indexOf', 'readUInt32BE', 'readInt32BE', 'readUInt16BE'])
  patch(Buffer.prototype, ['copy', 'write', 'writeInt32BE', 'writeUInt16BE'])
  patch(Array.prototype, ['push', 'shift', 'map'])
  patch(Array, ['from'])
  patch(Map.prototype, ['get', 'set', 'delete'])
  patch(String.prototype, ['split', 'includes'])
  patch(Object, ['entries', 'fromEntries'])
  patch(Duplex.prototype, ['write', 'cork', 'uncork'])
  return {
    arm(steps: number) {
      isArmed = true
      after = steps
    },
    steps: () => steps.size,
    end() {
      for (const act of undo) act()
    },
  }
}
