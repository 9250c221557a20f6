/** Every operator gives exactly the rows of a naive filter in memory; every sort is the order of a naive sort. On real, uneven data. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, known } = await startService()

// biome-ignore lint/suspicious/noExplicitAny: records are whatever the service answers
type Deal = any
type Value = string | number | null
type Sort = 'text' | 'number' | 'id'

await Promise.all(
  ['50% off_season', 'a_b', 'A(b), c', 'ÄPFEL und birnen', "O'Brien \\ Sons", '"quoted"'].map(title =>
    call(
      'POST',
      `${v1}/deal`,
      dealBody(known, { title, description: title, metadata: { notes: title.length }, cf_custom_text_field: title }),
    ),
  ),
)
const deals: Deal[] = (await get(`${v1}/deal/view/list?pageSize=500`)).body.data

/** A path of the filter grammar, the values it speaks of, and how they compare. Several values: the field holds many. */
const paths: { path: string; type: Sort; of(deal: Deal): Value | Value[]; many?: true; operand?(value: Value): string }[] = [
  { path: 'id', type: 'number', of: deal => deal.id },
  { path: 'title', type: 'text', of: deal => deal.title },
  { path: 'description', type: 'text', of: deal => deal.description },
  { path: 'deal_value', type: 'number', of: deal => deal.deal_value?.value ?? null },
  { path: 'deal_value.value', type: 'number', of: deal => deal.deal_value?.value ?? null },
  { path: 'deal_value.currency', type: 'id', of: deal => deal.deal_value?.currency ?? null },
  { path: 'weighted_value.value', type: 'number', of: deal => deal.weighted_value?.value ?? null },
  { path: 'source', type: 'id', of: deal => deal.source },
  { path: 'status', type: 'id', of: deal => deal.status },
  { path: 'pipeline_stage', type: 'id', of: deal => deal.pipeline_stage },
  { path: 'sales_owner', type: 'number', of: deal => deal.sales_owner },
  { path: 'company', type: 'number', of: deal => deal.company },
  { path: 'tags', type: 'id', of: deal => deal.tags, many: true },
  { path: 'related_contacts', type: 'id', of: deal => deal.related_contacts, many: true },
  { path: 'expected_close_date', type: 'text', of: deal => deal.expected_close_date },
  { path: 'created_at', type: 'text', of: deal => deal.created_at },
  { path: 'won_time', type: 'text', of: deal => deal.won_time, operand: value => String(Date.parse(String(value))) },
  { path: 'age', type: 'number', of: deal => deal.age },
  { path: 'rotting_days', type: 'number', of: deal => deal.rotting_days },
  { path: 'stage_probability', type: 'number', of: deal => deal.stage_probability },
  { path: 'cf_custom_text_field', type: 'text', of: deal => deal.cf_custom_text_field ?? null },
  { path: 'cf_custom_number_field', type: 'number', of: deal => deal.cf_custom_number_field ?? null },
  { path: 'cf_custom_dropdown_field', type: 'id', of: deal => deal.cf_custom_dropdown_field ?? null },
  { path: 'cf_custom_multiselect_field', type: 'id', of: deal => deal.cf_custom_multiselect_field ?? [], many: true },
  { path: 'cf_custom_owner_field', type: 'number', of: deal => deal.cf_custom_owner_field ?? null },
  { path: 'cf_custom_monetory_field.value', type: 'number', of: deal => deal.cf_custom_monetory_field?.value ?? null },
  {
    path: 'cf_custom_email_field.email_value',
    type: 'text',
    of: deal => (deal.cf_custom_email_field ?? []).map((mail: Deal) => mail.email_value),
    many: true,
  },
  { path: 'cf_custom_time_field', type: 'text', of: deal => deal.cf_custom_time_field ?? null },
]

/** Code points, as D48 says. */
const below = (one: Value, other: Value) =>
  typeof one === 'number' ? one < Number(other) : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))) < 0

async function listed(filter: string): Promise<number[]> {
  const reply = await get(`${v1}/deal/view/list?pageSize=500&count=none&filter=${encodeURIComponent(filter)}`)
  assert.equal(reply.status, 200, `${filter}: ${reply.text}`)
  return reply.body.data.map((deal: Deal) => deal.id)
}

async function agrees(filter: string, isWanted: (deal: Deal) => boolean): Promise<void> {
  const wanted = deals.filter(isWanted).map(deal => deal.id)
  assert.deepEqual(
    (await listed(filter)).toSorted((a, b) => a - b),
    wanted.toSorted((a, b) => a - b),
    filter,
  )
}

