/**
 * Lists of deleted records, whose stage, contact or option may be deleted, too. By every sortable field, in
 * both directions, the pages of a cursor are the numbered pages, and records without a place in the order
 * come last.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someOf } from '../support/questions.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import type { Deal } from './naive.ts'

const { call, get, known } = await startService()
const done = async (method: string, path: string, body?: Parameters<typeof call>[2]) => {
  const reply = await call(method, v1 + path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body.data
}
const made = async (resource: string, body: Parameters<typeof call>[2]): Promise<number> =>
  (await done('POST', `/${resource}`, body)).id

// Deals whose stages and contacts are deleted after them, and with a deactivated option.
const pipeline = await made('pipeline', { name: 'Gone' })
const stages: number[] = []
for (const name of ['Later', 'Sooner']) stages.push(await made('pipeline_stage', { pipeline, name }))
const contact = await made('contact', { last_name: 'Gone' })
const source = (await get(`${v1}/field/list?source=deal`)).body.data.fields
  .flat()
  .find((field: Deal) => field.internal_name === 'source')
const option = (await done('POST', `/field/${source.id}/option`, { name: 'Gone' })).id
const deals: number[] = []
for (let index = 0; index < 24; index++) {
  const inGone = { pipeline, pipeline_stage: stages[index % 2]!, primary_contact: contact, source: option }
  const members = {
    title: `Deal ${index % 5}`,
    description: index % 4 ? `${index % 7}` : null,
    ...(index % 3 ? {} : inGone),
  }
  deals.push(await made('deal', dealBody(known, members)))
}
for (const id of deals) await done('DELETE', `/deal/${id}`)
await done('DELETE', `/pipeline_stage/${stages[0]}`)
await done('DELETE', `/pipeline/${pipeline}`)
await done('DELETE', `/contact/${contact}`)
await done('DELETE', `/field/${source.id}/option/${option}`)

const sortable: string[] = (await get(`${v1}/field/list?source=deal`)).body.data.fields
  .flat()
  .filter((field: Deal) => field.is_sortable)
  .map((field: Deal) => field.internal_name)
assert.ok(sortable.length > 40)

async function walks(sort: string): Promise<{ byNumber: Deal[]; byCursor: Deal[] }> {
  const [byNumber, byCursor]: Deal[][] = [[], []]
  const page = async (more: string) => {
    const reply = await get(`${v1}/deal/view/list?deleted=only&pageSize=7&count=none&sort=${sort}${more}`)
    assert.equal(reply.status, 200, `${sort}${more}: ${reply.text}`)
    return reply.body
  }
  for (let number = 1, cursor: string | null = ''; cursor !== null; number++) {
    byNumber!.push(...(await page(`&page=${number}`)).data)
    const { data, meta } = await page(cursor && `&cursor=${cursor}`)
    byCursor!.push(...data)
    cursor = meta.nextCursor
  }
  return { byNumber: byNumber!, byCursor: byCursor! }
}

const idsOf = (rows: readonly Deal[]) => rows.map(deal => deal.id)

/** True if rows without a place in the order come after those that have one. */
const areLast = (rows: readonly Deal[], hasPlace: (deal: Deal) => boolean) =>
  rows.every((deal, index) => index === 0 || !hasPlace(deal) || hasPlace(rows[index - 1]!))

for (const direction of ['asc', 'desc']) {
  test(`by any one field, ${direction}`, async () => {
    for (const field of someOf(sortable)) {
      const { byNumber, byCursor } = await walks(`${field}:${direction}`)
      assert.equal(new Set(idsOf(byNumber)).size, deals.length, field)
      assert.deepEqual(idsOf(byCursor), idsOf(byNumber), field)
      const isGone = (deal: Deal) =>
        (field === 'pipeline' || field === 'pipeline_stage') && deal.pipeline === pipeline
      assert.ok(
        areLast(byNumber, deal => (deal[field] ?? null) !== null && !isGone(deal)),
        field,
      )
    }
  })

  test(`by a title first, then by any field, ${direction}`, async () => {
    for (const field of someOf(sortable)) {
      const { byNumber, byCursor } = await walks(`title:asc,${field}:${direction}`)
      assert.deepEqual(idsOf(byCursor), idsOf(byNumber), field)
    }
  })
}

test('where an administrator has arranged the stages, too', async () => {
  await done('PATCH', `/pipeline_stage/${known.stages.Proposal}`, { position: 1 })
  for (const sort of [
    'title:asc,pipeline_stage:asc',
    'pipeline_stage:desc,title:asc',
    'title:desc,pipeline_stage:desc',
  ]) {
    const { byNumber, byCursor } = await walks(sort)
    assert.deepEqual(idsOf(byCursor), idsOf(byNumber), sort)
    assert.ok(!sort.startsWith('pipeline') || areLast(byNumber, deal => deal.pipeline !== pipeline), sort)
  }
})
