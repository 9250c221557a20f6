/**
 * Money on a deal (D22 to D24): product lines, derived amounts, and a deal's whole life, against figures
 * calculated by hand.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/json.ts'
import type { Deal } from '../laws/naive.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, made } = service
const prices = [
  { currency: 'USD', unit_price: '19.99', tax: '8.5', discount: '5' },
  { currency: 'JPY', unit_price: '2500', tax: '10' },
  { currency: 'EUR', unit_price: '18' },
]
const product = await made('product', { name: 'Sensor', product_code: 'S-1', unit_price: prices })
const other = await made('product', { name: 'Cable', unit_price: [{ currency: 'USD', unit_price: '0.35' }] })

test('a line takes price, discount and tax from the product; amounts are rounded half-even at the decimals of the currency', async () => {
  const deal = await made(
    'deal',
    dealBody(known, {
      deal_value: {
        currency: 'USD',
        products: [
          { product: product.id, quantity: 3 },
          { product: other.id, quantity: 1.5 },
        ],
      },
    }),
  )
  // 3 × 19.99 × 0.95 × 1.085 = 61.8140775 → 61.81; 1.5 × 0.35 = 0.525 → 0.52
  assert.deepEqual(deal.deal_value.products, [
    {
      product: product.id,
      name: 'Sensor',
      product_code: 'S-1',
      quantity: 3,
      unit_price: 19.99,
      discount: 5,
      tax: 8.5,
      amount: 61.81,
    },
    {
      product: other.id,
      name: 'Cable',
      product_code: null,
      quantity: 1.5,
      unit_price: 0.35,
      discount: null,
      tax: null,
      amount: 0.52,
    },
  ])
  assert.deepEqual(
    [deal.deal_value.value, deal.product_amount.value, deal.product_quantity],
    [62.33, 62.33, 4.5],
  )
  // New: 10 % of 62.33 = 6.233 → 6.23
  assert.equal(deal.weighted_value.value, 6.23)
  // A value of its own stays beside the lines; omitted lines are unchanged; the whole can be written back.
  const own = (await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value: { value: 70 } })).body.data
  assert.deepEqual(
    [own.deal_value.value, own.product_amount.value, own.deal_value.products.length],
    [70, 62.33, 2],
  )
  const back = await call('PUT', `${v1}/deal/${deal.id}`, own)
  assert.deepEqual([back.status, back.body.data.version], [200, own.version], back.text)
  assert.equal(
    (await get(`${v1}/deal/view/list?filter=deal_value.products:eq(${product.id})`)).body.data.length,
    1,
  )
  // The product is changed and deleted; the line stays.
  await call('PATCH', `${v1}/product/${product.id}`, {
    name: 'Sensor II',
    unit_price: [{ currency: 'USD', unit_price: '99' }],
  })
  const touched = (await call('PATCH', `${v1}/deal/${deal.id}`, { description: 'touched' })).body.data
  assert.deepEqual(touched.deal_value, own.deal_value)
  await call('DELETE', `${v1}/product/${other.id}`)
  const again = await call('PUT', `${v1}/deal/${deal.id}`, touched)
  assert.equal(again.status, 200, again.text)
  assert.deepEqual(again.body.data.deal_value, own.deal_value)
  assert.deepEqual(
    problemsOf(
      await call(
        'POST',
        `${v1}/deal`,
        dealBody(known, { deal_value: { currency: 'USD', products: [{ product: other.id, quantity: 1 }] } }),
      ),
    ),
    ['/deal_value/products/0/product reference_not_found'],
  )
  const without = (await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value: { products: [] } })).body.data
  assert.deepEqual(
    [
      without.deal_value.products,
      without.product_amount.value,
      without.product_quantity,
      without.deal_value.value,
    ],
    [[], 0, 0, 70],
  )
  await call('PATCH', `${v1}/product/${product.id}`, { name: 'Sensor', unit_price: prices })
})

test('bad lines are named by their path, all at once', async () => {
  const lines = [
    { product: product.id },
    { product: 999_999, quantity: 1, unit_price: 1 },
    { product: product.id, quantity: -1, discount: 101, tax: 'x', colour: 1 },
    { product: product.id, quantity: 1, unit_price: '0.00001' },
    7,
    { product: 0, quantity: 1 },
    { product: 2 ** 53, quantity: 1 },
    { product: 1.5, quantity: 1 },
  ]
  assert.deepEqual(
    problemsOf(
      await call('POST', `${v1}/deal`, dealBody(known, { deal_value: { currency: 'USD', products: lines } })),
    ),
    [
      '/deal_value/products/0/quantity required',
      '/deal_value/products/1/product reference_not_found',
      '/deal_value/products/2/colour unknown_field',
      '/deal_value/products/2/discount out_of_range',
      '/deal_value/products/2/quantity out_of_range',
      '/deal_value/products/2/tax wrong_type',
      '/deal_value/products/3/unit_price too_many_decimals',
      '/deal_value/products/4 wrong_type',
      '/deal_value/products/5/product reference_not_found',
      '/deal_value/products/6/product reference_not_found',
      '/deal_value/products/7/product wrong_type',
    ],
  )
  const none = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, { deal_value: { currency: 'KWD', products: [{ product: product.id, quantity: 1 }] } }),
  )
  assert.deepEqual(problemsOf(none), ['/deal_value/products/0/unit_price no_price'])
})

test('a line of a product that is gone keeps its price; one of a product that is there takes the price of today, and says so', async () => {
  const unit_price = [{ currency: 'USD', unit_price: '40', tax: 10, discount: 5 }]
  const gone = await made('product', { name: 'Gone', unit_price })
  const there = await made('product', { name: 'There', unit_price })
  const products = [
    { product: gone.id, quantity: 1 },
    { product: gone.id, quantity: 1, unit_price: 30, discount: 50 },
    { product: there.id, quantity: 1, unit_price: 30 },
  ]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', products } }))
  await call('DELETE', `${v1}/product/${gone.id}`)
  const patch = (deal_value: Json) => call('PATCH', `${v1}/deal/${deal.id}`, { deal_value })
  const { data, meta } = (
    await patch({ products: products.map(({ product }) => ({ product, quantity: 2 })) })
  ).body
  assert.deepEqual(
    data.deal_value.products.map((line: Deal) => [
      line.unit_price,
      line.discount,
      line.tax,
      line.amount,
      line.name,
    ]),
    [
      [40, 5, 10, 83.6, 'Gone'],
      [30, 50, null, 30, 'Gone'],
      [40, 5, 10, 83.6, 'There'],
    ],
  )
  assert.deepEqual(
    meta.warnings.map(({ code, path, message }: { [member: string]: string }) => [
      code,
      path,
      message!.slice(0, 22),
    ]),
    [['taken_from_product', '/deal_value/products/2', 'deal_value.products[2]']],
  )
  // Sent members are applied, and the rest of such a line stays.
  const partly = (await patch({ products: [{ product: gone.id, quantity: 1, tax: 0 }] })).body.data.deal_value
  assert.deepEqual(
    [partly.products[0].unit_price, partly.products[0].discount, partly.products[0].tax, partly.value],
    [40, 5, 0, 38],
  )
  // In another currency the line loses its price.
  const other = await patch({ currency: 'EUR', products: [{ product: gone.id, quantity: 1 }] })
  assert.deepEqual(problemsOf(other), ['/deal_value/products/0/unit_price no_price'])
  assert.match(other.body.errors[0].message, /deleted/)
  assert.equal(
    (await patch({ currency: 'EUR', products: [{ product: gone.id, quantity: 1, unit_price: 7 }] })).body.data
      .deal_value.value,
    7,
  )
})

test('a default in a currency out of use fills no currency', async () => {
  const { fields } = (await get(`${v1}/field/list?source=deal`)).body.data
  const field = fields
    .flat()
    .find((one: { internal_name: string }) => one.internal_name === 'expected_deal_value')
  const path = `${v1}/field/${field.id}`
  const chosen = { default_value: { currency: 'ARS', value: 0 } }
  assert.equal((await call('PATCH', path, chosen)).status, 200)
  await call('PATCH', `${v1}/currency/32`, { is_active: 'No' })
  const sent = { expected_deal_value: { value: 5 } }
  const reply = await call('POST', `${v1}/deal`, dealBody(known, sent))
  assert.deepEqual([reply.status, reply.body.errors[0].code], [422, 'currency_required'], reply.text)
  await call('PATCH', `${v1}/currency/32`, { is_active: 'Yes' })
  assert.equal((await call('PATCH', path, { default_value: null })).status, 200)
})

test('no two currencies have one name, because amounts may name them', async () => {
  const renamed = (name: string) => call('PATCH', `${v1}/currency/32`, { name })
  const reply = await renamed('swiss FRANC')
  assert.deepEqual([reply.status, problemsOf(reply)], [422, ['/name name_taken']], reply.text)
  assert.equal((await renamed('argentine peso')).status, 200)
  assert.equal((await renamed('Argentine Peso')).status, 200)
})

test('a currency out of use stays where it is, and is taken nowhere else', async () => {
  const field = { source: 'deal', field_name: 'Pesos', type: 'MONETARY' }
  assert.equal((await call('POST', `${v1}/field`, field)).status, 201)
  const amount = { currency: 'ARS', value: 5 }
  const price = { currency: 'ARS', unit_price: 5 }
  const deal = await made('deal', dealBody(known, { deal_value: amount, cf_pesos: amount }))
  const priced = await made('product', { name: 'Priced', unit_price: [price] })
  assert.equal((await call('PATCH', `${v1}/currency/32`, { is_active: 'No' })).status, 200)
  for (const currency of ['ARS', 32, 'argentine peso']) {
    const body = dealBody(known, { deal_value: { ...amount, currency }, cf_pesos: { ...amount, currency } })
    assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, body)), [
      '/cf_pesos/currency inactive_option',
      '/deal_value/currency inactive_option',
    ])
  }
  const again = await call('POST', `${v1}/product`, { name: 'Again', unit_price: [price] })
  assert.deepEqual(problemsOf(again), ['/unit_price/0/currency inactive_option'])
  const { deal_value, cf_pesos } = deal
  for (const body of [
    { deal_value, cf_pesos },
    { deal_value: { value: 7 }, cf_pesos: { ...amount, value: 8 } },
  ])
    assert.equal((await call('PATCH', `${v1}/deal/${deal.id}`, body)).status, 200)
  const unit_price = [...priced.unit_price, { currency: 'EUR', unit_price: 4 }]
  assert.equal((await call('PATCH', `${v1}/product/${priced.id}`, { unit_price })).status, 200)
  const other = { expected_deal_value: amount }
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/deal/${deal.id}`, other)), [
    '/expected_deal_value/currency inactive_option',
  ])
  assert.equal((await call('PATCH', `${v1}/currency/32`, { is_active: 'Yes' })).status, 200)
})

test('what is only read of an amount or a line is named where it differs, and nothing else is', async () => {
  const products = [{ product: product.id, quantity: 2 }]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', products } }))
  const patch = async (body: Json) => {
    const { status, text, body: answer } = await call('PATCH', `${v1}/deal/${deal.id}`, body)
    assert.equal(status, 200, text)
    const warnings = (answer.meta?.warnings ?? []) as { code: string; path?: string }[]
    return warnings.filter(({ code }) => code === 'read_only').map(({ path }) => path)
  }
  const { deal_value } = deal
  assert.deepEqual(await patch({ deal_value }), [])
  assert.deepEqual(await patch({ deal_value: { currency_code: 'usd', value: 6 } }), [])
  assert.deepEqual(await patch({ deal_value: { value: 7 } }), [])
  const [code, line] = ['/deal_value/currency_code', '/deal_value/products/0']
  assert.deepEqual(await patch({ deal_value: { currency_code: 'GBP', value: 6 } }), [code])
  assert.deepEqual(await patch({ deal_value: { currency: 'USD', currency_code: 7, value: 6 } }), [code])
  const told = { ...deal_value.products[0], amount: String(deal_value.products[0].amount) }
  assert.deepEqual(await patch({ deal_value: { products: [told] } }), [])
  const other = { ...told, name: 'Other', product_code: 'O', amount: 1 }
  assert.deepEqual(await patch({ deal_value: { products: [other] } }), [
    `${line}/name`,
    `${line}/product_code`,
    `${line}/amount`,
  ])
  const price = { currency: 'USD', currency_code: 'EUR', unit_price: 1 }
  const saved = await call('POST', `${v1}/product`, { name: 'Coded', unit_price: [price] })
  assert.equal(saved.body.meta.warnings[0].path, '/unit_price/0/currency_code')
  // A job has no client to warn.
  const changes = { deal_value: { currency: 'USD', currency_code: 'GBP', value: 6 } }
  const bulk = await call('POST', `${v1}/deal/bulk`, { filter: `id:eq(${deal.id})`, changes })
  assert.deepEqual(problemsOf(bulk), ['/changes/deal_value/currency_code read_only'])
})

test('a value of its own is not lost to the products in silence', async () => {
  const product = await made('product', { name: 'Counted' })
  const lines = (unit_price: number) => [{ product: product.id, quantity: 1, unit_price }]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', value: 5000 } }))
  const warned = async (deal_value: Json) => {
    const reply = await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value })
    return (reply.body.meta?.warnings ?? []).map(({ code }: { code: string }) => code)
  }
  assert.deepEqual(await warned({ products: lines(8), value: 5000 }), [])
  assert.deepEqual(await warned({ products: lines(5000) }), [])
  assert.deepEqual(await warned({ products: lines(9) }), [])
  assert.deepEqual(await warned({ value: 7000 }), [])
  assert.deepEqual(await warned({ products: lines(9) }), ['value_from_products'])
  const { data } = (
    await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value: { value: null, products: lines(11) } })
  ).body
  assert.equal(data.deal_value.value, 11)
  // An update of the value alone, and back to the lines that are stored.
  await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value: { value: 7000 } })
  const back = await call('PATCH', `${v1}/deal/${deal.id}`, { deal_value: { value: null } })
  assert.equal(back.body.data.deal_value.value, 11, back.text)
})

test('a line, their sum and the value that follows stay within the range of the interface and of the field', async () => {
  const most = '9999999999999'
  const line = (quantity: Json, unit_price: Json, more = {}) => ({
    product: product.id,
    quantity,
    unit_price,
    ...more,
  })
  const refused = async (products: Json, value?: Json) =>
    problemsOf(
      await call(
        'POST',
        `${v1}/deal`,
        dealBody(known, {
          deal_value: { currency: 'USD', products, ...(value === undefined ? {} : { value }) },
        }),
      ),
    )
  const ofLine = '/deal_value/products/0 out_of_range'
  const ofSum = '/deal_value/products out_of_range'
  assert.deepEqual(await refused([line(9_999_999_999, most)]), [ofSum, ofLine])
  assert.deepEqual(await refused([line(1, most, { tax: 100 })], 5), [ofSum, ofLine])
  assert.deepEqual(await refused([line(1, most), line(1, '0.01')]), [ofSum])
  assert.deepEqual(await refused([line(1, most), line(1, '0.01')], 5), [ofSum])
  const whole = await made(
    'deal',
    dealBody(known, { deal_value: { currency: 'USD', products: [line(2, most, { discount: 50 })] } }),
  )
  assert.deepEqual([whole.deal_value.value, whole.product_amount.value], [9999999999999, 9999999999999])
  const back = await call('PUT', `${v1}/deal/${whole.id}`, whole)
  assert.deepEqual([back.status, back.body.data.version], [200, 1], back.text)
  // An account's own narrower range applies to an amount derived from lines, too, but not to lines beside a
  // value.
  const field = (await get(`${v1}/field/list?source=deal`)).body.data.fields
    .flat()
    .find((one: Deal) => one.internal_name === 'deal_value')
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { config: { max: 1000 } })).status, 200)
  assert.deepEqual(await refused([line(2, 600)]), [ofSum])
  const beside = await made(
    'deal',
    dealBody(known, { deal_value: { currency: 'USD', value: 900, products: [line(2, 600)] } }),
  )
  assert.equal(beside.product_amount.value, 1200)
  // The range is one of the value, not of the prices that make it up.
  const twelve = { currency: 'USD', value: 900, products: [line(1, 1200)] }
  assert.equal((await made('deal', dealBody(known, { deal_value: twelve }))).product_amount.value, 1200)
  assert.deepEqual(await refused([line(1, most.replace('9', '99'))]), [
    '/deal_value/products/0/unit_price out_of_range',
  ])
  // A request about other fields does not complain about a stored value.
  const touched = await call('PATCH', `${v1}/deal/${whole.id}`, { description: 'touched' })
  assert.equal(touched.status, 200, touched.text)
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { config: { max: null } })).status, 200)
  // Of a deal without a value of its own, only the sum of its lines is judged by the least value.
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { config: { min: 1000 } })).status, 200)
  assert.deepEqual(await refused([line(39, 25)]), [ofSum])
  for (const value of [{}, { value: null }]) {
    const worth = { currency: 'USD', products: [line(40, 50)], ...value }
    assert.equal((await made('deal', dealBody(known, { deal_value: worth }))).deal_value.value, 2000)
  }
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { config: { min: null } })).status, 200)
})

test('a price of one piece may be a fraction of the smallest coin, and amounts made of it are rounded', async () => {
  const screw = await made('product', {
    ...{ name: 'Screw', active: 'Yes' },
    unit_price: [
      { currency: 'USD', unit_price: '0.0125' },
      { currency: 'JPY', unit_price: '1.5' },
    ],
  })
  assert.deepEqual(
    screw.unit_price.map(({ price }: Deal) => price),
    [0.0125, 1.5],
  )
  const products = [{ product: screw.id, quantity: 1000 }]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', products } }))
  assert.deepEqual([deal.deal_value.products[0].unit_price, deal.deal_value.value], [0.0125, 12.5])
  const patch = (deal_value: Json) => call('PATCH', `${v1}/deal/${deal.id}`, { deal_value })
  // Half-even, at the cent: 0.0125, 0.0375 and 0.125 dollars.
  for (const [quantity, amount] of [
    [1, 0.01],
    [3, 0.04],
    [10, 0.12],
  ] as const) {
    const changed = await patch({ products: [{ product: screw.id, quantity }] })
    assert.equal(changed.body.data.product_amount.value, amount, changed.text)
  }
  const yen = await patch({ currency: 'JPY', products: [{ product: screw.id, quantity: 3 }] })
  const [line] = yen.body.data.deal_value.products
  assert.deepEqual([line.unit_price, line.amount, yen.body.data.deal_value.value], [1.5, 4, 4])
  const back = await call('PUT', `${v1}/deal/${deal.id}`, yen.body.data)
  assert.deepEqual([back.status, back.body.data.version], [200, yen.body.data.version], back.text)
  for (const unit_price of ['0.01251', 1.00001]) {
    assert.deepEqual(
      problemsOf(await patch({ products: [{ product: screw.id, quantity: 1, unit_price }] })),
      ['/deal_value/products/0/unit_price too_many_decimals'],
    )
    const price = { unit_price: [{ currency: 'USD', unit_price }] }
    assert.deepEqual(problemsOf(await call('PATCH', `${v1}/product/${screw.id}`, price)), [
      '/unit_price/0/unit_price too_many_decimals',
    ])
  }
})

test('prices of lines stay when the currency alone changes, and amounts have the decimals of the new one', async () => {
  const products = [
    { product: product.id, quantity: 1, unit_price: 5 },
    { product: product.id, quantity: 1, unit_price: '19.99' },
  ]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', value: 20, products } }))
  const patch = (deal_value: Json) => call('PATCH', `${v1}/deal/${deal.id}`, { deal_value })
  const yen = (await patch({ currency: 'JPY' })).body.data
  assert.deepEqual(
    yen.deal_value.products.map(({ unit_price, amount }: Deal) => [unit_price, amount]),
    [
      [5, 5],
      [19.99, 20],
    ],
  )
  assert.deepEqual([yen.deal_value.value, yen.product_amount.value], [20, 25])
})

test('a deal whose value has cents goes to a currency without them by its lines alone', async () => {
  const deal = await made(
    'deal',
    dealBody(known, { deal_value: { currency: 'USD', value: '1234.56', products: [] } }),
  )
  const patch = (deal_value: Json) => call('PATCH', `${v1}/deal/${deal.id}`, { deal_value })
  const yen = await patch({ currency: 'JPY', products: [{ product: product.id, quantity: 2 }] })
  assert.equal(yen.status, 200, yen.text)
  const { value, products } = yen.body.data.deal_value
  assert.deepEqual([value, products[0].unit_price], [yen.body.data.product_amount.value, 2500])
  // An unchanged value still gets the new currency's decimals.
  const dollars = await patch({ currency: 'USD', value: '1234.56', products: [] })
  assert.equal(dollars.status, 200, dollars.text)
  for (const more of [{}, { products: [] }])
    assert.deepEqual(problemsOf(await patch({ currency: 'JPY', ...more })), [
      '/deal_value/value too_many_decimals',
    ])
})

test('a closed deal keeps its amount in base currency if only its lines change', async () => {
  const rated = async (rate: number) => (await call('PATCH', `${v1}/currency/578`, { rate })).status
  assert.equal(await rated(0.5), 200)
  const worth = (members: { [name: string]: Json }) => ({
    deal_value: { currency: 'NOK', value: 100, ...members },
  })
  const closing = { won_reason: 'Price', deal_closed_on: '2026-11-01' }
  const { id } = await made(
    'deal',
    dealBody(known, { pipeline_stage: known.stages.Won!, ...closing, ...worth({}) }),
  )
  assert.equal(await rated(0.25), 200)
  const base = async (members: { [name: string]: Json }) => {
    const reply = await call('PATCH', `${v1}/deal/${id}`, worth(members))
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.deal_value_in_base_currency.value
  }
  const products = [{ product: product.id, quantity: 1, unit_price: 7 }]
  assert.equal(await base({ products }), 50)
  assert.equal(await base({ products: [] }), 50)
  assert.equal(await base({ value: 200, products }), 50)
  assert.equal(await base({ value: 100 }), 25)
})

test('a deal goes its whole way, and every figure is right at every step', async () => {
  const created = await call('POST', `${v1}/deal`, {
    title: 'The whole way',
    pipeline: known.pipeline,
    pipeline_stage: known.stages.Qualified!,
    sales_owner: known.owner,
    primary_contact: { last_name: 'Walker', company: { name: 'Ways Ltd' } },
    deal_value: {
      currency: 'USD',
      products: [{ product: product.id, quantity: 2, discount: 0, tax: 0, unit_price: 10 }],
    },
  })
  assert.equal(created.status, 201, created.text)
  const { id } = created.body.data
  const step = async (body: { [name: string]: Json }) => {
    const reply = await call('PATCH', `${v1}/deal/${id}`, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data
  }
  assert.deepEqual(
    [created.body.data.deal_value.value, created.body.data.weighted_value.value, created.body.data.status],
    [20, 6, 1],
  )
  // Negotiation weighs 70 %.
  const negotiated = await step({ pipeline_stage: known.stages.Negotiation! })
  assert.equal(negotiated.weighted_value.value, 14)
  assert.ok(negotiated.deal_stage_updated_at > created.body.data.deal_stage_updated_at)
  // In yen: 3 × 2500 × 1.1 = 8250; worth 8250 × the sample's rate of the yen.
  const rate = (await get(`${v1}/currency/392`)).body.data.rate
  const inYen = await step({
    deal_value: { currency: 'JPY', products: [{ product: product.id, quantity: 3 }] },
  })
  assert.deepEqual(
    [inYen.deal_value.value, inYen.product_amount.value, inYen.weighted_value.value],
    [8250, 8250, 5775],
  )
  assert.equal(inYen.deal_value_in_base_currency.value, Math.round(8250 * rate * 100) / 100)
  assert.deepEqual(
    problemsOf(await call('PATCH', `${v1}/deal/${id}`, { pipeline_stage: known.stages.Won! })),
    ['/deal_closed_on required_when_won', '/won_reason required_when_won'],
  )
  const won = await step({
    pipeline_stage: known.stages.Won!,
    won_reason: 'Price',
    deal_closed_on: '2026-11-01',
  })
  assert.deepEqual(
    [won.status, won.stage_probability, won.weighted_value.value, won.lost_time, won.rotting_days],
    [2, 100, 8250, null, null],
  )
  assert.ok(won.won_time)
  const reopened = await step({ pipeline_stage: known.stages.Proposal! })
  assert.deepEqual(
    [reopened.status, reopened.won_reason, reopened.deal_closed_on, reopened.won_time],
    [1, null, null, null],
  )
  assert.equal(reopened.weighted_value.value, 4125)
  const lost = await step({
    pipeline_stage: known.stages.Lost!,
    lost_reason: 'Junk Lead',
    deal_closed_on: '2026-11-02',
  })
  assert.deepEqual(
    [lost.status, lost.weighted_value.value, lost.won_reason, lost.deal_value.value],
    [3, 0, null, 8250],
  )
  assert.ok(lost.lost_time && !lost.won_time)
  // The other direction is a new closing, which requires reason and date.
  assert.deepEqual(
    problemsOf(await call('PATCH', `${v1}/deal/${id}`, { pipeline_stage: known.stages.Won! })),
    ['/deal_closed_on required_when_won', '/won_reason required_when_won'],
  )
})

/** Exact: a number as a bigint and its number of decimals. */
function scaled(text: string): { digits: bigint; places: number } {
  const [whole, part = ''] = text.split('.')
  return { digits: BigInt(whole! + part), places: part.length }
}

