/**
 * Amounts derived from stages and rates (D21, D24, D26, D56): after any concurrent changes over several
 * processes, each amount equals exact arithmetic on the record, its stage and the rates.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Catalog } from '../../src/fields/catalog.ts'
import { type Decimal, decimal, halfEven, plain, rounded } from '../../src/fields/decimal.ts'
import type { Json } from '../../src/json.ts'
import { revalueRecords } from '../../src/resources/deals/revalue.ts'
import { reweighDeals } from '../../src/resources/deals/reweigh.ts'
import { resources } from '../../src/resources/resources.ts'
import { ask, param, sql } from '../../src/sql.ts'
import { eventually } from '../support/eventually.ts'
import { shareOf } from '../support/questions.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import type { Deal } from './naive.ts'

const { another, call, db, known } = await startService()
const other = await another()
const done = async (ask: typeof call, method: string, path: string, body?: Json) => {
  const reply = await ask(method, v1 + path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body.data
}
const catalogNow = () => loadCatalog(db, resources, 1)

/** The expected amounts of a deal and a product, calculated here. */
function worth(amount: Decimal | null, decimals: number): string | null {
  return amount && plain(rounded(amount, decimals))
}
function derivedOf(deal: Deal, { stages, currencies, account }: Catalog): (string | null)[] {
  const stage = stages.get(deal.pipeline_stage)!
  const value = deal.deal_value && decimal(deal.deal_value.value)!
  const currency = value && currencies.get(deal.deal_value.currency)!
  const rate = value && (currency!.id === account.base_currency ? '1' : currency!.rate)
  return [
    String(stage.probability),
    value && worth(value.times(stage.probability).times('0.01'), currency!.decimals),
    value && rate ? worth(value.times(rate), 2) : null,
  ]
}
function baseAmountOf(product: Deal, { currencies, account }: Catalog): string | null {
  const prices: Deal[] = product.unit_price
  const own = prices.find(price => price.currency === account.base_currency)
  const price = own ?? prices.find(({ currency }) => currencies.get(currency)!.rate !== null)
  return price ? worth(decimal(price.price)!.times(own ? 1 : currencies.get(price.currency)!.rate!), 2) : null
}
const said = (money: Deal) => money && plain(decimal(money.value)!)

/** The open deals and the products with other amounts. */
async function wrong(ids: { deals: readonly number[]; products: readonly number[] }): Promise<string[]> {
  const catalog = await catalogNow()
  const listed = async (resource: string, wanted: readonly number[]) =>
    wanted.length === 0
      ? []
      : ((await done(call, 'POST', `/${resource}/view/list`, {
          filter: `id:in(${wanted.join(',')})`,
          pageSize: 500,
        })) as Deal[])
  const deals = (await listed('deal', ids.deals)).map(deal => {
    const says = [
      String(deal.stage_probability),
      said(deal.weighted_value),
      said(deal.deal_value_in_base_currency),
    ]
    return [`deal ${deal.id}`, says, derivedOf(deal, catalog)]
  })
  const products = (await listed('product', ids.products)).map(product => [
    `product ${product.id}`,
    said(product.base_currency_amount),
    baseAmountOf(product, catalog),
  ])
  return [...deals, ...products]
    .filter(([, says, should]) => JSON.stringify(says) !== JSON.stringify(should))
    .map(found => JSON.stringify(found))
}

test('rounding in SQL is rounding here, of any amount', async () => {
  const amount = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 28n }), fc.integer({ min: 0, max: 9 }))
    .map(([digits, places]) => {
      const text = String(digits).padStart(places + 1, '0')
      return places ? `${text.slice(0, -places)}.${text.slice(-places)}` : text
    })
  const halves = amount.map(text => `${text.split('.')[0]}.${text.length % 2 ? '1' : ''}25`)
  await fc.assert(
    fc.asyncProperty(fc.oneof(amount, halves), fc.integer({ min: 0, max: 4 }), async (text, decimals) => {
      const [amount, places] = [param(text), param(String(decimals))]
      const value = halfEven(sql`${amount}::numeric`, sql`${places}::text`)
      const [row] = await ask(db, sql`SELECT (${value})::text AS rounded`)
      assert.equal(row!.rounded, plain(rounded(decimal(text)!, decimals)))
    }),
    {
      numRuns: shareOf(300),
      examples: [
        ['123456789012345678.915', 2],
        ['0.5', 0],
        ['1.5', 0],
        ['2.5', 0],
        ['0.00005', 4],
      ],
    },
  )
})

