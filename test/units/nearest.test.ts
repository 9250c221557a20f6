/** "Did you mean", by table. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearest } from '../../src/fields/nearest.ts'

const fields = [
  'title',
  'pipeline',
  'pipeline_stage',
  'deal_value',
  'source',
  'type',
  'tags',
  'company',
  'expected_close_date',
]

test('one slip of the fingers: a letter more, less, other, or two exchanged', () => {
  for (const [word, wanted] of [
    ['title', 'title'],
    ['TITLE', 'title'],
    ['tilte', 'title'],
    ['titl', 'title'],
    ['ttitle', 'title'],
    ['tixle', 'title'],
    ['itle', 'title'],
    ['tpye', 'type'],
    ['sorce', 'source'],
    ['dealvalue', 'deal_value'],
    ['deal-value', 'deal_value'],
    ['pipelinestage', 'pipeline_stage'],
    ['expected_closing_date', 'expected_close_date'],
  ] as const) {
    assert.equal(nearest(word, fields), wanted, word)
  }
})

test('what is too far has no nearest', () => {
  for (const word of [
    '',
    'x',
    'xy',
    'xyz',
    'zzzzz',
    'constructor',
    '__proto__',
    'a title that goes on and on',
    '\u{1F600}',
  ])
    assert.equal(nearest(word, fields), null, word)
  assert.equal(nearest('title', []), null)
})

test('of several as near, the first; of several, the nearest', () => {
  assert.equal(nearest('cat', ['bat', 'rat']), 'bat')
  assert.equal(nearest('pipelin', ['pipelined', 'pipeline']), 'pipeline')
})

test('short words allow one edit, so that everything is not near to everything', () => {
  assert.equal(nearest('eg', ['eq', 'neq']), 'eq')
  assert.equal(nearest('ab', ['cd']), null)
})

test('a word of any length is answered', () => {
  assert.equal(nearest('x'.repeat(100_000), fields), null)
})

test('what is near is found whatever stands before and behind it, and far words are soon given up', () => {
  const seed = Date.now() % 1_000_000
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 8 }), (wanted, known) => {
      const limit = Math.min(8, Math.max(1, Math.floor(wanted.length / 3)))
      const distances = known.map(other => distance(wanted, other))
      const least = Math.min(...distances)
      assert.equal(nearest(wanted, known), least <= limit ? known[distances.indexOf(least)] : null)
    }),
    { seed, numRuns: 3000 },
  )
})

/** The edit distance by its definition: the whole table. */
function distance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i ? i : j)),
  )
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const costs = [
        table[i - 1]![j]! + 1,
        table[i]![j - 1]! + 1,
        table[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      ]
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        costs.push(table[i - 2]![j - 2]! + 1)
      table[i]![j] = Math.min(...costs)
    }
  }
  return table[a.length]![b.length]!
}
