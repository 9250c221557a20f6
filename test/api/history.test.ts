/** Authors, times and changes of records in their history (D69, D70). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, made, token } = service
const changed = async (path: string, body: Json, headers: Record<string, string> = {}) => {
  const reply = await call('PATCH', `${v1}/${path}`, body, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const historyOf = async (path: string, query = '', headers: Record<string, string> = {}) => {
  const reply = await call('GET', `${v1}/${path}/history${query}`, undefined, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
/** The change of a field in an event. */
const changeOf = (event: { changes: { field: string }[] }, field: string): Json => {
  const found = event.changes.find(change => change.field === field)
  assert.ok(found, field)
  return found as unknown as Json
}

test('a history names who, when, by what, and each change from and to', async () => {
  const deal = await made('deal', dealBody(known, { title: 'Told' }))
  const { Won } = known.stages
  const sent = {
    pipeline_stage: Won!,
    won_reason: 'Price',
    deal_closed_on: '2026-05-01',
    title: 'Told twice',
  }
  const won = await changed(`deal/${deal.id}`, sent, { 'x-request-id': 'closing-1' })
  const { data, meta } = await historyOf(`deal/${deal.id}`)
  assert.deepEqual(meta, { pageSize: 25, hasMore: false, nextCursor: null })
  assert.deepEqual(
    data.map(({ type, also, version }: { type: string; also: string[]; version: number }) => [
      type,
      also,
      version,
    ]),
    [
      ['deal.updated', ['deal.stage_changed', 'deal.won'], 2],
      ['deal.created', [], 1],
    ],
  )
  const [closing, creation] = data
  assert.equal(closing.at, won.updated_at)
  const { token: used, ...actor } = closing.actor
  const me = (await get(`${v1}/me`)).body.data
  assert.deepEqual(actor, { id: me.user.id, name: me.user.name, request_id: 'closing-1' })
  assert.deepEqual(used, me.token)
  assert.deepEqual(changeOf(closing, 'title'), {
    field: 'title',
    label: 'Title',
    from: 'Told',
    to: 'Told twice',
  })
  assert.deepEqual(changeOf(closing, 'pipeline_stage'), {
    field: 'pipeline_stage',
    label: 'Stage',
    from: deal.pipeline_stage,
    to: Won!,
    from_name: 'New',
    to_name: 'Won',
  })
  assert.deepEqual(changeOf(closing, 'won_reason'), {
    ...{ field: 'won_reason', label: 'Won reason', from: null, to: won.won_reason, to_name: 'Price' },
  })
  // A creation lists the fields that it set, without empty ones.
  assert.deepEqual(changeOf(creation, 'title'), { field: 'title', label: 'Title', from: null, to: 'Told' })
  assert.ok(creation.changes.every((change: { to: Json }) => change.to !== null))
})

test('names are those of now: of a renamed option, a deleted record, a deleted user', async () => {
  const stage = await made('pipeline_stage', { name: 'Fleeting', pipeline: known.pipeline, kind: 'Open' })
  const company = await made('company', { name: 'Gone Ltd' })
  const user = await made('user', { name: 'Leaver', email: 'leaver@example.com' })
  const deal = await made('deal', dealBody(known, { pipeline_stage: stage.id, company: company.id }))
  await changed(`deal/${deal.id}`, { pipeline_stage: known.stages.New!, company: null, sales_owner: user.id })
  await changed(`deal/${deal.id}`, { sales_owner: known.owner })
  for (const path of [`pipeline_stage/${stage.id}`, `company/${company.id}`, `user/${user.id}`])
    assert.equal((await call('DELETE', `${v1}/${path}`)).status, 200)
  const [handedBack, moved] = (await historyOf(`deal/${deal.id}`)).data
  const names = (event: { changes: { field: string }[] }, field: string) => {
    const { from_name = null, to_name = null } = changeOf(event, field) as { [name: string]: Json }
    return [from_name, to_name]
  }
  assert.deepEqual(names(moved, 'pipeline_stage'), ['Fleeting', 'New'])
  assert.deepEqual(names(moved, 'company'), ['Gone Ltd', null])
  assert.equal(names(handedBack, 'sales_owner')[0], 'Leaver')
  assert.deepEqual(handedBack.also, ['deal.owner_changed'])
})

