/** Lists and sums as of a past day (D74), compared with those requested on that day. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { earlier } from '../support/citus.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known } = service
const ok = async (method: string, path: string, body?: Json) => {
  const reply = await call(method, `${v1}/${path}`, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}

/** Fields that follow the clock, the events' times, or the configuration. */
const moving = new Set(['age', 'created_at', 'updated_at', 'rotting_days', 'deleted_at'])

const queries = [
  'sort=id:asc',
  'sort=pipeline_stage:asc,id:asc',
  'sort=deal_value:desc,title:asc&expand=pipeline_stage,sales_owner',
  'filter=status:eq(Won)&sort=title:asc',
  'filter=cf_custom_text_field:like(was)&sort=cf_custom_text_field:desc',
  // Only a parameter names the field.
  'filter=cf_custom_text_field:eq(was 3)&sort=id:asc',
  'filter=deal_value.currency:eq(EUR),tags:notnull(true)&sort=expected_close_date:asc',
  'filter=description:isnull(true)&sort=description:asc,id:desc',
  'deleted=only&sort=id:asc',
]
const sums = [
  'group_by=pipeline_stage',
  'group_by=sales_owner,status&measures=count,sum:deal_value,max:deal_value',
  'group_by=product',
]

type Seen = readonly (readonly [string, Json])[]

/** All lists and sums, now or as of the end of a day. */
async function seen(day: string | null): Promise<Seen> {
  const then = day ? `&as_of=${day}` : ''
  const lists: [string, Json][] = []
  for (const query of queries) {
    const { data, meta } = await ok('GET', `deal/view/list?${query}&pageSize=500${then}`)
    const records = (data as JsonObject[]).map(record =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !moving.has(name))),
    )
    lists.push([query, [meta.total, ...records]])
  }
  for (const query of sums) lists.push([query, (await ok('GET', `deal/aggregate?${query}${then}`)).data])
  return lists
}

const product = (
  await ok('POST', 'product', { name: 'Past', unit_price: [{ currency: 'EUR', unit_price: 3 }] })
).data.id
const ids: number[] = []
let step = 0
/** Compares answer by answer and record by record: a difference of all is unreadable. */
function compare(actual: Seen, expected: Seen, when: string): void {
  for (const [index, [query, rows]] of expected.entries()) {
    const found = actual[index]![1] as Json[]
    for (const [place, row] of (rows as Json[]).entries()) assert.deepEqual(found[place], row)
    assert.equal(found.length, (rows as Json[]).length, `${when}: ${query}`)
  }
}

