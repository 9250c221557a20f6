/** Sums by several keys, dates and measures (D85), compared with a computation over the records. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import Big from 'big.js'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { keepDaysSteady } from '../support/steady-days.ts'
import { createToken } from '../support/tokens.ts'

const { aSecondGoesBy, call, db, get, known, made } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: records and answers of any shape
type Any = any
const sums = async (query: Record<string, string>, resource = 'deal') => {
  const reply = await get(`${v1}/${resource}/aggregate?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const all = async (resource: string, filter = ''): Promise<Any[]> => {
  const told: Any[] = []
  for (let page = 1, hasMore = true; hasMore; page++) {
    const query = new URLSearchParams({ pageSize: '500', page: String(page), ...(filter ? { filter } : {}) })
    const { data, meta } = (await get(`${v1}/${resource}/view/list?${query}`)).body
    told.push(...data)
    hasMore = meta.hasMore
  }
  return told
}

const zone = 'America/New_York'
let rates: Map<number, string>
let decimals: Map<number, number>

before(async () => {
  // The days of New York, which has daylight saving time, are not those of UTC.
  await call('PATCH', `${v1}/account`, { time_zone: zone })
  await keepDaysSteady(db)
  // The sample's deals were created in the ten hours before this hour of the day: none ages by a day within
  // an hour.
  await db.query("UPDATE deal SET created_at = created_at + interval '1 hour' * (11 + id % 12)")
  await db.query(`UPDATE deal SET document = regexp_replace(document, '"created_at":"[^"]*"',
    '"created_at":"' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"')`)
  const products = await all('product')
  for (const [index, stage] of ['New', 'Qualified', 'Won', 'Won', 'Lost'].entries()) {
    const closing = ['Won', 'Lost'].includes(stage)
      ? { [`${stage.toLowerCase()}_reason`]: 1, deal_closed_on: '2026-03-29' }
      : {}
    const reasons = Object.values(known.options[`${stage.toLowerCase()}_reason`] ?? {})
    await made(
      'deal',
      dealBody(known, {
        title: `Lines ${index}`,
        pipeline_stage: known.stages[stage]!,
        ...closing,
        ...(reasons.length ? { [`${stage.toLowerCase()}_reason`]: reasons[0]! } : {}),
        expected_deal_value: { currency: ['EUR', 'CHF', 'JPY'][index % 3]!, value: 1000 + index },
        deal_value: {
          currency: ['EUR', 'USD', 'GBP'][index % 3]!,
          value: 777 + index * 13,
          products: products.slice(index, index + 4).map((product: Any, at: number) => ({
            product: product.id,
            quantity: at + 1.5,
            unit_price: 10 + index,
          })),
        },
      }),
    )
  }
  const currencies = await all('currency')
  rates = new Map(currencies.filter(one => one.rate !== null).map(one => [one.id, String(one.rate)]))
  decimals = new Map(currencies.map(one => [one.id, one.decimals]))
  aSecondGoesBy()
})

/** The calendar date of a value in the account's time zone. */
function dayOf(value: string): string {
  if (value.length === 10) return value
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date(value))
}

