/** Lists of an account with twenty thousand deals: their indexes, totals and estimates, and time limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { asOfDay } from '../../src/history/as-of-day.ts'
import { pageStatement, pagesByValueStatement } from '../../src/lists/page.ts'
import { conditionsOf } from '../../src/lists/plan.ts'
import { readListQuery } from '../../src/lists/query.ts'
import { readReport } from '../../src/lists/report.ts'
import { withSelectivity } from '../../src/lists/selectivity.ts'
import { filterSql } from '../../src/lists/where.ts'
import { unpointed } from '../../src/records/references.ts'
import type { RawReader } from '../../src/records/store.ts'
import { board } from '../../src/resources/deals/board.ts'
import { resources } from '../../src/resources/resources.ts'
import { Rights } from '../../src/rights/rights.ts'
import { callerParamsOf } from '../../src/rights/visibility.ts'
import { compile, param, sql } from '../../src/sql.ts'
import { eventually } from '../support/eventually.ts'
import { commonWord, makeManyDeals, rareText, rareWord } from '../support/many-deals.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known } = service
await makeManyDeals(db, 20_000)
const list = (query: string) => get(`${v1}/deal/view/list?${query}`)
const catalog = await loadCatalog(db, resources, 1)
const deal = catalog.resources.get('deal')!

const now = '2026-01-01T00:00:00.000Z'

function requestOf(query: string, resource = 'deal') {
  const parameters = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query))
    parameters.set(name, [...(parameters.get(name) ?? []), value])
  const schema = catalog.resources.get(resource)!
  return readListQuery(parameters, schema, catalog, now)
}

/** The planner's plan of a list, as one text. */
async function planOf(query: string): Promise<string> {
  const { text, values } = pageStatement({ catalog, actor: 1 }, requestOf(query))
  return (await db.query(`EXPLAIN (COSTS OFF) ${text}`, values, true))
    .map(row => row['QUERY PLAN'])
    .join('\n')
}

const params = callerParamsOf({ catalog, actor: 1 })
const whereOf = (filter: string) =>
  compile(filterSql(requestOf(`filter=${encodeURIComponent(filter)}`).filter!, params)).text

test('the SQL of each operator, bare, so that an index can serve it', () => {
  const id = 'r."sales_owner"'
  const sql: [filter: string, where: string][] = [
    ['sales_owner:eq(1)', `${id} = $1::bigint`],
    ['sales_owner:neq(1)', `NOT coalesce(${id} = $1::bigint, false)`],
    ['sales_owner:in(1,2)', `${id} = ANY($1::bigint[])`],
    ['sales_owner:nin(1,2)', `NOT coalesce(${id} = ANY($1::bigint[]), false)`],
    ['sales_owner:lt(1)', `${id} < $1::bigint`],
    ['sales_owner:lte(1)', `${id} <= $1::bigint`],
    ['sales_owner:gt(1)', `${id} > $1::bigint`],
    ['sales_owner:gte(1)', `${id} >= $1::bigint`],
    ['sales_owner:between(1,2)', `${id} BETWEEN $1::bigint AND $2::bigint`],
    ['title:like(a)', 'fold(r."title") LIKE fold($1::text)'],
    ['sales_owner:isnull(true)', `(${id} IS NULL)`],
    ['sales_owner:notnull(true)', `NOT (${id} IS NULL)`],
    ['sales_owner:exists(true)', `NOT (${id} IS NULL)`],
    ['metadata.notes:exists(true)', `(r."metadata" #> '{"notes"}') IS NOT NULL`],
    ['title:eq(a)', '(r."title" = $1::text AND fold(r."title") COLLATE "C" = fold($1::text) COLLATE "C")'],
    ['title:lt(a)', 'r."title" COLLATE "C" < $1::text'],
    ['tags:eq(20)', `(r."tags" <> '{}' AND r."tags" @> ARRAY[$1::bigint])`],
    ['tags:in(20,21)', `(r."tags" <> '{}' AND r."tags" && $1::bigint[])`],
    ['tags:isnull(true)', '(coalesce(cardinality(r."tags"), 0) = 0)'],
    ['cf_custom_number_field:eq(5)', `(r.custom <> '{}' AND r.custom @> $1::jsonb)`],
    ['cf_custom_number_field:in(5,6)', `(r.custom <> '{}' AND r.custom @> ANY($1::jsonb[]))`],
    ['cf_custom_number_field:gt(5)', `(r.custom ->> 'cf_custom_number_field')::numeric > $1::numeric`],
    ['or(id:eq(1),not(id:eq(2)))', '(r."id" = $1::bigint OR NOT coalesce(r."id" = $2::bigint, false))'],
  ]
  for (const [filter, where] of sql)
    assert.equal(
      whereOf(filter).replaceAll('::numeric', '::bigint'),
      where.replaceAll('::numeric', '::bigint'),
    )
})

