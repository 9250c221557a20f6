/** The pure parts of the reports and of reordering: periods, filters, sums and moves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chosen,
  comparablePeriods,
  currencyRows,
  daysOf,
  lastDayOf,
  monthAfter,
  monthRows,
  monthsOf,
  ownerRows,
  periodOf,
} from '../../web/src/pages/reports/periods-and-sums.ts'
import { scopeRows, scopesSummary, withScope } from '../../web/src/settings/access/scopes.ts'
import { assignProblems } from '../../web/src/settings/assign-problems.ts'
import { changedConfig, changedLimits } from '../../web/src/settings/fields/limits.ts'
import { numberIn } from '../../web/src/settings/number-input.ts'
import { niceTop } from '../../web/src/ui/chart-axis.ts'
import { moved, stepOf, withFieldAt } from '../../web/src/ui/order.ts'

test('months follow each other over the ends of years', () => {
  assert.equal(monthAfter('2026-11', 2), '2027-01')
  assert.equal(monthAfter('2026-01', -1), '2025-12')
  assert.equal(monthAfter('2026-12', 0), '2026-12')
  assert.equal(lastDayOf('2028-02-01'), '2028-02-29')
  assert.equal(lastDayOf('2026-12-01'), '2026-12-31')
  assert.deepEqual(monthsOf({ from: '2026-11', months: 3 }), ['2026-11-01', '2026-12-01', '2027-01-01'])
  assert.deepEqual(daysOf({ from: '2026-11', months: 3 }), { first: '2026-11-01', last: '2027-01-31' })
})

test('an address that says no period, or none that there is, has the usual one', () => {
  const usual = { back: 11, months: 12 }
  assert.deepEqual(periodOf({}, '2026-11-22', usual), { from: '2025-12', months: 12 })
  assert.deepEqual(periodOf({ from: '2026-13', months: 'x' }, '2026-11-22', usual), {
    from: '2025-12',
    months: 12,
  })
  assert.deepEqual(periodOf({ from: '2027-02', months: '3' }, '2026-11-22', usual), {
    from: '2027-02',
    months: 3,
  })
  assert.deepEqual(chosen({ pipeline: '2', owner: '7', filter: 'source:eq(Web)' }), [
    'pipeline:eq(2)',
    'sales_owner:eq(7)',
    'source:eq(Web)',
  ])
})

test('what has passed of a period is compared with as much of the one before', () => {
  const half = { from: '2026-11', months: 6 }
  const days = (first: string, last: string) => ({ first, last })
  assert.equal(comparablePeriods(half, '2026-10-31'), null)
  assert.deepEqual(comparablePeriods(half, '2026-11-26'), {
    passed: days('2026-11-01', '2026-11-26'),
    before: days('2026-05-01', '2026-05-26'),
  })
  // A whole month beside a whole month, and no day that a month lacks.
  assert.deepEqual(comparablePeriods(half, '2027-02-28')!.before, days('2026-05-01', '2026-08-31'))
  assert.deepEqual(
    comparablePeriods({ from: '2026-03', months: 1 }, '2026-03-30')!.before,
    days('2026-02-01', '2026-02-28'),
  )
  for (const today of ['2027-04-30', '2031-01-01'])
    assert.deepEqual(comparablePeriods(half, today), {
      passed: days('2026-11-01', '2027-04-30'),
      before: days('2026-05-01', '2026-10-31'),
    })
})

const sum = (group: string | number | null, value: number, weighted: number, count: number) => ({
  group,
  name: group === null ? null : `name of ${group}`,
  count,
  deal_value_in_base_currency: { currency: 840, currency_code: 'USD', value },
  weighted_value_in_base_currency: { currency: 840, currency_code: 'USD', value: weighted },
})

test('a month without deals is a row of nothing', () => {
  const rows = monthRows({ from: '2026-11', months: 2 }, [sum('2026-12-01', 100, 30, 2)], [])
  assert.deepEqual(rows, [
    { month: '2026-11-01', count: 0, best: 0, weighted: 0, won: 0, wonCount: 0 },
    { month: '2026-12-01', count: 2, best: 100, weighted: 30, won: 0, wonCount: 0 },
  ])
})

test('an owner who has only won is a row, too; the most comes first', () => {
  const rows = ownerRows([sum(1, 50, 5, 1)], [sum(2, 90, 90, 3), sum(1, 10, 10, 1)])
  assert.deepEqual(
    rows.map(({ owner, best, won }) => [owner, best, won]),
    [
      [2, 0, 90],
      [1, 50, 10],
    ],
  )
  assert.deepEqual(currencyRows(undefined), [])
})

test('an element is put before the one it was dropped on', () => {
  assert.deepEqual(moved(['a', 'b', 'c'], 0, 3), ['b', 'c', 'a'])
  assert.deepEqual(moved(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b'])
  assert.deepEqual(moved(['a', 'b', 'c'], 1, 1), ['a', 'b', 'c'])
  assert.deepEqual(moved(['a', 'b', 'c'], 1, 2), ['a', 'b', 'c'])
})

test('a field goes into the next section at its end, and back; a section without fields is gone', () => {
  const form = [
    { section: 'One', fields: ['a', 'b'] },
    { section: 'Two', fields: ['c'] },
  ]
  assert.deepEqual(stepOf(form, 'a', -1), null)
  assert.deepEqual(stepOf(form, 'c', 1), null)
  assert.deepEqual(stepOf(form, 'b', 1), { list: 'Two', index: 0 })
  assert.deepEqual(withFieldAt(form, 'b', { list: 'Two', index: 0 }), [
    { section: 'One', fields: ['a'] },
    { section: 'Two', fields: ['b', 'c'] },
  ])
  assert.deepEqual(withFieldAt(form, 'c', stepOf(form, 'c', -1)!), [
    { section: 'One', fields: ['a', 'b', 'c'] },
  ])
  assert.deepEqual(withFieldAt(form, 'a', stepOf(form, 'a', 1)!), [
    { section: 'One', fields: ['b', 'a'] },
    { section: 'Two', fields: ['c'] },
  ])
})

test('the top of an axis is round and never below the value', () => {
  for (const value of [0.4, 1, 1.03e6, 2_782_654, 99, 9_999_999]) {
    assert.ok(niceTop(value) >= value)
    assert.ok(niceTop(value) <= value * 1.7, `${value}: ${niceTop(value)}`)
  }
  assert.equal(niceTop(0), 1)
})

test('limits are sent as they changed; what is no number is the service’s to refuse', () => {
  assert.deepEqual(changedLimits({ max_length: 255 }, { max_length: '255', min_length: '' }), {})
  assert.deepEqual(changedLimits({ max_length: 255 }, { max_length: '', min_length: '3' }), {
    max_length: null,
    min_length: 3,
  })
  assert.deepEqual(changedLimits({}, { max: 'much' }), { max: 'much' })
  const cased = { max_length: 255, case_sensitive: true }
  const typed = { max_length: '255' }
  assert.deepEqual(changedConfig(cased, { config: typed, case_sensitive: true }), {})
  assert.deepEqual(changedConfig(cased, { config: typed, case_sensitive: false }), {
    config: { case_sensitive: false },
  })
  assert.deepEqual(changedConfig({}, { config: { max_length: '9' }, case_sensitive: true }), {
    config: { max_length: 9, case_sensitive: true },
  })
  assert.equal(numberIn(' 1,5 '), 1.5)
  assert.equal(numberIn(''), null)
  assert.equal(numberIn('ten'), 'ten')
})

test('problems of fields that a form has not stand at its head', () => {
  assert.deepEqual(
    assignProblems({ name: 'is taken', metadata: 'metadata is too large', '': 'Refused.' }, ['name']),
    {
      name: 'is taken',
      '': 'metadata is too large Refused.',
    },
  )
})

test('scopes of resources that this page does not know have a row', () => {
  assert.ok(scopeRows(['planet:read', 'event:read', 'admin']).some(({ resource }) => resource === 'planet'))
  assert.ok(!scopeRows(['event:read']).some(({ resource }) => resource === 'event'))
  assert.equal(
    scopesSummary(['deal:read', 'tag:read', 'deal:write', 'event:read']),
    'reads Deals, Tags, writes Deals',
  )
  assert.equal(scopesSummary(['deal:read', 'tag:read', 'user:read', 'role:read']), 'reads 4')
  assert.equal(scopesSummary([]), 'nothing')
  assert.deepEqual(withScope(['a:read'], 'b:write', true), ['a:read', 'b:write'])
  assert.deepEqual(withScope(['a:read'], 'a:read', false), [])
})