/** A few of every kind of write. */
async function writes(): Promise<void> {
  const { Won, Lost, Qualified } = known.stages
  for (let count = 0; count < 6; count++) {
    const body = {
      title: `Deal ${step++}`,
      cf_custom_text_field: `was ${step}`,
      tags: known.tags.slice(0, step % 3),
    }
    ids.push((await ok('POST', 'deal', dealBody(known, body as never))).data.id)
  }
  const changes: JsonObject[] = [
    { pipeline_stage: Qualified!, description: `text ${step}` },
    { pipeline_stage: Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' },
    { pipeline_stage: Lost!, lost_reason: 'Junk Lead', deal_closed_on: '2026-05-02' },
    { deal_value: { currency: 'EUR', products: [{ product, quantity: step }] } },
    { deal_value: { currency: 'USD', value: step * 1.5 }, cf_custom_text_field: null },
    { cf_custom_text_field: `was "${step}" \\ é`, cf_custom_number_field: step, tags: [known.tags[0]!] },
    { title: `Renamed ${step}`, description: null, metadata: { step, nested: { of: null } } },
    { pipeline_stage: known.stages.New!, expected_close_date: `2027-01-${10 + (step % 20)}` },
  ]
  for (const [index, change] of changes.entries())
    await ok('PATCH', `deal/${ids[(step * 5 + index * 3) % ids.length]}`, change).catch(() => {})
  const [gone, back] = [ids[step % ids.length], ids[(step + 1) % ids.length]]
  await call('DELETE', `${v1}/deal/${gone}`)
  await call('DELETE', `${v1}/deal/${back}`)
  await call('POST', `${v1}/deal/${back}/restore`)
  if (step % 12 === 0) await call('POST', `${v1}/deal/${ids[6 % ids.length]}/restore`)
}

/** Moves all events since `after` some days back. */
async function movedBack(after: number, days: number): Promise<number> {
  const [row] = await db.query('SELECT last_seq::text AS last FROM counter WHERE account_id = 1')
  const interval = `${days} days`
  await db.query(
    `UPDATE event SET at = ${earlier('at', '$2::interval')} WHERE account_id = 1 AND seq > $1::bigint`,
    [String(after), interval],
  )
  await db.query(
    `UPDATE deal d SET created_at = e.at FROM event e
     WHERE e.account_id = 1 AND d.account_id = 1 AND e.record_id = d.id AND e.type = 'deal.created' AND e.seq > $1::bigint`,
    [String(after)],
  )
  return Number(row!.last)
}

const day = async (ago: number) => {
  const [row] = await db.query(`SELECT to_char(now() - '${ago} days'::interval, 'YYYY-MM-DD') AS day`)
  return row!.day!
}

test('every resource has a history, also of what an account begins with', async () => {
  const today = await day(0)
  for (const { name } of resources) {
    const list = (then = '') => ok('GET', `${name}/view/list?sort=id:asc&pageSize=500${then}`)
    const [now, then] = [await list(), await list(`&as_of=${today}`)]
    assert.ok(now.data.length > 0 || ['webhook', 'view'].includes(name), name)
    assert.deepEqual(withoutClock(then.data), withoutClock(now.data), name)
  }
  for (const name of ['role', 'currency']) {
    const [first] = (await ok('GET', `${name}/view/list?filter=version:eq(1)&sort=id:desc&pageSize=1`)).data
    await ok('PATCH', `${name}/${first.id}`, { name: 'Another name' })
    const then = await ok('GET', `${name}/view/list?filter=id:eq(${first.id})&as_of=${await day(1)}`)
    assert.deepEqual(then.data, [first])
    const sorted = await ok('GET', `${name}/view/list?filter=updated_by:isnull(true)&as_of=${await day(1)}`)
    assert.ok(sorted.data.length > 0)
  }
})

/** The records without the fields that follow the clock. */
function withoutClock(records: readonly JsonObject[]): JsonObject[] {
  return records.map(record =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name !== 'age' && name !== 'rotting_days')),
  )
}

test('an event that leaves its record as it is does not change its past', async () => {
  const { data: user } = await ok('POST', 'user', { name: 'Linked', email: 'linked@example.com' })
  await db.query(`UPDATE event SET at = ${earlier('at', "interval '1 day'")} WHERE record_id = ${user.id}`)
  await db.query(
    `UPDATE "user" SET created_at = ${earlier('created_at', "interval '1 day'")} WHERE id = ${user.id}`,
  )
  await ok('POST', `user/${user.id}/link`, { purpose: 'invitation' })
  for (const ago of [0, 1]) {
    const [then] = (await ok('GET', `user/view/list?filter=id:eq(${user.id})&as_of=${await day(ago)}`)).data
    assert.equal(then.version, 1)
    assert.ok(Date.parse(then.updated_at) < Date.now() - 80_000_000, then.updated_at)
  }
})

test('lists and sums of a past day are those of then, whatever was written since', async () => {
  // The sample's deals have a history of their own, up to today.
  let after = await movedBack(0, 1000)
  const then: { ago: number; seen: Seen }[] = []
  for (const ago of [9, 6, 3]) {
    await writes()
    then.push({ ago, seen: await seen(null) })
    after = await movedBack(after, ago)
  }
  await writes()
  for (const { ago, seen: expected } of then) compare(await seen(await day(ago)), expected, `${ago} days ago`)
  compare(await seen(await day(0)), await seen(null), 'today')
})