for (const { path, type, of, many, operand = String } of paths) {
  const valuesOf = (deal: Deal) => [of(deal)].flat().filter((value): value is string | number => value !== null)
  const all = deals.flatMap(valuesOf)
  const some = [0.1, 0.5, 0.9].map(part => all[Math.floor(all.length * part)]).filter(value => value !== undefined)

  test(`${path}: operators agree with a filter in memory`, async () => {
    await agrees(`${path}:isnull(true)`, deal => valuesOf(deal).length === 0)
    await agrees(`${path}:isnull(false)`, deal => valuesOf(deal).length > 0)
    await agrees(`${path}:notnull(true)`, deal => valuesOf(deal).length > 0)
    for (const value of some) {
      const text = operand(value)
      const quoted = `"${text.replace(/[\\"]/g, '\\$&')}"`
      const has = (deal: Deal) => valuesOf(deal).some(other => other === value)
      if (!/[()]/.test(text)) {
        await agrees(`${path}:eq(${text})`, has)
        await agrees(`${path}:neq(${text})`, deal => !has(deal))
      }
      await agrees(`${path}:in(${quoted})`, has)
      await agrees(`${path}:nin(${quoted})`, deal => !has(deal))
      await agrees(`not(${path}:in(${quoted}))`, deal => !has(deal))
      if (type === 'id') continue
      const where = (test: (other: Value) => boolean) => (deal: Deal) => valuesOf(deal).some(test)
      if (!/[()]/.test(text)) {
        await agrees(
          `${path}:lt(${text})`,
          where(other => below(other, value)),
        )
        await agrees(
          `${path}:lte(${text})`,
          where(other => !below(value, other)),
        )
        await agrees(
          `${path}:gt(${text})`,
          where(other => below(value, other)),
        )
        await agrees(
          `${path}:gte(${text})`,
          where(other => !below(other, value)),
        )
      }
      await agrees(`${path}:between(${quoted},${quoted})`, has)
    }
  })

  if (
    !many &&
    type === 'number' &&
    !path.includes('.') &&
    !['sales_owner', 'company', 'deal_value', 'cf_custom_owner_field'].includes(path)
  ) {
    test(`${path}: sorts by value, nulls last both ways, and totally`, async () => {
      for (const direction of ['asc', 'desc']) {
        const rows = (await get(`${v1}/deal/view/list?pageSize=500&sort=${path}:${direction}`)).body.data
        const sign = direction === 'asc' ? 1 : -1
        const wanted = deals.toSorted((one, other) => {
          const [a, b] = [of(one) as number | null, of(other) as number | null]
          if (a === b) return sign * (one.id - other.id)
          return a === null ? 1 : b === null ? -1 : sign * (a - b)
        })
        assert.deepEqual(
          rows.map((deal: Deal) => deal.id),
          wanted.map(deal => deal.id),
        )
      }
    })
  }
}

test('like is contains, in any case, with % and _ as they stand', async () => {
  for (const word of ['renewal', 'RENEWAL', '%', '_', 'a_b', 'äpfel', "O'Brien \\", '"quo', 'A(b), c']) {
    await agrees(`title:like(${word})`, deal => deal.title.toLowerCase().includes(word.toLowerCase()))
  }
})

test('conditions combine: commas and repeated filters are AND; and, or and not nest', async () => {
  const [stage, tag] = [known.stages.Proposal!, known.tags[0]!]
  const inStage = (deal: Deal) => deal.pipeline_stage === stage
  const tagged = (deal: Deal) => deal.tags.includes(tag)
  await agrees(`pipeline_stage:eq(${stage}),tags:eq(${tag})`, deal => inStage(deal) && tagged(deal))
  await agrees(`or(pipeline_stage:eq(${stage}),tags:eq(${tag}))`, deal => inStage(deal) || tagged(deal))
  await agrees(`not(or(pipeline_stage:eq(${stage}),tags:eq(${tag})))`, deal => !inStage(deal) && !tagged(deal))
  await agrees(
    `or(and(pipeline_stage:eq(${stage}),not(tags:eq(${tag}))),status:eq(Won))`,
    deal => (inStage(deal) && !tagged(deal)) || deal.status === 2,
  )
  const repeated = await get(`${v1}/deal/view/list?pageSize=500&filter=pipeline_stage:eq(${stage})&filter=tags:eq(${tag})`)
  assert.equal(repeated.body.meta.total, deals.filter(deal => inStage(deal) && tagged(deal)).length)
  await agrees('metadata.notes:exists(true)', deal => 'notes' in deal.metadata)
  await agrees('metadata.notes:exists(false)', deal => !('notes' in deal.metadata))
})
