/**
 * Refusals that teach (D138): who comes from another system, or guesses, is told what to write instead, and
 * nothing else.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, known } = await startService()

const hintOf = (reply: { body: { errors: { hint?: string }[] } }) => reply.body.errors.map(({ hint }) => hint)

test('a path that is not there names the one that was meant', async () => {
  const meant: [string, string, number, string][] = [
    ['GET', `${v1}/deal`, 405, `GET ${v1}/deal/view/list`],
    ['GET', `${v1}/deals`, 404, `GET ${v1}/deal/view/list`],
    ['POST', `${v1}/deals`, 404, `POST ${v1}/deal`],
    ['GET', '/rest/api/v2/deal/view/list', 404, `GET ${v1}/deal/view/list`],
    ['GET', '/api/v1/contacts/5', 404, `GET ${v1}/contact/5`],
    ['GET', '/v1/companies', 404, `GET ${v1}/company/view/list`],
    ['GET', '/deals', 404, `GET ${v1}/deal/view/list`],
    ['GET', `${v1}/deal/1/`, 404, `GET ${v1}/deal/1`],
    ['GET', `${v1}/deal/`, 404, `GET ${v1}/deal/view/list`],
    ['GET', `${v1}/deal/view`, 404, `GET ${v1}/deal/view/list`],
    ['GET', `${v1}/dael/view/list`, 404, `GET ${v1}/deal/view/list`],
    ['GET', `${v1}/fields`, 404, `GET ${v1}/field/list`],
  ]
  for (const [method, path, status, instead] of meant) {
    const reply = await call(method, path)
    assert.equal(reply.status, status, path)
    assert.ok(reply.body.detail.endsWith(` Did you mean ${instead}?`), reply.body.detail)
  }
  assert.equal((await get('/nothing/of/ours')).body.detail, 'There is nothing at /nothing/of/ours.')
  assert.equal((await get(`/${'deal'.repeat(100)}`)).status, 404)
  assert.match((await get(`${v1}/deal/list`)).body.detail, /A list is at view\/list\.$/)
})

test('a path of fixed words has its own methods: none of its words is an id', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const reply = await call(method, `${v1}/deal/aggregate`)
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'GET, POST, HEAD'])
  }
  for (const word of ['by', 'view', 'view/restore', 'by/restore']) {
    const reply = await call(word.includes('/') ? 'POST' : 'DELETE', `${v1}/deal/${word}`)
    assert.equal(reply.status, 404, word)
    assert.ok(reply.body.detail.startsWith(`There is nothing at ${v1}/deal/${word}.`), reply.body.detail)
  }
  // A value that tells a record is no word of a path.
  assert.equal((await get(`${v1}/tag/by/name/view`)).body.title, 'No such record')
  const field = await call('DELETE', `${v1}/field/list`)
  assert.deepEqual([field.status, field.headers.get('allow')], [405, 'GET, HEAD'])
})

test("other systems' names of fields are answered with ours, in bodies, filters and sorts", async () => {
  const ours = {
    amount: 'deal_value',
    value: 'deal_value',
    currency: 'deal_value',
    owner_id: 'sales_owner',
    hubspot_owner_id: 'sales_owner',
    stage_id: 'pipeline_stage',
    deal_stage_id: 'pipeline_stage',
    dealstage: 'pipeline_stage',
    pipeline_id: 'pipeline',
    name: 'title',
    dealname: 'title',
    close_date: 'expected_close_date',
    CloseDate: 'expected_close_date',
    contact_id: 'primary_contact',
    person_id: 'primary_contact',
    company_id: 'company',
    org_id: 'company',
    AccountId: 'company',
    probability: 'stage_probability',
    lead_source: 'source',
    custom_text_field: 'cf_custom_text_field',
    'Custom text field': 'cf_custom_text_field',
  }
  for (const [theirs, name] of Object.entries(ours)) {
    const body = await call('POST', `${v1}/deal`, dealBody(known, { [theirs]: 1 }))
    assert.equal(body.status, 422, theirs)
    assert.deepEqual(hintOf(body), [`Did you mean "${name}"?`], theirs)
    if (!/^\w+$/.test(theirs)) continue
    for (const query of [`filter=${theirs}:eq(1)`, `sort=${theirs}:asc`, `fields=${theirs}`])
      assert.deepEqual(hintOf(await get(`${v1}/deal/view/list?${query}`)), [`Did you mean "${name}"?`], query)
  }
  const product = await call('POST', `${v1}/product`, { name: 'Chair', price: 5, sku: 'C1', stock: 3 })
  assert.deepEqual(
    new Set(hintOf(product)),
    new Set(['unit_price', 'sku_number', 'quantity_in_stock'].map(name => `Did you mean "${name}"?`)),
  )
})

test('a body within another object is one problem, whatever the record needs', async () => {
  const wrappers = { deal: 'deal', deals: 'deal', data: 'deal', properties: 'contact', companies: 'company' }
  for (const [wrapper, resource] of Object.entries(wrappers)) {
    const { status, body } = await call('POST', `${v1}/${resource}`, { [wrapper]: { name: 'x' } })
    assert.equal(status, 422)
    assert.deepEqual(
      body.errors.map(({ path, code }: { path: string; code: string }) => [path, code]),
      [[`/${wrapper}`, 'wrapped']],
    )
  }
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const update = await call('PATCH', `${v1}/deal/${id}`, { deal: { title: 'New' } })
  assert.deepEqual(hintOf(update), ['Send the fields themselves as the body, without "deal" around them.'])
})

test('a number as people write it is shown as it is sent', async () => {
  const sent = {
    '1,234.50': '1234.50',
    '$1,234.50': '1234.50',
    '1.234,5 €': '1234.5',
    '1,234': '1234 or 1.234',
  }
  for (const [text, number] of Object.entries(sent)) {
    const value = { deal_value: { currency: 'USD', value: text }, cf_custom_number_field: text }
    const hint = `Write ${number}.`
    assert.deepEqual(hintOf(await call('POST', `${v1}/deal`, dealBody(known, value))), [hint, hint])
    const filter = encodeURIComponent(`product_quantity:gt(${text})`)
    assert.deepEqual(hintOf(await get(`${v1}/deal/view/list?filter=${filter}`)), [hint])
  }
})

test('operators, sort keys and + are explained', async () => {
  const hints = {
    'filter=title:contains(x)': 'Did you mean "like"?',
    'filter=title:Equals(x)': 'Did you mean "eq"?',
    'filter=title:is_null(true)': 'Did you mean "isnull"?',
    'filter=created_at:after(2026-01-01)': 'Did you mean "gt"?',
    'filter=created_at:gt(2026-01-01T00:00:00+02:00)': 'In an address + stands for a blank: write + as %2B.',
    'sort=-created_at': 'Write created_at:desc.',
    'sort=title': 'Write title:asc.',
    'sort=title DESC': 'Write title:desc.',
  }
  for (const [query, hint] of Object.entries(hints))
    assert.deepEqual(hintOf(await get(`${v1}/deal/view/list?${query}`)), [hint], query)
})

test('true and false mean Yes and No in filters as in bodies (D26)', async () => {
  const total = async (value: string) =>
    (await get(`${v1}/product/view/list?count=exact&filter=active:eq(${value})`)).body.meta.total
  assert.equal(await total('true'), await total('Yes'))
  assert.equal(await total('false'), await total('No'))
})

test('who sends a status is told which stage decides on it (D19)', async () => {
  const { body } = await call('POST', `${v1}/deal`, dealBody(known, { status: 'Won' }))
  assert.equal(body.data.status, 1)
  const [warning] = body.meta.warnings
  assert.equal(
    warning.message,
    'The field is read-only; what was sent is ignored. ' +
      `The stage decides on the status: set pipeline_stage to ${known.stages.Won} (Won).`,
  )
  const back = await call('PUT', `${v1}/deal/${body.data.id}`, body.data)
  const { message } = back.body.meta.warnings.find((one: { field: string }) => one.field === 'status')
  assert.equal(message, 'The field is read-only; what was sent is ignored.')
})

test('a closing stage of another pipeline is one problem', async () => {
  const pipeline = (await call('POST', `${v1}/pipeline`, { name: 'Partners' })).body.data.id
  const reply = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, { pipeline, pipeline_stage: known.stages.Won! }),
  )
  assert.equal(reply.body.errors.length, 1, reply.text)
  assert.equal(reply.body.errors[0].code, 'stage_not_in_pipeline')
})

test('a filter by an amount means the same money as a sort by it (D29)', async () => {
  const base = async (title: string, currency: string, value: number) =>
    (await call('POST', `${v1}/deal`, dealBody(known, { title, deal_value: { currency, value } }))).body.data
  const made = [
    await base('Yen', 'JPY', 500),
    await base('Pounds', 'GBP', 100),
    await base('Dollars', 'USD', 90),
  ]
  const ids = `id:in(${made.map(({ id }) => id).join()})`
  const amounts = made.map(deal => deal.deal_value_in_base_currency.value)
  const between = [...amounts].sort((a, b) => a - b)[1]!
  const found = await get(
    `${v1}/deal/view/list?filter=${ids}&filter=deal_value:gte(${between})&sort=deal_value:asc`,
  )
  const expected = made
    .filter(deal => deal.deal_value_in_base_currency.value >= between)
    .sort((a, b) => a.deal_value_in_base_currency.value - b.deal_value_in_base_currency.value)
  assert.deepEqual(
    found.body.data.map(({ title }: { title: string }) => title),
    expected.map(({ title }) => title),
  )
  const bare = await get(`${v1}/deal/view/list?filter=${ids}&filter=deal_value.value:eq(500)`)
  assert.equal(bare.body.data[0].title, 'Yen')
})