function roundHalfEven(digits: bigint, places: number, decimals: number): bigint {
  if (places <= decimals) return digits * 10n ** BigInt(decimals - places)
  const unit = 10n ** BigInt(places - decimals)
  const [quotient, rest] = [digits / unit, digits % unit]
  if (rest * 2n !== unit) return rest * 2n > unit ? quotient + 1n : quotient
  return quotient % 2n ? quotient + 1n : quotient
}

test('sums of lines are those of exact rational arithmetic', async () => {
  const decimals = { USD: 2, JPY: 0, KWD: 3 } as const
  const number = (most: number, places: number) =>
    fc
      .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 10 ** places - 1 }))
      .map(([whole, part]) => (places ? `${whole}.${String(part).padStart(places, '0')}` : String(whole)))
  const line = (currency: keyof typeof decimals) =>
    fc.record({
      quantity: number(500, 3),
      unit_price: number(9999, decimals[currency]),
      discount: number(99, 2),
      tax: number(99, 3),
    })
  const lines = fc.constantFrom('USD' as const, 'JPY' as const, 'KWD' as const).chain(currency =>
    fc.record({
      currency: fc.constant(currency),
      products: fc.array(line(currency), { minLength: 1, maxLength: 6 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(lines, async ({ currency, products }) => {
      const places = decimals[currency]
      const amounts = products.map(({ quantity, unit_price, discount, tax }) => {
        const [q, p, d, t] = [quantity, unit_price, discount, tax].map(scaled) as [
          ReturnType<typeof scaled>,
          ReturnType<typeof scaled>,
          ReturnType<typeof scaled>,
          ReturnType<typeof scaled>,
        ]
        const off = 100n * 10n ** BigInt(d.places) - d.digits
        const on = 100n * 10n ** BigInt(t.places) + t.digits
        return roundHalfEven(
          q.digits * p.digits * off * on,
          q.places + p.places + d.places + t.places + 4,
          places,
        )
      })
      const total = amounts.reduce((sum, amount) => sum + amount, 0n)
      const deal = await made(
        'deal',
        dealBody(known, {
          deal_value: { currency, products: products.map(one => ({ ...one, product: product.id })) },
        }),
      )
      const inUnits = (value: number) => BigInt(Math.round(value * 10 ** places))
      assert.deepEqual(
        deal.deal_value.products.map((one: { amount: number }) => inUnits(one.amount)),
        amounts,
      )
      assert.equal(inUnits(deal.product_amount.value), total)
      assert.equal(inUnits(deal.deal_value.value), total)
      assert.equal(inUnits(deal.weighted_value.value), roundHalfEven(total * 10n, places + 2, places))
    }),
    { numRuns: 60 },
  )
})

test('aggregates agree with the deals of the list under the same filter', async () => {
  const all = async (filter: string) => {
    const found: Deal[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({
        pageSize: '500',
        ...(filter ? { filter } : {}),
        ...(cursor ? { cursor } : {}),
      })
      const { data, meta } = (await get(`${v1}/deal/view/list?${query}`)).body
      found.push(...data)
      cursor = meta.nextCursor
    }
    return found
  }
  const chf = await made('deal', dealBody(known, { deal_value: { currency: 'CHF', value: '12.34' } }))
  assert.equal(chf.deal_value_in_base_currency, null)
  for (const [groupBy, filter] of [
    ['pipeline_stage', ''],
    ['sales_owner', 'status:eq(Open),deal_value.value:gt(100)'],
    ['lost_reason', 'or(status:eq(Lost),title:like(renewal))'],
    ['status', 'deal_value.currency:in(USD,CHF,JPY)'],
    ['cf_custom_dropdown_field', ''],
    ['cf_custom_owner_field', 'status:eq(Open)'],
    ['primary_contact', 'status:eq(Won)'],
  ] as const) {
    const deals = await all(filter)
    const names = await get(
      `${v1}/deal/view/list?${new URLSearchParams({ pageSize: '500', expand: groupBy, ...(filter ? { filter } : {}) })}`,
    )
    const nameOf = new Map(
      names.body.data.map((deal: Deal) => [deal[groupBy] ?? null, deal._expanded[groupBy]?.name ?? null]),
    )
    const reply = await get(
      `${v1}/deal/aggregate?${new URLSearchParams({ group_by: groupBy, ...(filter ? { filter } : {}) })}`,
    )
    assert.equal(reply.status, 200, reply.text)
    const groups = new Map(reply.body.data.map((one: { group: number }) => [one.group, one])) as Map<
      number | null,
      Deal
    >
    assert.deepEqual(new Set(groups.keys()), new Set(deals.map(deal => deal[groupBy] ?? null)))
    for (const [group, sums] of groups) {
      const mine = deals.filter(deal => (deal[groupBy] ?? null) === group)
      assert.equal(sums.count, mine.length)
      assert.equal(sums.name, nameOf.get(group) ?? null)
      const cents = (values: (number | undefined)[]) =>
        values.reduce<number>((sum, value) => sum + Math.round((value ?? 0) * 1000), 0)
      for (const { currency, value } of sums.deal_value) {
        assert.equal(
          Math.round(value * 1000),
          cents(
            mine.filter(deal => deal.deal_value?.currency === currency).map(deal => deal.deal_value.value),
          ),
        )
      }
      for (const { currency, value } of sums.weighted_value) {
        assert.equal(
          Math.round(value * 1000),
          cents(
            mine
              .filter(deal => deal.weighted_value?.currency === currency)
              .map(deal => deal.weighted_value.value),
          ),
        )
      }
      assert.equal(
        Math.round(sums.deal_value_in_base_currency.value * 1000),
        cents(mine.map(deal => deal.deal_value_in_base_currency?.value)),
      )
      // Per cent of thousandths: the exact sum is rounded once.
      const parts = mine.map(
        deal =>
          [Math.round((deal.deal_value_in_base_currency?.value ?? 0) * 100), deal.stage_probability] as const,
      )
      const exact = parts.reduce((sum, [value, probability]) => sum + BigInt(value) * BigInt(probability), 0n)
      assert.equal(
        Math.round(sums.weighted_value_in_base_currency.value * 100),
        Number(roundHalfEven(exact, 2, 0)),
      )
      assert.equal(
        sums.without_rate,
        mine.filter(deal => deal.deal_value && !deal.deal_value_in_base_currency).length,
      )
    }
  }
  const whole = (await get(`${v1}/deal/aggregate`)).body.data
  assert.deepEqual([whole.length, whole[0].group], [1, null])
  const bad = await get(`${v1}/deal/aggregate?group_by=tags&page=1&filter=titel:eq(1)`)
  assert.deepEqual(
    bad.body.errors.map(
      (problem: { parameter: string; code: string }) => `${problem.parameter} ${problem.code}`,
    ),
    ['page unknown_parameter', 'filter unknown_field', 'group_by not_groupable'],
  )
  const errors = async (query: string) =>
    (await get(`${v1}/deal/aggregate?${query}`)).body.errors.map(({ code }: { code: string }) => code)
  assert.deepEqual(await errors('group_by=stage'), ['unknown_field'])
  assert.deepEqual(await errors('group_by=status,source,type,company'), ['too_many'])
  assert.deepEqual(await errors('group_by='), ['invalid_value'])
})

test('who does not see amounts in base currency does not find them out by comparing amounts', async () => {
  const scopes = ['deal:read']
  const hidden_fields = ['deal.deal_value_in_base_currency']
  const role = await made('role', { name: 'No rates', scopes, hidden_fields })
  const user = await made('user', { name: 'No rates', email: 'no-rates@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const rate = (to: Json) => call('PATCH', `${v1}/currency/756`, { rate: to })
  const before = (await get(`${v1}/currency/756`)).body.data.rate
  await rate(4)
  const deal = await made(
    'deal',
    dealBody(known, {
      title: 'Kept rate',
      deal_value: { currency: 'CHF', value: 10 },
      pipeline_stage: known.stages.Lost!,
      lost_reason: 'Junk Lead',
      deal_closed_on: '2026-05-05',
    }),
  )
  assert.equal(deal.deal_value_in_base_currency.value, 40)
  // A closed deal has the rate of its closing; by today's it would be worth 20.
  await rate(2)
  const found = async (least: number, headers: Record<string, string> = {}) => {
    const filter = `title:eq(Kept rate),deal_value:gte(${least})`
    const path = `${v1}/deal/view/list?filter=${encodeURIComponent(filter)}`
    const reply = await call('GET', path, undefined, headers)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.length
  }
  const as = { authorization: `Bearer ${token}` }
  assert.deepEqual([await found(40), await found(41)], [1, 0])
  assert.deepEqual([await found(20, as), await found(21, as)], [1, 0])
  await rate(before)
})

test('a currency is read in any case, and a letter that only looks alike is none', async () => {
  const status = async (currency: string) =>
    (await call('POST', `${v1}/deal`, dealBody(known, { deal_value: { currency, value: 1 } }))).status
  assert.deepEqual([await status('usd'), await status('u\u017fd'), await status('\u0131nr')], [201, 422, 422])
})
