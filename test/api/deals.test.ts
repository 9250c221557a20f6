/** Chapter: Deal. Create, get, update, delete, and the rules that span fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, made } = service
const create = (members = {}) => call('POST', `${v1}/deal`, dealBody(known, members))
const events = async () => Number((await service.db.query('SELECT count(*)::text AS n FROM event'))[0]!.n)
const deals = async () => Number((await service.db.query('SELECT count(*)::text AS n FROM deal'))[0]!.n)

/** Asserts that a request is refused with exactly these problems and has no effect. */
async function refused(request: () => ReturnType<typeof call>, problems: string[]) {
  const before = [await events(), await deals()]
  const reply = await request()
  assert.equal(reply.status, 422, reply.text)
  assert.match(reply.headers.get('content-type')!, /^application\/problem\+json/)
  assert.equal(reply.body.code, 2001)
  assert.deepEqual(problemsOf(reply), problems)
  assert.deepEqual([await events(), await deals()], before)
  return reply
}

test('a deal with the mandatory fields is created, located and read back', async () => {
  const created = await create({ title: 'Fleet renewal' })
  assert.equal(created.status, 201, created.text)
  assert.equal(created.body.code, 0)
  const { data } = created.body
  assert.equal(created.headers.get('location'), `${v1}/deal/${data.id}`)
  assert.equal(created.headers.get('etag'), '"1"')
  assert.equal(data.title, 'Fleet renewal')
  assert.equal(data.status, 1)
  assert.equal(data.stage_probability, 10)
  assert.equal(data.created_by, known.owner)
  assert.deepEqual(data.tags, [])
  assert.equal(data.deal_value, null)
  assert.equal(data.age, 0)
  const read = await get(`${v1}/deal/${data.id}`)
  assert.equal(read.status, 200)
  assert.deepEqual(read.body.data, data)
})

test('every writable field is stored and returned', async () => {
  const body = {
    related_contacts: [known.contacts[1]!, known.contacts[2]!],
    company: known.company,
    deal_value: { currency: 'USD', value: 12500.5 },
    expected_deal_value: { currency: 'EUR', value: '900' },
    source: 'web',
    territory: known.territory,
    tags: known.tags.slice(0, 2),
    description: 'Ten seats and support',
    type: 'New Business',
    payment_status: 'Online',
    forecast_category: 'Commit',
    expected_close_date: '2027-02-28T23:30:00-05:00',
    metadata: { notes: { by: 'phone' } },
  }
  const { body: answer, status, text } = await create(body)
  assert.equal(status, 201, text)
  const { data } = answer
  assert.deepEqual(data.related_contacts, body.related_contacts)
  assert.deepEqual(data.deal_value, { currency: 840, currency_code: 'USD', value: 12500.5, products: [] })
  assert.deepEqual(data.expected_deal_value, { currency: 978, currency_code: 'EUR', value: 900 })
  assert.deepEqual(data.weighted_value, { currency: 840, currency_code: 'USD', value: 1250.05 })
  assert.deepEqual(data.deal_value_in_base_currency, { currency: 840, currency_code: 'USD', value: 12500.5 })
  assert.deepEqual(data.product_amount, { currency: 840, currency_code: 'USD', value: 0 })
  assert.equal(typeof data.source, 'number')
  assert.deepEqual(data.tags, body.tags)
  assert.equal(data.expected_close_date, '2027-02-28')
  assert.deepEqual(data.metadata, body.metadata)
})

test('rule 1: all missing mandatory fields are named at once', async () => {
  const reply = await refused(
    () => call('POST', `${v1}/deal`, {}),
    [
      '/pipeline required',
      '/pipeline_stage required',
      '/primary_contact required',
      '/sales_owner required',
      '/title required',
    ],
  )
  assert.ok(reply.body.errors.every((problem: { rule: number }) => problem.rule === 1))
})

test('every problem of a request is reported at once', async () => {
  await refused(
    () =>
      create({
        title: '',
        descripton: 'x',
        deal_value: { value: -1 },
        tags: [999999],
        type: 'Old Business',
        won_reason: true,
      }),
    [
      '/deal_value/currency currency_required',
      '/deal_value/value out_of_range',
      '/descripton unknown_field',
      '/tags/0 reference_not_found',
      '/title required',
      '/type unknown_option',
      '/won_reason wrong_type',
    ],
  )
})