function bucketOf(value: string | null | undefined, unit: string): string | null {
  if (!value) return null
  const day = new Date(`${dayOf(value)}T00:00:00Z`)
  if (unit === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  if (['month', 'quarter', 'year'].includes(unit)) day.setUTCDate(1)
  if (unit === 'quarter') day.setUTCMonth(Math.floor(day.getUTCMonth() / 3) * 3)
  if (unit === 'year') day.setUTCMonth(0)
  return day.toISOString().slice(0, 10)
}

function keyOf(record: Any, key: string): Json {
  const [name, unit] = key.split(':') as [string, string?]
  return unit ? bucketOf(record[name], unit) : (record[name] ?? null)
}

function fold(name: string, values: readonly Big[], places: number): number | null {
  const sorted = values.toSorted((one, other) => one.cmp(other))
  const sum = values.reduce((total, value) => total.plus(value), new Big(0))
  if (name === 'sum') return sum.round(places, Big.roundHalfEven).toNumber()
  if (values.length === 0) return null
  const exact: { [name: string]: Big } = {
    avg: sum.div(values.length),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    median: sorted[Math.floor((sorted.length - 1) / 2)]!.plus(sorted[Math.floor(sorted.length / 2)]!).div(2),
  }
  return exact[name]!.round(places, Big.roundHalfEven).toNumber()
}

/** An amount of a deal in the base currency: a closed deal has the rate of its closing. */
function inBase(deal: Any, name: string): Big | null {
  const money = deal[name]
  if (!money) return null
  const kept = deal.deal_value_in_base_currency?.value
  if (name === 'deal_value' || name === 'deal_value_in_base_currency')
    return kept === undefined ? null : new Big(kept)
  if (name === 'weighted_value')
    return kept === undefined ? null : new Big(kept).times(deal.stage_probability).div(100)
  const rate = rates.get(money.currency)
  const isOwn = deal.status !== 1 && deal.deal_value?.value && deal.deal_value.currency === money.currency
  if (isOwn) return kept === undefined ? null : new Big(money.value).times(kept).div(deal.deal_value.value)
  return rate === undefined ? null : new Big(money.value).times(rate)
}

function measured(records: readonly Any[], measure: string): Any {
  if (measure === 'count') return records.length
  const [name, field] = measure.split(':') as [string, string]
  const values = records.map(record => record[field] ?? null).filter(value => value !== null)
  if (!values.some(value => typeof value === 'object') && !/value|amount/.test(field))
    return fold(
      name,
      values.map(value => new Big(String(value))),
      6,
    )
  const by_currency = [...Map.groupBy(values, value => value.currency)]
    .sort(([one], [other]) => one - other)
    .map(([currency, some]) => ({
      currency,
      currency_code: some[0].currency_code,
      value: fold(
        name,
        some.map(value => new Big(String(value.value))),
        decimals.get(currency)!,
      ),
    }))
  const bases = records.map(record => inBase(record, field)).filter(value => value !== null)
  const value = fold(name, bases, 2)
  return {
    by_currency,
    in_base_currency: value === null ? null : { currency: 840, currency_code: 'USD', value },
    without_rate: values.length - bases.length,
  }
}

test('measures of groups agree with a computation over the deals', async () => {
  const units = ['day', 'week', 'month', 'quarter', 'year']
  const keys = [
    ...['pipeline_stage', 'sales_owner', 'source', 'status', 'territory', 'cf_custom_dropdown_field'],
    ...['expected_close_date', 'deal_closed_on', 'created_at', 'won_time', 'cf_custom_date_field'].flatMap(
      name => units.map(unit => `${name}:${unit}`),
    ),
  ]
  const fields = [
    ...['deal_value', 'weighted_value', 'expected_deal_value', 'product_amount', 'age', 'stage_probability'],
    ...['deal_value_in_base_currency', 'product_quantity', 'cf_custom_number_field', 'rotting_days'],
  ]
  let state = 11
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const pick = <T>(of: readonly T[]): T => of[random(of.length)]!
  const filters = ['', 'status:eq(Open)', 'status:in(Won,Lost)', 'title:like(Lines)', 'title:like(nothing)']
  for (let index = 0; index < 60; index++) {
    const group_by = [...new Set(Array.from({ length: random(4) }, () => pick(keys)))]
    const some = Array.from({ length: 1 + random(4) }, () =>
      random(5) ? `${pick(['sum', 'avg', 'min', 'max', 'median'])}:${pick(fields)}` : 'count',
    )
    const measures = [...new Set(some)]
    const filter = pick(filters)
    const asked = {
      measures: measures.join(),
      ...(group_by.length ? { group_by: group_by.join() } : {}),
      ...(filter ? { filter } : {}),
    }
    const { data, meta } = await sums(asked)
    assert.equal(meta.group_by, group_by.join() || null)
    const deals = await all('deal', filter)
    const groups = Map.groupBy(deals, deal => JSON.stringify(group_by.map(key => keyOf(deal, key))))
    const named = (group: Any) =>
      JSON.stringify(group.groups?.map((one: Any) => one.group) ?? (group_by.length ? [group.group] : []))
    assert.deepEqual(data.map(named).toSorted(), [...groups.keys()].toSorted(), JSON.stringify(asked))
    for (const group of data) {
      const mine = groups.get(named(group))!
      for (const measure of measures)
        assert.deepEqual(group[measure], measured(mine, measure), `${JSON.stringify(asked)} ${measure}`)
    }
  }
})

test('the largest by the first measure come first; several keys have a name each', async () => {
  const { data } = await sums({ group_by: 'pipeline_stage,expected_close_date:month', measures: 'max:age' })
  const ages = data.map((group: Any) => group['max:age'])
  assert.deepEqual(
    ages,
    ages.toSorted((one: number, other: number) => other - one),
  )
  const [stage, month] = data.find((group: Any) => group.groups[1].group !== null).groups
  assert.deepEqual([stage.group_by, month.group_by], ['pipeline_stage', 'expected_close_date:month'])
  assert.ok(Object.keys(known.stages).includes(stage.name))
  assert.deepEqual([month.group.slice(-3), month.name], ['-01', null])
  const standard = await sums({ group_by: 'status,source' })
  const whole = await sums({ group_by: 'status' })
  for (const { group, count } of whole.data) {
    const mine = standard.data.filter((one: Any) => one.groups[0].group === group)
    assert.equal(
      mine.reduce((sum: number, one: Any) => sum + one.count, 0),
      count,
    )
  }
})

test('product lines: revenue and quantity by product', async () => {
  const deals = await all('deal')
  const lines = deals.flatMap(deal =>
    (deal.deal_value?.products ?? []).map((line: Any) => ({ ...line, deal })),
  )
  for (const [group_by, keys] of [
    ['product', [(line: Any) => line.product]],
    ['status,product', [(line: Any) => line.deal.status, (line: Any) => line.product]],
  ] as const) {
    const { data } = await sums({ group_by })
    const groups = Map.groupBy(lines, line => JSON.stringify(keys.map(key => key(line))))
    assert.equal(data.length, groups.size)
    for (const group of data) {
      const key = JSON.stringify(group.groups?.map((one: Any) => one.group) ?? [group.group])
      const mine = groups.get(key)!
      assert.equal(group.count, new Set(mine.map(({ deal }) => deal.id)).size)
      assert.equal(
        group['sum:quantity'],
        fold(
          'sum',
          mine.map(line => new Big(line.quantity)),
          6,
        ),
      )
      const by = Map.groupBy(mine, ({ deal }) => deal.deal_value.currency as number)
      assert.deepEqual(
        group['sum:revenue'].by_currency.map((one: Any) => [one.currency, one.value]),
        [...by]
          .sort(([one], [other]) => one - other)
          .map(([currency, some]) => [
            currency,
            fold(
              'sum',
              some.map(line => new Big(line.amount)),
              2,
            ),
          ]),
      )
      const bases = mine.map(({ deal, amount }) =>
        inBase({ ...deal, revenue: { ...deal.deal_value, value: amount } }, 'revenue'),
      )
      const known = bases.filter(value => value !== null)
      assert.equal(group['sum:revenue'].in_base_currency.value, fold('sum', known, 2))
      assert.equal(group['sum:revenue'].without_rate, bases.length - known.length)
      assert.ok((group.name ?? group.groups.at(-1).name).length > 1)
    }
  }
  const averages = await sums({ group_by: 'product,deal_closed_on:year', measures: 'avg:revenue,count' })
  assert.deepEqual(Object.keys(averages.data[0]), ['groups', 'avg:revenue', 'count'])
})

test('products: their numbers, by dropdown and time', async () => {
  const products = await all('product')
  const { data } = await sums(
    { group_by: 'active,created_at:month', measures: 'count,sum:quantity_in_stock,max:base_currency_amount' },
    'product',
  )
  const groups = Map.groupBy(products, one => JSON.stringify([one.active, bucketOf(one.created_at, 'month')]))
  assert.equal(data.length, groups.size)
  for (const group of data) {
    const mine = groups.get(JSON.stringify(group.groups.map((one: Any) => one.group)))!
    assert.equal(group.count, mine.length)
    assert.equal(group['sum:quantity_in_stock'], measured(mine, 'sum:quantity_in_stock'))
    const largest = Math.max(...mine.map(one => one.base_currency_amount?.value ?? 0))
    assert.equal(group['max:base_currency_amount'].in_base_currency.value, largest)
  }
  assert.deepEqual((await sums({}, 'product')).data, [{ group: null, name: null, count: products.length }])
})

test('sums and bounds of numbers have all their decimals, averages six', async () => {
  await made('field', { source: 'company', field_name: 'Share', type: 'SINGLE_NUMBER' })
  for (const cf_share of [0.0000004, 0.0000005])
    await made('company', { name: `Share ${cf_share}`, cf_share })
  const measures = 'sum:cf_share,max:cf_share,min:cf_share,avg:cf_share'
  const { data } = await sums({ measures, filter: 'name:like(Share)' }, 'company')
  const [{ group: _, name: __, ...found }] = data
  assert.deepEqual(found, {
    'sum:cf_share': 9e-7,
    'max:cf_share': 5e-7,
    'min:cf_share': 4e-7,
    'avg:cf_share': 0,
  })
})

test('the parameters may be sent in a body', async () => {
  const asked = { group_by: ['status', 'created_at:year'], measures: ['count', 'median:age'] }
  const reply = await call('POST', `${v1}/deal/aggregate`, { ...asked, filter: ['status:eq(Won)'] })
  const same = { group_by: asked.group_by.join(), measures: asked.measures.join(), filter: 'status:eq(Won)' }
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body, await sums(same))
})

