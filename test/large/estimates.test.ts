/**
 * Totals and their estimates (D28): their accuracy for one's own records, and that they reveal nothing about
 * others'.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { revalueRecords } from '../../src/resources/deals/revalue.ts'
import { reweighDeals } from '../../src/resources/deals/reweigh.ts'
import { resources } from '../../src/resources/resources.ts'
import { byQueries } from '../support/by-queries.ts'
import { commonWord, makeManyDeals, patiently, rareWord } from '../support/many-deals.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { another, call, db, get, known } = await startService()

type Asking = (path: string) => ReturnType<typeof get>

const queries = [
  '',
  'filter=title:like(deal)',
  'filter=title:like(7)',
  `filter=title:like(${commonWord})`,
  `filter=title:like(${rareWord})`,
  'filter=status:eq(Open)',
  'filter=metadata.notes:eq(none)',
  'filter=cf_secret:eq(none)',
  'deleted=only',
].flatMap(query => ['', '&count=estimate', '&count=exact'].map(count => `${query}${count}`))

/** The totals from a process with empty caches. */
async function totals(token: string): Promise<{ [query: string]: [number, boolean] }> {
  const fresh = await another()
  const said: { [query: string]: [number, boolean] } = {}
  for (const query of queries) {
    const path = `${v1}/deal/view/list?pageSize=1&${query}`
    const { status, body, text } = await fresh.call('GET', path, undefined, {
      authorization: `Bearer ${token}`,
    })
    assert.equal(status, 200, text)
    said[query] = [body.meta.total, body.meta.totalIsEstimate]
  }
  return said
}

/** A second account with `count` deals, of which every third is deleted. */
async function otherAccount(count: number): Promise<string> {
  const tx = byQueries(db)
  const { account, owner } = await createAccount(tx, {
    name: 'Theirs',
    ownerName: 'Owner',
    ownerEmail: 'o@example.com',
  })
  const token = newSecret('token', account)
  await createToken(tx, { account, user: owner, name: 'Theirs', scopes: ['admin'], token })
  const make = async (resource: string, body: Parameters<typeof call>[2]) => {
    const reply = await call('POST', `${v1}/${resource}`, body, { authorization: `Bearer ${token}` })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data.id
  }
  await make('field', { source: 'deal', field_name: 'Secret', type: 'SINGLE_STRING' })
  const primary_contact = await make('contact', { last_name: 'Theirs' })
  const [stage] = await db.query(
    'SELECT id::text AS id, pipeline::text AS pipeline FROM pipeline_stage WHERE account_id = $1::bigint ORDER BY position LIMIT 1',
    [String(account)],
  )
  const deal = {
    title: 'Deal',
    pipeline: Number(stage!.pipeline),
    pipeline_stage: Number(stage!.id),
    primary_contact,
    sales_owner: owner,
  }
  const model = await make('deal', deal)
  const columns = await db.query(
    "SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns WHERE table_schema = 'public' " +
      "AND table_name = 'deal' AND column_name NOT IN ('account_id', 'id', 'title', 'deleted_at')",
  )
  const { names } = columns[0]!
  // In batches: on a busy machine all at once exceeds the time limit of a statement.
  for (let first = 1; first <= count; first += 3000) {
    await patiently(() =>
      db.query(
        `INSERT INTO deal (account_id, id, title, deleted_at, ${names}) SELECT account_id, $2::bigint + i, 'Deal ' || i,
         CASE WHEN i % 3 = 0 THEN now() END, ${names}
       FROM deal, generate_series($3::bigint, $4::bigint) i WHERE account_id = $1::bigint AND id = $2::bigint`,
        [String(account), String(model), String(first), String(Math.min(first + 2999, count))],
      ),
    )
  }
  return token
}

