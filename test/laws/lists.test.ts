/**
 * Laws of lists on random data: any filter and sort give exactly the rows of a naive evaluation in memory, in
 * its order; the pages of a cursor are that list, without duplicates, despite concurrent inserts and deletes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { operators } from '../../src/fields/term.ts'
import { seed, shareOf } from '../support/questions.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import {
  type Condition,
  compare,
  conditionOf,
  type Deal,
  keepFewDeals,
  type Path,
  pathsOf,
  type Value,
  valuesOf,
} from './naive.ts'

const service = await startService()
const { call, get, known } = service
await keepFewDeals(service)
const list = async (parameters: { [name: string]: string }) => {
  const reply = await get(`${v1}/deal/view/list?${new URLSearchParams(parameters)}`)
  assert.equal(reply.status, 200, `${JSON.stringify(parameters)}: ${reply.text}`)
  return reply.body as { data: Deal[]; meta: { total: number; hasMore: boolean; nextCursor: string | null } }
}

// Options in another order than their ids', as administrators arrange them: a sort follows the arrangement.
await service.db.query('UPDATE pipeline_stage SET position = 10 - position WHERE account_id = $1::bigint', [
  '1',
])
await service.db.query(
  "UPDATE option SET position = id % 3 WHERE account_id = $1::bigint AND resource = 'deal'",
  ['1'],
)

// Letters whose case engines, libraries and languages know differently (D126), and two spellings of one. Few,
// so that titles are alike.
const letters = [
  ...[
    'Ⓐ',
    'ⓐ',
    'İ',
    'I',
    'i',
    'ı',
    'ẞ',
    'ß',
    'Σ',
    'σ',
    'ς',
    'é',
    'e\u0301',
    'É',
    'Ǆ',
    'ǅ',
    'ǆ',
    '\u212a',
    'k',
  ],
  // Georgian, Cherokee, Deseret, Osage, Adlam, Garay, Beria Erfe
  ...['Ა', 'ა', 'Ꭰ', 'ꭰ', '𐐀', '𐐨', '𐒰', '𐓘', '𞤀', '𞤢', '\u{10d50}', '\u{10d70}', '\u{16ea0}', '\u{16ebb}'],
]
// Random deals beside the sample's: few values, so that they repeat, and many absences.
const some = <T>(...values: T[]) => fc.constantFrom(undefined, null, ...values)
const randomDeal = fc.record({
  title: fc.oneof(
    fc.constantFrom('Alpha', 'alpha', 'Äther', 'beta, gamma', '50%', 'x_y'),
    fc.string({ minLength: 1, maxLength: 40 }).filter(text => text.trim() !== ''),
    fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 3 }),
  ),
  pipeline_stage: fc.constantFrom(known.stages.New!, known.stages.Qualified!, known.stages.Proposal!),
  company: some(known.company),
  description: some('one', 'Two', '"three"', 'ΟΔΟΣ', 'οδος', 'οδόσ'),
  tags: fc.subarray(known.tags.slice(0, 4)),
  related_contacts: fc.subarray(known.contacts.slice(0, 3)),
  source: some('Web', 'Email', 'Blogs'),
  expected_close_date: some('2026-12-01', '2026-12-24', '2027-02-28'),
  deal_value: some(
    { currency: 'USD', value: 100 },
    { currency: 'EUR', value: '100.5' },
    { currency: 'JPY', value: 7 },
  ),
  expected_deal_value: some({ currency: 'USD', value: '9999999999999' }, { currency: 'KWD', value: '0.125' }),
  cf_custom_text_field: some('a', 'B', 'c d', '(e)', 'TITLE ı', 'title İ', 'Café', 'CAFE\u0301'),
  cf_custom_large_txt_field: some('long '.repeat(52), `${'long '.repeat(52)}er`),
  cf_custom_number_field: some(0, -1.5, 1e15),
  cf_custom_dropdown_field: some('Gold', 'Silver'),
  cf_custom_multiselect_field: some(['Training'], ['Training', 'Support']),
  cf_custom_monetory_field: some({ currency: 'USD', value: '0.01' }, { currency: 'EUR', value: 5 }),
  cf_custom_email_field: some([{ email_type: 'home', email_value: 'a@example.com' }]),
  cf_custom_phone_field: some([{ phone_type: 1, phone_number: '+1 555 0100' }]),
  cf_custom_address_field: some({ city: 'Lyon' }, { city: 'lyon', zipcode: '06900' }),
  cf_custom_time_field: some('09:30', '23:59'),
  cf_custom_date_field: some('2026-02-28', '2028-02-29'),
  cf_custom_date_range_field: some({ range: { from: '2026-01-01', to: '2026-01-31' } }),
  cf_custom_date_time_range_field: some({
    range: { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00+02:00' },
  }),
})
const bodies = fc.sample(randomDeal, { numRuns: 90, seed })
await Promise.all(
  bodies.map(async body => {
    const members = JSON.parse(JSON.stringify(body))
    const created = await call('POST', `${v1}/deal`, dealBody(known, members))
    assert.equal(created.status, 201, created.text)
  }),
)
const paths = await pathsOf(service, 'deal')
const deals = (await list({ pageSize: '500' })).data
assert.equal(deals.length, 190)

const condition: fc.Arbitrary<Condition> = fc
  .record({
    path: fc.constantFrom(...paths),
    operator: fc.constantFrom(...operators),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  })
  .map(({ path, operator, picks }) => conditionOf(path, operator, valuesAt(path, picks)))
  .filter(made => made !== null)

function valuesAt(path: Path, picks: readonly number[]): Value[] {
  const all = deals.flatMap(deal => valuesOf(path, deal))
  return all.length ? picks.map(pick => all[pick % all.length]!) : []
}

const { filter } = fc.letrec<{ filter: Condition }>(tie => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    condition,
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(of => ({
      text: `and(${of.map(one => one.text).join(',')})`,
      holds: (deal: Deal) => of.every(one => one.holds(deal)),
    })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(of => ({
      text: `or(${of.map(one => one.text).join(',')})`,
      holds: (deal: Deal) => of.some(one => one.holds(deal)),
    })),
    tie('filter').map(one => ({ text: `not(${one.text})`, holds: (deal: Deal) => !one.holds(deal) })),
  ),
}))

const sortKeys = fc.uniqueArray(
  fc.record({
    path: fc.constantFrom(...paths.filter(path => path.sortKey)),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { minLength: 1, maxLength: 3, selector: ({ path }) => path.path },
)
const textOf = (keys: readonly { path: Path; direction: string }[]) =>
  keys.map(({ path, direction }) => `${path.path}:${direction}`).join(',')
const idsOf = (rows: readonly Deal[]) => rows.map(deal => deal.id)

test('any filter and sort give the rows of a naive evaluation, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(filter, sortKeys, async ({ text, holds }, keys) => {
      const wanted = deals.filter(holds).toSorted((one, other) => compare(one, other, keys))
      // Once more, and when it is cached.
      for (let time = 1; time <= 3; time++) {
        const { data, meta } = await list({ filter: text, sort: textOf(keys), pageSize: '500' })
        assert.deepEqual(idsOf(data), idsOf(wanted))
        assert.equal(meta.total, wanted.length)
      }
    }),
    { seed, numRuns: shareOf(250) },
  )
})

test('numbered pages and cursor pages are the same list, each row once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(condition),
      sortKeys,
      fc.integer({ min: 20, max: 150 }),
      async (only, keys, size) => {
        const wanted = deals
          .filter(deal => only?.holds(deal) ?? true)
          .toSorted((one, other) => compare(one, other, keys))
        const parameters = {
          sort: textOf(keys),
          pageSize: String(size),
          count: 'none',
          ...(only ? { filter: only.text } : {}),
        }
        const [byNumber, byCursor]: Deal[][] = [[], []]
        for (let page = 1, cursor: string | null = ''; cursor !== null; page++) {
          byNumber!.push(...(await list({ ...parameters, page: String(page) })).data)
          const { data, meta }: Awaited<ReturnType<typeof list>> = await list({
            ...parameters,
            ...(cursor ? { cursor } : {}),
          })
          byCursor!.push(...data)
          assert.equal(meta.hasMore, meta.nextCursor !== null)
          cursor = meta.nextCursor
        }
        assert.deepEqual(idsOf(byCursor!), idsOf(wanted))
        assert.deepEqual(idsOf(byNumber!), idsOf(wanted))
      },
    ),
    { seed, numRuns: shareOf(60) },
  )
})

test('a cursor neither skips nor repeats a row while others are inserted and deleted', async () => {
  let round = 0
  await fc.assert(
    fc.asyncProperty(sortKeys, async keys => {
      const before = new Set(idsOf((await list({ pageSize: '500', count: 'none' })).data))
      const [seen, gone]: Set<number>[] = [new Set(), new Set()]
      const sort = textOf(keys)
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { data, meta }: Awaited<ReturnType<typeof list>> = await list({
          sort,
          pageSize: '60',
          ...(cursor ? { cursor } : {}),
        })
        for (const { id } of data) {
          assert.ok(!seen!.has(id), `${id} twice by ${sort}`)
          seen!.add(id)
        }
        cursor = meta.nextCursor
        // A shown one (the last, which is the cursor), one that may be to come, and a new one anywhere.
        const victims = [data.at(-1)?.id, [...before][(round * 37) % before.size]]
        for (const id of victims)
          if (id && (await call('DELETE', `${v1}/deal/${id}`)).status === 200) gone!.add(id)
        const body = bodies[round++ % bodies.length]!
        await call('POST', `${v1}/deal`, dealBody(known, { title: body.title, source: body.source ?? null }))
      }
      for (const id of before) if (!gone!.has(id)) assert.ok(seen!.has(id), `${id} was skipped by ${sort}`)
    }),
    { seed, numRuns: shareOf(12) },
  )
})
