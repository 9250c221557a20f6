/** Reading CSV and JSON lines as tables: real files and broken ones (D80). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { type Row, readTable, type Source } from '../../src/files/read.ts'
import { textOf } from '../../src/files/read-text.ts'

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

type Read = { columns: readonly string[]; rows: Row[]; encoding: string; delimiter: string | undefined }

async function read(content: string | Uint8Array, more: Partial<Source> = {}, size = 1e9): Promise<Read> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const table = await readTable(inPieces(bytes, size), { format: 'csv', ...more })
  const rows = await Array.fromAsync(table.rows)
  const { encoding, delimiter } = table.source
  return { columns: table.columns(), rows, encoding: encoding!, delimiter }
}

const cellsOf = ({ rows }: Read) => rows.map(row => row.cells)

async function refusal(content: string | Uint8Array, more: Partial<Source> = {}): Promise<string> {
  const error = await read(content, more).then(
    () => assert.fail('it was read'),
    error => error,
  )
  assert.ok(error instanceof Refusal, String(error))
  return error.message
}

const people = [
  'Name;"Note";Age\r\n"Ada ""A"" L";"two\r\nlines";36\r\n\r\n;;\r\n5" pipe;x\r\n\'=1+1;\'+49;\'quoted\n',
  ['Name', 'Note', 'Age'],
  [
    ['Ada "A" L', 'two\r\nlines', '36'],
    ['5" pipe', 'x', ''],
    ['=1+1', '+49', "'quoted"],
  ],
] as const

test('CSV is read the same in pieces of any size', async () => {
  const [content, columns, cells] = people
  for (const size of [1, 2, 3, 7, 64, 1e9]) {
    const table = await read(content, {}, size)
    assert.deepEqual(table.columns, columns)
    assert.deepEqual(cellsOf(table), cells)
    assert.deepEqual(
      table.rows.map(row => row.line),
      [2, 6, 7],
    )
  }
})

test('the delimiter is found out, said by the file, or given', async () => {
  for (const delimiter of [',', ';', '\t', '|']) {
    const lines = [
      ['a', 'b'],
      ['1', '2'],
      ['x y', '"q"'],
    ].map(cells => cells.join(delimiter))
    assert.equal((await read(lines.join('\n'))).delimiter, delimiter)
  }
  assert.equal((await read('price;name\n1,50;a\n2,75;b')).delimiter, ';')
  assert.deepEqual(await read('sep=|\na|b\n1|2').then(cellsOf), [['1', '2']])
  assert.deepEqual((await read('a,b;c', { delimiter: '^' })).columns, ['a,b;c'])
  assert.match(await refusal('a,b', { delimiter: ',,' }), /one character/)
})

test('line breaks of every system end a row, and count', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const table = await read(['a,b', '1,2', '"x', 'y",3', '4,5', ''].join(end), {}, 1)
    assert.deepEqual(
      table.rows.map(row => row.line),
      [2, 3, 5],
    )
  }
})

test('encodings are found out', async () => {
  const text = 'a,b\nü,€\n'
  const utf16 = Buffer.from(text, 'utf16le')
  const big = Buffer.from(utf16).swap16()
  const files: [string, Uint8Array][] = [
    ['utf-8', Buffer.from(text)],
    ['utf-8', Buffer.from(`\ufeff${text}`)],
    ['utf-16le', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])],
    ['utf-16be', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['windows-1252', Buffer.from([97, 44, 98, 10, 0xfc, 44, 0x80, 10])],
  ]
  for (const [encoding, bytes] of files) {
    for (const size of [1, 1e9]) {
      const table = await read(bytes, {}, size)
      assert.equal(table.encoding, encoding)
      assert.deepEqual(table.columns, ['a', 'b'])
      assert.deepEqual(cellsOf(table), [['ü', '€']])
    }
  }
  assert.equal((await read(Buffer.from('name,city\nx,y\n', 'utf16le'))).encoding, 'utf-16le')
  assert.match(await refusal('a', { encoding: 'klingon' }), /Choose utf-8/)
})

test('bytes of another encoding are told with their line', async () => {
  const bytes = Buffer.concat([Buffer.from(`a,b\n${'é,2\n'.repeat(30_000)}`), Buffer.from([0xe9, 10])])
  assert.match(await refusal(bytes), /^Line 30002: .*UTF-8.*windows-1252/)
  assert.equal((await read(bytes, { encoding: 'windows-1252' })).rows.length, 30_001)
})

test('names of columns are trimmed and told apart; empty ones get one', async () => {
  const { columns } = await read(' a ,a,,a\n1,2,3,4')
  assert.deepEqual(columns, ['a', 'a (2)', 'Column 3', 'a (3)'])
})

test('a broken row says line and column, and the next one is read', async () => {
  const table = await read('a,b\nok,1\nx,"y"z\nok,2\n1,2,3\n1,2,,\nn\0,1\n"open,1\nok,3\n')
  assert.deepEqual(
    table.rows.map(row => row.problem?.split(':')[0] ?? row.cells),
    [
      ['ok', '1'],
      'Line 3, column 6',
      ['ok', '2'],
      'Line 5',
      ['1', '2'],
      'Line 7',
      'Line 8, column 1',
      ['ok', '3'],
    ],
  )
})

test('a row that has lost a cell is refused, and one whose empty end was left out is not', async () => {
  const refusedLines = async (lines: readonly string[]) =>
    (await read(lines.join('\n'))).rows.filter(({ problem }) => problem).map(({ line }) => line)
  const names = 'a,b,c,d'
  assert.deepEqual(await refusedLines([names, '1,2,3,4', '1,2,', '1,2,3', '1', '1,2,3,']), [3])
  assert.match(
    (await read(`${names}\n1,2,`)).rows[0]!.problem!,
    /^Line 2: the row has 3 cells, but .* 4 columns/,
  )
  assert.deepEqual(await refusedLines(['a,b,c,,', '1,2,', '1,']), [3])
  // Excel omits the end of sixteen rows at a time, as far as it is empty in all of them.
  const [full, short] = [Array.from({ length: 15 }, () => '1,2,3,4'), Array.from({ length: 15 }, () => '1,,')]
  assert.deepEqual(await refusedLines([names, ...full, ...short, '1,2,3', '1,2,3,4', '1,2,']), [34])
  // Empty rows are among the sixteen, and a row of several lines is one.
  assert.deepEqual(await refusedLines([names, ...full.slice(1), '', ...short]), [])
  assert.deepEqual(await refusedLines([names, '"1\n",2,3,4', ...full.slice(1), ...short]), [])
  assert.deepEqual(await refusedLines([names, ...full.slice(2), '', '1,2,']), [16])
  // In our file of refused rows, each has all its cells.
  assert.deepEqual(await refusedLines(['a,b,line,problems', '1,7,No.', '1,2,7,No.']), [2])
})

test('a row with too many cells is kept whole', async () => {
  const names = 'Name,Role,Age'
  const file = [
    names,
    'Acme, Inc.,Boss,7',
    '"Acme", Inc.,"a ""b""",8',
    `x${',y'.repeat(1500)}`,
    'a,b,1,,',
  ].join('\n')
  const { rows } = await read(file)
  assert.deepEqual(
    rows.map(({ cells }) => cells.length),
    [4, 4, 1004, 3],
  )
  assert.deepEqual(rows[0]!.cells, ['Acme', ' Inc.', 'Boss', '7'])
  assert.deepEqual(rows[1]!.cells, ['Acme', ' Inc.', 'a "b"', '8'])
  assert.equal(rows[2]!.cells.join(), `x${',y'.repeat(1500)}`)
  assert.deepEqual(
    rows.map(({ problem }) => problem?.slice(8, 40)),
    [
      'the row has 4 cells, but there a',
      'the row has 4 cells, but there a',
      'the row has more than 1003 cells',
      undefined,
    ],
  )
})

test('rows and cells beyond the limits are rows with problems', async () => {
  const long = await read(`a,b\n${'x'.repeat(5e6)}\n"${'y'.repeat(5e6)}\n${'z'.repeat(1_000_001)},1\nok,1\n`)
  assert.deepEqual(
    long.rows.map(row => row.problem?.replace(/\.? .*limit.*/, '').slice(0, 30) ?? row.cells),
    [
      'Line 2, column 2000000: the ro',
      'Line 3, column 1: the quotatio',
      'Line 4: cell 1 has more than 1',
      ['ok', '1'],
    ],
  )
  assert.ok(long.rows.every(row => JSON.stringify(row.cells).length < 5000))
})

