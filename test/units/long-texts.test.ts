/** The time that texts of strangers take grows with their length, and not with its square. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writtenId } from '../../src/fields/kinds/dropdown.ts'
import { CsvScanner } from '../../src/files/read-csv-scanner.ts'
import { formatOf } from '../../src/files/read-number-formats.ts'
import { sortMeant } from '../../src/lists/foreign-parameters.ts'
import { fitOf, searchWordsOf } from '../../src/lists/search/words.ts'
import { emailsOf } from '../../src/work/imports/cell-contacts.ts'
import { onto } from '../../src/work/imports/entries.ts'

/** The processor's time of some calls, the least of three, in microseconds. */
function costOf(count: number, call: () => unknown): number {
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    for (let turn = 0; turn < count; turn++) call()
    return process.cpuUsage(before).user
  })
  return Math.min(...costs)
}

/** A text of sixteen times the length costs as much as sixteen texts, or a few times as much. */
function assertLinear(what: string, length: number, call: (length: number) => unknown): void {
  const [many, long] = [costOf(16, () => call(length)), costOf(1, () => call(16 * length))]
  // The processor's time is counted in steps of up to ten milliseconds.
  assert.ok(long < 6 * Math.max(many, 20_000), `${what}: ${many} µs, at sixteen times the length ${long} µs`)
}

function readAll(text: string): void {
  const scanner = new CsvScanner(',', 3, 1)
  scanner.push(text, true)
  for (let row = scanner.next(); row; row = scanner.next());
}

test('each line of a file may begin a record that can not be read', () => {
  for (const line of ['a","\n', '"x\n', 'x,"y\n', 'a"b,"\n', '"a","b\n'])
    for (const end of ['', 'no end', '"x"y'])
      assertLinear(JSON.stringify([line, end]), 1000, count =>
        readAll(`title,x\n${line.repeat(count)}${end}`),
      )
})

test('a word of a search may be within a word of a long text very often', () => {
  const wanted = searchWordsOf('aaa')
  assertLinear('fitOf', 2000, length => fitOf(wanted, ['zaaa', `z${'a'.repeat(length)}`], []))
  assert.equal(fitOf(wanted, ['z\u{10400}aaa'], []), 3)
  assert.equal(fitOf(wanted, ['z \u{1f600}aaa'], []), 2)
})

test('an order, an address or a format may be written in any way', () => {
  assertLinear('sortMeant', 2000, length => sortMeant(`a${' '.repeat(length)}!`))
  const place = { member: null } as never
  assertLinear('emailsOf', 10, count => emailsOf(`${`<${'@'.repeat(590)};`.repeat(count)}`, place))
  for (const part of ['[$', '[', '[$-', '[h'])
    assertLinear(part, 25, count => {
      for (let turn = 0; turn < 100; turn++) formatOf(part.repeat(count))
    })
  assert.deepEqual(formatOf('[$€-407] #,##0.00'), { unit: '€' })
  assert.equal(formatOf('[$-409]d/m/yyyy;@'), 'date')
  assert.equal(formatOf('[hh]:mm:ss'), 'time')
})

test('a list may be long, and so may what it is compared with', () => {
  const optionsOf = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `Stage ${id}` }))
  assertLinear('writtenId', 500, count => {
    const options = optionsOf(count)
    for (const { id } of options) assert.equal(writtenId(String(id), options), id)
  })
  assert.deepEqual(
    ['07', '1e0', ' 1', 'NaN', '9'].map(text => writtenId(text, optionsOf(8))),
    Array(5).fill(undefined),
  )
  const told = new Map([['emails', { form: 'emails', types: new Set() }]]) as never
  assertLinear('onto', 300, count => {
    const emails = Array.from({ length: count }, (_, index) => ({ email_value: `a${index}@example.com` }))
    const kept = { emails: [{ email_value: 'kept@example.com' }] }
    const body = onto({ body: { emails }, told, derived: [] }, kept, {} as never)
    assert.equal((body.emails as object[]).length, count)
  })
})
