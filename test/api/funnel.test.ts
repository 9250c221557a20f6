/** A funnel (D131), compared with the histories of its deals. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Stage } from '../../src/fields/catalog.ts'
import type { Json } from '../../src/json.ts'
import { stagesOf } from '../../src/resources/deals/funnel.ts'
import { random } from '../support/generated.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { aSecondGoesBy, call, get, known, db } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: records and answers of any shape
type Any = any
const path = `${v1}/deal/funnel`
const zone = 'America/New_York'
const sent = async (method: string, to: string, body: Json) => {
  const reply = await call(method, `${v1}/${to}`, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body.data
}
const asked = (secret: string | null, url: string) =>
  call('GET', url, undefined, secret ? { authorization: `Bearer ${secret}` } : {})
const funnel = async (query: Record<string, string> = {}, secret: string | null = null): Promise<Any> => {
  const reply = await asked(secret, `${path}?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
let people = 0
const secretOf = async (role: number) => {
  const name = `Asker ${++people}`
  const user = await sent('POST', 'user', { name, email: `funnel${people}@example.com`, role })
  const { token } = await sent('POST', 'token', { name, user: user.id, scopes: ['admin'] })
  return { user: user.id as number, secret: token as string }
}

const next = random(7)
const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!
const closing: { readonly [kind: string]: Json } = {
  Won: { won_reason: 'Price', deal_closed_on: '2026-03-31' },
  Lost: { lost_reason: 'Junk Lead', deal_closed_on: '2026-03-31' },
}
let own: { user: number; secret: string }
let other: { pipeline: number; stage: number; second: number }

/** Deals that move through the stages, and some into another pipeline and out of it again. */
before(async () => {
  const { scopes } = (await get(`${v1}/role/3`)).body.data
  own = await secretOf((await sent('POST', 'role', { name: 'Own', scopes, visibility: { deal: 'own' } })).id)
  const pipeline = (await sent('POST', 'pipeline', { name: 'Renewals' })).id
  const stage = (await sent('POST', 'pipeline_stage', { pipeline, name: 'Begun' })).id
  other = { pipeline, stage, second: (await sent('POST', 'pipeline_stage', { pipeline, name: 'Offer' })).id }
  const stages = Object.entries(known.stages)
  const to = (name: string, id: number): { [member: string]: Json } => {
    return { pipeline: known.pipeline, pipeline_stage: id, ...(closing[name] as object) }
  }
  for (let index = 0; index < 60; index++) {
    const begins = next() < 0.2 ? { pipeline, pipeline_stage: stage } : to(...pick(stages))
    const sales_owner = index % 2 ? own.user : known.owner
    const { id } = await sent('POST', 'deal', dealBody(known, { title: `W${index}`, sales_owner, ...begins }))
    for (let moves = Math.floor(next() * 6); moves > 0; moves--) {
      const elsewhere = next() < 0.15
      await sent(
        'PATCH',
        `deal/${id}`,
        elsewhere ? { pipeline, pipeline_stage: pick([stage, other.second]) } : to(...pick(stages)),
      )
      if (next() < 0.3) await sent('PATCH', `deal/${id}`, { title: `W${index}, moved` })
    }
  }
  // Days of New York are not those of UTC; the events are spread over half a year.
  await call('PATCH', `${v1}/account`, { time_zone: zone })
  await db.query(`UPDATE event e SET at = date_trunc('milliseconds', now()) - interval '7 hours' * (c.last_seq - e.seq)
    FROM counter c WHERE c.account_id = e.account_id`)
  await db.query(`UPDATE deal d SET created_at = e.at FROM event e
    WHERE e.account_id = d.account_id AND e.record_id = d.id AND e.type = 'deal.created'`)
  aSecondGoesBy()
})

type Step = { at: number; stage: number; isAssumed: boolean }
const dayOf = (at: number) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(at)

/** Reads the stages of each deal and their beginnings from its history. */
async function histories(filter = '', secret: string | null = null): Promise<Step[][]> {
  const deals: Any[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({
      pageSize: '500',
      fields: 'pipeline_stage',
      ...(filter ? { filter } : {}),
    })
    const page: Any = (await asked(secret, `${v1}/deal/view/list?${query}${cursor && `&cursor=${cursor}`}`))
      .body
    deals.push(...page.data)
    cursor = page.meta.nextCursor
  }
  const created = await db.query(
    `SELECT id::text AS id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at FROM deal`,
  )
  const createdAt = new Map(created.map(row => [Number(row.id), Date.parse(row.at!)]))
  const all: Step[][] = []
  for (const { id, pipeline_stage: now } of deals) {
    if (!told.has(id)) told.set(id, await movesOf(id))
    const moves = told.get(id)!
    const first = moves.length ? moves[0]!.from : now
    const assumed = first === null ? [] : [{ at: createdAt.get(id)!, stage: first, isAssumed: true }]
    all.push([...assumed, ...moves.map(({ at, stage }) => ({ at, stage, isAssumed: false }))])
  }
  return all
}

