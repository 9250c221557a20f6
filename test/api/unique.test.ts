/** Unique fields (D76): among live records, in any spelling, also for concurrent writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db, known } = service
type Body = { [name: string]: Json }
const create = (resource: string, body: Json, headers?: Record<string, string>) =>
  call('POST', `${v1}/${resource}`, body, headers)
const made = async (resource: string, body: Json, headers?: Record<string, string>) => {
  const reply = await create(resource, body, headers)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}
const change = (resource: string, id: number, body: Json) => call('PATCH', `${v1}/${resource}/${id}`, body)
const problemOf = (reply: Reply, status: number) => {
  assert.equal(reply.status, status, reply.text)
  return reply.body.errors[0]
}
const fieldOf = async (source: string, name: string) => {
  const sections: Body[][] = Object.values((await get(`${v1}/field/list?source=${source}`)).body.data.fields)
  return sections.flat().find(field => field.internal_name === name)!
}
const turn = async (source: string, name: string, is_unique: boolean) =>
  change('field', (await fieldOf(source, name)).id as number, { is_unique })
const email = (...values: string[]) => values.map(email_value => ({ email_type: 1, email_value }))

/** The stored keys of each field, and those expected from the rows. */
async function keysAreRight() {
  const wrong = await db.query(`
    WITH wanted AS (
      SELECT 306::bigint AS field, unnest(email_keys(emails)) AS key, id FROM contact
      WHERE account_id = 1 AND deleted_at IS NULL
      UNION SELECT 203, compared_name(product_code), id FROM product
      WHERE account_id = 1 AND deleted_at IS NULL AND product_code IS NOT NULL)
    SELECT 'missing' AS what, w.key FROM wanted w JOIN field f ON f.account_id = 1 AND f.id = w.field AND f.is_unique
    WHERE NOT EXISTS (SELECT 1 FROM unique_value u WHERE u.account_id = 1 AND u.field = w.field AND u.key = w.key AND u.record = w.id)
    UNION ALL SELECT 'left', u.key FROM unique_value u WHERE u.account_id = 1 AND u.field IN (306, 203)
      AND NOT EXISTS (SELECT 1 FROM wanted w WHERE w.field = u.field AND w.key = u.key AND w.id = u.record)`)
  assert.deepEqual(wrong, [])
}

test('a field becomes unique where no records have the same value, else examples are told', async () => {
  const [one, other] = [
    await made('product', { name: 'A', product_code: 'Twice' }),
    await made('product', { name: 'B', product_code: ' tWICE' }),
  ]
  const reply = await turn('product', 'product_code', true)
  const problem = problemOf(reply, 409)
  assert.equal(reply.body.type, '/docs/errors#duplicate')
  assert.deepEqual([problem.code, problem.path], ['value_taken', '/is_unique'])
  assert.deepEqual(problem.examples, [{ value: 'twice', ids: [one.id, other.id] }])
  assert.equal((await fieldOf('product', 'product_code')).is_unique, false)
  assert.equal((await call('DELETE', `${v1}/product/${other.id}`)).status, 200)
  const done = await turn('product', 'product_code', true)
  assert.equal(done.status, 200, done.text)
  assert.equal(done.body.data.is_unique, true)
  assert.equal((await fieldOf('product', 'product_code')).is_unique, true)
  const clash = problemOf(await create('product', { name: 'C', product_code: 'TWICE ' }), 409)
  assert.deepEqual(
    [clash.code, clash.field, clash.path, clash.holder],
    ['value_taken', 'product_code', '/product_code', one.id],
  )
  // A deleted record can't be restored while another has its code, and has no key while it is deleted.
  assert.equal(problemOf(await call('POST', `${v1}/product/${other.id}/restore`), 409).holder, one.id)
  assert.equal((await call('DELETE', `${v1}/product/${one.id}`)).status, 200)
  assert.equal((await call('POST', `${v1}/product/${other.id}/restore`)).status, 200)
  await keysAreRight()
})

test('examples are told to those who may read what they are of', async () => {
  for (const name of ['D', 'E']) await made('product', { name, sku_number: 'Unread' })
  const { id } = await fieldOf('product', 'sku_number')
  for (const [scopes, examples] of [
    [['field:write', 'product:read'], 1],
    [['field:write', 'field:read'], 0],
  ] as const) {
    const { token } = await made('token', { name: scopes.join(), scopes: [...scopes] })
    const as = { authorization: `Bearer ${token}` }
    const reply = await call('PATCH', `${v1}/field/${id}`, { is_unique: true }, as)
    assert.equal(problemOf(reply, 409).examples.length, examples, reply.text)
  }
})

