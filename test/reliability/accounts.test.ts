/**
 * Account isolation: on every route, every kind of id of another account is answered exactly as one that
 * doesn't exist.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { routes } from '../../src/http/routes.ts'
import type { Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { byQueries } from '../support/by-queries.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService()
const { call, db, known } = service
const tx = byQueries(db)
const unknown = 987_654_321

/**
 * A second account that shares no id with the first. It has one record of each resource, a field and an
 * option.
 */
const theirs = await otherAccount()

async function otherAccount() {
  const { account, owner } = await createAccount(tx, {
    name: 'Theirs',
    ownerName: 'Owner',
    ownerEmail: 'o@example.com',
  })
  await db.query(
    'UPDATE counter SET last_id = 500000, last_field_id = 600000 WHERE account_id = $1::bigint',
    [String(account)],
  )
  const token = newSecret('token', account)
  await createToken(tx, { account, user: owner, name: 'Theirs', scopes: ['admin'], token })
  const make = async (resource: string, body: Json, path = '') => {
    const reply = await call('POST', `${v1}/${resource}${path}`, body, { authorization: `Bearer ${token}` })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data
  }
  const ids: { [resource: string]: number } = {
    user: (await make('user', { name: 'Theirs', email: 'theirs@example.com' })).id,
    territory: (await make('territory', { name: 'Theirs' })).id,
    tag: (await make('tag', { name: 'theirs' })).id,
    company: (await make('company', { name: 'Theirs' })).id,
    contact: (await make('contact', { last_name: 'Theirs' })).id,
    activity: (await make('activity', { kind: 'Call', subject: 'Theirs' })).id,
    product: (await make('product', { name: 'Theirs', unit_price: [{ currency: 'USD', unit_price: 1 }] })).id,
    pipeline: (await make('pipeline', { name: 'Theirs' })).id,
  }
  ids.pipeline_stage = (await make('pipeline_stage', { name: 'Theirs', pipeline: ids.pipeline! })).id
  ids.deal = (
    await make('deal', {
      title: 'Theirs',
      pipeline: ids.pipeline!,
      pipeline_stage: ids.pipeline_stage!,
      primary_contact: ids.contact!,
      sales_owner: ids.user!,
    })
  ).id
  const field = await make('field', {
    source: 'deal',
    field_name: 'Theirs',
    type: 'DROPDOWN',
    options: ['A', 'B'],
  })
  return { account, token, ids, field: field.id as number, option: field.options[0].id as number }
}

/** An answer without its variable parts: ids, the request's own id. */
function plain(text: string): string {
  return text.replace(/"requestId":"[^"]+"/, '').replaceAll(new RegExp(`${unknown}|[56]00\\d{3}`, 'g'), 'ID')
}

const bodies: { readonly [method: string]: Json | undefined } = {
  PATCH: { metadata: {} },
  PUT: { metadata: {} },
  POST: {},
}

test('every route with an id', async () => {
  const table = routes({ callers: { forget() {} } } as never).filter(({ url }) => url.includes(':id'))
  let compared = 0
  for (const { method, url } of table) {
    const resource = url.split('/')[4]!
    const own = resource === 'field' ? theirs.field : theirs.ids[resource]
    // All accounts have all currencies.
    if (own === undefined) continue
    const at = (id: number, option: number) =>
      url.replace(':id', String(id)).replace(':option', String(option))
    const ask = (id: number, option: number) => call(method, at(id, option), bodies[method])
    const [of, none] = [await ask(own, theirs.option), await ask(unknown, unknown)]
    assert.deepEqual([of.status, plain(of.text)], [none.status, plain(none.text)], `${method} ${url}`)
    assert.equal(of.status, 404, `${method} ${url}: ${of.text}`)
    compared++
  }
  assert.ok(compared > 50, `${compared} routes`)
})

