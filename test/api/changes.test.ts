/** The changes between two moments (D161): a history with each kind of change, and what it comes to. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { aSecondGoesBy, call, get, known, db, made } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: records and answers of any shape
type Any = any
const path = `${v1}/deal/changes`
const sent = async (method: string, to: string, body?: Json) => {
  const reply = await call(method, `${v1}/${to}`, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body?.data
}
const changes = async (query: Record<string, string>, secret?: string): Promise<Any> => {
  const headers = secret ? { authorization: `Bearer ${secret}` } : {}
  const reply = await call('GET', `${path}?${new URLSearchParams(query)}`, undefined, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
/** The moment between the last write and the next. */
const moment = async () => {
  const [row] = await db.query(`SELECT pg_sleep(0.005)::text AS slept,
    to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`)
  await db.query('SELECT pg_sleep(0.005)::text AS slept')
  return row!.at!
}
let people = 0
const personOf = async (role: number) => {
  const name = `Asker ${++people}`
  const user = await sent('POST', 'user', { name, email: `changes${people}@example.com`, role })
  const { token } = await sent('POST', 'token', { name, user: user.id, scopes: ['admin'] })
  return { user: user.id as number, secret: token as string }
}

const stages: { [name: string]: number } = {}
let pipeline = 0
let other: { pipeline: number; stage: number }
let own: { user: number; secret: string }
let [from, to] = ['', '']
let filter = ''
const ids: { [title: string]: number } = {}
const day = '2027-03-01'

const deal = async (title: string, value: number, members: { [name: string]: Json } = {}) => {
  const { id } = await made(
    'deal',
    dealBody(known, {
      ...{ title, pipeline, pipeline_stage: stages.Early!, expected_close_date: day },
      deal_value: { currency: 'USD', value },
      ...members,
    }),
  )
  ids[title] = id
}
const patch = (title: string, body: Json) => sent('PATCH', `deal/${ids[title]}`, body)
const won = { won_reason: 'Price', deal_closed_on: '2026-03-31' }
const lost = { lost_reason: 'Junk Lead', deal_closed_on: '2026-03-31' }

before(async () => {
  pipeline = (await sent('POST', 'pipeline', { name: 'Changing' })).id
  for (const [name, kind, probability] of [
    ['Early', 'open', 10],
    ['Late', 'open', 50],
    ['Won', 'won', 100],
    ['Lost', 'lost', 0],
  ] as const)
    stages[name] = (await sent('POST', 'pipeline_stage', { pipeline, name, kind, probability })).id
  const second = (await sent('POST', 'pipeline', { name: 'Elsewhere' })).id
  const stage = await sent('POST', 'pipeline_stage', { pipeline: second, name: 'There', probability: 30 })
  other = { pipeline: second, stage: stage.id }
  const { scopes } = (await get(`${v1}/role/3`)).body.data
  own = await personOf((await sent('POST', 'role', { name: 'Own', scopes, visibility: { deal: 'own' } })).id)
  filter = `pipeline:eq(${pipeline})`

  const late = { pipeline_stage: stages.Late! }
  await deal('same', 1)
  await deal('grows', 100)
  await deal('shrinks', 200, late)
  await deal('forward', 1000)
  await deal('back', 1000, late)
  await deal('slips', 10)
  await deal('no date', 11)
  await deal('pulled in', 20)
  await deal('won', 300, late)
  await deal('lost', 400)
  await deal('reopened', 500, { pipeline_stage: stages.Lost!, ...lost })
  await deal('stays lost', 77, { pipeline_stage: stages.Lost!, ...lost })
  await deal('deleted', 600)
  await deal('restored', 650)
  await sent('DELETE', `deal/${ids.restored}`)
  await deal('leaves', 700)
  await deal('arrives', 800, { pipeline: other.pipeline, pipeline_stage: other.stage })
  await deal('handed over', 900, { sales_owner: own.user })
  await deal('several', 40)
  await deal('half a cent', 0.35)
  from = await moment()
  await patch('grows', { deal_value: { currency: 'USD', value: 150 } })
  await patch('shrinks', { deal_value: { currency: 'USD', value: 50 } })
  await patch('forward', late)
  await patch('back', { pipeline_stage: stages.Early! })
  await patch('slips', { expected_close_date: '2027-04-01' })
  await patch('no date', { expected_close_date: null })
  await patch('pulled in', { expected_close_date: '2027-02-01' })
  await patch('won', { pipeline_stage: stages.Won!, ...won })
  await patch('lost', { pipeline_stage: stages.Lost!, ...lost })
  await patch('reopened', { pipeline_stage: stages.Early! })
  await patch('stays lost', { title: 'still lost' })
  await sent('DELETE', `deal/${ids.deleted}`)
  await sent('POST', `deal/${ids.restored}/restore`)
  await patch('leaves', { pipeline: other.pipeline, pipeline_stage: other.stage })
  await patch('arrives', { pipeline, pipeline_stage: stages.Early! })
  await patch('handed over', { sales_owner: known.owner })
  await patch('several', {
    ...late,
    deal_value: { currency: 'USD', value: 60 },
    expected_close_date: '2027-05-01',
  })
  await patch('half a cent', { deal_value: { currency: 'USD', value: 0.45 } })
  await deal('new', 5)
  await deal('new and won', 6, { pipeline_stage: stages.Won!, ...won })
  await deal('new and gone', 7)
  await sent('DELETE', `deal/${ids['new and gone']}`)
  to = await moment()
  // Later changes are not counted.
  await patch('same', { deal_value: { currency: 'USD', value: 99 } })
  await deal('later', 8)
  aSecondGoesBy()
})