test('a file without rows, or with too many columns, is refused', async () => {
  assert.match(await refusal(''), /no rows/)
  assert.match(await refusal('\n\n'), /no rows/)
  assert.match(await refusal('a,'.repeat(1_000_000)), /^Line 1: .*1000/)
  assert.match(await refusal('"a,b\n1,2'), /^Line 1, column 1: /)
})

test('JSON lines: members become columns as they come up', async () => {
  const lines =
    '{"a":1,"b":12345678901234567890}\n[1]\nnope\n\n{"c":{"d":["x"]},"__proto__":1}\n{"a":"\\u0000"}'
  for (const size of [1, 1e9]) {
    const { columns, rows } = await read(lines, { format: 'jsonl' }, size)
    assert.deepEqual(columns, ['a', 'b', 'c', '__proto__'])
    assert.deepEqual(
      rows.map(row => row.problem?.split(':')[0] ?? JSON.stringify(row.cells)),
      ['[1,12345678901234567890]', 'Line 2', 'Line 3', '[null,null,{"d":["x"]},1]', 'Line 6'],
    )
  }
  const deep = await read(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n{"a":1}`, { format: 'jsonl' })
  assert.match(deep.rows[0]!.problem!, /levels deep|too deeply/)
  assert.deepEqual(deep.rows[1]!.cells, [1])
  // A number is no level, however many digits it has.
  for (const number of ['1', '12345678901234567']) {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${number}${']'.repeat(levels - 1)}}`
    const { rows } = await read(`${nested(20)}\n${nested(21)}`, { format: 'jsonl' })
    assert.deepEqual(
      rows.map(row => row.problem === undefined),
      [true, false],
      number,
    )
  }
})

