/** The filter of the web UI: its texts, which the client prints, and its model. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import type { Schemas } from '../../client/src/client.ts'
import {
  type Condition,
  type Filter,
  FilterError,
  type FilterNode,
  operators,
  parseFilter,
  parseSort,
  printFilter,
  takesList,
  unprintable,
} from '../../client/src/filter.ts'
import { asksPresence, replaced } from '../../web/src/list/filter.ts'
import { printSort, toggleSort } from '../../web/src/list/sort.ts'
import { startService, v1 } from '../support/service.ts'

type Field = Schemas['field']

const service = await startService()

const value = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    '1',
    'a,b',
    '(',
    ')',
    'a)(b',
    '(a)',
    '"',
    '\\',
    ' "x\\',
    'é',
    'Acme, Inc. (EU)',
  ),
  fc.string({ maxLength: 8 }),
)
const name = fc.constantFrom(
  'title',
  'deal_value.currency',
  'company.name',
  'and',
  'not',
  'metadata.a-b',
  'ñ1',
)
const condition: fc.Arbitrary<Condition> = fc
  .record({
    type: fc.constant('condition' as const),
    field: name,
    operator: fc.constantFrom(...operators),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  })
  .map(made => {
    if (made.operator === 'between') return { ...made, values: [made.values[0]!, made.values[0]!] }
    return takesList(made.operator) ? made : { ...made, values: made.values.slice(0, 1) }
  })
  .filter(made => !unprintable(made))
  // An unbalanced parenthesis is written as a list.
  .map(made => parseFilter(printFilter([made]))[0] as Condition)
const term = fc.letrec<{ term: FilterNode; group: FilterNode; condition: FilterNode }>(tie => ({
  term: fc.oneof({ maxDepth: 3 }, tie('condition'), tie('group')),
  group: fc.record(
    {
      type: fc.constantFrom('and', 'or', 'not'),
      of: fc.array(tie('term'), { minLength: 1, maxLength: 3 }),
    },
    { noNullPrototype: true },
  ) as fc.Arbitrary<FilterNode>,
  condition,
})).term
/** Number of a filter's conditions: the service accepts at most fifty. */
const countConditions = (filter: Filter): number =>
  filter.reduce((sum, term) => sum + (term.type === 'condition' ? 1 : countConditions(term.of)), 0)
const filters: fc.Arbitrary<Filter> = fc
  .array(term, { maxLength: 3 })
  .filter(made => countConditions(made) <= 50)

/** The position of the error of a text; null if it can be parsed. */
function positionOf(read: () => unknown): number | null {
  try {
    read()
    return null
  } catch (error) {
    assert.ok(error instanceof FilterError, String(error))
    return error.position
  }
}

suite('Filter texts', () => {
  test('what is printed is read as the same', () => {
    fc.assert(
      fc.property(filters, filter => {
        const text = printFilter(filter)
        assert.deepEqual(parseFilter(text), filter)
        assert.equal(printFilter(parseFilter(text)), text)
      }),
      { numRuns: 2000 },
    )
  })

  test('what is printed of a text means the same', () => {
    const piece = fc.constantFrom(
      ...[
        'title',
        'a',
        ':',
        'eq',
        'in',
        'like',
        'between',
        'nope',
        '(',
        ')',
        ',',
        ' ',
        '"',
        '\\',
        'or(',
        'not(',
      ],
      ...['a:eq(', 'b:in(', '1', 'x y', 'a:eq(1)', '"q"', '.', 'é'],
    )
    const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map(pieces => pieces.join(''))
    fc.assert(
      fc.property(text, asked => {
        fc.pre(asked.trim() !== '')
        if (positionOf(() => parseFilter(asked)) !== null) return
        assert.deepEqual(parseFilter(printFilter(parseFilter(asked))), parseFilter(asked))
      }),
      { numRuns: 5000 },
    )
  })

  test('what is no filter is refused at its place, and so are too many and too deep ones', () => {
    const deep = `${'not('.repeat(6)}a:eq(1)${')'.repeat(6)}`
    const many = Array.from({ length: 51 }, () => 'a:eq(1)').join()
    const places = {
      [deep]: 24,
      [many]: 402,
      'a:like(x': 7,
      'a:in(': 5,
      'a:in("x': 5,
      'a:eq(1)b:eq(2)': 7,
      '(': 0,
    }
    for (const [text, place] of Object.entries(places))
      assert.equal(
        positionOf(() => parseFilter(text)),
        place,
        text,
      )
  })

  test('a sort is printed as it is read', () => {
    for (const text of ['', 'a:asc', 'a:asc,b.c:desc']) assert.equal(printSort(parseSort(text)), text)
  })

  test('a press on a header sorts by it, or by it as well', () => {
    const sorted = (text: string, field: string, isBeside: boolean) =>
      printSort(toggleSort(parseSort(text), field, isBeside))
    assert.equal(sorted('', 'a', false), 'a:asc')
    assert.equal(sorted('a:asc', 'a', false), 'a:desc')
    assert.equal(sorted('a:desc', 'a', false), '')
    assert.equal(sorted('a:desc', 'b', false), 'b:asc')
    assert.equal(sorted('a:desc', 'b', true), 'a:desc,b:asc')
    assert.equal(sorted('a:asc,b:asc', 'a', true), 'a:desc,b:asc')
    assert.equal(sorted('a:desc,b:asc', 'a', true), 'b:asc')
  })

  test('a term is replaced, and an empty group goes', () => {
    const filter = parseFilter('a:eq(1),or(b:eq(2),c:eq(3))')
    assert.equal(
      printFilter(replaced(filter, [1, 0], parseFilter('d:eq(4)')[0]!)),
      'a:eq(1),or(d:eq(4),c:eq(3))',
    )
    const without = replaced(replaced(filter, [1, 0], null), [1, 0], null)
    assert.equal(printFilter(without), 'a:eq(1)')
    assert.equal(printFilter(replaced(filter, [0], null)), 'or(b:eq(2),c:eq(3))')
  })

  test('what can’t be said is said so', () => {
    assert.match(
      unprintable({ type: 'condition', field: 'a', operator: 'like', values: ['('] })!,
      /parenthesis/,
    )
    assert.match(
      unprintable({ type: 'condition', field: 'a', operator: 'between', values: ['1'] })!,
      /both values/,
    )
    assert.equal(unprintable({ type: 'condition', field: 'a', operator: 'eq', values: [')('] }), undefined)
  })
})

