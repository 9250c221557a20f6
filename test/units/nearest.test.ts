/** "Did you mean", by table. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from '../../src/fields/nearest.ts'

const fields = ['title', 'pipeline', 'pipeline_stage', 'deal_value', 'source', 'type', 'tags', 'company', 'expected_close_date']

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
  for (const word of ['', 'x', 'xy', 'xyz', 'zzzzz', 'constructor', '__proto__', 'a title that goes on and on', '\u{1F600}'])
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
