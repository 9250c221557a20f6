/** Conditions in words → filters (D146). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFilter } from '../../client/src/filter.ts'
import type { Catalog, CatalogRows } from '../../src/fields/catalog.ts'
import { buildCatalog } from '../../src/fields/catalog.ts'
import { type ConditionContext, filtersOf } from '../../src/mcp/conditions.ts'
import { ToolRefusal } from '../../src/mcp/refusal.ts'
import { resources } from '../../src/resources/resources.ts'

const currency = (id: number, code: string, rate: string | null) => ({
  ...{ id, code, name: code, symbol: code, decimals: 2, rate, is_active: true },
})
const option = (id: number, name: string) => ({
  ...{ resource: 'deal', field: 'source', id, name, position: id, is_active: true, is_default: false },
})
const rows: CatalogRows = {
  account: { id: 1, name: 'A', time_zone: 'UTC', locale: null, base_currency: 840, catalog_version: '1' },
  followed_at: '2026-01-01T00:00:00.000Z',
  ...{ fields: [], forms: [], pipelines: [], stages: [], roles: [] },
  options: [option(1, 'Web'), option(2, 'Trade fair, spring'), option(3, 'This or that')],
  currencies: [currency(840, 'USD', '1'), currency(978, 'EUR', '1.1'), currency(756, 'CHF', null)],
}
const catalog: Catalog = buildCatalog(resources, rows)
const context: ConditionContext = {
  ...{ schema: catalog.resources.get('deal')!, catalog, actor: 7, today: '2026-03-31' },
  ids: new Map([['contact ana silva', 42]]),
}
const one = (text: string) => filtersOf([text], context).filter[0]

test('conditions in words', () => {
  for (const [words, filter] of [
    ['stage is Proposal', 'pipeline_stage:eq(Proposal)'],
    ['pipeline_stage = Proposal', 'pipeline_stage:eq(Proposal)'],
    ['Stage is not Proposal', 'pipeline_stage:neq(Proposal)'],
    ['stage is one of Proposal, Qualified or New', 'pipeline_stage:in(Proposal,Qualified,New)'],
    ['stage is Proposal or Qualified', 'pipeline_stage:in(Proposal,Qualified)'],
    ['stage is Proposal or status is Won', 'or(pipeline_stage:eq(Proposal),status:eq(Won))'],
    ['stage is none of New, Lost', 'pipeline_stage:nin(New,Lost)'],
    ['source is Trade fair, spring', 'source:eq(Trade fair, spring)'],
    ['source is This or that', 'source:eq(This or that)'],
    ['source is one of "Trade fair, spring", Web', 'source:in("Trade fair, spring",Web)'],
    ['title contains black or white', 'title:like(black or white)'],
    ['title is "Acme Inc."', 'title:eq(Acme Inc.)'],
    ["title doesn't contain test", 'not(title:like(test))'],
    ['title not contains test', 'not(title:like(test))'],
    ['title is not like test', 'not(title:like(test))'],
    ['title does not have test', 'not(title:like(test))'],
    ['title is like test', 'title:like(test)'],
    ['title is containing test', 'title:like(test)'],
    ['title is equal to Acme', 'title:eq(Acme)'],
    ['title equals to Acme', 'title:eq(Acme)'],
    ['title is not equal to Acme', 'title:neq(Acme)'],
    ['title does not equal Acme', 'title:neq(Acme)'],
    ["title isn't one of A, B", 'title:nin(A,B)'],
    ['stage isn’t New', 'pipeline_stage:neq(New)'],
    ['tags does not contain 5', 'not(tags:in(5))'],
    ['title is notable', 'title:eq(notable)'],
    ['title is likely', 'title:eq(likely)'],
    ['title contains "one or title is two"', 'title:like(one or title is two)'],
    ['title is "one or two" or title is three', 'or(title:eq(one or two),title:eq(three))'],
    ['title is one of 5, 7 EUR', 'title:in(5,7 EUR)'],
    ['owner is me', 'sales_owner:eq(7)'],
    ['owner is not me', 'sales_owner:neq(7)'],
    ['sales_owner.email is ada@example.com', 'sales_owner.email:eq(ada@example.com)'],
    ['company.name contains acme', 'company.name:like(acme)'],
    ['deal_value over 10000', 'deal_value:gt(10000)'],
    ['deal_value>10000', 'deal_value:gt(10000)'],
    ['amount is at least 10k', 'deal_value:gte(10000)'],
    ['value under 1.5m', 'deal_value:lt(1500000)'],
    ['deal_value > 10,000 EUR', 'deal_value:gt(11000)'],
    ['deal_value between EUR 1000 and 2000 EUR', 'deal_value:between(1100,2200)'],
    ['deal_value between 1000 and 2000 EUR', 'deal_value:between(1100,2200)'],
    ['deal_value between EUR 1k and 2k', 'deal_value:between(1100,2200)'],
    ['deal_value is one of 10, 20 EUR', 'deal_value:in(11,22)'],
    ['deal_value over USD 5 EUR', 'deal_value:gt(USD 5 EUR)'],
    ['rotting_days > 0', 'rotting_days:gt(0)'],
    ['age over 1k', 'age:gt(1000)'],
    ['source is empty', 'source:isnull(true)'],
    ['source is not empty', 'source:notnull(true)'],
    ['expected close date is this month', 'expected_close_date:between(2026-03-01,2026-03-31)'],
    ['expected_close_date is 2026-03-05', 'expected_close_date:eq(2026-03-05)'],
    ['expected_close_date is not this year', 'not(expected_close_date:between(2026-01-01,2026-12-31))'],
    ['expected_close_date in the next 14 days', 'expected_close_date:between(2026-03-31,2026-04-14)'],
    ['updated_at before 30 days ago', 'updated_at:lt(2026-03-01)'],
    ['updated_at is older than 30 days', 'updated_at:lt(2026-03-01)'],
    ['updated_at more than 30 days ago', 'updated_at:lt(2026-03-01)'],
    ['updated_at was over 30 days ago', 'updated_at:lt(2026-03-01)'],
    ['updated_at less than 30 days ago', 'updated_at:gt(2026-03-01)'],
    ['updated_at at least 30 days ago', 'updated_at:lte(2026-03-01)'],
    ['updated_at at most 30 days ago', 'updated_at:gte(2026-03-01)'],
    ['updated_at after 30 days ago', 'updated_at:gt(2026-03-01)'],
    ['created_at since last month', 'created_at:gte(2026-02-01)'],
    ['created_at after last month', 'created_at:gt(2026-02-28)'],
    ['created_at until last month', 'created_at:lte(2026-02-28)'],
    ['created_at between 2026-01-01 and yesterday', 'created_at:between(2026-01-01,2026-03-30)'],
    ['created_at from january', 'created_at:gte(2026-01-01)'],
    ['created_at from january to march', 'created_at:between(2026-01-01,2026-03-31)'],
    ['primary_contact is Ana Silva', 'primary_contact:eq(42)'],
    ['primary_contact is ana@example.com', 'primary_contact:eq(ana@example.com)'],
    ['primary_contact is 9', 'primary_contact:eq(9)'],
    ['title:like(solar),status:eq(Open)', 'title:like(solar),status:eq(Open)'],
    ['or(status:eq(Won),status:eq(Lost))', 'or(status:eq(Won),status:eq(Lost))'],
  ] as const) {
    assert.equal(one(words), filter, words)
    assert.doesNotThrow(() => parseFilter(filter))
  }
})

test('an amount in another currency is told as it was compared', () => {
  const { notes } = filtersOf(['deal_value over EUR 100'], context)
  assert.deepEqual(notes, ['EUR 100 was compared as USD 110.'])
})

test('an amount that can not be compared is refused, not compared without its currency', () => {
  for (const [words, message] of [
    ['deal_value over 10000 CHF', 'CHF has no rate.'],
    ['deal_value over XYZ 10000', 'There is no currency XYZ.'],
    ['deal_value over 5 mio', 'There is no currency MIO.'],
    ['deal_value between 1 and 5 CHF', 'CHF has no rate.'],
    ['age over 30 EUR', 'age is a number, without EUR.'],
    ['age over 30 day', 'age is a number, without DAY.'],
  ] as const)
    assert.throws(
      () => filtersOf([words], context),
      error => error instanceof ToolRefusal && error.problems[0]!.message === message,
      words,
    )
})

test('names that the grammar does not take are asked for', () => {
  const { unknown } = filtersOf(['primary_contact is one of Ben Ode, Ana Silva'], context)
  assert.deepEqual(unknown, [{ resource: 'contact', name: 'Ben Ode' }])
})

test('what cannot be read is refused with the field that may be meant', () => {
  for (const [words, hint] of [
    ['colour is blue', /field list/],
    ['stge is New', /Did you mean "pipeline_stage"|field list/],
    ['stage', /Write a field/],
    ['stage somehow Proposal', /Write a field/],
    ['title starts with A', /Write a field/],
    ['title is not starting with A', /Write a field/],
    ['title does not end with A', /Write a field/],
    ['expected_close_date is someday', /Write a field|words/],
    ['', /.*/],
  ] as const)
    assert.throws(
      () => filtersOf([words], context),
      error => error instanceof ToolRefusal && hint.test(error.problems[0]!.hint!),
      words,
    )
})

test('every text is read or refused', () => {
  const long = ['a', ' ', 'is ', 'or ', '"', ', ', '(', 'between ', '1,'].map(part =>
    part.repeat(500 / part.length),
  )
  for (const text of long.flatMap(part => [
    part,
    `stage is ${part}`,
    `created_at in ${part}`,
    `deal_value over ${part}`,
  ])) {
    try {
      filtersOf([text.slice(0, 500)], context)
    } catch (error) {
      assert.ok(error instanceof ToolRefusal, String(error))
    }
  }
})
