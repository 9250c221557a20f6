/** A plain day in a filter of moments means the whole day in the account's time zone (D42). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, db, known, made } = await startService()
// In 2026 clocks go back there at midnight after the 4th of April: 23:00 to 24:00 comes twice.
await call('PATCH', `${v1}/account`, { time_zone: 'America/Santiago' })
await made('field', { source: 'deal', field_name: 'Stay', type: 'DATE_TIME_RANGE' })

/** name → moment: the edges of the 4th of April and the days about it */
const moments = {
  before: '2026-04-04T02:59:59.999Z',
  first: '2026-04-04T03:00:00.000Z',
  noon: '2026-04-04T15:00:00.000Z',
  last: '2026-04-05T03:59:59.999Z',
  after: '2026-04-05T04:00:00.000Z',
  later: '2026-04-06T12:00:00.000Z',
  none: null,
}
const names = Object.keys(moments)
const ids = new Map<number, string>()
for (const [name, moment] of Object.entries(moments)) {
  const stay = moment && { range: { from: moment, to: '2027-01-01T00:00:00Z' } }
  const body = { title: `Day ${name}`, cf_stay: stay }
  const { id } = await made('deal', dealBody(known, body))
  ids.set(id, name)
  // This field has a column: a custom value is stored as text.
  await db.query('UPDATE deal SET won_time = $1::timestamptz WHERE id = $2::bigint', [moment, String(id)])
}

async function found(field: string, condition: string): Promise<string[]> {
  const filter = encodeURIComponent(`title:like(Day ),${field}:${condition}`)
  const reply = await get(`${v1}/deal/view/list?pageSize=100&filter=${filter}`)
  assert.equal(reply.status, 200, reply.text)
  const all = reply.body.data.map(({ id }: { id: number }) => ids.get(id)!)
  return all.sort((one: string, other: string) => names.indexOf(one) - names.indexOf(other))
}

const ofDay = ['first', 'noon', 'last']
const without = (some: readonly string[]) => names.filter(name => !some.includes(name))
const expected: { readonly [condition: string]: readonly string[] } = {
  'eq(2026-04-04)': ofDay,
  'neq(2026-04-04)': without(ofDay),
  'in(2026-04-04,2026-04-06)': [...ofDay, 'later'],
  'in(2026-04-04,2026-04-05T04:00:00Z)': [...ofDay, 'after'],
  'nin(2026-04-04,2026-04-06)': ['before', 'after', 'none'],
  'between(2026-04-04,2026-04-04)': ofDay,
  'between(2026-04-04,2026-04-05)': [...ofDay, 'after'],
  'between(2026-04-04T15:00:00Z,2026-04-04)': ['noon', 'last'],
  'gte(2026-04-04)': [...ofDay, 'after', 'later'],
  'gt(2026-04-04)': ['after', 'later'],
  'lt(2026-04-04)': ['before'],
  'lte(2026-04-04)': ['before', ...ofDay],
}

for (const field of ['won_time', 'cf_stay.from'])
  test(`${field}: a plain day is all of it, whichever the operator`, async () => {
    for (const [condition, wanted] of Object.entries(expected))
      assert.deepEqual(await found(field, condition), wanted, condition)
  })

test('across a reference too', async () => {
  const one = await made('contact', { last_name: 'Of today' })
  await db.query('UPDATE contact SET created_at = $1::timestamptz WHERE id = $2::bigint', [
    moments.last,
    String(one.id),
  ])
  const deal = await made('deal', dealBody(known, { title: 'Its', related_contacts: [one.id] }))
  for (const [condition, isFound] of [
    ['eq(2026-04-04)', true],
    ['eq(2026-04-05)', false],
  ] as const) {
    const filter = `id:eq(${deal.id}),related_contacts.created_at:${condition}`
    assert.equal((await get(`${v1}/deal/view/list?filter=${filter}`)).body.data.length, isFound ? 1 : 0)
  }
})

test('the ends of the calendar, days that are none, and too many days', async () => {
  assert.deepEqual(await found('won_time', 'lte(9999-12-31)'), without(['none']))
  assert.deepEqual(await found('won_time', 'gte(0001-01-01)'), without(['none']))
  const ask = (condition: string) => get(`${v1}/deal/view/list?filter=won_time:${condition}`)
  assert.equal((await ask('eq(2026-02-30)')).status, 400)
  assert.match((await ask('between(2026-04-05,2026-04-04)')).text, /lower value first/)
  const many = Array.from({ length: 101 }, (_, day) =>
    new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
  )
  assert.equal((await ask(`in(${many.slice(1).join()})`)).status, 200)
  assert.match(
    (await ask(`in(${many.join()})`)).text,
    /at most 100 values where one stands for several, as a plain day does/,
  )
  assert.equal(
    (await call('GET', `${v1}/deal/aggregate?group_by=status&filter=won_time:eq(2026-04-04)`)).status,
    200,
  )
})

