/** Chapter: Product; and exact numbers end to end (D14). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { problemsOf, startService, v1 } from '../support/service.ts'

const { call, get, known, db } = await startService()
const create = (members: object) =>
  call('POST', `${v1}/product`, JSON.stringify({ name: 'A product', ...members }))

test('every writable field is stored and returned', async () => {
  const { status, body, text } = await create({
    product_code: 42,
    category: 'software',
    unit_price: [
      { currency: 'USD', unit_price: '49.90', tax: '8.5', discount: 5 },
      { currency: 392, price: 7400 },
    ],
    active: false,
    taxable: 'yes',
    quantity_ordered: 0,
    quantity_in_stock: 12.5,
    description: 'x',
    type: 2,
    sku_number: 9007199254740,
    valid_till: '2027-12-31T23:59:59+01:00',
    sales_owner: known.owner,
  })
  assert.equal(status, 201, text)
  const { data } = body
  assert.deepEqual(
    [data.product_code, data.active, data.taxable, data.type, data.sku_number, data.valid_till],
    ['42', 2, 1, 2, '9007199254740', '2027-12-31T22:59:59.000Z'],
  )
  assert.deepEqual(data.unit_price[1], {
    currency: 392,
    currency_code: 'JPY',
    price: 7400,
    tax: null,
    discount: null,
  })
  assert.deepEqual(data.base_currency_amount, { currency: 840, currency_code: 'USD', value: 49.9 })
  assert.ok(data.last_assigned_at)
  assert.deepEqual((await get(`${v1}/product/${data.id}`)).body.data, data)
  const changed = await call('PATCH', `${v1}/product/${data.id}`, {
    unit_price: [{ currency: 'JPY', unit_price: 1000 }],
  })
  assert.deepEqual(changed.body.data.base_currency_amount, {
    currency: 840,
    currency_code: 'USD',
    value: 6.7,
  })
})

test('a new product is active unless said otherwise, and only the name is needed', async () => {
  assert.equal((await create({})).body.data.active, 1)
  assert.equal((await create({ active: null })).body.data.active, null)
  assert.deepEqual(problemsOf(await create({ name: '  ' })), ['/name required'])
})

test('limits, at the bound and one past it', async () => {
  assert.equal(
    (await create({ name: 'n'.repeat(255), product_code: 'c'.repeat(20), sku_number: 's'.repeat(16) }))
      .status,
    201,
  )
  assert.deepEqual(
    problemsOf(
      await create({
        name: 'n'.repeat(256),
        product_code: 'c'.repeat(21),
        sku_number: 's'.repeat(17),
        quantity_ordered: -1,
        category: 'Nope',
        type: 3,
      }),
    ),
    [
      '/category unknown_option',
      '/name too_long',
      '/product_code too_long',
      '/quantity_ordered out_of_range',
      '/sku_number too_long',
      '/type unknown_option',
    ],
  )
})

test('every problem of prices is told at once, and none is dropped', async () => {
  const usd = { currency: 'USD', unit_price: 1 }
  const refused = async (unit_price: Json) => problemsOf(await create({ name: 'Priced', unit_price }))
  assert.deepEqual(await refused([usd, { ...usd, tax: 101 }, usd, { currency: 'EUR' }, { unit_price: 1 }]), [
    '/unit_price/1/currency duplicate_currency',
    '/unit_price/1/tax out_of_range',
    '/unit_price/2/currency duplicate_currency',
    '/unit_price/3/unit_price required',
    '/unit_price/4/currency required',
  ])
  for (const price of ['abc', {}, '', 2])
    assert.deepEqual(await refused([{ ...usd, price }]), ['/unit_price/0/price contradiction'])
  assert.deepEqual(await refused([{ ...usd, unit_price: 'abc', price: 'abc' }]), [
    '/unit_price/0/unit_price wrong_type',
  ])
  assert.deepEqual(await refused([{ currency: 'USD', price: 'abc' }]), ['/unit_price/0/price wrong_type'])
  const equal = [
    { ...usd, price: '1.00' },
    { ...usd, currency: 'EUR', price: null },
  ]
  assert.equal((await create({ name: 'Priced', unit_price: equal })).status, 201)
})

test('9999999999999999 survives request, database, filter and answer, digit for digit', async () => {
  const big = '9999999999999999'
  const created = await call(
    'POST',
    `${v1}/product`,
    `{"name":"Grains of sand","quantity_in_stock":${big},"metadata":{"exact":12345678901234567890.5}}`,
  )
  assert.equal(created.status, 201, created.text)
  for (const text of [created.text, (await get(`${v1}/product/${created.body.data.id}`)).text]) {
    assert.ok(text.includes(`"quantity_in_stock":${big}`), text)
    assert.ok(text.includes('"exact":12345678901234567890.5'), text)
  }
  const found = async (filter: string) =>
    (await get(`${v1}/product/view/list?filter=${filter}`)).body.meta.total
  assert.equal(await found(`quantity_in_stock:eq(${big})`), 1)
  assert.equal(await found('quantity_in_stock:eq(9999999999999998)'), 0)
  assert.equal(await found('quantity_in_stock:gt(9999999999999998)'), 1)
  const over = await call('POST', `${v1}/product`, '{"name":"x","quantity_in_stock":10000000000000000}')
  assert.deepEqual(problemsOf(over), ['/quantity_in_stock out_of_range'])
  const [row] = await db.query('SELECT quantity_in_stock::text AS n FROM product WHERE id = $1::bigint', [
    String(created.body.data.id),
  ])
  assert.equal(row!.n, big)
})

test('list, update by PUT, and delete', async () => {
  const { id } = (await create({ name: 'Zebra crossing' })).body.data
  assert.equal((await get(`${v1}/product/view/list?filter=name:like(zebra)`)).body.data[0].id, id)
  assert.equal((await call('PUT', `${v1}/product/${id}`, { taxable: true })).body.data.taxable, 1)
  assert.equal((await call('DELETE', `${v1}/product/${id}`)).body.data.deleted, true)
  assert.equal((await get(`${v1}/product/${id}`)).status, 404)
  // Ids are unique over all records of an account: a deal's path does not answer for a product.
  assert.equal((await get(`${v1}/deal/${id}`)).status, 404)
})