test('a value of a filter is one parameter, however many key ranges have the condition', () => {
  const filter = 'title:like(a,b),created_at:between(1000000,2000000)'
  const custom = 'cf_custom_number_field:eq(5),cf_custom_text_field:in(c,d)'
  const request = requestOf(
    `filter=${encodeURIComponent(`${filter},${custom}`)}&sort=expected_close_date:asc`,
  )
  const { text, values } = pageStatement({ catalog, actor: 1 }, request)
  assert.match(text, /"range1"/)
  assert.equal(new Set(values).size, values.length, values.join('\n'))
})

test('equality, words, tags and custom values are found by an index', async () => {
  const promised: [filter: string, index: string][] = [
    [`title:like(${rareWord})`, 'deal_title_trigram'],
    ['title:eq(Nothing is called so)', 'deal_title'],
    ['title:in("Nothing is called so",nor so)', 'deal_title'],
    ['sales_owner:eq(1)', 'deal_sales_owner'],
    ['sales_owner:in(998,999)', 'deal_sales_owner'],
    ['primary_contact:eq(70)', 'deal_primary_contact'],
    ['company:in(998,999)', 'deal_company'],
    ['territory:eq(15)', 'deal_territory'],
    ['created_by:eq(12)', 'deal_created_by'],
    ['updated_by:eq(12)', 'deal_updated_by'],
    ['pipeline_stage:eq(8)', 'deal_stage'],
    ['status:eq(Lost)', 'deal_status'],
    ['source:eq(Blogs)', 'deal_source'],
    ['type:eq(New Business)', 'deal_type'],
    ['payment_status:eq(Offline)', 'deal_payment_status'],
    ['forecast_category:eq(Omitted)', 'deal_forecast_category'],
    ['won_reason:eq(Price)', 'deal_won_reason'],
    ['lost_reason:eq(Junk Lead)', 'deal_lost_reason'],
    ['related_contacts:eq(70)', 'deal_filled_related_contacts'],
    ['tags:eq(999)', 'deal_filled_tags'],
    ['tags:in(998,999)', 'deal_filled_tags'],
    [`cf_custom_text_field:eq(${rareText})`, 'deal_filled_custom'],
    [`cf_custom_text_field:in(${rareText},PO-0)`, 'deal_filled_custom'],
    ['cf_custom_address_field.city:eq(Nowhere)', 'deal_filled_custom'],
    ['cf_custom_email_field.email_value:eq(no@example.com)', 'deal_custom_emails'],
    ['expected_close_date:between(2020-01-01,2020-01-31)', 'deal_expected_close_date'],
    ['deal_value.value:gt(9000000000)', 'deal_deal_value_value'],
    ['created_at:lt(1000000)', 'deal_created_at'],
  ]
  const missed: string[] = []
  for (const [filter, index] of promised) {
    const plan = await planOf(`filter=${encodeURIComponent(filter)}`)
    if (!new RegExp(`(using|on) ${index}`).test(plan)) missed.push(`${filter}\n${plan}`)
  }
  assert.deepEqual(missed, [])
})