type Move = { at: number; from: number | null; stage: number }
/** The histories, read before events are purged. */
const told = new Map<number, Move[]>()

async function movesOf(id: number): Promise<Move[]> {
  const { data } = (await get(`${v1}/deal/${id}/history?pageSize=100`)).body
  return data
    .toReversed()
    .flatMap(({ at, changes }: Any) =>
      changes
        .filter((change: Any) => change.field === 'pipeline_stage')
        .map(({ from, to }: Any) => ({ at: Date.parse(at), from: from ?? null, stage: to })),
    )
}

/** The funnel by the definition in D131. */
function expected(all: readonly Step[][], stages: Any[], since: string, from = '', to = '9999'): Any {
  const [open, won, lost] = [1, 2, 3].map(kind =>
    stages.filter(stage => stage.kind === kind).map(({ id }) => id),
  )
  const ids = stages.map(({ id }) => id)
  const cohort = all.filter(steps => {
    const entry = steps.find(({ stage }) => ids.includes(stage))
    return entry !== undefined && dayOf(entry.at) >= from && dayOf(entry.at) <= to
  })
  const has = (steps: Step[], some: number[]) => steps.some(({ stage }) => some.includes(stage))
  const isNow = (steps: Step[], some: number[]) => some.includes(steps.at(-1)!.stage)
  return {
    deals: cohort.length,
    won: cohort.filter(steps => isNow(steps, won!)).length,
    lost: cohort.filter(steps => isNow(steps, lost!)).length,
    stages: open!.map((id, index) => {
      const entered = cohort.filter(steps => has(steps, [...open!.slice(index), ...won!])).length
      const went_on = cohort.filter(steps => has(steps, [...open!.slice(index + 1), ...won!])).length
      const lostFrom = cohort.filter(
        steps => isNow(steps, lost!) && steps.findLast(({ stage }) => open!.includes(stage))?.stage === id,
      )
      const days = cohort
        .flatMap(steps =>
          steps.slice(0, -1).flatMap(({ stage, at, isAssumed }, step) => {
            if (stage !== id || (isAssumed && at < Date.parse(since))) return []
            return (steps[step + 1]!.at - at) / 86_400_000
          }),
        )
        .sort((one, another) => one - another)
      const [low, high] = [days[Math.floor((days.length - 1) / 2)], days[Math.floor(days.length / 2)]]
      return {
        ...{ id, entered, went_on, lost_from: lostFrom.length },
        conversion: entered ? Math.round((went_on / entered) * 10_000) / 10_000 : null,
        median_days: days.length ? (low! + high!) / 2 : null,
      }
    }),
  }
}

async function stagesIn(pipeline: number): Promise<Any[]> {
  const query = `filter=pipeline:eq(${pipeline})&sort=position:asc&pageSize=100`
  return (await get(`${v1}/pipeline_stage/view/list?${query}`)).body.data
}

function assertSame(answered: Any, wanted: Any): void {
  const { deals, won, lost } = answered
  assert.deepEqual({ deals, won, lost }, { deals: wanted.deals, won: wanted.won, lost: wanted.lost })
  for (const [index, stage] of answered.stages.entries()) {
    const { id, entered, went_on, lost_from, conversion, median_days } = stage
    const { median_days: median, ...counts } = wanted.stages[index]
    assert.deepEqual({ id, entered, went_on, lost_from, conversion }, counts, stage.name)
    if (median === null) assert.equal(median_days, null)
    else assert.ok(Math.abs(median_days - median) < 0.006, `${stage.name}: ${median_days}, not ${median}`)
  }
  assert.equal(answered.stages.length, wanted.stages.length)
}

test('a funnel is what the histories of its deals tell', async () => {
  const stages = await stagesIn(known.pipeline)
  const all = await histories()
  const answered = await funnel()
  assert.deepEqual([answered.pipeline.id, answered.from, answered.to], [known.pipeline, null, null])
  assertSame(answered, expected(all, stages, answered.since))
  assert.ok(answered.won > 0 && answered.lost > 0)
  assert.ok(answered.stages.every((stage: Any) => stage.kind === 'open' && stage.entered > stage.went_on))
  assert.ok(answered.stages.some((stage: Any) => stage.median_days > 0))
  assert.ok(answered.stages.some((stage: Any) => stage.lost_from > 0))
})