test("the other account's options, and where its pipelines and stages could be moved to", async () => {
  const { data } = (await call('GET', `${v1}/field/list?source=deal`)).body
  const field = data.fields
    .flat()
    .find((one: { internal_name: string }) => one.internal_name === 'cf_custom_dropdown_field')
  for (const method of ['PATCH', 'DELETE']) {
    const ask = (option: number) => call(method, `${v1}/field/${field.id}/option/${option}`, { name: 'x' })
    const [of, none] = [await ask(theirs.option), await ask(unknown)]
    assert.deepEqual([of.status, plain(of.text)], [none.status, plain(none.text)])
    assert.equal(of.status, 404)
  }
  for (const [path, id] of [
    [`pipeline/${known.pipeline}`, theirs.ids.pipeline!],
    [`pipeline_stage/${known.stages.New}`, theirs.ids.pipeline_stage!],
  ] as const) {
    const ask = (to: number) => call('DELETE', `${v1}/${path}?move_to=${to}`)
    const [of, none] = [await ask(id), await ask(unknown)]
    assert.deepEqual([of.status, plain(of.text)], [none.status, plain(none.text)])
    assert.equal(of.status, 400)
  }
})

test('every field that points to a record, in every resource', async () => {
  const valid: { readonly [resource: string]: { [name: string]: Json } } = {
    deal: dealBody(known),
    product: { name: 'x' },
    contact: { last_name: 'x' },
    company: { name: 'x' },
    activity: { kind: 'Call', subject: 'x' },
    user: { name: 'x', email: 'x@example.com' },
    territory: { name: 'x' },
    tag: { name: 'x' },
    pipeline: { name: 'x' },
    pipeline_stage: { name: 'x', pipeline: known.pipeline },
  }
  let compared = 0
  for (const { name: source } of resources) {
    const body = valid[source]
    if (!body) continue
    const described = (await call('GET', `${v1}/field/list?source=${source}`)).body.data.fields.flat()
    const { fields } = (await loadedResource(source))!
    for (const { internal_name: name } of described) {
      const { related, is_read_only } = fields.find(field => field.internal_name === name)!
      if (!related || is_read_only || theirs.ids[related] === undefined) continue
      const isSeveral = name === 'tags' || name === 'related_contacts'
      const ask = async (id: number): Promise<string> =>
        (await call('POST', `${v1}/${source}`, { ...body, [name]: isSeveral ? [id] : id })).text
      const [of, none] = [await ask(theirs.ids[related]!), await ask(unknown)]
      assert.equal(plain(of), plain(none), `${source}.${name}`)
      assert.match(of, /reference_not_found|unknown_option/, `${source}.${name}`)
      compared++
      const listed = await call('GET', `${v1}/${source}/view/list?filter=${name}:eq(${theirs.ids[related]})`)
      assert.ok(listed.status === 400 || listed.body.meta.total === 0, listed.text)
    }
  }
  const line = (product: number) => ({
    ...dealBody(known),
    deal_value: { currency: 'USD', products: [{ product, quantity: 1 }] },
  })
  const [of, none] = [
    await call('POST', `${v1}/deal`, line(theirs.ids.product!)),
    await call('POST', `${v1}/deal`, line(unknown)),
  ]
  assert.equal(plain(of.text), plain(none.text))
  assert.ok(compared >= 12, `${compared} fields`)
})

async function loadedResource(source: string) {
  const { loadCatalog } = await import('../../src/accounts/callers.ts')
  return (await loadCatalog(db, resources, 1)).resources.get(source)
}

test('no list, sum or dropdown shows anything of the other account; keys are apart', async () => {
  for (const source of [...Object.keys(theirs.ids), 'currency']) {
    for (const deleted of ['', '&deleted=only']) {
      const { data } = (await call('GET', `${v1}/${source}/view/list?pageSize=500${deleted}`)).body
      assert.ok(data.every((record: { id: number }) => record.id < 500_000))
    }
  }
  for (const path of [
    'deal/aggregate?group_by=pipeline',
    'field/dropdown?name=pipeline_stage',
    'field/dropdown?name=sales_owner',
    'field/dropdown?name=tags',
    'field/list?source=deal&include_deleted=true',
  ]) {
    const reply = await call('GET', `${v1}/${path}`)
    assert.equal(reply.status, 200, reply.text)
    assert.doesNotMatch(reply.text, /\b[56]00\d{3}\b|Theirs|theirs/, path)
  }
  const key = { 'idempotency-key': 'the-same' }
  const mine = await call('POST', `${v1}/tag`, { name: 'mine' }, key)
  const other = await call(
    'POST',
    `${v1}/tag`,
    { name: 'mine' },
    { ...key, authorization: `Bearer ${theirs.token}` },
  )
  assert.deepEqual([mine.status, other.status], [201, 201])
  assert.notEqual(mine.body.data.id, other.body.data.id)
})