test('no more than a thousand groups are answered', async () => {
  await db.query(
    `INSERT INTO deal SELECT n.* FROM deal d, generate_series(1, 1100) i,
       jsonb_populate_record(d, jsonb_build_object('id', 2000000 + i, 'created_at', date '1990-01-01' + i::int)) n
     WHERE d.account_id = 1 AND d.id = (SELECT min(id) FROM deal WHERE account_id = 1)`,
  )
  const { data, meta } = await sums({ group_by: 'created_at:day', measures: 'count' })
  assert.deepEqual([data.length, meta.hasMore], [1000, true])
  assert.ok(data[0].count >= data[999].count)
  await db.query('DELETE FROM deal WHERE account_id = 1 AND id > 2000000')
})

test('sums are refused with every problem', async () => {
  for (const [query, problems] of [
    ['group_by=a,b,c,d', ['group_by too_many']],
    ['group_by=created_at', ['group_by not_groupable']],
    ['group_by=created_at:hour', ['group_by invalid_value']],
    ['group_by=created_at:month:day', ['group_by invalid_value']],
    ['group_by=source:month', ['group_by invalid_value']],
    ['group_by=title:month,tags', ['group_by not_groupable', 'group_by not_groupable']],
    ['measures=', ['measures invalid_value']],
    ['measures=sum', ['measures invalid_value']],
    ['measures=total:deal_value', ['measures invalid_value']],
    ['measures=toString:age', ['measures invalid_value']],
    ['measures=sum:title,avg:created_at', ['measures not_measurable', 'measures not_measurable']],
    ['measures=sum:id,max:version', ['measures not_measurable', 'measures not_measurable']],
    ['measures=sum:deal_valeu', ['measures unknown_field']],
    ['measures=sum:revenue', ['measures unknown_field']],
    ['group_by=product&measures=sum:deal_value', ['measures not_measurable']],
    [
      `measures=${['sum', 'avg', 'min'].flatMap(name => ['age', 'deal_value', 'rotting_days', 'x'].map(field => `${name}:${field}`)).join()}`,
      ['measures too_many'],
    ],
    ['measures=count&measures=sum:age', ['measures contradiction']],
    ['measures=sum:age%00', ['measures unknown_field']],
  ] as const) {
    const { status, body } = await get(`${v1}/deal/aggregate?${query}`)
    assert.equal(status, 400, query)
    assert.deepEqual(
      body.errors.map((problem: Any) => `${problem.parameter} ${problem.code}`),
      problems,
      query,
    )
  }
  assert.equal((await get(`${v1}/product/aggregate?group_by=product`)).status, 400)
})

