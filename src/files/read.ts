/**
 * Reads a file of records as a table (D80): CSV, JSON lines or XLSX, as a stream, in a few megabytes for any
 * size. A row that can't be read has a problem; a file that can't be read is refused, with the line and the
 * remedy. Limits are in read-limits.ts. Knows no field.
 */
import type { Json } from '../json.ts'
import type { Share } from '../waiting/quota.ts'
import { TimeSlice } from '../waiting/yielding.ts'
import { type Batches, readCsv } from './read-csv.ts'
import { LostCells } from './read-csv-lost-cells.ts'
import { isFooter } from './read-header.ts'
import { readJsonLines } from './read-json-lines.ts'
import { columnNameMax, placeText, rowsMax, unreadable } from './read-limits.ts'
import { gathered, textOf } from './read-text.ts'
import { readXlsx } from './read-xlsx.ts'
import { restored } from './write-csv.ts'

/**
 * Cells of CSV, and dates and whole numbers of XLSX, are texts as a person writes them: 12, 2026-03-01,
 * 2026-03-01T10:00:00. Numbers of XLSX with a fraction are numbers; one whose format shows a unit includes
 * it: {"number":1234.5,"unit":"€"}. JSON lines have any JSON; null if an object lacks the member.
 */
export type Cell = Json

/** `line`: of the file, or the row's number in a sheet. `problem`: the reason why the row can't be used. */
export type Row = { readonly line: number; readonly cells: readonly Cell[]; readonly problem?: string }

export type Source = {
  readonly format: 'csv' | 'jsonl' | 'xlsx'
  /** a label of the Encoding Standard; default: `charset`, then detected */
  readonly encoding?: string
  /** the encoding that the media type says, whatever the format is */
  readonly charset?: string
  readonly delimiter?: string
  /** the name of a sheet of a workbook; default: the first visible one */
  readonly sheet?: string
  /** the line of the columns' names, 0: none; default: detected */
  readonly header?: number
}

export type Table = {
  /** Known from the start; JSON lines add columns up to the last row. */
  readonly columns: () => readonly string[]
  /** can be iterated once */
  readonly rows: AsyncIterable<Row>
  /** with the detected values */
  readonly source: Source
}

/** Number of rows between looks at the clock. */
const rowsPerLook = 100

/** How a file of each format can be said to be written. */
const optionsOf = {
  csv: ['encoding', 'delimiter', 'header'],
  jsonl: ['encoding'],
  xlsx: ['sheet', 'header'],
} as const

/**
 * Throws a Refusal (`malformed_request`, `body_too_large`), also while its rows are iterated. `share`: the
 * room on disk, which a workbook takes until its rows are read; null: as much as there is.
 */
export async function readTable(
  bytes: AsyncIterable<Uint8Array>,
  given: Source,
  share: Share | null = null,
): Promise<Table> {
  const { format, content } = await formatOf(bytes, given.format)
  const source = { ...given, format }
  refuseForeign(source)
  if (format === 'xlsx') return workbookTable(content, source, share)
  const text = await textOf(content, source.encoding ?? source.charset)
  const { encoding } = text
  if (format === 'jsonl') {
    const columns: string[] = []
    return {
      columns: () => columns,
      rows: allRows(readJsonLines(text, columns), row => row),
      source: { format, encoding },
    }
  }
  const { header, line, delimiter, rows } = await readCsv(text, source.delimiter, source.header)
  const columns = columnNames(header.map(plainText))
  const lost = new LostCells(header, line)
  const finish = (row: Row) => {
    const checked = lost.judged(row)
    restore(checked)
    if (checked === row) widen(checked, columns.length)
    return withoutFooter(checked, columns)
  }
  return {
    columns: () => columns,
    rows: allRows(rows, finish),
    source: { format, encoding, delimiter, header: line },
  }
}

/** Refuses options that files of the detected format don't have: nothing is ignored in silence (D80). */
function refuseForeign(source: Source): void {
  const { format } = source
  const own: readonly string[] = optionsOf[format]
  const foreign = [...new Set(Object.values(optionsOf).flat())].filter(
    name => source[name] !== undefined && !own.includes(name),
  )
  if (foreign.length === 0) return
  const what = `A file of ${format.toUpperCase()} has no ${foreign.join(' and no ')}.`
  throw unreadable(null, what, `Leave ${foreign.join(' and ')} out, or send a file that has it.`)
}