test('the usual sorts walk an index in both directions, from any cursor, and sort nothing', async () => {
  for (const field of [
    'id',
    'created_at',
    'updated_at',
    'expected_close_date',
    'deal_value',
    'deal_value.value',
    'title',
    'pipeline_stage',
  ]) {
    for (const direction of ['asc', 'desc']) {
      const sort = `sort=${field}:${direction}`
      const { nextCursor } = (await list(`${sort}&count=none`)).body.meta
      for (const query of [sort, `${sort}&cursor=${nextCursor}`]) {
        const plan = await planOf(query)
        assert.doesNotMatch(plan, /Seq Scan on deal|Sort Key: (?!x\.n|range)/, `${query}\n${plan}`)
        assert.match(plan, /Index (Only )?Scan/)
      }
    }
  }
})

test('a filter with an order of its own walks that order', async () => {
  const stageByValue = await planOf('filter=pipeline_stage:eq(5)&sort=deal_value:desc')
  assert.match(stageByValue, /deal_stage_value/)
  const mine = await planOf(
    'filter=sales_owner:eq(1),expected_close_date:between(2020-01-01,2020-12-31)&sort=expected_close_date:asc',
  )
  assert.match(mine, /deal_sales_owner_expected_close_date/)
})

test('the lanes of a board are read by the index of stages, each alone (D129)', async () => {
  const stage = deal.byName.get('pipeline_stage')!
  const ids = [...catalog.stages.keys()]
  for (const [query, index] of [
    ['', 'deal_stage'],
    ['sort=id:asc', 'deal_stage'],
    ['sort=deal_value:desc', 'deal_stage_value'],
    ['sort=deal_value:asc&filter=status:eq(Open)', 'deal_stage_value'],
  ] as const) {
    const asked = requestOf(query)
    const { text, values } = pagesByValueStatement({ catalog, actor: 1 }, asked, stage, ids)
    const rows = await db.query(`EXPLAIN (COSTS OFF) ${text}`, values)
    const plan = rows.map(row => row['QUERY PLAN']).join('\n')
    assert.match(plan, new RegExp(`using ${index} `), `${query}\n${plan}`)
    assert.doesNotMatch(plan, /Seq Scan on deal|Sort Key: (?!x\.n|range|parted)/, `${query}\n${plan}`)
  }
})

test('the sums of a board are read from an index alone, also of the deals closed since a day', async () => {
  const plans: string[] = []
  const reader: RawReader = {
    query: async (text, values, replan) => {
      if (/GROUP BY/.test(text)) {
        const rows = await db.query(`EXPLAIN (COSTS OFF) ${text}`, values, replan)
        plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
      }
      return db.query(text, values, replan)
    },
    queryBytes: (text, values, replan) => db.queryBytes(text, values, replan),
  }
  const rights = new Rights(new Set(['admin']), catalog.roles.values().next().value!)
  const caller = { catalog, actor: 1, rights }
  const request = await readReport(reader, board, caller, new Map([['closed_since', ['2026-01-01']]]), now)
  await board.answer(reader, caller, request)
  assert.equal(plans.length, 2)
  for (const plan of plans) assert.match(plan, /Index Only Scan using deal_closed_sums on deal/)
  assert.match(plans[1]!, /Index Cond: .*deal_closed_on/)
})

