/** Chapter: Field list and dropdown values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../src/accounts/token.ts'
import { startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { call, db, get, known } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: the shape is what is tested
type Any = any
const fieldsOf = async (source: string): Promise<Any[]> =>
  (await get(`${v1}/field/list?source=${source}`)).body.data.fields.flat()

/** The interface's tables: internal name and type. */
const documented: { readonly [source: string]: string } = {
  deal: `title SINGLE_STRING, pipeline DROPDOWN, pipeline_stage DROPDOWN, primary_contact CONTACT_ONBOARD, related_contacts CONTACTS_ONBOARD,
    sales_owner OWNER, company COMPANY_ONBOARD, deal_value DEAL_VALUE, weighted_value MONETARY, expected_deal_value MONETARY, product_amount MONETARY,
    source DROPDOWN, territory TERRITORY, tags TAGS, description TEXT, type DROPDOWN, payment_status DROPDOWN, id SINGLE_NUMBER, won_reason DROPDOWN,
    lost_reason DROPDOWN, deal_closed_on DATE, expected_close_date DATE, forecast_category DROPDOWN, status DROPDOWN, product_quantity PRODUCT,
    rotting_days SINGLE_NUMBER, age SINGLE_NUMBER, stage_probability SINGLE_NUMBER, done_activities SINGLE_NUMBER, upcoming_activities SINGLE_NUMBER,
    total_activities SINGLE_NUMBER, email_message_count SINGLE_NUMBER, won_time DATE_TIME, lost_time DATE_TIME, deal_stage_updated_at DATE_TIME,
    last_assigned_at DATE_TIME, last_email_received DATE_TIME, last_email_sent DATE_TIME, created_at DATE_TIME, updated_at DATE_TIME,
    last_activity_date DATE, next_activity_date DATE, last_activity_type SINGLE_STRING, web_forms SINGLE_STRING, recent_note TEXT, created_by OWNER,
    updated_by OWNER, deal_value_in_base_currency MONETARY, metadata JSON`,
  product: `name SINGLE_STRING, product_code SINGLE_STRING, category DROPDOWN, unit_price PRICE_TAGS, active DROPDOWN, taxable DROPDOWN,
    quantity_ordered SINGLE_NUMBER, quantity_in_stock SINGLE_NUMBER, description TEXT, type DROPDOWN, sku_number SINGLE_STRING, valid_till DATE_TIME,
    id SINGLE_NUMBER, sales_owner OWNER, created_by OWNER, updated_by OWNER, created_at DATE_TIME, updated_at DATE_TIME, last_assigned_at DATE_TIME,
    base_currency_amount MONETARY, metadata JSON`,
}

for (const [source, table] of Object.entries(documented)) {
  test(`the field list of ${source} has every documented field with its type, and the seventeen custom ones`, async () => {
    const fields = await fieldsOf(source)
    const types = new Map(fields.map(field => [field.internal_name, field.type]))
    for (const entry of table.split(',')) {
      const [name, type] = entry.trim().split(' ')
      assert.equal(types.get(name), type, name)
    }
    assert.equal(fields.filter(field => field.is_custom).length, 17)
    assert.equal(new Set(fields.map(field => field.id)).size, fields.length)
  })
}

