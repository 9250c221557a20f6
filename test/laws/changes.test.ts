/**
 * The steps of changes add up (D161): over random histories, the forecast then and the sum of the steps is
 * the forecast now, for the whole and for each owner, and both are the sums as of these days (D74).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimal } from '../../src/fields/decimal.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { earlier } from '../support/citus.ts'
import { random } from '../support/generated.ts'
import { seed, shareOf } from '../support/questions.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { aSecondGoesBy, call, db, get, known, made } = await startService()
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
type Any = any
const next = random(seed)
const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!
const ok = async (path: string): Promise<Any> => {
  const reply = await get(`${v1}/${path}`)
  assert.equal(reply.status, 200, `${path} ${reply.text}`)
  return reply.body.data
}

const second = await made('pipeline', { name: 'Second' })
const there = await made('pipeline_stage', { pipeline: second.id, name: 'There', probability: 35 })
const people = await Promise.all(
  ['One', 'Two'].map(name => made('user', { name, email: `${name}@example.com`, role: 3 })),
)
const owners: number[] = [known.owner, ...people.map(({ id }) => id as number)]
const rated = (await ok('currency/view/list?filter=code:eq(EUR)'))[0].id as number
const ids: number[] = []

const value = (): JsonObject => ({
  currency: pick(['USD', 'USD', 'EUR', 'GBP']),
  value: Math.round(next() * 1_000_000) / 100,
})
const day = () => (next() < 0.2 ? null : `2027-0${1 + Math.floor(next() * 6)}-1${Math.floor(next() * 9)}`)
const closings: { readonly [name: string]: JsonObject } = {
  Won: { won_reason: 'Price', deal_closed_on: '2026-05-01' },
  Lost: { lost_reason: 'Junk Lead', deal_closed_on: '2026-05-02' },
}
const staged = (): JsonObject => {
  const [name, id] = pick(Object.entries(known.stages))
  return { pipeline: known.pipeline, pipeline_stage: id, ...closings[name] }
}

const changes: readonly (() => JsonObject)[] = [
  () => ({ deal_value: value() }),
  () => ({ deal_value: null }),
  () => ({ expected_close_date: day() }),
  staged,
  staged,
  () => ({ sales_owner: pick(owners) }),
  () => ({ pipeline: second.id, pipeline_stage: there.id }),
  () => ({ tags: known.tags.slice(0, Math.floor(next() * 3)) }),
  () => ({ ...staged(), deal_value: value(), expected_close_date: day(), sales_owner: pick(owners) }),
]

/** Random writes: those that the service refuses change nothing. */
async function lives(count: number): Promise<void> {
  for (let step = 0; step < count; step++) {
    const form = next()
    const path = `${v1}/deal/${pick(ids)}`
    if (ids.length < 10 || form < 0.2) {
      const body = { deal_value: value(), expected_close_date: day(), sales_owner: pick(owners), ...staged() }
      ids.push((await made('deal', dealBody(known, { title: `Deal ${step}`, ...body }))).id)
    } else if (form < 0.26) await call('DELETE', path)
    else if (form < 0.32) await call('POST', `${path}/restore`)
    else if (form < 0.35)
      await call('PATCH', `${v1}/currency/${rated}`, { rate: 1 + Math.round(next() * 90) / 100 })
    else await call('PATCH', path, pick(changes)())
  }
}

/** Moves all that has happened by days into the past. */
async function daysGoBy(days: number): Promise<void> {
  const interval = "$1::int * interval '1 day'"
  await db.query(`UPDATE event SET at = ${earlier('at', interval)}`, [String(days)])
  await db.query(`UPDATE deal SET created_at = ${earlier('created_at', interval)}`, [String(days)])
  aSecondGoesBy()
}

const dayAgo = async (days: number) => {
  const [row] = await db.query(`SELECT to_char(now() - $1::int * interval '1 day', 'YYYY-MM-DD') AS day`, [
    String(days),
  ])
  return row!.day!
}

const filters = [
  '',
  `pipeline:eq(${known.pipeline})`,
  `sales_owner:eq(${owners[1]})`,
  `tags:isnull(true)`,
  'deal_value:gt(3000)',
  `or(sales_owner:eq(${owners[2]}),deal_value.currency:eq(EUR))`,
  'age:gt(2)',
]
const windows = [null, ['2027-02-01', '2027-03-31'], ['2027-04-01', '2027-04-30']] as const

const sumOf = (start: Json, steps: readonly Any[], member: string) =>
  steps.reduce((sum, step) => sum.plus(decimal(step[member])!), decimal(start)!).toFixed()

/** The steps lead from the forecast then to that of now, in each member. */
function addsUp({ before, after, steps }: Any, what: string): void {
  assert.equal(
    steps.reduce((sum: number, { open }: Any) => sum + open, before.count),
    after.count,
    what,
  )
  for (const member of ['value', 'weighted_value'])
    assert.equal(
      sumOf(before[member], steps, member),
      decimal(after[member])!.toFixed(),
      `${what}: ${member}`,
    )
}

/** The members of a forecast in the answer of sums. */
const asForecast = (group: Any) => ({
  count: group?.count ?? 0,
  value: group?.deal_value_in_base_currency.value ?? 0,
  without_rate: group?.without_rate ?? 0,
  weighted_value: group?.weighted_value_in_base_currency.value ?? 0,
})

test('the forecast then and the steps are the forecast now, as sums answer both', async () => {
  const kinds = new Set<string>()
  for (let round = 0; round < 6; round++) {
    await lives(shareOf(160))
    if (round < 5) await daysGoBy(2)
  }
  for (let question = 0; question < Math.max(12, shareOf(80)); question++) {
    const [early, late] = [1 + Math.floor(next() * 9), Math.floor(next() * 9)].toSorted((a, b) => b - a)
    const [from, to, eve] = [await dayAgo(early!), await dayAgo(late!), await dayAgo(early! + 1)]
    const [filter, window] = [pick(filters), pick(windows)]
    const within = window ? `&expected_from=${window[0]}&expected_to=${window[1]}` : ''
    const asked = `from=${from}&to=${to}${within}${filter && `&filter=${filter}`}`
    const answer = await ok(`deal/changes?by=owner&${asked}`)
    addsUp(answer, asked)
    const only = ['status:eq(Open)', filter, window && `expected_close_date:between(${window})`].filter(
      Boolean,
    )
    for (const [end, as_of] of [
      ['before', eve],
      ['after', to],
    ] as const) {
      const sums = `deal/aggregate?as_of=${as_of}&filter=${only.join(',')}`
      assert.deepEqual(answer[end], asForecast((await ok(sums))[0]), `${end} ${asked}`)
      const groups: Any[] = await ok(`${sums}&group_by=sales_owner`)
      for (const { sales_owner, [end]: own } of answer.owners) {
        const group = groups.find(one => one.group === sales_owner.id)
        assert.deepEqual(own, asForecast(group), `${end} ${asked} of ${sales_owner.id}`)
      }
      for (const { group } of groups)
        assert.ok(answer.owners.some(({ sales_owner }: Any) => sales_owner.id === group))
    }
    for (const owner of answer.owners) addsUp(owner, `${asked} of ${owner.sales_owner.id}`)
    for (const { kind } of answer.steps) kinds.add(kind)
  }
  // Chance brings nearly all kinds, whatever the seed; few questions bring fewer.
  assert.ok(kinds.size >= (shareOf(100) === 100 ? 9 : 5), [...kinds].join())
})
