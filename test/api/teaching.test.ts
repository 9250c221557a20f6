/**
 * Refusals that teach (D138): callers who know another system, or guess, get the right form, and nothing
 * else.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const { call, get, known, made } = await startService()

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
    ['GET', `${v1}/note`, 404, `GET ${v1}/activity/view/list`],
    ['GET', '/crm/v3/objects/people', 404, `GET ${v1}/contact/view/list`],
    ['GET', '/services/data/v59.0/sobjects/Opportunity', 404, `GET ${v1}/deal/view/list`],
    ['GET', '/items/deal/5', 404, `GET ${v1}/deal/5`],
    ['GET', `${v1}/stage`, 404, `GET ${v1}/pipeline_stage/view/list`],
    ['GET', `${v1}/deal/view/1`, 404, `GET ${v1}/deal/1`],
    ['GET', `${v1}/deal/title/A%20b`, 404, `GET ${v1}/deal/by/title/A%20b`],
    ['POST', `${v1}/deal/upsert`, 405, `PUT ${v1}/deal/by/{field}/{value}`],
    ['POST', `${v1}/deal/create`, 405, `POST ${v1}/deal`],
    ['GET', `${v1}/deals/search`, 404, `GET ${v1}/deal/view/list`],
    ['POST', `${v1}/deal/1`, 405, `PATCH ${v1}/deal/1`],
    ['PATCH', `${v1}/deal`, 405, `PATCH ${v1}/deal/{id}`],
    ['DELETE', `${v1}/deals`, 404, `DELETE ${v1}/deal/{id}`],
    ['POST', `${v1}/batch`, 404, `POST ${v1}/{resource}/batch`],
    ['POST', '/crm/v3/objects/deals/batch/create', 404, `POST ${v1}/deal/batch`],
    ['GET', '/services/data/v59.0/query', 404, `GET ${v1}/{resource}/view/list`],
  ]
  for (const [method, path, status, instead] of meant) {
    const reply = await call(method, path)
    assert.equal(reply.status, status, path)
    assert.ok(reply.body.detail.endsWith(` Did you mean ${instead}?`), reply.body.detail)
  }
  assert.equal((await get('/constructor')).body.detail, 'There is nothing at /constructor.')
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
  // The value of a unique field is no path segment.
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
    lead_source: 'source',
    custom_text_field: 'cf_custom_text_field',
    'Custom text field': 'cf_custom_text_field',
  }
  for (const [theirs, name] of Object.entries(ours)) {
    const body = await call('POST', `${v1}/deal`, dealBody(known, { [theirs]: 1 }))
    assert.equal(body.status, 422, theirs)
    const form = name === 'deal_value' ? ' For example {"currency":"USD","value":1250}.' : ''
    assert.deepEqual(hintOf(body), [`Did you mean "${name}"?${form}`], theirs)
    if (!/^\w+$/.test(theirs)) continue
    for (const query of [`filter=${theirs}:eq(1)`, `sort=${theirs}:asc`, `fields=${theirs}`])
      assert.deepEqual(hintOf(await get(`${v1}/deal/view/list?${query}`)), [`Did you mean "${name}"?`], query)
  }
  const product = await call('POST', `${v1}/product`, { name: 'Chair', price: 5, sku: 'C1', stock: 3 })
  assert.deepEqual(
    new Set(hintOf(product)),
    new Set([
      'Did you mean "unit_price"? For example [{"currency":"USD","unit_price":"49.90"}].',
      ...['sku_number', 'quantity_in_stock'].map(name => `Did you mean "${name}"?`),
    ]),
  )
  const readOnly = await call('POST', `${v1}/deal`, dealBody(known, { probability: 50 }))
  assert.deepEqual(hintOf(readOnly), [
    '"stage_probability" says that here, and is read-only. ' +
      'The stage decides on it: set pipeline_stage, or the probability of the stage.',
  ])
})

test('a body within another object is told, with all that is wrong in it', async () => {
  const wrappers = { deal: 'deal', deals: 'deal', data: 'deal', properties: 'contact', companies: 'company' }
  for (const [wrapper, resource] of Object.entries(wrappers)) {
    const { status, body } = await call('POST', `${v1}/${resource}`, { [wrapper]: { nonsense: 'x' } })
    assert.equal(status, 422)
    const told = body.errors.map(({ path, code }: { path: string; code: string }) => `${code} ${path}`)
    assert.deepEqual(told.slice(0, 2), [`wrapped /${wrapper}`, `unknown_field /${wrapper}/nonsense`])
    const needed = { deal: 'title', contact: 'last_name', company: 'name' }[resource]
    assert.ok(told.includes(`required /${wrapper}/${needed}`), String(told))
  }
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const update = await call('PATCH', `${v1}/deal/${id}`, { deal: { title: 'New' } })
  const without = 'Send the fields themselves as the body, without "deal" around them.'
  assert.deepEqual(hintOf(update), [without])
  const several = await call('PATCH', `${v1}/deal/${id}`, { deal: { name: 'x', tags: 'x,y' } })
  assert.deepEqual(
    several.body.errors.map(({ path }: { path: string }) => path),
    ['/deal', '/deal/name', '/deal/tags'],
  )
  // Zoho: a list around.
  const list = await call('POST', `${v1}/tag`, { data: [{ label: 'x' }] })
  assert.deepEqual(
    list.body.errors.map(({ path }: { path: string }) => path),
    ['/data', '/data/0/label', '/data/0/name'],
  )
  // JSON:API: a double envelope. Any depth is refused, without recursion.
  const twice = await call('POST', `${v1}/tag`, { data: { attributes: { name: 'x' } } })
  assert.deepEqual(
    twice.body.errors.map(({ path }: { path: string }) => path),
    ['/data', '/data/attributes'],
  )
  assert.equal((await call('POST', `${v1}/tag`, `${'{"data":'.repeat(30)}{}${'}'.repeat(30)}`)).status, 422)
})

test('what other systems send beside the fields has its place here (D138)', async () => {
  const related =
    'Related records stand in fields of their own: "primary_contact", "related_contacts", "company".'
  const products =
    'Products stand in "deal_value", as {"currency": "EUR", "products": [{"product": 7, "quantity": 2}]}.'
  const places = { associations: related, relationships: related, products, line_items: products }
  for (const [name, hint] of Object.entries(places)) {
    assert.deepEqual(hintOf(await call('POST', `${v1}/deal`, dealBody(known, { [name]: [] }))), [hint])
    const { body } = await call('POST', `${v1}/deal`, { properties: dealBody(known), [name]: [] })
    assert.deepEqual(
      body.errors.map(({ path }: { path: string }) => path),
      ['/properties', `/${name}`],
    )
    assert.equal(body.errors[1].hint, hint)
  }
  const activity = await call('POST', `${v1}/activity`, { kind: 'Call', subject: 'x', associations: [] })
  const own = 'Related records stand in fields of their own: "contact", "company", "deal".'
  assert.deepEqual(hintOf(activity), [own])
  const tag = await call('POST', `${v1}/tag`, { name: 'x', associations: [] })
  assert.deepEqual(hintOf(tag), ['The field list of tag names them: GET …/field/list?source=tag.'])
})

test('a list by POST says that there is no such member, whatever its value is', async () => {
  const ask = (body: object, path = 'deal/view/list') => call('POST', `${v1}/${path}`, body as never)
  const told = (reply: { body: { errors: { parameter: string; code: string; hint?: string }[] } }) =>
    reply.body.errors.map(({ parameter, code, hint }) => `${code} ${parameter}${hint ? `: ${hint}` : ''}`)
  const near = (name: string) => `unknown_parameter ${name}: Did you mean "filter"?`
  for (const filters of [['status:eq(Open)'], { status: 'Open' }, [{ status: 'Open' }], null, 5])
    assert.deepEqual(told(await ask({ filters })), [near('filters')])
  assert.deepEqual(told(await ask({ filters: {}, page: {}, sort: [{}] })), [
    near('filters'),
    'wrong_type page',
    'wrong_type sort',
  ])
  const [group] = told(await ask({ filterGroups: [{ filters: [{ propertyName: 'x' }] }] }))
  assert.match(group!, /^unknown_parameter filterGroups: For example filter=title:like\(/)
  const { body } = await ask({ groupBy: ['status'], group_by: {} }, 'deal/aggregate')
  assert.deepEqual(told({ body }), [
    'unknown_parameter groupBy: Did you mean "group_by"?',
    'wrong_type group_by',
  ])
  assert.equal((await ask({ filter: null, page: 1, pageSize: '5' })).status, 200)
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
    'sort=-created_at,title': 'Write created_at:desc,title:asc.',
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
  // So is a pipeline that there is not, beside which no stage is one of another.
  const stage = await made('pipeline_stage', { name: 'First', pipeline, kind: 'open', probability: 10 })
  const { id } = await made('deal', dealBody(known))
  const change = { pipeline: 'Nowhere', pipeline_stage: stage.id }
  const changed = await call('PATCH', `${v1}/deal/${id}`, change)
  assert.deepEqual(problemsOf(changed), ['/pipeline unknown_option'])
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

test('what says that there is no value is answered with how that is said here', async () => {
  for (const condition of [
    'company:eq(null)',
    'status:neq(NULL)',
    'deal_value:eq()',
    'created_at:eq(undefined)',
  ]) {
    const reply = await get(`${v1}/deal/view/list?filter=${condition}`)
    assert.equal(reply.status, 400, reply.text)
    const [name] = condition.split(':')
    assert.match(reply.body.errors[0].hint, new RegExp(`write ${name}:isnull\\(true\\)`))
    assert.equal((await get(`${v1}/deal/view/list?filter=${name}:isnull(true)`)).status, 200)
  }
  const empty = ['company', 'tags', 'source', 'deal_value', 'expected_close_date', 'cf_custom_email_field']
  const all = ['cf_custom_number_field', 'cf_custom_time_field', 'cf_custom_date_range_field', ...empty]
  const body = (value: Json) => dealBody(known, Object.fromEntries(all.map(name => [name, value])))
  const refused = await call('POST', `${v1}/deal`, body(''))
  assert.deepEqual(
    refused.body.errors.map(({ field, hint }: { field: string; hint: string }) => [field, hint]).toSorted(),
    all.map(name => [name, 'Send null for no value.']).toSorted(),
  )
  const made = await call('POST', `${v1}/deal`, body(null))
  assert.equal(made.status, 201, made.text)
})

test('parameters of other systems are answered with the parameter that does it here', async () => {
  const expected: { readonly [query: string]: string } = {
    'limit=5': 'Write pageSize=5.',
    'per_page=7': 'Write pageSize=7.',
    'page[size]=3': 'Write pageSize=3.',
    'offset=10': 'Write page=2 for the second page',
    'offset=100&limit=50': 'Write page=3.',
    'start=0': 'Write page=1.',
    'limit=1000': 'Write pageSize=500. A page has no more; follow meta.nextCursor.',
    'sort_by=amount&sort_order=desc': 'Write sort=deal_value:desc.',
    'sort_order=desc&sort_by=amount,title': 'Write sort=deal_value:desc,title:desc.',
    'select=title,company(name)': 'Write fields=title,company.',
    'select=*': 'Leave it out: without fields every field is answered.',
    'fields[]=title&fields[]=amount': 'Write fields=title,deal_value.',
    'expand[]=customer': 'Write expand=primary_contact.',
    'filter[_and][0][status][_eq]=Open': 'Write filter=status:eq(Open).',
    'status.eq=Open': 'Write filter=status:eq(Open).',
    'or=(status.eq.Open,status.eq.Won)': 'Write filter=or(status:eq(Open),status:eq(Won)).',
    'company=is.null': 'Write filter=company:isnull(true).',
    'company=not.is.null': 'Write filter=company:notnull(true).',
    'updated_since=2026-01-01': 'Write filter=updated_at:gte(2026-01-01).',
    'created[gte]=1735689600': 'Write filter=created_at:gte(2025-01-01T00:00:00.000Z).',
    "$filter=amount gt 5 and status eq 'Open'": 'Write filter=deal_value:gt(5),status:eq(Open).',
    '$filter=statecode eq 0': 'For example filter=title:like(acme).',
    "q=SELECT Id FROM Opportunity WHERE stage = 'New' LIMIT 5": 'Write filter=pipeline_stage:eq(New).',
    'filter_id=5': 'A saved view is read at GET …/view/{id}: write its filter as filter=….',
    'filter={"status":{"_eq":"Open"}}': 'Write filter=status:eq(Open).',
    'filter={"_or":[{"status":"Open"},{"amount":{"_gt":5}}]}':
      'Write filter=or(status:eq(Open),deal_value:gt(5)).',
    'filter=status=Open': 'Write filter=status:eq(Open).',
    'filter=status:eq:Open': 'Write filter=status:eq(Open).',
    'filter=status:eq(Open': 'Write filter=status:eq(Open).',
    'filter=status = Open or amount >= 5': 'Write filter=or(status:eq(Open),deal_value:gte(5)).',
    'starting_after=5': 'Write cursor with the meta.nextCursor',
    'sort_by=title': 'Write sort=title:asc.',
    'sort_by=-amount': 'Write sort=deal_value:desc.',
    'order=desc': 'Write sort=created_at:desc.',
    'order=title.desc': 'Write sort=title:desc.',
    '$orderby=closedate desc': 'Write sort=expected_close_date:desc.',
    'select=title,amount': 'Write fields=title,deal_value.',
    'include=company': 'Write expand=company.',
    'q=acme': 'Write filter=title:like(acme), or use the search, which looks in all resources.',
    'status=Open': 'Write filter=status:eq(Open).',
    'owner=3': 'Write filter=sales_owner:eq(3).',
    'filter[status]=Open': 'Write filter=status:eq(Open).',
    'filter[title][_eq]=Acme, Inc.': 'Write filter=title:eq(Acme, Inc.).',
    'created_at[gte]=2026-01-01': 'Write filter=created_at:gte(2026-01-01).',
    'amount__gt=5': 'Write filter=deal_value:gt(5).',
    'title=ilike.%acme%': 'Write filter=title:like(acme).',
    'pipeline_stage=in.(3,4)': 'Write filter=pipeline_stage:in(3,4).',
    'filter=title:eq(Acme :))': 'stands in quotes in a list: title:in("Acme :)")',
  }
  for (const [query, hint] of Object.entries(expected)) {
    const { status, body } = await get(`${v1}/deal/view/list?${encodeURI(query)}`)
    assert.equal(status, 400, query)
    assert.ok(
      body.errors[0].hint.startsWith(hint) || body.errors[0].hint.endsWith(`${hint}.`),
      `${query}: ${body.errors[0].hint}`,
    )
    // The suggestion is accepted, if it is a whole parameter.
    const told = /Write ((?:filter|sort|fields|expand|pageSize)=.*?)(?:\.(?: A page .*)?|, or use .*)$/.exec(
      body.errors[0].hint,
    )?.[1]
    if (!told) continue
    const [name, ...value] = told.split('=')
    const again = await get(`${v1}/deal/view/list?${name}=${encodeURIComponent(value.join('='))}`)
    assert.equal(again.status, 200, `${told}: ${again.text}`)
  }
  for (const name of ['custom_fields', 'customFields', 'custom_field', 'customProperties']) {
    const { body } = await call('POST', `${v1}/deal`, dealBody(known, { [name]: { size: 5 } }))
    assert.match(body.errors[0].hint, /^Custom fields stand beside the others, .* such as "cf_\w+"\.$/)
  }
  for (const [tags, list] of [
    ['a,b', '["a","b"]'],
    ['[20,21]', '[20,21]'],
    ['a; b', '["a","b"]'],
  ]) {
    const { body } = await call('POST', `${v1}/deal`, dealBody(known, { tags: tags! }))
    assert.equal(body.errors[0].hint, `For several send a list: ${list}.`)
  }
  const several = dealBody(known, { cf_custom_multiselect_field: 'Red,Blue' })
  const { errors } = (await call('POST', `${v1}/deal`, several)).body
  assert.equal(errors[0].hint, 'For several send a list: ["Red","Blue"].')
  // A name of a megabyte is not compared, and a meaningless one gets the list of parameters.
  for (const query of [`${'x'.repeat(5000)}=1`, 'nonsense[=1', 'made_up=1'])
    assert.equal((await get(`${v1}/deal/view/list?${query}`)).status, 400, query.slice(0, 20))
})

test('what is missing or of another form is answered with how it is written', async () => {
  const contacts = 'The contacts that you see are at GET …/contact/view/list.'
  const expected: readonly (readonly [Json, string | RegExp])[] = [
    [{ primary_contact: null }, contacts],
    [{ related_contacts: [9_999_999] }, contacts],
    [{ primary_contact: [known.contact] }, contacts],
    [{ tags: 'nobody' }, 'The tags that you see are at GET …/tag/view/list.'],
    [{ deal_value: { currency: 'USD', amount: 5 } }, 'Did you mean "value"?'],
    [{ deal_value: { currency_code: 'EUR', value: 5 } }, 'Write "currency":"EUR".'],
    [{ deal_value: { currency: 'USX', value: 5 } }, 'Did you mean "USD"?'],
    [{ deal_value: { currency: '€', value: 5 } }, 'Give its ISO 4217 code: "EUR".'],
    [{ deal_value: { currency: '¥', value: 5 } }, 'Give its ISO 4217 code: "JPY" or "CNY".'],
    [{ deal_value: { currency: 'USD', products: [5] } }, 'For example {"product":7,"quantity":2}.'],
    [{ deal_value: { currency: 'USD', products: [{ id: 7, quantity: 1 }] } }, 'Did you mean "product"?'],
    [
      { deal_value: { currency: 'USD', products: [{ quantity: 1 }] } },
      'The products that you see are at GET …/product/view/list.',
    ],
    [{ cf_custom_phone_field: { phone_type: 'work' } }, 'For example "+1 555 0100".'],
    [{ cf_custom_email_field: [{ email_type: 1 }] }, 'For example "jo@example.com".'],
    [{ cf_custom_email_field: 'a@b.de' }, 'For example {"email_type":"Work","email_value":"a@b.de"}.'],
    [{ cf_custom_phone_field: 5 }, 'For example {"phone_type":"Work","phone_number":"+1 555 0100"}.'],
    [{ forecast_category: known.options.forecast_category!.Commit! }, 'For example "2026-03-31".'],
    [{ expected_close_date: '31.12.2026' }, 'Write "2026-12-31".'],
    [{ expected_close_date: '12/31/2026' }, 'Write "2026-12-31".'],
    [{ expected_close_date: '03/04/2026' }, 'Write "2026-04-03" or "2026-03-04".'],
    [{ expected_close_date: '2026/3/4' }, 'Write "2026-03-04".'],
    [{ expected_close_date: 1798675200000 }, 'Write "2026-12-31".'],
    [{ expected_close_date: '2026-02-30' }, '2026-02 has 28 days.'],
    [{ expected_close_date: 'soon' }, 'For example "2026-03-31".'],
  ]
  for (const [members, hint] of expected) {
    const reply = await call('POST', `${v1}/deal`, dealBody(known, members as { [name: string]: Json }))
    assert.equal(reply.status, 422, JSON.stringify(members))
    assert.equal(reply.body.errors[0].hint, hint, JSON.stringify(members))
  }
  const priced = (price: Json) => call('POST', `${v1}/product`, { name: 'Priced', unit_price: [price] })
  assert.deepEqual(hintOf(await priced({ currency: 'USD' })), ['For example "49.90".'])
  assert.deepEqual(hintOf(await priced({ unit_price: 1 })), ['For example "USD".'])
  const due = { kind: 'Call', subject: 'x', due_at: '2026-12-01 10:00:00Z' }
  assert.deepEqual(hintOf(await call('POST', `${v1}/activity`, due)), ['Write "2026-12-01T10:00:00Z".'])
  const noHour = { ...due, due_at: '2026-12-01 25:00' }
  assert.deepEqual(hintOf(await call('POST', `${v1}/activity`, noHour)), [
    'For example "2026-03-31T09:30:00Z".',
  ])
  // The stages are those of the sent pipeline.
  const { id } = await made('pipeline', { name: 'Renewals' })
  const stage = await made('pipeline_stage', { name: 'First', pipeline: id, kind: 'open', probability: 10 })
  const { pipeline_stage: _, ...stageless } = dealBody(known, { pipeline: id })
  assert.deepEqual(hintOf(await call('POST', `${v1}/deal`, stageless)), [`Options: ${stage.id} First.`])
})

test('a body that is no JSON, or of several records, is answered with what to write', async () => {
  const advice = {
    '{"title": "x",}': 'no comma stands before it',
    "{'title': 1}": 'texts and names stand in double quotes',
    '{title: 1}': 'texts and names stand in double quotes, and words are true, false and null',
    '{"title": 1 "type": 2}': 'a comma is missing before it',
    '{"title": True}': 'texts and names stand in double quotes, and words are true, false and null',
    '{} // done': 'JSON has no comments',
  }
  for (const [text, what] of Object.entries(advice)) {
    const { status, body } = await call('POST', `${v1}/deal`, text)
    assert.equal(status, 400)
    assert.match(body.detail, new RegExp(`unexpected .* at position \\d+; ${what}\\.$`))
  }
  const [hint] = hintOf(await call('POST', `${v1}/deal`, [{ title: 'x' }]))
  assert.match(hint!, /^Send one object\..* POST …\/\{resource\}\/batch\.$/)
  const upsert = await call('POST', `${v1}/deal?on_conflict=title`, dealBody(known))
  assert.match(hintOf(upsert)[0]!, /^PUT …\/\{resource\}\/by\/\{field\}\/\{value\} /)
})
