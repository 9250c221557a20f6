/**
 * Every operator gives exactly the rows of a naive filter in memory; every sort is the order of a naive sort.
 * On real, uneven data.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldType, kinds } from '../../src/fields/kinds.ts'
import { operators } from '../../src/fields/term.ts'
import type { Json } from '../../src/json.ts'
import { type Samples, samples } from '../support/kind-samples.ts'
import { someOf, tooFew } from '../support/questions.ts'
import { triedSamples } from '../support/samples.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import {
  compare,
  conditionOf,
  contains,
  type Deal,
  keepFewDeals,
  type Path,
  pathsOf,
  valuesOf,
} from './naive.ts'

const service = await startService()
const { call, get, known } = service
await keepFewDeals(service)

// Titles that look like a pattern, a quoted text or an ordering.
const titles = ['50% off_season', 'a_b', 'A(b), c', 'ÄPFEL und birnen', "O'Brien \\ Sons", '"quoted"']
const made = async (resource: string, members: { [name: string]: Json }) => {
  const body = resource === 'deal' ? dealBody(known, members) : { name: 'A product', ...members }
  const reply = await call('POST', `${v1}/${resource}`, body)
  assert.equal(reply.status, 201, reply.text)
}
for (const [index, title] of titles.entries()) {
  const metadata = { notes: title.length, null: 1, tags: [title], Ünïcode: null }
  const texts = { title, description: title, cf_custom_text_field: title, metadata }
  await made('deal', {
    ...texts,
    cf_custom_large_txt_field: title.repeat(40),
    cf_custom_address_field: { city: title },
    expected_deal_value: { currency: 'EUR', value: 1000 * index },
  })
}
for (const { resource, field, good } of await triedSamples(service))
  for (const { input } of good) if (isPlain(input)) await made(resource, { [field]: input })

/** True if JavaScript prints the sent value unchanged, and short enough for a filter. */
function isPlain(input: Json): boolean {
  const text = JSON.stringify(input)
  return text.length < 500 && JSON.stringify(JSON.parse(text)) === text
}

const records = new Map<string, Deal[]>()
for (const resource of ['deal', 'product'])
  records.set(resource, (await get(`${v1}/${resource}/view/list?pageSize=500`)).body.data)
const deals = records.get('deal')!

async function listed(query: string, resource = 'deal'): Promise<number[]> {
  const reply = await get(`${v1}/${resource}/view/list?fields=id&pageSize=500&count=none&${query}`)
  assert.equal(reply.status, 200, `${query}: ${reply.text}`)
  return reply.body.data.map((deal: Deal) => deal.id)
}

async function agrees(filter: string, isWanted: (deal: Deal) => boolean, resource = 'deal'): Promise<void> {
  const wanted = records.get(resource)!.filter(isWanted)
  assert.deepEqual(
    await listed(`filter=${encodeURIComponent(filter)}&sort=id:desc`, resource),
    wanted.map(({ id }) => id),
    filter,
  )
}

/** One field of each configuration is enough. */
const seen = new Set<string>()
function isNew({ field, member }: Path): boolean {
  const { type, is_custom, is_required, is_filled, is_volatile, has_static_options } = field
  const { computed, in_base, related, within } = field
  const kindOf = [type, member, is_custom, is_required, is_filled, is_volatile, has_static_options]
  const make = JSON.stringify([...kindOf, !computed, !in_base, !related, !within])
  return !seen.has(make) && seen.add(make).size > 0
}
const tried = new Set<string>()

for (const resource of ['deal', 'product']) {
  for (const path of someOf(await pathsOf(service, resource))) {
    const all = records.get(resource)!.flatMap(record => valuesOf(path, record))
    if (all.length === 0 || !isNew(path)) continue
    tried.add(`${path.field.type} ${path.member}`)
    const name = `${resource}, ${path.path}`
    const some = [0.2, 0.8].map(part => all[Math.floor(all.length * part)]!)

    test(`${name}: operators agree with a filter in memory`, async () => {
      const of = [...some.map(value => [value]), some]
      const candidates = operators.flatMap(operator =>
        of.flatMap(values => conditionOf(path, operator, values) ?? []),
      )
      // An operator of one value reads the first of two, and one of none reads none: each is asked once.
      const conditions = new Map(candidates.map(({ text, holds }) => [text, holds]))
      await Promise.all(
        [...conditions].flatMap(([text, holds]) => [
          agrees(text, holds, resource),
          agrees(`not(${text})`, record => !holds(record), resource),
        ]),
      )
      await agrees(`${path.path}:isnull(false)`, record => valuesOf(path, record).length > 0, resource)
      await agrees(`${path.path}:notnull(false)`, record => valuesOf(path, record).length === 0, resource)
    })

    if (path.sortKey) {
      test(`${name}: sorts in both directions, nulls last, ties by id`, async () => {
        for (const direction of ['asc', 'desc'] as const) {
          const wanted = records
            .get(resource)!
            .toSorted((one, other) => compare(one, other, [{ path, direction }]))
          assert.deepEqual(
            await listed(`sort=${path.path}:${direction}`, resource),
            wanted.map(({ id }) => id),
            direction,
          )
        }
      })
    }
  }
}

test('every kind that has values was tried, with each of its members', { skip: tooFew }, () => {
  const byType = Object.entries(samples(known)) as [FieldType, Samples | null][]
  const wanted = byType.flatMap(([type, sample]) =>
    ['', ...kinds[type].members]
      .filter(member => sample && sample.at?.[member] !== null)
      .map(member => `${type} ${member}`),
  )
  // Members differ among the fields of a type: a member that no field has is unknown.
  assert.deepEqual(
    wanted.filter(one => !tried.has(one) && one !== 'MONETARY products'),
    [],
  )
})

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
