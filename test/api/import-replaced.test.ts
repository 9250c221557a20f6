/** Entries that records lose when an import replaces their lists (D80): counted by column, by the dry run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importerOf } from '../support/import-jobs.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, made, known } = service
const { upload } = importerOf(service)
const key = (source: string) =>
  made('field', { source, field_name: 'Key', type: 'SINGLE_STRING', is_unique: true })
for (const source of ['product', 'contact', 'company', 'deal']) await key(source)

/** An import of lines that updates by the key: its dry run and its run. */
async function replaced(resource: string, lines: readonly object[], from = importerOf(service)) {
  const file = lines.map(line => JSON.stringify(line)).join('\n')
  const { body } = await from.upload(resource, file, '', 'application/x-ndjson', 'jsonl')
  return tried(body.data.id, from)
}

async function tried(id: number, from = importerOf(service)) {
  const duplicates = { by: 'cf_key', action: 'update' }
  assert.equal((await call('PATCH', `${v1}/import/${id}`, { duplicates })).status, 200)
  const before = await from.told(id, 'dry_run')
  const { result, problems } = await from.told(id, 'run')
  assert.deepEqual(result.run.replaced, before.replaced, JSON.stringify(problems))
  return before.replaced
}

test('prices, e-mails, numbers and lines of a list as JSON that go are counted', async () => {
  const unit_price = [
    { currency: 'USD', unit_price: 10 },
    { currency: 'EUR', unit_price: 9 },
    { currency: 'GBP', unit_price: 8 },
  ]
  const product = await made('product', { name: 'Priced', cf_key: 'P', unit_price })
  await made('contact', {
    ...{ last_name: 'Listed', cf_key: 'C' },
    emails: ['one@gone.example', 'two@gone.example'].map(email_value => ({
      email_type: 'work',
      email_value,
    })),
    phones: [{ phone_type: 'work', phone_number: '+49 30 11111' }],
  })
  const prices = [{ currency: 'EUR', unit_price: 5 }]
  assert.deepEqual(await replaced('product', [{ cf_key: 'P', unit_price: prices }]), { unit_price: 2 })
  assert.deepEqual(
    await replaced('contact', [
      {
        ...{ cf_key: 'C', emails: [{ email_type: 'home', email_value: 'TWO@gone.example' }] },
        ...{
          phones: [{ phone_type: 'mobile', phone_number: '+49 (30) 11111' }],
        },
      },
    ]),
    { emails: 1 },
  )
  await made('company', { name: 'Housed', cf_key: 'H', address: { city: 'Bern', zipcode: '3000' } })
  assert.deepEqual(await replaced('company', [{ cf_key: 'H', address: [{ city: 'Basel' }] }]), { address: 1 })
  const deal_value = { currency: 'EUR', products: [{ product: product.id, quantity: 1 }] }
  await made('deal', dealBody(known, { title: 'Lined', cf_key: 'D', deal_value }))
  const line = { cf_key: 'D', deal_value: { currency: 'EUR', value: 5, products: [] } }
  assert.deepEqual(await replaced('deal', [line]), { deal_value: 1 })
})

test('a column that holds a whole list replaces it, and one that tells an entry replaces nothing', async () => {
  const [one, two] = [await made('tag', { name: 'Gone one' }), await made('tag', { name: 'Gone two' })]
  await made('deal', dealBody(known, { title: 'Tagged', cf_key: 'T', tags: [one.id, two.id] }))
  const { id } = (await upload('deal', 'cf_key,Labels\nT,Gone two\n')).body.data
  const mapping = [
    { column: 0, field: 'cf_key' },
    { column: 1, field: 'tags' },
  ]
  await call('PATCH', `${v1}/import/${id}`, { mapping })
  assert.deepEqual(await tried(id), { Labels: 1 })
  const emails = (await upload('contact', 'cf_key,emails\nC,three@gone.example\n')).body.data
  assert.deepEqual(await tried(emails.id), {})
  const [contact] = (await get(`${v1}/contact/view/list?filter=cf_key:eq(C)`)).body.data
  assert.equal(contact.emails.length, 2)
})

test('rows that are refused count nothing, and several about one record count what is gone in the end', async () => {
  const tag = await made('tag', { name: 'Last' })
  await made('deal', dealBody(known, { title: 'Twice', cf_key: 'W', tags: [tag.id] }))
  const stage = 'pipeline_stage'
  assert.deepEqual(await replaced('deal', [{ cf_key: 'W', tags: [], [stage]: 'Nowhere' }]), {})
  assert.deepEqual(
    await replaced('deal', [
      { cf_key: 'W', tags: [], [stage]: 'No' },
      { cf_key: 'W', tags: [] },
    ]),
    {
      tags: 1,
    },
  )
  await call('PATCH', `${v1}/deal/by/cf_key/W`, { tags: [tag.id] })
  assert.deepEqual(
    await replaced('deal', [
      { cf_key: 'W', tags: [] },
      { cf_key: 'W', tags: ['Last'] },
    ]),
    {},
  )
})
