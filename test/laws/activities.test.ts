/**
 * The summary of a deal's activities (D73) equals a recount after any writes of activities and deals, one
 * after the other or concurrent over three processes. Deals get no version, time or event from it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/json.ts'
import { seed, shareOf } from '../support/questions.ts'
import { dealBody, type Service, startService, v1 } from '../support/service.ts'
import type { Deal } from './naive.ts'

const service = await startService()
const { call, db, known } = service
const processes = [service, await service.another(), await service.another()]

type Asker = Pick<Service, 'call'>
const kinds = ['Call', 'Meeting', 'Task', 'E-mail', 'Note']
const [email, note] = [4, 5]

/** All records of a resource: live, or deleted. */
async function all(resource: string, filter: string, deleted?: 'only'): Promise<Deal[]> {
  const more = deleted ? { deleted } : {}
  const reply = await call('POST', `${v1}/${resource}/view/list`, { filter, pageSize: 500, ...more })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.meta.hasMore, false)
  return reply.body.data
}

const latest = <T>(of: readonly T[], key: (one: T) => string, id: (one: T) => number): T | undefined =>
  of
    .toSorted((one, other) =>
      key(one) === key(other) ? id(one) - id(other) : key(one) < key(other) ? -1 : 1,
    )
    .at(-1)

/** The summary of a deal's live activities, calculated here. */
function counted(activities: readonly Deal[]) {
  const done = activities.filter(({ done_at }) => done_at !== null)
  const planned = activities.filter(({ done_at }) => done_at === null)
  const due = planned.filter(({ due_at }) => due_at !== null)
  const byDue = (one: Deal) => `${one.due_at ?? '9999'} ${String(one.id).padStart(12, '0')}`
  const [next] = planned.toSorted((one, other) => (byDue(one) < byDue(other) ? -1 : 1))
  const last = latest(
    done,
    one => one.done_at,
    one => one.id,
  )
  const newest = latest(
    activities.filter(({ kind }) => kind === note),
    one => one.created_at,
    one => one.id,
  )
  return {
    done_activities: done.length,
    upcoming_activities: activities.length - done.length,
    total_activities: activities.length,
    email_message_count: done.filter(({ kind }) => kind === email).length,
    last_activity_date: last?.done_at.slice(0, 10) ?? null,
    next_activity_at: due.map(({ due_at }) => due_at).toSorted()[0] ?? null,
    next_activity_subject: next?.subject ?? null,
    next_activity_date: due.map(({ due_at }) => due_at.slice(0, 10)).toSorted()[0] ?? null,
    last_activity_type: last ? kinds[last.kind - 1]! : null,
    recent_note: newest ? (newest.notes ?? newest.subject) : null,
  }
}

/** Throws if a live deal has another summary, or if an activity remains of a deleted deal. */
async function checkDeals(ids: readonly number[]): Promise<void> {
  const live = await all('deal', `id:in(${ids})`)
  const activities = await all('activity', `deal:in(${ids})`)
  const columns = await db.query(
    'SELECT row_to_json(d)::text AS kept FROM deal d WHERE account_id = 1 AND id = ANY($1::bigint[])',
    [`{${ids}}`],
  )
  const kept = new Map(columns.map(row => JSON.parse(row.kept!)).map(row => [row.id, row]))
  for (const deal of live) {
    const own = activities.filter(one => one.deal === deal.id)
    const should = counted(own)
    const picked = (from: Deal) => Object.fromEntries(Object.keys(should).map(name => [name, from[name]]))
    const row = kept.get(deal.id)
    row.next_activity_at &&= new Date(row.next_activity_at).toISOString()
    assert.deepEqual(picked(deal), should, `deal ${deal.id}`)
    assert.deepEqual(picked(row), should, `the columns of deal ${deal.id}`)
  }
  const gone = new Set((await all('deal', `id:in(${ids})`, 'only')).map(({ id }) => id))
  assert.deepEqual(
    activities.filter(one => gone.has(one.deal)),
    [],
    'activities go with their deal',
  )
}

async function newDeals(count: number): Promise<number[]> {
  const ids: number[] = []
  for (let index = 0; index < count; index++) {
    const reply = await call('POST', `${v1}/deal`, dealBody(known, { title: `Counted ${index}` }))
    assert.equal(reply.status, 201, reply.text)
    ids.push(reply.body.data.id)
  }
  return ids
}