/** kind → [deals, value, weighted value] */
const told = ({ steps }: Any) =>
  Object.fromEntries(steps.map((step: Any) => [step.kind, [step.count, step.value, step.weighted_value]]))

test('each kind of change is counted and summed, and the steps add up to the difference', async () => {
  const { before, after, ...answer } = await changes({ from, to, filter })
  assert.deepEqual(told(answer), {
    new: [1, 5, 0.5],
    reopened: [1, 500, 50],
    came_in: [2, 1450, 145],
    // The running sums are rounded half-even, so that the steps add up: here 7.01 begins and ends at a half.
    grown: [3, 70.1, 7],
    moved_forward: [2, 0, 424],
    pulled_in: [1, 0, 0],
    slipped: [3, 0, 0],
    moved_back: [1, 0, -400],
    shrunk: [1, -150, -75],
    went_out: [1, -700, -70],
    deleted: [1, -600, -60],
    lost: [1, -400, -40],
    won: [2, -300, -150],
  })
  const sum = (member: string) =>
    answer.steps.reduce((total: number, step: Any) => Math.round((total + step[member]) * 100) / 100, 0)
  assert.equal(before.count + sum('open'), after.count)
  assert.equal(Math.round((before.value + sum('value')) * 100) / 100, after.value)
  assert.equal(Math.round((before.weighted_value + sum('weighted_value')) * 100) / 100, after.weighted_value)
  assert.deepEqual([before.count, before.without_rate, before.value], [15, 0, 5282.35])
  assert.deepEqual([after.count, after.value], [15, 5157.45])
  const { deal_value } = answer.steps.find((step: Any) => step.kind === 'won')
  assert.equal(deal_value, 306)
})

test('from and to are the forecasts of then, and what came later changes nothing', async () => {
  const open = `status:eq(Open),${filter}`
  const [now] = (await get(`${v1}/deal/aggregate?filter=${open}`)).body.data
  const { after } = await changes({ from, filter })
  assert.deepEqual(
    [after.count, after.value, after.weighted_value],
    [now.count, now.deal_value_in_base_currency.value, now.weighted_value_in_base_currency.value],
  )
  const nothing = await changes({ from: to, to, filter })
  assert.deepEqual(nothing.steps, [])
  assert.deepEqual(nothing.before, nothing.after)
  // The end of today is in the future.
  const today = (await db.query(`SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`))[0]!.day!
  assert.equal((await changes({ from, to: today, filter })).after.count, after.count)
})

