/**
 * Indirect disclosure: values that a role or a token may not see don't leak through other records either (D63
 * to D65): derived values, copies, or one of many.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { connectAgent } from '../support/agent.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, made } = service
let askers = 0
/** A new user with a role of these scopes and limits, who sends requests. */
async function asker(scopes: string[], limits: { [member: string]: Json } = {}) {
  const number = ++askers
  const name = `Asker ${number}`
  const role = await made('role', { name, scopes, ...limits })
  const user = await made('user', { name, email: `told${number}@example.com`, role: role.id })
  const { token } = await made('token', { name, user: user.id, scopes })
  const ask = (method: string, path: string, body?: Json) =>
    call(method, `${v1}${path}`, body, { authorization: `Bearer ${token}` })
  return Object.assign(ask, { token: token as string })
}
const product = await made('product', {
  name: 'A prototype',
  product_code: 'SP-1',
  unit_price: [{ currency: 'EUR', unit_price: 12_345.67 }],
})
const line = { product: product.id, quantity: 2 }
const withLine = (more: { [member: string]: Json } = {}, currency = 'EUR') =>
  dealBody(known, { deal_value: { currency, products: [{ ...line, ...more }] } })

test('a deal shows no words of activities to whoever sees only some activities', async () => {
  const deal = await made('deal', dealBody(known))
  const note = { kind: 'Note', subject: 'Board', notes: 'Between us', deal: deal.id, done_at: '2026-01-08' }
  await made('activity', note)
  const all = await asker(['deal:read', 'activity:read'])
  const some = await asker(['deal:read', 'activity:read'], { visibility: { activity: 'own' } })
  const [whole, part] = await Promise.all(
    [all, some].map(async ask => (await ask('GET', `/deal/${deal.id}`)).body.data),
  )
  assert.deepEqual([whole.recent_note, whole.last_activity_type], ['Between us', 'Note'])
  assert.deepEqual(
    Object.keys(whole).filter(name => !(name in part)),
    ['next_activity_subject', 'last_activity_type', 'recent_note'],
  )
  assert.deepEqual([part.total_activities, part.last_activity_date], [1, '2026-01-08'])
  const found = await some('GET', '/deal/view/list?filter=recent_note:like(Between)')
  assert.equal(found.status, 400, found.text)
})

test('a line of a deal tells its product to those who may read products', async () => {
  const scopes = ['deal:read', 'deal:write']
  const [seller, writer] = [await asker([...scopes, 'product:read']), await asker(scopes)]
  const [{ products }] = [(await seller('POST', '/deal', withLine())).body.data.deal_value]
  assert.deepEqual([products[0].product_code, products[0].unit_price], ['SP-1', 12_345.67])
  const operations = [{ op: 'create', data: withLine({ unit_price: 1 }) }]
  for (const reply of [
    await writer('POST', '/deal', withLine()),
    await writer('POST', '/deal?dry_run=1', withLine({ unit_price: 1 })),
    (await writer('POST', '/deal/batch', { operations })).body.data[0],
  ]) {
    assert.equal(reply.status, 403, JSON.stringify(reply))
    assert.match(JSON.stringify(reply.body ?? reply), /product:read/)
    assert.doesNotMatch(JSON.stringify(reply.body ?? reply), /SP-1|prototype|12345/)
  }
  // An existing line may be written back, with its own price.
  const deal = (await seller('POST', '/deal', withLine({ unit_price: 7 }))).body.data
  const back = await writer('PATCH', `/deal/${deal.id}`, {
    deal_value: { currency: 'EUR', products: [{ ...line, quantity: 3, unit_price: 7 }] },
  })
  assert.deepEqual([back.status, back.body.data.deal_value.products[0].amount], [200, 21], back.text)
  await call('PATCH', `${v1}/product/${product.id}`, { unit_price: [{ currency: 'EUR', unit_price: 99 }] })
  const anew = await writer('PATCH', `/deal/${deal.id}`, {
    deal_value: { currency: 'EUR', products: [line] },
  })
  assert.equal(anew.body.data.deal_value.products[0].unit_price, 7, anew.text)
})

test('to a role that hides prices and codes of products, products have none', async () => {
  const hiding = await asker(['deal:read', 'deal:write', 'product:read'], {
    hidden_fields: ['product.unit_price', 'product.product_code'],
  })
  for (const currency of ['EUR', 'USD']) {
    const refused = await hiding('POST', '/deal', withLine({}, currency))
    assert.deepEqual(problemsOf(refused), ['/deal_value/products/0/unit_price no_price'])
    assert.equal(refused.body.errors[0].message.includes(`none in ${currency}`), true, refused.text)
  }
  const { products } = (await hiding('POST', '/deal', withLine({ unit_price: 5 }))).body.data.deal_value
  assert.deepEqual(
    [products[0].name, products[0].product_code, products[0].unit_price],
    [...['A prototype', null, 5]],
  )
})

