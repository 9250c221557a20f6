/** The plain functions of tables: cells as texts, keyboard navigation, columns, selections, many requests. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { anyMember, relatedSources, resolvePath } from '../../web/src/list/field-path.ts'
import { inParallel } from '../../web/src/records/bulk/in-parallel.ts'
import {
  countSelected,
  everythingSelected,
  isSelected,
  nothingSelected,
  selected,
} from '../../web/src/records/bulk/selection.ts'
import { parseCells, pasteTargets, printCells } from '../../web/src/records/grid/cells.ts'
import { isIn, next, rangeOf } from '../../web/src/records/grid/grid.ts'
import { parseColumns, printColumns, resized, shifted, toggled } from '../../web/src/records/table/columns.ts'

suite('Copied cells', () => {
  test('what is printed is read as the same', () => {
    const cell = fc.oneof(fc.constantFrom('', 'a', '"', 'a\tb', 'a\nb', '"q"', '\r', ' '), fc.string())
    // One empty cell is no text, as an empty clipboard is none.
    const cells = fc
      .integer({ min: 1, max: 4 })
      .chain(width =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
      )
      .filter(rows => !(rows.at(-1)!.length === 1 && rows.at(-1)![0] === ''))
    fc.assert(
      fc.property(cells, rows => assert.deepEqual(parseCells(printCells(rows)), rows)),
      { numRuns: 2000 },
    )
  })

  test('what spreadsheets copy', () => {
    assert.deepEqual(parseCells('a\tb\r\nc\td\r\n'), [
      ['a', 'b'],
      ['c', 'd'],
    ])
    assert.deepEqual(parseCells('"two\nlines"\t"say ""hi"""'), [['two\nlines', 'say "hi"']])
    assert.deepEqual(parseCells('5" pipe\tx'), [['5" pipe', 'x']])
  })

  test('one text fills a range; several begin at its corner', () => {
    const range = { top: 1, bottom: 2, left: 0, right: 1 }
    assert.equal(pasteTargets([['x']], range, 10, 10).length, 4)
    assert.deepEqual(pasteTargets([['x', 'y']], range, 10, 10), [
      { row: 1, column: 0, text: 'x' },
      { row: 1, column: 1, text: 'y' },
    ])
    assert.deepEqual(pasteTargets([['x', 'y', 'z'], ['1']], { ...range, left: 1 }, 2, 3), [
      { row: 1, column: 1, text: 'x' },
      { row: 1, column: 2, text: 'y' },
    ])
  })
})

test('keys lead through a grid, and no further', () => {
  const size = { rows: 100, columns: 5, page: 20 }
  const from = { row: 0, column: 1 }
  assert.deepEqual(next(from, 'ArrowUp', size, false), { row: -1, column: 1 })
  assert.deepEqual(next({ row: -1, column: 1 }, 'ArrowUp', size, false), { row: -1, column: 1 })
  assert.deepEqual(next(from, 'PageDown', size, false), { row: 20, column: 1 })
  assert.deepEqual(next({ row: 95, column: 1 }, 'PageDown', size, false), { row: 99, column: 1 })
  assert.deepEqual(next(from, 'End', size, true), { row: 99, column: 4 })
  assert.deepEqual(next({ row: 50, column: 4 }, 'Home', size, false), { row: 50, column: 0 })
  assert.equal(next(from, 'x', size, false), null)
  const range = rangeOf({ row: 3, column: 4 }, { row: -1, column: 2 })
  assert.deepEqual(range, { top: 0, bottom: 3, left: 2, right: 4 })
  assert.ok(isIn(range, { row: 0, column: 3 }))
  assert.ok(!isIn(range, { row: 4, column: 3 }))
})

test('columns are the text of an address', () => {
  const columns = parseColumns('title:300,deal_value, title ,x y,tags:5')
  assert.equal(printColumns(columns), 'title:300,deal_value,tags:60')
  assert.equal(printColumns(shifted(columns, 'title', 1)), 'deal_value,title:300,tags:60')
  assert.equal(printColumns(shifted(columns, 'title', -1)), printColumns(columns))
  assert.equal(printColumns(resized(columns, 'deal_value', 9999)), 'title:300,deal_value:800,tags:60')
  assert.equal(printColumns(toggled(columns, 'title')), 'deal_value,tags:60')
  assert.equal(printColumns(toggled(columns, 'age')), 'title:300,deal_value,tags:60,age')
  assert.equal(printColumns(toggled(parseColumns('title'), 'title')), 'title')
})

test('a selection is some, or all but some', () => {
  const some = selected(nothingSelected, [1, 2], true)
  assert.ok(isSelected(some, 1) && !isSelected(some, 3))
  assert.equal(countSelected(some, 10), 2)
  const most = selected(everythingSelected, [3], false)
  assert.ok(isSelected(most, 1) && !isSelected(most, 3))
  assert.equal(countSelected(most, 10), 9)
  assert.equal(countSelected(selected(most, [3], true), 10), 10)
})

test('four at a time, and what fails is told', async () => {
  let now = 0
  let most = 0
  const steps: number[] = []
  const { done, failed } = await inParallel(
    Array.from({ length: 20 }, (_, index) => index),
    async item => {
      most = Math.max(most, ++now)
      await new Promise(resolve => setTimeout(resolve, 1))
      now--
      if (item % 5 === 0) throw new Error(`no ${item}`)
      return item * 2
    },
    { onStep: finished => steps.push(finished) },
  )
  assert.equal(most, 4)
  assert.deepEqual(
    failed.map(({ item }) => item).sort((one, other) => one - other),
    [0, 5, 10, 15],
  )
  assert.ok(done.every(({ item, result }) => result === item * 2))
  assert.equal(steps.at(-1), 20)
  const stop = new AbortController()
  const stopped = await inParallel([1, 2, 3, 4, 5, 6], async () => stop.abort(), { signal: stop.signal })
  assert.ok(stopped.done.length <= 4)
})

test('a path names a field, a member, or a field across a reference', () => {
  type Field = Parameters<typeof resolvePath>[1][number]
  const field = (internal_name: string, more: object) =>
    ({
      internal_name,
      field_name: internal_name.toUpperCase(),
      operators: ['eq'],
      ...more,
    }) as unknown as Field
  const member = (name: string) => ({ name, is_sortable: true, operators: ['in'] })
  const fields = [
    field('title', {}),
    field('value', { members: [member('currency')] }),
    field('notes', { members: [member(anyMember)] }),
    field('company', { related_field: { id: 1, source: 'company' } }),
  ]
  const others = [field('address', { members: [member('city')] })]
  const find = (path: string) =>
    resolvePath(path, fields, source => (source === 'company' ? others : undefined))
  assert.equal(find('title')?.label, 'TITLE')
  assert.deepEqual(find('value.currency')?.operators, ['in'])
  assert.equal(find('notes.a.b')?.member, 'a.b')
  assert.equal(find('company.address.city')?.label, 'COMPANY › ADDRESS › City')
  assert.equal(find('title.x'), null)
  assert.equal(find('nothing'), null)
  assert.deepEqual(relatedSources(['company.address.city', 'company', 'value.currency', 'nope.x'], fields), [
    'company',
  ])
})