test('a deleted record has a history as long as it can be restored, and says who deleted it', async () => {
  const deal = await made('deal', dealBody(known))
  assert.equal((await call('DELETE', `${v1}/deal/${deal.id}`)).status, 200)
  const listed = (await get(`${v1}/deal/view/list?deleted=only&filter=id:eq(${deal.id})`)).body.data
  assert.equal(listed[0].deleted_by, 1)
  const [deletion] = (await historyOf(`deal/${deal.id}`)).data
  assert.deepEqual([deletion.type, deletion.changes], ['deal.deleted', []])
  assert.equal((await call('POST', `${v1}/deal/${deal.id}/restore`)).body.data.deleted_by, null)
  assert.equal((await historyOf(`deal/${deal.id}`)).data[0].type, 'deal.restored')
  const later = await service.another({ now: () => new Date(Date.now() + 40 * 86_400_000) })
  await call('DELETE', `${v1}/deal/${deal.id}`)
  assert.equal((await later.get(`${v1}/deal/${deal.id}/history`)).status, 404)
})

test('pages follow each other by cursor, whatever is written meanwhile', async () => {
  const deal = await made('deal', dealBody(known))
  for (let n = 0; n < 7; n++) await changed(`deal/${deal.id}`, { title: `Title ${n}` })
  const seen: number[] = []
  let query = '?pageSize=3'
  for (;;) {
    const { data, meta } = await historyOf(`deal/${deal.id}`, query)
    seen.push(...data.map(({ version }: { version: number }) => version))
    await changed(`deal/${deal.id}`, { title: `Meanwhile ${seen.length}` })
    if (!meta.hasMore) break
    query = `?pageSize=3&cursor=${meta.nextCursor}`
  }
  assert.deepEqual(seen, [8, 7, 6, 5, 4, 3, 2, 1])
})

test('what a role does not see is not told', async () => {
  const scopes = ['deal:read']
  const role = await made('role', {
    name: 'Half blind',
    scopes,
    hidden_fields: ['deal.deal_value'],
    visibility: { deal: 'own' },
  })
  const user = await made('user', { name: 'Half blind', email: 'half@example.com', role: role.id })
  const as = { authorization: `Bearer ${(await made('token', { name: 'x', user: user.id, scopes })).token}` }
  const other = await made('deal', dealBody(known, { deal_value: { currency: 'USD', value: 3 } }))
  assert.equal((await call('GET', `${v1}/deal/${other.id}/history`, undefined, as)).status, 404)
  await changed(`deal/${other.id}`, { sales_owner: user.id })
  const { data } = await historyOf(`deal/${other.id}`, '', as)
  const fields = new Set(
    data.flatMap((event: { changes: { field: string }[] }) => event.changes.map(c => c.field)),
  )
  for (const hidden of ['deal_value', 'weighted_value', 'deal_value_in_base_currency'])
    assert.ok(!fields.has(hidden), hidden)
  assert.ok(fields.has('title'))
  // Without the scope to read users only ids are shown.
  const owner = changeOf(data[0], 'sales_owner') as { [name: string]: Json }
  assert.deepEqual([owner.to, owner.to_name], [user.id, undefined])
})

