/**
 * Reads from a streaming replica (D172), on a real one: whoever has written reads what they wrote, others are
 * answered by the replica, and one that can't answer costs nobody an error.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { Dealwright } from '../../client/src/client.ts'
import { openDatabase } from '../../src/db/open.ts'
import { subscribe } from '../../src/diagnostics.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres, startReplica } from '../support/postgres.ts'
import { dealBody, type Reply, type Service, startService, v1 } from '../support/service.ts'
import { timeouts } from '../support/timeouts.ts'

const primary = await startPostgres(true)
const url = primary && (await createDatabase(primary.url))
const replica = primary && (await startReplica(primary.url))
const skip = replica === null && 'PostgreSQL is not installed'
const readUrl = url && at(replica!.url)
const lines: string[] = []
const log = pino({ level: 'warn' }, { write: line => void lines.push(JSON.parse(line).msg) })
const service = url ? await startService({ url, log, database: { readUrl, silenceMs: 5000 } }) : null
after(async () => {
  await replica?.stop()
  await primary?.stop()
})

/** The address of the database on that server. */
function at(server: string): string {
  const own = new URL(url!)
  own.port = new URL(server).port
  return own.href
}

/** Runs `act` while the replica takes over nothing. */
async function behind(act: () => Promise<void>): Promise<void> {
  await on(readUrl!, 'SELECT pg_wal_replay_pause()')
  await act().finally(() => on(readUrl!, 'SELECT pg_wal_replay_resume()'))
  await untilUsed()
}

/** Asks again where a replica cancels the statement for what it replays, as after a long pause. */
function on(address: string, text: string): Promise<pg.QueryResult> {
  return eventually(async () => {
    const client = new pg.Client({ connectionString: address })
    try {
      await client.connect()
      return await client.query(text)
    } catch (error) {
      if ((error as pg.DatabaseError).code === '40001') return null
      throw error
    } finally {
      await client.end()
    }
  }, text)
}

/** Waits until the replica has all that the primary has, the background jobs of the start included. */
async function caughtUp(): Promise<void> {
  const isSettled = 'SELECT settled_version = catalog_version AS is_settled FROM account'
  await eventually(async () => (await on(url!, isSettled)).rows[0].is_settled, 'an end of the jobs')
  const { rows } = await on(url!, 'SELECT pg_current_wal_lsn() AS lsn')
  const isThere = `SELECT pg_last_wal_replay_lsn() >= '${rows[0].lsn}' AS is_there`
  await eventually(async () => (await on(readUrl!, isThere)).rows[0].is_there, 'a replica with all of it')
}

/** The outcomes of the reads of `act` on the replica. */
async function outcomesOf(act: () => Promise<unknown>): Promise<string[]> {
  const found: string[] = []
  const end = subscribe('replica-read', ({ outcome }) => found.push(outcome))
  await act().finally(end)
  return found
}

/** Repeats reads until the replica answers one. */
async function untilUsed(): Promise<void> {
  await eventually(async () => (await outcomesOf(() => list())).includes('answered'), 'an answer by it')
}

