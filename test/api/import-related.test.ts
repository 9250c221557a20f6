/** Contacts and companies in the rows of an import (D80): created with their record, or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import type { Json } from '../../src/json.ts'
import { byQueries } from '../support/by-queries.ts'
import { importerOf } from '../support/import-jobs.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get } = service
const { upload, told, count } = importerOf(service)
const pipeline = (await get(`${v1}/pipeline/view/list?pageSize=1`)).body.data[0].name
const owner = (await get(`${v1}/user/view/list?pageSize=1`)).body.data[0].id
const header = 'title,pipeline,pipeline_stage,sales_owner,primary_contact.emails,company.name'
const row = (title: string, stage: string, contact: string, company: string) =>
  [title, pipeline, stage, '1', contact, company].join()

test('a row that is refused makes neither contact nor company', async () => {
  const rows = [
    row('Good', 'New', 'both@example.com', 'Both Ltd'),
    row('Bad', 'Nwe', 'orphan@example.com', 'Orphan Ltd'),
    row('Bad too', 'Nwe', 'both@example.com', 'Both Ltd'),
    row('', 'New', 'other@example.com', 'Orphan Ltd'),
  ]
  const { id } = (await upload('deal', [header, ...rows].join('\n'))).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused, done.related], [1, 3, 2], JSON.stringify(done))
  assert.equal(await count('contact', 'emails:like(orphan@)'), 0)
  assert.equal(await count('contact', 'emails:like(other@)'), 0)
  assert.equal(await count('company', 'name:eq(Orphan Ltd)'), 0)
  assert.equal(await count('company', 'name:eq(Both Ltd)'), 1)
})

test('a row that is skipped makes neither, whether its record was there or came before it', async () => {
  const made = await call('POST', `${v1}/field`, {
    ...{ source: 'deal', field_name: 'Old number', type: 'SINGLE_STRING', is_unique: true },
  })
  assert.equal(made.status, 201, made.text)
  const { internal_name: number } = made.body.data
  const own = (value: string, name: string) =>
    `${row(`Numbered ${name}`, 'New', `${name}@example.com`, `${name} Ltd`)},${value}`
  const run = async (...rows: string[]) => {
    const { id } = (await upload('deal', [`${header},${number}`, ...rows].join('\n'))).body.data
    const duplicates = { by: number, action: 'skip' }
    const changed = await call('PATCH', `${v1}/import/${id}`, { duplicates })
    assert.equal(changed.status, 200, changed.text)
    return told(id, 'run')
  }
  const first = await run(own('N1', 'first'), own('N1', 'double'))
  assert.deepEqual([first.created, first.skipped, first.related], [1, 1, 2], JSON.stringify(first))
  const again = await run(own('N1', 'again'), own('N2', 'second'))
  assert.deepEqual([again.created, again.skipped, again.related], [1, 1, 2], JSON.stringify(again))
  for (const name of ['double', 'again']) {
    assert.equal(await count('contact', `emails:like(${name}@)`), 0)
    assert.equal(await count('company', `name:eq(${name} Ltd)`), 0)
  }
})

test('amounts of a company that a row makes have the currency of the row, and what it got is not lost', async () => {
  const dropdown = { field_name: 'Tier', type: 'DROPDOWN', options: ['Gold', 'Silver'] }
  const names: string[] = []
  for (const field of [{ field_name: 'Budget', type: 'MONETARY' }, dropdown]) {
    const made = await call('POST', `${v1}/field`, { source: 'company', ...field })
    names.push(`company.${made.body.data.internal_name}`)
  }
  const columns = `${header},${names.join()},deal_value.currency`
  const rows = ['One', 'Two'].map(
    title => `${row(title, 'New', `${title}@example.com`, 'Budget Ltd')},500,Gold,USD`,
  )
  for (const made of [3, 0]) {
    const { id } = (await upload('deal', [columns, ...rows].join('\n'))).body.data
    const done = await told(id, 'run')
    assert.deepEqual([done.created, done.related, done.not_taken], [2, made, {}], JSON.stringify(done))
  }
  const [company] = (await get(`${v1}/company/view/list?filter=name:eq(Budget Ltd)`)).body.data
  assert.equal(company.cf_budget.currency_code, 'USD')
})

test('a status that is left out closes no deal', async () => {
  const lines = [`${header},status`, `${row('Left out', 'New', 'left@example.com', 'Left Ltd')},Lost`]
  const { id } = (await upload('deal', lines.join('\n'))).body.data
  const chosen = await call('PATCH', `${v1}/import/${id}`, { values: { status: { Lost: null } } })
  assert.equal(chosen.status, 200, chosen.text)
  const done = await told(id, 'run')
  assert.equal(done.created, 1, JSON.stringify(done))
  const [deal] = (await get(`${v1}/deal/view/list?filter=title:eq(Left out)&expand=pipeline_stage`)).body.data
  assert.equal(deal._expanded.pipeline_stage.name, 'New')
})

test('tags that look like several, or like a list, come back from an export as they are', async () => {
  const names = ['Prio:::High', '[7]', 'Two\nlines', 'Plain']
  const tags: number[] = []
  for (const name of names) tags.push((await call('POST', `${v1}/tag`, { name })).body.data.id)
  for (const [title, own] of [
    ['All tags', tags],
    ['One tag', [tags[1]!]],
  ] as const) {
    const lines = [header, row(title, 'New', 'tags@example.com', 'Tags Ltd')]
    const { id } = (await upload('deal', lines.join('\n'))).body.data
    assert.equal((await told(id, 'run')).created, 1)
    const list = `${v1}/deal/view/list?filter=title:eq(${title})`
    const [deal] = (await get(list)).body.data
    assert.equal((await call('PATCH', `${v1}/deal/${deal.id}`, { tags: [...own] })).status, 200)
    const path = `${v1}/deal/export?format=csv&names=1&filter=title:eq(${title})`
    const file = (await get(`${path}&fields=title,pipeline,pipeline_stage,sales_owner,primary_contact,tags`))
      .text
    const again = (await upload('deal', file)).body.data
    const done = await told(again.id, 'run')
    assert.equal(done.created, 1, JSON.stringify(done))
    const [copy] = (await get(`${list}&sort=id:desc`)).body.data
    assert.deepEqual(copy.tags, own)
  }
})

test('a person of a file is one record, and belongs to the company of the row', async () => {
  const names = 'title,pipeline,pipeline_stage,sales_owner,Company,Contact'
  const deal = (title: string, company: string, contact: string) =>
    [title, pipeline, 'New', owner, company, contact].join()
  const run = async (...rows: string[]) => {
    const { id } = (await upload('deal', [names, ...rows].join('\n'))).body.data
    const done = await told(id, 'run')
    const { data } = (await get(`${v1}/deal/view/list?filter=title:like(Kim)&sort=id:asc`)).body
    const people = data.map((one: { primary_contact: number | null }) => one.primary_contact)
    return { done, people }
  }
  const first = await run(
    deal('Kim 1', 'Nord AG', 'Kim Zum'),
    deal('Kim 2', 'Nord AG', 'Kim Zum'),
    deal('Kim 3', 'Nord AG', '"Zum, Kim"'),
    deal('Kim 4', 'Sued AG', 'Kim Zum'),
  )
  assert.deepEqual([first.done.created, first.done.related], [4, 4], JSON.stringify(first.done.problems))
  const [one, two, three, four] = first.people
  assert.deepEqual([two, three, four === one], [one, one, false])
  const kim = (await get(`${v1}/contact/${one}?expand=company`)).body.data
  assert.deepEqual([kim.first_name, kim._expanded.company.name], ['Kim', 'Nord AG'])
  await call('POST', `${v1}/contact`, { first_name: 'Kim', last_name: 'Frei' })
  // The same id in another account is another record.
  const elsewhere = { name: 'Elsewhere', ownerName: 'E', ownerEmail: 'e@example.com' }
  const { account } = await createAccount(byQueries(db), elsewhere)
  const sued = (await get(`${v1}/contact/${four}`)).body.data.company
  for (const [table, id] of [
    ['company', sued],
    ['contact', one],
  ] as const)
    await db.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(x, $1::jsonb)).* FROM ${table} x
        WHERE account_id = 1 AND id = $2::bigint`,
      [JSON.stringify({ account_id: account, ...(table === 'contact' && { company: sued }) }), String(id)],
    )
  // The next file finds them again; a name that two people without a company share is refused.
  const next = await run(
    deal('Kim 5', 'Nord AG', 'Kim Zum'),
    deal('Kim 6', '', 'Kim Zum'),
    deal('Kim 7', 'Nord AG', 'Kim Frei'),
  )
  assert.deepEqual([next.done.created, next.done.refused, next.done.related], [2, 1, 0])
  assert.equal(next.people.at(-2), one)
  const [problem] = next.done.problems[0].problems
  assert.deepEqual([problem.code, problem.column], ['ambiguous_reference', 'Contact'])
})

test('of many people of one name the one of the company of the row is found', async () => {
  const companies = Array.from({ length: 14 }, (_, index) => `Namesake ${index} Ltd`)
  const lines = companies.map(company => ['Buyer', company].join())
  const contacts = (await upload('contact', ['last_name,company.name', ...lines].join('\n'))).body.data
  assert.equal((await told(contacts.id, 'run')).created, 14)
  const named = 'title,pipeline,pipeline_stage,sales_owner,primary_contact.name,company.name'
  const rows = [...companies, 'Namesake new Ltd'].map(company =>
    row(`Of ${company}`, 'New', 'Buyer', company),
  )
  const deals = (await upload('deal', [named, ...rows].join('\n'))).body.data
  const done = await told(deals.id, 'run')
  assert.deepEqual([done.created, done.related], [15, 2], JSON.stringify(done.problems))
  assert.equal(await count('contact', 'last_name:eq(Buyer)'), 15)
  const all = async (path: string) => (await get(`${v1}/${path}&pageSize=100`)).body.data
  const people = await all('contact/view/list?filter=last_name:eq(Buyer)')
  const companyOf = new Map(people.map((one: { id: number; company: number }) => [one.id, one.company]))
  const made = await all('deal/view/list?filter=title:like(Of%20Namesake)')
  assert.equal(made.length, 15)
  for (const deal of made) assert.equal(companyOf.get(deal.primary_contact), deal.company, deal.title)
})

test('a value that a linked record does not get is counted by its column', async () => {
  const company = {
    name: 'Held Ltd',
    website: 'https://held.example',
    phones: [{ phone_number: '+49 1', phone_type: 1 }],
  }
  assert.equal((await call('POST', `${v1}/company`, company)).status, 201)
  const names = 'First name,Last name,Company,Company website,Company phone,Company city'
  const rows = [
    'A,Held,Held Ltd,https://held.example,+49 1,',
    'B,Held,Held Ltd,https://other.example,+49 2,Bonn',
    'C,Held,Fresh Ltd,https://fresh.example,+49 3,Bonn',
    'D,Held,Fresh Ltd,HTTPS://FRESH.example,+49 4,Bonn',
    ',,Held Ltd,https://refused.example,,',
  ]
  const { id } = (await upload('contact', [names, ...rows].join('\n'))).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused], [4, 1], JSON.stringify(done.problems))
  const lost = { 'Company website': 1, 'Company phone': 2, 'Company city': 1 }
  assert.deepEqual([done.not_taken, done.result.run.not_taken], [lost, lost])
})

test('a number beyond a double that a linked company has or does not get is no fault', async () => {
  const field = { source: 'company', field_name: 'Customer no', type: 'SINGLE_NUMBER' }
  const { internal_name: number } = (await call('POST', `${v1}/field`, field)).body.data
  const company = `{"name":"Numbered Ltd","${number}":9007199254740993}`
  assert.equal((await call('POST', `${v1}/company`, company)).status, 201)
  const numbered = (value: string) =>
    `${row('Of a number', 'New', 'numbered@example.com', 'Numbered Ltd')},${value}`
  const file = [`${header},company.${number}`, numbered('9007199254740993'), numbered('9007199254740992')]
  const { id } = (await upload('deal', file.join('\n'))).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.state, done.created, done.refused], ['done', 2, 0], JSON.stringify(done))
  assert.deepEqual(done.not_taken, { [`company.${number}`]: 1 })
})

test('what is refused of a record that a row names is told with its column', async () => {
  const names = 'title,pipeline,pipeline_stage,sales_owner,Company,Company phone,Contact,Contact mail'
  const deal = (...cells: string[]) => ['Told', pipeline, 'New', owner, ...cells].join()
  const rows = [
    deal('', '+49 30 123456', 'Jo Doe', ''),
    deal('Acme', '', 'Jo Doe', 'jo@@example'),
    deal('x'.repeat(300), '', 'Jo Doe', ''),
  ]
  const { id } = (await upload('deal', [names, ...rows].join('\n'))).body.data
  const done = await told(id, 'run')
  const seen = done.problems.map(({ problems: [one] }: { problems: { [member: string]: string }[] }) => [
    ...[one!.column, one!.message],
  ])
  assert.deepEqual(
    seen.map(([column]: [string]) => column),
    ['Company phone', 'Contact mail', 'Company'],
    JSON.stringify(seen),
  )
  assert.match(seen[0][1], /"\+49 30 123456" is of a company that the row does not name/)
})

test('rows that name more contacts than a field takes make none, and few are looked at in a step', async () => {
  const many = (index: number) =>
    Array.from({ length: 400 }, (_, place) => `crowd${index}.${place}@example.com`).join(';')
  const rows = Array.from({ length: 12 }, (_, index) => `Crowd ${index},${pipeline},New,1,${many(index)}`)
  const file = ['title,pipeline,pipeline_stage,sales_owner,related_contacts.emails', ...rows].join('\n')
  const { id } = (await upload('deal', file)).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused, done.related], [0, 12, 0], JSON.stringify(done.problems[0]))
  assert.equal(done.problems[0].problems[0].code, 'too_many')
  assert.equal(await count('contact', 'emails:like(crowd)'), 0)
})

test('who may no longer import can’t have an import run as a job either', async () => {
  const token = async (...scopes: string[]) => {
    const all = ['tag:read', 'tag:write', 'job:read', 'job:write', ...scopes]
    const made = await call('POST', `${v1}/token`, { name: all.join(), scopes: all })
    return { authorization: `Bearer ${made.body.data.token}` }
  }
  const [full, less] = [await token('import:write'), await token()]
  const { id } = (await upload('tag', 'name\nBy a job')).body.data
  for (const action of ['dry_run', 'run']) {
    const refused = await call('POST', `${v1}/job/${id}/${action}`, undefined, less)
    assert.equal(refused.status, 403, refused.text)
  }
  assert.equal((await call('POST', `${v1}/job/${id}/run`, undefined, full)).status, 200)
})

test('a row that guesses at hidden fields of a linked record is not told if it is right', async () => {
  const made = async (resource: string, body: Json) => {
    const reply = await call('POST', `${v1}/${resource}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data
  }
  const limit = { source: 'company', field_name: 'Credit limit', type: 'SINGLE_NUMBER' }
  const { internal_name: secret } = await made('field', limit)
  const acme = await made('company', {
    ...{ name: 'Guessed Ltd', [secret]: 50_000, website: 'https://guessed.example' },
    address: { city: 'Bonn' },
  })
  const phones = [{ phone_number: '+49 77', phone_type: 1 }]
  const silva = await made('contact', { last_name: 'Guessed', company: acme.id, phones })
  const mail = [{ email_type: 1, email_value: 'guessed@example.com' }]
  await made('contact', { last_name: 'Mailed', emails: mail, phones })
  const all = ['deal', 'company', 'contact', 'import', 'job']
  const scopes = ['user:read', ...all.flatMap(name => [`${name}:read`, `${name}:write`])].filter(
    scope => scope !== 'import:read',
  )
  const hidden_fields = [`company.${secret}`, 'company.address', 'contact.phones', 'contact.company']
  const role = await made('role', { name: 'Guessers', scopes, hidden_fields })
  const user = await made('user', { name: 'Guesser', email: 'guesser@example.com', role: role.id })
  const { token } = await made('token', { name: 'Guesser', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const theirs = importerOf({
    ...{ ...service, token, call: (method, path, body) => call(method, path, body, as) },
    get: path => call('GET', path, undefined, as),
  })
  const tried = async (field: string, value: Json) => {
    const known = { title: 'x', pipeline, pipeline_stage: 'New', sales_owner: owner }
    const row = { ...known, primary_contact: silva.id, [field]: value }
    const type = 'application/jsonl'
    const { body } = await theirs.upload('deal', JSON.stringify(row), '', type, 'jsonl')
    assert.ok(body.data, JSON.stringify(body))
    const { created, refused, not_taken, problems } = await theirs.told(body.data.id, 'dry_run')
    return { created, refused, not_taken, problems }
  }
  const company = { find_by: 'name', name: 'Guessed Ltd' }
  const person = { find_by: 'email', emails: mail }
  const guesses: [string, Json, Json][] = [
    ['company', { ...company, [secret]: 50_000 }, { ...company, [secret]: 1 }],
    ['company', { ...company, address: { city: 'Bonn' } }, { ...company, address: { city: 'Rome' } }],
    ['related_contacts', [{ ...person, phones }], [{ ...person, phones: [{ phone_number: '+1 2' }] }]],
    ['primary_contact', { last_name: 'Guessed', company: acme.id }, { last_name: 'Guessed', company: 7 }],
  ]
  for (const [field, right, wrong] of guesses) {
    const answers = [await tried(field, right), await tried(field, wrong)]
    assert.deepEqual(answers[0], answers[1], JSON.stringify(answers))
  }
  // Fields that the role shows are compared and counted.
  const seen = await tried('company', { ...company, website: 'https://other.example' })
  assert.deepEqual(seen.not_taken, { company: 1 }, JSON.stringify(seen))
})
