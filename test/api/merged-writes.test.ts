/** Writes of a caller that wait for the same lock are merged to one (D179): nobody sees it in any answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscribe } from '../../src/diagnostics.ts'
import type { Json } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

// It knows its callers for good: it can't look for them while a test holds the only connection.
const service = await startService({ clock: () => 0 })
const { call, get, known } = service

type Body = { [name: string]: Json }
/** Bodies that fill different columns, so that a value in another's row would show. */
const bodies = (tag: string, count: number): Body[] =>
  Array.from({ length: count }, (_, n) =>
    dealBody(known, {
      title: `${tag} ${n}`,
      ...(n % 2 ? { deal_value: { value: n + 0.25, currency: n % 4 === 1 ? 'USD' : 'EUR' } } : {}),
      ...(n % 3
        ? { expected_close_date: `2027-01-${String(n + 10)}` }
        : { description: `"${n}", \\ {}\u001f,'` }),
    }),
  )
/** The record without its id, and with a word for the moment of its creation. */
const contentOf = ({ text, body }: Reply) => ({
  ...JSON.parse(text.replaceAll(body.data.created_at, 'now')).data,
  id: null,
})
/** The answers to requests that all wait for the account's lock before one of them is carried out. */
async function whileAllWait(begin: () => Promise<Reply>[]): Promise<Reply[]> {
  await get(`${v1}/me`)
  let waiting = 0
  const stop = subscribe('wait-begun', ({ queue }) => {
    if (queue === 'commit') waiting++
  })
  const replies = await service.db.sql.begin(async tx => {
    await tx.query('SELECT FROM counter WHERE account_id = 1 FOR UPDATE', [])
    const all = begin()
    await eventually(() => waiting === all.length, 'writes that all wait')
    return [Promise.all(all)]
  })
  stop()
  return replies[0]!
}
const eventsOf = async (id: number) =>
  (await get(`${v1}/deal/${id}/history?pageSize=50`)).body.data as { [name: string]: Json }[]

test('creates at the same moment store and answer what each would alone', async () => {
  const all = bodies('Made', 20)
  const together = await whileAllWait(() =>
    all.map((body, n) => call('POST', `${v1}/deal`, body, { 'x-request-id': `made-${n}` })),
  )
  for (const [n, reply] of together.entries()) {
    assert.equal(reply.status, 201, reply.text)
    const alone = await call('POST', `${v1}/deal`, all[n]!)
    assert.deepEqual(contentOf(reply), contentOf(alone))
    const read = await get(`${v1}/deal/${reply.body.data.id}`)
    assert.deepEqual(read.body.data, reply.body.data)
  }
  const rows = await service.db.query(
    `SELECT seq::text AS seq, request_id, at::text AS at FROM event WHERE request_id LIKE 'made-%' ORDER BY seq`,
  )
  assert.deepEqual(rows.map(({ request_id }) => request_id).sort(), all.map((_, n) => `made-${n}`).sort())
  const seqs = rows.map(({ seq }) => Number(seq))
  assert.equal(seqs.at(-1)! - seqs[0]!, seqs.length - 1)
  // The first one went alone. Merged ones have one moment.
  assert.ok(new Set(rows.map(({ at }) => at)).size <= 2)
})

test('changes at the same moment: each its own, also two of a record, a stale one and refused ones', async () => {
  const made = await Promise.all(bodies('Changed', 16).map(body => call('POST', `${v1}/deal`, body)))
  const ids = made.map(({ body }) => body.data.id as number)
  const change = (n: number, body: Body, headers = {}) => call('PATCH', `${v1}/deal/${ids[n]}`, body, headers)
  const replies = await Promise.all([
    ...ids.map((_, n) =>
      change(
        n,
        n % 2 ? { title: `New ${n}`, description: null } : { deal_value: { value: n, currency: 'USD' } },
      ),
    ),
    change(3, { description: 'twice' }),
    change(4, { title: 'stale' }, { 'if-match': '"7"' }),
    change(5, { primary_contact: 999_999 }),
    change(6, { pipeline_stage: known.stages.Won! }),
  ])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [...ids.map(() => 200), 200, 412, 422, 422],
  )
  assert.deepEqual(problemsOf(replies.at(-2)!), ['/primary_contact reference_not_found'])
  for (const [n, id] of ids.entries()) {
    const { body } = await get(`${v1}/deal/${id}`)
    assert.equal(body.data.version, n === 3 ? 3 : 2)
    if (n % 2) assert.equal(body.data.title, `New ${n}`)
    else assert.equal(body.data.deal_value.value, n)
    const events = await eventsOf(id)
    assert.equal(events.length, n === 3 ? 3 : 2, JSON.stringify(events))
  }
})

test('one that is refused for what it points to leaves the others as they are', async () => {
  const all = bodies('Mixed', 12)
  const replies = await Promise.all(
    all.map((body, n) =>
      call('POST', `${v1}/deal`, n === 5 || n === 9 ? { ...body, primary_contact: 999_999 } : body),
    ),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    all.map((_, n) => (n === 5 || n === 9 ? 422 : 201)),
  )
  const titles = replies.filter(({ status }) => status === 201).map(({ body }) => body.data.title)
  assert.deepEqual(
    titles,
    all.map(({ title }) => title).filter((_, n) => n !== 5 && n !== 9),
  )
})