test('a total of what follows from stages and rates is counted anew when they change, which is no event of its own', async () => {
  const stage = known.stages.Proposal!
  const deal_value = { currency: 'CHF', value: 1000 }
  const made = await call('POST', `${v1}/deal`, dealBody(known, { pipeline_stage: stage, deal_value }))
  assert.equal(made.status, 201, made.text)
  const catalog = await loadCatalog(db, resources, 1)
  /** Runs the background jobs of a change of the stage's probability or the currency's rate. */
  const follow = async (probability: number, rate: string | null) => {
    const stages = new Map(catalog.stages).set(stage, { ...catalog.stages.get(stage)!, probability })
    const currencies = new Map(catalog.currencies).set(756, { ...catalog.currencies.get(756)!, rate })
    await reweighDeals(db, { ...catalog, stages, currencies })
    await revalueRecords(db, { ...catalog, stages, currencies })
  }
  const filters = [
    'deal_value_in_base_currency.value:eq(1000)',
    'not(weighted_value.value:neq(370))',
    'or(stage_probability:eq(37),id:eq(0))',
    'deal_value_in_base_currency:notnull(true),weighted_value.value:gt(369)',
    'deal_value:eq(1000)',
  ]
  const counts = () =>
    Promise.all(
      filters.map(async filter => {
        const query = `pageSize=1&page=2&count=exact&filter=id:eq(${made.body.data.id}),${filter}`
        return (await get(`${v1}/deal/view/list?${query}`)).body.meta.total
      }),
    )
  for (let round = 0; round < 5; round++) {
    await follow(36, null)
    assert.deepEqual(await counts(), [0, 0, 0, 0, 0])
    await follow(37, '1')
    assert.deepEqual(await counts(), [1, 1, 1, 1, 1])
  }
})

test('what others keep changes no total, whatever the database knows of it', async () => {
  const token = await otherAccount(18_000)
  await patiently(() => db.query('ANALYZE deal'))
  const before = await totals(token)
  assert.ok(before['']![1] && before['filter=title:like(7)&count=estimate']![1])
  await makeManyDeals(db, 50_000)
  assert.ok(
    (await get(`${v1}/deal/view/list?pageSize=1&count=exact&filter=title:like(${commonWord})`)).body.meta
      .total >= 10_000,
  )
  assert.deepEqual(await totals(token), before)
})

test('an estimate comes near, and is never below what was counted or seen', async () => {
  const meta = async (query: string, ask: Asking = get) =>
    (await ask(`${v1}/deal/view/list?pageSize=1&${query}`)).body.meta
  for (const query of [
    '',
    'filter=status:eq(Open)',
    `filter=title:like(${commonWord})`,
    'filter=deal_value.value:gt(50000)',
  ]) {
    const exact = (await meta(`${query}&count=exact`)).total
    for (const count of ['', '&count=estimate']) {
      const { total } = await meta(query + count)
      assert.ok(total > exact * 0.7 && total < exact * 1.4, `${query}${count}: ${total} of ${exact}`)
      if (count === '' && exact > 10_000) assert.ok(total > 10_000, `${query}: ${total}`)
    }
  }
  // Twenty of fifty thousand: a sample may miss them, a page does not.
  const { data, meta: page } = (
    await get(`${v1}/deal/view/list?pageSize=7&page=2&count=estimate&filter=title:like(${rareWord})`)
  ).body
  assert.ok(data.length === 7 && page.total >= 15 && page.totalIsEstimate)
  // A page beyond the end invents nothing: it has the first page's total.
  for (const query of ['', `count=estimate&filter=title:like(${rareWord})`]) {
    const [first, beyond] = [await meta(query), await meta(`${query}&page=100001`)]
    assert.ok(first.totalIsEstimate && beyond.totalIsEstimate)
    assert.equal(beyond.total, first.total)
  }
})

test('an estimate of few records is right, wherever in the numbers they are', async () => {
  for (const resource of ['user', 'tag', 'contact', 'currency', 'pipeline_stage']) {
    const total = async (count: string) =>
      (await get(`${v1}/${resource}/view/list?pageSize=1&count=${count}`)).body.meta.total
    assert.equal(await total('estimate'), await total('exact'), resource)
  }
})