test('times and users of the last write are those of then, and a record is there from its creation on', async () => {
  const past = await day(1)
  const named = async (filter: string) =>
    (await ok('GET', `deal/view/list?filter=${filter}&as_of=${past}&sort=updated_at:desc&pageSize=500`)).data
  const whole = (await named('id:gt(0)')) as { updated_at: string }[]
  const times = whole.map(({ updated_at }) => updated_at)
  assert.deepEqual(times, times.toSorted().toReversed())
  assert.ok(times[0]! < past, times[0])
  assert.equal((await named(`updated_at:gt(${past})`)).length, 0)
  assert.equal((await named(`updated_at:lte(${past})`)).length, whole.length)
  // A deal rots by the stage that it had then.
  const { Negotiation, New, Won } = known.stages
  const rotting = (await ok('POST', 'deal', dealBody(known, { pipeline_stage: New! }))).data.id
  const back = (column: string, days: number) => `${column} = ${earlier(column, `interval '${days} days'`)}`
  const columns = ['created_at', 'updated_at', 'deal_stage_updated_at'].map(column => back(column, 40))
  const changedAt = new Date(Date.now() - 40 * 86_400_000).toISOString()
  const member = (value: string) => `'"deal_stage_updated_at":"${value}"'`
  await db.query(`UPDATE deal SET ${columns.join()},
    document = regexp_replace(document, ${member('[^"]*')}, ${member(changedAt)}) WHERE id = ${rotting}`)
  const [seq] = await db.query(`SELECT min(seq)::text AS seq FROM event WHERE record_id = ${rotting}`)
  await db.query(`UPDATE event SET at = ${earlier('at', "interval '40 days'")} WHERE seq <= ${seq!.seq}`)
  const days = (await named(`id:eq(${rotting})`))[0].rotting_days
  assert.ok(days > 20, String(days))
  const closing = { pipeline_stage: Won!, won_reason: 'Price', deal_closed_on: past }
  for (const change of [{ pipeline_stage: Negotiation! }, closing]) {
    await ok('PATCH', `deal/${rotting}`, change)
    for (const filter of [`id:eq(${rotting})`, `id:eq(${rotting}),rotting_days:gt(0)`])
      assert.equal((await named(filter))[0]?.rotting_days, days, filter)
  }
  // An import gives a record the time of its creation elsewhere.
  const { id } = (await ok('POST', 'deal', dealBody(known))).data
  await db.query(
    `UPDATE deal SET created_at = ${earlier('created_at', "interval '5 days'")} WHERE id = ${id}`,
  )
  assert.equal((await named(`id:eq(${id})`)).length, 0)
})

test('pages of the past go on by cursor, and what is not visible now is not visible then', async () => {
  const past = await day(3)
  // Of some of these, many records have no value.
  for (const sort of [
    'title:asc',
    'deal_value:desc',
    'pipeline_stage:desc,title:asc',
    'cf_custom_text_field:asc',
    'expected_close_date:desc,id:asc',
    'won_reason:asc',
  ]) {
    const page = (size: number, more = '') =>
      ok('GET', `deal/view/list?sort=${sort}&pageSize=${size}&as_of=${past}${more}`)
    const idsOf = ({ data }: { data: { id: number }[] }) => data.map(({ id }) => id)
    const whole = idsOf(await page(500))
    const found: number[] = []
    let cursor = ''
    do {
      const reply = await page(7, cursor)
      found.push(...idsOf(reply))
      cursor = reply.meta.nextCursor ? `&cursor=${reply.meta.nextCursor}` : ''
    } while (cursor)
    assert.deepEqual(found, whole, sort)
    assert.deepEqual(idsOf(await page(20, '&page=2')), whole.slice(20, 40), sort)
  }
  const { nextCursor } = (await ok('GET', `deal/view/list?pageSize=7&as_of=${past}`)).meta
  const other = await get(`${v1}/deal/view/list?pageSize=7&cursor=${nextCursor}`)
  assert.equal(other.status, 400)
  assert.match(other.body.errors[0].hint, /as_of/)
  const scopes = ['deal:read']
  const role = await ok('POST', 'role', { name: 'Own past', scopes, visibility: { deal: 'own' } })
  const user = await ok('POST', 'user', { name: 'P', email: 'past@example.com', role: role.data.id })
  const made = await ok('POST', 'token', { name: 'x', user: user.data.id, scopes })
  const as = { authorization: `Bearer ${made.data.token}` }
  const reply = await call('GET', `${v1}/deal/view/list?as_of=${past}`, undefined, as)
  assert.deepEqual([reply.status, reply.body.data], [200, []])
})

test('a day without history, in the future, or that is none is refused', async () => {
  const old = await get(`${v1}/deal/view/list?as_of=1990-01-01`)
  assert.deepEqual([old.status, old.body.code], [422, 2003])
  assert.match(old.body.detail, /begin on \d{4}-/)
  assert.equal((await get(`${v1}/deal/aggregate?as_of=1990-01-01`)).status, 422)
  for (const text of ['2999-01-01', 'yesterday', '2026-02-30', '2026-01-01T00:00:00Z']) {
    const reply = await get(`${v1}/deal/view/list?as_of=${text}`)
    assert.deepEqual([reply.status, reply.body.errors[0].parameter], [400, 'as_of'], text)
  }
})
