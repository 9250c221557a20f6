/**
 * Two hundred hostile files and more: each is refused with a sentence, or gives rows with line and problem,
 * and none takes much memory (D80). Generated from a seed, so that a failure can be repeated.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Refusal } from '../../src/errors.ts'
import { type Row, readTable, type Source } from '../../src/files/read.ts'
import { converter } from '../../src/work/imports/convert.ts'
import { guessColumns, targetsOf } from '../../src/work/imports/guess.ts'
import { catalog } from '../support/import-catalog.ts'
import { workbookFiles, zip } from '../support/workbook.ts'
import { repeated } from './hostile-files.ts'

const deal = catalog.resources.get('deal')!

/** Mulberry32 */
function generator(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const pieces = [
  ...['"', '""', '"""', ',', ';', '\t', '|', '\n', '\r', '\r\n', '\0', '\ufeff', '\ufffe', ' ', "'", '\\'],
  ...[
    '=1+1',
    '=cmd|" /C calc"!A0',
    '+1',
    '-1',
    '@SUM(A1)',
    "'=x",
    '\u2028',
    '\x1b',
    'é',
    '日本',
    '🙂',
    '\ud83d',
  ],
  ...[
    '{"a":1}',
    '[',
    '{',
    'null',
    '1e999',
    'NaN',
    '2026-02-30',
    '31/31/2026',
    '9'.repeat(400),
    'a@b@c',
    '<a@',
  ],
  ...[
    '__proto__',
    'constructor',
    'title',
    'sep=',
    'x'.repeat(3000),
    ',,,,,,,,',
    '\n\n\n\n',
    '(1',
    '%00',
    '١٢',
  ],
]

function hostile(seed: number): { bytes: Buffer; size: number } {
  const below = generator(seed)
  const begin = below(3) ? `title${[',', ';', '\t', '|'][below(4)]}deal_value.value,company,created_at\n` : ''
  let text = begin
  for (let count = below(400); count >= 0; count--) text += pieces[below(pieces.length)]
  const marks = ['', '\ufeff', '\ufeff\ufeff', 'sep=;\r\n', 'sep=\n']
  const marked = marks[below(marks.length)]! + text
  const encodings = ['utf8', 'utf16le', 'latin1'] as const
  const bytes = Buffer.from(marked, encodings[below(encodings.length)]!)
  // Some bytes are changed, and some files end too soon.
  for (let count = below(3) ? 0 : below(20); count > 0; count--) bytes[below(bytes.length)] = below(256)
  return {
    bytes: below(4) ? bytes : bytes.subarray(0, below(bytes.length)),
    size: below(2) ? 65_536 : 1 + below(50),
  }
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Reads and converts a file. An error must be a refusal that says what to do. */
async function tried(bytes: AsyncIterable<Uint8Array>, source: Source): Promise<Row[] | string> {
  const kept: Row[] = []
  try {
    const table = await readTable(bytes, source)
    let convert: ReturnType<typeof converter> | null = null
    for await (const row of table.rows) {
      if (kept.length < 1000) kept.push(row)
      if (row.problem !== undefined) {
        assert.match(row.problem, /^Line \d+(?:, column \d+)?: .*\.$/s)
        assert.ok(JSON.stringify(row.cells).length < 4_000_000)
        continue
      }
      if (source.format !== 'jsonl') assert.equal(row.cells.length, table.columns().length)
      assert.ok(!JSON.stringify(row.cells).includes('\\u0000'))
      convert ??= await converterFor(table.columns(), row)
      const { body, problems } = convert(row.cells)
      JSON.stringify(body)
      for (const { message } of problems) assert.match(message, /^Column ".*\.$/s)
    }
    return kept
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    assert.match(error.message, /\.$/)
    assert.ok(error.message.length < 1000)
    return error.message
  }
}

/** With the guessed targets, and then any target for any column. */
async function converterFor(columns: readonly string[], row: Row) {
  const { mapping: guessed } = await guessColumns(catalog, deal, columns, [row.cells])
  const others = targetsOf(catalog, deal).map(({ field }, index) => ({
    column: index % columns.length,
    field,
  }))
  return converter(catalog, deal, { mapping: [...guessed, ...others], values: {}, formats: {} }, columns)
}

test('two hundred generated files', async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { bytes, size } = hostile(seed)
    const format = seed % 10 === 0 ? 'jsonl' : 'csv'
    await tried(inPieces(bytes, size), { format }).catch(error => {
      throw new Error(`seed ${seed}: ${error.stack}`)
    })
  }
})

test('the same file gives the same rows in pieces of any size', async () => {
  for (let seed = 201; seed <= 240; seed++) {
    const { bytes } = hostile(seed)
    const whole = await tried(inPieces(bytes, 1e9), { format: 'csv' })
    for (const size of [1, 13]) assert.deepEqual(await tried(inPieces(bytes, size), { format: 'csv' }), whole)
  }
})

test('lines of fifty megabytes', async () => {
  const csv: Source = { format: 'csv' }
  const good = 'title,description\n'
  const files = [
    repeated(good, 'x'.repeat(100), 500_000, '\nok,1\n'),
    repeated(`${good}"`, 'x'.repeat(100), 500_000, '\nok,1\n'),
    repeated(`${good}a,"`, '""'.repeat(50), 500_000, '\nok,1\n'),
    repeated(good, ',"a"'.repeat(25), 500_000, '\nok,1\n'),
    repeated(good, ','.repeat(100), 500_000, '\nok,1\n'),
  ]
  for (const file of files) {
    const rows = await tried(file, csv)
    assert.ok(Array.isArray(rows))
    assert.equal(rows.length, 2)
    assert.match(rows[0]!.problem!, /^Line 2, column \d+: /)
    assert.deepEqual(rows[1]!.cells, ['ok', '1'])
  }
  const line = await tried(repeated('{"a":"', 'x'.repeat(100), 500_000, '"}\n{"a":1}'), { format: 'jsonl' })
  assert.deepEqual(
    (line as Row[]).map(row => row.problem?.slice(0, 7) ?? row.cells),
    ['Line 1:', [1]],
  )
  assert.match((await tried(repeated('', 'x'.repeat(100), 500_000), csv)) as string, /^Line 1/)
})

test('a million columns', async () => {
  assert.match(
    (await tried(repeated('', 'column,', 1_000_000), { format: 'csv' })) as string,
    /^Line 1.*1000/s,
  )
  const rows = await tried(repeated('a,b\n', '1,', 900_000, '\nok,1\n'), { format: 'csv' })
  assert.match((rows as Row[])[0]!.problem!, /has more than 1002 cells, but there are 2 columns/)
  assert.ok(JSON.stringify((rows as Row[])[0]!.cells).length < 10_000)
  const keys = repeated('{"a":1}\n{', '"a":1,', 100_000, '"b":1}\n{"a":1}')
  assert.equal(((await tried(keys, { format: 'jsonl' })) as Row[]).length, 3)
})

test('quotation marks that open on each of many lines are read once, not again and again', async () => {
  for (const line of ['a,"b\n', '"\n', 'a,""b\n', '"a""\n', '""""\n"\n']) {
    const table = await readTable(repeated('a,b\n', line, 200_000), { format: 'csv' })
    let last = 0
    for await (const row of table.rows) {
      if (row.line <= last) assert.fail(`line ${row.line} after ${last}`)
      last = row.line
    }
    assert.ok(last > 100_000)
  }
})

test('workbooks with bytes that are changed', async () => {
  const rows = '<row><c t="s"><v>0</v></c></row><row><c t="s"><v>99999</v></c><c r="ZZZZ9"><v>x</v></c></row>'
  const good = zip(workbookFiles({ rows, strings: '<si><t>title</t></si>' }))
  for (let seed = 1; seed <= 200; seed++) {
    const below = generator(seed)
    const bytes = Buffer.from(good)
    for (let count = 1 + below(10); count > 0; count--) bytes[below(bytes.length)] = below(256)
    const cut = below(5) ? bytes : bytes.subarray(0, below(bytes.length))
    await tried(inPieces(cut, 100), { format: 'xlsx' }).catch(error => {
      throw new Error(`seed ${seed}: ${error.stack}`)
    })
  }
})

test('workbooks that would fill the memory many times are refused before they do', async () => {
  const block = randomBytes(7500).toString('base64')
  const parts = {
    '_rels/.rels': ['<a>'.repeat(5e6), /nested more than 100 levels/],
    'xl/workbook.xml': [`<sheet name="${block.repeat(390)}"/>`.repeat(45), /too long, or too many/],
    'xl/styles.xml': [
      Array.from(
        { length: 3e4 },
        (_, id) => `<numFmt numFmtId="${id}" formatCode="${'0'.repeat(1e3)}"/>`,
      ).join(''),
      /too long, or too many/,
    ],
  } as const
  const reader = fileURLToPath(new URL('hostile-workbook.ts', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'dealwright-hostile-'))
  try {
    for (const [name, [xml, reason]] of Object.entries(parts)) {
      const file = join(folder, 'workbook.xlsx')
      const files = workbookFiles({ rows: '<row/>', styles: '' })
      await writeFile(file, zip({ ...files, [name]: `<all>${xml}</all>` }))
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--max-old-space-size=160',
        reader,
        file,
      ])
      assert.match(stdout, reason, name)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('reading holds less than 30 MB, whatever is in the files', async () => {
  const reader = fileURLToPath(new URL('hostile-files.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', reader])
  const { rows, megabytes } = JSON.parse(stdout)
  assert.ok(rows > 1_000_000)
  assert.ok(megabytes < 30, `${megabytes} MB`)
})