test('a file that comes byte by byte is read in few pieces', async () => {
  const { chunks } = await textOf(inPieces(Buffer.from('{"a":1}\n'.repeat(50_000)), 1))
  const texts = await Array.fromAsync(chunks)
  assert.equal(texts.join('').length, 400_000)
  assert.ok(texts.length < 10, `${texts.length} pieces`)
})

test('titles above the names of the columns are passed over, and the line is said', async () => {
  const headers: [content: string, columns: string[], line: number][] = [
    ['Price list 2026\nname,code\nA,1', ['name', 'code'], 2],
    ['Deals\n\nMade by Jo\nname;code;price\nA;1;2', ['name', 'code', 'price'], 4],
    ['Deals,,\nname,code,price\nA,1,2', ['name', 'code', 'price'], 2],
    ['name\nA\nB', ['name'], 1],
    ['name\nA,b\nC,d', ['name'], 1],
    ['name,code\n,1', ['name', 'code'], 1],
  ]
  for (const [content, columns, line] of headers) {
    const bytes = async function* () {
      yield Buffer.from(content)
    }
    const table = await readTable(bytes(), { format: 'csv' })
    assert.deepEqual([table.columns(), table.source.header], [columns, line], content)
    await Array.fromAsync(table.rows)
  }
  const told = await read('Deals of Jo,x,y\nname,code,price\nA,1,2', { header: 2 })
  assert.deepEqual([told.columns, cellsOf(told)], [['name', 'code', 'price'], [['A', '1', '2']]])
  assert.match(await refusal('a,b\n1,2', { header: 9 }), /^Line 9: there are no names/)
})

