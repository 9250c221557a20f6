/** Imports (D80): a file becomes records; dry run, pause and resume, and revert. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import type { Json, JsonObject } from '../../src/json.ts'
import { readRows } from '../../src/work/imports/rows.ts'
import { eventually } from '../support/eventually.ts'
import { onServer, whileItWaits } from '../support/held-lock.ts'
import { importerOf } from '../support/import-jobs.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'
import { workbookFiles, zip } from '../support/workbook.ts'

const faults: unknown[] = []
const log = pino({ level: 'error' }, { write: line => void faults.push(line) })
const service = await startService({ log })
const { call, get, db, made } = service

const { upload, told, count, ended } = importerOf(service)
const fileType = 'application/octet-stream'

const header =
  'title,pipeline,pipeline_stage,sales_owner,deal_value.value,deal_value.currency,company.name,primary_contact.last_name,primary_contact.emails,created_at'
const owner = (await get(`${v1}/user/view/list?pageSize=1`)).body.data[0].email
const pipeline = (await get(`${v1}/pipeline/view/list?pageSize=1`)).body.data[0].name
const person = (await call('POST', `${v1}/contact`, { last_name: 'Of all rows' })).body.data.id
const row = (index: number, more: { [column: string]: string } = {}) =>
  [
    ...[more.title ?? `Imported ${index}`, pipeline, more.stage ?? 'New', owner, `${index}.50`, 'EUR'],
    ...[
      `Company ${index % 5}`,
      `Person ${index % 7}`,
      `person${index % 7}@example.com`,
      '2024-05-06T07:08:09Z',
    ],
  ].join(',')

test('a file is tried, imported with contacts and companies, and taken back', async () => {
  const rows = Array.from({ length: 300 }, (_, index) =>
    row(index, index % 50 === 7 ? { stage: 'Nowhere' } : {}),
  )
  const made = await upload('deal', [header, ...rows].join('\n'), '&name=deals.csv')
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id, columns, mapping, total, state } = made.body.data
  assert.deepEqual([total, state, columns.length, columns[0].name], [300, 'waiting', 10, 'title'])
  assert.equal(mapping.length, 10, JSON.stringify(mapping))
  const before = (await db.query('SELECT last_seq::text AS n FROM counter WHERE account_id = 1'))[0]!.n
  const tried = await told(id, 'dry_run')
  assert.deepEqual(
    [tried.state, tried.created, tried.refused, tried.done],
    ['waiting', 294, 6, 300],
    JSON.stringify(tried),
  )
  assert.equal((await db.query('SELECT last_seq::text AS n FROM counter WHERE account_id = 1'))[0]!.n, before)
  assert.equal(tried.problems[0].problems[0].column, 'pipeline_stage')
  // The header is the first line.
  assert.deepEqual([tried.problems[0].place, tried.problems[0].line], [8, 9])
  const done = await told(id, 'run')
  assert.deepEqual(
    [done.state, done.created, done.refused, done.related],
    ['done', 294, 6, 12],
    JSON.stringify(done.problems[0]),
  )
  assert.equal(await count('deal', 'title:like(Imported )'), 294)
  assert.equal(await count('company', 'name:like(Company )'), 5)
  const [deal] = (
    await get(`${v1}/deal/view/list?filter=title:eq(Imported 3)&expand=company,primary_contact`)
  ).body.data
  assert.deepEqual([deal.deal_value.value, deal.created_at], [3.5, '2024-05-06T07:08:09.000Z'])
  assert.equal(deal._expanded.company.name, 'Company 3')
  const file = await call('GET', `${v1}/import/${id}/errors.csv`)
  assert.equal(file.status, 200)
  assert.equal(file.text.trim().split('\n').length, 7, file.text)
  const back = await told(id, 'revert')
  assert.deepEqual([back.state, back.refused, back.reverted], ['done', 0, 306], JSON.stringify(back.problems))
  assert.equal(await count('deal', 'title:like(Imported )'), 0)
  assert.equal(await count('company', 'name:like(Company )'), 0)
})

test('amounts keep the currencies of our own export, written as ids or as codes', async () => {
  const names =
    'title,pipeline,pipeline_stage,sales_owner,primary_contact.emails,' +
    'deal_value.value,deal_value.currency,expected_deal_value.currency'
  const line = (title: string, currency: string | number) =>
    [title, pipeline, 'New', owner, 'ids@example.com', '3800', currency, currency].join(',')
  const usd = (await get(`${v1}/currency/view/list?filter=code:eq(USD)`)).body.data[0].id
  const made = await upload('deal', [names, line('By id', usd), line('By code', 'usd')].join('\n'))
  assert.equal(made.body.data.mapping.length, 8, JSON.stringify(made.body.data.mapping))
  const done = await told(made.body.data.id, 'run')
  assert.deepEqual([done.created, done.refused], [2, 0], JSON.stringify(done.problems))
  const { data } = (await get(`${v1}/deal/view/list?filter=title:like(By )`)).body
  for (const { deal_value } of data) assert.deepEqual([deal_value.value, deal_value.currency], [3800, usd])
})

test('values for all rows fill what rows say nothing of', async () => {
  const lines = [
    'title,Amount (EUR),Phase,sales_owner',
    'Default 1,10,,',
    `Default 2,20,Won,${owner}`,
    'Default 3,30,Lost,',
  ]
  const made = await upload('deal', lines.join('\n'))
  const { id } = made.body.data
  assert.deepEqual(made.body.data.defaults, { 'deal_value.currency': 'EUR' })
  const [won] = (await get(`${v1}/field/list?source=deal`)).body.data.fields
    .flat()
    .find(({ internal_name }: { internal_name: string }) => internal_name === 'won_reason').options
  const change = (defaults: Json) => call('PATCH', `${v1}/import/${id}`, { defaults })
  const wrong = await change({
    ...{ pipeline: 'Nowhere', title: 5, 'deal_value.currency': 'XYZ', 'company.name': 'Acme', nothing: 1 },
    ...{ sales_owner: 'nobody@example.com', company: { name: 'One for each row' }, status: 'Won' },
  })
  assert.equal(wrong.status, 422)
  assert.deepEqual(
    wrong.body.errors.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`).sort(),
    [
      ...['/defaults/company wrong_type', '/defaults/company.name unknown_field'],
      ...['/defaults/deal_value.currency invalid_value'],
      ...['/defaults/nothing unknown_field', '/defaults/pipeline unknown_option'],
      ...['/defaults/sales_owner reference_not_found', '/defaults/status unknown_field'],
      '/defaults/title wrong_type',
    ],
    wrong.text,
  )
  const all = {
    ...{ pipeline, pipeline_stage: 'New', sales_owner: owner, 'deal_value.currency': 'usd', source: null },
    ...{ won_reason: won.id, lost_reason: 'Price is too high', deal_closed_on: '2026-01-02' },
  }
  const changed = await change({ ...all, primary_contact: person })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual(
    [changed.body.data.defaults.source, changed.body.data.defaults['deal_value.currency']],
    [undefined, 'USD'],
  )
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused], [3, 0], JSON.stringify(done.problems))
  const deals = (await get(`${v1}/deal/view/list?filter=title:like(Default )&sort=title:asc`)).body.data
  const seen = deals.map((deal: { [field: string]: Json }) => [
    ...[deal.status, (deal.deal_value as JsonObject).currency_code],
    ...[deal.won_reason !== null, deal.lost_reason !== null, deal.deal_closed_on],
  ])
  // Only deals that are closed so have a reason.
  assert.deepEqual(seen, [
    [1, 'USD', false, false, null],
    [2, 'USD', true, false, '2026-01-02'],
    [3, 'USD', false, true, '2026-01-02'],
  ])
})

test('a change of a plan leaves what it does not name', async () => {
  const { id } = (await upload('deal', 'title;Amount (EUR);deal_closed_on\nMerged;5;13/01/2026\n')).body.data
  const change = async (plan: Json) => {
    const changed = await call('PATCH', `${v1}/import/${id}`, plan)
    assert.equal(changed.status, 200, changed.text)
    return changed.body.data
  }
  const given = { pipeline, pipeline_stage: 'New', sales_owner: owner, primary_contact: person }
  assert.deepEqual((await change({ defaults: given })).defaults, { ...given, 'deal_value.currency': 'EUR' })
  const { sales_owner: _, ...rest } = given
  const without = await change({ defaults: { sales_owner: null } })
  assert.deepEqual(without.defaults, { ...rest, 'deal_value.currency': 'EUR' })
  await change({ values: { source: { a: null } } })
  assert.deepEqual((await change({ values: { tags: { b: null } } })).values, {
    ...{ source: { a: null }, tags: { b: null } },
  })
  const changes = ['type', 'payment_status', 'lost_reason'].map(name => ({ values: { [name]: { c: null } } }))
  await Promise.all([...changes, { formats: { decimal: '.' } }].map(change))
  const together = await change({})
  assert.deepEqual(
    [Object.keys(together.values).sort(), together.formats.decimal],
    [['lost_reason', 'payment_status', 'source', 'tags', 'type'], '.'],
  )
  const { formats } = await change({ formats: { decimal: ',' } })
  assert.deepEqual([formats.date, formats.decimal], ['dmy', ','])
  assert.deepEqual((await change({ formats: { date: null } })).formats, { decimal: ',', unclear: [] })
  await change({ defaults: { sales_owner: owner } })
  assert.equal((await told(id, 'run')).created, 1)
  const [deal] = (await get(`${v1}/deal/view/list?filter=title:eq(Merged)`)).body.data
  assert.deepEqual([deal.deal_value.value, deal.deal_value.currency_code], [5, 'EUR'])
})

test('closed deals are closed on the day that their file tells', async () => {
  const options = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  const of = (name: string) =>
    options.find(({ internal_name }: { internal_name: string }) => internal_name === name).options[0].name
  const reasons = { won_reason: of('won_reason'), lost_reason: of('lost_reason') }
  const run = async (file: string) => {
    const { id } = (await upload('deal', file)).body.data
    const defaults = { pipeline, sales_owner: owner, primary_contact: person, ...reasons }
    assert.equal((await call('PATCH', `${v1}/import/${id}`, { defaults })).status, 200)
    return told(id, 'run')
  }
  const closed = async (title: string) => {
    const [deal] = (await get(`${v1}/deal/view/list?filter=title:eq(${title})`)).body.data
    return [deal.status, deal.deal_closed_on]
  }
  const timed = await run(
    'title,status,lost_time,expected_close_date\n' +
      'Timed 1,Lost,2025-01-02 10:00:00,\nTimed 2,Lost,2025-01-02 10:00:00,2025-06-01\n',
  )
  assert.deepEqual([timed.created, timed.refused], [2, 0], JSON.stringify(timed.problems))
  for (const title of ['Timed 1', 'Timed 2']) assert.deepEqual(await closed(title), [3, '2025-01-02'])
  const staged = await run('Deal Name,Stage,Close Date\nStaged 1,Won,2025-06-01\nStaged 2,New,2025-06-01\n')
  assert.deepEqual([staged.created, staged.refused], [2, 0], JSON.stringify(staged.problems))
  assert.deepEqual(
    [await closed('Staged 1'), await closed('Staged 2')],
    [
      [2, '2025-06-01'],
      [1, null],
    ],
  )
  const late = await run('title,pipeline_stage,created_at\nLate,New,2099-01-01\n')
  assert.deepEqual([late.created, late.problems[0].problems[0].message], [0, 'created_at is in the future.'])
})

test('a status alone moves a stored deal within its own pipeline', async () => {
  const renewals = await made('pipeline', { name: 'Renewals' })
  const stages: { [name: string]: number } = {}
  for (const [name, kind] of [
    ['Due', 'Open'],
    ['Signed', 'Won'],
    ['Gone', 'Lost'],
  ])
    stages[name!] = (await made('pipeline_stage', { name: name!, pipeline: renewals.id, kind: kind! })).id
  await made('field', { source: 'deal', field_name: 'Old id', type: 'SINGLE_STRING', is_unique: true })
  const own = { pipeline: renewals.id, pipeline_stage: stages.Due!, cf_old_id: 'X1' }
  const { id } = await made('deal', dealBody(service.known, own))
  const rows = ['cf_old_id,status,won_reason,deal_closed_on', 'X1,Won,Price,2026-03-01']
  const file = (await upload('deal', rows.join('\n'))).body.data
  const plan = { duplicates: { by: 'cf_old_id', action: 'update' } }
  assert.equal((await call('PATCH', `${v1}/import/${file.id}`, plan)).status, 200)
  const done = await told(file.id, 'run')
  assert.deepEqual([done.updated, done.refused], [1, 0], JSON.stringify(done.problems))
  const { pipeline_stage, deal_closed_on } = (await get(`${v1}/deal/${id}`)).body.data
  assert.deepEqual([pipeline_stage, deal_closed_on], [stages.Signed, '2026-03-01'])
})

test('a unique number beyond a double tells the record of a row', async () => {
  await made('field', { source: 'company', field_name: 'Ext', type: 'SINGLE_NUMBER', is_unique: true })
  const run = async (action: string, rows: string[]) => {
    const { id } = (await upload('company', ['name,cf_ext', ...rows].join('\n'))).body.data
    const duplicates = { by: 'cf_ext', action }
    assert.equal((await call('PATCH', `${v1}/import/${id}`, { duplicates })).status, 200)
    const { created, updated, skipped, refused } = await told(id, 'run')
    return { created, updated, skipped, refused }
  }
  const [one, next] = ['9007199254740993', '9007199254740992']
  const none = { created: 0, updated: 0, skipped: 0, refused: 0 }
  assert.deepEqual(await run('update', [`First,${one}`, `Next,${next}`]), { ...none, created: 2 })
  assert.deepEqual(await run('update', [`Renamed,${one}`]), { ...none, updated: 1 })
  assert.deepEqual(await run('skip', [`Skipped,${one}`]), { ...none, skipped: 1 })
  const names = await Promise.all(
    [one, next].map(async number => (await get(`${v1}/company/by/cf_ext/${number}`)).body.data.name),
  )
  assert.deepEqual(names, ['Renamed', 'Next'])
})

test('a row that tells one entry of a list leaves the others of the record', async () => {
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  const update = async (resource: string, by: string, file: string) => {
    const { id } = (await upload(resource, file)).body.data
    const plan = { duplicates: { by, action: 'update' } }
    assert.equal((await call('PATCH', `${v1}/import/${id}`, plan)).status, 200)
    const done = await told(id, 'run')
    assert.equal(done.refused, 0, JSON.stringify(done.problems))
    return done
  }
  const unit_price = [
    { currency: 'USD', unit_price: 10, tax: 5 },
    { currency: 'EUR', unit_price: 9 },
  ]
  await call('POST', `${v1}/product`, { name: 'Listed', product_code: 'L5', unit_price })
  const head = 'name,product_code,unit_price.price,unit_price.currency,unit_price.tax\n'
  const prices = async () =>
    (await get(`${v1}/product/by/product_code/L5`)).body.data.unit_price.map(
      (one: { [member: string]: Json }) => [one.currency_code, one.price, one.tax],
    )
  // Two rows about one record: the second sees the effect of the first.
  await update('product', 'product_code', `${head}Listed,L5,12,USD,\nListed,L5,7,GBP,2\nListed,L5,,EUR,3\n`)
  assert.deepEqual(await prices(), [
    ['USD', 12, 5],
    ['EUR', 9, 3],
    ['GBP', 7, 2],
  ])
  const whole = `{"name":"Listed","product_code":"L5","unit_price":[{"currency":"EUR","price":1}]}`
  const lines = (await upload('product', whole, '', 'application/x-ndjson', 'jsonl')).body.data
  await call('PATCH', `${v1}/import/${lines.id}`, { duplicates: { by: 'product_code', action: 'update' } })
  await told(lines.id, 'run')
  assert.deepEqual(await prices(), [['EUR', 1, null]])

  const fields = (await get(`${v1}/field/list?source=contact`)).body.data.fields.flat()
  const emails = fields.find((one: JsonObject) => one.internal_name === 'emails')
  await call('PATCH', `${v1}/field/${emails.id}`, { is_unique: true })
  const mails = ['one@lists.example', 'two@lists.example']
  await service.made('contact', {
    last_name: 'Listed',
    emails: mails.map(email_value => ({ email_type: 'home', email_value })),
    phones: [
      { phone_type: 'work', phone_number: '+49 30 11111' },
      { phone_type: 'mobile', phone_number: '+49 170 11111' },
    ],
  })
  const unchanged = await update('contact', 'emails', 'emails,phones\ntwo@lists.example,+49 (30) 11111\n')
  assert.equal(unchanged.unchanged, 1)
  await update(
    'contact',
    'emails',
    'emails.work,phones.mobile,phones\nTWO@lists.example,+49 170 22222,+49 30 33333\n',
  )
  const [contact] = (await get(`${v1}/contact/view/list?filter=last_name:eq(Listed)`)).body.data
  assert.deepEqual(
    contact.emails.map((one: JsonObject) => [one.email_type, one.email_value]),
    [
      [3, mails[0]],
      [1, mails[1]],
    ],
  )
  assert.deepEqual(
    contact.phones.map((one: JsonObject) => one.phone_number),
    ['+49 30 11111', '+49 170 22222', '+49 30 33333'],
  )
  await call('PATCH', `${v1}/field/${emails.id}`, { is_unique: false })
})

test('rows make no records anew where the field that tells them is unique no more', async () => {
  const field = { source: 'product', field_name: 'Teller', type: 'SINGLE_STRING', is_unique: true }
  const { id: fieldId, internal_name: by } = await service.made('field', field)
  const set = async (is_unique: boolean) =>
    assert.equal((await call('PATCH', `${v1}/field/${fieldId}`, { is_unique })).status, 200)
  const lines = Array.from({ length: 3000 }, (_, index) => `Told ${index},T${index}`)
  const { id } = (await upload('product', [`name,${by}`, ...lines].join('\n'))).body.data
  const say = (duplicates: JsonObject) => call('PATCH', `${v1}/import/${id}`, { duplicates })
  assert.equal((await say({ by, action: 'update' })).status, 200)
  await set(false)
  for (const action of ['dry_run', 'run']) {
    const { status, body } = await call('POST', `${v1}/import/${id}/${action}`)
    assert.deepEqual([status, body.errors[0].path], [422, '/duplicates/by'], JSON.stringify(body))
  }
  // While it is under way, too: what is left of it is not imported.
  await set(true)
  assert.equal((await call('POST', `${v1}/import/${id}/run`)).status, 200)
  assert.equal((await call('POST', `${v1}/import/${id}/pause`)).status, 200)
  await set(false)
  assert.equal((await call('POST', `${v1}/import/${id}/resume`)).status, 200)
  const failed = await ended(id)
  assert.deepEqual([failed.state, failed.refused], ['failed', 0], JSON.stringify(failed.problems))
  assert.match(failed.error, /no unique field/)
  assert.equal(await count('product', 'name:like(Told)'), failed.created)
})

test('a column whose field is gone since is open, and its values are not left out in silence', async () => {
  const field = { source: 'product', field_name: 'Gone', type: 'SINGLE_STRING' }
  const lines = Array.from({ length: 3000 }, (_, index) => `Kept ${index},G${index}`)
  const begun = async (rows: readonly string[]) => {
    const { id: fieldId, internal_name } = await service.made('field', field)
    const { id } = (await upload('product', [`name,${internal_name}`, ...rows].join('\n'))).body.data
    const remove = async () =>
      assert.equal((await call('DELETE', `${v1}/field/${fieldId}`)).status, 200, internal_name)
    const restore = async () =>
      assert.equal((await call('POST', `${v1}/field/${fieldId}/restore`)).status, 200)
    return { id, internal_name, remove, restore }
  }
  const { id, remove, restore } = await begun(['Kept,G'])
  await remove()
  for (const action of ['dry_run', 'run']) {
    const { status, body } = await call('POST', `${v1}/import/${id}/${action}`)
    assert.deepEqual([status, body.errors[0].path], [422, '/mapping'], JSON.stringify(body))
  }
  const { columns } = (await get(`${v1}/import/${id}`)).body.data
  assert.deepEqual([columns[0].state, columns[1].state], ['mapped', 'open'])
  // A field that is back serves again; without it the column is left out by choice.
  await restore()
  assert.equal((await told(id, 'dry_run')).state, 'waiting')
  await remove()
  assert.equal((await call('PATCH', `${v1}/import/${id}`, { confirm: true })).status, 200)
  assert.equal((await told(id, 'run')).created, 1)
  // While it is under way, too: what is left of it is not imported.
  field.field_name = 'Gone on the way'
  const long = await begun(lines)
  assert.equal((await call('POST', `${v1}/import/${long.id}/run`)).status, 200)
  assert.equal((await call('POST', `${v1}/import/${long.id}/pause`)).status, 200)
  await long.remove()
  assert.equal((await call('POST', `${v1}/import/${long.id}/resume`)).status, 200)
  const failed = await ended(long.id)
  assert.deepEqual([failed.state, failed.refused], ['failed', 0], JSON.stringify(failed.problems))
  assert.match(failed.error, /is not there any more/)
})

test('a value for all rows whose field is gone since is not left out in silence', async () => {
  const field = { source: 'product', field_name: 'Gone for all', type: 'SINGLE_STRING' }
  const { id: fieldId, internal_name: name } = await service.made('field', field)
  const setThere = async (is_active: boolean) =>
    assert.equal((await call('PATCH', `${v1}/field/${fieldId}`, { is_active })).status, 200)
  const remove = async () => assert.equal((await call('DELETE', `${v1}/field/${fieldId}`)).status, 200)
  const begun = async (rows: readonly string[]) => {
    const { id } = (await upload('product', ['name', ...rows].join('\n'))).body.data
    const changed = await call('PATCH', `${v1}/import/${id}`, {
      defaults: { [name]: 'Kept', description: 'S' },
    })
    assert.equal(changed.status, 200, changed.text)
    return id
  }
  const id = await begun(['Of all'])
  const long = await begun(Array.from({ length: 3000 }, (_, index) => `Of all ${index}`))
  assert.equal((await call('POST', `${v1}/import/${long}/run`)).status, 200)
  assert.equal((await call('POST', `${v1}/import/${long}/pause`)).status, 200)
  await setThere(false)
  for (const action of ['dry_run', 'run']) {
    const { status, body } = await call('POST', `${v1}/import/${id}/${action}`)
    const [{ path, code, hint }, ...more] = body.errors
    assert.deepEqual([status, path, code, more], [422, `/defaults/${name}`, 'unknown_field', []])
    assert.match(hint, new RegExp(`defaults with {"${name}": null}`))
  }
  // While it is under way, too.
  assert.equal((await call('POST', `${v1}/import/${long}/resume`)).status, 200)
  const failed = await ended(long)
  assert.deepEqual([failed.state, failed.refused], ['failed', 0], JSON.stringify(failed.problems))
  assert.match(failed.error, /value for all rows is not there any more/)
  // A field that is back serves again; without it the value is left out by choice.
  await setThere(true)
  assert.equal((await told(id, 'dry_run')).state, 'waiting')
  await remove()
  const change = (defaults: Json) => call('PATCH', `${v1}/import/${id}`, { defaults })
  assert.deepEqual((await change({ description: 'T' })).body.data.defaults, {
    [name]: 'Kept',
    description: 'T',
  })
  assert.equal((await call('POST', `${v1}/import/${id}/run`)).status, 422)
  assert.equal((await change({ [name]: 'Other' })).status, 422)
  assert.deepEqual((await change({ [name]: null })).body.data.defaults, { description: 'T' })
  assert.equal((await change({ [name]: null })).status, 422)
  assert.equal((await told(id, 'run')).created, 1)
})

test('a value for all rows whose field the role hides since is not named', async () => {
  const field = { source: 'product', field_name: 'Hidden for all', type: 'SINGLE_STRING' }
  const { internal_name: name } = await service.made('field', field)
  const scopes = ['product:read', 'product:write', 'import:write', 'job:read', 'job:write']
  const role = await service.made('role', { name: 'Hides for all', scopes })
  const user = await service.made('user', { name: 'Hal', email: 'hal@example.com', role: role.id })
  const { token } = await service.made('token', { name: 'Hal', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const { id } = (await importerOf({ ...service, token }).upload('product', 'name\nHidden')).body.data
  const change = (defaults: Json) => call('PATCH', `${v1}/import/${id}`, { defaults }, as)
  assert.equal((await change({ [name]: 'Kept' })).status, 200)
  await call('PATCH', `${v1}/role/${role.id}`, { hidden_fields: [`product.${name}`] })
  await eventually(async () => {
    const { text } = await call('GET', `${v1}/import/${id}`, undefined, as)
    return !text.includes(name)
  }, 'the role')
  const { status, body, text } = await call('POST', `${v1}/import/${id}/run`, undefined, as)
  assert.deepEqual([status, body.errors[0].path], [422, '/defaults'], text)
  assert.ok(!text.includes(name), text)
  assert.equal((await change({ [name]: null })).status, 200)
  assert.equal((await call('POST', `${v1}/import/${id}/run`, undefined, as)).status, 200)
})

test('a row says all that is wrong with it, as a request does', async () => {
  const file = `title,expected_close_date,pipeline,pipeline_stage,sales_owner\n,tbd,${pipeline},Nowhere,nobody@x.com\n`
  const { id } = (await upload('deal', file)).body.data
  const { problems } = (await told(id, 'dry_run')).problems[0]
  const said = problems.map((one: JsonObject) => [one.column, one.code])
  assert.deepEqual(said, [
    ['expected_close_date', 'unconvertible'],
    ['pipeline_stage', 'unknown_option'],
    ['sales_owner', 'reference_not_found'],
    ['title', 'required'],
    [undefined, 'required'],
  ])
})

test('how a file was read is said, and can be told', async () => {
  const found = (await upload('product', 'List of Jo\nname;product_code\nSaid;=\n')).body.data
  assert.deepEqual(found.source, { encoding: 'utf-8', delimiter: ';', header: 2 })
  const none = (await upload('product', 'Ä,1\n', '&header=0&encoding=utf-8&delimiter=,')).body.data
  assert.deepEqual([none.source.header, none.total, none.columns[0].name], [0, 1, 'Column 1'])
  const wrong = await upload('product', 'name\nA\n', '&header=first')
  assert.equal(wrong.status, 400, JSON.stringify(wrong.body))
  const cell = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`
  const book = zip(workbookFiles({ rows: cell('name') + cell('A') }))
  const sheet = (await upload('product', book, '&sheet=Sheet1', fileType, 'xlsx')).body.data
  assert.deepEqual(sheet.source, { sheet: 'Sheet1', header: 1 })
  assert.equal((await upload('product', book, '&sheet=Nowhere', fileType, 'xlsx')).status, 400)
  const text = (await upload('product', 'name\nA\n', '', fileType, 'xlsx')).body.data
  assert.equal(text.format, 'csv')
  const packed = await fetch(`${service.url}${v1}/import?resource=product&format=csv`, {
    ...{ method: 'POST', body: gzipSync('name\nA\n') },
    headers: {
      ...{ authorization: `Bearer ${service.token}`, 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    },
  })
  assert.equal(packed.status, 415)
})

test('what a file of its format can not have is refused, also where the format was found out', async () => {
  const book = zip(workbookFiles({ rows: '<row><c t="inlineStr"><is><t>name</t></is></c></row>' }))
  for (const [file, format, more, told] of [
    ['name\nA\n', 'csv', 'sheet=Sheet1', /CSV has no sheet\. Leave sheet out/],
    ['name\nA\n', 'xlsx', 'sheet=Sheet1', /CSV has no sheet/],
    ['{"name":"A"}\n', 'jsonl', 'sheet=Sheet1&delimiter=;', /JSONL has no delimiter and no sheet/],
    ['{"name":"A"}\n', 'jsonl', 'header=1', /JSONL has no header/],
    [book, 'csv', 'delimiter=,', /XLSX has no delimiter/],
    [book, 'xlsx', 'encoding=utf-8', /XLSX has no encoding/],
  ] as const) {
    const { status, body } = await upload('product', file, `&${more}`, fileType, format)
    assert.deepEqual([status, body.errors?.[0].code], [400, 'unreadable_file'], JSON.stringify(body))
    assert.match(body.detail, told)
  }
  // The encoding of a media type is often that of a program, whatever it sends.
  const rows = ['name', 'A'].map(text => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`).join('')
  const type = 'application/octet-stream; charset=utf-8'
  assert.equal((await upload('product', zip(workbookFiles({ rows })), '', type, 'xlsx')).status, 201)
})

test('who may not see an import does not make its changes wait', onServer, async () => {
  const { id } = (await upload('product', 'name\nWaits\n')).body.data
  const scopes = ['product:read', 'product:write', 'import:write']
  const user = (await call('POST', `${v1}/user`, { name: 'Other', email: 'other@example.com', role: 2 })).body
    .data.id
  const other = await call('POST', `${v1}/token`, { name: 'Other', user, scopes })
  const as = { authorization: `Bearer ${other.body.data.token}` }
  // A refusal that waited for the lock would never come: the lock ends after it.
  await db.sql.begin(async tx => {
    await tx.query('SELECT FROM job WHERE account_id = 1 AND id = $1::bigint FOR UPDATE', [String(id)])
    assert.equal((await call('PATCH', `${v1}/import/${id}`, {}, as)).status, 404)
    for (const action of ['run', 'dry_run', 'cancel', 'revert'])
      assert.equal((await call('POST', `${v1}/import/${id}/${action}`, undefined, as)).status, 404)
  })
})

test('what an updated record has is more than a value for all rows', async () => {
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  await call('POST', `${v1}/product`, { name: 'Kept', product_code: 'K1', description: 'Its own' })
  const { id } = (await upload('product', 'name,product_code\nKept,K1\nFresh,K2\n')).body.data
  const plan = { defaults: { description: 'Of all' }, duplicates: { by: 'product_code', action: 'update' } }
  assert.equal((await call('PATCH', `${v1}/import/${id}`, plan)).status, 200)
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.unchanged], [1, 1], JSON.stringify(done.problems))
  const of = async (code: string) =>
    (await get(`${v1}/product/by/product_code/${code}`)).body.data.description
  assert.deepEqual([await of('K1'), await of('K2')], ['Its own', 'Of all'])
  // An earlier row of the same step has made the record.
  const rows = ['name,product_code,description', 'Twice,K3,Of the first row', 'Twice,K3,', 'Fresh,K4,']
  const next = (await upload('product', rows.join('\n'))).body.data
  assert.equal((await call('PATCH', `${v1}/import/${next.id}`, plan)).status, 200)
  const again = await told(next.id, 'run')
  assert.deepEqual([again.created, again.unchanged], [2, 1], JSON.stringify(again.problems))
  assert.deepEqual([await of('K3'), await of('K4')], ['Of the first row', 'Of all'])
})

test('a row whose record is gone when it is written gets the values for all rows', onServer, async () => {
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  const { id: product } = await made('product', {
    name: 'Goes',
    product_code: 'Gone-1',
    description: 'Its own',
  })
  const { id } = (await upload('product', 'name,product_code\nGoes,Gone-1\n')).body.data
  const plan = { defaults: { description: 'Of all' }, duplicates: { by: 'product_code', action: 'update' } }
  assert.equal((await call('PATCH', `${v1}/import/${id}`, plan)).status, 200)
  await whileItWaits(
    db,
    () => call('POST', `${v1}/import/${id}/run`),
    update => update('product', product, { product_code: 'Gone-2' }),
  )
  assert.equal((await ended(id)).created, 1)
  const { description } = (await get(`${v1}/product/by/product_code/Gone-1`)).body.data
  assert.equal(description, 'Of all')
})

test('a change of a plan says each member that there is not', async () => {
  const { id } = (await upload('product', 'name\nOne\n')).body.data
  for (const [plan, ...paths] of [
    [{ duplicates: { by: null, acton: 'skip' } }, '/duplicates/acton'],
    [{ duplicates: { action: 'skip' } }, '/duplicates/by'],
    [{ formats: { datum: 'dmy' } }, '/formats/datum'],
    [{ values: { nosuch: { a: 'b' } } }, '/values/nosuch'],
    [{ mapping: [{ column: 0, field: 'name', x: 1 }] }, '/mapping/0/x'],
    [{ mapping: Array(1001).fill({ column: 0, field: 'name' }) }, '/mapping'],
    [{ Mapping: [] }, '/Mapping'],
  ] as [Json, ...string[]][]) {
    const { status, body } = await call('PATCH', `${v1}/import/${id}`, plan)
    assert.deepEqual([status, body.errors.map(({ path }: { path: string }) => path)], [422, paths])
  }
})

test('a plan grows to the size of a body at most', async () => {
  const { id } = (await upload('product', 'name\nOne\n')).body.data
  const values = (field: string, length: number) => ({ values: { [field]: { ['x'.repeat(length)]: null } } })
  const change = (plan: Json) => call('PATCH', `${v1}/import/${id}`, plan)
  assert.equal((await change(values('name', 600_000))).status, 200)
  const refused = await change(values('description', 600_000))
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/values too_long']])
  assert.equal((await change(values('name', 10))).status, 200)
  assert.equal((await change(values('description', 600_000))).status, 200)
})

test('each column is mapped or left out before a file is tried or imported', async () => {
  const file = 'name,Items left,Old no,Hue,id,Emtpy,Stoock\nOpen 1,5,x1,red,7,,3\n'
  const { id, columns } = (await upload('product', file)).body.data
  const stateOf = (all: { name: string; state: string; guess: string | null }[]) =>
    Object.fromEntries(all.map(({ name, state }) => [name, state]))
  assert.deepEqual(stateOf(columns), {
    ...{ name: 'mapped', 'Items left': 'open', 'Old no': 'open', Hue: 'open' },
    ...{ id: 'left_out', Emtpy: 'left_out', Stoock: 'open' },
  })
  assert.deepEqual(
    [columns[2].reason, columns[4].reason],
    ['No field has this name.', 'The field is read-only.'],
  )
  for (const action of ['dry_run', 'run']) {
    const refused = await call('POST', `${v1}/import/${id}/${action}`)
    assert.equal(refused.status, 422, refused.text)
    assert.deepEqual(
      refused.body.errors.map((one: { column: string; code: string }) => [one.column, one.code]),
      ['Items left', 'Old no', 'Hue', 'Stoock'].map(column => [column, 'required']),
    )
    assert.equal((await call('POST', `${v1}/job/${id}/${action}`)).status, 422)
  }
  const change = async (body: Json) => {
    const reply = await call('PATCH', `${v1}/import/${id}`, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data
  }
  // A mapping overrides the guess for the columns that it names.
  const named = await change({
    mapping: [
      { column: 0, field: 'name' },
      { column: 1, field: 'quantity_in_stock' },
      { column: 2, field: null },
    ],
  })
  assert.deepEqual(stateOf(named.columns), {
    ...{ name: 'mapped', 'Items left': 'mapped', 'Old no': 'left_out', Hue: 'open' },
    ...{ id: 'left_out', Emtpy: 'left_out', Stoock: 'open' },
  })
  assert.equal(named.columns[2].reason, null)
  assert.equal((await call('PATCH', `${v1}/import/${id}`, { confirm: 1 })).status, 422)
  const all = await change({ confirm: true })
  assert.ok(
    !all.columns.some(({ state }: { state: string }) => state === 'open'),
    JSON.stringify(all.columns),
  )
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.columns[3].state], [1, 'left_out'])
  // `confirm` accepts the guess of a column.
  const other = (await upload('contact', 'Last name,x\nDoe,jo@example.com\n')).body.data
  assert.deepEqual([other.columns[1].state, other.columns[1].guess], ['open', 'emails'])
  const taken = await call('PATCH', `${v1}/import/${other.id}`, { confirm: true })
  assert.deepEqual(taken.body.data.mapping.at(-1), { column: 1, field: 'emails' })
})

test('a unique field decides: skip, update or create', async () => {
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  await call('POST', `${v1}/product`, { name: 'There', product_code: 'D1' })
  const file = 'name,product_code\nFirst,d1\nSecond,D2\nThird,D2\nFourth,\n'
  const run = async (duplicates: Json) => {
    const made = await upload('product', file)
    const { id } = made.body.data
    const changed = await call('PATCH', `${v1}/import/${id}`, { duplicates })
    assert.equal(changed.status, 200, changed.text)
    return told(id, 'run')
  }
  const skipped = await run({ by: 'product_code', action: 'skip' })
  assert.deepEqual([skipped.created, skipped.skipped, skipped.refused], [2, 2, 0], JSON.stringify(skipped))
  assert.equal((await get(`${v1}/product/by/product_code/D1`)).body.data.name, 'There')
  const updated = await run({ by: 'product_code', action: 'update' })
  assert.deepEqual([updated.created, updated.updated, updated.unchanged], [1, 2, 1], JSON.stringify(updated))
  assert.equal((await get(`${v1}/product/by/product_code/D2`)).body.data.name, 'Third')
  const created = await run({ by: null, action: 'create' })
  assert.deepEqual([created.created, created.refused], [1, 3])
})

test('texts and numbers that the database can not keep are refused by themselves', async () => {
  const lines = [
    ...['{"name":"Half \\ud800"}', '{"name":"Whole \\ud83d\\ude00"}', '{"name":"Escaped \\\\ud800"}'],
    ...['{"name":"Huge","quantity_in_stock":1e200000}', '{"name":"Odd","k\\ud800":1}'],
    '{"name":"Deep","notes":{"a":[1e-200000]}}',
  ]
  const made = await upload('product', lines.join('\n'), '', 'application/x-ndjson', 'jsonl')
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const done = await told(made.body.data.id, 'run')
  assert.deepEqual([done.state, done.created, done.refused], ['done', 2, 4], JSON.stringify(done.problems))
  assert.deepEqual(
    done.problems.map(({ line }: { line: number }) => line),
    [1, 4, 5, 6],
  )
  assert.equal((await upload('product', 'name\nA\n', '&name=a%00b')).status, 400)
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const texts = ['name', 'a _xDC00_ b', 'Pair _xD83D__xDE00_', 'b _x0000_']
  const rows = texts.map(text => `<row>${cell(text)}</row>`).join('')
  const error = `<row><c t="e"><v>${'😀'.repeat(5)}#${'😀'.repeat(9)}</v></c></row>`
  const book = (sheet: string) => upload('tag', zip(workbookFiles({ rows: sheet })), '', fileType, 'xlsx')
  const sheet = await told((await book(rows + error)).body.data.id, 'run')
  assert.deepEqual([sheet.state, sheet.created, sheet.refused], ['done', 1, 3], JSON.stringify(sheet))
  assert.match(JSON.stringify(sheet.problems[0]), /Line 2: the row has half of a surrogate pair/)
  const named = await book(`<row>${cell('name _xD800_')}</row>`)
  assert.deepEqual([named.status, named.body.errors[0].code], [400, 'unreadable_file'])
  const quoted = await upload('tag', `{"name":  ${'😀'.repeat(40)}}`, '', 'application/x-ndjson', 'jsonl')
  assert.equal((await told(quoted.body.data.id, 'run')).refused, 1)
  const other = await upload('product', `name,category\n${'😀'.repeat(300)},x\n`)
  assert.deepEqual(other.body.data.columns[0].samples, [`${'😀'.repeat(100)}…`])
  for (const chosen of ['{"a\\u0000":1}', '{"x":"\\ud800"}', '{"x":1e200000}', '{"x":{"a":1}}']) {
    const changed = await call(
      'PATCH',
      `${v1}/import/${other.body.data.id}`,
      `{"values":{"category":${chosen}}}`,
    )
    assert.deepEqual([changed.status, changed.body.errors[0].code], [422, 'invalid_value'], changed.text)
  }
})

test('numbers of a sheet and of JSON keep their point beside texts with a comma', async () => {
  const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`
  const names = ['name', 'description', 'quantity_in_stock', 'unit_price.price', 'unit_price.currency']
  const cells = names.map((name, index) => text(`${'ABCDE'[index]}1`, name)).join('')
  const stock = `<c r="C2"><v>12</v></c><c r="D2"><v>1.125</v></c>${text('E2', 'BHD')}`
  const rows = `<row r="1">${cells}</row><row r="2">${text('A2', 'Sheet')}${text('B2', '2,5')}${stock}</row>`
  const sheet = await upload('product', zip(workbookFiles({ rows })), '', fileType, 'xlsx')
  const line = '{"name":"Line","description":"2,5","unit_price.price":1.234,"unit_price.currency":"BHD"}'
  const lines = await upload('product', line, '', 'application/x-ndjson', 'jsonl')
  for (const [made, price] of [
    [sheet, 1.125],
    [lines, 1.234],
  ] as const) {
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { id } = made.body.data
    // A decimal mark applies to texts, not to numbers of the file itself.
    await call('PATCH', `${v1}/import/${id}`, { formats: { decimal: ',' } })
    const done = await told(id, 'run')
    assert.equal(done.created, 1, JSON.stringify(done))
    const [product] = (await get(`${v1}/product/view/list?pageSize=1&sort=id:desc`)).body.data
    assert.equal(product.unit_price[0].price, price, JSON.stringify(product.unit_price))
  }
})

test('refused rows that are sent back as they are, are refused again', async () => {
  const errorsOf = async (id: number) => (await call('GET', `${v1}/import/${id}/errors.csv`)).text
  const file = 'name,description,product_code\nGood,x,G1\nAcme, Inc.,Boss,7\n"Acme", Inc.,Boss,8'
  const first = await upload('product', file)
  const done = await told(first.body.data.id, 'run')
  assert.deepEqual([done.created, done.refused], [1, 2], JSON.stringify(done))
  const refused = await errorsOf(done.id)
  assert.match(refused, /\r\nAcme," Inc\.",Boss,7,3,"?Line 3: /)
  const again = await told((await upload('product', refused)).body.data.id, 'run')
  assert.deepEqual([again.created, again.refused], [0, 2], JSON.stringify(again))
  const prices = 'name,unit_price.price,unit_price.currency\nA,"1.210,50",EUR\nB,2.500,NONE\n'
  const wrong = await told((await upload('product', prices)).body.data.id, 'run')
  assert.deepEqual([wrong.created, wrong.refused], [1, 1], JSON.stringify(wrong))
  const named = (await errorsOf(wrong.id)).replace('NONE', 'EUR')
  const open = (await upload('product', named)).body.data
  assert.deepEqual(open.formats, { unclear: ['decimal'] })
  const tried = await told(open.id, 'dry_run')
  assert.match(JSON.stringify(tried.problems), /may be two numbers/)
  await call('PATCH', `${v1}/import/${open.id}`, { formats: { decimal: ',' } })
  assert.equal((await told(open.id, 'run')).created, 1)
  const [product] = (await get(`${v1}/product/view/list?pageSize=1&sort=id:desc`)).body.data
  assert.equal(product.unit_price[0].price, 2500)
  const mended = refused.replaceAll('Acme," Inc."', '"Acme, Inc."')
  const last = await told((await upload('product', mended)).body.data.id, 'run')
  assert.deepEqual([last.created, last.refused], [2, 0], JSON.stringify(last))
})

test('a product of a file may have several prices, and each that is refused is told with its column', async () => {
  const field = { source: 'product', field_name: 'Part', type: 'SINGLE_STRING', is_unique: true }
  const { internal_name: part } = (await call('POST', `${v1}/field`, field)).body.data
  const file = 'Name,Part,Price USD,Price EUR\nTwo prices,TP-1,"$1,250.50",1100\nBelow zero,TP-2,5,-4\n'
  const made = (await upload('product', file)).body.data
  assert.deepEqual(
    made.mapping.map(({ field }: { field: string }) => field),
    ['name', part, 'unit_price.price.USD', 'unit_price.price.EUR'],
  )
  const target = made.targets.find(({ field }: { field: string }) => field === 'unit_price.price.EUR')
  assert.equal(target.label, 'Unit price: price in EUR')
  const done = await told(made.id, 'run')
  assert.deepEqual([done.created, done.refused], [1, 1], JSON.stringify(done))
  assert.equal(done.problems[0].problems[0].column, 'Price EUR')
  const pricesNow = async () => {
    const { data } = (await get(`${v1}/product/view/list?filter=${part}:eq(TP-1)`)).body
    return data[0].unit_price.map((one: JsonObject) => [one.currency_code, one.price])
  }
  assert.deepEqual(await pricesNow(), [
    ['USD', 1250.5],
    ['EUR', 1100],
  ])
  const next = (await upload('product', 'Name,Part,Price GBP,Price EUR\nTwo prices,TP-1,900,1050\n')).body
    .data
  const by = await call('PATCH', `${v1}/import/${next.id}`, { duplicates: { by: part, action: 'update' } })
  assert.equal(by.status, 200, by.text)
  const updated = await told(next.id, 'run')
  assert.deepEqual([updated.updated, updated.refused], [1, 0], JSON.stringify(updated))
  assert.deepEqual(await pricesNow(), [
    ['USD', 1250.5],
    ['EUR', 1050],
    ['GBP', 900],
  ])
})

test('a row that has lost a cell is refused, also where it is sent back as it is', async () => {
  const file = 'name,sku_number,product_code,description\nWhole,LC-1,C1,x\nCut,C2,\n'
  const first = await told((await upload('product', file)).body.data.id, 'run')
  assert.deepEqual([first.created, first.refused], [1, 1], JSON.stringify(first))
  const refused = (await call('GET', `${v1}/import/${first.id}/errors.csv`)).text
  const again = await told((await upload('product', refused)).body.data.id, 'run')
  assert.deepEqual([again.created, again.refused], [0, 1], JSON.stringify(again))
  const mended = refused.replace('Cut,C2', 'Cut,LC-2,C2')
  const last = await told((await upload('product', mended)).body.data.id, 'run')
  assert.deepEqual([last.created, last.refused], [1, 0], JSON.stringify(last))
})

test('the media type may say the encoding, and be that of our exports', async () => {
  const file = Buffer.from('name,description\nA,x\n\xb3\xf3d\xbc,y\n', 'latin1')
  const type = (charset: string) => `text/csv; charset=${charset}`
  const sampleOf = async (more: string, charset: string) =>
    (await upload('product', file, more, type(charset))).body.data.columns[0].samples[1]
  assert.equal(await sampleOf('', 'iso-8859-2'), 'łódź')
  assert.equal(await sampleOf('', '"ISO-8859-2"'), 'łódź')
  assert.equal(await sampleOf('&encoding=iso-8859-1', 'iso-8859-2'), '³ód¼')
  const unknown = await upload('product', file, '', type('klingon'))
  assert.deepEqual([unknown.status, unknown.body.errors[0].code], [400, 'unreadable_file'])
  assert.match(unknown.body.detail ?? unknown.body.message, /Choose utf-8/)
  assert.equal((await upload('product', file, '', type('iso-8859-2; charset=utf-8'))).status, 400)
  const exported = await fetch(`${service.url}${v1}/product/export?format=jsonl`, {
    headers: { authorization: `Bearer ${service.token}` },
  })
  const sent = exported.headers.get('content-type')!
  assert.equal((await upload('product', await exported.text(), '', sent, 'jsonl')).status, 201)
})

test('long rows are read a few at a time, and each refused one is named once', async () => {
  const long = 'x'.repeat(400_000)
  const rows = Array.from({ length: 12 }, (_, index) => `Long ${index},${index % 2 ? long : ''}${index}`)
  const made = await upload('product', ['name,description', ...rows].join('\n'))
  const { id } = made.body.data
  const longest = await db.query('SELECT max(length(columns::text))::text AS n FROM job')
  assert.ok(Number(longest[0]!.n) < 100_000, longest[0]!.n!)
  const read = await readRows(db, { account: 1, id }, 1, 10)
  assert.deepEqual([read[0]!.place, read.length < 10], [2, true], String(read.length))
  const done = await told(id, 'run')
  assert.deepEqual([done.done, done.created, done.refused], [12, 6, 6], JSON.stringify(done.error))
  const lines = done.problems.map((one: { place: number; line: number }) => [one.place, one.line])
  assert.deepEqual(
    lines,
    [2, 4, 6, 8, 10, 12].map(place => [place, place + 1]),
  )
  const file = await call('GET', `${v1}/import/${id}/errors.csv`)
  assert.deepEqual(
    file.text
      .trim()
      .split('\r\n')
      .slice(1)
      .map(line => line.slice(0, line.indexOf(','))),
    [1, 3, 5, 7, 9, 11].map(index => `Long ${index}`),
  )
})

test('a file whose connection breaks leaves nothing, and is no fault', async () => {
  const { host, hostname, port } = new URL(service.url)
  const kept = async () => Number((await db.query('SELECT count(*)::text AS n FROM job'))[0]!.n)
  const before = await kept()
  const socket = connect(Number(port), hostname)
  const target = `POST ${v1}/import?resource=product&format=csv HTTP/1.1`
  const length = 'content-type: text/csv\r\ncontent-length: 9999999'
  socket.write(`${target}\r\nhost: ${host}\r\nauthorization: Bearer ${service.token}\r\n${length}\r\n\r\n`)
  socket.write(`name\n${'Cut\n'.repeat(10_000)}`)
  await eventually(async () => (await kept()) > before, 'a job')
  // Until the connection breaks it can be cancelled, but nothing else.
  const [{ id }] = (await get(`${v1}/job?pageSize=1`)).body.data
  assert.equal((await call('POST', `${v1}/import/${id}/run`)).status, 409)
  assert.equal((await call('POST', `${v1}/import/${id}/cancel`)).body.data.state, 'cancelled')
  socket.destroy()
  await eventually(async () => (await kept()) === before, 'no job')
  assert.deepEqual(faults, [])
})

test('whose import it is is told what their role shows by now, whoever tried it', async () => {
  const made = async (resource: string, body: Json) => {
    const reply = await call('POST', `${v1}/${resource}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data
  }
  const twins = 'twins@example.com'
  for (const last_name of ['Anna', 'Berta'])
    await made('contact', { last_name, emails: [{ email_type: 1, email_value: twins }] })
  const body = { source: 'deal', field_name: 'Grade', type: 'SINGLE_NUMBER', config: { max: 10 } }
  const { internal_name: grade } = await made('field', body)
  const scopes = [
    'deal:read',
    'deal:write',
    'contact:read',
    'user:read',
    'import:write',
    'job:read',
    'job:write',
  ]
  const role = await made('role', { name: 'Imports', scopes, visibility: { deal: 'own', contact: 'own' } })
  const user = await made('user', { name: 'Imports', email: 'imports@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const theirs = importerOf({ ...service, token })
  const rows = [`Odd,${pipeline},New,${owner},${twins},`, `Odd,${pipeline},New,${owner},jo@example.com,55`]
  const file = [`title,pipeline,pipeline_stage,sales_owner,primary_contact.emails,${grade}`, ...rows].join(
    '\n',
  )
  const { id } = (await theirs.upload('deal', file)).body.data
  const plan = { values: { [grade]: { ten: 10 } }, defaults: { [grade]: 7 } }
  const changed = await call('PATCH', `${v1}/import/${id}`, plan, as)
  assert.equal(changed.status, 200, changed.text)
  const read = async () => (await call('GET', `${v1}/import/${id}`, undefined, as)).body.data
  const errors = async () => (await call('GET', `${v1}/import/${id}/errors.csv`, undefined, as)).text
  type Refused = { line: number; problems: { code: string; column?: string }[] }
  const saidOf = (problems: Refused[]) =>
    problems.map(({ line, problems: [first] }) => [line, first!.code, first!.column])
  const tried = await told(id, 'dry_run')
  assert.match(JSON.stringify(tried.problems), /"candidates":.*Anna/)
  const own = await read()
  assert.match(JSON.stringify(tried.problems), /which is the name of 2 contacts/)
  assert.doesNotMatch(JSON.stringify(own.problems), /candidates|Anna|2 contacts/)
  assert.match(JSON.stringify(own.problems), /which is the name of several contacts; give one/)
  assert.deepEqual(saidOf(own.problems), [
    [2, 'ambiguous_reference', 'primary_contact.emails'],
    [3, 'out_of_range', grade],
  ])
  assert.deepEqual(saidOf(own.problems), saidOf(tried.problems))
  assert.match(await errors(), /must be at most 10/)
  await call('PATCH', `${v1}/role/${role.id}`, { hidden_fields: [`deal.${grade}`] })
  await sleep(1100)
  const { columns: _, ...narrowed } = await read()
  assert.ok(!JSON.stringify(narrowed).includes(grade), JSON.stringify(narrowed))
  assert.deepEqual(saidOf(narrowed.problems)[1], [3, 'not_allowed', undefined])
  assert.equal(narrowed.mapping.length, 5)
  const [, ...lines] = (await errors()).split('\n')
  assert.match(lines[1]!, /A rule does not allow this record/)
  assert.ok(!lines.join().includes(grade), lines.join())
})

test('whose import it is is not told what a linked record has, by the counts of an administrator', async () => {
  const { made } = service
  const names = ['company', 'contact', 'deal', 'job'].flatMap(name => [`${name}:read`, `${name}:write`])
  const scopes = [...names, 'user:read', 'import:write']
  const hidden = { hidden_fields: ['company.website'] }
  const role = await made('role', { name: 'No websites', scopes, ...hidden })
  const email = 'no.websites@example.com'
  const user = await made('user', { name: 'No websites', email, role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const theirs = importerOf({
    ...{ ...service, token, call: (method, path, body) => call(method, path, body, as) },
    get: path => call('GET', path, undefined, as),
  })
  await made('company', {
    name: 'Counted Ltd',
    website: 'https://counted.example',
    address: { city: 'Bonn' },
  })
  const { id: contact } = await made('contact', { last_name: 'Counted' })
  const row = (company: { [member: string]: Json }) => ({
    ...{ title: 'Counted', pipeline, pipeline_stage: 'New', sales_owner: owner, primary_contact: contact },
    company: { find_by: 'name', name: 'Counted Ltd', ...company },
  })
  const file = [row({ website: 'https://guess.example' }), row({ address: { city: 'Rome' } })]
  const lines = file.map(one => JSON.stringify(one)).join('\n')
  const { id } = (await theirs.upload('deal', lines, '', 'application/jsonl', 'jsonl')).body.data
  const tried = await told(id, 'dry_run')
  assert.deepEqual([tried.not_taken, tried.result.dry_run.not_taken], [{ company: 2 }, { company: 2 }])
  const read = async (path: string) =>
    [(await call('GET', `${v1}/${path}`, undefined, as)).body.data].flat()[0]
  for (const path of [`import/${id}`, `job/${id}`, 'job?pageSize=1']) {
    const { not_taken, result } = await read(path)
    assert.deepEqual([not_taken, result.dry_run.not_taken, result.dry_run.created], [{}, {}, 2], path)
    assert.ok(!('seen_by' in result.dry_run))
  }
  // Their own phase counts what they see; the result of the other one stays untold.
  const done = await theirs.told(id, 'run')
  assert.deepEqual(
    [done.not_taken, done.result.run.not_taken, done.result.dry_run.not_taken],
    [{ company: 1 }, { company: 1 }, {}],
  )
})

test('what may not be read is neither guessed nor taken', async () => {
  const scopes = ['deal:read', 'deal:write', 'import:write']
  const { token } = (await call('POST', `${v1}/token`, { name: 'Deals only', scopes })).body.data
  const file = ['title,Company', 'One,Acme'].join('\n')
  const as = { authorization: `Bearer ${token}` }
  const sent = await fetch(`${service.url}${v1}/import?resource=deal&format=csv`, {
    ...{ method: 'POST', body: file, headers: { ...as, 'content-type': 'text/csv' } },
  })
  const { data } = (await sent.json()) as {
    data: { id: number; targets: { field: string }[]; mapping: Json }
  }
  const targets = data.targets.map(({ field }) => field)
  assert.ok(
    targets.includes('company') && !targets.some(field => /^company\.|^primary_contact\./.test(field)),
  )
  assert.deepEqual(data.mapping, [{ column: 0, field: 'title' }])
  const mapping = [{ column: 1, field: 'company.name' }]
  const changed = await call('PATCH', `${v1}/import/${data.id}`, { mapping }, as)
  assert.deepEqual([changed.status, changed.body.errors[0].path], [422, '/mapping/0/field'])
  // Callers who may read companies see them.
  const whole = (await get(`${v1}/import/${data.id}`)).body.data.targets
  assert.ok(whole.some(({ field }: { field: string }) => field === 'company.name'))
})