test('a period is in days of the account, and counts the deals that entered the pipeline in it', async () => {
  const stages = await stagesIn(known.pipeline)
  const all = await histories()
  const days = [...new Set(all.flat().map(({ at }) => dayOf(at)))].sort()
  let deals = 0
  for (let index = 0; index < 12; index++) {
    const [from, to] = [pick(days), pick(days)].sort() as [string, string]
    const answered = await funnel({ from, to })
    assert.deepEqual([answered.from, answered.to], [from, to])
    assertSame(answered, expected(all, stages, answered.since, from, to))
    deals += answered.deals
  }
  assert.ok(deals > 0)
  const middle = days[Math.floor(days.length / 2)]!
  assertSame(await funnel({ from: middle }), expected(all, stages, '1970-01-01', middle))
  assertSame(await funnel({ to: middle }), expected(all, stages, '1970-01-01', '', middle))
})

test('another pipeline has the deals that were moved into it, too', async () => {
  const answered = await funnel({ pipeline: 'renewals' })
  const stages = await stagesIn(other.pipeline)
  assertSame(answered, expected(await histories(), stages, answered.since))
  assert.ok(answered.deals > 5)
  assert.equal(answered.stages.length, 2)
})

test('filters find the deals, and roles see their own (D63)', async () => {
  const stages = await stagesIn(known.pipeline)
  for (const filter of ['title:like(moved)', 'status:eq(Won)', 'primary_contact.last_name:like(zzz)']) {
    const answered = await funnel({ filter })
    assertSame(answered, expected(await histories(filter), stages, answered.since))
  }
  const mine = await funnel({}, own.secret)
  assertSame(mine, expected(await histories('', own.secret), stages, mine.since))
  assert.ok(mine.deals > 0 && mine.deals < (await funnel()).deals)
})

test('a deleted deal is not counted, and a deleted stage is not shown', async () => {
  const { id } = await sent(
    'POST',
    'deal',
    dealBody(known, { pipeline: other.pipeline, pipeline_stage: other.second }),
  )
  const before = await funnel({ pipeline: String(other.pipeline) })
  await call('DELETE', `${v1}/deal/${id}`)
  const after = await funnel({ pipeline: String(other.pipeline) })
  assert.equal(after.deals, before.deals - 1)
  const reply = await call('DELETE', `${v1}/pipeline_stage/${other.second}?move_to=${other.stage}`)
  assert.equal(reply.status, 200, reply.text)
  const left = await funnel({ pipeline: String(other.pipeline) })
  assert.deepEqual([left.stages.length, left.deals], [1, after.deals])
})

test('what a role hides is not told, and names need their scope (D64, D65)', async () => {
  const { scopes } = (await get(`${v1}/role/4`)).body.data
  const hidden_fields = ['deal.pipeline_stage']
  const blind = await secretOf((await sent('POST', 'role', { name: 'Blind', scopes, hidden_fields })).id)
  const reply = await asked(blind.secret, path)
  assert.deepEqual([reply.status, reply.body.errors[0].code], [400, 'unknown_field'])
  // With a filter that finds one deal, the numbers of won and lost deals are its status.
  for (const hidden of ['deal.status', 'pipeline_stage.kind']) {
    const role = await sent('POST', 'role', { name: hidden, scopes, hidden_fields: [hidden] })
    const refused = await asked((await secretOf(role.id)).secret, `${path}?filter=id:eq(5)`)
    const said = refused.body.errors?.map((one: Any) => `${one.parameter} ${one.code}`)
    assert.deepEqual([refused.status, said], [400, ['pipeline unknown_field']], refused.text)
  }
  const dateless = await sent('POST', 'role', {
    name: 'Dateless',
    scopes,
    hidden_fields: ['deal.created_at'],
  })
  const { secret } = await secretOf(dateless.id)
  assert.equal((await asked(secret, path)).status, 200)
  const period = await asked(secret, `${path}?from=2020-01-01&to=2026-01-01`)
  const said = period.body.errors?.map((one: Any) => `${one.parameter} ${one.code}`)
  assert.deepEqual([period.status, said], [400, ['from unknown_field', 'to unknown_field']], period.text)
  const alone = await secretOf((await sent('POST', 'role', { name: 'Alone', scopes: ['deal:read'] })).id)
  assert.equal((await asked(alone.secret, path)).status, 403)
  // A hidden field is refused as an unknown one, whatever scopes the caller has.
  const hidden = { scopes: ['deal:read'], hidden_fields: ['deal.pipeline', 'deal.pipeline_stage'] }
  const neither = await secretOf((await sent('POST', 'role', { name: 'Neither', ...hidden })).id)
  for (const name of ['funnel', 'view/board']) {
    const refused = await asked(neither.secret, `${v1}/deal/${name}`)
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.code], [400, 'unknown_field'], refused.text)
  }
})