test('a day whose first hour comes twice begins with the first of them, in histories and funnels too', async () => {
  await call('PATCH', `${v1}/account`, { time_zone: 'America/Havana' })
  const { id } = await made('deal', dealBody(known, { title: 'Of the first hour' }))
  await db.query("UPDATE event SET at = '2025-10-01T00:00:00Z' WHERE account_id = 1 AND seq = 1")
  // There clocks go back from 1:00 to 0:00, at 05:00 UTC.
  const first = '2025-11-02T04:30:00.000Z'
  await db.query('UPDATE event SET at = $1::timestamptz WHERE record_id = $2::bigint', [first, String(id)])
  await db.query('UPDATE deal SET created_at = $1::timestamptz WHERE id = $2::bigint', [first, String(id)])
  const filter = `filter=id:eq(${id})`
  const asOf = async (day: string) => (await get(`${v1}/deal/view/list?${filter}&as_of=${day}`)).body.data
  assert.deepEqual([(await asOf('2025-11-01')).length, (await asOf('2025-11-02')).length], [0, 1])
  const deals = async (query: string) =>
    (await get(`${v1}/deal/funnel?pipeline=${known.pipeline}&${filter}&${query}`)).body.data.deals
  assert.equal(await deals('to=2025-11-01'), 0)
  assert.equal(await deals('from=2025-11-02&to=2025-11-02'), 1)
  assert.equal(await deals('from=2025-11-03'), 0)
})

test('a day whose midnight is skipped begins with its first moment', async () => {
  // There clocks go forward from 0:00 to 1:00, at 04:00 UTC.
  await call('PATCH', `${v1}/account`, { time_zone: 'America/Santiago' })
  const { id } = await made('deal', dealBody(known, { title: 'Of the day before' }))
  for (const [moment, day] of [
    ['2026-09-06T03:59:59.999Z', '2026-09-05'],
    ['2026-09-06T04:00:00.000Z', '2026-09-06'],
  ]) {
    await db.query('UPDATE deal SET created_at = $1::timestamptz WHERE id = $2::bigint', [
      moment!,
      String(id),
    ])
    for (const asked of ['2026-09-05', '2026-09-06']) {
      const filter = `filter=id:eq(${id}),created_at:eq(${asked})`
      const found = (await get(`${v1}/deal/view/list?${filter}`)).body.data.length
      assert.equal(found, asked === day ? 1 : 0, `${moment} on ${asked}`)
    }
    const groups = await get(`${v1}/deal/aggregate?group_by=created_at:day&filter=id:eq(${id})`)
    assert.match(groups.text, new RegExp(`"${day}"`))
  }
})

test('a day that the time zone has left out has no moments', async () => {
  await call('PATCH', `${v1}/account`, { time_zone: 'Pacific/Apia' })
  const stay = { range: { from: '2011-12-30T10:00:00Z', to: '2011-12-31T10:00:00Z' } }
  const { id } = await made('deal', dealBody(known, { title: 'Crossing', cf_stay: stay }))
  for (const moment of ['2011-12-30T09:59:59.999Z', '2011-12-30T10:00:00.000Z']) {
    await db.query('UPDATE deal SET won_time = $1::timestamptz WHERE id = $2::bigint', [moment, String(id)])
    const day = moment.includes('T10') ? '2011-12-31' : '2011-12-29'
    for (const [condition, isFound] of [
      ['won_time:eq(2011-12-30)', false],
      ['won_time:in(2011-12-30)', false],
      [`won_time:in(2011-12-30,${day})`, true],
      [`won_time:in(2011-12-30,${moment})`, true],
      ['won_time:neq(2011-12-30)', true],
      ['won_time:nin(2011-12-30)', true],
      ['won_time:between(2011-12-30,2011-12-30)', false],
      ['won_time:between(2011-12-29,2011-12-31)', true],
      ['won_time:lt(2011-12-30)', day === '2011-12-29'],
      ['won_time:lte(2011-12-30)', day === '2011-12-29'],
      ['won_time:gt(2011-12-30)', day === '2011-12-31'],
      ['won_time:gte(2011-12-30)', day === '2011-12-31'],
      ['cf_stay:eq(2011-12-30)', false],
      ['cf_stay:neq(2011-12-30)', true],
      ['cf_stay.from:eq(2011-12-31)', true],
      ['primary_contact.created_at:eq(2011-12-30)', false],
      ['primary_contact.created_at:neq(2011-12-30)', true],
    ] as const) {
      const reply = await get(`${v1}/deal/view/list?filter=id:eq(${id}),${condition}`)
      assert.equal(reply.body.data?.length, isFound ? 1 : 0, `${moment} ${condition} ${reply.text}`)
    }
  }
  assert.match(
    (await get(`${v1}/deal/view/list?filter=won_time:between(2011-12-31,2011-12-30)`)).text,
    /lower value first/,
  )
})