async function list(filter = ''): Promise<Reply> {
  const reply = await service!.get(`${v1}/deal/view/list?count=none&filter=${encodeURIComponent(filter)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply
}

const titled = (reply: Reply) => reply.body.data.map(({ title }: { title: string }) => title).join()

describe('reads from a replica', { skip }, () => {
  const { call, get, made, known, another, aSecondGoesBy } = service as Service

  test('lists, searches, sums and reports are answered by it', async () => {
    const deal = await made('deal', dealBody(known, { title: 'As replicated' }))
    await caughtUp()
    await untilUsed()
    await behind(async () => {
      // A change that no event tells: only the primary has it.
      await on(
        url!,
        `UPDATE deal SET document = replace(document, 'As replicated', 'As written'), title = 'As written'
        WHERE id = ${deal.id}`,
      )
      const outcomes = await outcomesOf(async () => {
        assert.equal(titled(await list(`id:eq(${deal.id})`)), 'As replicated')
        const searched = await call('POST', `${v1}/deal/view/list`, { filter: `id:eq(${deal.id})` })
        assert.equal(titled(searched), 'As replicated')
        const found = await get(`${v1}/search?q=replicated`)
        assert.equal(found.body.data.length, 1, found.text)
        for (const path of ['aggregate?group_by=status', 'view/board', 'funnel']) {
          const answer = await get(`${v1}/deal/${path}`)
          assert.equal(answer.status, 200, answer.text)
        }
      })
      assert.ok(outcomes.length > 5)
      assert.deepEqual(new Set(outcomes), new Set(['answered']))
      assert.equal((await get(`${v1}/deal/${deal.id}`)).body.data.title, 'As written')
      // Configuration and what has no event stay on the primary.
      const others = ['token', 'role', 'pipeline', 'webhook'].map(name => get(`${v1}/${name}/view/list`))
      assert.deepEqual(await outcomesOf(() => Promise.all(others)), [])
    })
  })

  test('one that hangs, is killed, stops and comes back costs no error, and the log says so once', async () => {
    for (const [end, comeBack] of [
      [async () => replica!.pause(), async () => replica!.resume()],
      [() => replica!.kill9(), () => replica!.restart()],
      [() => replica!.halt(), () => replica!.restart()],
    ] as const) {
      // One that is not asked would be missed by nobody.
      await untilUsed()
      lines.length = 0
      await end()
      const read = async () => {
        for (let count = 0; count < 100; count++) await list()
      }
      try {
        await read()
        const areElsewhere = async () => (await outcomesOf(() => list())).every(one => one === 'unused')
        await eventually(areElsewhere, 'reads without it')
        const outcomes = await outcomesOf(read)
        assert.ok(!outcomes.includes('answered'), outcomes.join())
        // The first reads alone find that out.
        assert.ok(outcomes.filter(outcome => outcome === 'failed').length < 5, outcomes.join())
        // A read that fails says nothing: the next look does, once it has found the reason.
        await eventually(() => lines.some(line => line.includes('answers no reads')), 'a line of the log')
      } finally {
        await comeBack()
      }
      await untilUsed()
      const said = lines.filter(line => line.includes('reads'))
      assert.deepEqual(
        said.map(line => /answers (no reads|reads again)/.exec(line)?.[1]),
        ['no reads', 'reads again'],
        said.join('\n'),
      )
    }
  })

  test('whoever has written reads what they wrote, however far it is behind', async () => {
    const other = await another()
    await untilUsed()
    await behind(async () => {
      const stale: string[] = []
      const expect = (what: string, reply: Reply, titles: string) => {
        assert.equal(reply.status, 200, reply.text)
        if (titled(reply) !== titles) stale.push(what)
      }
      const outcomes = await outcomesOf(async () => {
        for (let round = 0; round < 60; round++) {
          const [title, later] = [`Own ${round}`, `Own later ${round}`]
          const made = await call('POST', `${v1}/deal`, dealBody(known, { title }))
          const [{ id }, seq] = [made.body.data, made.headers.get('dealwright-seq')!]
          const one = `${v1}/deal/view/list?filter=id:eq(${id})`
          expect('a new record in a list', await get(one), title)
          expect(
            'with the header elsewhere',
            await other.call('GET', one, undefined, { 'dealwright-seq': seq }),
            title,
          )
          await call('PATCH', `${v1}/deal/${id}`, { title: later })
          expect('a change in a list', await get(one), later)
          const found = await get(`${v1}/search?q=${encodeURIComponent(later)}&resources=deal`)
          if (found.body.data[0]?.id !== id) stale.push('a change in a search')
          const sum = await get(`${v1}/deal/aggregate?filter=title:eq(${encodeURIComponent(later)})`)
          if (sum.body.data[0]?.count !== 1) stale.push(`a change in a sum ${sum.text}`)
          await call('DELETE', `${v1}/deal/${id}`)
          expect('a deletion in a list', await get(one), '')
          const operations = [{ op: 'create', data: { name: `Own ${round}` } }]
          await call('POST', `${v1}/product/batch`, { operations })
          const products = await get(`${v1}/product/view/list?filter=name:eq(${encodeURIComponent(title)})`)
          if (products.body.data.length !== 1) stale.push('a batch in a list')
        }
      })
      assert.deepEqual(stale, [])
      assert.ok(outcomes.includes('behind') && !outcomes.includes('answered'))
      // The look-up of a caller tells what others have written.
      const unseen = await made('deal', dealBody(known, { title: 'By another process' }))
      aSecondGoesBy()
      assert.equal(titled(await other.get(`${v1}/deal/view/list?filter=id:eq(${unseen.id})`)), unseen.title)
    })
  })
  test('while records are brought in line with the configuration, it answers none', async () => {
    const { id } = await made('deal', dealBody(known, { title: 'Of the former rate' }))
    await caughtUp()
    const follow = (by: number) =>
      on(url!, `UPDATE account SET derived_version = derived_version + ${by} WHERE account_id = 1`)
    // A rate has changed, and the replica has that, but not all that follows.
    await follow(-1)
    await caughtUp()
    await behind(async () => {
      await on(
        url!,
        `UPDATE deal SET document = replace(document, 'former', 'new'), title = 'Of the new rate' WHERE id = ${id}`,
      )
      assert.equal(titled(await list(`id:eq(${id})`)), 'Of the new rate')
      await follow(1)
    })
  })

  test('the client passes on what it knows, from process to process', async () => {
    const other = await another()
    const reads = new Set<string>()
    // Its writes go to one process, and its reads to another, which does not hear of them for a second.
    const client = new Dealwright({
      ...{ url: service!.url, token: service!.token },
      fetch: (input, init) => {
        const isRead = init?.method === 'GET'
        if (isRead) reads.add(new Headers(init.headers).get('dealwright-seq') ?? 'none')
        return fetch(String(input).replace(service!.url, isRead ? other.url : service!.url), init)
      },
    })
    const read = async () => (await client.product.page({ filter: 'name:like(Passed on)' })).data.length
    assert.equal(await read(), 0)
    await behind(async () => {
      for (let count = 1; count <= 20; count++) {
        await client.product.create({ name: `Passed on ${count}` })
        assert.equal(await read(), count)
      }
    })
    assert.equal(reads.size, 21)
    // The seq of an event that others may know.
    const [{ seq }] = (await get(`${v1}/event?limit=1`)).body.data
    client.atLeast(seq + 1_000_000)
    assert.deepEqual(new Set(await outcomesOf(read)), new Set(['behind']))
  })

  test('a write whose seq can’t be read shows in another process, too', async () => {
    const other = await another()
    const all = `${v1}/deal/view/list?filter=title:eq(Unread)`
    await behind(async () => {
      // Both processes look the caller up just before.
      aSecondGoesBy()
      await get(all)
      assert.equal(titled(await other.get(all)), '')
      await on(url!, 'ALTER TABLE token RENAME TO away')
      const write = await call('POST', `${v1}/deal`, dealBody(known, { title: 'Unread' }))
      await on(url!, 'ALTER TABLE away RENAME TO token')
      assert.deepEqual([write.status, write.headers.get('dealwright-seq')], [201, null], write.text)
      assert.equal(titled(await other.get(all)), 'Unread')
    })
  })

  test('a new field and a revoked token hold at once', async () => {
    await behind(async () => {
      const field = { source: 'deal', field_name: 'Replicated', type: 'TEXT' }
      const { body, status } = await call('POST', `${v1}/field`, field)
      assert.equal(status, 201)
      const name = body.data.internal_name
      const deal = await made('deal', dealBody(known, { [name]: 'here' }))
      assert.deepEqual(
        (await list(`${name}:eq(here)`)).body.data.map(({ id }: { id: number }) => id),
        [deal.id],
      )
      const token = await call('POST', `${v1}/token`, { name: 'Soon revoked', scopes: ['deal:read'] })
      const headers = { authorization: `Bearer ${token.body.data.token}` }
      const path = `${v1}/deal/view/list`
      assert.equal((await call('GET', path, undefined, headers)).status, 200)
      await call('DELETE', `${v1}/token/${token.body.data.id}`)
      aSecondGoesBy()
      assert.equal((await call('GET', path, undefined, headers)).status, 401)
    })
  })

  test('pages and a past day are read as ever', async () => {
    for (const query of ['pageSize=3&sort=created_at:desc&count=exact', 'pageSize=3&as_of=2026-06-01']) {
      const first = await get(`${v1}/deal/view/list?${query}`)
      assert.equal(first.status, 200, first.text)
      const { total, nextCursor } = first.body.meta
      const cursor = nextCursor && encodeURIComponent(nextCursor)
      const seen = cursor ? await get(`${v1}/deal/view/list?${query}&cursor=${cursor}`) : first
      assert.equal(seen.status, 200, seen.text)
      assert.equal(typeof total, 'number')
    }
  })

  test('a Dealwright-Seq that is none is refused', async () => {
    const reply = await call('GET', `${v1}/deal/view/list`, undefined, { 'dealwright-seq': '-1' })
    assert.deepEqual([reply.status, reply.body.type], [400, '/docs/errors#malformed_request'], reply.text)
    // Nobody has that event, so the primary answers.
    const path = `${v1}/deal/view/list`
    const far = () => call('GET', path, undefined, { 'dealwright-seq': '999999999999999' })
    assert.deepEqual(await outcomesOf(far), ['behind', 'behind'])
  })

  test('a statement that the replica cancels is repeated on the primary', async () => {
    await on(readUrl!, 'ALTER SYSTEM SET max_standby_streaming_delay = 0')
    await on(readUrl!, 'SELECT pg_reload_conf()')
    const isCurrent = { text: 'SELECT 1', values: [] }
    const asked = `SELECT pg_is_in_recovery()::text AS replica,
      pg_sleep(CASE WHEN pg_is_in_recovery() THEN 60 ELSE 0 END)::text FROM tag LIMIT 1`
    const running = "SELECT count(*) > 0 AS is_running FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    // A clean-up of the primary may end it before it is seen: then it is asked again.
    const seen = async () => {
      const answer = service!.db.inTurn({ account: '1', isCurrent }).query(asked)
      let isOver = false
      void answer.then(() => {
        isOver = true
      })
      const isSeen = await eventually(async () => {
        const isRunning = (await on(readUrl!, running)).rows[0].is_running
        return (isRunning || isOver) && { isRunning }
      }, 'a statement on the replica')
      return isSeen.isRunning && { answer }
    }
    for (const [address, end] of [
      [url!, 'BEGIN; LOCK TABLE tag IN ACCESS EXCLUSIVE MODE; COMMIT'],
      [readUrl!, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"],
    ] as const) {
      const { answer } = await eventually(seen, 'a statement that runs on the replica')
      await on(address!, end)
      assert.equal((await answer)[0]!.replica, 'false')
    }
    // It is used as before.
    await untilUsed()
  })

  test('one that is promoted is no longer used', async () => {
    lines.length = 0
    await on(readUrl!, 'SELECT pg_promote()')
    const isRead = async (title: string) => {
      await made('deal', dealBody(known, { title }))
      assert.equal(titled(await list(`title:eq(${title})`)), title)
    }
    await isRead('At the promotion')
    await eventually(async () => (await outcomesOf(() => list())).at(-1) === 'unused', 'reads without it')
    await isRead('After the promotion')
    assert.match(lines.find(line => line.includes('reads'))!, /it is no replica, or no longer one/)
  })
})

describe('a start with a replica', { skip }, () => {
  const opened = (readUrl: string, log: (line: string) => void = () => {}) =>
    openDatabase({ url: url!, readUrl, ...timeouts(), log })

  test('another database is refused, in one line that says what to do', async () => {
    const cluster = await startPostgres(true)
    try {
      for (const other of [cluster!.url, await createDatabase(primary!.url)])
        await assert.rejects(opened(other), {
          name: 'StartupError',
          message: /^[^\n]* is no replica of DATABASE_URL but another database\. Let DATABASE_READ_URL name/,
        })
    } finally {
      await cluster!.stop()
    }
    const missing = new URL(readUrl!)
    missing.pathname = '/nothing'
    await assert.rejects(opened(missing.href), {
      name: 'StartupError',
      message: /DATABASE_READ_URL .*nothing/,
    })
  })

  test('the primary in its place is not used, and one that is not there is awaited', async () => {
    for (const [place, why] of [
      [url!, /it is no replica/],
      [url!.replace(/:\d+\//, ':1/'), /ECONNREFUSED/],
    ] as const) {
      const said: string[] = []
      const db = await opened(place, line => void said.push(line))
      const read = db.inTurn({ account: '1', isCurrent: { text: 'SELECT 1', values: [] } })
      assert.deepEqual(await outcomesOf(() => read.query('SELECT 1')), ['unused'])
      await eventually(() => said.length > 0, 'a line about it')
      await db.close()
      assert.equal(said.length, 1)
      assert.match(said[0]!, why)
    }
  })
})