async function workbookTable(
  bytes: AsyncIterable<Uint8Array>,
  source: Source,
  share: Share | null,
): Promise<Table> {
  const { name: sheet, header, line, rows } = await readXlsx(bytes, source, share)
  const columns = columnNames(header)
  const finish = (row: Row) => {
    widen(row, columns.length)
    return withoutFooter(row, columns)
  }
  return {
    columns: () => columns,
    rows: allRows(rows, finish),
    source: { format: 'xlsx', sheet, header: line },
  }
}

/** Detects the format of the bytes: a file named XLSX may be CSV, and the reverse. */
async function formatOf(
  bytes: AsyncIterable<Uint8Array>,
  format: Source['format'],
): Promise<{ readonly format: Source['format']; readonly content: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]()
  const head = (await gathered(source, beginBytes)) ?? new Uint8Array()
  const begin = Buffer.from(head.subarray(0, beginBytes))
  const isArchive = begin.toString('latin1', 0, 4) === 'PK\x03\x04'
  const isText = begin.length > 0 && !isArchive && isPlain(begin)
  const found = isArchive ? 'xlsx' : format === 'xlsx' && isText ? 'csv' : format
  return { format: found, content: rejoined(head, source) }
}

const beginBytes = 512

/** True if bytes are text, but not HTML: no NUL except in UTF-16. */
function isPlain(begin: Buffer): boolean {
  const isWide = (begin[0] === 0xff && begin[1] === 0xfe) || (begin[0] === 0xfe && begin[1] === 0xff)
  const isOld = begin.length >= 4 && begin.readUInt32BE() === 0xd0cf11e0
  return isWide || !(isOld || begin.includes(0) || /^\s*</.test(begin.toString('latin1')))
}

async function* rejoined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head
    yield* { [Symbol.asyncIterator]: () => rest }
  } finally {
    // It does nothing if the rest has ended.
    await rest.return?.()
  }
}

/** Trims names; a duplicate gets a number, and an empty name becomes its position. */
function columnNames(header: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  /** number of times a name was used: the numbers below are taken */
  const counts = new Map<string, number>()
  return header.map((cell, index) => {
    const name = cell.trim().slice(0, columnNameMax).toWellFormed() || `Column ${index + 1}`
    let own = name
    let count = counts.get(name) ?? 1
    while (taken.has(own)) own = `${name} (${++count})`
    counts.set(name, count)
    taken.add(own)
    return own
  })
}

function restore({ cells, problem }: Row): void {
  if (problem !== undefined) return
  const texts = cells as Cell[]
  for (let index = 0; index < texts.length; index++) texts[index] = plainText(texts[index] as string)
}

/** Pads a row to the number of columns. A row that could not be split into cells has a single one. */
function widen({ cells, problem }: Row, width: number): void {
  if (problem === undefined || cells.length > 1) while (cells.length < width) (cells as Cell[]).push('')
}

/** Refuses a footer row of a report, such as a total: it is no record. */
function withoutFooter(row: Row, columns: readonly string[]): Row {
  if (row.problem !== undefined || columns.length < 2 || !isFooter(row, columns)) return row
  const problem = `${placeText(row)}: the row is a sum or a note of a report, and no record. Remove it.`
  return { ...row, problem }
}

/**
 * The plain text of a cell: without the apostrophes by which our exports defuse formulas (D81), and without
 * the formula ="00123" by which other systems keep leading zeros.
 */
function plainText(text: string): string {
  if (text.charCodeAt(0) !== equals) return restored(text)
  return /^="((?:[^"]|"")*)"$/.exec(text)?.[1]?.replaceAll('""', '"') ?? text
}

const equals = 61

/** All rows, up to the limit. Yields to the event loop between them. */
async function* allRows(batches: Batches, finish: (row: Row) => Row): AsyncGenerator<Row, void> {
  let count = 0
  const slice = new TimeSlice()
  for await (const rows of batches) {
    for (const row of rows) {
      if (++count > rowsMax) throw tooManyRows(row.line)
      if (count % rowsPerLook === 0 && slice.isOver) await slice.yield()
      yield finish(row)
    }
  }
}

function tooManyRows(line: number): Error {
  const hint = 'Split it, and import the parts one after the other.'
  return unreadable({ line }, `the file has more than ${rowsMax} rows.`, hint, 'body_too_large')
}
