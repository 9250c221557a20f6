/** A board in one request (D129), compared with the separate lists and sums. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const { call, get, known, made } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: records and answers of any shape
type Any = any
const path = `${v1}/deal/view/board`
type Query = Record<string, string> | [string, string][]
const asked = async (secret: string | null, url: string) =>
  call('GET', url, undefined, secret ? { authorization: `Bearer ${secret}` } : {})
const board = async (query: Query = {}, secret: string | null = null): Promise<Any> => {
  const reply = await asked(secret, `${path}?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const list = async (query: Query, secret: string | null = null): Promise<Any> => {
  const reply = await asked(secret, `${v1}/deal/view/list?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const getAll = (resource: string, filter: string) =>
  call('GET', `${v1}/${resource}/view/list?filter=${filter}&sort=position:asc&pageSize=500`).then(
    ({ body }) => body,
  )
let askers = 0
const secretOf = async (role: Json) => {
  const name = `Asker ${++askers}`
  const user = await made('user', { name, email: `board${askers}@example.com`, role })
  const token = await made('token', { name, user: user.id, scopes: ['admin'] })
  return { user: user.id as number, secret: token.token as string }
}

let own: { user: number; secret: string }
let blind: { user: number; secret: string }

before(async () => {
  const { scopes } = (await get(`${v1}/role/3`)).body.data
  const ownDeals = await made('role', { name: 'Own deals', scopes, visibility: { deal: 'own' } })
  const hidden_fields = ['deal.deal_value']
  const noMoney = await made('role', { name: 'No money', scopes, hidden_fields })
  own = await secretOf(ownDeals.id)
  blind = await secretOf(noMoney.id)
  const [unrated] = (await get(`${v1}/currency/view/list?filter=rate:isnull(true),decimals:eq(2)`)).body.data
  for (const [index, currency] of ['EUR', 'USD', unrated.code, 'JPY'].entries()) {
    const deal_value = { currency, value: 100.5 + index - (currency === 'JPY' ? 0.5 : 0) }
    await made('deal', dealBody(known, { title: `Ours ${index}`, sales_owner: own.user, deal_value }))
  }
  await made('deal', dealBody(known, { title: 'Ours without a value', sales_owner: own.user }))
})

/** The board, after each of its stages was compared with the list and the sums of its deals. */
async function compared(query: [string, string][], secret: string | null = null): Promise<Any> {
  const { stages, ...rest } = await board(query, secret)
  const size: [string, string] = ['pageSize', new Map(query).get('pageSize') ?? '30']
  const own = new Set(['pipeline', 'pageSize', 'closed_since'])
  const since = new Map(query).get('closed_since')
  for (const stage of stages) {
    const shared = query.filter(([name]) => !own.has(name))
    if (since && stage.kind !== 'open') shared.push(['filter', `deal_closed_on:gte(${since})`])
    const filters = shared.filter(([name]) => name === 'filter')
    const grouped = new URLSearchParams([...filters, ['group_by', 'pipeline_stage']])
    const sums = (await asked(secret, `${v1}/deal/aggregate?${grouped}`)).body.data
    const within: [string, string][] = [...shared, ['filter', `pipeline_stage:eq(${stage.id})`], size]
    const first = await list(within, secret)
    assert.deepEqual(stage.records, first.data, stage.name)
    assert.equal(stage.count, first.meta.total, stage.name)
    assert.equal(stage.hasMore, first.meta.hasMore)
    const group = sums.find((one: Any) => one.group === stage.id)
    assert.equal(stage.count, group?.count ?? 0)
    assert.deepEqual(stage.value, group?.deal_value_in_base_currency.value ?? 0)
    assert.deepEqual(stage.weighted_value, group?.weighted_value_in_base_currency.value ?? 0)
    assert.equal(stage.without_rate, group?.without_rate ?? 0)
    assert.deepEqual(
      stage.by_currency.map(({ count: _, ...money }: Any) => money),
      group?.deal_value ?? [],
    )
    assert.equal(stage.nextCursor !== null, stage.hasMore)
    if (!stage.hasMore) continue
    const [next, second] = [
      await list([...within, ['cursor', stage.nextCursor]], secret),
      await list([...within, ['page', '2']], secret),
    ]
    assert.deepEqual(next.data, second.data, stage.name)
  }
  return { ...rest, stages }
}

test('a board has the stages of the first pipeline in their order, with what lists and sums say', async () => {
  const answered = await compared([])
  const { data } = await getAll('pipeline_stage', `pipeline:eq(${answered.pipeline.id})`)
  assert.deepEqual(
    answered.stages.map(({ id, name, position, rotting_days }: Any) => [id, name, position, rotting_days]),
    data.map(({ id, name, position, rotting_days }: Any) => [id, name, position, rotting_days ?? null]),
  )
  assert.equal(answered.pipeline.id, known.pipeline)
  assert.deepEqual(answered.currency, { id: 840, code: 'USD' })
  assert.ok(answered.stages.some((stage: Any) => stage.count > 0))
  const { by_currency, count } = answered.stages.find((stage: Any) => stage.name === 'New')
  const counted = by_currency.reduce((sum: number, one: Any) => sum + one.count, 0)
  assert.ok(counted > 0 && counted < count, 'a deal has no value')
  assert.ok(answered.stages.some((stage: Any) => stage.without_rate > 0))
})

