/**
 * The background jobs take turns (D109): a thousand changes of one account delay no other, and none gets
 * lost.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { createField } from '../../src/configuration/administer.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { keepInboxes } from '../../src/inbox/follow.ts'
import { statementsOf } from '../../src/mergeable-write.ts'
import { workOn } from '../../src/records/work.ts'
import { updateRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { KeyedMutex } from '../../src/waiting/keyed-mutex.ts'
import { BackgroundJobs } from '../../src/work/background/background-jobs.ts'
import { watchChanges } from '../../src/work/background/changes.ts'
import { byQueries } from '../support/by-queries.ts'
import { eventually } from '../support/eventually.ts'
import { startedDatabase } from '../support/prepared.ts'
import { startService } from '../support/service.ts'
import { timeouts } from '../support/timeouts.ts'

const { db } = await startService({ sampleData: false })
const tx = byQueries(db)
const newAccount = async (name: string) => {
  const { account } = await createAccount(tx, { name, ownerName: name, ownerEmail: `${name}@example.com` })
  return account
}
const [a, b, c, d] = [
  await newAccount('A'),
  await newAccount('B'),
  await newAccount('C'),
  await newAccount('D'),
]

/** Something is changed that derived values follow from. */
const changed = (account: number) =>
  db.query('UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = $1::bigint', [
    String(account),
  ])

async function versionOf(account: number, of: string): Promise<number> {
  const [row] = await db.query(
    `SELECT ${of}::text AS version FROM account JOIN counter USING (account_id) WHERE account_id = $1::bigint`,
    [String(account)],
  )
  return Number(row!.version)
}

/**
 * The jobs of a real database; records the order of the accounts whose deals were updated. `before` may
 * delay one. `alone`: another database, for which they do what they are woken for and nothing else.
 */
function watched(before: (account: number) => Promise<void> = async () => {}, alone?: Database) {
  const of = alone ?? db
  const passes: number[] = []
  const query: Database['query'] = async (text, params = [], replan) => {
    if (text.includes('"stage_probability"')) {
      passes.push(Number(params[0]))
      await before(Number(params[0]))
    }
    return of.query(text, params, replan)
  }
  const jobs = new BackgroundJobs({
    db: { ...of, query },
    resources,
    now: () => new Date(),
    log: () => {},
    retentionDays: 30,
    ...(alone && { whenLeading: () => {} }),
  })
  after(() => jobs.stop())
  return { jobs, passes, count: (account: number) => passes.filter(other => other === account).length }
}

test('many changes of one account are few passes, and another waits for one of them at most', async () => {
  const { jobs, passes, count } = watched()
  const many = Array.from({ length: 500 }, () => jobs.wake(a))
  const others = [b, c, d].map(account => jobs.wake(account))
  many.push(...Array.from({ length: 500 }, () => jobs.wake(a)))
  await Promise.all(others)
  for (const account of [b, c, d]) {
    const before = passes.slice(0, passes.indexOf(account))
    assert.ok(before.filter(other => other === a).length <= 2, passes.join())
  }
  await Promise.all(many)
  // The running one, one for all the changes, and that of the start.
  assert.ok(count(a) <= 3, passes.join())
})

test('while one account takes very long, others are looked after', async () => {
  const held = Promise.withResolvers<void>()
  const { jobs, count } = watched(account => (account === a ? held.promise : Promise.resolve()))
  const long = jobs.wake(a)
  await Promise.all([b, c, d, b].map(account => jobs.wake(account)))
  assert.deepEqual([a, c, d].map(count), [1, 1, 1])
  held.resolve()
  await long
})

test('a change that comes during the pass of its account gets one of its own', async () => {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { jobs, count } = watched(async () => {
    begun.resolve()
    await held.promise
  })
  const first = jobs.wake(a)
  await begun.promise
  const [second, third] = [jobs.wake(a), jobs.wake(a)]
  held.resolve()
  await first
  await Promise.all([second, third])
  assert.equal(count(a), 2)
})

test('when no process remembers the old configuration any more, the jobs are done', async () => {
  const { jobs } = watched()
  await changed(b)
  await jobs.wake(b)
  const isDone = async () => {
    const text =
      'SELECT (settled_version = catalog_version)::text AS is_done FROM account WHERE account_id = $1::bigint'
    return (await db.query(text, [String(b)]))[0]!.is_done === 'true'
  }
  assert.equal(await isDone(), false)
  await eventually(isDone, 'an end of the jobs', 50)
})

test('a change that the jobs could not follow is followed again', async () => {
  const followed: number[] = []
  await changed(c)
  const watch = watchChanges(db, account => followed.push(account), 20)
  await eventually(() => followed.filter(account => account === c).length > 2, 'a third attempt')
  await watch.stop()
})

test('changes that keep coming do not postpone the end of older configurations (D115)', async () => {
  const { jobs } = watched()
  const first = await versionOf(d, 'catalog_version')
  const isEnded = async () => {
    await changed(d)
    await jobs.wake(d)
    return (await versionOf(d, 'settled_version')) > first
  }
  await eventually(isEnded, 'an end of an older configuration', 300)
  assert.ok((await versionOf(d, 'oldest_version')) > first)
})

