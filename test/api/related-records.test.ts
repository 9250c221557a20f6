/**
 * The records around a deal (D37): contacts, companies, users, territories and tags; nested creation (D11,
 * D12); records in use can't be deleted.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Draft } from '../../src/fields/resource.ts'
import type { Json } from '../../src/json.ts'
import { workOn } from '../../src/records/work.ts'
import { createRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { eventually } from '../support/eventually.ts'
import { onServer, whileItWaits } from '../support/held-lock.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService()
const { aSecondGoesBy, call, db, get, known, made } = service
const counts = async () =>
  (
    await db.query(
      'SELECT (SELECT count(*) FROM deal)::text AS deals, (SELECT count(*) FROM contact)::text AS contacts, ' +
        '(SELECT count(*) FROM company)::text AS companies, (SELECT last_seq FROM counter WHERE account_id = 1)::text AS seq, ' +
        '(SELECT count(*) FROM event WHERE account_id = 1)::text AS events',
    )
  )[0]!

const bodies: {
  readonly [resource: string]: {
    body: { [name: string]: Json }
    change: { [name: string]: Json }
    bad: Json
    problems: string[]
  }
} = {
  contact: {
    body: {
      first_name: 'Ada',
      last_name: 'Byron',
      job_title: 'Analyst',
      company: known.company,
      emails: [{ email_type: 1, email_value: 'ada@example.com' }],
      phones: [{ phone_type: 3, phone_number: '+1 555 0142' }],
      metadata: { from: 'the fair' },
    },
    change: { job_title: null },
    bad: { first_name: '', emails: [{ email_type: 1, email_value: 'ada' }], company: 999_999 },
    problems: [
      '/company reference_not_found',
      '/emails/0/email_value invalid_email',
      '/first_name too_short',
      '/last_name required',
    ],
  },
  company: {
    body: {
      name: 'Analytical Engines',
      website: 'https://engines.example',
      phones: [],
      address: [{ city: 'London' }],
    },
    change: { website: null },
    bad: { address: { street: 'x' } },
    problems: ['/address/street unknown_field', '/name required'],
  },
  user: {
    body: { name: 'Charles', email: 'charles@example.com' },
    change: { name: 'Charles B.' },
    bad: { name: 'x', email: 'nobody' },
    problems: ['/email invalid_email'],
  },
  territory: {
    body: { name: 'Somerset' },
    change: { name: 'Devon' },
    bad: { name: '' },
    problems: ['/name required'],
  },
  tag: {
    body: { name: 'machine' },
    change: { name: 'machines' },
    bad: { name: 'x'.repeat(256) },
    problems: ['/name too_long'],
  },
}

for (const [resource, { body, change, bad, problems }] of Object.entries(bodies)) {
  test(`${resource}: create, get, update, list, field list and delete, as for deals`, async () => {
    const path = `${v1}/${resource}`
    const record = await made(resource, body)
    for (const [name, value] of Object.entries(body)) assert.deepEqual(record[name], value, name)
    assert.deepEqual([record.version, record.created_by, record.deleted_at], [1, known.owner, null])
    assert.deepEqual((await get(`${path}/${record.id}`)).body.data, record)
    assert.equal((await call('PUT', `${path}/${record.id}`, record)).body.data.version, 1)
    const changed = (await call('PATCH', `${path}/${record.id}`, change)).body.data
    assert.equal(changed.version, 2)
    const listed = (await get(`${path}/view/list?filter=id:eq(${record.id})&expand=created_by`)).body.data
    assert.deepEqual(listed, [{ ...changed, _expanded: { created_by: { id: known.owner, name: 'Owner' } } }])
    assert.deepEqual(problemsOf(await call('POST', path, bad)), problems)
    const described = (await get(`${v1}/field/list?source=${resource}`)).body.data
    assert.ok(
      described.fields.flat().some((field: { internal_name: string }) => field.internal_name === 'metadata'),
    )
    // They can have custom fields, too.
    const field = await made('field', { source: resource, field_name: 'Rank', type: 'SINGLE_NUMBER' })
    assert.equal((await call('PATCH', `${path}/${record.id}`, { cf_rank: 7 })).body.data.cf_rank, 7)
    assert.equal((await get(`${path}/view/list?filter=cf_rank:eq(7)&sort=cf_rank:asc`)).body.data.length, 1)
    await call('DELETE', `${v1}/field/${field.id}`)
    assert.equal((await call('DELETE', `${path}/${record.id}`)).status, 200)
    assert.equal((await get(`${path}/${record.id}`)).status, 404)
    assert.equal((await get(`${path}/view/list?deleted=only&filter=id:eq(${record.id})`)).body.data.length, 1)
    const events = await db.query(
      'SELECT type FROM event WHERE account_id = 1 AND resource = $1::text AND record_id = $2::bigint ORDER BY seq',
      [resource, String(record.id)],
    )
    assert.deepEqual(
      events.map(event => event.type),
      ['created', 'updated', 'updated', 'deleted'].map(verb => `${resource}.${verb}`),
    )
  })
}

test('names of tags and territories are there once, and free again when deleted', async () => {
  const tag = await made('tag', { name: 'Unique' })
  const again = await call('POST', `${v1}/tag`, { name: 'unique' })
  assert.deepEqual([again.status, again.body.code, problemsOf(again)], [409, 5003, ['/name name_taken']])
  await call('DELETE', `${v1}/tag/${tag.id}`)
  await made('tag', { name: 'unique' })
})

test("a user's e-mail is there once among those who are not deleted, in any case (D128)", async () => {
  const taken = async (method: string, path: string, body?: Json) => {
    const reply = await call(method, `${v1}${path}`, body)
    assert.deepEqual(
      [reply.status, reply.body.code, problemsOf(reply)],
      [409, 5003, ['/email value_taken']],
      reply.text,
    )
    assert.equal(reply.body.detail, 'There is a user with that email already.')
  }
  const first = await made('user', { name: 'Zoë', email: 'zo\u00eb@example.com' })
  for (const email of ['zoë@example.com', 'ZOË@EXAMPLE.COM', 'zoe\u0308@example.com'])
    await taken('POST', '/user', { name: 'Another', email })
  const second = await made('user', { name: 'Zoë', email: 'zoe@example.com' })
  await taken('PATCH', `/user/${second.id}`, { email: 'Zoë@example.com' })
  assert.equal((await call('PATCH', `${v1}/user/${first.id}`, { email: 'Zoë@Example.com' })).status, 200)
  // Released by a deletion, and taken by the time of a restoration.
  assert.equal((await call('DELETE', `${v1}/user/${first.id}`)).status, 200)
  assert.equal((await call('PATCH', `${v1}/user/${second.id}`, { email: 'zoë@example.com' })).status, 200)
  await taken('POST', `/user/${first.id}/restore`)
  assert.equal((await call('DELETE', `${v1}/user/${second.id}`)).status, 200)
  assert.equal((await call('POST', `${v1}/user/${first.id}/restore`)).status, 200)
  await taken('POST', `/user/${second.id}/restore`)
})

test('of two processes that make a user of one e-mail at once, one does', async () => {
  const other = await service.another()
  for (let round = 0; round < 10; round++) {
    const body = { name: 'Twin', email: `twin${round}@example.com` }
    const replies = await Promise.all(
      [call, other.call, call, other.call].map(by => by('POST', `${v1}/user`, body)),
    )
    assert.deepEqual(replies.map(reply => reply.status).toSorted(), [201, 409, 409, 409])
  }
})

test('a contact and a company are created inside a deal, with it, in one go', async () => {
  const before = await counts()
  const reply = await call('POST', `${v1}/deal`, {
    ...dealBody(known),
    primary_contact: {
      first_name: 'Grace',
      last_name: 'Hopper',
      emails: [{ email_type: 'work', email_value: 'grace@example.com' }],
      company: { name: 'Compilers Ltd' },
    },
    related_contacts: [{ last_name: 'Second' }, known.contacts[1]!, { id: known.contacts[2]! }],
    company: { name: 'Compilers Ltd' },
  })
  assert.equal(reply.status, 201, reply.text)
  const { data, meta } = reply.body
  // The same company twice is one.
  assert.deepEqual(
    meta.created.map((one: { resource: string }) => one.resource),
    ['company', 'contact', 'contact'],
  )
  const [company, grace, second] = meta.created.map((one: { id: number }) => one.id)
  assert.deepEqual(
    [data.primary_contact, data.company, data.related_contacts],
    [grace, company, [second, known.contacts[1], known.contacts[2]]],
  )
  const contact = (await get(`${v1}/contact/${grace}`)).body.data
  assert.deepEqual(
    [contact.first_name, contact.company, contact.version, contact.created_by],
    ['Grace', company, 1, known.owner],
  )
  assert.equal((await get(`${v1}/company/${company}`)).body.data.name, 'Compilers Ltd')
  assert.equal((await get(`${v1}/deal/view/list?filter=company:eq(${company})`)).body.data.length, 1)
  const after = await counts()
  assert.deepEqual(
    [Number(after.contacts) - Number(before.contacts), Number(after.seq) - Number(before.seq)],
    [2, 4],
  )
  assert.equal(after.seq, after.events)
  const types = await db.query(
    'SELECT type FROM event WHERE account_id = 1 AND seq > $1::bigint ORDER BY seq',
    [before.seq!],
  )
  assert.deepEqual(
    types.map(event => event.type),
    ['company.created', 'contact.created', 'contact.created', 'deal.created'],
  )
  // An update can do it, too; a custom number may be negative.
  const updated = await call('PATCH', `${v1}/deal/${data.id}`, {
    primary_contact: { last_name: 'Third' },
    related_contacts: { last_name: 'Third' },
    cf_custom_number_field: -1,
  })
  assert.equal(updated.status, 200, updated.text)
  const [third] = updated.body.meta.created
  assert.equal(updated.body.meta.created.length, 1)
  assert.deepEqual(
    [
      updated.body.data.primary_contact,
      updated.body.data.related_contacts,
      updated.body.data.cf_custom_number_field,
    ],
    [third.id, [third.id], -1],
  )
})

test('what a rule of a contact sets is saved also when a deal creates the contact', async () => {
  const ruled = resources.map(resource => ({
    ...resource,
    applyRules(draft: Draft) {
      resource.applyRules?.(draft)
      if (resource.name === 'contact') draft.after.job_title ??= `As ${draft.after.last_name}`
    },
  }))
  const catalog = await loadCatalog(db, ruled, 1)
  const body = { ...dealBody(known), primary_contact: { last_name: 'Ruled' } }
  const { created } = await createRecord(workOn(db, { catalog, actor: known.owner }, 'deal'), body)
  const { data } = (await get(`${v1}/contact/${created[0]!.id}`)).body
  assert.deepEqual([data.last_name, data.job_title], ['Ruled', 'As Ruled'])
  const [event] = (await get(`${v1}/contact/${data.id}/history`)).body.data
  const change = event.changes.find(({ field }: { field: string }) => field === 'job_title')
  assert.equal(change.to, 'As Ruled')
})

test('a problem anywhere in a nested record is named by its path, and nothing is saved', async () => {
  const before = await counts()
  const reply = await call('POST', `${v1}/deal`, {
    ...dealBody(known, { title: '' }),
    primary_contact: {
      first_name: 'No last name',
      emails: [{ email_type: 1, email_value: 'nope' }],
      nick: 'x',
    },
    related_contacts: [{ last_name: 'Fine' }, { last_name: 'x'.repeat(256), company: 999_999 }, {}],
    company: { website: 'w' },
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(problemsOf(reply), [
    '/company/name required',
    '/primary_contact/emails/0/email_value invalid_email',
    '/primary_contact/last_name required',
    '/primary_contact/nick unknown_field',
    '/related_contacts/1/company reference_not_found',
    '/related_contacts/1/last_name too_long',
    '/related_contacts/2/last_name required',
    '/title required',
  ])
  assert.deepEqual(await counts(), before)
  assert.deepEqual(
    problemsOf(
      await call(
        'POST',
        `${v1}/deal`,
        dealBody(known, { primary_contact: { id: known.contact, last_name: 'x' } }),
      ),
    ),
    ['/primary_contact contradiction'],
  )
})

test('what records point to can not be deleted: 409 with the counts', async () => {
  const contact = await made('contact', { last_name: 'Needed' })
  const tag = await made('tag', { name: 'needed' })
  const deals = await Promise.all([
    made('deal', dealBody(known, { primary_contact: contact.id, tags: [tag.id] })),
    made('deal', dealBody(known, { related_contacts: [contact.id], cf_custom_contact_field: contact.id })),
  ])
  const refused = await call('DELETE', `${v1}/contact/${contact.id}`)
  assert.deepEqual([refused.status, refused.body.code], [409, 5004], refused.text)
  assert.deepEqual(
    refused.body.errors.map((problem: { resource: string; count: number }) => [
      problem.resource,
      problem.count,
    ]),
    [['deal', 2]],
  )
  assert.equal((await call('DELETE', `${v1}/tag/${tag.id}`)).status, 409)
  assert.equal((await call('DELETE', `${v1}/user/${known.owner}`)).status, 409)
  assert.equal((await call('DELETE', `${v1}/company/${known.company}`)).status, 409)
  assert.equal((await get(`${v1}/contact/${contact.id}`)).status, 200)
  for (const { id } of deals) await call('DELETE', `${v1}/deal/${id}`)
  assert.equal((await call('DELETE', `${v1}/contact/${contact.id}`)).status, 200)
  assert.equal((await call('DELETE', `${v1}/contact/${contact.id}`)).status, 404)
  assert.deepEqual(
    problemsOf(await call('POST', `${v1}/deal`, dealBody(known, { primary_contact: contact.id }))),
    ['/primary_contact reference_not_found'],
  )
})

test('a record that nothing but itself points to is deleted and restored', async () => {
  await made('field', { source: 'company', field_name: 'Parent', type: 'COMPANY' })
  await made('field', { source: 'contact', field_name: 'Peer', type: 'CONTACT' })
  const { id } = await made('company', { name: 'Own parent' })
  const child = await made('company', { name: 'Child', cf_parent: id })
  const contact = await made('contact', { last_name: 'Own peer' })
  const own = async (path: string, body: Json) =>
    assert.equal((await call('PATCH', `${v1}/${path}`, body)).status, 200, path)
  await own(`company/${id}`, { cf_parent: id })
  await own(`contact/${contact.id}`, { cf_peer: contact.id })
  const refused = await call('DELETE', `${v1}/company/${id}`)
  assert.deepEqual([refused.status, refused.body.errors[0].count], [409, 1])
  assert.equal((await call('DELETE', `${v1}/company/${child.id}`)).status, 200)
  for (const path of [`company/${id}`, `contact/${contact.id}`]) {
    assert.equal((await call('DELETE', `${v1}/${path}`)).status, 200, path)
    const restored = await call('POST', `${v1}/${path}/restore`)
    assert.equal(restored.status, 200, restored.text)
  }
  const operations = [{ op: 'delete', id }]
  const { body } = await call('POST', `${v1}/company/batch`, { operations })
  assert.equal(body.meta.succeeded, 1, JSON.stringify(body))
})

test('nobody deletes themselves; the tokens of a deleted user end', async () => {
  const user = await made('user', { name: 'Passing by', email: 'passing@example.com', role: 'Administrator' })
  const token = newSecret('token', 1)
  await createToken(db, { account: 1, user: user.id, name: 'Theirs', scopes: ['admin'], token })
  const theirs = { authorization: `Bearer ${token}` }
  const own = await call('DELETE', `${v1}/user/${user.id}`, undefined, theirs)
  assert.deepEqual([own.status, own.body.code], [409, 5004], own.text)
  assert.equal((await call('DELETE', `${v1}/user/${user.id}`)).status, 200)
  aSecondGoesBy()
  assert.equal((await call('GET', `${v1}/deal/view/list`, undefined, theirs)).status, 401)
  // Permanently: a restored user gets new ones.
  assert.equal((await call('POST', `${v1}/user/${user.id}/restore`)).status, 200)
  aSecondGoesBy()
  assert.equal((await call('GET', `${v1}/deal/view/list`, undefined, theirs)).status, 401)
})

test('deleting and pointing at the same moment: one of the two is refused, whichever comes second', async () => {
  for (let round = 0; round < 40; round++) {
    const contact = await made('contact', { last_name: `Raced ${round}` })
    const point = () => call('POST', `${v1}/deal`, dealBody(known, { primary_contact: contact.id }))
    const remove = () => call('DELETE', `${v1}/contact/${contact.id}`)
    const [first, second] = await Promise.all(round % 2 ? [point(), remove()] : [remove(), point()])
    const [deal, gone] = round % 2 ? [first, second] : [second, first]
    assert.ok(
      (deal!.status === 201 && gone!.status === 409) || (deal!.status === 422 && gone!.status === 200),
      `${deal!.status} ${deal!.text} / ${gone!.status}`,
    )
  }
})

test('restoring what points to something that is deleted at the same moment: one of the two is refused', async () => {
  for (let round = 0; round < 40; round++) {
    const company = await made('company', { name: `Raced ${round}` })
    const contact = await made('contact', { last_name: `Raced ${round}`, company: company.id })
    await call('DELETE', `${v1}/contact/${contact.id}`)
    const restore = () => call('POST', `${v1}/contact/${contact.id}/restore`)
    // The deletion comes between any two statements of the restoration.
    const remove = async () => {
      for (let waits = round % 5; waits > 0; waits--) await db.query('SELECT 1')
      return call('DELETE', `${v1}/company/${company.id}`)
    }
    const [back, gone] = await Promise.all([restore(), remove()])
    assert.ok(
      (back.status === 200 && gone.status === 409) || (back.status === 422 && gone.status === 200),
      `${back.status} ${back.text} / ${gone.status}`,
    )
  }
})

test('pipelines and stages: made, ordered, deleted when nothing is in them; what a stage is never changes', async () => {
  const pipeline = await made('pipeline', { name: 'Partners' })
  assert.deepEqual([pipeline.position, pipeline.is_default], [2, 2])
  const stage = (body: { [name: string]: Json }) => made('pipeline_stage', { pipeline: pipeline.id, ...body })
  const [talk, sign, won, lost] = [
    await stage({ name: 'Talk', probability: 25, rotting_days: 10, kind: null }),
    await stage({ name: 'Sign', probability: 75 }),
    await stage({ name: 'Signed', kind: 'Won', probability: 3 }),
    await stage({ name: 'Gone', kind: 'lost', rotting_days: 3 }),
  ]
  assert.deepEqual(
    [talk.position, sign.position, won.probability, lost.probability, lost.rotting_days],
    [1, 2, 100, 0, null],
  )
  const names = async () =>
    (await get(`${v1}/field/dropdown?name=pipeline_stage&pipeline=${pipeline.id}`)).body.data.map(
      (one: { name: string }) => one.name,
    )
  assert.deepEqual(await names(), ['Talk', 'Sign', 'Signed', 'Gone'])
  await call('PATCH', `${v1}/pipeline_stage/${talk.id}`, { position: 9 })
  assert.deepEqual(await names(), ['Sign', 'Signed', 'Gone', 'Talk'])
  assert.deepEqual(
    problemsOf(
      await call('PATCH', `${v1}/pipeline_stage/${talk.id}`, { kind: 'Won', pipeline: known.pipeline }),
    ),
    ['/kind immutable', '/pipeline immutable'],
  )
  assert.equal(
    (await call('POST', `${v1}/pipeline_stage`, { pipeline: pipeline.id, name: 'sign' })).status,
    409,
  )
  assert.deepEqual(
    problemsOf(
      await call('POST', `${v1}/pipeline_stage`, { pipeline: 999_999, name: 'x', probability: 101 }),
    ),
    ['/pipeline unknown_option', '/probability out_of_range'],
  )
  const deal = await made('deal', dealBody(known, { pipeline: pipeline.id, pipeline_stage: talk.id }))
  const inUse = await call('DELETE', `${v1}/pipeline_stage/${talk.id}`)
  assert.deepEqual([inUse.status, inUse.body.errors[0].count], [409, 1])
  assert.equal((await call('DELETE', `${v1}/pipeline/${pipeline.id}`)).status, 409)
  assert.equal((await call('DELETE', `${v1}/pipeline_stage/${sign.id}`)).status, 200)
  assert.deepEqual(await names(), ['Signed', 'Gone', 'Talk'])
  await call('DELETE', `${v1}/deal/${deal.id}`)
  const { seq } = await counts()
  assert.equal((await call('DELETE', `${v1}/pipeline/${pipeline.id}`)).status, 200)
  const events = await db.query(
    'SELECT type, record_id::text FROM event WHERE account_id = 1 AND seq > $1::bigint ORDER BY seq',
    [seq!],
  )
  assert.deepEqual(
    events.map(({ type, record_id }) => `${type} ${record_id}`),
    [...[talk, won, lost].map(({ id }) => `pipeline_stage.deleted ${id}`), `pipeline.deleted ${pipeline.id}`],
  )
  assert.deepEqual(await names(), [])
})

test("a stage's probability re-weighs its open deals, and touches nothing else of them", async () => {
  const stage = await made('pipeline_stage', {
    pipeline: known.pipeline,
    name: 'Weighed',
    probability: 10,
    rotting_days: 5,
  })
  const [deal, jpy] = [
    await made(
      'deal',
      dealBody(known, { pipeline_stage: stage.id, deal_value: { currency: 'USD', value: '100.25' } }),
    ),
    await made(
      'deal',
      dealBody(known, { pipeline_stage: stage.id, deal_value: { currency: 'JPY', value: 5 } }),
    ),
  ]
  // 100.25 × 10 % = 10.025, half-even 10.02; 5 × 10 % = 0.5, half-even 0.
  assert.deepEqual([deal.weighted_value.value, jpy.weighted_value.value], [10.02, 0])
  await call('PATCH', `${v1}/pipeline_stage/${stage.id}`, { probability: 30, rotting_days: null })
  const newest = async () => (await get(`${v1}/deal/${jpy.id}`)).body.data.weighted_value.value
  await eventually(async () => (await newest()) === 2, 'the weight of the stage')
  const [after, afterJpy] = await Promise.all(
    [deal, jpy].map(async ({ id }) => (await get(`${v1}/deal/${id}`)).body.data),
  )
  // 30.075, half-even 30.08; 1.5, half-even 2.
  assert.deepEqual(
    [after.weighted_value.value, afterJpy.weighted_value.value, after.stage_probability],
    [30.08, 2, 30],
  )
  assert.deepEqual(
    [after.updated_at, after.version, after.rotting_days],
    [deal.updated_at, deal.version, null],
  )
  assert.equal((await get(`${v1}/deal/view/list?filter=weighted_value.value:eq(30.08)`)).body.data.length, 1)
})

test('a rate revalues open deals and products; closed deals keep theirs; no rate is null, never 1', async () => {
  const chf = (await get(`${v1}/currency/view/list?filter=code:eq(CHF)`)).body.data[0]
  assert.deepEqual([chf.id, chf.rate, chf.is_active], [756, null, 1])
  const value = { currency: 'CHF', value: '200.10' }
  const open = await made('deal', dealBody(known, { deal_value: value }))
  assert.equal(open.deal_value_in_base_currency, null)
  const product = await made('product', {
    name: 'In francs',
    unit_price: [{ currency: 'CHF', unit_price: '10' }],
  })
  assert.equal(product.base_currency_amount, null)
  const set = await call('PATCH', `${v1}/currency/756`, { rate: 1.125 })
  assert.equal(set.status, 200, set.text)
  const read = async (resource: string, id: number) => (await get(`${v1}/${resource}/${id}`)).body.data
  await eventually(async () => (await read('product', product.id)).base_currency_amount, 'the new rate')
  // 200.10 × 1.125 = 225.1125 → 225.11
  assert.deepEqual((await read('deal', open.id)).deal_value_in_base_currency, {
    currency: 840,
    currency_code: 'USD',
    value: 225.11,
  })
  assert.deepEqual((await read('product', product.id)).base_currency_amount.value, 11.25)
  const closed = await call('PATCH', `${v1}/deal/${open.id}`, {
    pipeline_stage: known.stages.Won!,
    won_reason: 'Price',
    deal_closed_on: '2026-11-01',
  })
  assert.equal(closed.status, 200, closed.text)
  await call('PATCH', `${v1}/currency/756`, { rate: 2 })
  assert.equal((await read('deal', open.id)).deal_value_in_base_currency.value, 225.11)
  // A reopened deal follows the rate again.
  const reopened = await call('PATCH', `${v1}/deal/${open.id}`, { pipeline_stage: known.stages.New! })
  assert.equal(reopened.body.data.deal_value_in_base_currency.value, 400.2)
  await call('PATCH', `${v1}/currency/756`, { rate: null })
  const worth = async () => (await read('deal', open.id)).deal_value_in_base_currency
  await eventually(async () => (await worth()) === null, 'an amount without a rate')
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/currency/840`, { rate: 2, is_active: 'No' })), [
    '/is_active interface_required',
    '/rate interface_required',
  ])
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/currency/756`, { rate: 0 })), ['/rate out_of_range'])
  assert.equal((await call('POST', `${v1}/currency`, { code: 'XXX' })).status, 404)
  assert.equal((await call('DELETE', `${v1}/currency/756`)).status, 405)
})

test('the probability and the rotting days of a closing stage follow from its kind, which a warning says', async () => {
  const pipeline = await made('pipeline', { name: 'Certain' })
  const values = (chance: number) => ({ probability: chance, rotting_days: 5 })
  for (const [kind, probability] of [
    ['Won', 100],
    ['Lost', 0],
  ] as const) {
    const told = (reply: Reply) => {
      const { data, meta } = reply.body
      assert.deepEqual([data.probability, data.rotting_days], [probability, null], reply.text)
      return meta?.warnings?.map((one: { field: string; code: string }) => `${one.field} ${one.code}`)
    }
    const body = { pipeline: pipeline.id, name: kind, kind, ...values(80) }
    const reply = await call('POST', `${v1}/pipeline_stage`, body)
    const both = ['probability read_only', 'rotting_days read_only']
    assert.deepEqual(told(reply), both)
    const path = `${v1}/pipeline_stage/${reply.body.data.id}`
    assert.deepEqual(told(await call('PATCH', path, values(30))), both)
    // Neither what stays nor null is another value.
    assert.equal(told(await call('PATCH', path, { probability, rotting_days: null })), undefined)
    assert.equal(told(await call('PATCH', path, { probability: null, name: `${kind}!` })), undefined)
  }
})

test('a stage or a pipeline in use is deleted when its deals are moved first, to where they mean the same', async () => {
  const pipeline = await made('pipeline', { name: 'Old' })
  const stage = (name: string, kind = 'Open') =>
    made('pipeline_stage', { pipeline: pipeline.id, name, kind, probability: 40 })
  const [one, two, won] = [await stage('One'), await stage('Proposal'), await stage('Done', 'Won')]
  const inStage = (id: number, more = {}) =>
    made('deal', dealBody(known, { pipeline: pipeline.id, pipeline_stage: id, ...more }))
  const deals = [...(await Promise.all([1, 2, 3].map(() => inStage(one.id)))), await inStage(two.id)]
  const closed = await inStage(won.id, { won_reason: 'Price', deal_closed_on: '2026-11-01' })
  const remove = (path: string) => call('DELETE', `${v1}/${path}`)
  for (const [path, status] of [
    [`pipeline_stage/${one.id}`, 409],
    [`pipeline_stage/${one.id}?move_to=${won.id}`, 400],
    [`pipeline_stage/${one.id}?move_to=${one.id}`, 400],
    [`pipeline_stage/${one.id}?move_to=999999`, 400],
    [`pipeline_stage/${one.id}?move_to=`, 400],
    [`pipeline_stage/${one.id}?move_to=Proposal`, 400],
    [`pipeline_stage/${one.id}?move_to=99999999999999999999`, 400],
    [`pipeline_stage/${one.id}?moveto=1`, 400],
    [`contact/${known.contact}?move_to=1`, 400],
  ] as const) {
    const reply = await remove(path)
    assert.equal(reply.status, status, path)
    if (path.includes('move_to=') && path.startsWith('pipeline_stage'))
      assert.deepEqual(
        reply.body.errors.map((one: { parameter: string }) => one.parameter),
        ['move_to'],
        path,
      )
  }
  assert.equal((await remove(`pipeline_stage/${one.id}?move_to=${two.id}`)).status, 200)
  const stagesOf = async () =>
    (await Promise.all(deals.map(async ({ id }) => (await get(`${v1}/deal/${id}`)).body.data))).map(
      deal => deal.pipeline_stage,
    )
  assert.deepEqual(new Set(await stagesOf()), new Set([two.id]))
  assert.equal((await remove(`pipeline/${pipeline.id}`)).body.errors[0].count, 5)
  assert.equal((await remove(`pipeline/${pipeline.id}?move_to=${known.pipeline}`)).status, 200)
  // The stage of the same name; a won deal stays won, with its reason.
  assert.deepEqual(new Set(await stagesOf()), new Set([known.stages.Proposal]))
  const still = (await get(`${v1}/deal/${closed.id}`)).body.data
  assert.deepEqual(
    [still.pipeline, still.pipeline_stage, still.status, still.won_time],
    [known.pipeline, known.stages.Won, 2, closed.won_time],
  )
  assert.equal((await get(`${v1}/pipeline/${pipeline.id}`)).status, 404)
  assert.equal(
    (await get(`${v1}/pipeline_stage/view/list?filter=pipeline:eq(${known.pipeline})`)).status,
    200,
  )
})

test('a stage is deleted or emptied by two clients while deals enter it: each deal is in a stage that exists', async () => {
  // Another process, whose cached configuration may be up to a second old.
  const other = await service.another()
  const target = await made('pipeline_stage', { pipeline: known.pipeline, name: 'Meeting point' })
  for (let round = 0; round < 16; round++) {
    const stage = await made('pipeline_stage', { pipeline: known.pipeline, name: `Raced ${round}` })
    const enter = (one: typeof other) =>
      one.call('POST', `${v1}/deal`, dealBody(known, { pipeline_stage: stage.id }))
    const early = await Promise.all([enter(service), enter(other)])
    const path = `${v1}/pipeline_stage/${stage.id}${round % 2 ? `?move_to=${target.id}` : ''}`
    const [first, second, ...late] = await Promise.all([
      service.call('DELETE', path),
      other.call('DELETE', path),
      ...[service, other, other].map(enter),
    ])
    const inside = [...early, ...late].filter(reply => reply.status === 201)
    assert.ok(
      late.every(({ status }) => status === 201 || status === 422),
      late.map(reply => reply.text).join(),
    )
    const statuses = [first!.status, second!.status]
    // A second deletion finds nothing; a deletion that finds new deals deletes nothing.
    assert.ok(
      statuses.every(status => [200, 404, 409].includes(status)) &&
        statuses.filter(status => status === 200).length <= 1,
    )
    const isGone = statuses.includes(200)
    assert.equal((await get(`${v1}/pipeline_stage/${stage.id}`)).status, isGone ? 404 : 200)
    assert.ok(round % 2 || !isGone, 'two deals are in it')
    for (const { body } of inside) {
      const deal = (await get(`${v1}/deal/${body.data.id}`)).body.data
      assert.ok(
        [target.id, ...(isGone ? [] : [stage.id])].includes(deal.pipeline_stage),
        `${statuses}: ${deal.pipeline_stage}`,
      )
    }
  }
})

test('what others close or hand over while it is moved stays so', onServer, async () => {
  const [from, to] = [
    await made('pipeline_stage', { pipeline: known.pipeline, name: 'Left' }),
    await made('pipeline_stage', { pipeline: known.pipeline, name: 'Entered' }),
  ]
  const [leaver, heir, third] = await Promise.all(
    ['leaver', 'heir', 'third'].map(name => made('user', { name, email: `${name}@example.com` })),
  )
  const deal = await made('deal', dealBody(known, { pipeline_stage: from.id, sales_owner: leaver!.id }))
  const now = async () => (await get(`${v1}/deal/${deal.id}`)).body.data
  const won = { pipeline_stage: known.stages.Won!, deal_closed_on: '2026-11-01' }
  const remove = (path: string) => call('DELETE', `${v1}/${path}`)
  const emptied = await whileItWaits(
    db,
    () => remove(`pipeline_stage/${from.id}?move_to=${to.id}`),
    update => update('deal', deal.id, { ...won, won_reason: 'Price' }),
  )
  assert.equal(emptied.status, 200, emptied.text)
  const { pipeline_stage, deal_closed_on } = await now()
  assert.deepEqual({ pipeline_stage, deal_closed_on }, won)
  const handedOver = await whileItWaits(
    db,
    () => remove(`user/${leaver!.id}?move_to=${heir!.id}`),
    update => update('deal', deal.id, { sales_owner: third!.id }),
  )
  assert.equal(handedOver.status, 200, handedOver.text)
  assert.equal((await now()).sales_owner, third!.id)
})

test('a deal that its rules keep from moving is named, and its stage stays', async () => {
  const [from, to] = [
    await made('pipeline_stage', { pipeline: known.pipeline, name: 'From' }),
    await made('pipeline_stage', { pipeline: known.pipeline, name: 'To' }),
  ]
  const deal = await made('deal', dealBody(known, { pipeline_stage: from.id }))
  const field = await made('field', {
    source: 'deal',
    field_name: 'Asked later',
    type: 'SINGLE_STRING',
    is_required: true,
  })
  const refused = await call('DELETE', `${v1}/pipeline_stage/${from.id}?move_to=${to.id}`)
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/cf_asked_later required']])
  assert.match(refused.body.detail, new RegExp(`^Deal ${deal.id} can't be moved`))
  await call('DELETE', `${v1}/field/${field.id}`)
  assert.equal((await call('DELETE', `${v1}/pipeline_stage/${from.id}?move_to=${to.id}`)).status, 200)
})

test('of the deals of a pipeline none is moved unless all can be', async () => {
  const pipeline = await made('pipeline', { name: 'All or none' })
  const stage = (name: string, kind = 'Open') => made('pipeline_stage', { pipeline: pipeline.id, name, kind })
  const [first, last] = [await stage('First'), await stage('Last')]
  const field = await made('field', { source: 'deal', field_name: 'Asked of all', type: 'SINGLE_STRING' })
  const inStage = (id: number, more: { [name: string]: Json } = { cf_asked_of_all: 'x' }) =>
    made('deal', dealBody(known, { pipeline: pipeline.id, pipeline_stage: id, ...more }))
  // More than one batch of moves, and the last one can't be moved.
  const deals = [
    ...(await Promise.all(Array.from({ length: 101 }, () => inStage(first.id)))),
    await inStage(last.id),
  ]
  const kept = await inStage(last.id, {})
  await call('PATCH', `${v1}/field/${field.id}`, { is_required: true })
  const where = async () => {
    const { data } = (
      await call('POST', `${v1}/deal/view/list`, { filter: `pipeline:eq(${pipeline.id})`, pageSize: 500 })
    ).body
    return [
      data.map(({ id, version }: { id: number; version: number }) => [id, version]),
      (await counts()).seq,
    ]
  }
  const before = await where()
  assert.equal(before[0].length, deals.length + 1)
  const paths = [
    [`pipeline/${pipeline.id}?move_to=${known.pipeline}`, 422],
    [`pipeline_stage/${last.id}?move_to=${first.id}`, 422],
  ] as const
  for (const [path, status] of paths) {
    const refused = await call('DELETE', `${v1}/${path}`)
    assert.deepEqual([refused.status, problemsOf(refused)], [status, ['/cf_asked_of_all required']])
    assert.deepEqual(await where(), before)
    assert.match(
      refused.body.detail,
      new RegExp(`^Deal ${kept.id} can't be moved, so nothing is moved or deleted`),
    )
  }
  // Nor is any moved if a stage has no counterpart, or the pipeline has another version than the caller has
  // read.
  await call('PATCH', `${v1}/deal/${kept.id}`, { cf_asked_of_all: 'y' })
  const won = await stage('Won there', 'Won')
  await inStage(won.id, { cf_asked_of_all: 'x', won_reason: 'Price', deal_closed_on: '2026-11-01' })
  const narrow = await made('pipeline', { name: 'Open only' })
  await made('pipeline_stage', { pipeline: narrow.id, name: 'First' })
  const now = await where()
  assert.equal((await call('DELETE', `${v1}/pipeline/${pipeline.id}?move_to=${narrow.id}`)).status, 400)
  const path = `${v1}/pipeline/${pipeline.id}?move_to=${known.pipeline}`
  assert.equal((await call('DELETE', path, undefined, { 'if-match': '"77"' })).status, 412)
  assert.deepEqual(await where(), now)
  assert.equal((await call('DELETE', path)).status, 200)
  assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
})

test("the name of a stage means that of the record's pipeline; in a filter, all of that name", async () => {
  const pipeline = await made('pipeline', { name: 'Renewals' })
  const [fresh, won] = [
    await made('pipeline_stage', { pipeline: pipeline.id, name: 'New', probability: 50 }),
    await made('pipeline_stage', { pipeline: pipeline.id, name: 'Won', kind: 'Won' }),
  ]
  const there = await made('deal', dealBody(known, { pipeline: 'renewals', pipeline_stage: 'New' }))
  const here = await made('deal', dealBody(known, { pipeline_stage: 'New' }))
  assert.deepEqual([there.pipeline_stage, here.pipeline_stage], [fresh.id, known.stages.New])
  const reason = { won_reason: 'Price', deal_closed_on: '2026-11-01' }
  const closed = (await call('PATCH', `${v1}/deal/${there.id}`, { pipeline_stage: 'won', ...reason })).body
    .data
  assert.deepEqual([closed.pipeline_stage, closed.status], [won.id, 2])
  const moved = (
    await call('PATCH', `${v1}/deal/${here.id}`, { pipeline: pipeline.id, pipeline_stage: 'NEW' })
  ).body.data
  assert.equal(moved.pipeline_stage, fresh.id)
  const stagesOf = async (filter: string) => {
    const { data } = (await get(`${v1}/deal/view/list?pageSize=500&filter=${filter}`)).body
    return new Set(data.map((deal: { pipeline_stage: number }) => deal.pipeline_stage))
  }
  assert.deepEqual(await stagesOf('pipeline_stage:eq(won)'), new Set([won.id, known.stages.Won]))
  assert.deepEqual(
    await stagesOf('pipeline_stage:in(New,Won)'),
    new Set([fresh.id, won.id, known.stages.New, known.stages.Won]),
  )
  const others = await stagesOf('pipeline_stage:neq(Won)')
  assert.ok(!others.has(won.id) && !others.has(known.stages.Won) && others.has(fresh.id))
  const wrong = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, { pipeline: pipeline.id, pipeline_stage: 'Proposal' }),
  )
  assert.deepEqual(problemsOf(wrong), ['/pipeline_stage stage_not_in_pipeline'])
})
