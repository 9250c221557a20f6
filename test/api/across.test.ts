/** Filters across references (D87): one step, limited to the records that the caller sees there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { merged } from '../../scripts/breaking-changes.ts'
import type { Json } from '../../src/json.ts'
import { reports } from '../../src/resources/reports.ts'
import { resources } from '../../src/resources/resources.ts'
import { adminScope, calendarScope, scopesOf } from '../../src/rights/scopes.ts'
import type { OpenApi } from '../support/judge.ts'
import { type Operation, operationsOf } from '../support/operations.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, known } = await startService()
type Deal = { [name: string]: Json } & { id: number; company: number | null; primary_contact: number }
const all = async (resource: string) => (await get(`${v1}/${resource}/view/list?pageSize=500`)).body.data
const list = (filter: string, more = '', headers?: Record<string, string>) =>
  call(
    'GET',
    `${v1}/deal/view/list?filter=${encodeURIComponent(filter)}${more || '&pageSize=500'}`,
    undefined,
    headers,
  )
const made = async (resource: string, body: Json) => (await call('POST', `${v1}/${resource}`, body)).body.data
const emails = [{ email_type: 1, email_value: 'Across@Example.com' }]
const contact = await made('contact', { last_name: 'Across', emails, company: known.company })
for (const members of [
  { primary_contact: contact.id },
  { related_contacts: [contact.id] },
  { company: null },
])
  await made('deal', dealBody(known, members))
const deals: Deal[] = await all('deal')
const companies = new Map((await all('company')).map((one: Deal) => [one.id, one]))
const users = new Map((await all('user')).map((one: Deal) => [one.id, one]))

async function agrees(filter: string, holds: (deal: Deal) => boolean) {
  const reply = await list(filter)
  assert.equal(reply.status, 200, `${filter}: ${reply.text}`)
  const wanted = deals.filter(holds).map(({ id }) => id)
  assert.deepEqual(reply.body.data.map((deal: Deal) => deal.id).sort(), wanted.sort(), filter)
}

test('a filter speaks of what a reference points to', async () => {
  const company = (deal: Deal) =>
    companies.get(deal.company!) as { name: string; website: string } | undefined
  const letter = (deal: Deal) => company(deal)?.name.toLowerCase().includes('a') === true
  await agrees('company.name:like(a)', letter)
  await agrees('not(company.name:like(a))', deal => !letter(deal))
  await agrees('or(company.name:like(a),company:isnull(true))', deal => letter(deal) || !deal.company)
  const name = company(deals.find(({ company }) => company)!)!.name
  await agrees(`company.name:neq(${name})`, deal => company(deal)?.name !== name)
  await agrees('company.website:isnull(true)', deal => !company(deal)?.website)
  await agrees('company.website:notnull(true)', deal => !!company(deal)?.website)
  await agrees('company.website:isnull( false )', deal => !!company(deal)?.website)
  await agrees('company.website:exists(false)', deal => !company(deal)?.website)
  const owner = (deal: Deal) => (users.get(deal.sales_owner as number) as { email: string }).email
  await agrees(
    `sales_owner.email:eq(${owner(deals[0]!).toUpperCase()})`,
    deal => owner(deal) === owner(deals[0]!),
  )
  await agrees('pipeline_stage.kind:eq(Won)', deal => deal.status === 2)
})

test('of e-mails, of several references, and by names', async () => {
  const ids = async (filter: string) => (await list(filter)).body.data.length
  assert.equal(await ids('primary_contact.emails.email_value:eq(across@example.com)'), 1)
  assert.equal(await ids('primary_contact.emails:eq(across@example.com)'), 1)
  assert.equal(await ids('related_contacts.emails.email_value:in(across@example.com,x@y.z)'), 1)
  assert.equal(
    await ids(`related_contacts.company:eq(${known.company}),related_contacts.last_name:eq(Across)`),
    1,
  )
  const nobody = await list('primary_contact.created_by:eq(nobody@example.com)')
  assert.equal(nobody.body.errors[0].code, 'reference_not_found')
})

test('totals follow what is pointed to, and sums take such filters', async () => {
  const total = async () =>
    (await list('primary_contact.last_name:eq(Across)', '&pageSize=1')).body.meta.total
  assert.equal(await total(), 1)
  await call('PATCH', `${v1}/contact/${contact.id}`, { last_name: 'Renamed' })
  assert.equal(await total(), 0)
  await call('PATCH', `${v1}/contact/${contact.id}`, { last_name: 'Across' })
  assert.equal(await total(), 1)
  const sums = await get(`${v1}/deal/aggregate?filter=primary_contact.last_name:eq(Across)`)
  assert.equal(sums.body.data[0].count, 1)
})

test('a deleted record counts like any other, as its name is still shown', async () => {
  const filters = ['last_name:eq(Gone)', 'deleted_at:notnull(true)'].map(of => `contact.${of}`)
  const gone = await made('contact', { last_name: 'Gone' })
  const about = { deal: deals[0]!.id, contact: gone.id }
  const activity = await made('activity', { kind: 'Call', subject: 'Before', ...about })
  await call('DELETE', `${v1}/contact/${gone.id}`)
  const found = async (filter: string, expand = '') =>
    (await get(`${v1}/activity/view/list?filter=${filter}${expand}`)).body.data
  for (const filter of filters) {
    const [one, ...others] = await found(filter, '&expand=contact')
    assert.deepEqual([one.id, one._expanded.contact.name, others], [activity.id, 'Gone', []], filter)
    assert.deepEqual(await found(`id:eq(${activity.id}),not(${filter})`), [])
  }
  const leaver = await made('user', { name: 'Leaver', email: 'leaver@example.com', role: 3 })
  const { token } = await made('token', { name: 'Leaver', user: leaver.id, scopes: ['deal:write'] })
  const own = await call('POST', `${v1}/deal`, dealBody(known, { sales_owner: known.owner }), {
    authorization: `Bearer ${token}`,
  })
  assert.equal(own.status, 201, own.text)
  assert.equal((await call('DELETE', `${v1}/user/${leaver.id}`)).status, 200)
  const byLeaver = (await list('created_by.email:eq(leaver@example.com)')).body.data
  assert.deepEqual(
    byLeaver.map(({ id }: Deal) => id),
    [own.body.data.id],
  )
})

test('one step, known fields, and not for sorting', async () => {
  for (const filter of [
    'primary_contact.company.name:eq(x)',
    'company.nobody:eq(x)',
    'company.name.:eq(x)',
    'title.name:eq(x)',
  ]) {
    const reply = await list(filter)
    assert.equal(reply.status, 400)
    assert.equal(reply.body.errors[0].code, 'unknown_field', filter)
  }
  assert.equal((await get(`${v1}/deal/view/list?sort=company.name`)).status, 400)
  const operator = await list('company.name:between(a)')
  assert.equal(operator.status, 400)
})

test('what a role does not see is not there, and the scope to read it is needed', async () => {
  const scopes = ['deal:read', 'deal:write', 'contact:read']
  const visibility = { contact: 'own' }
  const role = await made('role', { name: 'Less', scopes, visibility, hidden_fields: ['contact.job_title'] })
  const user = await made('user', { name: 'Less', email: 'less@example.com', role: role.id })
  const { token } = await made('token', { name: 'x', user: user.id, scopes })
  const as = { authorization: `Bearer ${token}` }
  const filter = 'primary_contact.last_name:eq(Across)'
  assert.equal((await list(filter)).body.meta.total, 1)
  assert.equal((await list(filter, '', as)).body.meta.total, 0)
  assert.equal((await list(filter, '&pageSize=1&count=estimate', as)).body.meta.total, 0)
  assert.equal((await list('primary_contact.job_title:eq(x)', '', as)).body.errors[0].code, 'unknown_field')
  const forbidden = await list('company.name:eq(x)', '', as)
  assert.equal(forbidden.status, 403)
  assert.match(forbidden.body.detail, /company:read/)
})

/** True if a request of this operation may have a filter: in its address, or in its body. */
function takesFilter({ said }: Operation, document: OpenApi): boolean {
  const named = (said.parameters ?? []).map((one: OpenApi) => merged(one, document).name)
  const body = said.requestBody?.content?.['application/json']?.schema
  return named.includes('filter') || 'filter' in (merged(body, document).properties ?? {})
}