test('a change of fields compares no record with stages and rates; one of a stage does (D109)', async t => {
  // A service would follow each change two seconds later.
  const { location } = await startedDatabase(false)
  const own = await openDatabase({ ...location, ...timeouts(), log: () => {} })
  t.after(() => own.close())
  const { jobs, count } = watched(undefined, own)
  const is = async (equality: string) => {
    const [row] = await own.query(`SELECT (${equality})::text AS yes FROM account WHERE account_id = 1`)
    return row!.yes === 'true'
  }
  const isDerived = () => is('derived_version = catalog_version')
  const areDone = () => is('settled_version = catalog_version')
  await jobs.wake(1)
  await eventually(areDone, 'an end of the jobs')
  const before = count(1)
  const [loadLatest, mutex] = [() => loadCatalog(own, resources, 1), new KeyedMutex<number>('configuration')]
  const addField = (field_name: string) =>
    createField(
      { db: own, account: 1, actor: 1, loadCatalog: loadLatest, mutex },
      { source: 'deal', field_name, type: 'SINGLE_STRING' },
    )
  await addField('Region')
  assert.ok(await isDerived())
  await jobs.wake(1)
  await eventually(areDone, 'an end of the jobs of a field')
  assert.equal(count(1), before)
  const [stage] = await own.query(
    `SELECT id::text, (probability + 1)::text AS more FROM pipeline_stage WHERE account_id = 1 AND kind = 1`,
  )
  const work = workOn(own, { catalog: await loadLatest(), actor: 1 }, 'pipeline_stage')
  await updateRecord(work, Number(stage!.id), { probability: Number(stage!.more) })
  assert.equal(await isDerived(), false)
  await addField('Season')
  assert.equal(await isDerived(), false)
  await jobs.wake(1)
  assert.ok(count(1) > before)
  await eventually(isDerived, 'an end of the jobs of a stage')
})

test('a stop waits for the pass under way, and nothing is asked of the database after it', async () => {
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let asked = 0
  const { jobs } = watched(async () => {
    begun.resolve()
    await held.promise
    asked++
  })
  await changed(a)
  void jobs.wake(a)
  await begun.promise
  let isStopped = false
  const stopped = jobs.stop().then(() => {
    isStopped = true
  })
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(isStopped, false)
  held.resolve()
  await stopped
  assert.equal(asked, 1)
})

test('an account with nothing to do costs a dozen statements a round, none of which takes its lock', async () => {
  const idle = await newAccount('Idle')
  // The first round after a change follows it, and the first one looks at the events of its inboxes.
  await keepInboxes(db, idle)
  const settled = `SELECT settled_version = catalog_version AS is_settled FROM account WHERE account_id = $1::bigint`
  await db.query('UPDATE account SET settled_version = catalog_version')
  assert.equal((await db.query(settled, [`${idle}`]))[0]!.is_settled, 't')
  const asked: string[] = []
  const query: Database['query'] = (text, params = [], replan) => {
    if (params[0] === `${idle}`) asked.push(text)
    return db.query(text, params, replan)
  }
  const write: Database['write'] = (account, content) => {
    const statements = statementsOf(content)
    if (account === `${idle}`) asked.push(...statements.map(({ text }) => text))
    return db.write(account, statements)
  }
  const round = { resources, now: () => new Date(), log: () => {}, retentionDays: 30 }
  const jobs = new BackgroundJobs({ ...round, db: { ...db, query, write } })
  // The last of its jobs but one, which looks for indexes.
  await eventually(() => asked.some(text => text.includes('FROM job j')), 'a look for indexes')
  await jobs.stop()
  assert.ok(asked.length <= 11, `${asked.length}: ${asked.join('\n')}`)
  assert.deepEqual(
    asked.filter(text => text.includes('FOR UPDATE')),
    [],
  )
})

test('of several processes one looks after an account each hour; a start looks after all', async () => {
  const [own, others] = [await newAccount('Own'), await newAccount('Others')]
  await db.query('UPDATE account SET settled_version = catalog_version')
  let rounds = 0
  const passes: number[] = []
  const query: Database['query'] = (text, params = [], replan) => {
    if (text.includes('ORDER BY account_id')) rounds++
    if (text.includes('FROM job j')) passes.push(Number(params[0]))
    return db.query(text, params, replan)
  }
  const options = { resources, now: () => new Date(), log: () => {}, retentionDays: 30, everyMs: 100 }
  const jobs = new BackgroundJobs({ ...options, db: { ...db, query } })
  await eventually(() => passes.includes(own) && passes.includes(others), 'a look after both')
  // Another process looks after all accounts from now on.
  await db.query("UPDATE account SET looked_after_at = now() + interval '1 hour'")
  const taken = async () => {
    const ids = await db.query('SELECT account_id::text AS id FROM account WHERE looked_after_at <= now()')
    return ids.map(({ id }) => Number(id))
  }
  const begun = rounds
  await eventually(() => rounds >= begun + 3, 'three rounds')
  assert.deepEqual(await taken(), [])
  // It no longer looks after one of them.
  await db.query("UPDATE account SET looked_after_at = '-infinity' WHERE account_id = $1::bigint", [`${own}`])
  const left = "SELECT 1 AS one FROM account WHERE looked_after_at = '-infinity'"
  await eventually(async () => (await db.query(left)).length === 0, 'a look after the one that is left')
  assert.deepEqual(await taken(), [own])
  await jobs.stop()
})

test('a change that no process was told of, as by a command, is followed within seconds', async () => {
  const account = await newAccount('Commanded')
  const isSettled = async () => {
    const text =
      'SELECT 1 AS one FROM account WHERE account_id = $1::bigint AND settled_version = catalog_version'
    return (await db.query(text, [`${account}`])).length > 0
  }
  // The jobs of the service, which begin anew within the hour only.
  await db.query(
    `UPDATE account SET looked_after_at = now(), settled_version = catalog_version WHERE account_id = $1::bigint`,
    [`${account}`],
  )
  await changed(account)
  assert.equal(await isSettled(), false)
  await eventually(isSettled, 'the jobs of a change')
})