test('what nobody sees tells no two values apart, and accents do (D127)', async () => {
  await turn('product', 'product_code', true)
  await made('product', { name: 'Seen', product_code: 'unseen-1' })
  const problem = problemOf(
    await create('product', { name: 'Not', product_code: 'un\u200bseen\u0007-1' }),
    409,
  )
  assert.equal(problem.code, 'value_taken')
  await made('product', { name: 'Accent', product_code: 'únseen-1' })
})

test('a change keeps its own value, and gives up the one it had', async () => {
  const one = await made('product', { name: 'One', product_code: 'first' })
  assert.equal((await change('product', one.id, { product_code: 'FIRST' })).status, 200)
  assert.equal((await change('product', one.id, { product_code: 'second' })).status, 200)
  const other = await made('product', { name: 'Other', product_code: 'first' })
  assert.equal(problemOf(await change('product', other.id, { product_code: 'Second' }), 409).holder, one.id)
  assert.equal((await change('product', one.id, { product_code: null })).status, 200)
  assert.equal((await change('product', other.id, { product_code: 'Second' })).status, 200)
  await keysAreRight()
})

test('an e-mail is one of any entry, also of a contact made with a deal', async () => {
  assert.equal((await turn('contact', 'emails', true)).status, 200)
  const ann = await made('contact', { last_name: 'Ann', emails: email('ann@x.com', 'ANN@x.com', 'a@x.com') })
  const clash = problemOf(
    await create('contact', { last_name: 'B', emails: email('b@x.com', 'A@X.com') }),
    409,
  )
  assert.equal(clash.holder, ann.id)
  const nested = dealBody(known, { primary_contact: { last_name: 'N', emails: email('Ann@X.com') } })
  const within = problemOf(await create('deal', nested), 409)
  assert.deepEqual([within.path, within.holder], ['/primary_contact/emails', ann.id])
  assert.equal((await change('contact', ann.id, { emails: email('ann@x.com') })).status, 200)
  await made('contact', { last_name: 'B', emails: email('b@x.com', 'A@X.com') })
  await keysAreRight()
})

test('two records of one request with the same value are a clash, and no conflict that goes on', async () => {
  assert.equal((await turn('contact', 'emails', true)).status, 200)
  const person = (last_name: string) => ({ last_name, emails: email('twice@x.com') })
  const body = dealBody(known, { primary_contact: person('One'), related_contacts: [person('Two')] })
  const refusal = await create('deal', body)
  const { path, code } = problemOf(refusal, 409)
  assert.deepEqual([path, code], ['/related_contacts/0/emails', 'value_taken'])
})

test('in a batch, what was deleted by its value is not the record of a later operation', async () => {
  assert.equal((await turn('contact', 'emails', true)).status, 200)
  const { id } = await made('contact', { last_name: 'Old', emails: email('batched@x.com') })
  const by = { field: 'emails', value: 'batched@x.com' }
  const operations = [
    { op: 'delete', by },
    { op: 'update', id, data: { last_name: 'Lost' } },
    { op: 'upsert', by, data: { last_name: 'New' } },
  ]
  const { data } = (await call('POST', `${v1}/contact/batch`, { operations })).body
  assert.deepEqual(
    data.map(({ status }: { status: number }) => status),
    [200, 404, 201],
  )
  const [found] = (await get(`${v1}/contact/view/list?filter=emails:eq(batched@x.com)`)).body.data
  assert.deepEqual([found.last_name, found.id === id], ['New', false])
  const events = (await get(`${v1}/event?resource=contact&after=0&limit=1000`)).body.data
  assert.equal(events.filter((event: { id: number }) => event.id === id).length, 2)
})

test('beside other problems a clash is one of them', async () => {
  const reply = await create('contact', { emails: email('ann@x.com'), nobody: 1 })
  assert.equal(reply.status, 422)
  const codes = reply.body.errors.map((problem: { code: string }) => problem.code).sort()
  assert.deepEqual(codes, ['required', 'unknown_field', 'value_taken'])
})

test('of many at the same moment one has the value', async () => {
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => create('product', { name: `P${index}`, product_code: 'Raced' })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)])
  const other = await service.another()
  const both = await Promise.all(
    [service, other].flatMap(({ call }) =>
      [1, 2, 3].map(at => call('POST', `${v1}/product`, { name: `Q${at}`, product_code: 'Raced too' })),
    ),
  )
  assert.equal(both.filter(({ status }) => status === 201).length, 1)
  await keysAreRight()
})