test('of very many problems all are counted, the first 500 listed, and hints looked for among the first twenty', async () => {
  const members = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`titl${index}`, 1]))
  for (const [body, path, hint] of [
    [dealBody(known, members), '', 'Did you mean "title"?'],
    [
      dealBody(known, { primary_contact: { last_name: 'x', ...members } }),
      '/primary_contact',
      /^The field list of contact /,
    ],
  ] as const) {
    const { status, body: answer } = await call('POST', `${v1}/deal`, body)
    assert.equal(status, 422)
    assert.equal(answer.detail, 'The deal was not saved: 30000 problems. The first 500 are listed.')
    const paths = answer.errors.map((problem: { path: string }) => problem.path)
    assert.deepEqual(
      paths,
      Array.from({ length: 500 }, (_, index) => `${path}/titl${index}`),
    )
    const hints = answer.errors.flatMap((problem: { hint?: string }) => problem.hint ?? [])
    assert.equal(hints.length, 20)
    assert.match(hints[0], new RegExp(hint))
  }
})

test('a message quotes no more than a part of what was sent', async () => {
  for (const members of [
    { source: 'x'.repeat(500_000) },
    { deal_value: { currency: 'x'.repeat(500_000) } },
  ]) {
    const reply = await create(members)
    assert.equal(reply.status, 422)
    assert.ok(reply.text.length < 2000, reply.text.slice(0, 300))
  }
})

test('rules 2 to 4: Won and Lost need their reason and date, on create and on update', async () => {
  const { Won, Lost, Qualified } = known.stages
  await refused(
    () => create({ pipeline_stage: Won! }),
    ['/deal_closed_on required_when_won', '/won_reason required_when_won'],
  )
  await refused(
    () => create({ pipeline_stage: Lost!, lost_reason: 'Junk Lead' }),
    ['/deal_closed_on required_when_lost'],
  )
  const { id } = (await create()).body.data
  const path = `${v1}/deal/${id}`
  await refused(
    () => call('PATCH', path, { pipeline_stage: Won! }),
    ['/deal_closed_on required_when_won', '/won_reason required_when_won'],
  )
  const won = await call('PUT', path, {
    pipeline_stage: Won!,
    won_reason: 'Price',
    deal_closed_on: '2026-05-01',
  })
  assert.equal(won.status, 200, won.text)
  assert.equal(won.body.data.status, 2)
  assert.equal(won.body.data.stage_probability, 100)
  assert.ok(won.body.data.won_time)
  await refused(() => call('PATCH', path, { won_reason: null }), ['/won_reason required_when_won'])
  // Won to Lost is a new closing, which requires reason and date.
  await refused(
    () => call('PATCH', path, { pipeline_stage: Lost! }),
    ['/deal_closed_on required_when_lost', '/lost_reason required_when_lost'],
  )
  const lost = await call('PATCH', path, {
    pipeline_stage: Lost!,
    lost_reason: 'Not interested',
    deal_closed_on: '2026-06-01',
  })
  assert.equal(lost.body.data.status, 3)
  assert.equal(lost.body.data.won_time, null)
  assert.equal(lost.body.data.won_reason, null)
  assert.ok(lost.body.data.lost_time)
  const open = await call('PATCH', path, { pipeline_stage: Qualified! })
  assert.equal(open.body.data.status, 1)
  for (const name of ['won_reason', 'lost_reason', 'deal_closed_on', 'won_time', 'lost_time'])
    assert.equal(open.body.data[name], null, name)
})

test('rule 5: a forecast category needs an expected close date', async () => {
  const reply = await refused(
    () => create({ forecast_category: 'Commit' }),
    ['/expected_close_date required_with_forecast_category'],
  )
  assert.equal(reply.body.errors[0].rule, 5)
  const { id } = (await create({ forecast_category: 'Commit', expected_close_date: '2027-01-31' })).body.data
  await refused(
    () => call('PATCH', `${v1}/deal/${id}`, { expected_close_date: null }),
    ['/expected_close_date required_with_forecast_category'],
  )
})

