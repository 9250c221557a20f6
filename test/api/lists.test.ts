/** Chapter: List query grammar. Pages, totals, and what a bad query gets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService, v1 } from '../support/service.ts'

const { call, get } = await startService()
const list = (query = '') => get(`${v1}/deal/view/list${query}`)
const codes = (reply: Awaited<ReturnType<typeof get>>) =>
  reply.body.errors.map((problem: { parameter: string; code: string }) => `${problem.parameter} ${problem.code}`)

test('the first page: 25 records, newest first, with the total', async () => {
  const { body } = await list()
  assert.equal(body.code, 0)
  assert.equal(body.data.length, 25)
  assert.deepEqual(body.meta, {
    page: 1,
    pageSize: 25,
    total: 300,
    totalIsEstimate: false,
    totalPages: 12,
    hasMore: true,
    nextCursor: null,
  })
  const ids = body.data.map((deal: { id: number }) => deal.id)
  assert.deepEqual(
    ids,
    ids.toSorted((a: number, b: number) => b - a),
  )
})

test('pages do not overlap, and cover everything', async () => {
  const seen = new Set<number>()
  for (let page = 1; ; page++) {
    const { data, meta } = (await list(`?page=${page}&size=70&sort=title:asc`)).body
    for (const { id } of data) seen.add(id)
    assert.equal(meta.total, 300)
    if (!meta.hasMore) break
  }
  assert.equal(seen.size, 300)
  const past = (await list('?page=9&pageSize=70')).body
  assert.deepEqual([past.data, past.meta.total, past.meta.hasMore], [[], 300, false])
})

test('totals: remembered until something is written, and none when not asked for', async () => {
  const total = async () => (await list('?pageSize=1&filter=status:eq(Open)')).body.meta.total
  const before = await total()
  assert.equal(await total(), before)
  const { id } = (await list('?pageSize=1&filter=status:eq(Open)')).body.data[0]
  await call('DELETE', `${v1}/deal/${id}`)
  assert.equal(await total(), before - 1)
  const { meta } = (await list('?count=none&pageSize=1')).body
  assert.deepEqual([meta.total, meta.totalPages, meta.hasMore], [null, null, true])
  assert.equal((await list('?count=exact&pageSize=1')).body.meta.total, 299)
})

test('several sort keys apply in the order given', async () => {
  const rows = (await list('?pageSize=500&sort=pipeline_stage:asc,deal_value.value:desc')).body.data
  for (let index = 1; index < rows.length; index++) {
    const [one, other] = [rows[index - 1], rows[index]]
    assert.ok(
      one.pipeline_stage < other.pipeline_stage ||
        (one.pipeline_stage === other.pipeline_stage && one.deal_value.value >= other.deal_value.value),
    )
  }
})

test('fields narrows the records', async () => {
  assert.deepEqual(Object.keys((await list('?fields=title,company&pageSize=1')).body.data[0]), ['id', 'title', 'company'])
})

test('a bad page is refused, never clamped', async () => {
  for (const query of ['?page=0', '?page=-1', '?page=x', '?page=1.5'])
    assert.deepEqual(codes(await list(query)), ['page invalid_value'], query)
  for (const query of ['?pageSize=0', '?pageSize=501', '?size=501', '?pageSize='])
    assert.deepEqual(codes(await list(query)), ['pageSize invalid_value'], query)
  assert.deepEqual(codes(await list('?pageSize=5&size=6')), ['pageSize contradiction'])
  assert.equal((await list('?pageSize=5&size=5')).status, 200)
  assert.deepEqual(codes(await list('?page=1002&pageSize=100')), ['page page_too_far'])
})

test('syntax errors name their position', async () => {
  const cases: [string, number][] = [
    ['title', 6],
    ['title:eq', 9],
    ['title:eq(a', 10],
    ['title:is(a)', 7],
    ['title:eq(a),', 13],
    ['title:eq(a)x', 12],
    ['id:in(1,,2)', 9],
    ['id:in("1)', 7],
    ['or(id:eq(1)', 12],
    [':eq(1)', 1],
  ]
  for (const [filter, position] of cases) {
    const reply = await list(`?filter=${encodeURIComponent(filter)}`)
    assert.equal(reply.status, 400, filter)
    assert.deepEqual([reply.body.errors[0].code, reply.body.errors[0].position], ['syntax', position], filter)
  }
  assert.deepEqual(codes(await list('?sort=title')), ['sort syntax'])
  assert.deepEqual(codes(await list('?sort=title:up')), ['sort syntax'])
  const deep = 'not('.repeat(6) + 'id:eq(1)' + ')'.repeat(6)
  assert.deepEqual(codes(await list(`?filter=${deep}`)), ['filter syntax'])
  const many = Array.from({ length: 51 }, () => 'id:eq(1)').join(',')
  assert.deepEqual(codes(await list(`?filter=${many}`)), ['filter syntax'])
})

test('what can not be planned is refused with every reason, nothing is dropped', async () => {
  const reply = await list(
    '?filter=titel:eq(x),tags:gt(1),source:eq(Wbe),deal_value.amount:eq(1),id:between(5,1)&sort=tags:asc,nope:desc',
  )
  assert.equal(reply.status, 400)
  assert.deepEqual(codes(reply), [
    'filter unknown_field',
    'filter operator_not_allowed',
    'filter invalid_value',
    'filter unknown_field',
    'filter invalid_value',
    'sort not_sortable',
    'sort unknown_field',
  ])
  assert.equal(reply.body.errors[0].hint, 'Did you mean "title"?')
  assert.equal(reply.body.errors[2].hint, 'Did you mean "Web"?')
  const seconds = await list('?filter=created_at:gt(1767225600)')
  assert.match(seconds.body.errors[0].hint, /1767225600000/)
})

test('unknown parameters are refused with the nearest', async () => {
  const reply = await list('?pagesize=5&filters=x')
  assert.equal(reply.body.code, 1003)
  assert.deepEqual(
    reply.body.errors.map((problem: { hint: string }) => problem.hint),
    ['Did you mean "pageSize"?', 'Did you mean "filter"?'],
  )
})

test('hostile text is a value and nothing else', async () => {
  const hostile = [
    "'",
    "'; DROP TABLE deal; --",
    '"',
    '\\',
    "\\'",
    '$1',
    '%',
    '}',
    '{}',
    '{"a"}',
    "1' OR '1'='1",
    ')',
    '(',
    'id',
    'NULL',
    '\u0000',
    '\u{1F600}',
    '../../etc',
  ]
  for (const text of hostile) {
    for (const field of ['title', 'cf_custom_text_field', 'id', 'source', 'metadata.notes', 'created_at', 'tags']) {
      for (const filter of [
        `${field}:eq(${text})`,
        `${field}:in("${text.replace(/[\\"]/g, '\\$&')}")`,
        `${field}:like(${text})`,
        `${field}.${text}:eq(1)`,
      ]) {
        const reply = await list(`?pageSize=1&filter=${encodeURIComponent(filter)}`)
        assert.ok(reply.status === 200 || reply.status === 400, `${filter}: ${reply.text}`)
        if (reply.status === 200) assert.equal(reply.body.data.length <= 1, true)
        assert.doesNotMatch(reply.text, /syntax error|SQLSTATE|pg_|postgres/i)
      }
    }
  }
  assert.equal((await list()).status, 200)
})

test('each repeated filter is whole in itself: none can begin or end another', async () => {
  for (const query of [
    '?filter=or(id:eq(1)&filter=id:eq(2))',
    '?filter=title:eq(a&filter=b)',
    '?filter=title:in("a&filter=b")',
    '?filter=id:in(1&filter=2)',
  ]) {
    const reply = await list(query)
    assert.equal(reply.status, 400, `${query}: ${reply.text}`)
  }
  assert.equal((await list('?filter=id:gt(1)&filter=id:lt(1)')).body.meta.total, 0)
})

test('a range of text is ordered by code points, not by the halves of surrogate pairs', async () => {
  const range = encodeURIComponent('"\uff5e","\u{1f600}"')
  assert.equal((await list(`?filter=title:between(${range})`)).status, 200)
  const backwards = encodeURIComponent('"\u{1f600}","\uff5e"')
  assert.deepEqual(codes(await list(`?filter=title:between(${backwards})`)), ['filter invalid_value'])
})