test('a field that becomes unique while records are made lets no double through', async () => {
  assert.equal((await turn('product', 'product_code', false)).status, 200)
  await keysAreRight()
  const turned = turn('product', 'product_code', true)
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      create('product', { name: 'R', product_code: `meanwhile ${index % 10}` }),
    ),
  )
  const { status } = await turned
  const created = replies.filter(reply => reply.status === 201).length
  if (status === 200) assert.equal(created, 10)
  else {
    assert.equal(status, 409)
    assert.equal(created, 20)
    for (const { body } of replies) await call('DELETE', `${v1}/product/${body.data.id}`)
    assert.equal((await turn('product', 'product_code', true)).status, 200)
  }
  await keysAreRight()
})

test('numbers, dates and long texts are compared too; ends with the field', async () => {
  const add = async (field_name: string, type: string) =>
    (await made('field', { source: 'company', field_name, type, is_unique: true })) as Body
  const [number, , text] = [
    await add('Tax number', 'SINGLE_NUMBER'),
    await add('Founded', 'DATE'),
    await add('Note', 'TEXT'),
  ]
  const long = 'Ä'.repeat(2000)
  await made('company', { name: 'N', cf_tax_number: 1.5, cf_founded: '2020-02-02', cf_note: long })
  for (const [member, value] of [
    ['cf_tax_number', '1.50'],
    ['cf_founded', '"2020-02-02"'],
    ['cf_note', JSON.stringify(` ${long.toLowerCase()}`)],
  ] as const) {
    const reply = await call('POST', `${v1}/company`, `{"name":"M","${member}":${value}}`)
    assert.equal(problemOf(reply, 409).field, member)
  }
  assert.equal((await call('DELETE', `${v1}/field/${number.id}`)).status, 200)
  assert.equal((await call('DELETE', `${v1}/field/${text.id}`)).status, 200)
  const rows = await db.query(
    'SELECT 1 FROM unique_value WHERE account_id = 1 AND field = ANY($1::bigint[])',
    [`{${number.id},${text.id}}`],
  )
  assert.equal(rows.length, 0)
  assert.equal((await call('POST', `${v1}/field/${number.id}/restore`)).body.data.is_unique, false)
})

test('what can be unique, and what is already', async () => {
  const codes = async (source: string, name: string, is_unique: boolean) =>
    (await turn(source, name, is_unique)).body.errors?.[0]?.code
  assert.equal(await codes('deal', 'pipeline', true), 'not_configurable')
  assert.equal(await codes('deal', 'id', true), 'not_configurable')
  assert.equal(await codes('deal', 'created_at', true), 'not_configurable')
  assert.equal(await codes('user', 'email', false), 'interface_required')
  assert.equal((await fieldOf('tag', 'name')).is_unique, true)
  const wrong = await call('POST', `${v1}/field`, {
    source: 'deal',
    field_name: 'U',
    type: 'DROPDOWN',
    is_unique: true,
  })
  assert.equal(problemOf(wrong, 422).code, 'not_configurable')
  const typed = await call('POST', `${v1}/field`, {
    source: 'deal',
    field_name: 'U',
    type: 'DATE',
    is_unique: 'yes',
  })
  assert.equal(problemOf(typed, 422).code, 'wrong_type')
})

test('a unique field has no default: the second record without a value would be refused', async () => {
  const text = { source: 'deal', field_name: 'Lot', type: 'SINGLE_STRING' }
  const both = await call('POST', `${v1}/field`, { ...text, is_unique: true, default_value: 'A' })
  assert.deepEqual([problemOf(both, 422).code, problemOf(both, 422).path], ['not_configurable', '/is_unique'])
  const { id } = await made('field', { ...text, default_value: 'A' })
  const path = `${v1}/field/${id}`
  assert.equal(problemOf(await call('PATCH', path, { is_unique: true }), 422).path, '/is_unique')
  assert.equal((await call('PATCH', path, { is_unique: true, default_value: null })).status, 200)
  assert.equal(problemOf(await call('PATCH', path, { default_value: 'B' }), 422).path, '/default_value')
  // A field that an older version let have both can be changed and sent back.
  await db.query(`UPDATE field SET default_value = '"C"' WHERE account_id = 1 AND id = $1::bigint`, [
    String(id),
  ])
  await db.query('UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = 1')
  service.aSecondGoesBy()
  const now = (await get(path)).body.data
  assert.deepEqual([now.is_unique, now.default_value], [true, 'C'])
  assert.equal((await call('PATCH', path, { ...now, field_name: 'Lot number' })).status, 200)
})