/** Members of an activity's body: few values, so that they tie, and many absences. */
const some = <T>(...values: T[]) => fc.constantFrom(undefined, null, ...values)
const times = ['2026-03-29T00:30:00Z', '2026-03-29T23:30:00Z', '2026-07-01T12:00:00.001Z', '2025-01-01']
const members = fc.record({
  kind: fc.constantFrom(...kinds),
  subject: fc.constantFrom('One', 'Two "quoted" \\ é\n\u2028'),
  notes: some('text', 'Text\nof two lines "" \u2028 😀'),
  due_at: some(...times),
  done_at: some(...times),
  deal: some(0, 1, 2),
})
/** A step: an action, and the index of the activity or deal that it applies to. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('create' as const), at: fc.nat(), members }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('update' as const),
      at: fc.nat(),
      members: members.chain(sent => fc.subarray(Object.keys(sent)).map(names => picked(sent, names))),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constantFrom('delete' as const, 'restore' as const, 'restoreOld' as const),
      at: fc.nat(),
      members: fc.constant({}),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('deleteDeal' as const, 'restoreDeal' as const, 'updateDeal' as const),
      at: fc.nat(),
      members: fc.constant({}),
    }),
  },
)
type Step = {
  readonly type: string
  readonly at: number
  readonly members: { readonly [name: string]: unknown }
}

function picked(of: object, names: readonly string[]) {
  return Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name)))
}

/** Carries out a step. Refusals are fine: its record may be deleted. */
async function carryOut({ call: ask }: Asker, deals: readonly number[], made: number[], one: Step) {
  const deal = deals[one.at % deals.length]!
  const body = { ...one.members } as { [name: string]: Json }
  if (typeof body.deal === 'number') body.deal = deals[body.deal % deals.length]!
  for (const name of Object.keys(body)) if (body[name] === undefined) delete body[name]
  const activity = made[one.at % made.length] ?? 0
  const path = { deal: `${v1}/deal/${deal}`, activity: `${v1}/activity/${activity}` }
  const asked = {
    create: () => ask('POST', `${v1}/activity`, body),
    update: () => ask('PATCH', path.activity, body),
    delete: () => ask('DELETE', path.activity),
    restore: () => ask('POST', `${path.activity}/restore`),
    restoreOld: () => ask('POST', `${v1}/activity/${made[0] ?? 0}/restore`),
    deleteDeal: () => ask('DELETE', path.deal),
    restoreDeal: () => ask('POST', `${path.deal}/restore`),
    updateDeal: () => ask('PATCH', path.deal, { description: `changed ${one.at}` }),
  }[one.type]!
  const reply = await asked()
  assert.ok([200, 201, 404, 422].includes(reply.status), `${one.type}: ${reply.text}`)
  if (one.type === 'create' && reply.status === 201) made.push(reply.body.data.id)
  return reply
}

/** Creates that number of activities, spread over the deals. */
async function newActivities(deals: readonly number[], count: number): Promise<number[]> {
  const made: number[] = []
  for (let deal = 0; deal < count; deal++)
    await carryOut(service, deals, made, {
      type: 'create',
      at: 0,
      members: { kind: 'Task', subject: 'S', deal },
    })
  assert.equal(made.length, count)
  return made
}

test('after any writes, one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async steps => {
      const deals = await newDeals(3)
      const made = await newActivities(deals, 3)
      for (const one of steps) await carryOut(service, deals, made, one)
      await checkDeals(deals)
    }),
    { seed, numRuns: shareOf(40), endOnFailure: true },
  )
})

test('after any writes, all at once over three processes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async steps => {
      const deals = await newDeals(3)
      const made = await newActivities(deals, 6)
      await Promise.all(steps.map((one, index) => carryOut(processes[index % 3]!, deals, made, one)))
      await checkDeals(deals)
    }),
    { seed, numRuns: shareOf(12), endOnFailure: true },
  )
})

test('many who move one activity between two deals leave it counted once', async () => {
  const deals = await newDeals(2)
  const made = await newActivities(deals, 1)
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      carryOut(processes[at % 3]!, deals, made, { type: 'update', at: 0, members: { deal: at % 2 } }),
    ),
  )
  await checkDeals(deals)
  const counts = (await all('deal', `id:in(${deals})`)).map(deal => deal.total_activities)
  assert.equal(counts[0]! + counts[1]!, 1)
})

test('changes of a deal and of its activities at once are all kept', async () => {
  const [deal] = (await newDeals(1)) as [number]
  const before = (await all('deal', `id:eq(${deal})`))[0]
  const body = (index: number) => ({ kind: 'Call', subject: `S ${index}`, deal, done_at: times[index % 4]! })
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, index) => [
      processes[index % 3]!.call('POST', `${v1}/activity`, body(index)),
      ...(index % 3
        ? []
        : [processes[(index + 1) % 3]!.call('PATCH', `${v1}/deal/${deal}`, { description: `${index}` })]),
    ]).flat(),
  )
  for (const reply of replies) assert.ok(reply.status < 300, reply.text)
  await checkDeals([deal])
  const after = (await all('deal', `id:eq(${deal})`))[0]
  assert.equal(after.done_activities, 30)
  assert.equal(after.version, before.version + 10)
  const [events] = await db.query(
    "SELECT count(*)::text AS n FROM event WHERE account_id = 1 AND resource = 'deal' AND record_id = $1::bigint",
    [String(deal)],
  )
  assert.equal(events!.n, '11')
})

test('the sample data, too', async () => {
  await checkDeals((await all('deal', 'id:lte(477)')).map(({ id }) => id))
})