test('filters, orders, fields, names and sizes are those of lists', async () => {
  const queries: [string, string][][] = [
    [['pageSize', '2']],
    [
      ['pageSize', '2'],
      ['sort', 'deal_value:desc'],
    ],
    [
      ['closed_since', new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)],
      ['filter', 'sales_owner:notnull(true)'],
      ['pageSize', '2'],
    ],
    [['closed_since', '2999-01-01']],
    [
      ['pageSize', '3'],
      ['sort', 'expected_close_date:asc,title:desc'],
    ],
    [
      ['pageSize', '2'],
      ['sort', 'source:asc'],
    ],
    [
      ['pageSize', '2'],
      ['sort', 'primary_contact:asc'],
      ['expand', 'primary_contact,sales_owner'],
    ],
    [
      ['fields', 'title,deal_value'],
      ['pageSize', '5'],
    ],
    [
      ['filter', 'status:eq(Open),deal_value:gt(1000)'],
      ['pageSize', '2'],
    ],
    [
      ['filter', 'title:like(a)'],
      ['filter', 'cf_custom_dropdown_field:notnull(true)'],
      ['pageSize', '1'],
    ],
    [
      ['filter', 'primary_contact.last_name:like(e)'],
      ['pageSize', '2'],
      ['sort', 'pipeline_stage:asc'],
    ],
    [['filter', 'deal_value:isnull(true)']],
    [
      ['pipeline', String(known.pipeline)],
      ['pageSize', '1'],
    ],
  ]
  for (const query of queries) await compared(query)
})

test('a stage without deals is there, with zeros', async () => {
  const { stages } = await compared([['filter', 'title:eq(there is no such deal)']])
  assert.ok(stages.length > 3)
  for (const { count, value, weighted_value, by_currency, without_rate, records, ...stage } of stages) {
    const sums = { count, value, weighted_value, without_rate }
    assert.deepEqual(sums, { count: 0, value: 0, weighted_value: 0, without_rate: 0 })
    assert.deepEqual([by_currency, records, stage.hasMore, stage.nextCursor], [[], [], false, null])
  }
})

test('whoever sees their own deals has a board of these (D63)', async () => {
  const { stages } = await compared([], own.secret)
  const counts = stages.map((stage: Any) => stage.count)
  assert.equal(
    counts.reduce((sum: number, count: number) => sum + count, 0),
    5,
  )
  const all = await board()
  assert.ok(all.stages[0].count > stages[0].count)
})

test('what a role hides is not on its board (D64)', async () => {
  const { stages } = await board({}, blind.secret)
  for (const stage of stages) {
    const absent = ['value', 'weighted_value', 'by_currency', 'without_rate']
    assert.deepEqual(
      absent.filter(name => name in stage),
      [],
    )
    for (const record of stage.records) assert.ok(!('deal_value' in record))
  }
  assert.ok(stages[0].count > 0)
  const filtered = await asked(blind.secret, `${path}?filter=deal_value:gt(1)`)
  assert.deepEqual([filtered.status, problemsOf(filtered)], [400, [' unknown_field']])
})

test('a role that hides the stage of deals has no board, and one that hides probabilities sees none', async () => {
  const { scopes } = (await get(`${v1}/role/4`)).body.data
  const noStage = await secretOf(
    (await made('role', { name: 'No stage', scopes, hidden_fields: ['deal.pipeline_stage'] })).id,
  )
  const noChance = await secretOf(
    (await made('role', { name: 'No chance', scopes, hidden_fields: ['pipeline_stage.probability'] })).id,
  )
  const reply = await asked(noStage.secret, path)
  assert.deepEqual([reply.status, problemsOf(reply)], [400, [' unknown_field']])
  // Hints don't name hidden fields either.
  for (const what of ['view/board', 'funnel']) {
    const guess = await asked(noStage.secret, `${v1}/deal/${what}?pipeline=Foo`)
    assert.deepEqual([guess.status, problemsOf(guess)], [400, [' unknown_field']], guess.text)
  }
  // How many deals a stage has since a day tells if it is a closed one.
  const noKind = await secretOf(
    (await made('role', { name: 'No kind', scopes, hidden_fields: ['pipeline_stage.kind'] })).id,
  )
  const since = await asked(noKind.secret, `${path}?closed_since=2999-01-01`)
  assert.deepEqual([since.status, problemsOf(since)], [400, [' unknown_field']], since.text)
  assert.ok((await board({}, noKind.secret)).stages.every((stage: Any) => !('kind' in stage)))
  const { stages } = await board({}, noChance.secret)
  assert.ok(stages.every((stage: Any) => !('probability' in stage)))
})

