/** The grammar alone: text → tree. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GrammarError, parseFilter, parseSort } from '../../src/list/grammar.ts'

const condition = (field: string, operator: string, ...values: string[]) => ({ type: 'condition', field, operator, values })

test('conditions, groups and their nesting', () => {
  assert.deepEqual(parseFilter('title:eq(Acme, Inc. (EU))'), condition('title', 'eq', 'Acme, Inc. (EU)'))
  assert.deepEqual(parseFilter('id:in(1, 2 ,"3")'), condition('id', 'in', '1', '2', '3'))
  assert.deepEqual(parseFilter('title:in("a,b","c)(","\\"q\\" \\\\")'), condition('title', 'in', 'a,b', 'c)(', '"q" \\'))
  assert.deepEqual(parseFilter('deal_value.currency:eq(USD)'), condition('deal_value.currency', 'eq', 'USD'))
  assert.deepEqual(parseFilter('a:eq(1), b:eq(2)'), { type: 'and', of: [condition('a', 'eq', '1'), condition('b', 'eq', '2')] })
  assert.deepEqual(parseFilter('or(a:eq(1),not(b:eq(2)))'), {
    type: 'or',
    of: [condition('a', 'eq', '1'), { type: 'not', of: condition('b', 'eq', '2') }],
  })
  assert.deepEqual(parseFilter('or(and(a:eq(1),b:eq(2)),c:eq(3))'), {
    type: 'or',
    of: [{ type: 'and', of: [condition('a', 'eq', '1'), condition('b', 'eq', '2')] }, condition('c', 'eq', '3')],
  })
  // A field may be called like a group.
  assert.deepEqual(parseFilter('not:eq(1)'), condition('not', 'eq', '1'))
})

test('or(and(…)) of one group stays an and', () => {
  assert.deepEqual(parseFilter('or(and(a:eq(1),b:eq(2)))'), {
    type: 'and',
    of: [condition('a', 'eq', '1'), condition('b', 'eq', '2')],
  })
})

test('sort keys', () => {
  assert.deepEqual(parseSort('title:asc,deal_value.value:desc'), [
    { field: 'title', direction: 'asc' },
    { field: 'deal_value.value', direction: 'desc' },
  ])
  for (const text of ['title', 'title:', 'title:ASC', 'a:asc,', ':asc', 'a b:asc'])
    assert.throws(() => parseSort(text), GrammarError, text)
})

test('any text is either a filter or an error with a position within it', () => {
  const pieces = fc.constantFrom(
    'title',
    ':',
    'eq',
    'in',
    '(',
    ')',
    ',',
    '"',
    '\\',
    'and(',
    'or(',
    'not(',
    ' ',
    'x',
    '1',
    'ü',
    '\u{1F600}',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), parts => {
      const text = parts.join('')
      try {
        parseFilter(text)
      } catch (error) {
        assert.ok(error instanceof GrammarError, String(error))
        assert.ok(error.position >= 0 && error.position <= text.length)
      }
    }),
    { numRuns: 5000 },
  )
})

test('every list of values survives quoting', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }), values => {
      const quoted = values.map(value => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')
      assert.deepEqual(parseFilter(`title:in(${quoted})`), condition('title', 'in', ...values))
    }),
  )
})