test('no route answers a filter across a reference without the scope to read what it reaches', async () => {
  const document = (await call('GET', '/openapi.json', undefined, { authorization: '' })).body
  const asking = operationsOf(document).filter(one => takesFilter(one, document))
  const hook = { url: 'http://127.0.0.1:9/', events: ['deal.created'] }
  const { id } = await made('webhook', hook)
  const without = async (scope: string) => {
    const scopes = scopesOf(resources.map(({ name }) => name)).filter(
      // A calendar's stands alone.
      one => one !== scope && one !== adminScope && one !== calendarScope,
    )
    const { token } = await made('token', { name: `Without ${scope}`, scopes })
    return { authorization: `Bearer ${token}` }
  }
  const asWithout = { user: await without('user:read'), territory: await without('territory:read') }
  const filtered = reports.filter(({ parameters }) => 'filter' in parameters)
  const asked = filtered.map(({ path }) => path)
  const sent = filtered.filter(({ body }) => body).map(({ path }) => path)
  const waysOf = (names: string[], bodyOf: (filter: string) => Json | undefined) =>
    Object.fromEntries(names.map(name => [name, bodyOf]))
  const ways: { [method: string]: { [way: string]: (filter: string) => Json | undefined } } = {
    get: waysOf(['view/list', 'export', ...asked], () => undefined),
    post: {
      ...waysOf(['view/list', ...sent], filter => ({ filter })),
      bulk: filter => ({ filter, changes: { metadata: {} } }),
    },
  }
  const hooked = (filter: string) => ({ ...hook, filter })
  const tried: string[] = []
  for (const { path, method } of asking) {
    const [resource, ...rest] = path.slice(`${v1}/`.length).split('/') as [string, ...string[]]
    // A view stores text only: opening it requests a list.
    if (resource === 'view' && method !== 'get' && !path.endsWith('/view/list')) continue
    const way = rest.join('/')
    const bodyOf = resource === 'webhook' && ['', '{id}'].includes(way) ? hooked : ways[method]?.[way]
    assert.ok(bodyOf, `${method} ${path} takes a filter: say here how it is asked`)
    const [filter, reached] =
      resource === 'user'
        ? (['territories.name:like(a)', 'territory'] as const)
        : (['created_by.email:like(a)', 'user'] as const)
    const since = way === 'changes' ? `&from=${new Date().toISOString().slice(0, 10)}` : ''
    const query =
      method === 'get' ? `?filter=${encodeURIComponent(filter)}${since}` : way === 'bulk' ? '?dry_run=1' : ''
    const ask = (as?: Record<string, string>) =>
      call(method.toUpperCase(), path.replace('{id}', id) + query, bodyOf(filter), as)
    // Repeated lists are cached, for each role.
    for (const _ of [1, 2]) {
      const whole = await ask()
      assert.ok(whole.status < 300, `${method} ${path}: ${whole.text}`)
      if (way === 'bulk') await call('POST', `${v1}/job/${whole.body.data.id}/cancel`)
    }
    const forbidden = await ask(asWithout[reached])
    assert.equal(forbidden.status, 403, `${method} ${path}: ${forbidden.text}`)
    assert.match(forbidden.body.detail, new RegExp(`needs the scope ${reached}:read`), path)
    tried.push(`${method} ${way}`)
  }
  const all = Object.entries(ways).flatMap(([method, named]) =>
    Object.keys(named).map(way => `${method} ${way}`),
  )
  assert.deepEqual([...new Set(tried)].sort(), [...all, 'patch {id}', 'post ', 'put {id}'].sort())
})