test('what follows from a hidden field is hidden, in every resource', async () => {
  const keysFor = async (...hidden_fields: string[]) => {
    const ask = await asker(['deal:read', 'pipeline_stage:read'], { hidden_fields })
    const { data } = (await ask('GET', '/deal/view/list?pageSize=1')).body
    return (name: string) => name in data[0]
  }
  const [stage, probability, rotting, kind] = await Promise.all([
    keysFor('deal.pipeline_stage'),
    keysFor('pipeline_stage.probability'),
    keysFor('pipeline_stage.rotting_days'),
    keysFor('pipeline_stage.kind'),
  ])
  // The age of a deal ends when it is won or lost.
  assert.deepEqual(['age', 'status', 'won_time', 'rotting_days'].filter(stage), [])
  const ofProbability = ['stage_probability', 'weighted_value', 'pipeline_stage']
  assert.deepEqual(ofProbability.filter(probability), ['pipeline_stage'])
  assert.deepEqual(['rotting_days', 'age'].filter(rotting), ['age'])
  assert.deepEqual(['status', 'won_time', 'age', 'pipeline_stage'].filter(kind), ['pipeline_stage'])
  // Every amount contains the code of its currency, and every sum in the base currency reveals its rate.
  const refused = await call('POST', `${v1}/role`, {
    name: 'No rates',
    scopes: ['deal:read'],
    hidden_fields: ['currency.rate', 'currency.code', 'currency.symbol'],
  })
  assert.deepEqual(problemsOf(refused), ['/hidden_fields/0 not_hideable', '/hidden_fields/1 not_hideable'])
  assert.equal((await get(`${v1}/deal/view/list?pageSize=1`)).status, 200)
})

test('dropdown values and agents are told of stages and currencies only what their role shows', async () => {
  const scopes = ['deal:read', 'field:read', 'pipeline:read', 'pipeline_stage:read', 'currency:read']
  const hidden = ['pipeline_stage.kind', 'pipeline_stage.probability', 'currency.symbol', 'currency.decimals']
  const keysOf = async (ask: Awaited<ReturnType<typeof asker>>, name: string) => {
    const { body } = await ask('GET', `/field/dropdown?name=${name}`)
    return Object.keys(body.data[0]).filter(key => !['id', 'name', 'position'].includes(key))
  }
  const ask = await asker(scopes, { hidden_fields: hidden })
  assert.deepEqual(await keysOf(ask, 'pipeline_stage'), ['is_active', 'is_default', 'pipeline'])
  assert.deepEqual(await keysOf(ask, 'currency'), ['is_active', 'is_default', 'code'])
  const { token } = ask
  const pipelines = async (secret: string) => {
    const { use } = await connectAgent({ url: service.url, token: secret })
    return JSON.stringify((await use('describe')).body.pipelines)
  }
  assert.match(await pipelines(service.token), /Lost \(lost\)/)
  assert.doesNotMatch(await pipelines(token), /\((won|lost)\)/)
})

test('who administers fields arranges those that their role shows; others keep their section, unnamed', async () => {
  const secret = await made('field', { source: 'product', field_name: 'Margin', type: 'SINGLE_NUMBER' })
  const seen = await made('field', { source: 'product', field_name: 'Shelf', type: 'SINGLE_STRING' })
  const own = { source: 'product', field_name: 'Cost', type: 'SINGLE_NUMBER', section: 'Only hidden' }
  const alone = await made('field', own)
  const hidden = { hidden_fields: [secret, alone].map(field => `product.${field.internal_name}`) }
  const ask = await asker(['product:read', 'field:read', 'field:write'], hidden)
  const path = '/field/form?source=product'
  const form = await ask('GET', path)
  const turned = form.body.data.toReversed()
  const arranged = await ask('PUT', path, turned)
  assert.deepEqual([arranged.status, arranged.body.data], [200, turned], arranged.text)
  assert.equal((await ask('GET', path)).text, arranged.text)
  const whole = (await get(`${v1}${path}`)).body.data as { section: string; fields: string[] }[]
  const fieldsOf = (section: string) => whole.find(part => part.section === section)!.fields
  assert.deepEqual(fieldsOf(seen.section).slice(-2), [seen.internal_name, secret.internal_name])
  assert.deepEqual(fieldsOf(own.section), [alone.internal_name])
  // Labels are unique for every caller; which field has the label is not revealed.
  for (const more of [{}, { internal_name: secret.internal_name }]) {
    const body = { source: 'product', field_name: 'Margin', type: 'TEXT', ...more }
    const clash = await ask('POST', '/field', body)
    const all = await call('POST', `${v1}/field`, body)
    assert.deepEqual([clash.status, problemsOf(clash)], [409, problemsOf(all)], clash.text)
    const hints = ({ body }: Reply) => body.errors.filter(({ hint }: { hint?: string }) => hint).length
    assert.deepEqual([hints(clash), hints(all)], [0, 2])
  }
})
