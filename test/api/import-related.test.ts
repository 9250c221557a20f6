/** Contacts and companies that rows of an import name (D80): made with their record, or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importerOf } from '../support/import-jobs.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get } = service
const { upload, told, count } = importerOf(service)
const pipeline = (await get(`${v1}/pipeline/view/list?pageSize=1`)).body.data[0].name
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
