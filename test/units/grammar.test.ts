/** The grammar alone: text → tree. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FilterError, parseFilter, parseSort } from '../../client/src/filter.ts'

const condition = (field: string, operator: string, ...values: string[]) => ({
  type: 'condition',
  field,
  operator,
  values,
})

test('conditions, groups and their nesting', () => {
  assert.deepEqual(parseFilter('title:eq(Acme, Inc. (EU))'), [condition('title', 'eq', 'Acme, Inc. (EU)')])
  assert.deepEqual(parseFilter('id:in(1, 2 ,"3")'), [condition('id', 'in', '1', '2', '3')])
  assert.deepEqual(parseFilter('title:in("a,b","c)(","\\"q\\" \\\\")'), [
    condition('title', 'in', 'a,b', 'c)(', '"q" \\'),
  ])
  assert.deepEqual(parseFilter('deal_value.currency:eq(USD)'), [
    condition('deal_value.currency', 'eq', 'USD'),
  ])
  assert.deepEqual(parseFilter('a:eq(1), b:eq(2)'), [condition('a', 'eq', '1'), condition('b', 'eq', '2')])
  assert.deepEqual(parseFilter('or(a:eq(1),not(b:eq(2)))'), [
    { type: 'or', of: [condition('a', 'eq', '1'), { type: 'not', of: [condition('b', 'eq', '2')] }] },
  ])
  assert.deepEqual(parseFilter('or(and(a:eq(1),b:eq(2)),c:eq(3))'), [
    {
      type: 'or',
      of: [
        { type: 'and', of: [condition('a', 'eq', '1'), condition('b', 'eq', '2')] },
        condition('c', 'eq', '3'),
      ],
    },
  ])
  // A field may have the name of a group.
  assert.deepEqual(parseFilter('not:eq(1)'), [condition('not', 'eq', '1')])
})

test('sort keys', () => {
  assert.deepEqual(parseSort('title:asc,deal_value.value:desc'), [
    { field: 'title', direction: 'asc' },
    { field: 'deal_value.value', direction: 'desc' },
  ])
  assert.deepEqual(parseSort(' a:asc , b:desc,a:desc'), [
    { field: 'a', direction: 'asc' },
    { field: 'b', direction: 'desc' },
  ])
  assert.deepEqual(parseSort(''), [])
  for (const text of ['title', 'title:', 'title:ASC', 'a:asc,', ':asc', 'a b:asc'])
    assert.throws(() => parseSort(text), FilterError, text)
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
        assert.ok(error instanceof FilterError, String(error))
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
      assert.deepEqual(parseFilter(`title:in(${quoted})`), [condition('title', 'in', ...values)])
    }),
  )
})

test('raw text: quotes, backslashes, colons and balanced parentheses are just text', () => {
  for (const value of ['', ' ', '()', '(a)(b)', '((x))', 'a:eq(b)', '"', '\\', '"a"', ',', '%_', '\u{1F600}'])
    assert.deepEqual(parseFilter(`title:eq(${value})`), [condition('title', 'eq', value)], value)
  assert.deepEqual(parseFilter('title:eq(a),title:like((b))'), [
    condition('title', 'eq', 'a'),
    condition('title', 'like', '(b)'),
  ])
})

test('lists: bare values are trimmed, quoted ones are not, and only they may be empty', () => {
  assert.deepEqual(parseFilter('a:in( x y ,"  z  ", "")'), [condition('a', 'in', 'x y', '  z  ', '')])
  assert.deepEqual(parseFilter('a:between(1,2)'), [condition('a', 'between', '1', '2')])
  assert.deepEqual(parseFilter('a:nin("\\\\","\\"")'), [condition('a', 'nin', '\\', '"')])
})

test('no field name is special: what it means is not for the grammar to know', () => {
  for (const name of [
    'constructor',
    '__proto__',
    'toString',
    'and',
    'or',
    'not',
    'eq',
    'a.b.c',
    'a-b',
    '_',
    'A1',
  ])
    assert.deepEqual(parseFilter(`${name}:eq(1)`), [condition(name, 'eq', '1')])
})

test('an error stands where it is', () => {
  const cases: [string, number][] = [
    ['1a:eq(1)', 0],
    ['.a:eq(1)', 0],
    ['title', 5],
    ['title eq(1)', 5],
    ['title:', 6],
    ['title:(1)', 6],
    ['title:constructor(1)', 6],
    ['title:EQ(1)', 6],
    ['title:eq', 8],
    ['title:eq (1)', 8],
    ['title:eq(1', 9],
    ['title:eq((1)', 9],
    ['title:eq(1))', 11],
    ['title:eq(1) x', 12],
    ['title:eq(1),', 12],
    ['title:eq(1),,id:eq(1)', 12],
    [',title:eq(1)', 0],
    ['id:in()', 6],
    ['id:in(1,)', 8],
    ['id:in(,1)', 6],
    ['id:in(1', 6],
    ['id:in(1(2))', 7],
    ['id:in(a"b)', 7],
    ['id:in("a"b)', 9],
    ['id:in("a', 6],
    ['id:in("a\\n")', 9],
    ['id:in("a\\', 9],
    ['and()', 4],
    ['and(id:eq(1)', 12],
    ['and(id:eq(1),)', 13],
    ['not(id:eq(1)))', 13],
    ['or (id:eq(1))', 2],
    ['xor(id:eq(1))', 3],
  ]
  for (const [text, position] of cases) {
    assert.throws(
      () => parseFilter(text),
      (error: unknown) => error instanceof FilterError && error.position === position,
      text,
    )
  }
  for (const [text, position] of [
    ['title', 0],
    ['a:asc,', 6],
    ['a:asc,,b:asc', 6],
    ['a:asc,b:up', 6],
    ['a:asc,b:desc,1:asc', 13],
  ] as const) {
    assert.throws(
      () => parseSort(text),
      (error: unknown) => error instanceof FilterError && error.position === position,
      text,
    )
  }
})

test('fifty conditions and five levels, not one more', () => {
  const conditions = (count: number) =>
    Array.from({ length: count }, (_, index) => `f${index}:eq(1)`).join(',')
  assert.doesNotThrow(() => parseFilter(conditions(50)))
  assert.throws(() => parseFilter(conditions(51)), /more than 50/)
  assert.throws(() => parseFilter(`or(${conditions(26)}),and(${conditions(25)})`), /more than 50/)
  const count = { conditions: 0 }
  assert.doesNotThrow(() => parseFilter(conditions(30), count))
  assert.throws(() => parseFilter(conditions(21), count), /more than 50/)
  const nested = (depth: number) => `${'not('.repeat(depth)}a:eq(1)${')'.repeat(depth)}`
  assert.doesNotThrow(() => parseFilter(nested(5)))
  assert.throws(() => parseFilter(nested(6)), /more than 5 deep/)
  // Long text is refused, or read, without a deep stack.
  assert.throws(() => parseFilter('not('.repeat(100_000)), FilterError)
  assert.deepEqual(parseFilter(`a:eq(${'('.repeat(100_000)}${')'.repeat(100_000)})`), [
    condition('a', 'eq', `${'('.repeat(100_000)}${')'.repeat(100_000)}`),
  ])
})
