/**
 * The OpenAPI document is enough to work with (D90): tool definitions generated from it, as for a language
 * model, suffice for a day's work.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { merged } from '../../scripts/breaking-changes.ts'
import type { Json } from '../../src/json.ts'
import { judgeOf, type OpenApi } from '../support/judge.ts'
import { operationsOf } from '../support/operations.ts'
import { startService } from '../support/service.ts'

const { call, get, known } = await startService()
const document: OpenApi = JSON.parse((await get('/openapi.json')).text)
const judge = judgeOf(document)
const operations = operationsOf(document)

type Arguments = { readonly body?: Json; readonly [parameter: string]: Json | undefined }

/** Calls a tool by its definition: path, query and body. Must succeed at once. */
async function use(name: string, { body, ...given }: Arguments) {
  const { path, method, said } = operations.find(one => one.said.operationId === name)!
  const query = new URLSearchParams()
  let filled = path
  for (const [parameter, value] of Object.entries(given)) {
    const found = said.parameters
      .map((one: OpenApi) => merged(one, document))
      .find((one: OpenApi) => one.name === parameter)
    assert.ok(found, `${name} has no parameter ${parameter}`)
    if (found.in === 'path') filled = filled.replace(`{${parameter}}`, encodeURIComponent(String(value)))
    else for (const one of [value].flat()) query.append(parameter, String(one))
  }
  if (body !== undefined) {
    const at = `#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}`
    const schema = `${at}/requestBody/content/application~1json/schema`
    assert.equal(judge.complaint(schema, body), null, `${name} ${JSON.stringify(body)}`)
  }
  const reply = await call(method.toUpperCase(), query.size ? `${filled}?${query}` : filled, body)
  assert.ok(reply.status < 300, `${name}: ${reply.text}`)
  return reply.body
}

test('a deal is made, found, filled, won and listed, each at the first try', async () => {
  const emails = [{ email_type: 'work', email_value: 'ana.silva@example.com' }]
  const contact = await use('contact_create', { body: { first_name: 'Ana', last_name: 'Silva', emails } })
  const { data: me } = await use('me', {})
  const stages = await use('field_dropdown', { name: 'pipeline_stage', pipeline: known.pipeline })
  const stage = (kind: string) => stages.data.find((one: { kind: string }) => one.kind === kind).name
  const [product] = (await use('product_list', { filter: 'name:like(sensor)', pageSize: 1 })).data
  const { data: made } = await use('deal_create', {
    body: {
      ...{ title: 'Solar retrofit', pipeline: known.pipeline, pipeline_stage: stage('open') },
      ...{ primary_contact: 'ana.silva@example.com', sales_owner: me.user.id },
      deal_value: { currency: 'EUR', value: 25_000 },
    },
  })
  assert.equal(made.primary_contact, contact.data.id)
  const found = await use('search', { q: 'solar retrofit', resources: 'deal' })
  const { id } = found.data[0]
  assert.equal(id, made.id)
  const listed = await use('deal_list', { filter: 'title:eq(Solar retrofit)', expand: 'primary_contact' })
  assert.equal(listed.data[0]._expanded.primary_contact.name, 'Ana Silva')
  const products = [{ product: product.name, quantity: 3 }]
  const { data: filled } = await use('deal_update', { id, body: { deal_value: { products, value: 25_000 } } })
  assert.deepEqual([filled.deal_value.value, filled.product_quantity], [25_000, 3])
  const reasons = await use('field_dropdown', { name: 'won_reason' })
  const { data: won } = await use('deal_update', {
    id,
    body: { pipeline_stage: stage('won'), won_reason: reasons.data[0].name, deal_closed_on: '2026-03-31' },
  })
  assert.equal(won.status, 2)
  const filter = 'status:eq(Won),deal_closed_on:between(2026-03-01,2026-03-31)'
  const month = await use('deal_list', { filter, sort: 'deal_closed_on:desc,id:desc' })
  assert.ok(month.data.some((deal: { id: number }) => deal.id === id))
  const sums = await use('deal_aggregate', { filter, measures: 'count,sum:deal_value' })
  assert.equal(sums.data[0].count, month.meta.total)
})

test('every parameter is described, and every field that takes more than it is called', () => {
  const bare = operations.flatMap(({ said }) =>
    (said.parameters ?? [])
      .map((one: OpenApi) => merged(one, document))
      .filter((one: OpenApi) => !one.description)
      .map((one: OpenApi) => `${said.operationId} ${one.name}`),
  )
  assert.deepEqual(bare, [])
  /** An id or a name, or a text of a special format. */
  const isSpecial = ({ type = [], pattern, anyOf = [] }: OpenApi): boolean =>
    (type.includes('integer') && type.includes('string')) ||
    (type.includes('string') && pattern !== undefined && pattern !== '\\S') ||
    anyOf.some(isSpecial)
  const silent = Object.entries<OpenApi>(document.components.schemas)
    .filter(([name]) => name.endsWith('_input') && `${name.slice(0, -6)}_read` in document.components.schemas)
    .flatMap(([name, { properties }]) =>
      Object.entries<OpenApi>(properties)
        .filter(([, schema]) => isSpecial(schema) && !schema.description)
        .map(([field]) => `${name} ${field}`),
    )
  assert.deepEqual(silent, [])
})
