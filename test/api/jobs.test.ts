/** Jobs (D84) and bulk changes (D82): start, dry run, pause, cancel and revert. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Callers } from '../../src/accounts/callers.ts'
import { DatabaseUnavailable, DiskFull } from '../../src/db/unavailable.ts'
import { busy, Refusal } from '../../src/errors.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { claim } from '../../src/work/jobs/progress.ts'
import { carryOutStep } from '../../src/work/jobs/steps.ts'
import { begin, readJob } from '../../src/work/jobs/store.ts'
import { isTransient } from '../../src/work/jobs/worker.ts'
import { eventually } from '../support/eventually.ts'
import { onServer, whileItWaits } from '../support/held-lock.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db, known, made } = service

const ended = (id: number) =>
  eventually(async () => {
    const { data } = (await get(`${v1}/job/${id}`)).body
    return data.state !== 'running' && data
  }, 'an end of the job')
const bulk = (resource: string, body: Json, query = '') =>
  call('POST', `${v1}/${resource}/bulk${query}`, body)
const count = async (filter: string) =>
  (await get(`${v1}/product/view/list?pageSize=1&count=exact&filter=${filter}`)).body.meta.total

const operations = Array.from({ length: 120 }, (_, index) => ({
  op: 'create',
  data: { name: `Bulk ${index}`, quantity_in_stock: index % 3 },
}))
assert.equal((await call('POST', `${v1}/product/batch`, { operations })).body.meta.failed, 0)

test('changes all that the filter finds, and takes it back', async () => {
  const asked = await bulk('product', { filter: 'name:like(Bulk )', changes: { quantity_in_stock: 2 } })
  assert.equal(asked.status, 201, asked.text)
  assert.equal(asked.body.data.total, 120)
  const done = await ended(asked.body.data.id)
  assert.deepEqual([done.state, done.phase, done.done, done.error], ['done', 'run', 120, null])
  assert.deepEqual([done.updated, done.unchanged, done.refused], [80, 40, 0])
  assert.equal(await count('name:like(Bulk ),quantity_in_stock:eq(2)'), 120)
  // Its events name the job, in the history and in the feed.
  const [first] = (await get(`${v1}/product/view/list?filter=name:eq(Bulk 0)`)).body.data
  const told = (await get(`${v1}/product/${first.id}/history`)).body.data
  assert.deepEqual(
    told.map(({ actor }: { actor: { job?: object } }) => actor.job),
    [{ id: done.id }, undefined],
  )
  const fed = await get(`${v1}/event?resource=product&after=${told[0].seq - 1}&limit=1`)
  assert.deepEqual(fed.body.data[0].actor, told[0].actor)
  // Another caller changes one of them meanwhile: it stays, and is named.
  const [one] = (await get(`${v1}/product/view/list?filter=name:eq(Bulk 0)`)).body.data
  await call('PATCH', `${v1}/product/${one.id}`, { quantity_in_stock: 77 })
  const read = (await readJob(db, { account: 1, id: done.id }, null))!
  const reverted = await call('POST', `${v1}/job/${done.id}/revert`)
  assert.equal(reverted.status, 200, reverted.text)
  const back = await ended(done.id)
  // Another request that has read the job before reverts it no second time, and clears nothing.
  const position = Number.MAX_SAFE_INTEGER
  assert.equal(await begin(db, read, ['done'], 'revert', { position, total: 80 }, read), null)
  assert.deepEqual(await ended(done.id), back)
  assert.deepEqual([back.state, back.phase, back.reverted, back.refused], ['done', 'revert', 79, 1])
  assert.equal(back.problems[0].problems[0].id, one.id)
  assert.equal(await count('name:like(Bulk ),quantity_in_stock:eq(0)'), 39)
  assert.equal((await get(`${v1}/product/${one.id}`)).body.data.quantity_in_stock, 77)
  // A second run retries the refused records, and adds to the counts.
  const again = async () => {
    const reply = await call('POST', `${v1}/job/${done.id}/revert`)
    return reply.status === 200 ? ended(done.id) : reply.body
  }
  const refused = await again()
  assert.deepEqual([refused.total, refused.reverted, refused.refused], [1, 79, 1])
  await call('PATCH', `${v1}/product/${one.id}`, { quantity_in_stock: 2 })
  const taken = await again()
  assert.deepEqual([taken.done, taken.reverted, taken.refused, taken.problems], [1, 80, 0, []])
  assert.deepEqual([taken.result.revert.reverted, taken.result.revert.refused], [80, 0])
  assert.equal(await count('name:like(Bulk ),quantity_in_stock:eq(0)'), 40)
  assert.match((await again()).detail, /it was taken back/)
})

test('takes back single changes in several steps, each once', async () => {
  const many = Array.from({ length: 200 }, (_, index) => ({
    op: 'create',
    data: { name: `Single ${index}` },
  }))
  assert.equal((await call('POST', `${v1}/product/batch`, { operations: many })).body.meta.failed, 0)
  const asked = await bulk('product', { filter: 'name:like(Single )', changes: { quantity_in_stock: 4 } })
  const done = await ended(asked.body.data.id)
  assert.equal((await call('POST', `${v1}/job/${done.id}/revert`)).status, 200)
  const back = await ended(done.id)
  assert.deepEqual(
    [back.state, back.done, back.total, back.reverted, back.refused],
    ['done', 200, 200, 200, 0],
  )
  assert.equal(await count('name:like(Single ),quantity_in_stock:eq(4)'), 0)
})

const lastSeq = async () =>
  (await db.query('SELECT last_seq::text AS n FROM counter WHERE account_id = 1'))[0]!.n

test('tries a change that could be made, then makes it', async () => {
  const before = await lastSeq()
  const asked = await bulk(
    'product',
    { filter: ['name:like(Bulk 1)'], changes: { quantity_in_stock: 9 } },
    '?dry_run=1',
  )
  const { id, total } = asked.body.data
  const tried = await ended(id)
  assert.deepEqual([tried.state, tried.phase, tried.updated], ['waiting', 'dry_run', total])
  assert.equal(await count('quantity_in_stock:eq(9)'), 0)
  assert.equal(await lastSeq(), before)
  assert.equal((await call('POST', `${v1}/job/${id}/run`)).status, 200)
  assert.equal((await ended(id)).updated, total)
  assert.equal(await count('quantity_in_stock:eq(9)'), total)
  const again = await call('POST', `${v1}/job/${id}/run`)
  assert.deepEqual([again.status, again.body.type], [409, '/docs/errors#wrong_state'])
})

test('a job waits while its account is deleted, and goes on after a restoration', async () => {
  const changes = { quantity_in_stock: 8 }
  const asked = await bulk('product', { filter: 'name:like(Bulk 2)', changes }, '?dry_run=1')
  const { id } = await ended(asked.body.data.id)
  await db.query('UPDATE account SET deleted_at = now() WHERE account_id = 1')
  await db.query(`UPDATE job SET state = 'running', phase = 'run', lease = 'a test', leased_until = 'infinity'
    WHERE account_id = 1 AND id = ${id}`)
  const job = (await claim(db, { account: 1, id }, 'a test'))!
  const callers = new Callers(db, resources, () => performance.now())
  const means = { db, callers, now: () => new Date(), retentionDays: 30 }
  assert.equal(await carryOutStep(means, { job, size: null }, 'a test'), null)
  const [stored] = await db.query(`SELECT state FROM job WHERE account_id = 1 AND id = ${id}`)
  assert.equal(stored!.state, 'running')
  await db.query('UPDATE account SET deleted_at = NULL WHERE account_id = 1')
  const done = await ended(id)
  assert.deepEqual([done.state, done.updated], ['done', done.total])
})

test('a job waits out what others do and what ails the database, and no fault of its own', () => {
  const coded = (code: string) => Object.assign(new Error('refused'), { code })
  for (const error of [new DiskFull(), new DatabaseUnavailable('away'), busy('Locked.'), coded('55P03')])
    assert.equal(isTransient(error), true, error.message)
  for (const error of [
    new Refusal('forbidden', 'No.'),
    coded('23514'),
    coded('57014'),
    new TypeError('fault'),
  ])
    assert.equal(isTransient(error), false, error.message)
})

test('all records are changed by the word for it alone', async () => {
  const asked = await bulk('tag', { filter: 'all', changes: { name: 'One name' } }, '?dry_run=1')
  assert.equal(asked.status, 201, asked.text)
  const tags = (await get(`${v1}/tag/view/list?count=exact&pageSize=1`)).body.meta.total
  assert.equal((await ended(asked.body.data.id)).total, tags)
})

test('an amount without its currency keeps that of each record', async () => {
  const ids: number[] = []
  for (const currency of ['EUR', 'USD'])
    ids.push((await made('deal', dealBody(known, { deal_value: { currency, value: 1 } }))).id)
  const changes = { deal_value: { value: 500 } }
  const asked = await bulk('deal', { filter: `id:in(${ids.join()})`, changes })
  assert.equal(asked.status, 201, asked.text)
  assert.equal((await ended(asked.body.data.id)).updated, 2)
  const { data } = (await get(`${v1}/deal/view/list?filter=id:in(${ids.join()})&sort=id:asc`)).body
  assert.deepEqual(
    data.map(({ deal_value }: { deal_value: { value: number; currency_code: string } }) => [
      deal_value.value,
      deal_value.currency_code,
    ]),
    [
      [500, 'EUR'],
      [500, 'USD'],
    ],
  )
})

test('what is no bulk change is refused', async () => {
  const seq = await lastSeq()
  for (const [body, path] of [
    [[], ''],
    [{}, '/changes'],
    [{ changes: {} }, '/changes'],
    [{ filter: 7, changes: { name: 'x' } }, '/filter'],
    [{ changes: { name: 'x' } }, '/filter'],
    ...([null, '', ' ', [], [''], ['id:eq(1)', '']].map(filter => [
      { filter, changes: { name: 'x' } },
      '/filter',
    ]) as [Json, string][]),
    [{ changes: { nothing: 1 } }, '/changes/nothing'],
    [{ filter: 'all', changes: { 'a/b': 1 } }, '/changes/a~1b'],
    [{ filter: 'all', changes: { 'a~b': 1 } }, '/changes/a~0b'],
    [{ changes: { quantity_in_stock: 'many' } }, '/changes/quantity_in_stock'],
    [{ changes: { name: 'x' }, more: 1 }, '/more'],
    [{ changes: { name: '' }, more: 1 }, '/more'],
    [{ changes: { name: '' }, more: 1 }, '/changes/name'],
    [{ changes: { name: '' } }, '/changes/name'],
    [{ changes: { name: 'x', updated_at: '2024-01-01T00:00:00Z' } }, '/changes/updated_at'],
  ] as [Json, string][]) {
    const reply = await bulk('product', body)
    assert.equal(reply.status, 422, reply.text)
    assert.ok(
      reply.body.errors.some((problem: { path: string }) => problem.path === path),
      reply.text,
    )
  }
  assert.equal(await lastSeq(), seq)
  assert.equal((await bulk('product', { filter: ['all', 'id:eq(1)'], changes: { name: 'x' } })).status, 400)
  const unknown = await bulk('product', { filter: 'nothing:eq(1)', changes: { name: 'x' } })
  assert.deepEqual([unknown.status, unknown.body.errors[0].path], [400, '/filter'])
  assert.equal((await get(`${v1}/job/999999`)).status, 404)
  const first = (await get(`${v1}/job?pageSize=1`)).body
  assert.equal(first.data.length, 1)
  assert.deepEqual((await get(`${v1}/job?pageSize=1&cursor=`)).body, first)
  for (const cursor of ['x', '0', '1.5']) {
    const { status, body } = await get(`${v1}/job?cursor=${cursor}`)
    assert.deepEqual(
      [status, body.errors[0].parameter, body.errors[0].code],
      [400, 'cursor', 'invalid_value'],
    )
  }
})

test('a change to a record that is not there is refused before any record is', async () => {
  const { id: deleted } = await made('user', { name: 'Gone', email: 'gone@example.com' })
  assert.equal((await call('DELETE', `${v1}/user/${deleted}`)).status, 200)
  const seq = await lastSeq()
  for (const [changes, path] of [
    [{ sales_owner: 999_999 }, '/changes/sales_owner'],
    [{ sales_owner: deleted }, '/changes/sales_owner'],
    [{ primary_contact: 999_999 }, '/changes/primary_contact'],
    [{ tags: [999_999] }, '/changes/tags/0'],
    [
      { deal_value: { products: [{ product: 999_999, quantity: 1 }] } },
      '/changes/deal_value/products/0/product',
    ],
  ] as [JsonObject, string][])
    for (const query of ['', '?dry_run=1']) {
      const reply = await bulk('deal', { filter: 'all', changes }, query)
      assert.equal(reply.status, 422, reply.text)
      const problems = reply.body.errors.map((one: JsonObject) => [one.path, one.code])
      assert.deepEqual(problems, [[path, 'reference_not_found']])
    }
  assert.equal(await lastSeq(), seq)
})

test('a change to an inactive user is left to each record, which may have them', async () => {
  const { id: inactive } = await made('user', { name: 'Away', email: 'away@example.com' })
  const deal = await made('deal', dealBody(known, { sales_owner: inactive }))
  assert.equal((await call('PATCH', `${v1}/user/${inactive}`, { is_active: false })).status, 200)
  const asked = await bulk('deal', { filter: `id:eq(${deal.id})`, changes: { sales_owner: inactive } })
  assert.equal(asked.status, 201, asked.text)
  const { unchanged, refused } = await ended(asked.body.data.id)
  assert.deepEqual([unchanged, refused], [1, 0])
})

test('the same request with its key makes one job, however often it comes', async () => {
  const key = { 'idempotency-key': 'bulk-1' }
  const body = { filter: 'name:eq(None)', changes: { quantity_in_stock: 1 } }
  const ask = (sent: Json = body) => call('POST', `${v1}/product/bulk`, sent, key)
  const asked = await Promise.all([ask(), ask(), ask()])
  const made = asked.filter(({ status }) => status === 201)
  assert.ok(made.length > 0 && asked.every(({ status }) => status === 201 || status === 409))
  const [id, ...others] = new Set(made.map(reply => reply.body.data.id))
  assert.deepEqual(others, [])
  await ended(id)
  const again = await ask()
  assert.deepEqual(again.body, made[0]!.body)
  assert.equal(again.headers.get('location'), `${v1}/job/${id}`)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal(
    (await ask({ ...body, filter: 'name:eq(Other)' })).body.type,
    '/docs/errors#idempotency_key_reused',
  )
})

test('an administrator takes back what somebody did who may not any more', async () => {
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const role = (
    await call('POST', `${v1}/role`, {
      name: 'Stock',
      scopes: ['product:read', 'product:write', 'job:write'],
    })
  ).body.data
  const user = (await call('POST', `${v1}/user`, { name: 'Cleo', email: 'cleo@example.com', role: role.id }))
    .body.data
  const { token } = (
    await call('POST', `${v1}/token`, { name: 'Theirs', scopes: role.scopes, user: user.id })
  ).body.data
  const body = { filter: 'name:eq(Bulk 5)', changes: { quantity_in_stock: 55 } }
  const asked = await call('POST', `${v1}/product/bulk`, body, as(token))
  assert.equal(asked.status, 201, asked.text)
  const { id } = asked.body.data
  assert.equal((await ended(id)).updated, 1)
  await call('PATCH', `${v1}/role/${role.id}`, { locked_fields: ['product.quantity_in_stock'] })
  const locked = await call('POST', `${v1}/product/bulk`, body, as(token))
  assert.deepEqual([locked.status, locked.body.errors?.[0].path], [422, '/changes/quantity_in_stock'])
  await call('PATCH', `${v1}/user/${user.id}`, { is_active: false })
  assert.equal((await call('POST', `${v1}/job/${id}/revert`)).status, 200)
  const back = await ended(id)
  assert.deepEqual([back.reverted, back.refused, back.created_by], [1, 0, user.id])
  const [undo] = await db.query('SELECT actor::text, job::text FROM event ORDER BY seq DESC LIMIT 1')
  assert.deepEqual(undo, { actor: String(service.known.owner), job: null })
})

test('whose job it is is told no values that whoever took it back saw', async () => {
  const scopes = ['deal:read', 'deal:write', 'job:read', 'job:write']
  const role = await made('role', { name: 'Own, bulk', scopes, visibility: { deal: 'own' } })
  const user = await made('user', { name: 'Bulk', email: 'bulk@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const deal = await made('deal', dealBody(known, { title: 'Taken away', sales_owner: user.id }))
  const changes = { filter: 'title:eq(Taken away)', changes: { description: 'By its owner' } }
  const asked = await call('POST', `${v1}/deal/bulk`, changes, as)
  assert.equal(asked.status, 201, asked.text)
  const { id, updated } = await ended(asked.body.data.id)
  assert.equal(updated, 1)
  const since = { description: 'Confidential by now', sales_owner: known.owner }
  assert.equal((await call('PATCH', `${v1}/deal/${deal.id}`, since)).status, 200)
  assert.equal((await call('POST', `${v1}/job/${id}/revert`)).status, 200)
  const [whole] = (await ended(id)).problems[0].problems
  assert.equal(whole.current, 'Confidential by now')
  const { current: _, made: __, by: ___, ...told } = whole
  const theirs = await call('GET', `${v1}/job/${id}`, undefined, as)
  assert.deepEqual(theirs.body.data.problems[0].problems, [told])
  // Fields that the role hides by now are not named either.
  assert.equal(
    (await call('PATCH', `${v1}/role/${role.id}`, { hidden_fields: ['deal.description'] })).status,
    200,
  )
  await sleep(1100)
  const hidden = (await call('GET', `${v1}/job/${id}`, undefined, as)).body.data.problems[0].problems
  assert.deepEqual(
    hidden.map(({ field, code, resource, id }: JsonObject) => [field, code, resource, id]),
    [[null, 'not_allowed', 'deal', deal.id]],
  )
})

test('whose job it is is told neither how many records an administrator saw nor whom', async () => {
  const resources = ['company', 'deal', 'contact', 'activity', 'job']
  const scopes = ['import:write', ...resources.flatMap(name => [`${name}:read`, `${name}:write`])]
  const limits = { visibility: { deal: 'own', activity: 'own' } }
  const role = await made('role', { name: 'Own, without users', scopes, ...limits })
  const [user, unseeing] = await Promise.all(
    ['Teller', 'Nameless Ned'].map((name, index) =>
      made('user', { name, email: `teller${index}@example.com`, role: role.id }),
    ),
  )
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const saidTo = async (id: number, headers?: typeof as) => {
    const { problems } = (await call('GET', `${v1}/job/${id}`, undefined, headers)).body.data
    return problems[0].problems.map(({ code, message }: JsonObject) => [code, message])
  }
  const upload = await fetch(`${service.url}${v1}/import?resource=company&format=csv`, {
    ...{ method: 'POST', body: 'name\nPointed At Ltd', headers: { ...as, 'content-type': 'text/csv' } },
  })
  const { id } = ((await upload.json()) as { data: { id: number } }).data
  assert.equal((await call('POST', `${v1}/import/${id}/run`, undefined, as)).status, 200)
  assert.equal((await ended(id)).created, 1)
  const [company] = (await get(`${v1}/company/view/list?filter=name:eq(Pointed At Ltd)`)).body.data
  await made('deal', dealBody(known, { company: company.id }))
  assert.equal((await call('POST', `${v1}/job/${id}/revert`)).status, 200)
  await ended(id)
  assert.deepEqual(await saidTo(id), [['in_use', '1 deal points to it.']])
  assert.deepEqual(await saidTo(id, as), [['in_use', 'Other records point to it.']])
  // Only the administrator may read the names of users.
  const note = { kind: 'Note', subject: 'Mentioned', notes: 'None', owner: user.id, company: company.id }
  const activity = await call('POST', `${v1}/activity`, note, as)
  assert.equal(activity.status, 201, activity.text)
  const changes = { notes: `Ask @{${unseeing.id}}` }
  const filter = `id:eq(${activity.body.data.id})`
  const asked = await call('POST', `${v1}/activity/bulk?dry_run=1`, { filter, changes }, as)
  assert.equal(asked.status, 201, asked.text)
  await ended(asked.body.data.id)
  assert.equal((await call('POST', `${v1}/job/${asked.body.data.id}/run`)).status, 200)
  await ended(asked.body.data.id)
  assert.match(JSON.stringify(await saidTo(asked.body.data.id)), /not_visible_to.*Nameless Ned/)
  assert.deepEqual(await saidTo(asked.body.data.id, as), [
    ['not_visible_to', 'It mentions a person who may not see it.'],
  ])
})

test('a bulk change takes the scopes to read what it finds and reaches, in each step those of then', async () => {
  const as = async (scopes: string[]) => {
    const reply = await call('POST', `${v1}/token`, { name: 'Bulk', scopes })
    return { authorization: `Bearer ${reply.body.data.token}` }
  }
  const writing = ['product:write', 'job:read', 'job:write']
  const [blind, reading, whole] = [
    await as(writing),
    await as([...writing, 'product:read']),
    await as([...writing, 'product:read', 'user:read']),
  ]
  const changes = { quantity_in_stock: 3 }
  const asked = (filter: string, headers: Record<string, string>) =>
    call('POST', `${v1}/product/bulk?dry_run=1`, { filter, changes }, headers)
  const refused = async (filter: string, headers: Record<string, string>, scope: string) => {
    const { status, body } = await asked(filter, headers)
    assert.deepEqual([status, body.detail.includes(`needs the scope ${scope};`)], [403, true], filter)
  }
  await refused('unit_price:gt(5)', blind, 'product:read')
  await refused('all', blind, 'product:read')
  const across = 'name:eq(Bulk 7),created_by.email:like(@)'
  await refused(across, reading, 'user:read')
  // The dry run's token has the scope; the run's token has not.
  const { id, total } = (await asked(across, whole)).body.data
  assert.equal(total, 1)
  assert.equal((await ended(id)).updated, 1)
  assert.equal((await call('POST', `${v1}/job/${id}/run`, undefined, reading)).status, 200)
  const failed = await ended(id)
  assert.deepEqual([failed.state, failed.done], ['failed', 0])
  assert.match(failed.error, /needs the scope user:read/)
})

test('what no longer meets the filter when it is changed stays as it is', onServer, async () => {
  const [left, kept] = [
    await made('product', { name: 'Sold off' }),
    await made('product', { name: 'Sold off' }),
  ]
  const changes = { quantity_in_stock: 77 }
  const { id } = (await bulk('product', { filter: 'name:eq(Sold off)', changes }, '?dry_run=1')).body.data
  await ended(id)
  await whileItWaits(
    db,
    () => call('POST', `${v1}/job/${id}/run`),
    update => update('product', left.id, { name: 'Back in stock', quantity_in_stock: 5 }),
  )
  assert.equal((await ended(id)).updated, 1)
  const stock = async (product: number) => (await get(`${v1}/product/${product}`)).body.data.quantity_in_stock
  assert.deepEqual([await stock(left.id), await stock(kept.id)], [5, 77])
})

test('an account has at most 20 jobs that are not ended, however many are asked for at once', async () => {
  const open = async () =>
    (await db.query("SELECT id::text FROM job WHERE state IN ('waiting', 'running', 'paused')")).map(
      ({ id }) => Number(id),
    )
  for (const id of await open()) await call('POST', `${v1}/job/${id}/cancel`)
  const changes = { name: 'Never' }
  const asked = await Promise.all(
    Array.from({ length: 30 }, () => bulk('product', { filter: 'name:eq(None)', changes }, '?dry_run=1')),
  )
  assert.deepEqual(
    [201, 429].map(status => asked.filter(reply => reply.status === status).length),
    [20, 10],
  )
  for (const { body } of asked) if (body.data) await ended(body.data.id)
  for (const id of await open()) await call('POST', `${v1}/job/${id}/cancel`)
})
