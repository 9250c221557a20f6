/** Reading workbooks as tables: those of spreadsheets and broken ones (D80). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { readTable } from '../../src/files/read.ts'
import { builtInFormat, formatOf, numberCell } from '../../src/files/read-number-formats.ts'
import { quota, shareOf } from '../../src/waiting/quota.ts'
import { type Parts, workbookFiles, zip } from '../support/workbook.ts'

async function* inPieces(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array) {
  const table = await readTable(inPieces(bytes), { format: 'xlsx' })
  return { columns: table.columns(), rows: await Array.fromAsync(table.rows), source: table.source }
}

async function refusal(bytes: Uint8Array): Promise<string> {
  const error = await read(bytes).then(
    () => assert.fail('it was read'),
    error => error,
  )
  assert.ok(error instanceof Refusal, String(error?.stack))
  return error.message
}

const book = (parts: Parts) => zip(workbookFiles(parts))
const styles =
  '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="20"/></cellXfs>'
const header =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'

test('cells of every type are as a person writes them', async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>d</t></is></c></row>' +
    '<row r="3"><c r="A3"><v>0.30000000000000004</v></c><c r="B3" s="1"><v>46082</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="str"><f>A1&amp;"x"</f><v>a&amp;x_x000D_</v></c></row>' +
    '<row r="4"><c r="B4" s="2"><v>46082.416666666664</v></c><c r="C4" s="3"><v>0.5</v></c></row>' +
    '<row r="5"><c r="A5" t="e"><v>#N/A</v></c><c r="B5"><v>1</v></c></row><row r="6"/>' +
    '<row r="7"><c r="E7"><v>1</v></c></row>'
  const strings =
    '<si><t>one</t></si><si><r><t>two</t></r><r><t xml:space="preserve"> b</t></r><rPh><t>x</t></rPh></si>'
  const { columns, rows: found, source } = await read(book({ rows, strings, styles }))
  assert.deepEqual(columns, ['one', 'two b', 'Column 3', 'd'])
  assert.deepEqual(
    found.map(row => row.problem ?? row.cells),
    [
      [0.3, '2026-03-01', 'TRUE', 'a&x\r'],
      ['', '2026-03-01T10:00:00', '12:00:00', ''],
      'Line 5: the row has the error #N/A in column 1. Correct the formula.',
      'Line 7: the row has 5 cells, but there are 4 columns. Name them all.',
    ],
  )
  assert.deepEqual(source, { format: 'xlsx', sheet: 'Sheet1', header: 1 })
})

test('a phonetic text within a cell is no part of it', async () => {
  const spoken = '<is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is>'
  const rows = `${header}<row r="2"><c r="A2" t="inlineStr">${spoken}</c><c r="B2"><v>1</v></c></row>`
  const [row] = (await read(book({ rows }))).rows
  assert.deepEqual(row!.cells, ['東京', '1'])
})

test('a row with too many cells is kept whole', async () => {
  const rows = `${header}<row r="2"><c r="A2"><v>1</v></c><c r="C2"><v>3</v></c></row>`
  const [row] = (await read(book({ rows }))).rows
  assert.deepEqual(
    [row!.cells, row!.problem?.slice(0, 30)],
    [['1', '', '3'], 'Line 2: the row has 3 cells, b'],
  )
})

test('both calendars, and the moments of our own exports', async () => {
  const rows = `${header}<row r="2"><c r="A2" s="1"><v>1</v></c><c r="B2" s="2"><v>46082.5</v></c></row>`
  const cells = async (parts: Partial<Parts>) => (await read(book({ rows, styles, ...parts }))).rows[0]!.cells
  assert.deepEqual(await cells({}), ['1900-01-01', '2026-03-01T12:00:00'])
  // Moments in UTC are known by their format, whatever the sheet is called.
  const other = { name: 'Records', styles: styles.replace(':ss"', '"') }
  assert.deepEqual(await cells(other), ['1900-01-01', '2026-03-01T12:00:00'])
  // Earlier exports have no such format.
  assert.deepEqual(await cells({ name: 'Records' }), ['1900-01-01', '2026-03-01T12:00:00Z'])
  const ofUtc = { styles: styles.replace('ss"', 'ss\\Z"') }
  assert.deepEqual(await cells(ofUtc), ['1900-01-01', '2026-03-01T12:00:00Z'])
  assert.deepEqual(await cells({ properties: '<workbookPr date1904="1"/>' }), [
    '1904-01-02',
    '2030-03-02T12:00:00',
  ])
})

test('formats of numbers', () => {
  const formats = {
    'dd/mm/yyyy': 'date',
    'mmm-yy': 'date',
    '[$-409]d\\-mmm\\-yy h:mm AM/PM': 'moment',
    'yyyy\\-mm\\-dd\\ hh:mm:ss\\Z': 'utc',
    'dd.mm.yyyy hh:mm" UTC"': 'utc',
    'h:mm': 'time',
    '[h]:mm': 'time',
    '0.00" days"': { unit: 'days' },
    '#,##0.00\\ [$€-407];[Red]-#,##0.00': { unit: '€' },
    General: 'number',
    '_-* #,##0.00_d': 'number',
  }
  for (const [code, format] of Object.entries(formats)) assert.deepEqual(formatOf(code), format, code)
  assert.equal(numberCell('1.5E-7', 'number', false), 1.5e-7)
  assert.equal(numberCell('1E+21', 'number', false), '1000000000000000000000')
  assert.equal(numberCell('-5', 'date', false), '-5')
  const numbers = {
    '1234567890123456789': '"1234567890123456789"',
    '1.2345678901234567E+18': '"1234567890123456700"',
    '-12.50': '-12.5',
    '5.0': '"5"',
    '0.000000000000000000000123': '1.23e-22',
    '0.30000000000000004': '0.3',
    '33.333333333333336': '33.3333333333333',
    '12345678901234.5': '12345678901234.5',
    '1E-300': '"1E-300"',
  }
  for (const [text, cell] of Object.entries(numbers))
    assert.equal(JSON.stringify(numberCell(text, 'number', false)), cell, text)
})

test('a number is what its format shows: with zeros, a percent sign or a currency', () => {
  const shown: [code: string, written: string, cell: unknown][] = [
    ['000000', '123', '000123'],
    ['00000', '6900', '06900'],
    ['"PRD-"000', '7', 'PRD-007'],
    ['000\\-00\\-0000', '123456789', '123-45-6789'],
    ['\\(###\\)\\ ###\\-####', '5551234567', '(555) 123-4567'],
    ['#\\ ##0', '1234', '1234'],
    ['#,##0', '1234', '1234'],
    ['0.00', '1234.5', 1234.5],
    ['0.00%', '0.195', { number: 19.5, unit: '%' }],
    ['_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-', '1234.5', { number: 1234.5, unit: '€' }],
    ['"$"#,##0_);\\("$"#,##0\\)', '-5', { number: -5, unit: '$' }],
    ['[$USD] #,##0.00', '5', { number: 5, unit: 'USD' }],
    ['#,##0.00 €', '5', { number: 5, unit: '€' }],
    ['00000', '1.5', 1.5],
    ['00000', '-7', '-7'],
  ]
  for (const [code, written, cell] of shown)
    assert.deepEqual(numberCell(written, formatOf(code), false), cell, code)
  assert.deepEqual(numberCell('0.19', builtInFormat(9), false), { number: 19, unit: '%' })
})

test('what a sheet lacks is refused with its row, not taken for nothing', async () => {
  const rows =
    `${header}<row r="2"><c r="A2"><f>B2+1</f></c><c r="B2"><v>1</v></c></row>` +
    '<row r="3"><c r="A3"><f>B3+1</f><v></v></c></row>' +
    '<row r="4"><c r="A4" t="str"><f>""</f><v></v></c><c r="B4"><v>1</v></c></row>' +
    '<row r="5"><c r="A5" t="s"><v>7</v></c></row>'
  const { rows: found } = await read(book({ rows, strings: '<si><t>a</t></si>' }))
  assert.deepEqual(
    found.map(row => row.problem?.slice(0, 60) ?? row.cells),
    [
      'Line 2: the row has a formula without a result in column 1. ',
      'Line 3: the row has a formula without a result in column 1. ',
      ['', '1'],
      'Line 5: the row names a text that the workbook does not have',
    ],
  )
})

test('the first visible sheet is read, or the one that is named', async () => {
  const files = workbookFiles({ rows: header })
  const cell = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`
  const other = `<worksheet><sheetData>${cell('x')}${cell('y')}</sheetData></worksheet>`
  const hidden = files['xl/workbook.xml'].replace('sheetId="1"', 'sheetId="1" state="hidden"')
  const bytes = zip({ ...files, 'xl/workbook.xml': hidden, 'xl/worksheets/sheet1.xml': other })
  const table = async (sheet?: string) =>
    readTable(inPieces(bytes), { format: 'xlsx', ...(sheet ? { sheet } : {}) })
  const [first, named] = [await table(), await table('Sheet1')]
  assert.deepEqual([first.source.sheet, first.columns()], ['Other', ['x']])
  assert.deepEqual([named.source.sheet, named.columns()], ['Sheet1', ['a', 'b']])
  for (const one of [first, named]) await Array.fromAsync(one.rows)
  await assert.rejects(table('Nowhere'), /no sheet "Nowhere". There are: "Sheet1", "Other"/)
})

/** A workbook with one number of the sheet changed in the ZIP directory. */
function listedWith(place: number, change: (number: number) => number): Buffer {
  const bytes = Buffer.from(book({ rows: header }))
  const entry = bytes.indexOf('xl/worksheets/sheet2.xml', bytes.indexOf('PK\x01\x02', 0, 'latin1')) - 46
  bytes.writeUInt32LE(change(bytes.readUInt32LE(entry + place)), entry + place)
  return bytes
}
const [sumPlace, sizePlace] = [16, 24]