test('a pass mends whatever differs, not only what it looks for', async () => {
  const deal_value = { currency: 'EUR', value: '1234.56' }
  const { id } = await done(call, 'POST', '/deal', dealBody(known, { deal_value }))
  const product = (
    await done(call, 'POST', '/product', { name: 'P', unit_price: [{ currency: 'EUR', unit_price: 7 }] })
  ).id
  const ids = { deals: [id], products: [product] }
  for (const column of [
    'weighted_value_value = 1',
    'weighted_value_currency = NULL',
    'stage_probability = 99',
    'stage_rotting_days = 3',
  ].concat(['deal_value_in_base_currency_value = 1', 'deal_value_in_base_currency_currency = NULL'])) {
    await db.query(`UPDATE deal SET ${column} WHERE account_id = 1 AND id = $1::bigint`, [String(id)])
    await reweighDeals(db, await catalogNow())
    await revalueRecords(db, await catalogNow())
    assert.deepEqual(await wrong(ids), [], column)
    const deal = await done(call, 'GET', `/deal/${id}`)
    assert.deepEqual(
      [deal.weighted_value?.currency, deal.deal_value_in_base_currency?.currency],
      [978, 840],
      column,
    )
  }
  await db.query(
    'UPDATE product SET base_currency_amount_value = 1 WHERE account_id = 1 AND id = $1::bigint',
    [String(product)],
  )
  await revalueRecords(db, await catalogNow())
  assert.deepEqual(await wrong(ids), [])
})

test('a pass that waits for a write works with what was written', async () => {
  const { id } = await done(
    call,
    'POST',
    '/deal',
    dealBody(known, { deal_value: { currency: 'EUR', value: 100 } }),
  )
  const product = (
    await done(call, 'POST', '/product', { name: 'P', unit_price: [{ currency: 'EUR', unit_price: 100 }] })
  ).id
  const catalog = await catalogNow()
  const stages = new Map(catalog.stages).set(known.stages.New!, {
    ...catalog.stages.get(known.stages.New!)!,
    probability: 50,
  })
  const currencies = new Map(catalog.currencies).set(978, { ...catalog.currencies.get(978)!, rate: '2' })
  const passing: Promise<void>[] = []
  await db.sql.begin(async tx => {
    await tx.query(
      `UPDATE deal SET deal_value_value = 700, weighted_value_value = 70, deal_value_in_base_currency_value = 770 WHERE account_id = 1 AND id = ${id}`,
    )
    const price = JSON.stringify([
      { currency: 978, currency_code: 'EUR', price: 700, tax: null, discount: null },
    ])
    await tx.query(
      `UPDATE product SET unit_price = '${price}', base_currency_amount_value = 770 WHERE account_id = 1 AND id = ${product}`,
    )
    passing.push(reweighDeals(db, { ...catalog, stages }), revalueRecords(db, { ...catalog, currencies }))
    await new Promise(resolve => setTimeout(resolve, 500))
  })
  await Promise.all(passing)
  const [row] = await db.query(
    `SELECT weighted_value_value::float8::text AS weighted, deal_value_in_base_currency_value::float8::text AS base,
       (SELECT base_currency_amount_value::float8::text FROM product p WHERE p.account_id = 1 AND p.id = ${product}) AS price
     FROM deal WHERE account_id = 1 AND id = ${id}`,
  )
  assert.deepEqual({ ...row }, { weighted: '350', base: '1400', price: '1400' })
})