test('the texts of records are made of the page alone, also where all are sorted first', async () => {
  for (const [resource, query] of [
    ['deal', 'sort=created_by:asc'],
    ['contact', 'sort=created_by:asc&pageSize=500'],
    ['activity', 'sort=owner:asc'],
    ['activity', 'sort=due_at:asc&pageSize=500'],
    ['contact', 'sort=last_name:asc&page=3'],
  ] as const) {
    const { text, values } = pageStatement({ catalog, actor: 1 }, requestOf(query, resource))
    const rows = await db.query(`EXPLAIN (VERBOSE, COSTS OFF) ${text}`, values, true)
    const plan = rows.map(row => row['QUERY PLAN']!)
    const depthOf = (line = '') => line.search(/\S/)
    const sorts = plan.flatMap((line, index) =>
      /^\s*(->\s+)?(Incremental )?Sort$/.test(line) ? [index] : [],
    )
    assert.ok(sorts.length > 0, `${query}\n${plan.join('\n')}`)
    for (const sort of sorts) {
      const end = plan.findIndex((line, index) => index > sort && depthOf(line) <= depthOf(plan[sort]))
      const within = plan.slice(sort, end < 0 ? undefined : end).join('\n')
      assert.doesNotMatch(within, /concat\(/, `${resource} ${query}\n${plan.join('\n')}`)
    }
  }
})

test('a common custom value is found by walking the order, a rare one by its index', async () => {
  const planned = async (query: string) => {
    const request = await withSelectivity(db, { catalog, actor: 1 }, requestOf(query))
    const { text, values } = pageStatement({ catalog, actor: 1 }, request)
    return (await db.query(`EXPLAIN (COSTS OFF) ${text}`, values, true))
      .map(row => row['QUERY PLAN'])
      .join('\n')
  }
  assert.match(await planned(`filter=cf_custom_text_field:eq(${rareText})`), /deal_filled_custom/)
  for (const filter of [
    'cf_custom_dropdown_field:eq(Gold)',
    'status:eq(Open),cf_custom_dropdown_field:in(Gold,Silver)',
  ]) {
    const plan = await planned(`filter=${filter}`)
    assert.doesNotMatch(plan, /deal_filled_custom/)
  }
  // The rows are the same, whichever way.
  const exact = (await list('filter=cf_custom_dropdown_field:eq(Gold)&count=exact&pageSize=1')).body.meta
    .total
  const others = (await list('filter=not(cf_custom_dropdown_field:eq(Gold))&count=exact&pageSize=1')).body
    .meta.total
  const all = (await list('count=exact&pageSize=1')).body.meta.total
  assert.equal(exact + others, all)
  const page = (await list('filter=cf_custom_dropdown_field:eq(Gold)&pageSize=50')).body.data
  const gold = deal.byName.get('cf_custom_dropdown_field')!.options.find(option => option.name === 'Gold')!.id
  assert.ok(
    page.length === 50 &&
      page.every((found: Record<string, number>) => found.cf_custom_dropdown_field === gold),
  )
})

test('a custom field that is marked so has an index for its ranges and sorts', async () => {
  const field = deal.byName.get('cf_custom_number_field')!
  assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { is_indexed: true })).status, 200)
  const state = async () => (await get(`${v1}/field/${field.id}`)).body.data.index.state
  await eventually(async () => (await state()) === 'ready', 'an index')
  await db.query('ANALYZE deal')
  for (const query of [
    'sort=cf_custom_number_field:desc',
    'sort=cf_custom_number_field:asc',
    'filter=cf_custom_number_field:between(10,11)&sort=cf_custom_number_field:asc',
  ]) {
    const plan = await planOf(query)
    assert.match(plan, new RegExp(`(using|on) custom_1_${field.id}`), `${query}\n${plan}`)
  }
})

test('totals are exact to ten thousand, then an estimate, unless another count is asked for', async () => {
  const meta = async (query: string) => (await list(`pageSize=1&${query}`)).body.meta
  const all = await meta('')
  assert.equal(all.totalIsEstimate, true)
  assert.ok(all.total > 10_000 && all.total < 40_000, String(all.total))
  assert.deepEqual(await meta('count=exact').then(({ total, totalIsEstimate }) => [total, totalIsEstimate]), [
    20_300,
    false,
  ])
  const common = await meta(`filter=title:like(${commonWord})`)
  assert.deepEqual([common.total, common.totalIsEstimate], [4000, false])
  const estimated = await meta(`count=estimate&filter=title:like(${commonWord})`)
  assert.equal(estimated.totalIsEstimate, true)
  assert.ok(estimated.total > 1000 && estimated.total < 16_000, String(estimated.total))
  // An estimate is cached during others' writes; an exact total is not.
  const [gone] = (await list(`pageSize=1&filter=title:like(${commonWord})`)).body.data
  await call('DELETE', `${v1}/deal/${gone.id}`)
  assert.equal((await meta('')).total, all.total)
  assert.equal((await meta(`filter=title:like(${commonWord})`)).total, 3999)
})