test('the documented shape', async () => {
  const { body } = await get(`${v1}/field/list?source=product`)
  assert.equal(body.code, 0)
  assert.deepEqual(body.data.source, {
    is_enabled: true,
    name: 'Product',
    id: 2,
    config: { isPriceVariationsEnabled: true, isProductDurationsEnabled: false },
  })
  assert.ok(body.data.fields.every(Array.isArray))
  const fields = new Map<string, Any>(
    body.data.fields.flat().map((field: Any) => [field.internal_name, field]),
  )
  const name = fields.get('name')
  for (const member of ['internal_name', 'field_name', 'id', 'source_id', 'is_active', 'type', 'config'])
    assert.ok(member in name, member)
  assert.deepEqual(name.config, { min_length: 1, max_length: 255 })
  assert.deepEqual(fields.get('active').options, [
    { name: 'Yes', id: 1 },
    { name: 'No', id: 2 },
  ])
  assert.deepEqual(
    fields.get('unit_price').sub_fields.map((sub: Any) => sub.input_type),
    ['CURRENCY', 'UNIT_PRICE', 'TAX', 'DISCOUNT'],
  )
  assert.match(
    (await get(`${v1}/field/list?source=product`)).text,
    /"quantity_in_stock"[^}]*"config":\{"min":0,"max":9999999999999999\}/,
  )
  const deal = new Map<string, Any>((await fieldsOf('deal')).map(field => [field.internal_name, field]))
  assert.deepEqual(
    deal.get('deal_value').sub_fields.map((sub: Any) => sub.input_type),
    ['CURRENCY', 'VALUE', 'PRODUCT'],
  )
  assert.deepEqual(deal.get('company').related_field, { id: 4, source: 'company' })
  assert.deepEqual(deal.get('tags').config, { max_limit: 10, max_length: 255 })
  assert.deepEqual([deal.get('title').is_required, deal.get('weighted_value').is_read_only], [true, true])
  assert.ok(!deal.has('stage_rotting_days'))
})

test('the dropdowns have the documented default options', async () => {
  const documentedOptions: { readonly [query: string]: string } = {
    'name=source':
      'Web, Organic Search, Email, Phone, Chat, Web Form, Referral, Direct, Paid Search, Blogs, Social Media, Display Ads, Events, Webinar',
    'name=type': 'New Business, Existing Business - Renewal, Existing Business - Upgrade',
    'name=type&source=product': 'Unit, Subscription',
    'name=payment_status': 'Online, Offline',
    'name=won_reason': 'Product feature, Price, Timing, Others',
    'name=lost_reason':
      'Opted our rival, Price is too high, Junk Lead, Not interested, No Requirement, Need only in future, Product not satisfying, No proper follow-up, Appointment Missed',
    'name=forecast_category': 'Pipeline, Best case, Commit, Omitted',
    'name=category': 'Hardware, Software',
    'name=active&source=product': 'Yes, No',
  }
  for (const [query, names] of Object.entries(documentedOptions)) {
    const { body } = await get(`${v1}/field/dropdown?${query}`)
    assert.equal(body.data.map((option: Any) => option.name).join(', '), names)
    assert.deepEqual(Object.keys(body.data[0]), ['id', 'name', 'position', 'is_active', 'is_default'])
  }
})

test('currencies, pipelines, stages and records answer as dropdowns too', async () => {
  const values = async (query: string) => (await get(`${v1}/field/dropdown?${query}`)).body.data
  const yen = (await values('name=currency')).find((currency: Any) => currency.code === 'JPY')
  assert.deepEqual([yen.id, yen.decimals, yen.name], [392, 0, 'Japanese Yen'])
  assert.equal((await values('name=pipeline'))[0].id, known.pipeline)
  const stages = await values(`name=pipeline_stage&pipeline=${known.pipeline}`)
  assert.deepEqual(stages.map((stage: Any) => [stage.name, stage.kind, stage.probability]).at(-2), [
    'Won',
    'won',
    100,
  ])
  assert.deepEqual(await values('name=pipeline_stage&pipeline=999'), [])
  const empty = { source: 'deal', field_name: 'Empty', type: 'DROPDOWN', options: [] }
  const made = await call('POST', `${v1}/field`, empty)
  assert.equal(made.status, 201, made.text)
  for (const name of ['won_reason', 'currency', 'sales_owner', 'pipeline', 'cf_empty']) {
    const reply = await get(`${v1}/field/dropdown?name=${name}&pipeline=${known.pipeline}`)
    assert.deepEqual([reply.status, reply.body.code], [400, 1002], name)
  }
  await call('DELETE', `${v1}/field/${made.body.data.id}`)
  assert.equal((await values('name=tags')).length, 8)
  assert.ok((await values('name=sales_owner')).some((user: Any) => user.id === known.owner))
  assert.equal((await values('name=territory')).length, 5)
  const { meta } = (await get(`${v1}/field/dropdown?name=sales_owner&source=product`)).body
  assert.deepEqual([meta.source, meta.hasMore], ['product', false])
  assert.equal((await get(`${v1}/field/dropdown?name=tags&source=product`)).status, 404)
})

