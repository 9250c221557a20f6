/** Repeated lists: parsed once, and answered each time for the current caller, from the current records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Callers } from '../../src/accounts/callers.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { cachedTextMax, listsMax, readListRequest } from '../../src/lists/list-cache.ts'
import { workOn } from '../../src/records/work.ts'
import { resources } from '../../src/resources/resources.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { call, get, db, known } = await startService()
/** More repetitions than it takes until a list is cached. */
const often = [1, 2, 3, 4]

async function made(resource: string, body: Json) {
  const reply = await call('POST', `${v1}/${resource}`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}

/** The headers of a new user with the role. */
async function userOf(role: number, name: string, territories: number[] = []) {
  const user = await made('user', { name, email: `${name}@example.com`, role, territories })
  const token = newSecret('token', 1)
  await createToken(db, { account: 1, user: user.id, name, scopes: ['admin'], token })
  return { id: user.id, headers: { authorization: `Bearer ${token}` } }
}

const list = (query: string, headers?: Record<string, string>): Promise<Reply> =>
  call('GET', `${v1}/deal/view/list?${query}`, undefined, headers)
const idsOf = ({ status, text, body }: Reply): number[] => {
  assert.equal(status, 200, text)
  return body.data.map(({ id }: { id: number }) => id)
}

test('each caller gets what they see, in whatever order they ask', async () => {
  const scopes = ['deal:read', 'company:read']
  const role = (name: string, visibility: Json) => made('role', { name, scopes, visibility })
  const seller = await role('Known seller', { deal: 'own', company: 'all' })
  const sees = await role('Known reader', { deal: 'all', company: 'all' })
  const blind = await role('Known reader of deals', { deal: 'all', company: 'own' })
  const company = await made('company', { name: 'Known company' })
  const [ann, bob, cat, dan] = await Promise.all([
    userOf(seller.id, 'known-ann'),
    userOf(seller.id, 'known-bob'),
    userOf(sees.id, 'known-cat'),
    userOf(blind.id, 'known-dan'),
  ])
  const of = async (owner: number) =>
    (await made('deal', dealBody(known, { sales_owner: owner, company: company.id }))).id
  const [anns, bobs] = [await of(ann!.id), await of(bob!.id)]
  const query = 'filter=company.name:eq(Known company)&sort=id:asc'
  for (const _ of often) {
    assert.deepEqual(idsOf(await list(query, ann!.headers)), [anns])
    assert.deepEqual(idsOf(await list(query, bob!.headers)), [bobs])
    assert.deepEqual(idsOf(await list(query, cat!.headers)), [anns, bobs])
    // A caller who does not see the company finds no deal by its name.
    assert.deepEqual(idsOf(await list(query, dan!.headers)), [])
  }
  // Scopes are checked each time, also for a list that others have cached.
  const narrow = newSecret('token', 1)
  await createToken(db, { account: 1, user: cat!.id, name: 'narrow', scopes: ['deal:read'], token: narrow })
  for (const _ of often) assert.equal((await list(query, { authorization: `Bearer ${narrow}` })).status, 403)
})

test('what is saved shows in the next answer, with its total', async () => {
  const query = 'filter=title:eq(Known and counted)&sort=id:asc'
  const ids: number[] = []
  for (const _ of often) {
    const reply = await list(query)
    assert.deepEqual(idsOf(reply), ids)
    assert.equal(reply.body.meta.total, ids.length)
    ids.push((await made('deal', dealBody(known, { title: 'Known and counted' }))).id)
  }
  await call('DELETE', `${v1}/deal/${ids.shift()}`)
  assert.deepEqual(idsOf(await list(query)), ids)
  for (const _ of often) assert.deepEqual(idsOf(await list(`${query}&page=2&pageSize=2`)), ids.slice(2, 4))
})

test('a name in a filter is whoever has it now', async () => {
  const [one, other] = [await made('tag', { name: 'Known' }), await made('tag', { name: 'Unknown' })]
  const of = async (tag: number) => (await made('deal', dealBody(known, { tags: [tag] }))).id
  const [first, second] = [await of(one.id), await of(other.id)]
  const query = 'filter=tags:in(Known)'
  for (const _ of often) assert.deepEqual(idsOf(await list(query)), [first])
  assert.equal((await call('PATCH', `${v1}/tag/${one.id}`, { name: 'Once known' })).status, 200)
  assert.equal((await call('PATCH', `${v1}/tag/${other.id}`, { name: 'Known' })).status, 200)
  for (const _ of often) assert.deepEqual(idsOf(await list(query)), [second])
})

test('a configuration that changes is asked, not what was read before', async () => {
  const field = await made('field', {
    source: 'deal',
    field_name: 'Known field',
    internal_name: 'cf_known_field',
    type: 'TEXT',
  })
  const { id } = await made('deal', dealBody(known, { cf_known_field: 'x' }))
  const query = 'filter=cf_known_field:eq(x)'
  for (const _ of often) assert.deepEqual(idsOf(await list(query)), [id])
  const off = await call('PATCH', `${v1}/field/${field.id}`, { is_active: false })
  assert.equal(off.status, 200, off.text)
  for (const _ of often) assert.equal((await list(query)).status, 400)
})

test('the moment of a list is that of its request, and its cursors go on', async () => {
  const query = 'filter=status:eq(Open)&sort=age:desc&pageSize=20'
  const moments: string[] = []
  const pages: number[][] = []
  for (const _ of often) {
    const { nextCursor } = (await list(query)).body.meta
    moments.push(JSON.parse(Buffer.from(nextCursor, 'base64url').toString()).at)
    pages.push(idsOf(await list(`${query}&cursor=${nextCursor}`)))
  }
  assert.deepEqual(moments, [...new Set(moments)].toSorted())
  for (const page of pages) assert.deepEqual(page, pages[0])
  // With the parameters in the body it is the same list.
  const body = { filter: 'status:eq(Open)', sort: 'age:desc', pageSize: 20 }
  const first = idsOf(await list(query))
  for (const _ of often) assert.deepEqual(idsOf(await call('POST', `${v1}/deal/view/list`, body)), first)
})

test('there is an end to what is known: the list that was not asked for longest is read anew', async () => {
  const { catalog, rights } = (await new Callers(db, resources, () => 0).actingFor(1, known.owner))!
  const work = workOn(db, { catalog, rights, actor: known.owner }, 'deal')
  const ask = async (filter: string) => {
    const parameters = new Map([['filter', [filter]]])
    return (await readListRequest(work, parameters, '2026-01-01T00:00:00.000Z')).statementOf
  }
  const kept = 'id:gt(0)'
  for (const expected of [false, true, true]) assert.equal((await ask(kept)) !== null, expected)
  for (let id = 1; id <= listsMax + 5; id++) {
    for (const _ of often) await ask(`id:gt(${id})`)
    assert.ok(await ask(kept))
  }
  assert.equal(await ask('id:gt(1)'), null)
  const long = `title:eq(${'x'.repeat(cachedTextMax)})`
  for (const _ of often) assert.equal(await ask(long), null)
})

test('a list as it was on a day is that of the day, however often it is asked', async () => {
  const { id } = await made('deal', dealBody(known, { title: 'Known then' }))
  const today = new Date().toISOString().slice(0, 10)
  const query = `filter=title:eq(Known then)&as_of=${today}`
  for (const _ of often) assert.deepEqual(idsOf(await list(query)), [id])
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Known now' })
  for (const _ of often) assert.deepEqual(idsOf(await list(query)), [])
})

test('a total of a name is that of the record which its caller sees by that name', async () => {
  const scopes = ['deal:read', 'company:read', 'company:write']
  const role = await made('role', { name: 'Own companies', scopes, visibility: { company: 'own' } })
  const [ann, bob] = [await userOf(role.id, 'twin-ann'), await userOf(role.id, 'twin-bob')]
  const withDeals = async ({ headers }: typeof ann, count: number) => {
    const reply = await call('POST', `${v1}/company`, { name: 'Twin' }, headers)
    assert.equal(reply.status, 201, reply.text)
    for (let n = 0; n < count; n++) await made('deal', dealBody(known, { company: reply.body.data.id }))
  }
  await withDeals(ann, 4)
  await withDeals(bob, 2)
  for (const _ of often)
    for (const [{ headers }, total] of [
      [ann, 4],
      [bob, 2],
    ] as const)
      assert.equal((await list('filter=company:eq(Twin)&pageSize=1', headers)).body.meta.total, total)
})

test('a list of another resource with the same parameters is another list', async () => {
  const of = async (resource: string) =>
    JSON.stringify((await get(`${v1}/${resource}/view/list?sort=id:asc`)).body.data)
  const [contacts, companies] = [await of('contact'), await of('company')]
  for (const _ of often) assert.deepEqual([await of('contact'), await of('company')], [contacts, companies])
})
