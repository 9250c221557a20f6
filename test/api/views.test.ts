/** Saved views (D130): their content, who sees them, and who changes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

const { call, get, known, db } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: records and answers of any shape
type Any = any
let people = 0
const person = async (role: string) => {
  const name = `Looker ${++people}`
  const user = await call('POST', `${v1}/user`, { name, email: `looker${people}@example.com`, role })
  const token = await call('POST', `${v1}/token`, { name, user: user.body.data.id, scopes: ['admin'] })
  const headers = { authorization: `Bearer ${token.body.data.token}` }
  const asks = (method: string, path: string, body?: Json): Promise<Reply> =>
    call(method, `${v1}/${path}`, body, headers)
  return { id: user.body.data.id as number, asks }
}
type Person = Awaited<ReturnType<typeof person>>
const [ann, ben, reader, boss] = [
  await person('Member'),
  await person('Manager'),
  await person('Read only'),
  await person('Administrator'),
]
const saved = async (who: Person, body: Json): Promise<Any> => {
  const reply = await who.asks('POST', 'view', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}
const names = async (who: Person, query = ''): Promise<string[]> => {
  const reply = await who.asks('GET', `view/view/list?sort=name:asc${query}`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.meta.total, reply.body.data.length)
  return reply.body.data.map((one: Any) => one.name)
}

test('a view keeps what was looked at, and shows it as it was saved', async () => {
  const body = {
    name: 'Large and open',
    source: 'deal',
    mode: 'Board',
    filter: 'status:eq(Open),deal_value:gt(10000),sales_owner.email:like(example)',
    sort: 'deal_value:desc',
    columns: [{ field: 'title', width: 240, is_pinned: true }, { field: 'deal_value' }],
    pipeline: known.pipeline,
    position: 3,
    metadata: { tint: 'blue' },
  }
  const made = await saved(ann, body)
  assert.deepEqual(
    { ...made, id: 0, created_at: '', updated_at: '' },
    {
      ...body,
      ...{ id: 0, source: 1, mode: 2, is_shared: 2, version: 1, created_at: '', updated_at: '' },
      columns: [
        { field: 'title', width: 240, is_pinned: true },
        { field: 'deal_value', width: null, is_pinned: false },
      ],
      ...{ created_by: ann.id, updated_by: ann.id, deleted_at: null, deleted_by: null },
    },
  )
  const read = await ann.asks('GET', `view/${made.id}`)
  assert.deepEqual(read.body.data, made)
  const again = await ann.asks('PUT', `view/${made.id}`, made)
  assert.deepEqual(again.body.data, made)
  const shown = await ann.asks(
    'GET',
    `view/view/list?filter=source:eq(deal),columns:eq(title)&expand=source,mode,is_shared&fields=name`,
  )
  assert.deepEqual(shown.body.data, [
    {
      id: made.id,
      name: 'Large and open',
      _expanded: {
        source: { id: 1, name: 'deal' },
        mode: { id: 2, name: 'Board' },
        is_shared: { id: 2, name: 'No' },
      },
    },
  ])
  const found = await ann.asks(
    'GET',
    `deal/view/list?filter=${encodeURIComponent(made.filter)}&sort=${made.sort}`,
  )
  assert.equal(found.status, 200, found.text)
  const { body: history } = await ann.asks('GET', `view/${made.id}/history`)
  assert.deepEqual(
    history.data.map((event: Any) => event.type),
    ['view.created'],
  )
})

test('an option or a stage that gets another name is still what a view shows', async () => {
  const { stages, options } = known
  const source = options.source!
  const filter =
    'pipeline_stage:eq(proposal),or(source:in(Web,"Referral"),not(source:eq(Chat))),title:eq(a, b),status:eq(Open)'
  const view = await saved(boss, { name: 'By name', source: 'deal', filter })
  const expected = [
    `pipeline_stage:eq(${stages.Proposal})`,
    `or(source:in(${source.Web},${source.Referral}),not(source:eq(${source.Chat})))`,
    'title:eq(a, b),status:eq(Open)',
  ].join()
  assert.equal(view.filter, expected)
  const found = async () => {
    const query = encodeURIComponent((await boss.asks('GET', `view/${view.id}`)).body.data.filter)
    const reply = await boss.asks('GET', `deal/view/list?filter=${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.meta.total
  }
  const before = await found()
  const rename = (name: string) => boss.asks('PATCH', `pipeline_stage/${stages.Proposal}`, { name })
  assert.equal((await rename('Quotation')).status, 200)
  assert.equal(await found(), before)
  await rename('Proposal')
  const again = await boss.asks('PATCH', `view/${view.id}`, { filter })
  assert.equal(again.body.data.version, 1, 'the same filter by names is the same')
  // A name that several stages share stands for all of them.
  const pipeline = (await boss.asks('POST', 'pipeline', { name: 'Another' })).body.data.id
  const twin = { pipeline, name: 'Proposal', kind: 'Open', probability: 10, position: 1 }
  const other = (await boss.asks('POST', 'pipeline_stage', twin)).body.data.id
  const both = await saved(boss, { name: 'Both', source: 'deal', filter: 'pipeline_stage:neq(Proposal)' })
  assert.deepEqual(both.filter.match(/\d+/g)?.map(Number).toSorted(), [stages.Proposal, other].toSorted())
  assert.match(both.filter, /^pipeline_stage:nin\(/)
  const unchanged = 'title:in("Acme, Inc."," x")'
  assert.equal((await saved(boss, { name: 'C', source: 'deal', filter: unchanged })).filter, unchanged)
  const quoted = 'title:in("Acme \\"1\\", Inc."," x"),source:eq(Web)'
  assert.equal(
    (await saved(boss, { name: 'Q', source: 'deal', filter: quoted })).filter,
    quoted.replace('Web', String(source.Web)),
  )
})

test('an option or a stage behind a reference that gets another name is still what a view shows', async () => {
  const { stages, options } = known
  const { id, filter } = await saved(boss, {
    name: 'Behind a reference',
    source: 'activity',
    filter:
      'deal.pipeline_stage:eq(Qualified),or(deal.source:in(Web),deal.status:eq(Open)),deal.title:neq(x)',
  })
  const expected = [
    `deal.pipeline_stage:eq(${stages.Qualified})`,
    `or(deal.source:in(${options.source!.Web}),deal.status:eq(Open))`,
    'deal.title:neq(x)',
  ].join()
  assert.equal(filter, expected)
  const rename = (name: string) => boss.asks('PATCH', `pipeline_stage/${stages.Qualified}`, { name })
  assert.equal((await rename('Fit')).status, 200)
  const query = encodeURIComponent((await boss.asks('GET', `view/${id}`)).body.data.filter)
  const reply = await boss.asks('GET', `activity/view/list?filter=${query}`)
  assert.equal(reply.status, 200, reply.text)
  await rename('Qualified')
})

test('an option that gets the id of another one as its name changes nothing of what a view shows', async () => {
  const options = ['A', 'B']
  const field = { source: 'deal', field_name: 'Room', type: 'DROPDOWN', options }
  const { data } = (await boss.asks('POST', 'field', field)).body
  const [a, b] = data.options.map(({ id }: Any) => id)
  for (const cf_room of options) {
    const made = await boss.asks('POST', 'deal', dealBody(known, { title: `In ${cf_room}`, cf_room }))
    assert.equal(made.status, 201, made.text)
  }
  const { id, filter } = await saved(boss, { name: 'B', source: 'deal', filter: 'cf_room:eq(B)' })
  assert.equal(filter, `cf_room:eq(${b})`)
  const renamed = await boss.asks('PATCH', `field/${data.id}/option/${a}`, { name: String(b) })
  assert.equal(renamed.status, 200, renamed.text)
  for (const asked of [(await boss.asks('GET', `view/${id}`)).body.data.filter, `cf_room:in(${b})`]) {
    const reply = await boss.asks('GET', `deal/view/list?filter=${asked}`)
    assert.deepEqual(
      reply.body.data.map(({ title }: Any) => title),
      ['In B'],
    )
  }
  // Digits that are no option's id are a name.
  assert.equal((await boss.asks('PATCH', `field/${data.id}/option/${a}`, { name: '2024' })).status, 200)
  const byName = await saved(boss, { name: 'Y', source: 'deal', filter: 'cf_room:eq(2024)' })
  assert.equal(byName.filter, `cf_room:eq(${a})`)
})

test('only a name and a source are needed', async () => {
  const made = await saved(ann, { name: 'Products', source: 'product' })
  const { mode, filter, sort, columns, pipeline, is_shared, position } = made
  assert.deepEqual(
    { mode, filter, sort, columns, pipeline, is_shared, position },
    { mode: 1, filter: null, sort: null, columns: [], pipeline: null, is_shared: 2, position: null },
  )
})

test('a filter, an order and columns that no list takes are refused, all at once', async () => {
  const reply = await ann.asks('POST', 'view', {
    name: '',
    source: 'contact',
    mode: 'Board',
    filter: 'title:eq(x),first_name:near(y)',
    sort: 'emails:asc',
    columns: [{ field: 'first_name' }, { field: 'no_such' }, { field: 'first_name' }],
    pipeline: 999_999,
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(problemsOf(reply), [
    '/columns/1/field unknown_field',
    '/columns/2/field contradiction',
    '/filter syntax',
    '/mode contradiction',
    '/name required',
    '/pipeline reference_not_found',
    '/sort not_sortable',
  ])
  const unnamed = await ann.asks('POST', 'view', { name: 'x', source: 'deal', columns: [{ width: 100 }] })
  assert.deepEqual(problemsOf(unnamed), ['/columns/0/field required'])
  const unknown = await ann.asks('POST', 'view', { name: 'x', source: 'deal', filter: 'titel:eq(x)' })
  assert.equal(unknown.status, 422)
  const [problem] = unknown.body.errors
  assert.equal(problem.message, 'There is no field "titel".')
  assert.equal(problem.hint, 'Did you mean "title"?')
  const shapes = await ann.asks('POST', 'view', {
    ...{ name: 'x', source: 'user', filter: 'a'.repeat(4001) },
    columns: [{ field: 'Name', width: 5 }, 'title', { field: 'name', is_pinned: 'x', hidden: 1 }],
  })
  assert.deepEqual(problemsOf(shapes), [
    '/columns/0/field wrong_type',
    '/columns/0/width out_of_range',
    '/columns/1 wrong_type',
    '/columns/2/hidden unknown_field',
    '/columns/2/is_pinned wrong_type',
    '/filter too_long',
    '/source unknown_option',
  ])
  const columns = Array.from({ length: 201 }, () => ({ field: 'title' }))
  const long = await ann.asks('POST', 'view', { name: 'x', source: 'deal', columns })
  assert.deepEqual(problemsOf(long), ['/columns too_many'])
  const table = await ann.asks('POST', 'view', { name: 'x', source: 'deal', pipeline: known.pipeline })
  assert.deepEqual(problemsOf(table), ['/pipeline contradiction'])
  const mine = await saved(ann, { name: 'x', source: 'deal', mode: 'Board', pipeline: known.pipeline })
  const turned = await ann.asks('PATCH', `view/${mine.id}`, { mode: 'Table' })
  assert.deepEqual(problemsOf(turned), ['/pipeline contradiction'])
  assert.equal((await ann.asks('PATCH', `view/${mine.id}`, { mode: 'Table', pipeline: null })).status, 200)
})

test('what a role hides is unknown to its views, too (D64)', async () => {
  const scopes = ['deal:read', 'view:read', 'view:write']
  const hidden_fields = ['deal.deal_value']
  await call('POST', `${v1}/role`, { name: 'Without money', scopes, hidden_fields })
  const cleo = await person('Without money')
  const body = { name: 'x', source: 'deal', filter: 'deal_value:gt(1)', columns: [{ field: 'deal_value' }] }
  const reply = await cleo.asks('POST', 'view', body)
  assert.deepEqual(problemsOf(reply), ['/columns/0/field unknown_field', '/filter unknown_field'])
  const noPipeline = ['deal.pipeline', 'deal.pipeline_stage', 'deal.stage_probability']
  await call('POST', `${v1}/role`, { name: 'Without pipelines', scopes, hidden_fields: noPipeline })
  const dan = await person('Without pipelines')
  for (const pipeline of [known.pipeline, 999]) {
    const board = await dan.asks('POST', 'view', { name: 'x', source: 'deal', mode: 'Board', pipeline })
    assert.deepEqual(problemsOf(board), ['/pipeline reference_not_found'])
    assert.doesNotMatch(board.text, /Sales/)
  }
})

test('what was saved can be written back, though its fields have gone', async () => {
  const field = await call('POST', `${v1}/field`, {
    source: 'company',
    field_name: 'Passing',
    type: 'SINGLE_STRING',
  })
  const { id, internal_name: name } = field.body.data
  const query = { filter: `${name}:eq(x)`, sort: `${name}:asc`, columns: [{ field: name }] }
  const made = await saved(ann, { name: 'Passing', source: 'company', ...query })
  assert.equal((await call('DELETE', `${v1}/field/${id}`)).status, 200)
  const back = await ann.asks('PUT', `view/${made.id}`, { ...made, name: 'Still passing' })
  assert.equal(back.status, 200, back.text)
  assert.equal(back.body.data.filter, query.filter)
  const other = await ann.asks('PATCH', `view/${made.id}`, { source: 'contact' })
  assert.equal(other.status, 422, 'all is judged anew for another source')
})

test('a private view is for whoever made it; a shared one is seen by all', async () => {
  const own = await saved(ann, { name: "Ann's own", source: 'activity' })
  const shared = await saved(ann, { name: "Ann's shared", source: 'deal', is_shared: 'Yes' })
  for (const other of [ben, reader, boss]) {
    const read = await other.asks('GET', `view/${own.id}`)
    assert.deepEqual([read.status, read.body.code], [404, 4002])
    for (const [method, path] of [
      ['PATCH', `view/${own.id}`],
      ['DELETE', `view/${own.id}`],
      ['GET', `view/${own.id}/history`],
    ] as const) {
      const reply = await other.asks(method, path, method === 'PATCH' ? { name: 'Theirs' } : undefined)
      assert.equal(reply.status, 404, `${method} ${path}: ${reply.text}`)
    }
    assert.equal((await other.asks('GET', `view/${shared.id}`)).status, 200)
    assert.deepEqual(await names(other, "&filter=name:like(Ann's)"), ["Ann's shared"])
  }
  assert.deepEqual(await names(ann, "&filter=name:like(Ann's)"), ["Ann's own", "Ann's shared"])
  for (const other of [ben, reader]) {
    assert.equal((await other.asks('PATCH', `view/${shared.id}`, { name: 'x' })).status, 403)
    assert.equal((await other.asks('DELETE', `view/${shared.id}`)).status, 403)
  }
  const renamed = await boss.asks('PATCH', `view/${shared.id}`, { name: "Ann's, by the boss" })
  assert.deepEqual([renamed.status, renamed.body.data.created_by], [200, ann.id])
  assert.equal((await boss.asks('PATCH', `view/${shared.id}`, { is_shared: false })).status, 200)
  assert.equal((await boss.asks('GET', `view/${shared.id}`)).status, 404)
  assert.equal((await ann.asks('PATCH', `view/${shared.id}`, { is_shared: true })).status, 200)
})

test('whoever only reads has views, too', async () => {
  const made = await saved(reader, { name: 'To read', source: 'deal' })
  assert.equal((await reader.asks('PATCH', `view/${made.id}`, { name: 'To look at' })).status, 200)
  assert.equal((await reader.asks('DELETE', `view/${made.id}`)).status, 200)
  assert.equal((await reader.asks('POST', `view/${made.id}/restore`)).status, 200)
  assert.ok((await names(reader)).includes('To look at'))
})

test('a deleted view is restored by whoever may change it, and by nobody else', async () => {
  const shared = await saved(ann, { name: 'Away', source: 'deal', is_shared: 'Yes' })
  const own = await saved(ann, { name: 'Away, too', source: 'deal' })
  for (const { id } of [shared, own]) assert.equal((await ann.asks('DELETE', `view/${id}`)).status, 200)
  assert.deepEqual(await names(ben, '&deleted=only'), ['Away'])
  assert.equal((await ben.asks('POST', `view/${shared.id}/restore`)).status, 403)
  assert.equal((await boss.asks('POST', `view/${own.id}/restore`)).status, 404)
  assert.equal((await boss.asks('POST', `view/${shared.id}/restore`)).status, 200)
  assert.equal((await ann.asks('POST', `view/${own.id}/restore`)).status, 200)
})

test('the feed does not tell of views, and still tells of the rest', async () => {
  assert.equal((await boss.asks('GET', 'event?limit=1000')).status, 200)
  const { data } = (await boss.asks('GET', 'event?after=0&limit=1000')).body
  assert.ok(data.length > 0)
  assert.ok(data.every((event: Any) => event.resource !== 'view'))
  assert.equal((await boss.asks('GET', 'event?resource=view')).status, 403)
})

test('a webhook tells of the views that its user sees', async () => {
  const asked = { url: 'http://127.0.0.1:9/', events: ['view.created'] }
  const hook = (await ben.asks('POST', 'webhook', asked)).body.data.id
  await saved(ann, { name: 'Not told', source: 'deal' })
  const told = [
    await saved(ann, { name: 'Told', source: 'deal', is_shared: 'Yes' }),
    await saved(ben, { name: 'Told, too', source: 'deal' }),
  ]
  const records = async () => {
    const { data } = (await ben.asks('GET', `webhook/${hook}/deliveries`)).body
    return data.map((delivery: Any) => delivery.record).toSorted()
  }
  await eventually(async () => (await records()).length >= 2, 'two deliveries')
  assert.deepEqual(
    await records(),
    told.map(({ id }) => id),
  )
})

test('a pipeline with views can be deleted, and its views stay', async () => {
  const pipeline = (await call('POST', `${v1}/pipeline`, { name: 'Short-lived' })).body.data.id
  const made = await saved(ann, { name: 'Its board', source: 'deal', mode: 'Board', pipeline })
  assert.equal((await call('DELETE', `${v1}/pipeline/${pipeline}`)).status, 200)
  const back = await ann.asks('PUT', `view/${made.id}`, made)
  assert.deepEqual([back.status, back.body.data?.pipeline], [200, pipeline], back.text)
})

test('roles say nothing of who sees views', async () => {
  const body = { name: 'x', scopes: [], visibility: { view: 'own' } }
  const reply = await call('POST', `${v1}/role`, body)
  assert.deepEqual(problemsOf(reply), ['/visibility/view unknown_resource'])
})

test('nobody has more than two hundred views, also by restoring or at once', async () => {
  const dora = await person('Member')
  const first = await saved(dora, { name: 'First', source: 'deal' })
  await dora.asks('DELETE', `view/${first.id}`)
  for (let made = 0; made < 200; made += 20)
    await Promise.all(
      Array.from({ length: made < 180 ? 20 : 19 }, (_, index) =>
        saved(dora, { name: `V${made + index}`, source: 'deal' }),
      ),
    )
  const lastOnes = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      dora.asks('POST', 'view', { name: `Last ${index}`, source: 'deal' }),
    ),
  )
  assert.deepEqual(lastOnes.map(({ status }) => status).toSorted(), [201, ...Array(7).fill(422)])
  const more = await dora.asks('POST', 'view', { name: 'One more', source: 'deal' })
  assert.deepEqual([more.status, problemsOf(more)], [422, [' too_many']])
  assert.match(more.body.errors[0].message, /200/)
  assert.equal((await dora.asks('POST', `view/${first.id}/restore`)).status, 422)
  const last = await dora.asks('GET', 'view/view/list?pageSize=1')
  assert.equal((await dora.asks('DELETE', `view/${last.body.data[0].id}`)).status, 200)
  assert.equal((await dora.asks('POST', `view/${first.id}/restore`)).status, 200)
  assert.equal((await ann.asks('POST', 'view', { name: 'Another', source: 'deal' })).status, 201)
})

test('what others keep for themselves is never named: neither in a feed nor by an id', async () => {
  const own = await saved(ann, { name: 'Hidden', source: 'deal' })
  const [row] = await db.query('SELECT count(*)::text AS n FROM "view" WHERE id = $1::bigint', [
    String(own.id),
  ])
  assert.equal(row!.n, '1')
  const listed = await get(`${v1}/view/view/list?filter=id:eq(${own.id})&count=exact`)
  assert.deepEqual([listed.body.data, listed.body.meta.total], [[], 0])
})
