/** Chapter: List query grammar. Pages, totals, and the refusals of bad queries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, known } = await startService()
const list = (query = '') => get(`${v1}/deal/view/list${query}`)
const codes = (reply: Awaited<ReturnType<typeof get>>) =>
  reply.body.errors.map(
    (problem: { parameter: string; code: string }) => `${problem.parameter} ${problem.code}`,
  )

test('the first page: 25 records, newest first, with the total', async () => {
  const { body } = await list()
  assert.equal(body.code, 0)
  assert.equal(body.data.length, 25)
  const { nextCursor, ...meta } = body.meta
  assert.match(nextCursor, /^[\w-]+$/)
  assert.deepEqual(meta, {
    page: 1,
    pageSize: 25,
    total: 300,
    totalIsEstimate: false,
    totalPages: 12,
    hasMore: true,
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
  assert.deepEqual(Object.keys((await list('?fields=title,company&pageSize=1')).body.data[0]), [
    'id',
    'title',
    'company',
  ])
})

test('a bad page is refused, never clamped', async () => {
  for (const query of ['?page=0', '?page=-1', '?page=x', '?page=1.5'])
    assert.deepEqual(codes(await list(query)), ['page invalid_value'], query)
  for (const query of ['?pageSize=0', '?pageSize=501', '?pageSize='])
    assert.deepEqual(codes(await list(query)), ['pageSize invalid_value'], query)
  // The name is the one that was sent.
  assert.deepEqual(codes(await list('?size=501')), ['size invalid_value'])
  const { errors } = (await call('POST', `${v1}/deal/view/list`, { size: 501 })).body
  assert.equal(errors[0].path, '/size')
  assert.deepEqual(codes(await list('?pageSize=5&size=6')), ['pageSize contradiction'])
  assert.equal((await list('?pageSize=5&size=5')).status, 200)
  assert.deepEqual(codes(await list('?page=1002&pageSize=100')), ['page page_too_far'])
  assert.equal((await list('?page=1001&pageSize=100')).status, 200)
})

test('an empty parameter is one that is not there, but for numbers, fields and expand', async () => {
  const whole = (await list('?count=none')).body.data
  for (const name of ['cursor', 'sort', 'filter', 'deleted', 'as_of'])
    assert.deepEqual((await list(`?count=none&${name}=`)).body.data, whole, name)
  for (const name of ['page', 'pageSize', 'size', 'fields', 'expand'])
    assert.equal((await list(`?${name}=`)).status, 400, name)
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

test('a dot at the end of a name is a member that is missing', async () => {
  for (const filter of [
    'title.:eq(x)',
    'deal_value.:gt(5)',
    'company.:isnull(true)',
    'metadata.:exists(true)',
  ]) {
    const reply = await list(`?filter=${filter}`)
    assert.deepEqual(codes(reply), ['filter unknown_field'], filter)
    assert.match(reply.body.errors[0].message, /^\w+ has no member ""\.$/)
  }
  assert.deepEqual(codes(await list('?sort=title.:asc')), ['sort unknown_field'])
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

test('a cursor goes on where its page ended, with any page size, and ends with null', async () => {
  const all = (await list('?pageSize=500&sort=expected_close_date:desc')).body.data.map(
    (deal: { id: number }) => deal.id,
  )
  const first = (await list('?pageSize=100&sort=expected_close_date:desc')).body
  const second = (await list(`?pageSize=150&sort=expected_close_date:desc&cursor=${first.meta.nextCursor}`))
    .body
  assert.deepEqual(
    second.data.map((deal: { id: number }) => deal.id),
    all.slice(100, 250),
  )
  assert.deepEqual([second.meta.page, second.meta.total, second.meta.hasMore], [null, all.length, true])
  const last = (await list(`?sort=expected_close_date:desc&pageSize=100&cursor=${second.meta.nextCursor}`))
    .body
  assert.deepEqual(
    [last.data.length, last.meta.hasMore, last.meta.nextCursor],
    [all.length - 250, false, null],
  )
})

test('a cursor is of its list alone, takes the place of page, and is not to be made up', async () => {
  const { nextCursor } = (await list('?pageSize=5&sort=title:asc&filter=status:eq(Open)')).body.meta
  const used = (query: string) => list(`?cursor=${encodeURIComponent(nextCursor)}&${query}`)
  const own = 'sort=title:asc&filter=status:eq(Open)'
  assert.equal((await used(own)).status, 200)
  assert.deepEqual(codes(await used('sort=title:desc&filter=status:eq(Open)')), ['cursor other_list'])
  assert.deepEqual(codes(await used('sort=title:asc&filter=status:eq(Won)')), ['cursor other_list'])
  assert.deepEqual(codes(await used('sort=title:asc')), ['cursor other_list'])
  assert.deepEqual(codes(await used(`${own}&deleted=only`)), ['cursor other_list'])
  assert.deepEqual(codes(await used(`${own}&page=2`)), ['cursor contradiction'])
  assert.deepEqual(codes(await get(`${v1}/product/view/list?cursor=${nextCursor}`)), ['cursor other_list'])
  const content = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
  const forged = [
    'x',
    '%00',
    'bnVsbA',
    ...[[], ['a'], [1, 'x'], ['a', 'b'], ['a', 1.5], [null, 1], ['\u0000', 1], ['a', '1'], ['a', [1]]].map(
      after => Buffer.from(JSON.stringify({ ...content, after })).toString('base64url'),
    ),
    Buffer.from(JSON.stringify({ ...content, at: 'now' })).toString('base64url'),
  ]
  for (const cursor of forged) {
    assert.deepEqual(
      codes(await list(`?${own}&cursor=${encodeURIComponent(cursor)}`)),
      ['cursor invalid_value'],
      cursor,
    )
  }
  const moment = (await list('?pageSize=5&sort=created_at:asc')).body.meta.nextCursor
  const other = {
    ...JSON.parse(Buffer.from(moment, 'base64url').toString()),
    after: ['2026-13-45T00:00:00Z', 1],
  }
  const reply = await list(
    `?sort=created_at:asc&cursor=${Buffer.from(JSON.stringify(other)).toString('base64url')}`,
  )
  assert.deepEqual(codes(reply), ['cursor invalid_value'])
  // A filter that excludes nulls makes a cursor at a null invalid.
  const dated = 'sort=expected_close_date:asc&filter=expected_close_date:gt(0)'
  const page = JSON.parse(Buffer.from((await list(`?${dated}`)).body.meta.nextCursor, 'base64url').toString())
  const none = Buffer.from(JSON.stringify({ ...page, after: [null, 1] })).toString('base64url')
  assert.deepEqual(codes(await list(`?${dated}&cursor=${none}`)), ['cursor invalid_value'])
})

test('POST takes the same parameters as JSON', async () => {
  const search = (body: Parameters<typeof call>[2], query = '') =>
    call('POST', `${v1}/deal/view/list${query}`, body)
  const wanted = await list(
    '?filter=status:eq(Open)&filter=title:like(a)&sort=title:asc,id:desc&pageSize=7&page=2&fields=title,source&count=exact',
  )
  const found = await search({
    filter: ['status:eq(Open)', 'title:like(a)'],
    sort: ['title:asc', 'id:desc'],
    pageSize: 7,
    page: '2',
    fields: ['title', 'source'],
    count: 'exact',
    expand: null,
  })
  assert.equal(found.status, 200, found.text)
  assert.deepEqual([found.body.data, found.body.meta.total], [wanted.body.data, wanted.body.meta.total])
  assert.equal((await search({})).body.data.length, 25)
  assert.equal((await search(undefined)).body.data.length, 25)
  const next = await search({ cursor: (await search({ pageSize: 3 })).body.meta.nextCursor, pageSize: 3 })
  assert.equal(next.body.data.length, 3)
  assert.deepEqual(codes(await search({ pagesize: 5 })), ['pagesize unknown_parameter'])
  assert.deepEqual(codes(await search({ filter: { a: 1 } })), ['filter wrong_type'])
  assert.deepEqual(codes(await search({ pageSize: 5 }, '?pageSize=6')), ['pageSize contradiction'])
  assert.equal((await search('[]')).status, 400)
  const long = Array.from({ length: 5001 }, (_, index) => index).join(',')
  assert.deepEqual(codes(await search({ filter: `id:in(${long})` })), ['filter too_many'])
  const paths = async (body: Parameters<typeof call>[2], query = '', to = 'view/list') =>
    (await call('POST', `${v1}/deal/${to}${query}`, body)).body.errors.map(
      (problem: { path: string }) => problem.path,
    )
  assert.deepEqual(await paths({ limit: 5, 'a/b': {}, page: 0 }, '?offset=1'), [
    '',
    '/limit',
    '/a~1b',
    '/page',
  ])
  assert.deepEqual(await paths({ filter: ['nope:eq(1)'], sort: 'nope:asc' }), ['/filter', '/sort'])
  assert.deepEqual(await paths({ filter: { a: 1 }, foo: 1 }), ['/foo', '/filter'])
  assert.deepEqual(await paths({ measure: 'count' }, '', 'aggregate'), ['/measure'])
})

test('expand names what ids stand for, in lists, single records and answers to writes', async () => {
  const expand =
    'sales_owner,source,primary_contact,company,tags,pipeline_stage,territory,cf_custom_dropdown_field,lost_reason'
  const { data } = (await list(`?expand=${expand}&pageSize=50`)).body
  const names = async (name: string) => {
    const options = (await get(`${v1}/field/dropdown?name=${name}`)).body.data
    return new Map(options.map((option: { id: number; name: string }) => [option.id, option.name]))
  }
  const [owners, sources, tags] = await Promise.all([names('sales_owner'), names('source'), names('tags')])
  for (const { _expanded, ...deal } of data) {
    assert.deepEqual(Object.keys(_expanded), expand.split(','))
    assert.deepEqual(_expanded.sales_owner, { id: deal.sales_owner, name: owners.get(deal.sales_owner) })
    assert.deepEqual(_expanded.source, deal.source && { id: deal.source, name: sources.get(deal.source) })
    assert.deepEqual(
      _expanded.tags,
      deal.tags.map((id: number) => ({ id, name: tags.get(id) })),
    )
    assert.equal(_expanded.primary_contact.id, deal.primary_contact)
    assert.match(_expanded.primary_contact.name, /\w \w/)
  }
  const [deal] = data
  const one = (await get(`${v1}/deal/${deal.id}?expand=${expand}`)).body.data
  assert.deepEqual(one, deal)
  // Writing it back: the names are no change.
  const back = await call('PUT', `${v1}/deal/${deal.id}?expand=source`, one)
  assert.equal(back.body.data.version, deal.version)
  assert.deepEqual(Object.keys(back.body.data._expanded), ['source'])
  assert.deepEqual(Object.keys((await list('?fields=title&expand=company&pageSize=1')).body.data[0]), [
    'id',
    'title',
    '_expanded',
  ])
  assert.deepEqual(codes(await list('?expand=title,nope')), ['expand unknown_field', 'expand not_expandable'])
  assert.deepEqual(codes(await get(`${v1}/deal/${deal.id}?expand=title`)), ['expand not_expandable'])
  assert.deepEqual(codes(await get(`${v1}/deal/${deal.id}?expnd=company`)), ['expnd unknown_parameter'])
})

test('deleted=only lists what was deleted, and nothing else does', async () => {
  const [one, other] = (await list('?pageSize=2&filter=title:like(renewal)')).body.data
  for (const { id } of [one, other]) assert.equal((await call('DELETE', `${v1}/deal/${id}`)).status, 200)
  const gone = (await list('?deleted=only&filter=title:like(renewal)&sort=pipeline_stage:asc')).body
  const ids = gone.data.map((deal: { id: number }) => deal.id)
  assert.deepEqual(ids.toSorted(), [one.id, other.id].toSorted())
  assert.ok(gone.data.every((deal: { deleted_at: string | null }) => deal.deleted_at !== null))
  assert.equal((await list(`?filter=id:in(${one.id},${other.id})`)).body.meta.total, 0)
  assert.deepEqual(codes(await list('?deleted=yes')), ['deleted invalid_value'])
})

test('what follows the clock keeps its order while a list is read', async () => {
  const openByAge = '?filter=status:eq(1)&sort=age:asc'
  const { nextCursor } = (await list(`${openByAge}&pageSize=50`)).body.meta
  const content = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
  // The list began two days ago: every open deal has aged since, and yet none is shown twice.
  const began = new Date(Date.parse(content.at) - 2 * 86_400_000).toISOString()
  const then = Buffer.from(
    JSON.stringify({ ...content, at: began, after: [content.after[0] - 2, content.after[1]] }),
  ).toString('base64url')
  const now = (await list(`${openByAge}&pageSize=500&cursor=${nextCursor}`)).body.data
  const asOfThen = (await list(`${openByAge}&pageSize=500&cursor=${then}`)).body.data
  const idsOf = (rows: { id: number }[]) => rows.map(deal => deal.id)
  assert.deepEqual(idsOf(asOfThen), idsOf(now))
})

test('an epoch is milliseconds; what looks like seconds, a year or a date is asked about', async () => {
  assert.equal((await list('?filter=created_at:gt(0)')).body.meta.hasMore, true)
  assert.equal((await list('?filter=created_at:lt(-1)')).body.meta.total, 0)
  assert.match((await list('?filter=created_at:gt(1767225600)')).body.errors[0].hint, /1767225600000/)
  for (const text of ['2026', '20260331']) {
    assert.deepEqual(
      codes(await list(`?filter=expected_close_date:gt(${text})`)),
      ['filter invalid_value'],
      text,
    )
  }
})

test('the epoch of a date finds what its ISO form finds, in every year', async () => {
  for (const date of ['0001-01-01', '0036-12-25', '0099-12-31', '0999-06-15', '1582-10-10', '9999-12-31']) {
    const cf_custom_date_range_field = { range: { from: date, to: date } }
    const made = await call(
      'POST',
      `${v1}/deal`,
      dealBody(known, { expected_close_date: date, cf_custom_date_field: date, cf_custom_date_range_field }),
    )
    assert.equal(made.status, 201, made.text)
    for (const field of ['expected_close_date', 'cf_custom_date_field', 'cf_custom_date_range_field.to']) {
      for (const text of [date, Date.parse(`${date}T12:00:00Z`)]) {
        const { data } = (await list(`?filter=${field}:eq(${text})`)).body
        assert.deepEqual(
          data.map((deal: { id: number }) => deal.id),
          [made.body.data.id],
          `${field} ${text}`,
        )
      }
    }
    await call('DELETE', `${v1}/deal/${made.body.data.id}`)
  }
})

test('a range with an end that is no value is not also one that runs backwards', async () => {
  for (const range of [
    'expected_close_date:between(2026-01-01,tomorrow)',
    'expected_close_date:between(tomorrow,2026-01-01)',
    'age:between(1,many)',
  ])
    assert.deepEqual(codes(await list(`?filter=${range}`)), ['filter invalid_value'], range)
  const both = await list('?filter=age:between(1,many,2)')
  assert.deepEqual(codes(both), ['filter invalid_value', 'filter invalid_value'])
})

test('every problem of a query is reported at once', async () => {
  const reply = await list(
    '?page=0&pageSize=x&nope=1&filter=titel:eq(1)&sort=tags:asc&fields=x&expand=title&count=some&deleted=no',
  )
  assert.equal(reply.body.code, 1002)
  assert.deepEqual(codes(reply).toSorted(), [
    'count invalid_value',
    'deleted invalid_value',
    'expand not_expandable',
    'fields unknown_field',
    'filter unknown_field',
    'nope unknown_parameter',
    'page invalid_value',
    'pageSize invalid_value',
    'sort not_sortable',
  ])
})

test('every field that says so can be sorted by; many keys and empty names are refused, repeated keys are not', async () => {
  const fields = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  for (const { internal_name } of fields.filter((field: { is_sortable: boolean }) => field.is_sortable)) {
    const reply = await list(`?pageSize=1&sort=${internal_name}:desc`)
    assert.equal(reply.status, 200, `${internal_name}: ${reply.text}`)
  }
  const many = fields.slice(0, 11).map((field: { internal_name: string }) => `${field.internal_name}:asc`)
  assert.ok(codes(await list(`?sort=${many.join(',')}`)).includes('sort too_many'))
  assert.equal((await list(`?sort=${Array.from({ length: 300 }, () => 'title:asc').join(',')}`)).status, 200)
  assert.deepEqual(codes(await list('?fields=&expand=')), ['fields invalid_value', 'expand invalid_value'])
})

test('a cursor is refused when the options it was sorted by have another order', async () => {
  const { nextCursor } = (await list('?sort=source:asc&pageSize=5')).body.meta
  const [first] = (await get(`${v1}/field/dropdown?name=source`)).body.data
  await call('PATCH', `${v1}/field/15/option/${first.id}`, { position: 3 })
  assert.deepEqual(codes(await list(`?sort=source:asc&pageSize=5&cursor=${nextCursor}`)), [
    'cursor other_list',
  ])
})

test('an estimate is never less than what was seen', async () => {
  const { meta } = (await list('?count=estimate&pageSize=25&page=2&filter=metadata.x:isnull(true)')).body
  assert.ok(meta.total >= 50, JSON.stringify(meta))
})

test('a time compares with its seconds, and a range of times as a whole or by its beginning', async () => {
  const title = 'Of times'
  const times = { cf_custom_time_field: '09:30', cf_custom_time_range_field: '22:00/06:00' }
  await call('POST', `${v1}/deal`, dealBody(known, { title, ...times }))
  const expected: { readonly [condition: string]: boolean } = {
    'cf_custom_time_field:eq(09:30)': true,
    'cf_custom_time_field:eq(T09:30:00)': true,
    'cf_custom_time_field:eq(09:30:45)': false,
    'cf_custom_time_field:lt(09:30:00.5)': true,
    'cf_custom_time_field:lt(09:30)': false,
    'cf_custom_time_field:gte(09:30:45)': false,
    'cf_custom_time_range_field:eq(22:00/06:00)': true,
    'cf_custom_time_range_field:eq(22:00:00/06:00)': true,
    'cf_custom_time_range_field:eq(22:00/06:01)': false,
    'cf_custom_time_range_field:in(21:00/22:00,22:00/06:00)': true,
    'cf_custom_time_range_field:neq(22:00/06:01)': true,
    'cf_custom_time_range_field:eq(22:00)': true,
    'cf_custom_time_range_field:neq(22:00)': false,
    'cf_custom_time_range_field:gt(22:00)': false,
    'cf_custom_time_range_field:gt(21:59:30)': true,
    'cf_custom_time_range_field:lte(22:00)': true,
    'cf_custom_time_range_field:between(22:00,22:00)': true,
    'cf_custom_time_range_field.to:eq(06:00)': true,
  }
  for (const [condition, isFound] of Object.entries(expected)) {
    const reply = await list(`?filter=title:eq(${title}),${condition}`)
    assert.equal(reply.body.data?.length, isFound ? 1 : 0, `${condition} ${reply.text.slice(0, 300)}`)
  }
  for (const wrong of ['22:00/', '22:00/06:00/07:00', '25:00/06:00'])
    assert.deepEqual(codes(await list(`?filter=cf_custom_time_range_field:eq(${wrong})`)), [
      'filter invalid_value',
    ])
})

test('numbers in metadata are equal by their value, texts by their characters', async () => {
  const made = async (n: number | string) =>
    (await call('POST', `${v1}/deal`, dealBody(known, { title: 'Of numbers', metadata: { n } }))).body.data.id
  const [number, text] = [await made(100), await made('1.50')]
  const [large, small] = [await made(1e150), await made(2.5e-300)]
  for (const [condition, ids] of [
    ['metadata.n:eq(100.0)', [number]],
    ['metadata.n:eq(1e2)', [number]],
    ['metadata.n:in(1e2,7)', [number]],
    ['metadata.n:neq(100.00)', [text, large, small]],
    ['metadata.n:eq(1.50)', [text]],
    ['metadata.n:eq(1.500)', []],
    ['metadata.n:eq(1e150)', [large]],
    ['metadata.n:eq(10e149)', [large]],
    [`metadata.n:eq(1${'0'.repeat(150)})`, [large]],
    ['metadata.n:eq(2.5e-300)', [small]],
    ['metadata.n:neq(1e150)', [number, text, small]],
    ['metadata.n:eq(1e999999999)', []],
  ] as const) {
    const { data } = (await list(`?filter=title:eq(Of numbers),${condition}&sort=id:asc`)).body
    assert.deepEqual(
      data.map(({ id }: { id: number }) => id),
      ids,
      condition,
    )
  }
})