test('each step has its deals, as they were and as they became, page by page', async () => {
  const { steps } = await changes({ from, to, filter })
  const dealsOf = (kind: string) => steps.find((step: Any) => step.kind === kind).deals
  assert.deepEqual(
    dealsOf('grown').map(({ title }: Any) => title),
    ['grows', 'several', 'half a cent'],
  )
  const [first] = dealsOf('moved_forward')
  const state = { sales_owner: first.before.sales_owner, expected_close_date: day, value: 1000 }
  assert.deepEqual(first, {
    ...{ id: ids.forward, title: 'forward' },
    before: { ...state, pipeline_stage: { id: stages.Early, name: 'Early' }, weighted_value: 100 },
    after: { ...state, pipeline_stage: { id: stages.Late, name: 'Late' }, weighted_value: 500 },
  })
  assert.equal(first.before.sales_owner.id, known.owner)
  assert.deepEqual([dealsOf('new')[0].before, dealsOf('deleted')[0].after], [null, null])
  assert.deepEqual(
    dealsOf('came_in').map(({ title }: Any) => title),
    ['arrives', 'restored'],
  )
  const slipped: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: Any = await changes({
      from,
      to,
      filter,
      kind: 'slipped',
      pageSize: '1',
      ...(after && { after }),
    })
    assert.equal(page.steps.length, 1)
    const [{ deals, hasMore, count }] = page.steps
    assert.deepEqual([deals.length, count], [1, 3])
    slipped.push(deals[0].title)
    after = hasMore ? String(deals[0].id) : null
  }
  assert.deepEqual(slipped, ['several', 'no date', 'slips'])
})

test('deals of a step that go on behind one that left it are refused, not cut short', async () => {
  const since = await moment()
  const made = []
  for (const title of ['Kept', 'Leaves', 'Last'])
    made.push(await sent('POST', 'deal', dealBody(known, { title, company: null })))
  const query = { from: since, kind: 'new', pageSize: '1' }
  const [{ deals, hasMore }] = (await changes(query)).steps
  assert.equal(hasMore, true)
  await sent('DELETE', `deal/${deals[0].id}`)
  const reply = await get(`${path}?${new URLSearchParams({ ...query, after: String(deals[0].id) })}`)
  assert.equal(reply.status, 400, reply.text)
  assert.deepEqual(
    reply.body.errors.map(({ parameter, code }: Any) => `${parameter} ${code}`),
    ['after invalid_value'],
  )
  for (const { id } of made) if (id !== deals[0].id) await sent('DELETE', `deal/${id}`)
})

test('the same for each owner: a deal that is handed over leaves one forecast and comes into the other', async () => {
  const { owners, hasMore } = await changes({ from, to, filter, by: 'owner' })
  assert.equal(hasMore, false)
  const of = (id: number) => owners.find(({ sales_owner }: Any) => sales_owner.id === id)
  assert.deepEqual(told(of(own.user)), { went_out: [1, -900, -90] })
  assert.deepEqual([of(own.user).before.value, of(own.user).after.value], [900, 0])
  assert.deepEqual(told(of(known.owner)).came_in, [3, 2350, 235])
  for (const id of [own.user, known.owner]) {
    const alone = await changes({ from, to, filter: `${filter},sales_owner:eq(${id})` })
    const { sales_owner: _, ...shown } = of(id)
    assert.deepEqual({ ...told(alone), before: alone.before }, { ...told(shown), before: shown.before })
  }
})

test('a deal that is expected outside of the forecast has left it', async () => {
  const march = await changes({ from, to, filter, expected_from: '2027-03-01', expected_to: '2027-03-31' })
  const { slipped, pulled_in } = told(march)
  assert.deepEqual(slipped, [3, -61, -6.1])
  assert.deepEqual(pulled_in, [1, -20, -2])
  assert.equal(told(march).grown[0], 2)
  // A won deal is counted, on whatever day it was expected.
  const april = await changes({ from, to, filter, expected_from: '2027-04-01', expected_to: '2027-04-30' })
  assert.deepEqual(
    [april.before.count, told(april)],
    [0, { slipped: [1, 10, 1], lost: [1, 0, 0], won: [2, 0, 0] }],
  )
})

