/**
 * Group commit, on both engines: each write has its own answer, even if others of its group fail; and exactly
 * the acknowledged writes are stored.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { StatementTooLarge } from '../../src/db/postgres/protocol-limits.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import type { MergeableWrite } from '../../src/mergeable-write.ts'
import type { Statement } from '../../src/sql.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'
import { timeouts } from '../support/timeouts.ts'

const server = await startPostgres()
after(() => server?.stop())

const insert = 'INSERT INTO kept VALUES ($1::bigint, $2::bigint) RETURNING n, xmin'
const of = (text: string, ...values: string[]): Statement => ({ text, values })
const divided = 'INSERT INTO kept VALUES ($1::bigint, 100 / $2::bigint) RETURNING n'

describe('embedded', () => {
  suite(async () => ({}))
  test('accounts share commits', () => shared())
})
describe('PostgreSQL', { skip: !server && 'no PostgreSQL here' }, () => {
  suite(async () => ({ url: await createDatabase(server!.url) }))
  test('a connection that is lost amid a group: none is answered, and none is kept', () => lost())
})

function suite(place: () => Promise<{ url?: string }>) {
  let db: Database
  let where: { url?: string }
  before(async () => {
    where = await place()
    db = await openDatabase({ ...where, ...timeouts(), log() {} })
    await db.query('CREATE TABLE kept (account bigint, n bigint, PRIMARY KEY (account, n))')
  })
  after(async () => {
    await db.close()
    if (where.url) await dropDatabase(where.url)
  })
  const kept = async (account: string) =>
    (await db.query('SELECT n FROM kept WHERE account = $1::bigint ORDER BY n', [account])).map(row => row.n!)
  const add = (account: string, n: number) => db.write(account, [of(insert, account, `${n}`)])

  test('those of an account that come together share commits', async () => {
    const rows = await Promise.all(Array.from({ length: 60 }, (_, n) => add('1', n)))
    assert.deepEqual(
      rows.map(([row]) => row!.n),
      Array.from({ length: 60 }, (_, n) => `${n}`),
    )
    assert.ok(new Set(rows.map(([row]) => row!.xmin)).size <= 2)
  })

  test('one that is refused has its own answer, and so have the others', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const account = `${10 + turn}`
      const answers = await Promise.allSettled([
        ...[1, 2, 3].map(n => add(account, n)),
        add(account, 2),
        db.write(account, [of(divided, account, '0')]),
        add(account, 4),
        db.write(account, [of(insert, ...Array.from<string>({ length: 70_000 }).fill('1'))]),
        db.write(account, [of(insert, account, 5 as unknown as string)]),
        db.write(account, [of('SELECT n FROM kept WHERE account = $1::bigint AND n = 4', account)]),
        db.write(account, [of('SELECT 1 / ($1::bigint - $1::bigint)', account), of(divided, account, '10')]),
        db.write(account, [of('SELECT $1::bigint', account), of(divided, account, '5')]),
        add(account, 6),
      ])
      const said = answers.map(answer =>
        answer.status === 'fulfilled' ? answer.value[0]!.n : (answer.reason.code ?? answer.reason.name),
      )
      assert.deepEqual(said.slice(0, 3), ['1', '2', '3'])
      assert.deepEqual(said.slice(3, 6), ['23505', '22012', '4'])
      assert.deepEqual(said.slice(6, 9), [StatementTooLarge.name, 'TypeError', '4'])
      assert.deepEqual(said.slice(9), ['22012', '20', '6'])
      assert.deepEqual(await kept(account), ['1', '2', '3', '4', '6', '20'])
    }
  })

  test('the same statement again in a group, others in between, is itself', async () => {
    const many = 'SELECT $1::text || $2::text AS n'
    const answers = await Promise.all(
      ['a', 'b', 'c'].flatMap(n => [
        db.write('3', [of('SELECT $1::text AS n', n)]),
        db.write('3', [of('SELECT $1::bigint', '3'), of(many, n, n)]),
      ]),
    )
    assert.deepEqual(
      answers.map(([row]) => row!.n),
      ['a', 'aa', 'b', 'bb', 'c', 'cc'],
    )
  })

  test('those of a kind are one write, but for two of a record; if it is refused, each is on its own', async () => {
    const merges: number[] = []
    const write = (record: string | null, n: number): MergeableWrite & { n: number } => ({
      ...{ kind: [insert], record, n },
      alone: () => [of(insert, '8', `${n}`)],
      merged(all) {
        const numbers = all.map(one => (one as ReturnType<typeof write>).n)
        merges.push(numbers.length)
        const text = 'INSERT INTO kept SELECT 8, n FROM unnest($1::bigint[]) n RETURNING n, xmin'
        const rowsOf: ReturnType<MergeableWrite['merged']>['rowsOf'] = rows =>
          numbers.map(n => rows.filter(row => row.n === `${n}`))
        return { statements: [of(text, `{${numbers.join()}}`)], rowsOf }
      },
    })
    const together = (all: readonly [string | null, number][]) =>
      Promise.allSettled([db.write('8', [of('SELECT 1')]), ...all.map(one => db.write('8', write(...one)))])
    const said = (answers: PromiseSettledResult<readonly { [name: string]: string | null }[]>[]) =>
      answers.slice(1).map(one => (one.status === 'fulfilled' ? one.value[0]!.n : one.reason.code))
    const made = [1, 2, 3, 4].map((n): [null, number] => [null, n])
    assert.deepEqual(said(await together([...made, ['7', 5], ['7', 6]])), ['1', '2', '3', '4', '5', '6'])
    assert.deepEqual(merges.splice(0), [5])
    const refused = [10, 3, 11, 12].map((n): [null, number] => [null, n])
    assert.deepEqual(said(await together(refused)), ['10', '23505', '11', '12'])
    assert.equal(merges[0], 4)
    assert.deepEqual(await kept('8'), ['1', '2', '3', '4', '5', '6', '10', '11', '12'])
  })

  test('one that can’t be printed is refused alone, and those behind it go on', async () => {
    const broken: MergeableWrite = {
      ...{ kind: ['broken'], record: null },
      alone: () => assert.fail('No statement'),
      merged: () => assert.fail('No statement of all'),
    }
    const answers = await Promise.allSettled([
      ...[add('9', 1), add('9', 2)],
      ...Array.from({ length: 5 }, () => db.write('9', broken)),
      add('9', 3),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status === 'fulfilled'),
      [true, true, ...Array(5).fill(false), true],
    )
    await add('9', 4)
    assert.deepEqual(await kept('9'), ['1', '2', '3', '4'])
  })

  test('where nearly all are refused, the rest is kept', async () => {
    const writes = Array.from({ length: 150 }, (_, n) =>
      n % 10 ? db.write('2', [of(divided, '2', '0')]) : add('2', n),
    )
    const answers = await Promise.allSettled(writes)
    for (const [n, answer] of answers.entries())
      assert.equal(answer.status === 'fulfilled' ? null : answer.reason.code, n % 10 ? '22012' : null)
    assert.equal((await kept('2')).length, 15)
  })

  test("one account's refusals are nothing to another, and nobody waits behind another's many", async () => {
    // On a server each account has a connection of its own: opening it may take longer than many writes.
    await Promise.all([4, 5, 6, 7].map(account => db.write(`${account}`, [of('SELECT pg_sleep(0.2)')])))
    const order: string[] = []
    const noted = (account: string, asked: Promise<unknown>) => asked.finally(() => order.push(account))
    // The backends of a server share the processor as its system likes, so that theirs may be late.
    const [count, most] = where.url ? [900, 830] : [300, 100]
    const many = Array.from({ length: count }, (_, n) =>
      noted(
        '4',
        n % 3 ? add('4', n) : assert.rejects(db.write('4', [of(divided, '4', '0')]), { code: '22012' }),
      ),
    )
    const few = [5, 6, 7].map(account => noted(`${account}`, add(`${account}`, 1)))
    await Promise.all([...many, ...few])
    for (const account of ['5', '6', '7']) {
      assert.deepEqual(await kept(account), ['1'])
      assert.ok(order.indexOf(account) < most, `${order.indexOf(account)} before account ${account}`)
    }
    assert.equal((await kept('4')).length, (count / 3) * 2)
  })

  test('what is prepared survives a change of its table, in a group too', async () => {
    await db.query('CREATE TABLE shape (account bigint, n bigint)')
    const write = (n: number) =>
      db.write('3', [of('INSERT INTO shape VALUES (3, $1::bigint) RETURNING *', `${n}`)])
    for (let turn = 0; turn < 5; turn++) {
      const rows = await Promise.all(Array.from({ length: 30 }, (_, n) => write(100 * turn + n)))
      assert.deepEqual(
        rows.map(([row]) => row!.n),
        Array.from({ length: 30 }, (_, n) => `${100 * turn + n}`),
      )
      assert.equal(Object.keys(rows[0]![0]!).length, 2 + turn)
      await db.query(`ALTER TABLE shape ADD COLUMN c${turn} int`)
    }
    assert.equal((await db.query('SELECT count(*) AS n FROM shape'))[0]!.n, '150')
  })
}

async function shared(): Promise<void> {
  const db = await openDatabase({ ...timeouts(), log() {} })
  await db.query('CREATE TABLE kept (account bigint, n bigint, PRIMARY KEY (account, n))')
  const accounts = Array.from({ length: 100 }, (_, n) => `${n}`)
  const rows = await Promise.all(accounts.map(account => db.write(account, [of(insert, account, '1')])))
  // The first alone, 64, and the rest.
  assert.equal(new Set(rows.map(([row]) => row!.xmin)).size, 3)
  await db.close()
}

async function lost(): Promise<void> {
  const url = await createDatabase(server!.url)
  const open = () => openDatabase({ url, ...timeouts(), log() {} })
  const [db, other] = await Promise.all([open(), open()])
  await db.query('CREATE TABLE kept (account bigint, n bigint, PRIMARY KEY (account, n))')
  await db.query('INSERT INTO kept VALUES (1, 10)')
  await other.sql.begin(async tx => {
    // The third write waits for this one.
    await tx.query('DELETE FROM kept WHERE n = 10', [])
    const writes = [1, 2, 10, 3].map(n => db.write('1', [of(insert, '1', `${n}`)]))
    // The first goes alone, the others together.
    const settled = Promise.allSettled(writes)
    await writes[0]
    const waits = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await eventually(async () => (await tx.query(waits, [])).length > 0, 'a write that waits')
    const [, ...answers] = await settled
    for (const answer of answers)
      assert.ok(answer.status === 'rejected' && answer.reason instanceof DatabaseUnavailable)
  })
  const rows = await db.query('SELECT n FROM kept')
  assert.deepEqual(
    rows.map(row => row.n),
    ['1'],
  )
  await Promise.all([db.close(), other.close()])
  await dropDatabase(url)
}
