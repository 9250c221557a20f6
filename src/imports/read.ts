/**
 * Reads a file of records as a table (D80): CSV, JSON lines or XLSX, in a stream, in a few megabytes for any
 * size. A row that can't be read is a row with a problem; a file that can't be read is refused, with the line
 * and what to do. Limits are in read-limits.ts. Knows no field.
 */
import type { Json } from '../json.ts'
import { type Batches, readCsv } from './read-csv.ts'
import { readJsonLines } from './read-json-lines.ts'
import { columnNameMax, rowsMax, unreadable } from './read-limits.ts'
import { textOf } from './read-text.ts'
import { Turns } from './read-turns.ts'
import { readXlsx } from './read-xlsx.ts'

/**
 * CSV and XLSX have texts, dates and whole numbers of XLSX as a person writes them: 12, 2026-03-01,
 * 2026-03-01T10:00:00; numbers of XLSX with a fraction are numbers. JSON lines have any JSON; null where an
 * object has no such member.
 */
export type Cell = Json

/** `line`: of the file, or the row's number in a sheet. `problem`: why the row can't be used. */
export type Row = { readonly line: number; readonly cells: readonly Cell[]; readonly problem?: string }

export type Source = {
  readonly format: 'csv' | 'jsonl' | 'xlsx'
  /** a label of the Encoding Standard; found out when it is left out */
  readonly encoding?: string
  readonly delimiter?: string
}

/** What was found out of a source. `sheet`: its name. */
export type Found = Source & { readonly sheet?: string }

export type Table = {
  /** Known from the beginning; JSON lines add to them up to the last row. */
  readonly columns: () => readonly string[]
  /** can be gone through once */
  readonly rows: AsyncIterable<Row>
  readonly source: Found
}

/** After how many rows the clock is looked at. */
const rowsPerLook = 100

/** Throws a Refusal (`malformed_request`, `body_too_large`), also while its rows are gone through. */
export async function readTable(bytes: AsyncIterable<Uint8Array>, source: Source): Promise<Table> {
  const { format } = source
  if (format === 'xlsx') {
    const { name: sheet, header, rows } = await readXlsx(bytes)
    const columns = columnNames(header)
    return {
      columns: () => columns,
      rows: inTurns(rows, row => widen(row, columns.length)),
      source: { format, sheet },
    }
  }
  const text = await textOf(bytes, source.encoding)
  const { encoding } = text
  if (format === 'jsonl') {
    const columns: string[] = []
    return {
      columns: () => columns,
      rows: inTurns(readJsonLines(text, columns), () => {}),
      source: { format, encoding },
    }
  }
  const { header, delimiter, rows } = await readCsv(text, source.delimiter)
  const columns = columnNames(header.map(restored))
  const finish = (row: Row) => {
    restore(row)
    widen(row, columns.length)
  }
  return { columns: () => columns, rows: inTurns(rows, finish), source: { format, encoding, delimiter } }
}

/** Names without blanks around them; one that comes again gets a number, and an empty one its place. */
function columnNames(header: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return header.map((cell, index) => {
    const name = cell.trim().slice(0, columnNameMax).toWellFormed() || `Column ${index + 1}`
    let own = name
    for (let count = 2; taken.has(own); count++) own = `${name} (${count})`
    taken.add(own)
    return own
  })
}

function restore({ cells, problem }: Row): void {
  if (problem !== undefined) return
  const texts = cells as Cell[]
  for (let index = 0; index < texts.length; index++) texts[index] = restored(texts[index] as string)
}

/** A row has a cell for each column. */
function widen({ cells, problem }: Row, width: number): void {
  if (problem === undefined) while (cells.length < width) (cells as Cell[]).push('')
}

/** A text without the apostrophe that our exports put before what looks like a formula (D81). */
export function restored(text: string): string {
  return text.charCodeAt(0) === apostrophe && /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text
}

const apostrophe = 39

/** All rows, as many as there may be; others get their turns between them. */
async function* inTurns(batches: Batches, finish: (row: Row) => void): AsyncGenerator<Row, void> {
  let count = 0
  const turns = new Turns()
  for await (const rows of batches) {
    for (const row of rows) {
      if (++count > rowsMax) throw tooManyRows(row.line)
      if (count % rowsPerLook === 0 && turns.isDue) await turns.next()
      finish(row)
      yield row
    }
  }
}

function tooManyRows(line: number): Error {
  const hint = 'Split it, and import the parts one after the other.'
  return unreadable({ line }, `the file has more than ${rowsMax} rows.`, hint, 'body_too_large')
}