test('contacts, companies and activities have the same sums (D85)', async () => {
  const company = (await made('company', { name: 'Summed' })).id
  for (const [kind, duration] of [
    ['Call', 10],
    ['Call', 25],
    ['Meeting', null],
  ] as const)
    await made('activity', { kind, duration, subject: 'Summed', company, done_at: '2026-03-29T03:59:00Z' })
  const query = { filter: `company:eq(${company})`, measures: 'count,sum:duration,max:duration' }
  const kinds = await sums({ ...query, group_by: 'kind,done_at:day' }, 'activity')
  assert.deepEqual(
    kinds.data.map((one: Any) => [one.groups[0].name, one.groups[1].group, one.count, one['sum:duration']]),
    [
      ['Call', '2026-03-28', 2, 35],
      ['Meeting', '2026-03-28', 1, 0],
    ],
  )
  for (const [resource, by] of [
    ['contact', 'company'],
    ['company', 'territory'],
    ['activity', 'owner'],
  ] as const) {
    const records = await all(resource)
    const counts = Map.groupBy(records, record => record[by])
    const { data } = await sums({ group_by: by }, resource)
    assert.deepEqual(
      new Map(data.map((one: Any) => [one.group, one.count])),
      new Map([...counts].map(([key, members]) => [key, members.length])),
      resource,
    )
  }
  assert.equal((await get(`${v1}/contact/aggregate?measures=sum:job_title`)).status, 400)
  const bare = await get(`${v1}/contact/aggregate?measures=sum`)
  assert.match(bare.body.errors[0].hint, /^The measures: count, sum:<field>/)
})