test('who sees their own deals is told of these, and of nothing that a role hides (D63, D64, D65)', async () => {
  // The deal was theirs, and is no more.
  const seen = await changes({ from, to }, own.secret)
  assert.deepEqual([seen.before.count, seen.after.count, seen.steps], [0, 0, []])
  const { scopes } = (await get(`${v1}/role/4`)).body.data
  const asRole = async (...hidden_fields: string[]) =>
    (await personOf((await sent('POST', 'role', { name: hidden_fields.join(), scopes, hidden_fields })).id))
      .secret
  const blind = await asRole('deal.deal_value', 'deal.expected_close_date', 'deal.sales_owner')
  const { before, steps } = await changes({ from, to, filter }, blind)
  assert.deepEqual(before, { count: 15 })
  const kinds = steps.map((step: Any) => step.kind)
  assert.ok(
    !kinds.some((kind: string) => ['grown', 'shrunk', 'rates', 'slipped', 'pulled_in'].includes(kind)),
  )
  assert.deepEqual(Object.keys(steps[0]).sort(), ['count', 'deals', 'hasMore', 'kind', 'open'])
  assert.deepEqual(Object.keys(steps[0].deals[0].after), ['pipeline_stage'])
  for (const [asked, parameter, field] of [
    ['by=owner', 'by', 'sales_owner'],
    ['expected_to=2027-01-01', 'expected_to', 'expected_close_date'],
    ['kind=slipped', 'kind', 'expected_close_date'],
    ['kind=pulled_in', 'kind', 'expected_close_date'],
    ...['grown', 'shrunk', 'rates'].map(kind => [`kind=${kind}`, 'kind', 'deal_value_in_base_currency']),
  ] as const) {
    const headers = { authorization: `Bearer ${blind}` }
    const { status, body } = await call('GET', `${path}?from=${from}&${asked}`, undefined, headers)
    const problems = body.errors.map((one: Any) => [one.parameter, one.code, one.message])
    const message = `There is no field "${field}".`
    assert.deepEqual([status, problems], [400, [[parameter, 'unknown_field', message]]], asked)
  }
  const unstaged = await asRole('deal.pipeline_stage')
  const reply = await call('GET', `${path}?from=${from}`, undefined, { authorization: `Bearer ${unstaged}` })
  assert.deepEqual([reply.status, reply.body.errors[0].code], [400, 'unknown_field'])
  const alone = await personOf((await sent('POST', 'role', { name: 'Alone', scopes: ['deal:read'] })).id)
  const refused = await call('GET', `${path}?from=${from}`, undefined, {
    authorization: `Bearer ${alone.secret}`,
  })
  assert.equal(refused.status, 403)
})

test('what is wrong is told at once', async () => {
  const wrong = async (query: string, ...codes: string[]) => {
    const reply = await get(`${path}?${query}`)
    const problems = reply.body.errors.map((one: Any) => `${one.parameter} ${one.code}`)
    assert.deepEqual([reply.status, problems.toSorted()], [400, codes.toSorted()], reply.text)
  }
  await wrong('', 'from required')
  await wrong('from=yesterday&to=2026-02-30', 'from invalid_value', 'to invalid_value')
  await wrong('from=2026-01-01T10:00:00', 'from invalid_value')
  await wrong(`from=${to}&to=${from}`, 'to contradiction')
  await wrong('from=2026-02-02&to=2026-02-01', 'to contradiction')
  await wrong('from=2999-01-01', 'from invalid_value')
  await wrong(`from=${from}&to=2999-01-01T00:00:00Z`, 'to invalid_value')
  await wrong(
    `from=${from}&by=stage&kind=better&pageSize=101&after=x&expected_from=1&filter=no_such:eq(1)&as_of=2026-01-01`,
    ...['by invalid_value', 'kind invalid_value', 'pageSize invalid_value', 'after invalid_value'],
    ...[
      'after contradiction',
      'expected_from invalid_value',
      'filter unknown_field',
      'as_of unknown_parameter',
    ],
  )
  await wrong(`from=${from}&expected_from=2027-02-01&expected_to=2027-01-01`, 'expected_to contradiction')
  const old = await get(`${path}?from=1990-01-01`)
  assert.deepEqual([old.status, old.body.code], [422, 2003])
  assert.match(old.body.detail, /begin on \d{4}-/)
})

test('another rate is no step before the value of its deal is changed: both moments have it', async () => {
  const { id: euro } = (await get(`${v1}/currency/view/list?filter=code:eq(EUR)`)).body.data[0]
  const rateOf = (rate: number) => sent('PATCH', `currency/${euro}`, { rate })
  await rateOf(2)
  await deal('in euros', 10, { deal_value: { currency: 'EUR', value: 10 } })
  const only = { filter: `id:eq(${ids['in euros']})`, from: await moment() }
  await rateOf(3)
  const untouched = await changes(only)
  assert.deepEqual([untouched.before.value, untouched.after.value, untouched.steps], [30, 30, []])
  await patch('in euros', { title: 'still in euros' })
  const touched = await changes(only)
  assert.deepEqual([touched.before.value, touched.after.value, told(touched)], [30, 30, {}])
  // Its value is changed, and is then the same again at another rate.
  await patch('in euros', { deal_value: { currency: 'EUR', value: 20 } })
  await rateOf(4)
  await patch('in euros', { deal_value: { currency: 'EUR', value: 10 } })
  assert.deepEqual(told(await changes(only)), { rates: [1, 10, 1] })
})