test('names of stages need the scope to read them (D65)', async () => {
  const role = await made('role', { name: 'Deals alone', scopes: ['deal:read', 'pipeline:read'] })
  const { secret } = await secretOf(role.id)
  for (const guess of ['', '?pipeline=Foo']) {
    const reply = await asked(secret, path + guess)
    assert.equal(reply.status, 403)
    assert.match(reply.body.detail, /pipeline_stage:read/)
  }
})

test('what is wrong is told at once', async () => {
  const wrong = async (query: string, ...codes: string[]) => {
    const reply = await get(`${path}?${query}`)
    const told = reply.body.errors.map((one: Any) => `${one.parameter} ${one.code}`)
    assert.deepEqual([reply.status, told.toSorted()], [400, codes.toSorted()], reply.text)
  }
  await wrong('pipeline=999999999', 'pipeline invalid_value')
  await wrong('pipeline=Nowhere', 'pipeline invalid_value')
  await wrong('pipeline=1&pipeline=2', 'pipeline contradiction', 'pipeline invalid_value')
  await wrong('filter=title:near(x)', 'filter syntax')
  await wrong('page=2', 'page unknown_parameter')
  await wrong('cursor=x&as_of=2026-01-01', 'cursor unknown_parameter', 'as_of unknown_parameter')
  await wrong('pageSize=101', 'pageSize invalid_value')
  await wrong('closed_since=lately', 'closed_since invalid_value')
  await wrong(
    'closed_since=2026-01-01&filter=title:near(x)&pageSize=0',
    'filter syntax',
    'pageSize invalid_value',
  )
  await wrong(
    'pipeline=none&filter=no_such:eq(1)&sort=tags:asc&fields=x&expand=title&pageSize=0',
    ...['pipeline invalid_value', 'filter unknown_field', 'sort not_sortable', 'fields unknown_field'],
    ...['expand not_expandable', 'pageSize invalid_value'],
  )
})

test('a pipeline of many stages has a board, and its stages share how many deals are answered', async () => {
  const { id: pipeline } = await made('pipeline', { name: 'Many stages' })
  const stages: number[] = []
  for (let index = 0; index < 45; index++)
    stages.push((await made('pipeline_stage', { pipeline, name: `Stage ${index}` })).id)
  for (const index of [0, 7, 7, 7, 44])
    await made('deal', dealBody(known, { pipeline, pipeline_stage: stages[index]! }))
  const answered = await compared([
    ['pipeline', 'many stages'],
    ['pageSize', '2'],
  ])
  assert.deepEqual(
    answered.stages.map(({ id }: Any) => id),
    stages,
  )
  assert.deepEqual(
    [0, 7, 8, 44].map(index => answered.stages[index].count),
    [1, 3, 0, 1],
  )
  const first = await board()
  assert.notEqual(first.pipeline.id, pipeline)
  const tooMany = await get(`${path}?pipeline=${pipeline}&pageSize=67`)
  assert.equal(tooMany.status, 400)
  assert.match(tooMany.body.errors[0].message, /at most 66 for 45 stages/)
  await call('DELETE', `${v1}/pipeline_stage/${stages[3]}`)
  const left = await board({ pipeline: String(pipeline) })
  assert.equal(left.stages.length, 44)
})

test('stages of one position are in the order of their ids, in boards, funnels, lists and sorts', async () => {
  const pipeline = (await made('pipeline', { name: 'Tied' })).id
  const made3 = []
  for (const name of ['Third', 'First', 'Second'])
    made3.push(await made('pipeline_stage', { pipeline, name, position: name === 'Third' ? 9 : 4 }))
  const order = [made3[1].id, made3[2].id, made3[0].id]
  const ids = (all: readonly { id: number }[]) => all.map(({ id }) => id).filter(id => order.includes(id))
  const told = async (path: string) => (await get(`${v1}/${path}`)).body.data
  assert.deepEqual(ids((await told(`deal/view/board?pipeline=${pipeline}`)).stages), order)
  assert.deepEqual(
    ids(await told(`pipeline_stage/view/list?filter=pipeline:eq(${pipeline})&sort=position:asc`)),
    order,
  )
  assert.deepEqual(ids(await told('field/dropdown?name=pipeline_stage')), order)
})

test('a stage or pipeline that has the id of another one as its name takes none of its deals', async () => {
  const [one, other] = [await made('pipeline', { name: 'One' }), await made('pipeline', { name: 'Other' })]
  const stage = (name: string) => made('pipeline_stage', { pipeline: other.id, name })
  const [open, talk] = [await stage('Open'), await stage('Talk')]
  for (const pipeline_stage of [open.id, open.id, talk.id, talk.id])
    await made('deal', dealBody(known, { pipeline: other.id, pipeline_stage }))
  const renamed = async (path: string, name: string) =>
    assert.equal((await call('PATCH', `${v1}/${path}`, { name })).status, 200)
  await renamed(`pipeline_stage/${open.id}`, String(talk.id))
  await renamed(`pipeline/${one.id}`, String(other.id))
  const { stages } = await compared([
    ['pipeline', String(other.id)],
    ['pageSize', '1'],
  ])
  assert.deepEqual(
    stages.map(({ id, count }: Any) => [id, count]),
    [
      [open.id, 2],
      [talk.id, 2],
    ],
  )
})