test('PATCH and PUT are one merge: absent stays, null clears, arrays are replaced', async () => {
  const { id, version } = (await create({ description: 'Keep me', tags: known.tags.slice(0, 3) })).body.data
  assert.equal(version, 1)
  const patched = (await call('PATCH', `${v1}/deal/${id}`, { tags: [known.tags[0]!] })).body.data
  assert.equal(patched.description, 'Keep me')
  assert.deepEqual(patched.tags, [known.tags[0]])
  assert.equal(patched.version, 2)
  const put = (await call('PUT', `${v1}/deal/${id}`, { description: null })).body.data
  assert.equal(put.description, null)
  assert.equal(put.title, 'A deal')
})

test('a record that was read can be written back whole, and changes nothing', async () => {
  const { data } = (
    await create({ deal_value: { currency: 'KWD', value: 1.125 }, tags: known.tags.slice(0, 1) })
  ).body
  const before = await events()
  const reply = await call('PUT', `${v1}/deal/${data.id}`, data)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body.data, data)
  assert.ok(
    reply.body.meta.warnings.some(
      (warning: { field: string; code: string }) =>
        warning.field === 'weighted_value' && warning.code === 'read_only',
    ),
  )
  assert.equal(await events(), before)
})

test('a warning has its place in the body, also one about a nested record', async () => {
  const placed = ({ status, text, body }: Awaited<ReturnType<typeof call>>) => {
    assert.ok(status < 300, text)
    return body.meta.warnings.map((one: { path: string; code: string }) => `${one.path} ${one.code}`)
  }
  const created_at = '2020-01-01T00:00:00Z'
  const emails = ['one', 'two'].map(name => ({ email_type: 'Odd', email_value: `${name}@example.com` }))
  const company = { name: 'Placed', created_at }
  const primary_contact = { last_name: 'Placed', created_at, emails, company }
  const reply = await create({ created_at, primary_contact, deal_value: { currency: 'USD', value: 5 } })
  assert.deepEqual(placed(reply), [
    '/primary_contact/created_at read_only',
    '/primary_contact/emails/0/email_type type_defaulted',
    '/primary_contact/emails/1/email_type type_defaulted',
    '/primary_contact/company/created_at read_only',
    '/created_at read_only',
  ])
  const product = await made('product', { name: 'Placed', unit_price: [{ currency: 'USD', unit_price: 3 }] })
  const products = [{ product: product.id, quantity: 1, unit_price: 4 }]
  const path = `${v1}/deal/${reply.body.data.id}`
  const change = { deal_value: { currency: 'USD', products } }
  assert.deepEqual(placed(await call('PATCH', path, change)), ['/deal_value value_from_products'])
})

test('a reference that was deleted meanwhile may be sent again by the record that has it, and by no other', async () => {
  const [kept, added] = known.contacts.slice(-2) as [number, number]
  const { data } = (await create({ related_contacts: [kept], primary_contact: kept })).body
  await service.db.query('UPDATE contact SET deleted_at = now() WHERE id = ANY($1::bigint[])', [
    `{${kept},${added}}`,
  ])
  const reply = await call('PUT', `${v1}/deal/${data.id}`, { ...data, title: 'Written back' })
  assert.equal(reply.status, 200, reply.text)
  await refused(
    () => call('PATCH', `${v1}/deal/${data.id}`, { related_contacts: [kept, added] }),
    ['/related_contacts/1 reference_not_found'],
  )
  await refused(() => create({ primary_contact: kept }), ['/primary_contact reference_not_found'])
})

test('the stage must belong to the pipeline', async () => {
  const other = (await call('POST', `${v1}/pipeline`, { name: 'Other' })).body.data.id
  const { id } = (await create()).body.data
  await refused(() => create({ pipeline: other }), ['/pipeline_stage stage_not_in_pipeline'])
  await refused(
    () => call('PATCH', `${v1}/deal/${id}`, { pipeline: other }),
    ['/pipeline_stage stage_not_in_pipeline'],
  )
})