test('a part whose sum or length is wrong is damaged', async () => {
  assert.match(await refusal(listedWith(sumPlace, sum => (sum ^ 1) >>> 0)), /damaged/)
  for (const more of [-1, 1])
    assert.match(await refusal(listedWith(sizePlace, size => size + more)), /damaged/)
})

test('what says that it would inflate beyond all measure is not begun', async () => {
  assert.match(await refusal(listedWith(sizePlace, () => 0x7fffffff)), /too large when it is unpacked/)
})

test('what is CSV is read as CSV, whatever its name says, and the other way round', async () => {
  const text = await read(Buffer.from('a,b\n1,2'))
  assert.deepEqual([text.source.format, text.columns, text.rows[0]!.cells], ['csv', ['a', 'b'], ['1', '2']])
  const table = await readTable(inPieces(book({ rows: header })), { format: 'csv' })
  assert.deepEqual([table.source.format, table.columns()], ['xlsx', ['a', 'b']])
  await Array.fromAsync(table.rows)
})

test('what is no workbook is refused', async () => {
  const good = book({ rows: header })
  assert.match(await refusal(Buffer.from('<html><table><tr><td>a')), /damaged/)
  assert.match(await refusal(Buffer.alloc(0)), /damaged/)
  assert.match(await refusal(good.subarray(0, good.length - 30)), /damaged/)
  assert.match(await refusal(Buffer.from('d0cf11e0a1b11ae1', 'hex')), /old XLS/)
  assert.match(await refusal(zip({ 'a.txt': 'x' })), /no workbook/)
  assert.match(await refusal(book({ rows: '' })), /no rows/)
  assert.match(await refusal(book({ rows: '<row><c></row>' })), /can't be read/)
  assert.match(await refusal(book({ rows: `${header}&bomb;` })), /can't be read/)
  const files = workbookFiles({ rows: header })
  const doctype = '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet/>'
  assert.match(await refusal(zip({ ...files, 'xl/worksheets/sheet2.xml': doctype })), /document type/)
  const wide = `<worksheet${Array.from({ length: 1001 }, (_, at) => ` a${at}=""`).join('')}/>`
  assert.match(
    await refusal(zip({ ...files, 'xl/worksheets/sheet2.xml': wide })),
    /more than 1000 attributes/,
  )
  const nested = (levels: number) =>
    book({ rows: `${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}${header}<row><c><v>1</v></c></row>` })
  // The sheet has two tags of its own around them.
  assert.equal((await read(nested(98))).rows.length, 1)
  assert.match(await refusal(nested(99)), /nested more than 100 levels deep/)
  const flipped = Buffer.from(good)
  for (let at = 60; at < 90; at++) flipped[at]! ^= 0xff
  assert.match(await refusal(flipped), /damaged|can't be read/)
})

test('workbooks take the room of their account until they are read, and no more of it', async () => {
  const [small, large] = [book({ rows: header }), book({ rows: `${header}<!--${randomBytes(9000)}-->` })]
  const uploads = quota('test', 4 * small.length)
  const share = shareOf(uploads, 1)
  const opened = () => readTable(inPieces(small), { format: 'xlsx' }, share)
  const isRefused = async (bytes: Uint8Array) =>
    assert.rejects(readTable(inPieces(bytes), { format: 'xlsx' }, share), { slug: 'overloaded' })
  const held = [await opened(), await opened()]
  await isRefused(small)
  await Array.fromAsync(held[0]!.rows)
  held[0] = await opened()
  await isRefused(small)
  // Another account has its own share.
  const other = await readTable(inPieces(small), { format: 'xlsx' }, shareOf(uploads, 2))
  for (const { rows } of [...held, other]) await Array.fromAsync(rows)
  await isRefused(large)
  await assert.rejects(readTable(inPieces(small.subarray(0, -30)), { format: 'xlsx' }, share), /damaged/)
  // Nothing of what was refused, damaged or read is held.
  assert.ok(share.take(2 * small.length))
})

test('what would inflate beyond all measure is refused', async () => {
  const bomb = zip({
    ...workbookFiles({ rows: header }),
    'xl/worksheets/sheet2.xml': `<worksheet>${'<row r="2"/>'.repeat(5e6)}`,
  })
  assert.match(await refusal(bomb), /too large/)
  const text = book({
    rows: `${header}<row><c t="inlineStr"><is><t>${'x'.repeat(9_000_000)}</t></is></c></row>`,
  })
  assert.match(await refusal(text), /4000000 characters/)
  const files = workbookFiles({ rows: header, styles })
  const long = 'x'.repeat(5000)
  for (const [name, text] of [
    ['xl/workbook.xml', 'Sheet1'],
    ['xl/_rels/workbook.xml.rels', 'worksheets/sheet1.xml'],
    ['xl/styles.xml', 'yyyy'],
  ] as const)
    assert.match(
      await refusal(zip({ ...files, [name]: files[name]!.replace(text, long) })),
      /too long, or too many/,
      name,
    )
  const tag = `<a a="${'x'.repeat(1_900_000)}">`
  assert.match(await refusal(book({ rows: `${tag}${tag}${tag}` })), /tags have more than 4000000 characters/)
  const strings = Array.from({ length: 800_000 }, (_, index) => `<si><t>text ${index * 7919}</t></si>`).join(
    '',
  )
  assert.match(await refusal(book({ rows: header, strings: strings + strings })), /too many/)
})