test('what is wrong is told at once', async () => {
  const wrong = async (query: string, ...codes: string[]) => {
    const reply = await get(`${path}?${query}`)
    assert.equal(reply.body.detail, 'The query could not be read.')
    const told = reply.body.errors.map((one: Any) => `${one.parameter} ${one.code}`)
    assert.deepEqual([reply.status, told.toSorted()], [400, codes.toSorted()], reply.text)
  }
  await wrong('from=0000-01-01&to=10000-01-01', 'from invalid_value', 'to invalid_value')
  await wrong('from=2026-02-30&to=yesterday', 'from invalid_value', 'to invalid_value')
  await wrong('from=2026-03-02&to=2026-03-01', 'to contradiction')
  await wrong(
    'pipeline=none&filter=no_such:eq(1)&sort=id:asc',
    ...['filter unknown_field', 'pipeline invalid_value'],
    'sort unknown_parameter',
  )
})

test('a deal that was moved from another system entered the pipeline when it was created there', async () => {
  const { id } = await sent('POST', 'deal', dealBody(known, { title: 'Moved here' }))
  // An import maps created_at (D80); the event has the moment of the import.
  await db.query(`UPDATE deal SET created_at = '1995-02-03T12:00:00Z' WHERE account_id = 1 AND id = ${id}`)
  for (const [query, deals] of [
    [{ from: '1995-02-03', to: '1995-02-03' }, 1],
    [{ to: '1995-12-31' }, 1],
    [{ from: '1995-02-04', to: '1995-12-31' }, 0],
    [{ from: '1996-01-01' }, 0],
  ] as const)
    assert.equal((await funnel({ ...query, filter: `id:eq(${id})` })).deals, deals, JSON.stringify(query))
  await call('DELETE', `${v1}/deal/${id}`)
})

test('an empty period has the stages with nothing in them', async () => {
  for (const [from, to] of [
    ['0001-01-01', '0001-01-01'],
    ['9999-12-31', '9999-12-31'],
  ] as const)
    assert.equal((await funnel({ from, to })).deals, 0)
  const { deals, won, lost, stages } = await funnel({ from: '1990-01-01', to: '1990-12-31' })
  assert.deepEqual([deals, won, lost], [0, 0, 0])
  assert.ok(stages.length > 2)
  for (const { entered, went_on, lost_from, conversion, median_days } of stages)
    assert.deepEqual([entered, went_on, lost_from, conversion, median_days], [0, 0, 0, null, null])
})

test('the deals of the sample went through stages over different times, and were lost from each', async () => {
  // The deals of this file have no company.
  const { deals, lost, stages } = await funnel({ filter: 'company:isnull(false)' })
  assert.equal(deals, 300)
  const of = (member: string) => stages.map((stage: Any) => stage[member])
  assert.equal(
    of('lost_from').reduce((sum: number, count: number) => sum + count, 0),
    lost,
  )
  assert.ok(
    of('lost_from').every((count: number) => count > 0),
    of('lost_from').join(),
  )
  assert.ok(
    of('conversion').every((share: number) => share > 0.2 && share < 0.95),
    of('conversion').join(),
  )
  const days = of('median_days')
  assert.equal(new Set(days).size, days.length)
  assert.ok(
    days.every((median: number) => median > 1 && median < 90),
    days.join(),
  )
})

// This test is the last one, as it purges the events.
test('where old events are gone, the stage before the oldest is known, and how long it took is not', async () => {
  await db.query(
    'DELETE FROM event WHERE seq <= (SELECT last_seq - 120 FROM counter WHERE account_id = event.account_id)',
  )
  told.clear()
  const stages = await stagesIn(known.pipeline)
  const all = await histories()
  const answered = await funnel()
  assert.ok(all.some(([first]) => first!.isAssumed))
  assert.ok(Date.parse(answered.since) > Date.now() - 121 * 7 * 3_600_000)
  assertSame(answered, expected(all, stages, answered.since))
})

test('who came to a stage came to all before it', () => {
  const open = [1, 2, 3].map(id => ({ id }) as Stage)
  const found = {
    deals: 6,
    won: 1,
    lost: 2,
    reached: [
      [0, 1],
      [1, 2],
      [3, 2],
      [4, 1],
    ],
    lost_from: [[3, 2]],
    days: [[2, 1.5]],
  } as const
  assert.deepEqual(
    stagesOf(open, found).map(({ stage, ...counted }) => [stage.id, ...Object.values(counted)]),
    [
      [1, 5, 3, 0, 0.6, null],
      [2, 3, 3, 0, 1, 1.5],
      [3, 3, 1, 2, 0.3333, null],
    ],
  )
})
