/**
 * Every operator gives exactly the rows of a naive filter in memory; every sort is the order of a naive sort.
 * On real, uneven data.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operators } from '../../src/fields/field.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { compare, conditionOf, contains, type Deal, pathsOf, valuesOf } from './naive.ts'

const service = await startService()
const { call, get, known } = service

await Promise.all(
  ['50% off_season', 'a_b', 'A(b), c', 'ÄPFEL und birnen', "O'Brien \\ Sons", '"quoted"'].map(
    (title, index) =>
      call(
        'POST',
        `${v1}/deal`,
        dealBody(known, {
          title,
          description: title,
          metadata: { notes: title.length, null: 1, tags: [title], Ünïcode: null },
          cf_custom_text_field: title,
          cf_custom_large_txt_field: title.repeat(40),
          cf_custom_address_field: { city: title },
          expected_deal_value: { currency: 'EUR', value: 1000 * index },
          cf_custom_time_field: `0${index}:30`,
          cf_custom_date_field: `2026-0${index + 1}-15`,
          cf_custom_phone_field: [{ phone_type: 1, phone_number: `+1 555 010${index}` }],
          cf_custom_date_range_field: { range: { from: `2026-0${index + 1}-01`, to: '2026-12-31' } },
          cf_custom_date_time_range_field: {
            range: { from: '2026-01-01T00:00:00Z', to: `2026-0${index + 1}-01T09:00:00+01:00` },
          },
          cf_custom_multiselect_field: ['Training', 'Support'],
        }),
      ),
  ),
)
const deals: Deal[] = (await get(`${v1}/deal/view/list?pageSize=500`)).body.data

async function listed(query: string): Promise<number[]> {
  const reply = await get(`${v1}/deal/view/list?pageSize=500&count=none&${query}`)
  assert.equal(reply.status, 200, `${query}: ${reply.text}`)
  return reply.body.data.map((deal: Deal) => deal.id)
}

async function agrees(filter: string, isWanted: (deal: Deal) => boolean): Promise<void> {
  const wanted = deals.filter(isWanted).map(deal => deal.id)
  assert.deepEqual(await listed(`filter=${encodeURIComponent(filter)}&sort=id:desc`), wanted, filter)
}

for (const path of await pathsOf(service)) {
  const all = deals.flatMap(deal => valuesOf(path, deal))
  const some = [0.2, 0.8]
    .map(part => all[Math.floor(all.length * part)]!)
    .filter(value => value !== undefined)

  test(`${path.path}: operators agree with a filter in memory`, async () => {
    assert.ok(some.length, 'no deal has a value: the law would hold for nothing')
    const tried = [...some.map(value => [value]), some]
    const conditions = operators.flatMap(operator => tried.map(values => conditionOf(path, operator, values)))
    await Promise.all(
      conditions
        .filter(condition => condition !== null)
        .flatMap(({ text, holds }) => [agrees(text, holds), agrees(`not(${text})`, deal => !holds(deal))]),
    )
    await agrees(`${path.path}:isnull(false)`, deal => valuesOf(path, deal).length > 0)
    await agrees(`${path.path}:notnull(false)`, deal => valuesOf(path, deal).length === 0)
  })

  if (path.sortKey) {
    test(`${path.path}: sorts in both directions, nulls last, ties by id`, async () => {
      for (const direction of ['asc', 'desc'] as const) {
        const wanted = deals.toSorted((one, other) => compare(one, other, [{ path, direction }]))
        assert.deepEqual(
          await listed(`sort=${path.path}:${direction}`),
          wanted.map(deal => deal.id),
          direction,
        )
      }
    })
  }
}

test('like is contains, in any case, with % and _ as they stand', async () => {
  const words = [
    'renewal',
    'RENEWAL',
    '%',
    '_',
    'a_b',
    'äpfel',
    'A\u0308PFEL',
    "O'Brien \\",
    '"quo',
    'A(b), c',
  ]
  for (const word of words) {
    await agrees(`title:like(${word})`, deal => contains(deal.title, word))
  }
})

test('conditions combine: commas and repeated filters are AND; and, or and not nest', async () => {
  const [stage, tag] = [known.stages.Proposal!, known.tags[0]!]
  const inStage = (deal: Deal) => deal.pipeline_stage === stage
  const tagged = (deal: Deal) => deal.tags.includes(tag)
  await agrees(`pipeline_stage:eq(${stage}),tags:eq(${tag})`, deal => inStage(deal) && tagged(deal))
  await agrees(`or(pipeline_stage:eq(${stage}),tags:eq(${tag}))`, deal => inStage(deal) || tagged(deal))
  await agrees(
    `not(or(pipeline_stage:eq(${stage}),tags:eq(${tag})))`,
    deal => !inStage(deal) && !tagged(deal),
  )
  await agrees(
    `or(and(pipeline_stage:eq(${stage}),not(tags:eq(${tag}))),status:eq(Won))`,
    deal => (inStage(deal) && !tagged(deal)) || deal.status === 2,
  )
  const repeated = await get(
    `${v1}/deal/view/list?pageSize=500&filter=pipeline_stage:eq(${stage})&filter=tags:eq(${tag})`,
  )
  assert.equal(repeated.body.meta.total, deals.filter(deal => inStage(deal) && tagged(deal)).length)
})

test('exists asks for the member, null or not, by any name', async () => {
  for (const name of ['notes', 'null', 'Ünïcode', 'from']) {
    await agrees(`metadata.${name}:exists(true)`, deal => name in deal.metadata)
    await agrees(`metadata.${name}:exists(false)`, deal => !(name in deal.metadata))
  }
  await agrees('metadata.Ünïcode:isnull(true)', () => true)
  await agrees('metadata.tags.0:eq(a_b)', deal => deal.metadata.tags?.[0] === 'a_b')
  await agrees('metadata.tags.0:exists(true)', deal => 'tags' in deal.metadata)
  await agrees('metadata.tags.1:exists(true)', () => false)
})

test('a composite field as a whole is there or not', async () => {
  await agrees('cf_custom_address_field:notnull(true)', deal => 'cf_custom_address_field' in deal)
  await agrees('cf_custom_address_field:exists(false)', deal => !('cf_custom_address_field' in deal))
  await agrees('metadata:exists(true)', deal => Object.keys(deal.metadata).length > 0)
})
