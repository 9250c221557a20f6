/** The settings of an account (D141): who may change them, and their effects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { onServer, whileItWaits } from '../support/held-lock.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const { call, get, made, known, db, another } = await startService()
const path = `${v1}/account`
const changed = async (body: Json, query = '') => {
  const reply = await call('PATCH', path + query, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const read = async (resource: string, id: number) => (await get(`${v1}/${resource}/${id}`)).body.data
type Change = { field: string; from: Json; to: Json }
const rate = (id: number, to: Json) => call('PATCH', `${v1}/currency/${id}`, { rate: to })

test('the settings are read and changed, and /me tells them', async () => {
  const before = (await get(path)).body.data
  assert.deepEqual(before, {
    ...{ id: 1, name: 'Default', time_zone: 'UTC', locale: null },
    ...{ base_currency: 840, base_currency_code: 'USD' },
  })
  const sent = { name: ' Ostrich & Sons ', time_zone: 'europe/zurich', locale: 'de-CH' }
  const { data, meta } = await changed(sent)
  assert.deepEqual(data, { ...before, name: 'Ostrich & Sons', time_zone: 'Europe/Zurich', locale: 'de-CH' })
  assert.equal(meta, undefined)
  assert.deepEqual((await get(path)).body.data, data)
  const { base_currency_code: _, ...account } = data
  assert.deepEqual((await get(`${v1}/me`)).body.data.account, account)
  const feed = await get(`${v1}/event?type=account.updated`)
  const told = feed.body.data.at(-1).changes.map(({ field, from, to }: Change) => [field, from, to])
  assert.deepEqual(told.toSorted(), [
    ['locale', null, 'de-CH'],
    ['name', 'Default', 'Ostrich & Sons'],
    ['time_zone', 'UTC', 'Europe/Zurich'],
  ])
  const count = feed.body.data.length
  await changed({ name: 'Ostrich & Sons' })
  assert.equal((await get(`${v1}/event?type=account.updated`)).body.data.length, count, 'nothing changed')
  await changed({ name: 'Default', time_zone: 'UTC', locale: null })
})

test('what can not be a setting is refused, each with what to do, and nothing is changed', async () => {
  const before = (await get(path)).body.data
  const refused = async (body: Json) => {
    const reply = await call('PATCH', path, body)
    assert.equal(reply.status, 422, reply.text)
    return problemsOf(reply)
  }
  const wrong = { name: '\u200b', time_zone: 'Mars/Olympus', locale: 'not a tag', base_currency: 'ERU' }
  assert.deepEqual(await refused(wrong), [
    '/base_currency unknown_currency',
    '/locale unknown_locale',
    '/name invalid_value',
    '/time_zone unknown_time_zone',
  ])
  for (const zone of ['+01:00', '', null, 5, 'x'.repeat(1_000_000)])
    assert.deepEqual(await refused({ time_zone: zone }), ['/time_zone unknown_time_zone'])
  assert.deepEqual(await refused({ locale: `en-${'x'.repeat(900_000)}` }), ['/locale unknown_locale'])
  assert.deepEqual(await refused({ name: 'Good', timezone: 'UTC' }), ['/timezone unknown_field'])
  for (const body of [[], 7, true]) assert.equal((await refused(body)).length, 1)
  const unrated = await call('PATCH', path, { name: 'Good', base_currency: 'CHF' })
  assert.deepEqual(problemsOf(unrated), ['/base_currency no_rate'])
  assert.match(unrated.body.errors[0].hint, /PATCH \/currency\/756 .*one CHF is worth in USD/)
  assert.equal((await call('PATCH', path, {}, { 'if-match': '"1"' })).status, 412)
  assert.equal((await call('PATCH', `${path}?x=1`, {})).body.code, 1003)
  assert.deepEqual((await get(path)).body.data, before)
})

test('a zone whose name is an abbreviation, too, has its summer time in the database', async () => {
  const moment = '2020-07-01T22:30:00.000Z'
  for (const zone of ['CET', 'eet', 'Met', 'WET', 'EST5EDT', 'EST', 'UTC', 'GMT', 'Europe/Paris']) {
    const { time_zone } = (await changed({ time_zone: zone })).data
    const clock = "SELECT to_char($1::timestamptz AT TIME ZONE $2::text, 'YYYY-MM-DD HH24:MI') AS clock"
    const [row] = await db.query(clock, [moment, time_zone])
    const format = { timeZone: zone, dateStyle: 'short', timeStyle: 'short' } as const
    assert.equal(row!.clock, new Intl.DateTimeFormat('sv-SE', format).format(new Date(moment)), zone)
  }
  await changed({ time_zone: 'UTC' })
})

test('only administrators change them; everybody reads them', async () => {
  const user = await made('user', { name: 'Member', email: 'member@example.com', role: 'Member' })
  const { token } = await made('token', {
    name: 'Member',
    user: user.id,
    scopes: ['deal:read', 'deal:write'],
  })
  const as = { authorization: `Bearer ${token}` }
  assert.equal((await call('GET', path, undefined, as)).status, 200)
  assert.equal((await call('PATCH', path, { name: 'Taken' }, as)).status, 403)
  assert.equal((await call('PATCH', path, { name: 'Taken' }, { authorization: '' })).status, 401)
})

test('a request with a key is carried out once', async () => {
  const key = { 'idempotency-key': 'account-1' }
  const first = await call('PATCH', path, { name: 'Once' }, key)
  await changed({ name: 'Since' })
  const again = await call('PATCH', path, { name: 'Once' }, key)
  assert.deepEqual(again.body, first.body)
  assert.equal((await get(path)).body.data.name, 'Since')
  assert.equal((await call('PATCH', path, { name: 'Other' }, key)).status, 422)
})

test('another base currency converts all rates, and amounts follow; closed deals keep their rate', async () => {
  const amount = (currency: string, value: number) => ({ deal_value: { currency, value } })
  const worth = async (id: number) => {
    const { currency_code, value } = (await read('deal', id)).deal_value_in_base_currency
    return `${value} ${currency_code}`
  }
  await rate(978, 1.25)
  await rate(756, 1.1)
  const open = await made('deal', dealBody(known, amount('CHF', 100)))
  const inEuro = await made('deal', dealBody(known, amount('EUR', 100)))
  const won = {
    ...{ pipeline_stage: known.stages.Won!, won_reason: 'Price', won_time: '2026-01-01T00:00:00Z' },
    ...{ deal_closed_on: '2026-01-01T00:00:00Z' },
  }
  const closed = await made('deal', dealBody(known, { ...amount('CHF', 100), ...won }))
  const product = await made('product', {
    name: 'In francs',
    unit_price: [{ currency: 'CHF', unit_price: 10 }],
  })
  assert.equal(await worth(closed.id), '110 USD')
  // Today's rate does not affect a closed deal.
  await rate(756, 1.2)
  const sum = async () => {
    const filter = `id:in(${open.id},${inEuro.id},${closed.id})`
    const reply = await get(`${v1}/deal/aggregate?measures=sum:deal_value&filter=${filter}`)
    return JSON.stringify(reply.body.data)
  }

  const tried = await changed({ base_currency: 'eur' }, '?dry_run=1')
  assert.equal(tried.meta.dryRun, true)
  const { rates, open_deals, closed_deals, products } = tried.meta.recalculated
  assert.ok(rates >= 2 && open_deals >= 2 && closed_deals >= 1 && products >= 1)
  assert.equal((await get(path)).body.data.base_currency_code, 'USD')
  assert.equal((await read('currency', 978)).rate, 1.25)

  const done = await changed({ base_currency: 978 })
  assert.deepEqual(done.meta.recalculated, tried.meta.recalculated)
  assert.deepEqual([done.data.base_currency, done.data.base_currency_code], [978, 'EUR'])
  const rateOf = async (id: number) => (await read('currency', id)).rate
  assert.deepEqual([await rateOf(978), await rateOf(840), await rateOf(756)], [1, 0.8, 0.96])
  // A background job applies the rates, to products last.
  const price = async () => (await read('product', product.id)).base_currency_amount.currency_code
  await eventually(async () => (await price()) === 'EUR', 'amounts in another base currency')
  assert.equal(await worth(open.id), '96 EUR')
  assert.equal(await worth(inEuro.id), '100 EUR')
  assert.equal(await worth(closed.id), '88 EUR', '110 USD of then')
  const { currency_code, value } = (await read('product', product.id)).base_currency_amount
  assert.deepEqual([currency_code, value], ['EUR', 9.6])
  assert.equal((await read('deal', open.id)).version, open.version)
  assert.match(await sum(), /"in_base_currency":\{"currency":978,"currency_code":"EUR","value":284\}/)
  const history = await get(`${v1}/currency/978/history`)
  assert.equal(history.status, 200)

  assert.equal((await rate(978, 2)).status, 422, 'the base currency is worth 1')
  assert.equal((await rate(840, 0.9)).status, 200)
  await rate(840, 0.8)
  await changed({ base_currency: 'USD' })
  assert.deepEqual([await rateOf(840), await rateOf(978), await rateOf(756)], [1, 1.25, 1.2])
  assert.equal(await worth(closed.id), '110 USD')
})

test('what an account requires of currencies keeps nobody from another base currency', async () => {
  await rate(826, 1.3)
  const field = await made('field', {
    source: 'currency',
    field_name: 'Bank',
    type: 'SINGLE_STRING',
    is_required: true,
  })
  await changed({ base_currency: 826 })
  await changed({ base_currency: 840 })
  await call('DELETE', `${v1}/field/${field.id}`)
})

test('a rate, a role and a name are judged by the configuration as it is, whichever process judges', async () => {
  const other = await another()
  const warm = () => other.get(`${v1}/me`)
  assert.equal((await rate(978, 1.1)).status, 200)
  const { base_currency } = (await get(path)).body.data
  await warm()
  await changed({ base_currency: 978 })
  const stale = await other.call('PATCH', `${v1}/currency/978`, { rate: 1.09 })
  assert.deepEqual([stale.status, problemsOf(stale)], [422, ['/rate interface_required']], stale.text)
  assert.equal((await read('currency', 978)).rate, 1)
  await changed({ base_currency })

  const field = await made('field', { source: 'deal', field_name: 'Ledger', type: 'SINGLE_STRING' })
  const role = await made('role', { name: 'Bookkeeper', scopes: ['deal:read', 'deal:write'] })
  await warm()
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { is_required: true })).status, 200)
  const hidden_fields = [`deal.${field.internal_name}`]
  const hiding = await other.call('PATCH', `${v1}/role/${role.id}`, { hidden_fields })
  assert.deepEqual([hiding.status, problemsOf(hiding)], [422, ['/hidden_fields/0 required_field']])
  assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)

  await warm()
  assert.equal((await call('PATCH', `${v1}/currency/756`, { name: 'Thaler' })).status, 200)
  const named = await other.call('PATCH', `${v1}/currency/826`, { name: 'thaler' })
  assert.deepEqual([named.status, problemsOf(named)], [422, ['/name name_taken']])
})

test('a name of a currency that is given while another waits to get it is taken', onServer, async () => {
  const reply = await whileItWaits(
    db,
    () => call('PATCH', `${v1}/currency/826`, { name: 'Guilder' }),
    update => update('currency', 208, { name: 'Guilder' }),
  )
  assert.deepEqual(problemsOf(reply), ['/name name_taken'])
})

test('many rates that come at once to two processes are all saved', async () => {
  const other = await another()
  const currencies = [36, 124, 156, 203, 208, 344, 348, 356, 376, 392, 410, 458, 484, 554, 578, 608]
  const replies = await Promise.all(
    currencies.map((id, index) =>
      (index % 2 ? other.call : call)('PATCH', `${v1}/currency/${id}`, { rate: index + 2 }),
    ),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
})