test('a stage by name is that of the pipeline the deal gets, be it by default or kept by a lock', async () => {
  const sales = known.pipeline
  const partners = (await call('POST', `${v1}/pipeline`, { name: 'Allies' })).body.data.id
  const stage = { pipeline: partners, name: 'New', kind: 'Open' }
  const ours = (await call('POST', `${v1}/pipeline_stage`, stage)).body.data.id
  const { pipeline: _, ...body } = dealBody(known, { pipeline_stage: 'New' })
  const saved = async (reply: Awaited<ReturnType<typeof call>>, expected: number[]) => {
    assert.ok(reply.status < 300, reply.text)
    const { pipeline, pipeline_stage } = reply.body.data
    assert.deepEqual([pipeline, pipeline_stage], expected)
    return `${v1}/deal/${reply.body.data.id}`
  }
  const byDefault = (default_value: number | null) => call('PATCH', `${v1}/field/3`, { default_value })
  assert.equal((await byDefault(partners)).status, 200)
  await saved(await call('POST', `${v1}/deal`, body), [partners, ours])
  await saved(await create({ pipeline_stage: 'New' }), [sales, known.stages.New!])
  const scopes = ['deal:read', 'deal:write', 'contact:read', 'user:read']
  const role = await made('role', { name: 'Allied', scopes, locked_fields: ['deal.pipeline'] })
  const user = await made('user', { name: 'Ally', email: 'ally@example.com', role: role.id })
  const { token } = await made('token', { name: 'Ally', user: user.id, scopes })
  const authorization = `Bearer ${token}`
  const locked = await call('POST', `${v1}/deal`, { ...body, pipeline: sales }, { authorization })
  const path = await saved(locked, [partners, ours])
  const change = { pipeline: sales, pipeline_stage: 'new' }
  await saved(await call('PATCH', path, change, { authorization }), [partners, ours])
  // A required field has a default as long as a role locks it.
  assert.equal((await call('PATCH', `${v1}/role/${role.id}`, { locked_fields: [] })).status, 200)
  assert.equal((await byDefault(null)).status, 200)
})

test('money keeps every digit and is never rounded', async () => {
  const { data } = (await create({ deal_value: { currency: 'USD', value: 9999999999999 } })).body
  assert.equal(data.deal_value.value, 9999999999999)
  await refused(
    () => create({ deal_value: { currency: 'JPY', value: 1.5 } }),
    ['/deal_value/value too_many_decimals'],
  )
  await refused(
    () => create({ deal_value: { currency: 'USD', value: 1.005 } }),
    ['/deal_value/value too_many_decimals'],
  )
  await refused(
    () => create({ deal_value: { currency: 'USD', value: 10000000000000 } }),
    ['/deal_value/value out_of_range'],
  )
  // A value that does not fit the new currency is refused, not rounded.
  const { id } = (await create({ deal_value: { currency: 'USD', value: 1.5 } })).body.data
  await refused(
    () => call('PATCH', `${v1}/deal/${id}`, { deal_value: { currency: 'JPY' } }),
    ['/deal_value/value too_many_decimals'],
  )
  const euro = (await call('PATCH', `${v1}/deal/${id}`, { deal_value: { currency: 'EUR' } })).body.data
  assert.deepEqual(euro.deal_value, { currency: 978, currency_code: 'EUR', value: 1.5, products: [] })
})

test('limits of the interface, at the bound and one past it', async () => {
  assert.equal((await create({ title: '\u{1F600}'.repeat(255), description: 'd'.repeat(255) })).status, 201)
  await refused(
    () => create({ title: 't'.repeat(256), description: 'd'.repeat(256) }),
    ['/description too_long', '/title too_long'],
  )
  await refused(() => create({ description: '' }), ['/description too_short'])
  const tags = Array.from({ length: 11 }, (_, index) => 800_001 + index)
  await service.db.query(
    'INSERT INTO tag (account_id, id, name, document, created_at, updated_at) SELECT 1, id, \'Tag \' || id, \'"name":"Tag"\', now(), now() FROM unnest($1::bigint[]) id',
    [`{${tags.join(',')}}`],
  )
  assert.deepEqual((await create({ tags: tags.slice(1) })).body.data.tags, tags.slice(1))
  await refused(() => create({ tags }), ['/tags too_many'])
})

