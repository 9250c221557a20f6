/** A record as of an event (D72): undoing later events restores it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { recordAsOf, type Step, undoingOf } from '../../src/history/undoing.ts'
import { isSameJson, type Json, type JsonObject, jsonNumber } from '../../src/json.ts'

/** Changes of a record, one after the other: values that are set, or its deletion and restoration. */
type Change = { readonly [field: string]: Json } | 'deleted' | 'restored' | 'tested'

const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.string({ maxLength: 3 }),
  fc.constant(jsonNumber('12345678901234567890.5')),
  fc.array(fc.integer(), { maxLength: 2 }),
  fc.record({ currency: fc.integer(), value: fc.integer() }),
)
const fields = fc.dictionary(fc.constantFrom('title', 'deal_value', 'cf_one', 'cf_two', '__proto__x'), value)
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fields },
    { weight: 1, arbitrary: fc.constantFrom('deleted', 'restored', 'tested') },
  ) as fc.Arbitrary<Change>,
  { maxLength: 12 },
)

const timeOf = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString()

/** Writes as the service does, and the record as of each event. */
function played(first: JsonObject, later: readonly Change[]): { steps: Step[]; records: JsonObject[] } {
  const kept = { version: 0, updated_at: '', updated_by: 0, deleted_at: null, deleted_by: null }
  let now: JsonObject = { id: 7, ...kept }
  let written = { at: '', by: 0 }
  const steps: Step[] = []
  const records: JsonObject[] = []
  for (const change of [first, ...later]) {
    const seq = steps.length + 1
    const [at, actor] = [timeOf(seq), seq % 3]
    const isDeleted = now.deleted_at !== null
    if (change === 'restored' ? !isDeleted : isDeleted || (change === 'deleted' && seq === 1)) continue
    const verb = typeof change === 'string' ? change : seq === 1 ? 'created' : 'updated'
    const told: { [field: string]: { before: Json; after: Json } } = {}
    const next: JsonObject = { ...now }
    if (typeof change !== 'string') {
      for (const [field, after] of Object.entries(change)) {
        const before = now[field] ?? null
        if (isSameJson(before, after)) continue
        told[field] = { before, after }
        if (after === null && field.startsWith('cf_')) delete next[field]
        else next[field] = after
      }
    }
    if (verb === 'deleted') Object.assign(next, { deleted_at: at, deleted_by: actor })
    else if (verb !== 'tested') {
      Object.assign(next, { deleted_at: null, deleted_by: null, updated_at: at, updated_by: actor })
      written = { at, by: actor }
    }
    if (verb !== 'tested') next.version = (now.version as number) + 1
    const version = next.version as number
    steps.push({ seq, type: `deal.${verb}`, version, at, actor, changes: told, written })
    records.push(next)
    now = next
  }
  return { steps, records }
}

function undone(steps: readonly Step[], asked: ReadonlySet<number>) {
  const { past, undo } = undoingOf(asked)
  for (const step of steps.toReversed()) undo(step)
  return past
}

/** Fields that were never set are there as null, except custom ones. */
const whole = (record: JsonObject): JsonObject => ({
  title: null,
  deal_value: null,
  __proto__x: null,
  ...record,
})

test('replaying: the record of today, undone, is the record that was written then', () => {
  fc.assert(
    fc.property(fields, changes, (first, later) => {
      const { steps, records } = played(first, later)
      const asked = new Set(steps.map(({ seq }) => seq))
      const then = undone(steps, asked)
      assert.equal(then.size, steps.length)
      for (const [index, { seq }] of steps.entries()) {
        const was = recordAsOf(records.at(-1)!, then.get(seq)!)
        assert.ok(
          isSameJson(whole(was), whole(records[index]!)),
          JSON.stringify({ was, is: records[index], steps }),
        )
      }
    }),
    { numRuns: 2000 },
  )
})

test('of events that are not asked for, nothing is kept', () => {
  const { steps } = played({ title: 'a' }, [{ title: 'b' }, { title: 'c' }])
  const then = undone(steps, new Set([2]))
  assert.deepEqual([...then.keys()], [2])
  assert.deepEqual([...then.get(2)!.values], [['title', 'b']])
})
