/** Days in words (D146). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysMeant } from '../../src/mcp/days.ts'

test('days and periods in words', () => {
  const today = '2026-03-31'
  for (const [words, first, last = first] of [
    ['today', '2026-03-31'],
    ['yesterday', '2026-03-30'],
    ['Tomorrow', '2026-04-01'],
    ['30 days ago', '2026-03-01'],
    ['a week ago', '2026-03-24'],
    ['1 month ago', '2026-02-28'],
    ['in 2 weeks', '2026-04-14'],
    ['3 months from now', '2026-06-30'],
    ['last 7 days', '2026-03-24', '2026-03-31'],
    ['the next 3 months', '2026-03-31', '2026-06-30'],
    ['this week', '2026-03-30', '2026-04-05'],
    ['this month', '2026-03-01', '2026-03-31'],
    ['last month', '2026-02-01', '2026-02-28'],
    ['last quarter', '2025-10-01', '2025-12-31'],
    ['next year', '2027-01-01', '2027-12-31'],
    ['2024-02', '2024-02-01', '2024-02-29'],
    ['2026', '2026-01-01', '2026-12-31'],
    ['Q3 2026', '2026-07-01', '2026-09-30'],
    ['q1', '2026-01-01', '2026-03-31'],
    ['March', '2026-03-01', '2026-03-31'],
    ['Feb 2024', '2024-02-01', '2024-02-29'],
    ['2026-02-28', '2026-02-28'],
    ['9999 years ago', '0001-01-01'],
    ['9999 years from now', '9999-12-31'],
  ] as const)
    assert.deepEqual(daysMeant(words, today), [first, last], words)
  for (const words of [
    '',
    'someday',
    '2026-02-30',
    '2026-13',
    'q5',
    '99999 days ago',
    'in the last',
    'ago 3 days',
    '1 day',
  ])
    assert.equal(daysMeant(words, today), null, words)
})