test('a deleted deal is gone from get and list, and its event is kept', async () => {
  const { id } = (await create({ title: 'Short-lived' })).body.data
  const removed = await call('DELETE', `${v1}/deal/${id}`)
  assert.equal(removed.status, 200)
  assert.deepEqual(removed.body, { code: 0, data: { id, deleted: true } })
  for (const method of ['GET', 'DELETE']) assert.equal((await call(method, `${v1}/deal/${id}`)).status, 404)
  assert.equal((await call('PATCH', `${v1}/deal/${id}`, { title: 'x' })).status, 404)
  assert.equal((await get(`${v1}/deal/view/list?filter=id:eq(${id})`)).body.meta.total, 0)
  const rows = await service.db.query('SELECT type FROM event WHERE record_id = $1::bigint ORDER BY seq', [
    String(id),
  ])
  assert.deepEqual(
    rows.map(row => row.type),
    ['deal.created', 'deal.deleted'],
  )
})

test('an event holds the values before and after of what changed', async () => {
  const { id } = (await create({ description: 'One' })).body.data
  await call('PATCH', `${v1}/deal/${id}`, { description: 'Two' })
  const [row] = await service.db.query(
    `SELECT changes::text AS changes, version::text AS version FROM event WHERE record_id = $1::bigint AND type = 'deal.updated'`,
    [String(id)],
  )
  assert.deepEqual(JSON.parse(row!.changes!), { description: { before: 'One', after: 'Two' } })
  assert.equal(row!.version, '2')
})

test('two updates of different fields at once both survive', async () => {
  const { id } = (await create()).body.data
  const replies = await Promise.all([
    call('PATCH', `${v1}/deal/${id}`, { title: 'New title' }),
    call('PATCH', `${v1}/deal/${id}`, { description: 'New description' }),
    call('PATCH', `${v1}/deal/${id}`, { metadata: { a: 1 } }),
  ])
  assert.deepEqual(
    replies.map(reply => reply.status),
    [200, 200, 200],
  )
  const { data } = (await get(`${v1}/deal/${id}`)).body
  assert.deepEqual(
    [data.title, data.description, data.metadata, data.version],
    ['New title', 'New description', { a: 1 }, 4],
  )
})

test('If-Match with another version is refused with the fields that differ', async () => {
  const { id } = (await create()).body.data
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Second' })
  const reply = await call('PATCH', `${v1}/deal/${id}`, { title: 'Third' }, { 'if-match': '"1"' })
  assert.equal(reply.status, 412)
  assert.equal(reply.body.errors[0].current, 'Second')
  assert.equal(reply.body.errors[0].sent, 'Third')
  assert.equal(
    (await call('PATCH', `${v1}/deal/${id}`, { title: 'Third' }, { 'if-match': '"2"' })).status,
    200,
  )
})

test('a conflict shows what was sent, also of records that would have been created', async () => {
  const { id, primary_contact } = (await create()).body.data
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Second' })
  const contact = { last_name: 'Unsaved' }
  const sent = { primary_contact: contact, deal_value: { currency: 'usd', value: '7' } }
  const conflicts = [
    { field: 'primary_contact', current: primary_contact, sent: contact },
    { field: 'deal_value', current: null, sent: sent.deal_value },
  ].map(({ field, ...more }) => ({
    ...{ field, path: `/${field}`, code: 'changed_since_read' },
    ...{ message: `${field} differs from the stored value.`, ...more },
  }))
  const reply = await call('PATCH', `${v1}/deal/${id}`, sent, { 'if-match': '"1"' })
  assert.deepEqual([reply.status, reply.body.errors], [412, conflicts])
  const operations = [{ op: 'update', id, if_match: 1, data: sent }]
  const [result] = (await call('POST', `${v1}/deal/batch`, { operations })).body.data
  assert.deepEqual([result.status, result.errors], [412, conflicts])
})

test('a change creates the records to which the deal then points', async () => {
  const { id } = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const body = { company: { name: 'New' }, related_contacts: [known.contact, { last_name: 'New' }] }
  const { status, text, body: answer } = await call('PATCH', `${v1}/deal/${id}`, body)
  assert.equal(status, 200, text)
  const { company, related_contacts: contacts } = answer.data
  assert.equal((await get(`${v1}/company/${company}`)).body.data.name, 'New')
  assert.equal((await get(`${v1}/contact/${contacts[1]}`)).body.data.last_name, 'New')
  assert.deepEqual([contacts.length, contacts[0]], [2, known.contact])
})
