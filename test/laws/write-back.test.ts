/**
 * Writing back a whole record that was read changes nothing: no version, no event. Every record of every
 * resource, odd ones too.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameJson, type Json, jsonNumber, parseJson } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { sampleBody } from '../support/samples.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, db, get, known } = await startService()
const made = async (resource: string, body: Json, status = 201) => {
  const reply = await call(status === 201 ? 'POST' : 'PATCH', `${v1}/${resource}`, body)
  assert.equal(reply.status, status, reply.text)
  return reply.body.data
}

// Deals whose references are deleted or deactivated, numbers that are spelt in several ways, and rates of a
// millionth of a millionth.
const prices = [{ currency: 'USD', unit_price: '0.01', tax: '0.000001', discount: 99.999999 }]
const product = await made('product', {
  name: 'Sensor',
  product_code: 12345,
  unit_price: prices,
  quantity_in_stock: jsonNumber('9999999999999999'),
})
const contact = await made('contact', {
  last_name: 'Gone',
  company: { name: 'Gone' },
  phones: [{ phone_type: 'fax', phone_number: '12345' }],
})
await made('currency/986', { rate: 1e-7 }, 200)
await made('currency/124', { rate: jsonNumber('123456789.000000000001') }, 200)
const lines = [
  { product: product.id, quantity: '0.000001' },
  { product: product.id, quantity: jsonNumber('9999999998.999999'), unit_price: '0.10', discount: 100 },
]
const metadata = {
  b: 1,
  a: [1e-7, jsonNumber('0.1000000000000000055511151231257827'), -1e21],
  '': { z: null, y: false },
}
await made(
  'deal',
  dealBody(known, { deal_value: { currency: 'BRL', value: '0.01' }, metadata, cf_custom_number_field: 1e-7 }),
)
await made(
  'deal',
  dealBody(known, {
    deal_value: { currency: 'USD', products: lines },
    related_contacts: [contact.id, known.contact],
  }),
)
await made(
  'deal',
  dealBody(known, {
    expected_deal_value: { currency: 'KWD', value: jsonNumber('9999999999999') },
    cf_custom_monetory_field: { currency: 'USD', value: '0.01' },
  }),
)
await made(
  'deal',
  dealBody(known, { pipeline_stage: known.stages.Won!, won_reason: 'Price', deal_closed_on: '0001-01-01' }),
)
await call('DELETE', `${v1}/product/${product.id}`)

for (const each of resources) {
  const { name: resource } = each
  test(`${resource}: reading a record and writing it back whole changes nothing`, async () => {
    const seq = async () =>
      (await db.query('SELECT last_seq::text AS seq FROM counter WHERE account_id = 1'))[0]!.seq
    const first = await get(`${v1}/${resource}/view/list?pageSize=1`)
    if (first.body.data.length === 0) await made(resource, await sampleBody({ get, known }, each))
    const before = await seq()
    // Only active currencies: a changed rate is applied to each of them.
    const only = resource === 'currency' ? '&filter=rate:notnull(true)' : ''
    let count = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await get(
        `${v1}/${resource}/view/list?pageSize=100&count=none${only}${cursor && `&cursor=${cursor}`}`,
      )
      for (const record of page.body.data) {
        const data = await made(`${resource}/${record.id}`, record, 200)
        assert.ok(isSameJson(data, record), JSON.stringify([record, data]))
        count++
      }
      cursor = page.body.meta.nextCursor
    }
    assert.ok(count > 0)
    assert.equal(await seq(), before)
  })
}

test('a value is the same however it is spelt', async () => {
  const deal = await made(
    'deal',
    dealBody(known, { cf_custom_number_field: 1e-7, metadata: { n: 1, m: { a: 1, b: 2 } } }),
  )
  for (const body of [
    '{"cf_custom_number_field": 0.0000001}',
    '{"cf_custom_number_field": 1.000e-7}',
    '{"cf_custom_number_field": 0.00000010000000000}',
    '{"metadata": {"m": {"b": 2.0, "a": 1e0}, "n": 1.0}}',
    '{"metadata": {"n": 100e-2, "m": {"a": 1.00000000000000000000, "b": 2}}}',
  ]) {
    const data = await made(`deal/${deal.id}`, body as Json, 200)
    assert.equal(data.version, 1, body)
  }
  const other = await made(
    `deal/${deal.id}`,
    parseJson('{"metadata": {"n": 1.00000000000000000001, "m": {"a": 1, "b": 2}}}'),
    200,
  )
  assert.equal(other.version, 2)
})