/** Two ordered operands that a field of the type accepts. */
const operandsOf: { readonly [type: string]: readonly [string, string] } = {
  SINGLE_STRING: ['Acme, Inc. (EU', 'He said "yes"'],
  TEXT: ['a)b', 'b,(c'],
  JSON: ['a', 'b)'],
  STRING_LIST: ['deal.won', 'deal.won'],
  DATE: ['2026-01-01', '2026-12-31'],
  DATE_RANGE: ['2026-01-01', '2026-12-31'],
  DATE_TIME: ['2026-01-01T10:00:00Z', '2026-12-31T10:00:00Z'],
  DATE_TIME_RANGE: ['2026-01-01T10:00:00Z', '2026-12-31T10:00:00Z'],
  TIME: ['09:00', '17:30'],
  TIME_RANGE: ['09:00', '17:30'],
  EMAIL: ['a@example.com', 'b@example.com'],
  PHONE: ['+1 (555) 0100', '+1 (555) 0199'],
}
/** And members of one. */
const operandsOfMember: { readonly [member: string]: readonly [string, string] } = {
  currency: ['EUR', 'USD'],
  phone_type: ['Work', 'Work'],
  email_type: ['Work', 'Work'],
}
const range = ['from', 'to', 'range.from', 'range.to']

suite('Filters that the service takes', () => {
  /** Operands for a field or a member of it. */
  function operands(field: Field, member: string): readonly [string, string] {
    const [first, second = first] = field.options ?? []
    if (!member && first) return [String(first.id), String(second!.id)]
    if (range.includes(member) || !member) return operandsOf[field.type] ?? ['1', '2']
    if (field.type === 'ADDRESS' || field.type === 'JSON') return ['Lyon (F', 'Zürich, CH']
    if (member === 'phone_number') return operandsOf.PHONE!
    if (member === 'email_value') return operandsOf.EMAIL!
    return operandsOfMember[member] ?? ['1', '2']
  }

  for (const source of ['deal', 'product', 'contact', 'company', 'activity', 'user']) {
    test(`every operator of every field of ${source}`, async () => {
      const { body } = await service.get(`${v1}/field/list?source=${source}`)
      const asked: string[] = []
      for (const field of (body.data.fields as Field[][]).flat()) {
        if (!field.is_filterable) continue
        const members = field.members ?? []
        for (const { name, operators: known } of [{ name: '', operators: field.operators }, ...members]) {
          const member = name === '*' ? 'a-b.c' : name
          const path = member ? `${field.internal_name}.${member}` : field.internal_name
          for (const operator of known) {
            const two = operands(field, name)
            const values = asksPresence(operator) ? ['true'] : takesList(operator) ? two : [two[0]]
            const condition: Condition = { type: 'condition', field: path, operator, values }
            asked.push(unprintable(condition) ? `${path}:${operator}(a)` : printFilter([condition]))
          }
        }
      }
      assert.ok(asked.length > 100)
      const refused: string[] = []
      for (let at = 0; at < asked.length; at += 25) {
        const filter = asked.slice(at, at + 25)
        const list = `${v1}/${source}/view/list`
        const query = new URLSearchParams({ filter: filter.join(','), pageSize: '1', count: 'none' })
        const reply = await service.get(`${list}?${query}`)
        if (reply.status !== 200)
          refused.push(...reply.body.errors.map((one: { message: string }) => one.message))
      }
      assert.deepEqual(refused, [])
    })
  }

  test('groups and steps across references', async () => {
    const query = new URLSearchParams({
      filter: printFilter(
        parseFilter('or(company.name:in("Foods, Inc.",x),not(sales_owner.email:isnull(true))),and(id:gt(1))'),
      ),
    })
    const reply = await service.get(`${v1}/deal/view/list?${query}`)
    assert.equal(reply.status, 200, reply.text)
  })
})
