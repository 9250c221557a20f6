/** Tags and territories unknown to an import (D80): first reported, then created, mapped or left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { importerOf } from '../support/import-jobs.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, made, known } = service
const { upload, told } = importerOf(service)
const head = 'title,pipeline,pipeline_stage,sales_owner,primary_contact,tags,territory'
const row = (title: string, tags: string, territory = '') =>
  [title, known.pipeline, 'New', known.owner, known.contact, tags, territory].join()
const key = await made('tag', { name: 'Flagship' })
const north = await made('territory', { name: 'Norrland' })
type Told = { field: string; texts: { text: string; guess: Json }[] }
const toMap = (job: { values_to_map: Told[] }) =>
  Object.fromEntries(job.values_to_map.map(({ field, texts }) => [field, texts]))

test('unknown tags are told beforehand, each with what it may mean', async () => {
  const rows = [
    row('T1', 'Flagship; Resold by', 'Norrland'),
    row('T2', '"Resold by, flagshp, FLAGSHIP"', 'Norrlan'),
    row('T3', `${key.id}; Old`),
  ]
  const job = (await upload('deal', [head, ...rows].join('\n'))).body.data
  const texts = toMap(job)
  assert.deepEqual(texts.tags, [
    { text: 'Resold by', guess: null },
    { text: 'flagshp', guess: key.id },
    { text: 'Old', guess: null },
  ])
  assert.deepEqual(texts.territory, [{ text: 'Norrlan', guess: north.id }])
  // One is created, one is mapped, and one is left out.
  const partner = await made('tag', { name: 'Resold by' })
  const values = { tags: { flagshp: key.id, Old: null }, territory: { Norrlan: north.id } }
  const changed = await call('PATCH', `${v1}/import/${job.id}`, { values })
  assert.ok(!toMap(changed.body.data).tags?.some(({ text }) => text === 'Resold by'))
  const done = await told(job.id, 'run')
  assert.deepEqual([done.created, done.refused], [3, 0], JSON.stringify(done.problems))
  const { data } = (await get(`${v1}/deal/view/list?filter=title:in(T1,T2,T3)&sort=title:asc`)).body
  assert.deepEqual(
    data.map((deal: { tags: number[]; territory: number | null }) => [deal.tags, deal.territory]),
    [
      [[key.id, partner.id], north.id],
      [[partner.id, key.id], north.id],
      [[key.id], null],
    ],
  )
})

test('those of lists as JSON are told, too, also with a comma in their names', async () => {
  const line = { title: 'J', tags: ['Flagship', 'Big, bold', 'Small'] }
  const { body } = await upload('deal', JSON.stringify(line), '', 'application/x-ndjson', 'jsonl')
  assert.deepEqual(
    toMap(body.data).tags?.map(({ text }) => text),
    ['Big, bold', 'Small'],
  )
})

test('of what the importer may not read no text is called unknown', async () => {
  const scopes = ['deal:read', 'deal:write', 'import:write', 'pipeline:read', 'pipeline_stage:read']
  const { token } = await made('token', { name: 'No tags', scopes })
  const as = importerOf({ ...service, token })
  const { body } = await as.upload('deal', `${head}\n${row('U', 'Unseen')}`)
  assert.deepEqual(toMap(body.data), {})
})

test('a row of JSON with an object or a number beyond a double in it is refused, not the import', async () => {
  const body = { name: 'Held', product_code: 'HELD', unit_price: [{ currency: 'USD', unit_price: 1 }] }
  await made('product', body)
  const { id: code } = (await get(`${v1}/field/list?source=product`)).body.data.fields
    .flat()
    .find((field: { internal_name: string }) => field.internal_name === 'product_code')
  assert.equal((await call('PATCH', `${v1}/field/${code}`, { is_unique: true })).status, 200)
  for (const value of ['{"toString":1}', '9007199254740993']) {
    const own = '"product_code":"HELD","name":"Held"'
    for (const line of [
      `{${own},"unit_price":{"currency":${value},"unit_price":1},"Price (USD)":1}`,
      `{${own},"created_at":${value}}`,
    ]) {
      const { body } = await upload('product', line, '', 'application/x-ndjson', 'jsonl')
      const { id } = body.data
      const duplicates = { by: 'product_code', action: 'update' }
      const changed = await call('PATCH', `${v1}/import/${id}`, { duplicates })
      assert.equal(changed.status, 200, changed.text)
      const done = await told(id, 'run')
      assert.deepEqual([done.state, done.refused], ['done', 1], `${line}: ${JSON.stringify(done)}`)
    }
  }
  const found = '{"first_name":"Finder","company":{"name":"Zed","find_by":{"toString":1}}}'
  const { id } = (await upload('contact', found, '', 'application/x-ndjson', 'jsonl')).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.state, done.refused], ['done', 1], JSON.stringify(done))
})
