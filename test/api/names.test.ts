/** Names stand for ids (D75), in bodies and in filters; e-mails match in any case (D88). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { byQueries } from '../support/by-queries.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService()
const { call, get, db, known, made } = service
const deal = (members: { [name: string]: Json }, headers?: Record<string, string>) =>
  call('POST', `${v1}/deal`, dealBody(known, members), headers)
const listed = (filter: string, resource = 'deal') =>
  get(`${v1}/${resource}/view/list?pageSize=500&count=none&filter=${encodeURIComponent(filter)}`)
const email = (value: string) => [{ email_type: 1, email_value: value }]
const problemOf = (reply: Reply, status: number) => {
  assert.equal(reply.status, status, reply.text)
  return reply.body.errors[0]
}

const jo = await made('user', { name: 'Jo Names', email: 'Jo.Names@example.com' })
const ann = await made('contact', { last_name: 'Names', emails: email('Ann@Example.com') })
const company = await made('company', { name: ' Müller & Co ' })
const product = await made('product', { name: 'Hosting', product_code: 'H-1' })
const tag = await made('tag', { name: 'Hot lead' })
const territory = await made('territory', { name: 'North' })

test('a name or an e-mail links, trimmed and in any spelling', async () => {
  const names = {
    sales_owner: ' jo.names@EXAMPLE.com ',
    primary_contact: 'ann@example.COM',
    related_contacts: ['ANN@example.com', { id: ann.id }],
    company: 'mu\u0308ller & CO',
    tags: 'hot LEAD',
    territory: 'north',
    deal_value: { currency: 'EUR', products: [{ product: 'h-1', quantity: 1, unit_price: 5 }] },
  }
  const reply = await deal(names)
  assert.equal(reply.status, 201, reply.text)
  const { sales_owner, primary_contact, related_contacts, deal_value, ...rest } = reply.body.data
  assert.deepEqual(
    [sales_owner, primary_contact, related_contacts, rest.company, rest.tags, rest.territory],
    [jo.id, ann.id, [ann.id], company.id, [tag.id], territory.id],
  )
  assert.equal(deal_value.products[0].product, product.id)
  const changed = await call('PATCH', `${v1}/deal/${reply.body.data.id}`, { sales_owner: 'JO NAMES' })
  assert.equal(changed.body.data.version, 1)
})

test('filters take names', async () => {
  const { id } = (await deal({ sales_owner: jo.id, company: company.id, tags: [tag.id] })).body.data
  const has = async (filter: string) => {
    const reply = await listed(filter)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.some((one: { id: number }) => one.id === id)
  }
  assert.ok(await has('sales_owner:eq(jo.names@example.com)'))
  assert.ok(await has(`company:in("Müller & Co",${known.company}),tags:eq(Hot lead)`))
  assert.ok(!(await has('sales_owner:neq(jo names)')))
  const product = (await call('POST', `${v1}/product`, { name: 'Named line', product_code: 'NL-1' })).body
    .data
  const deal_value = { currency: 'USD', products: [{ product: product.id, quantity: 1, unit_price: 1 }] }
  await call('PATCH', `${v1}/deal/${id}`, { deal_value })
  assert.ok(await has('deal_value.products:eq(NL-1)'))
  assert.ok(!(await has('deal_value.products:nin(named line)')))
  assert.equal(problemOf(await listed('deal_value:eq(NL-1)'), 400).code, 'invalid_value')
  const sums = await get(`${v1}/deal/aggregate?filter=company:eq(müller %26 co)`)
  assert.equal(sums.status, 200, sums.text)
  const problem = problemOf(await listed('company:eq(Nobody Inc)'), 400)
  assert.deepEqual([problem.code, problem.parameter], ['reference_not_found', 'filter'])
  assert.equal(problemOf(await listed('sales_owner:gt(jo names)'), 400).code, 'invalid_value')
})

test('people are known by their full name, in either order', async () => {
  const noor = await made('contact', { first_name: 'Noor', last_name: 'Haddad' })
  const van = await made('contact', { first_name: 'Anna María', last_name: 'van der Berg' })
  const only = await made('contact', { last_name: 'Prinzessin' })
  const priya = await made('user', { name: 'Priya Natarajan', email: 'priya.n@example.com' })
  for (const [name, { id }] of [
    ['Noor Haddad', noor],
    ['haddad, NOOR', noor],
    ['Haddad Noor', noor],
    ['van der Berg, Anna Mari\u0301a', van],
    ['Prinzessin', only],
  ] as const) {
    const reply = await deal({ primary_contact: name })
    assert.equal(reply.status, 201, reply.text)
    assert.equal(reply.body.data.primary_contact, id, name)
  }
  assert.equal((await deal({ sales_owner: 'Natarajan, Priya' })).body.data.sales_owner, priya.id)
  const found = await listed('primary_contact:eq(Haddad, Noor)')
  assert.equal(found.body.data?.length, 3, found.text)
  await made('contact', { first_name: 'Haddad', last_name: 'Noor' })
  const problem = problemOf(await deal({ primary_contact: 'Noor Haddad' }), 422)
  assert.deepEqual([problem.code, problem.candidates.length], ['ambiguous_reference', 2])
})

test('a name that nobody has is refused with those like it, as far as the caller sees them', async () => {
  const maiara = await made('user', { name: 'Maiara Okafor', email: 'maiara@example.com' })
  const alder = await made('company', { name: 'Alderwood Logistics' })
  const zuri = await made('contact', { first_name: 'Zuri', last_name: 'Abernathy' })
  const near = async (members: { [name: string]: Json }) => {
    const problem = problemOf(await deal(members), 422)
    assert.equal(problem.code, 'reference_not_found')
    return problem.candidates
  }
  assert.deepEqual(await near({ sales_owner: 'Maiara' }), [{ id: maiara.id, name: 'Maiara Okafor' }])
  assert.ok((await near({ sales_owner: 'Okfor' })).some(({ name }: { name: string }) => /Okafor/.test(name)))
  assert.deepEqual((await near({ company: 'alderwod' }))[0], { id: alder.id, name: 'Alderwood Logistics' })
  assert.deepEqual((await near({ company: '100% \\alderwood_' })).length, 1)
  assert.deepEqual(await near({ primary_contact: 'Zuri Abernaty' }), [
    { id: zuri.id, name: 'Zuri Abernathy' },
  ])
  assert.equal(await near({ company: 'x'.repeat(300) }), undefined)
  assert.equal(await near({ company: 'Zq' }), undefined)
  const filtered = problemOf(await listed('company:eq(Alderwood)'), 400)
  assert.deepEqual(filtered.candidates, [{ id: alder.id, name: 'Alderwood Logistics' }])
  // A role that sees only its own contacts gets no others as candidates.
  const role = await made('role', {
    ...{
      name: 'Own contacts',
      scopes: ['deal:read', 'deal:write', 'contact:read', 'user:read', 'company:read'],
    },
    visibility: { contact: 'own' },
  })
  const user = await made('user', { name: 'Sees few', email: 'few@example.com', role: role.id })
  const { token } = await made('token', { name: 'Few', user: user.id, scopes: role.scopes })
  const headers = { authorization: `Bearer ${token}` }
  const unseen = problemOf(await deal({ primary_contact: 'Zuri Abernaty' }, headers), 422)
  assert.deepEqual([unseen.code, unseen.candidates], ['reference_not_found', undefined])
})

test('of very many people the newest are compared by their first names, all by their last', async () => {
  const old = await made('contact', { first_name: 'Quintessa', last_name: 'Vandermolen' })
  const copy = (from: number, to: number, first: string) =>
    db.query(`INSERT INTO contact SELECT r.* FROM contact c, generate_series(${from}, ${to}) n,
      LATERAL jsonb_populate_record(c,
        jsonb_build_object('id', 2000000 + n, 'first_name', '${first}', 'last_name', 'Oe')) r
    WHERE c.account_id = 1 AND c.id = ${old.id}`)
  await copy(1, 3000, 'Ib')
  const near = async (name: string) => {
    const { candidates = [] } = problemOf(await deal({ primary_contact: name }), 422)
    return candidates.map(({ id }: { id: number }) => id)
  }
  assert.deepEqual(
    [await near('Quintesa'), await near('Q. Vandermolin'), await near('Zz andermo')],
    [[], [old.id], [old.id]],
  )
  await copy(3001, 3001, 'Quintessa')
  assert.deepEqual(await near('Quintesa'), [2_003_001])
})

test('several holders are refused, with ten candidates at most', async () => {
  const twins = []
  for (let at = 0; at < 12; at++) twins.push((await made('company', { name: 'Twin' })).id)
  const problem = problemOf(await deal({ company: 'twin' }), 422)
  assert.equal(problem.code, 'ambiguous_reference')
  assert.equal(problem.path, '/company')
  assert.deepEqual(
    problem.candidates,
    twins.slice(0, 10).map(id => ({ id, name: 'Twin' })),
  )
  assert.equal(problemOf(await listed('company:eq(Twin)'), 400).candidates.length, 10)
})

test('digits are an id first, then a name; a code beats a name', async () => {
  const number = await made('company', { name: '987654321' })
  assert.equal((await deal({ company: '987654321' })).body.data.company, number.id)
  await made('company', { name: String(company.id) })
  assert.equal((await deal({ company: String(company.id) })).body.data.company, company.id)
  await made('product', { name: 'H-1' })
  const value = { currency: 'EUR', products: [{ product: 'H-1', quantity: 1, unit_price: 5 }] }
  assert.equal((await deal({ deal_value: value })).body.data.deal_value.products[0].product, product.id)
})

test('what is deleted, out of use or of another account has no name', async () => {
  const gone = await made('company', { name: 'Gone Qux' })
  await call('DELETE', `${v1}/company/${gone.id}`)
  const idle = await made('user', { name: 'Idle', email: 'idle@example.com' })
  await call('PATCH', `${v1}/user/${idle.id}`, { is_active: 'No' })
  const other = await createAccount(byQueries(db), {
    name: 'O',
    ownerName: 'Far',
    ownerEmail: 'far@example.com',
  })
  const secret = newSecret('token', other.account)
  await createToken(db, {
    account: other.account,
    user: other.owner,
    name: 'x',
    scopes: ['admin'],
    token: secret,
  })
  await made('company', { name: 'Xyzzyville' }, { authorization: `Bearer ${secret}` })
  for (const body of [
    { company: 'Gone Qux' },
    { sales_owner: 'idle@example.com' },
    { sales_owner: 'Far' },
    { company: 'Xyzzyville' },
    { company: '' },
    { company: 'x'.repeat(400) },
    { company: 'a\0b' },
    { company: '\ud800' },
  ]) {
    const problem = problemOf(await deal(body), 422)
    assert.equal(problem.code, 'reference_not_found', JSON.stringify(body))
    assert.equal(problem.candidates, undefined)
  }
})

test('names are bounded, and every problem is told at once', async () => {
  const contacts = Array.from({ length: 20 }, (_, index) => `nobody${index}@example.com`)
  const reply = await deal({ related_contacts: contacts, title: '', company: 'Nobody Inc' })
  assert.equal(reply.status, 422)
  assert.equal(reply.body.errors.length, contacts.length + 2)
  const many = Array.from({ length: 1200 }, (_, index) => `n${index}`).join(',')
  const tooMany = await call('POST', `${v1}/deal/view/list`, { filter: `company:in(${many})` })
  assert.equal(problemOf(tooMany, 400).code, 'too_many')
})

test('a name needs the scope to read what it names, and finds only what the caller sees', async () => {
  const role = await made('role', {
    name: 'Blinkered',
    scopes: ['deal:read', 'deal:write', 'contact:read', 'contact:write', 'user:read'],
    visibility: { contact: 'own' },
  })
  const user = await made('user', { name: 'Blinkered', email: 'blinkered@example.com', role: role.id })
  const token = await made('token', { name: 'x', user: user.id, scopes: role.scopes })
  const as = { authorization: `Bearer ${token.token}` }
  const forbidden = await deal({ company: 'Müller & Co' }, as)
  assert.equal(forbidden.status, 403)
  assert.match(forbidden.body.detail, /company:read/)
  const filtered = await call('GET', `${v1}/deal/view/list?filter=company:eq(Twin)`, undefined, as)
  assert.equal(filtered.status, 403)
  const contact = await made('contact', { last_name: 'Own', emails: email('own@example.com') }, as)
  const unseen = await deal({ primary_contact: 'ann@example.com' }, as)
  assert.equal(problemOf(unseen, 422).code, 'reference_not_found')
  await made('contact', { last_name: 'Double', emails: email('OWN@example.com') })
  const seen = await deal({ primary_contact: 'own@example.com' }, as)
  assert.equal(seen.body.data.primary_contact, contact.id)
})

test('find_by links the one that is there, and creates it once where none is', async () => {
  const found = { find_by: 'email', emails: email('ANN@EXAMPLE.COM') }
  const linked = await deal({ primary_contact: found })
  assert.equal(linked.body.data.primary_contact, ann.id)
  assert.equal(linked.body.meta, undefined)
  const anew = (name: string) => ({ find_by: 'email', last_name: name, emails: email('new@example.com') })
  const replies = await Promise.all(
    ['A', 'B', 'C', 'D', 'E'].map(name =>
      deal({ primary_contact: anew(name), company: { find_by: 'name', name: 'Once Ltd' } }),
    ),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
  assert.equal(new Set(replies.map(({ body }) => body.data.primary_contact)).size, 1)
  assert.equal(new Set(replies.map(({ body }) => body.data.company)).size, 1)
  assert.equal((await listed('emails.email_value:eq(new@example.com)', 'contact')).body.data.length, 1)
  const twice = {
    primary_contact: anew('F'),
    related_contacts: [{ ...anew('G'), emails: email('g@example.com') }],
  }
  const both = await deal({
    ...twice,
    related_contacts: [...twice.related_contacts, { ...anew('H'), emails: email('G@example.com') }],
  })
  assert.equal(both.body.data.related_contacts.length, 1)
})

test('a record that find_by creates has what its names and defaults name', async () => {
  const { id: buyer } = await made('field', { source: 'contact', field_name: 'Buys for', type: 'COMPANY' })
  const { id: seat } = await made('field', {
    source: 'contact',
    field_name: 'Looked after by',
    type: 'COMPANY',
    default_value: company.id,
    is_required: true,
  })
  const foods = await made('company', { name: 'Haddad Foods' })
  const anew = (address: string, members: { [name: string]: Json }) =>
    deal({
      primary_contact: { find_by: 'email', last_name: 'Okafor', emails: email(address), ...members },
    })
  for (const [address, named] of [
    ['nobody-1@example.com', { find_by: 'name', name: 'haddad FOODS' }],
    ['nobody-2@example.com', 'Haddad Foods'],
  ] as const) {
    const reply = await anew(address, { company: named, cf_buys_for: 'Haddad Foods' })
    assert.equal(reply.status, 201, reply.text)
    const { body } = await get(`${v1}/contact/${reply.body.data.primary_contact}`)
    const { company: at, cf_buys_for, cf_looked_after_by } = body.data
    assert.deepEqual([at, cf_buys_for, cf_looked_after_by], [foods.id, foods.id, company.id])
  }
  const unknown = problemOf(await anew('nobody-3@example.com', { company: 'Nobody Foods' }), 422)
  assert.deepEqual([unknown.path, unknown.code], ['/primary_contact/company', 'reference_not_found'])
  // The first is linked by its other address, so the second is created.
  const known = [...email('ann@example.com'), ...email('shared@example.com')]
  const reply = await deal({
    related_contacts: [
      { find_by: 'email', last_name: 'Names', emails: known },
      { find_by: 'email', last_name: 'Okafor', emails: email('shared@example.com'), company: 'Haddad Foods' },
    ],
  })
  assert.equal(reply.body.data.related_contacts[0], ann.id)
  const { body } = await get(`${v1}/contact/${reply.body.data.related_contacts[1]}`)
  assert.equal(body.data.company, foods.id)
  for (const field of [buyer, seat]) await call('DELETE', `${v1}/field/${field}`)
})

test('find_by by more than a thousand values is refused', async () => {
  const person = (_: unknown, index: number) => ({
    find_by: 'email',
    last_name: `Many ${index}`,
    emails: Array.from({ length: 20 }, (_, of) => email(`many-${index}-${of}@example.com`)[0]!),
  })
  const people = (length: number) => ({ related_contacts: Array.from({ length }, person) })
  const refused = problemOf(await deal(people(51)), 422)
  assert.deepEqual([refused.path, refused.code], ['/related_contacts/50/emails', 'too_many'])
  const reply = await deal(people(50))
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.data.related_contacts.length, 50)
})

test('find_by is refused with the candidates, without a value, and by what names no record', async () => {
  const [one, other] = [await made('company', { name: 'Same' }), await made('company', { name: 'SAME' })]
  const several = problemOf(await deal({ company: { find_by: 'name', name: 'same' } }), 422)
  assert.equal(several.code, 'ambiguous_reference')
  assert.deepEqual(several.candidates, [
    { id: one.id, name: 'Same' },
    { id: other.id, name: 'SAME' },
  ])
  for (const [company, code] of [
    [{ find_by: 'name' }, 'required'],
    [{ find_by: 'website', website: 'x' }, 'invalid_value'],
    [{ find_by: 7, name: 'x' }, 'invalid_value'],
    [{ find_by: 'name', name: 'x'.repeat(300) }, 'too_long'],
  ] as const)
    assert.equal(problemOf(await deal({ company }), 422).code, code)
})

test('a wrong find_by is told with all else that is wrong with its record, each once', async () => {
  const problems = async (primary_contact: Json) => problemsOf(await deal({ primary_contact }))
  const wrong = { emails: email('jo(at)x'), nickname: 'Jo', company: { name: '' } }
  const all = ['/company/name required', '/emails/0/email_value invalid_email', '/last_name required']
  const told = [...all, '/nickname unknown_field'].map(problem => `/primary_contact${problem}`)
  assert.deepEqual(await problems(wrong), told)
  assert.deepEqual(await problems({ find_by: 'email', ...wrong }), told)
  assert.deepEqual(await problems({ find_by: 'phone', last_name: 'Jo', nickname: 'Jo' }), [
    '/primary_contact/find_by invalid_value',
    '/primary_contact/nickname unknown_field',
  ])
  assert.deepEqual(problemsOf(await deal({ company: { find_by: 'name', nothing: 1 } })), [
    '/company/name required',
    '/company/nothing unknown_field',
  ])
})

test('e-mails match in any case, and an index finds them', async () => {
  const field = await call('POST', `${v1}/field`, { source: 'deal', field_name: 'Bills to', type: 'EMAIL' })
  assert.equal(field.status, 201, field.text)
  const { id } = (await deal({ cf_bills_to: email('Bills@Example.com') })).body.data
  const ids = async (filter: string, resource: string) =>
    (await listed(filter, resource)).body.data.map((one: { id: number }) => one.id)
  assert.deepEqual(await ids('cf_bills_to.email_value:eq(bills@example.COM)', 'deal'), [id])
  assert.deepEqual(await ids('cf_bills_to.email_value:in(x@y.z,"BILLS@example.com")', 'deal'), [id])
  assert.ok(!(await ids('cf_bills_to.email_value:neq(bills@example.com)', 'deal')).includes(id))
  assert.ok(!(await ids('cf_bills_to.email_value:nin(bills@example.com,x)', 'deal')).includes(id))
  assert.deepEqual(await ids('emails.email_value:eq(aNN@example.com)', 'contact'), [ann.id])
  // The field without a member stands for its addresses.
  assert.deepEqual(await ids('emails:eq(aNN@example.com)', 'contact'), [ann.id])
  assert.ok(!(await ids('emails:neq(aNN@example.com)', 'contact')).includes(ann.id))
  assert.deepEqual(await ids('cf_bills_to:in(x@y.z,"BILLS@example.com")', 'deal'), [id])
  assert.ok(!(await ids('cf_bills_to:nin(bills@example.com,x)', 'deal')).includes(id))
  assert.deepEqual(await ids('email:eq(JO.names@example.com)', 'user'), [jo.id])
  assert.ok(!(await ids('email:nin(JO.names@example.com)', 'user')).includes(jo.id))
})

test('a user out of use stays where they are, and are taken nowhere else', async () => {
  const gone = await made('user', { name: 'Gone Away', email: 'gone.away@example.com' })
  const kept = (await deal({ sales_owner: gone.id, cf_custom_owner_field: gone.id })).body.data
  await call('PATCH', `${v1}/user/${gone.id}`, { is_active: 'No' })
  const choices = async (more: string) =>
    (await get(`${v1}/field/dropdown?name=sales_owner${more}`)).body.data
      .filter(({ id }: { id: number }) => id === gone.id)
      .map((one: { is_active: boolean }) => one.is_active)
  assert.deepEqual(await choices(''), [])
  assert.deepEqual(await choices('&include_inactive=true'), [false])
  const refused = await deal({ sales_owner: gone.id, title: '' })
  assert.deepEqual(
    refused.body.errors.map((one: { path: string; code: string }) => `${one.path} ${one.code}`).sort(),
    ['/sales_owner inactive_option', '/title required'],
  )
  assert.equal(problemOf(await deal({ sales_owner: gone.id }), 422).code, 'inactive_option')
  assert.equal(problemOf(await deal({ cf_custom_owner_field: gone.id }), 422).code, 'inactive_option')
  const operations = [{ op: 'create', data: dealBody(known, { sales_owner: gone.id }) }]
  const batch = await call('POST', `${v1}/deal/batch`, { operations })
  assert.equal(batch.body.data[0].errors[0].code, 'inactive_option')
  // The record's current value may be sent again, and is restored with it.
  const path = `${v1}/deal/${kept.id}`
  assert.equal((await call('PATCH', path, { sales_owner: gone.id, title: 'Kept' })).status, 200)
  assert.equal((await call('PATCH', path, { created_by: gone.id, tags: [tag.id] })).status, 200)
  assert.equal((await call('DELETE', path)).status, 200)
  assert.equal((await call('POST', `${path}/restore`)).status, 200)
  // Other records can't point to them any more.
  assert.equal((await call('PATCH', path, { sales_owner: jo.id })).status, 200)
  assert.equal(problemOf(await call('PATCH', path, { sales_owner: gone.id }), 422).code, 'inactive_option')
})