test('a record that is the default of its field says so', async () => {
  const { id } = (await fieldsOf('deal')).find(({ internal_name }) => internal_name === 'sales_owner')!
  const defaults = async (default_value: number | null) => {
    assert.equal((await call('PATCH', `${v1}/field/${id}`, { default_value })).status, 200)
    const { data } = (await get(`${v1}/field/dropdown?name=sales_owner&source=deal`)).body
    return data.filter(({ is_default }: Any) => is_default).map((user: Any) => user.id)
  }
  assert.deepEqual(await defaults(known.owner), [known.owner])
  assert.deepEqual(await defaults(null), [])
})

test('what is no dropdown, field or source is said so', async () => {
  const answer = async (path: string) => {
    const { status, body } = await get(`${v1}/field/${path}`)
    return `${status} ${body.code}`
  }
  assert.equal(await answer('dropdown?name=title'), '400 1008')
  assert.equal(await answer('dropdown?name=sorce'), '404 4003')
  assert.equal(await answer('dropdown?name=constructor'), '404 4003')
  assert.equal(await answer('dropdown?name=source&source=lead'), '404 4003')
  assert.equal(await answer('dropdown'), '400 1002')
  assert.equal(await answer('dropdown?name=source&x=1'), '400 1003')
  const both = (await get(`${v1}/field/dropdown?sourc=deal`)).body.errors
  assert.deepEqual(
    both.map(({ parameter, code }: Any) => `${parameter} ${code}`),
    ['sourc unknown_parameter', 'name required'],
  )
  assert.equal(await answer('list?source=lead'), '404 4003')
  assert.equal(await answer('list'), '400 1002')
})

test('a field that a role hides is as one that is not there, by its name and by its id', async () => {
  const made = async (resource: string, body: Any) => {
    const reply = await call('POST', `${v1}/${resource}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data.id
  }
  const hidden = ['source', 'cf_custom_dropdown_field']
  const role = await made('role', {
    name: 'Without sources',
    scopes: ['deal:read', 'field:read', 'field:write', 'user:read'],
    hidden_fields: hidden.map(name => `deal.${name}`),
  })
  const user = await made('user', { name: 'Blind', email: 'blind@example.com', role })
  const token = newSecret('token', 1)
  await createToken(db, { account: 1, user, name: 'Blind', scopes: ['admin'], token })
  const ask = (method: string, path: string, body?: Any) =>
    call(method, `${v1}/${path}`, body, { authorization: `Bearer ${token}` })
  const fields = new Map((await fieldsOf('deal')).map(field => [field.internal_name, field]))
  for (const name of hidden) {
    const [unknown, asked] = [
      await ask('GET', 'field/dropdown?name=cf_nothing_of_that_name&source=deal'),
      await ask('GET', `field/dropdown?name=${name}&source=deal`),
    ]
    assert.equal(asked.status, 404, name)
    assert.doesNotMatch(unknown.text + asked.text.replaceAll(`\\"${name}\\"`, ''), new RegExp(`"?${name}"?`))
    const { id, options } = fields.get(name)!
    const path = `field/${id}`
    for (const [method, at, body] of [
      ['GET', path],
      ['PATCH', path, { field_name: 'Seen' }],
      ['DELETE', path],
      ['DELETE', `${path}?dry_run=1`],
      ['POST', `${path}/restore`],
      ['POST', `${path}/option`, { name: 'More' }],
      ['PATCH', `${path}/option/${options[0].id}`, { name: 'Seen' }],
      ['DELETE', `${path}/option/${options[0].id}`],
    ] as const) {
      const reply = await ask(method, at, body)
      assert.deepEqual(
        [reply.status, reply.body.detail],
        [404, `There is no ${at.endsWith('restore') ? 'deleted field' : 'field'} ${id}.`],
        `${method} ${at}`,
      )
    }
  }
  assert.equal((await ask('GET', 'field/dropdown?name=type&source=deal')).status, 200)
  assert.equal((await ask('GET', `field/${fields.get('type')!.id}`)).status, 200)
})