test('a holder that the caller does not see is not named', async () => {
  const role = await made('role', {
    name: 'Own only',
    scopes: ['contact:read', 'contact:write'],
    visibility: { contact: 'own' },
  })
  const user = await made('user', { name: 'Own', email: 'own@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes: role.scopes })
  const as = { authorization: `Bearer ${token}` }
  const problem = problemOf(await create('contact', { last_name: 'C', emails: email('ann@x.com') }, as), 409)
  assert.ok(!('holder' in problem))
  const both = await create('contact', { emails: email('ann@x.com') }, as)
  assert.equal(both.body.errors.length, 2)
  assert.ok(!both.text.includes('holder'))
})

test('a part that would come back with a taken value is named, with who has it', async () => {
  const { id: field, internal_name: ticket } = await made('field', {
    ...{ source: 'activity', field_name: 'Ticket', type: 'SINGLE_STRING' },
  })
  const deal = await made('deal', dealBody(known))
  const activity = (value: string, more: Body = { deal: deal.id }) =>
    made('activity', { kind: 'Call', subject: 'Ring', [ticket]: value, ...more })
  const [part, twin, third] = [await activity('T1'), await activity('T2'), await activity('t2')]
  assert.equal((await call('DELETE', `${v1}/deal/${deal.id}`)).status, 200)
  assert.equal((await change('field', field, { is_unique: true })).status, 200)
  const holder = await activity('t1', { company: known.company })
  const restore = (headers?: Record<string, string>) =>
    call('POST', `${v1}/deal/${deal.id}/restore`, undefined, headers)
  const refused = await restore()
  const first = problemOf(refused, 409)
  assert.equal(refused.body.type, '/docs/errors#duplicate')
  assert.deepEqual([first.field, first.code, first.holder], [ticket, 'value_taken', holder.id])
  assert.match(first.message, new RegExp(`^The activity ${part.id}, which comes back with it, has the same`))
  const [, second, ...others] = refused.body.errors
  assert.deepEqual([second.holder, others], [third.id, []])
  assert.match(second.message, new RegExp(`^The activity ${twin.id},`))
  // A batch and an undo say the same.
  const batch = await call('POST', `${v1}/deal/batch`, { operations: [{ op: 'restore', id: deal.id }] })
  assert.deepEqual(batch.body.data[0].errors, refused.body.errors, batch.text)
  const [{ seq }] = (await get(`${v1}/deal/${deal.id}/history`)).body.data
  const undo = await call('POST', `${v1}/event/${seq}/undo`)
  assert.deepEqual([undo.status, undo.body.errors], [409, refused.body.errors])
  // Nothing of activities shows without the scope to read them.
  const { token } = await made('token', { name: 'Blind', scopes: ['deal:read', 'deal:write'] })
  const blind = await restore({ authorization: `Bearer ${token}` })
  assert.equal(problemOf(blind, 409).code, 'not_allowed')
  assert.doesNotMatch(blind.text, new RegExp(`${ticket}|${holder.id}`))
  assert.equal((await change('field', field, { is_unique: false })).status, 200)
  assert.equal((await restore()).status, 200)
})

test('a text of which nothing is seen is no value that another record lacks', async () => {
  const field = await made('field', { source: 'company', field_name: 'Foreign', type: 'TEXT' })
  const blanks = ['', '', ' ', '\u200b', ' \u0001 ']
  for (const cf_foreign of blanks) await made('company', { name: 'Blank', cf_foreign })
  assert.equal((await turn('company', 'cf_foreign', true)).status, 200)
  const ids: number[] = []
  for (const cf_foreign of blanks) ids.push((await made('company', { name: 'Blank', cf_foreign })).id)
  assert.equal((await change('company', ids[0]!, { cf_foreign: 'x' })).status, 200)
  assert.equal((await change('company', ids[0]!, { cf_foreign: ' ' })).status, 200)
  assert.equal((await call('DELETE', `${v1}/company/${ids[1]}`)).status, 200)
  assert.equal((await call('POST', `${v1}/company/${ids[1]}/restore`)).status, 200)
  const operations = blanks.map(cf_foreign => ({ op: 'create', data: { name: 'Blank', cf_foreign } }))
  assert.equal((await call('POST', `${v1}/company/batch`, { operations })).body.meta.succeeded, 5)
  assert.equal((await get(`${v1}/company/by/cf_foreign/%20`)).status, 404)
  const keys = await db.query('SELECT key FROM unique_value WHERE account_id = 1 AND field = $1', [
    String(field.id),
  ])
  assert.deepEqual(keys, [])
})