test('amounts, stages, currencies, prices, probabilities and rates changed at once, over two processes', async () => {
  const stages = [known.stages.New!, known.stages.Qualified!, known.stages.Proposal!]
  const codes = ['USD', 'EUR', 'JPY']
  const ids: { deals: number[]; products: number[] } = { deals: [], products: [] }
  for (let index = 0; index < 8; index++) {
    const deal_value = { currency: codes[index % 3]!, value: index }
    ids.deals.push((await done(call, 'POST', '/deal', dealBody(known, { deal_value }))).id)
    ids.products.push((await done(call, 'POST', '/product', { name: `Product ${index}` })).id)
  }
  for (let round = 0; round < 12; round++) {
    const [one, two] = round % 2 ? [call, other.call] : [other.call, call]
    const pick = <T>(from: readonly T[], index: number) => from[(index * 7 + round) % from.length]!
    await Promise.all([
      ...ids.deals.flatMap((id, index) => [
        done(one, 'PATCH', `/deal/${id}`, {
          deal_value: { currency: pick(codes, index), value: 1000 * round + index },
        }),
        done(two, 'PATCH', `/deal/${id}`, { pipeline_stage: pick(stages, index) }),
      ]),
      ...ids.products.map((id, index) =>
        done(two, 'PATCH', `/product/${id}`, {
          unit_price: [{ currency: pick(codes, index), unit_price: 100 * round + index }],
        }),
      ),
      ...stages.map((id, index) =>
        done(pick([one, two], index), 'PATCH', `/pipeline_stage/${id}`, {
          probability: (round * 13 + index) % 100,
        }),
      ),
      done(one, 'PATCH', '/currency/978', { rate: round % 5 ? 1 + round / 8 : null }),
      done(two, 'PATCH', '/currency/392', { rate: (round + 1) / 1000 }),
    ])
  }
  // Other processes cache a configuration for a second; then the derived amounts are corrected for good.
  const until = Date.now() + 60_000
  while ((await wrong(ids)).length && Date.now() < until)
    await new Promise(resolve => setTimeout(resolve, 250))
  assert.deepEqual(await wrong(ids), [])
})

const weigh = (probability: number) =>
  done(call, 'PATCH', `/pipeline_stage/${known.stages.New!}`, { probability })

/** Resolves when the background jobs of the latest configuration are done. */
async function jobsDone(): Promise<void> {
  const isDone = 'SELECT (settled_version = catalog_version)::text AS yes FROM account WHERE account_id = 1'
  await eventually(async () => (await db.query(isDone))[0]!.yes === 'true', 'an end of the jobs', 50)
}

test('what was judged by a configuration that was followed for good is judged again (D115)', async () => {
  const valued = (value: number) => dealBody(known, { deal_value: { currency: 'EUR', value } })
  const { id } = await done(call, 'POST', '/deal', valued(100))
  // Each has its own cache, like a process that hangs for seconds.
  const writes: ((process: Pick<typeof other, 'call'>) => Promise<Deal>)[] = [
    late => done(late.call, 'POST', '/deal', valued(300)),
    late => done(late.call, 'PATCH', `/deal/${id}`, { deal_value: { currency: 'EUR', value: 700 } }),
    late => done(late.call, 'DELETE', `/deal/${id}`),
    late => done(late.call, 'POST', `/deal/${id}/restore`),
  ]
  const processes = await Promise.all(writes.map(() => another({ clock: () => 0 })))
  for (const late of processes) await done(late.call, 'GET', `/deal/${id}`)
  await weigh(97)
  await jobsDone()
  for (const [index, write] of writes.entries()) {
    const written = await write(processes[index]!)
    if (!written.deleted) assert.deepEqual(await wrong({ deals: [written.id], products: [] }), [])
  }
})

const isServer = process.env.TEST_ENGINE === 'postgres'
test('a write that waits for its account until its configuration has been followed for good is in line with the next', {
  skip: !isServer && 'the embedded database has one session, in which nothing waits',
}, async () => {
  const { id } = await done(
    call,
    'POST',
    '/deal',
    dealBody(known, { deal_value: { currency: 'EUR', value: 100 } }),
  )
  const late = await another({ clock: () => 0 })
  await jobsDone()
  const writing: Promise<unknown>[] = []
  await done(late.call, 'GET', `/deal/${id}`)
  await weigh(71)
  await db.sql.begin(async tx => {
    await tx.query('SELECT FROM counter WHERE account_id = 1 FOR UPDATE', [])
    writing.push(done(late.call, 'PATCH', `/deal/${id}`, { deal_value: { currency: 'EUR', value: 700 } }))
    await new Promise(resolve => setTimeout(resolve, 4000))
  })
  await Promise.all(writing)
  await jobsDone()
  assert.deepEqual(await wrong({ deals: [id], products: [] }), [])
})