test('a first row of values is no row of names', async () => {
  for (const row of ['Jo,Doe,jo@x.com', 'Jo,12.50', 'Jo,2026-03-01', 'Jo,123456'])
    assert.match(await refusal(`${row}\nA,B,C`), /^Line 1: ".*" is no name of a column.*header=0/)
  const none = await read('Jo,Doe,jo@x.com\nAnn,Lee,ann@x.com', { header: 0 })
  assert.deepEqual([none.columns, none.rows.length], [['Column 1', 'Column 2', 'Column 3'], 2])
  assert.deepEqual(none.rows[0]!.cells, ['Jo', 'Doe', 'jo@x.com'])
  assert.deepEqual((await read('name,2025,2026\nA,1,2')).columns, ['name', '2025', '2026'])
})

test('what stands below the rows is no row', async () => {
  const { rows } = await read('name,code\nA,1\nTotal: 1 record\n"Copyright (c) 2026"\nTotal SE,2\n\x1a')
  assert.deepEqual(
    rows.map(row => row.problem?.slice(0, 34) ?? row.cells),
    [
      ['A', '1'],
      'Line 3: the row is a sum or a note',
      'Line 4: the row is a sum or a note',
      ['Total SE', '2'],
    ],
  )
})

test('a sum that was refused is refused again in the file of refused rows', async () => {
  const { rows } = await read('name,code,line,problems\nTotal: 1 record,,3,Remove it.\nTotal SE,2,4,Why.')
  assert.deepEqual(
    rows.map(({ problem }) => problem === undefined),
    [false, true],
  )
})

test('a text is as it was typed: out of ="00123", and without what our exports put before it', async () => {
  const cells = ['"=""00123"""', "'=1+1", "'\uff1d1", "'quoted", '=1+1', '"=""a""""b"""'].join('\n')
  const table = await read(`name\n${cells}`)
  assert.deepEqual(cellsOf(table).flat(), ['00123', '=1+1', '\uff1d1', "'quoted", '=1+1', 'a"b'])
})

test('single wrong bytes are told with their line, and a file of another encoding is read', async () => {
  const mixed = Buffer.concat([Buffer.from('name\nMüller\nB'), Buffer.from([0xfc]), Buffer.from('rger\n')])
  assert.match(await refusal(mixed), /^Line 3: .*not UTF-8.*windows-1252/)
  assert.equal((await read(mixed, { encoding: 'windows-1252' })).rows.length, 2)
  const latin = Buffer.from('name\nMüller\nBürger\nGröße\n', 'latin1')
  assert.deepEqual(cellsOf(await read(latin)).flat(), ['Müller', 'Bürger', 'Größe'])
})

test('a line of JSON with a member twice or too many is refused, as a request is', async () => {
  const many = `{"a": [${Array(40_000).fill('1.0').join()}]}`
  const long = JSON.stringify({ a: 2, b: 'b, '.repeat(40_000) })
  const lines = `{"a":1,"a":2}\n{"a": 1, "b": {"c": 1, "c": 2}}\n{"a": 1, "b": "\\u00e9"}\n${many}\n${long}`
  const { rows } = await read(lines, { format: 'jsonl' })
  assert.deepEqual(
    rows.map(row => row.problem ?? row.cells),
    [
      'Line 1: it has the member "a" twice. Write each once.',
      'Line 2: it has the member "c" twice. Write each once.',
      [1, 'é'],
      'Line 4: it has more than 32768 members and items. Write fewer.',
      [2, 'b, '.repeat(40_000)],
    ],
  )
})