test('what a role hides can be neither grouped by nor measured; names need their scope (D64, D65)', async () => {
  const scopes = ['deal:read']
  const role = await made('role', {
    name: 'Blind',
    scopes,
    hidden_fields: ['deal.deal_value', 'deal.source'],
  })
  const user = await made('user', { name: 'Blind', email: 'blind@example.com', role: role.id })
  const token = newSecret('token', 1)
  await createToken(db, { account: 1, user: user.id, name: 'Blind', scopes: ['admin'], token })
  const as = { authorization: `Bearer ${token}` }
  const asked = (query: string) => call('GET', `${v1}/deal/aggregate?${query}`, undefined, as)
  for (const query of [
    ...['deal_value', 'weighted_value', 'product_quantity', 'deal_value_in_base_currency'].map(
      name => `measures=sum:${name}`,
    ),
    'group_by=source',
    'group_by=product',
  ]) {
    const { status, body } = await asked(query)
    assert.deepEqual([status, body.errors?.[0].code], [400, 'unknown_field'], query)
  }
  assert.equal((await asked('group_by=sales_owner,status&measures=count')).status, 403)
  const { data } = (await asked('group_by=status&measures=sum:expected_deal_value')).body
  assert.deepEqual(Object.keys(data[0]['sum:expected_deal_value']), ['by_currency'])
})