test('a page beyond row 100 000 is refused with the cursor as the way', async () => {
  const reply = await list('page=5000&pageSize=500')
  assert.equal(reply.status, 400)
  assert.match(reply.body.errors[0].hint, /nextCursor/)
})

test('a filter of all that is allowed is answered', async () => {
  const terms = Array.from(
    { length: 50 },
    (_, index) => `cf_custom_text_field:like(nothing has this ${index})`,
  )
  const reply = await call('POST', `${v1}/deal/view/list`, { filter: `or(${terms.join(',')})` })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.meta.total, 0)
  const many = Array.from({ length: 5000 }, (_, index) => 1000 + index * 2)
  const found = await call('POST', `${v1}/deal/view/list`, {
    filter: `id:in(${many.join(',')})`,
    pageSize: 500,
  })
  assert.equal(found.body.meta.total, 5000)
})

test('what points to contacts is looked up by index, also where all deals point to one', async () => {
  await db.query('UPDATE deal SET primary_contact = (SELECT min(id) FROM contact) WHERE account_id = 1')
  await db.query('ANALYZE deal')
  const ids = `{${Array.from({ length: 500 }, (_, index) => 9_000_000 + index).join()}}`
  const conditions = unpointed('contact', params, sql`${param(ids)}::bigint[]`, [])
  assert.ok(conditions.length >= 3)
  for (const condition of conditions) {
    const { text, values } = compile(sql`EXPLAIN (COSTS OFF) SELECT 1 WHERE ${condition}`)
    const plan = (await db.query(text, values, true)).map(row => row['QUERY PLAN']).join('\n')
    assert.doesNotMatch(plan, /Seq Scan on deal/, plan)
  }
})

test('a page of a past day reads the records of that day once, whatever it is sorted by', async () => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const plans: string[] = []
  const explained: RawReader = {
    query: db.query,
    queryBytes: async (text, values) => {
      const rows = await db.query(`EXPLAIN (COSTS OFF) ${text}`, values, true)
      plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
      return []
    },
  }
  const caller = { catalog, actor: 1 }
  for (const sort of ['deal_value:desc', 'pipeline_stage:asc', 'expected_close_date:asc', 'source:desc']) {
    const past = requestOf(`sort=${sort}&as_of=${yesterday}`)
    const { reader } = await asOfDay(explained, caller, past)
    const { text, values } = pageStatement(caller, past)
    await reader.queryBytes(text, values)
    assert.equal(plans.at(-1)!.match(/Scan.* on deal\b/g)?.length, 1, `${sort}\n${plans.at(-1)}`)
  }
})

test('a list of a past day does not decide how the current one is read', async () => {
  for (let n = 0; n < 5; n++) {
    const body = dealBody(known, { cf_custom_text_field: 'Since today' })
    assert.equal((await call('POST', `${v1}/deal`, body)).status, 201)
  }
  const caller = { catalog, actor: 1 }
  const filter = 'filter=cf_custom_text_field:eq(Since today)'
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const past = requestOf(`${filter}&as_of=${yesterday}`)
  const { reader } = await asOfDay(db, caller, past)
  assert.equal(await withSelectivity(reader, caller, past), past)
  const { filter: marked } = await withSelectivity(db, caller, requestOf(filter))
  assert.ok(conditionsOf(marked).every(({ isCommon }) => isCommon))
})
