/** Exports with ambiguous names of records (D81), imported again (D80): nothing wrong is linked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importerOf } from '../support/import-jobs.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, made, known } = service
const { upload, told } = importerOf(service)
const types = { csv: 'text/csv', jsonl: 'application/x-ndjson' }
const fields = 'title,pipeline,pipeline_stage,primary_contact,related_contacts,company,sales_owner'

async function exported(format: keyof typeof types, ...ids: number[]): Promise<string> {
  const query = `format=${format}&names=1&filter=id:in(${ids})&sort=id:asc&fields=${fields}`
  return (await get(`${v1}/deal/export?${query}`)).text
}

async function imported(format: keyof typeof types, file: string) {
  const { body } = await upload('deal', file, '', types[format], format)
  await call('PATCH', `${v1}/import/${body.data.id}`, { confirm: true })
  return told(body.data.id, 'run')
}

/** The newest deals, oldest first. */
async function last(count: number) {
  return (await get(`${v1}/deal/view/list?sort=id:desc&pageSize=${count}`)).body.data.toReversed()
}

const deal = async (body: object) => (await made('deal', dealBody(known, { title: 'Again', ...body }))).id
const contact = (last_name: string, email?: string) =>
  made('contact', {
    ...{ first_name: 'Kim', last_name },
    ...(email ? { emails: [{ email_type: 'work', email_value: email }] } : {}),
  })
const count = async (resource: string, filter = '') =>
  (await get(`${v1}/${resource}/view/list?pageSize=1&count=exact${filter}`)).body.meta.total

test('e-mails beside names, and ids of what is called by digits, find their records again', async () => {
  const [plain, mailed] = [await contact('Zum'), await contact('Vom', 'kim.vom@again.example')]
  const digits = await made('company', { name: '4711' })
  const named = await made('company', { name: 'Again & Sons' })
  const people = [plain.id, mailed.id]
  const ids = [
    await deal({ primary_contact: plain.id, company: digits.id, related_contacts: people }),
    await deal({ primary_contact: mailed.id, company: named.id }),
  ]
  const before = [await count('contact'), await count('company')]
  for (const format of ['csv', 'jsonl'] as const) {
    const done = await imported(format, await exported(format, ...ids))
    assert.deepEqual([done.created, done.refused, done.related], [2, 0, 0], JSON.stringify(done.problems))
    const deals = await last(2)
    assert.deepEqual(
      deals.map((one: { primary_contact: number; company: number }) => [one.primary_contact, one.company]),
      [
        [plain.id, digits.id],
        [mailed.id, named.id],
      ],
    )
    assert.deepEqual(deals[0].related_contacts.toSorted(), people)
  }
  assert.deepEqual([await count('contact'), await count('company')], before)
})

test('a name of several is refused with who has it, and an id in its place is taken', async () => {
  const [one, other] = [
    await made('company', { name: 'Twin Ltd' }),
    await made('company', { name: 'Twin Ltd' }),
  ]
  const [kim, twin] = [await contact('Twin'), await contact('Twin')]
  const [ann, bob] = [await contact('Ann', 'both@again.example'), await contact('Bob', 'both@again.example')]
  const ids = [
    await deal({ company: one.id }),
    await deal({ primary_contact: twin.id }),
    await deal({ primary_contact: bob.id, related_contacts: [kim.id] }),
    await deal({ company: known.company }),
  ]
  for (const format of ['csv', 'jsonl'] as const) {
    const { refused, created, problems, id } = await imported(format, await exported(format, ...ids))
    assert.deepEqual([created, refused], [1, 3], JSON.stringify(problems))
    const said = problems.flatMap(
      (row: { problems: { code: string; path: string; candidates: object[] }[] }) =>
        row.problems.map(({ code, path, candidates }) => ({ code, path, candidates })),
    )
    const twins = (...all: { id: number }[]) => all.map(({ id }) => id)
    for (const [path, candidates] of [
      ['/company', twins(one, other)],
      ['/primary_contact', twins(kim, twin)],
      ['/primary_contact', twins(ann, bob)],
      ['/related_contacts/0', twins(kim, twin)],
    ] as const) {
      const found = said.find(
        (told: { path: string; candidates: { id: number }[] }) =>
          told.path === path && String(twins(...told.candidates)) === String(candidates),
      )
      assert.equal(found?.code, 'ambiguous_reference', `${path} ${JSON.stringify(said)}`)
    }
    const file = (await get(`${v1}/import/${id}/errors.csv`)).text
    assert.ok(file.includes(`There are: ${one.id} Twin Ltd, ${other.id} Twin Ltd. Write the id`), file)
    // Rows corrected by ids are accepted, beside names that find their records.
    const mended = file
      .replaceAll(/(?<=[,;"[ ])Twin Ltd(?=[,";\r\n])/g, String(other.id))
      .replaceAll(/(?<=[,;"[ ])Kim Twin(?=[,";\]\r\n])/g, String(twin.id))
      .replaceAll(/(?<=[,;"[ ])both@again.example(?=[,";\]\r\n])/g, String(bob.id))
    const again = await imported('csv', mended)
    assert.deepEqual([again.created, again.refused], [3, 0], JSON.stringify(again.problems))
    const [first, second, third] = await last(3)
    assert.deepEqual(
      [first.company, second.primary_contact, third.primary_contact, third.related_contacts],
      [other.id, twin.id, bob.id, [twin.id]],
    )
  }
  assert.equal(await count('company', '&filter=name:like(Twin)'), 2)
})

test('an id that is none is refused, and makes no record of that name', async () => {
  const ids = [await deal({ company: known.company }), await deal({})]
  const rows = (await exported('csv', ...ids)).split('\r\n')
  const name = (await get(`${v1}/company/${known.company}`)).body.data.name
  const file = [rows[0], rows[1], rows[1]!.replace(name, '99999999')].join('\r\n')
  const done = await imported('csv', file)
  assert.deepEqual([done.created, done.refused], [1, 1], JSON.stringify(done.problems))
  assert.equal(done.problems[0].problems[0].code, 'reference_not_found')
  assert.equal(await count('company', '&filter=name:eq(99999999)'), 0)
})

test('a column of another system has names of digits, which are names', async () => {
  const contactName = (await get(`${v1}/contact/${known.contact}`)).body.data.emails[0].email_value
  const head = 'Deal Name,Pipeline,Stage,Owner,Contact,Company'
  const pipeline = (await get(`${v1}/pipeline/${known.pipeline}`)).body.data.name
  const owner = (await get(`${v1}/user/${known.owner}`)).body.data.email
  const row = (title: string, company: string) => [title, pipeline, 'New', owner, contactName, company].join()
  const done = await imported('csv', [head, row('Film', 'Nineteen'), row('Book', '1984')].join('\n'))
  assert.deepEqual([done.created, done.refused], [2, 0], JSON.stringify(done.problems))
  assert.equal(await count('company', '&filter=name:eq(1984)'), 1)
})