test('what else an event is tells nothing of hidden fields', async () => {
  const deal = await made('deal', dealBody(known))
  const user = await made('user', { name: 'Next owner', email: 'next@example.com', role: 2 })
  const { Won } = known.stages
  const sent = { pipeline_stage: Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' }
  await changed(`deal/${deal.id}`, { ...sent, sales_owner: user.id })
  const scopes = ['deal:read', 'event:read']
  for (const [hidden, also] of [
    [['deal.pipeline_stage'], ['deal.owner_changed']],
    [['deal.status'], ['deal.stage_changed', 'deal.owner_changed']],
    [['deal.sales_owner'], ['deal.stage_changed', 'deal.won']],
  ] as const) {
    const role = await made('role', { name: `Not ${hidden}`, scopes, hidden_fields: [...hidden] })
    const { id } = await made('user', {
      name: `Not ${hidden}`,
      email: `${role.id}@example.com`,
      role: role.id,
    })
    const as = { authorization: `Bearer ${(await made('token', { name: 'x', user: id, scopes })).token}` }
    const { seq, also: told } = (await historyOf(`deal/${deal.id}`, '', as)).data[0]
    assert.deepEqual(told, also)
    for (const type of ['deal.stage_changed', 'deal.won', 'deal.owner_changed']) {
      const path = `${v1}/event?after=${seq - 1}&type=${type}`
      const reply = await call('GET', path, undefined, as)
      const isKnown = (also as readonly string[]).includes(type)
      assert.equal(reply.status, isKnown ? 200 : 400, `${hidden} ${type}`)
      if (isKnown) assert.deepEqual(reply.body.data[0].also, also)
    }
  }
})

test('every resource has a history; what is not there, and bad parameters, are refused', async () => {
  const { id } = await made('tag', { name: 'Historic' })
  await changed(`tag/${id}`, { name: 'History' })
  assert.deepEqual(changeOf((await historyOf(`tag/${id}`)).data[0], 'name'), {
    ...{ field: 'name', label: 'Name', from: 'Historic', to: 'History' },
  })
  // Events contain no secrets.
  const [secret] = (await historyOf(`token/${(await get(`${v1}/me`)).body.data.token.id}`)).data
  assert.ok(!JSON.stringify(secret ?? '').includes(token))
  assert.equal((await get(`${v1}/deal/999999/history`)).status, 404)
  assert.equal((await get(`${v1}/deal/abc/history`)).status, 400)
  for (const query of ['pageSize=0', 'pageSize=501', 'cursor=nonsense', 'page=2', 'cursor=MA'])
    assert.equal((await get(`${v1}/deal/1/history?${query}`)).status, 400, query)
})

test('who did it has a name for those who may read users, and its token for those who may read tokens', async () => {
  const { id } = await made('deal', dealBody(known, { title: 'Whose' }))
  const { seq } = (await historyOf(`deal/${id}`)).data[0]
  await changed(`deal/${id}`, { title: 'Changed since' })
  const me = (await get(`${v1}/me`)).body.data
  const by = async (...scopes: string[]) => {
    const { token } = await made('token', { name: scopes.join(), scopes: ['deal:read', ...scopes] })
    return { authorization: `Bearer ${token}` }
  }
  for (const [scopes, user, name] of [
    [[], null, null],
    [['user:read'], me.user.name, null],
    [['token:read'], null, me.token.name],
  ] as const) {
    const as = await by(...scopes, 'event:read', 'deal:write')
    const { actor } = (await historyOf(`deal/${id}`, '', as)).data.at(-1)
    assert.deepEqual([actor.id, actor.name], [me.user.id, user])
    assert.deepEqual(actor.token, { id: me.token.id, name })
    const feed = await call('GET', `${v1}/event?resource=deal&after=${seq - 1}&limit=1`, undefined, as)
    assert.deepEqual(feed.body.data[0].actor, actor)
    const undone = await call('POST', `${v1}/event/${seq}/undo`, undefined, as)
    assert.equal(undone.status, 409, undone.text)
    assert.deepEqual(undone.body.errors[0].by.actor, { id: me.user.id, name: user })
  }
})

test('a token has a name for those alone who see it', async () => {
  const { id } = await made('deal', dealBody(known))
  const me = (await get(`${v1}/me`)).body.data
  const user = await made('user', { name: 'Another', email: 'another@example.com', role: 2 })
  for (const scopes of [['admin'], ['token:read', 'deal:read', 'deal:write', 'event:read']]) {
    const { token, id: own } = await made('token', { name: scopes.join(), user: user.id, scopes })
    const as = { authorization: `Bearer ${token}` }
    await changed(`deal/${id}`, { title: `By ${own}` }, as)
    const told = (await historyOf(`deal/${id}`, '', as)).data
    assert.deepEqual(told.at(-1).actor.token, { id: me.token.id, name: null })
    assert.deepEqual(told[0].actor.token, { id: own, name: scopes.join() })
    const feed = await call('GET', `${v1}/event?resource=deal&after=${told.at(-1).seq - 1}`, undefined, as)
    assert.deepEqual(feed.body.data[0].actor, told.at(-1).actor)
  }
})
