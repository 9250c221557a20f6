/** The feed of all changes: by polling, long poll and server-sent events (D71). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { earlier } from '../support/citus.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'
import { eventsOf } from '../support/stream.ts'

const service = await startService()
const { call, get, known, made, token, url } = service
type Told = { seq: number; type: string; id: number; record?: { title: string } | null }
const feed = async (query: string, headers: Record<string, string> = {}) => {
  const reply = await call('GET', `${v1}/event?${query}`, undefined, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as { data: Told[]; meta: { last: number; next: number; hasMore: boolean } }
}
const last = async () => (await feed('limit=1')).meta.last
const asRole = async (role: Json, scopes: string[]) => {
  const { id } = await made('role', role)
  const name = (role as { name: string }).name
  const user = await made('user', { name, email: `${name.replaceAll(' ', '.')}@example.com`, role: id })
  const { token } = await made('token', { name, user: user.id, scopes })
  return { authorization: `Bearer ${token}` }
}

test('from the oldest event on, page by page, without gaps', async () => {
  const seen: number[] = []
  let query = 'limit=500'
  for (;;) {
    const { data, meta } = await feed(query)
    seen.push(...data.map(({ seq }) => seq))
    assert.equal(meta.next, data.at(-1)?.seq)
    if (!meta.hasMore) {
      assert.equal(meta.next, meta.last)
      break
    }
    query = `limit=500&after=${meta.next}`
  }
  assert.deepEqual(
    seen,
    [...seen.keys()].map(index => index + 1),
  )
})

test('an event says what happened to what, in the words of its history', async () => {
  const from = await last()
  const deal = await made('deal', dealBody(known, { title: 'Followed' }))
  const { Lost } = known.stages
  await call('PATCH', `${v1}/deal/${deal.id}`, {
    ...{ pipeline_stage: Lost!, lost_reason: 'Junk Lead', deal_closed_on: '2026-05-01' },
  })
  const { data } = await feed(`after=${from}`)
  const history = (await get(`${v1}/deal/${deal.id}/history`)).body.data
  assert.deepEqual(data, history.toReversed())
  await call('DELETE', `${v1}/deal/${deal.id}`)
  await call('POST', `${v1}/deal/${deal.id}/restore`)
  const types = (await feed(`after=${from}`)).data.map(({ type }) => type)
  assert.deepEqual(types, ['deal.created', 'deal.updated', 'deal.deleted', 'deal.restored'])
})

test('resource and type choose; a derived type matches the event that is also it', async () => {
  const from = await last()
  const deal = await made('deal', dealBody(known))
  await made('tag', { name: 'Chosen' })
  await call('PATCH', `${v1}/deal/${deal.id}`, { pipeline_stage: known.stages.Qualified! })
  const types = async (query: string) => (await feed(`after=${from}&${query}`)).data.map(({ type }) => type)
  assert.deepEqual(await types('resource=tag'), ['tag.created'])
  assert.deepEqual(await types('resource=tag,deal'), ['deal.created', 'tag.created', 'deal.updated'])
  assert.deepEqual(await types('type=deal.stage_changed,tag.created'), ['tag.created', 'deal.updated'])
  assert.deepEqual(await types('resource=deal&type=tag.created'), [])
  // Events that don't match are skipped: the next page begins after them.
  const { meta } = await feed(`after=${from}&resource=contact`)
  assert.deepEqual([meta.next, meta.hasMore], [meta.last, false])
})

test('a change of a field is an event of the resource field', async () => {
  const from = await last()
  await made('field', { source: 'deal', field_name: 'Followed field', type: 'SINGLE_STRING' })
  const [event] = (await feed(`after=${from}&resource=field`)).data
  assert.equal(event!.type, 'field.created')
})

test('changes of hidden fields are not told, nor their names in a form', async () => {
  const scopes = ['event:read', 'field:read']
  const body = { source: 'deal', field_name: 'Unknown to some', type: 'SINGLE_STRING' }
  const { id, internal_name: name } = await made('field', body)
  const as = await asRole({ name: 'Not that field', scopes, hidden_fields: [`deal.${name}`] }, scopes)
  const from = await last()
  await call('PATCH', `${v1}/field/${id}`, { default_value: 'secret' })
  const { data: form } = (await get(`${v1}/field/form?source=deal`)).body
  await call('PUT', `${v1}/field/form?source=deal`, form.toReversed())
  await made('field', { ...body, field_name: 'Known to all', section: 'Its own' })
  await call('DELETE', `${v1}/field/${id}`)
  const told = await feed(`after=${from}&resource=field`, as)
  assert.deepEqual(
    told.data.map(({ type }) => type),
    ['form.updated', 'field.created'],
  )
  assert.ok(!JSON.stringify(told.data).includes(name))
  assert.ok(JSON.stringify(told.data).includes('"deal_value"'))
  const all = (await feed(`after=${from}&resource=field`)).data
  assert.equal(all.length, 4)
  assert.equal(JSON.stringify(all).split(name).length - 1, 4)
  // If the last examined event is hidden, the next page still begins after it.
  const page = await feed(`after=${from}&resource=field&limit=1`, as)
  assert.deepEqual([page.data, page.meta.next, page.meta.hasMore], [[], all[0]!.seq, true])
  const { purgeFields } = await import('../../src/work/background/purge.ts')
  const { loadCatalog } = await import('../../src/accounts/callers.ts')
  const { resources } = await import('../../src/resources/resources.ts')
  const later = new Date(Date.now() + 60_000)
  assert.deepEqual(await purgeFields(service.db, await loadCatalog(service.db, resources, 1), later), [name])
  await new Promise(resolve => setTimeout(resolve, 1100))
  assert.deepEqual(await feed(`after=${from}&resource=field`, as), told)
})

test('record=1 adds the record as it is now, null where it is deleted', async () => {
  const from = await last()
  const [one, two] = [await made('deal', dealBody(known)), await made('deal', dealBody(known))]
  await call('PATCH', `${v1}/deal/${one.id}`, { title: 'Later' })
  await call('DELETE', `${v1}/deal/${two.id}`)
  const { data } = await feed(`after=${from}&record=1`)
  const record = (await get(`${v1}/deal/${one.id}`)).body.data
  assert.deepEqual(
    data.map(({ id, record }) => [id, record?.title ?? null]),
    [
      [one.id, 'Later'],
      [two.id, null],
      [one.id, 'Later'],
      [two.id, null],
    ],
  )
  assert.deepEqual(data[0]!.record, record)
  // A page of very long records has some of them, and the next one the others.
  const start = await last()
  for (let n = 0; n < 60; n++) await made('deal', dealBody(known, { title: `Long ${n}` }))
  await service.db.query(`UPDATE deal SET document = document || ',"cf_long":"' || repeat('x', 300000) || '"'
    WHERE account_id = 1 AND title LIKE 'Long %'`)
  const titles: string[] = []
  let [after, pages] = [start, 0]
  for (; after < start + 60; pages++) {
    const page = await feed(`after=${after}&record=1&limit=1000`)
    titles.push(...page.data.map(event => event.record!.title))
    after = page.meta.next
  }
  assert.deepEqual(
    titles,
    [...Array(60).keys()].map(n => `Long ${n}`),
  )
  assert.ok(pages > 1)
  // So has a page of many events of one record, as each has it whole.
  const { data: last60 } = await feed(`after=${start}&record=1&limit=1`)
  const often = await last()
  for (let n = 0; n < 60; n++) await call('PATCH', `${v1}/deal/${last60[0]!.id}`, { title: `Often ${n}` })
  await service.db.query(`UPDATE deal SET document = document || ',"cf_long":"' || repeat('x', 300000) || '"'
    WHERE account_id = 1 AND id = ${last60[0]!.id}`)
  const some = await feed(`after=${often}&record=1&limit=1000`)
  assert.ok(some.data.length > 0 && some.data.length < 60 && some.meta.hasMore)
})

test('a long poll answers as soon as there is an event, also of another process', async () => {
  const other = await service.another()
  for (const by of [service, other]) {
    const from = await last()
    const waiting = feed(`after=${from}&wait=30&type=tag.created`)
    // An event that does not match does not end the wait.
    await made('deal', dealBody(known))
    const tag = await by.call('POST', `${v1}/tag`, { name: `Awaited by ${by.url}` })
    const { data } = await waiting
    assert.deepEqual(
      data.map(({ id }) => id),
      [tag.body.data.id],
    )
  }
  const from = await last()
  const { data, meta } = await feed(`after=${from}&wait=1`)
  assert.deepEqual([data, meta], [[], { last: from, next: from, hasMore: false }])
})

test('a stream tells events as they come, and goes on after Last-Event-ID', async () => {
  const from = await last()
  const stream = await eventsOf(`${url}${v1}/event?after=${from}&resource=tag`, token)
  const first = await made('tag', { name: 'Streamed' })
  await made('deal', dealBody(known))
  const second = await made('tag', { name: 'Streamed too' })
  const told = [await stream.next(), await stream.next()]
  assert.deepEqual(
    told.map(({ event, data }) => [event, data.id]),
    [
      ['tag.created', first.id],
      ['tag.created', second.id],
    ],
  )
  assert.equal(Number(told[0]!.id), told[0]!.data.seq)
  await stream.end()
  const third = await made('tag', { name: 'Streamed later' })
  const again = await eventsOf(`${url}${v1}/event?after=0&resource=tag`, token, told[1]!.id)
  assert.equal((await again.next()).data.id, third.id)
  await again.end()
})

test('a stream ends with the token, and with the service', async () => {
  const { id, token: short } = await made('token', { name: 'Short', scopes: ['event:read', 'tag:read'] })
  const stream = await eventsOf(`${url}${v1}/event?after=${await last()}&resource=tag`, short)
  await call('DELETE', `${v1}/token/${id}`)
  await assert.rejects(stream.next(), /ended/)
  const refused = await fetch(`${url}${v1}/event?after=x`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
  })
  assert.equal(refused.status, 400)
  const plain = await call('GET', `${v1}/deal/view/list`, undefined, { accept: 'text/event-stream' })
  assert.equal(plain.status, 406)
})

test('whoever sees only some records does not follow them; what one may not read is left out', async () => {
  const scopes = ['event:read', 'deal:read', 'tag:read']
  const own = await asRole({ name: 'Own feed', scopes, visibility: { deal: 'own' } }, scopes)
  for (const query of ['', 'resource=deal']) {
    const reply = await call('GET', `${v1}/event?${query}`, undefined, own)
    assert.equal(reply.status, 403, query)
    assert.match(reply.body.detail, /sees only some/)
  }
  const from = await last()
  await made('tag', { name: 'Seen by own' })
  assert.equal((await feed(`after=${from}&resource=tag`, own)).data.length, 1)
  const less = await asRole({ name: 'Less feed', scopes, hidden_fields: ['deal.deal_value'] }, scopes)
  await made('contact', { last_name: 'Unseen' })
  await made('deal', dealBody(known, { deal_value: { currency: 'USD', value: 7 } }))
  const { data, meta } = await feed(`after=${from}`, less)
  assert.deepEqual([...new Set(data.map(({ type }) => type))], ['tag.created', 'deal.created'])
  assert.ok(!JSON.stringify(data).includes('deal_value'))
  assert.equal(meta.next, meta.last)
  const reply = await call('GET', `${v1}/event?resource=contact`, undefined, less)
  assert.equal(reply.status, 403)
  const without = await asRole({ name: 'No feed', scopes: ['deal:read'] }, ['deal:read'])
  assert.equal((await call('GET', `${v1}/event`, undefined, without)).status, 403)
})

test('whoever loses rights while they wait or follow is told no more of what they may not read by now', async () => {
  const admin = await made('user', { name: 'Demoted', email: 'demoted@example.com', role: 1 })
  const demoted = await made('token', { name: 'Demoted', user: admin.id, scopes: ['admin'] })
  const scopes = ['event:read', 'tag:read', 'contact:read']
  const role = await made('role', { name: 'Narrowed feed', scopes })
  const user = await made('user', { name: 'Narrowed', email: 'narrowed@example.com', role: role.id })
  const { token: narrowed } = await made('token', { name: 'Narrowed', user: user.id, scopes })
  const from = await last()
  const polling = `after=${from}&wait=30&type=contact.created,tag.created`
  const polled = feed(polling, { authorization: `Bearer ${narrowed}` })
  const following = `after=${from}&type=token.created,contact.created`
  const stream = await eventsOf(`${url}${v1}/event?${following}`, demoted.token)
  await call('PATCH', `${v1}/user/${admin.id}`, { role: 2 })
  await call('PATCH', `${v1}/role/${role.id}`, { scopes: ['event:read', 'tag:read'] })
  await new Promise(resolve => setTimeout(resolve, 2000))
  await made('token', { name: 'Private by now', scopes: ['deal:read'] })
  const contact = await made('contact', { last_name: 'Read by one' })
  const tag = await made('tag', { name: 'Read by both' })
  assert.equal((await polled).data[0]!.id, tag.id)
  assert.equal((await stream.next()).data.id, contact.id)
  await call('DELETE', `${v1}/token/${demoted.id}`)
  await assert.rejects(stream.next(), /ended/)
})

test('a bad request is refused with every problem', async () => {
  const reply = await get(`${v1}/event?after=-1&limit=1001&wait=31&resource=deals&type=won&record=yes&page=1`)
  assert.equal(reply.status, 400)
  assert.deepEqual(
    problemsOf(reply)
      .map(problem => problem.replace(/^ /, ''))
      .sort(),
    [
      'invalid_value',
      'invalid_value',
      'invalid_value',
      'invalid_value',
      'invalid_value',
      'unknown_parameter',
      'unknown_resource',
    ],
  )
  for (const [type, hint] of [
    ['deal.nope', 'Did you mean "deal.won"?'],
    ['contact.won', 'For example'],
    ['deal.*', 'For example'],
    ['foo', 'For example'],
  ] as const) {
    const { status, body } = await get(`${v1}/event?type=deal.created,${type}`)
    assert.equal(status, 400, type)
    assert.ok(body.errors[0].hint.startsWith(hint), `${type}: ${body.errors[0].hint}`)
  }
  for (const type of ['form.updated', 'field.created', 'user.password_changed', 'pipeline_stage.purged'])
    assert.equal((await get(`${v1}/event?type=${type}`)).status, 200, type)
  // A verb that never happens to a form has been taken since the first version (D91).
  assert.deepEqual((await feed('type=form.deleted')).data, [])
  const streamed = await call('GET', `${v1}/event`, undefined, { 'last-event-id': 'x' })
  assert.equal(streamed.status, 400)
})

test('events that are no longer kept are gone, and say from where on there are some', async () => {
  const end = await last()
  await service.db.query(
    `UPDATE event SET at = ${earlier('at', "interval '10 days'")}
      WHERE account_id = 1 AND seq <= $1::bigint`,
    [String(end - 5)],
  )
  const { forgetOldEvents } = await import('../../src/history/retention.ts')
  const forgotten = await forgetOldEvents(service.db, 1, new Date(Date.now() - 7 * 86_400_000))
  assert.equal(forgotten, end - 5)
  const reply = await get(`${v1}/event?after=3`)
  assert.deepEqual([reply.status, reply.body.code, reply.body.errors[0].oldest], [410, 4005, end - 4])
  assert.deepEqual(
    (await feed('')).data.map(({ seq }) => seq),
    [end - 4, end - 3, end - 2, end - 1, end],
  )
  assert.equal((await feed(`after=${end - 5}`)).data.length, 5)
})
