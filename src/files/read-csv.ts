/**
 * CSV as people write it: the delimiter is requested, stated in the first line by Excel (`sep=;`), or
 * detected. Returns the header, then the rows.
 */
import type { Row } from './read.ts'
import { CsvScanner } from './read-csv-scanner.ts'
import { headRows, rowsAbove, unnamed } from './read-header.ts'
import { columnsMax, unreadable, unreadableRow } from './read-limits.ts'
import { InvalidText, type Text } from './read-text.ts'

export type Csv = {
  readonly delimiter: string
  readonly header: readonly string[]
  /** the line of the names; 0: none */
  readonly line: number
  readonly rows: Batches
}
/** Rows in batches: a promise for each row would cost more than reading it. */
export type Batches = AsyncGenerator<Row[], void>

const delimiters = [',', ';', '\t', '|']
/** Characters and records that are read to detect the delimiter. */
const headLength = 65_536
const headRecords = 50
/** Rows of a batch: others are answered between batches. */
const batchMax = 1000

/** Throws a Refusal if there is no header. `delimiter`: a character; `told`: the line of the names. */
export async function readCsv({ chunks }: Text, delimiter?: string, told?: number): Promise<Csv> {
  if (delimiter !== undefined && !/^[^"\r\n\0]$/u.test(delimiter))
    throw unreadable(null, 'The delimiter must be one character.', 'Give , or ; or | or a tab.')
  const source = new Source(chunks)
  try {
    let head = ''
    while (head.length < headLength && !source.isEnded) head += await source.next()
    const said = /^sep=(.)(?:\r\n|\r|\n)/iu.exec(head)
    const text = said ? head.slice(said[0].length) : head
    const found = delimiter ?? said?.[1] ?? delimiterOf(text, source.isEnded)
    const begin = said ? 2 : 1
    const first = headOf(text, source.isEnded, found, begin, headRows)
    const above = rowsAbove(first, told)
    const scanner = new CsvScanner(found, columnsMax, begin)
    scanner.push(text, source.isWhole)
    for (let row = 0; row < above; row++) await firstRow(scanner, source)
    const row = above < 0 ? null : await firstRow(scanner, source)
    const header = above < 0 && first.length ? unnamed(first) : headerOf(row)
    scanner.width = header.length
    return { delimiter: found, header, line: row?.line ?? 0, rows: records(scanner, source) }
  } catch (error) {
    await source.end()
    throw error
  }
}

/** The text of a file, up to its end or to its first invalid bytes. */
class Source {
  readonly #chunks: AsyncGenerator<string>
  #failure: InvalidText | null = null
  isWhole = false

  constructor(chunks: AsyncGenerator<string>) {
    this.#chunks = chunks
  }

  get isEnded(): boolean {
    return this.isWhole || this.#failure !== null
  }

  async next(): Promise<string> {
    try {
      const { done, value } = await this.#chunks.next()
      this.isWhole = done === true
      return value ?? ''
    } catch (error) {
      if (!(error instanceof InvalidText)) throw error
      this.#failure = error
      return ''
    }
  }

  /** Feeds the scanner. Throws a Refusal if the text is not in its encoding. */
  async feed(scanner: CsvScanner): Promise<void> {
    const text = this.isEnded ? '' : await this.next()
    if (this.#failure) throw encodingRefusal(this.#failure, scanner.line + scanner.breaksAhead)
    scanner.push(text, this.isWhole)
  }

  async end(): Promise<void> {
    await this.#chunks.return(undefined)
  }
}

async function firstRow(scanner: CsvScanner, source: Source): Promise<Row | null> {
  for (;;) {
    for (let row = scanner.next(); row; row = scanner.next()) if (!isEmpty(row)) return row
    if (source.isWhole) return null
    await source.feed(scanner)
  }
}

async function* records(scanner: CsvScanner, source: Source): Batches {
  try {
    for (;;) {
      for (let rows = rowsOf(scanner, batchMax); rows.length; rows = rowsOf(scanner, batchMax)) yield rows
      if (source.isWhole) return
      await source.feed(scanner)
    }
  } finally {
    await source.end()
  }
}

/** The refusal of a file with bytes that its encoding doesn't have. */
export function encodingRefusal({ encoding }: InvalidText, line: number): Error {
  const other = encoding === 'utf-8' ? 'such as windows-1252' : 'if it is another'
  const hint = `Correct them there, say the encoding of the file, ${other}, or save it as UTF-8.`
  return unreadable({ line }, `there are bytes that are not ${encoding.toUpperCase()}.`, hint)
}

function isEmpty({ cells, problem }: Row): boolean {
  // DOS ends a file with this character.
  return problem === undefined && cells.every(cell => cell === '' || cell === '\x1a')
}

/** The rows that a scanner has by now, but empty ones; `most`: no more of them. */
function rowsOf(scanner: CsvScanner, most: number): Row[] {
  const rows: Row[] = []
  while (rows.length < most) {
    const row = scanner.next()
    if (!row) break
    if (!isEmpty(row)) rows.push(row)
  }
  return rows
}

/** The first rows, split without knowing the number of columns. */
function headOf(text: string, isWhole: boolean, delimiter: string, line: number, most: number): Row[] {
  const scanner = new CsvScanner(delimiter, columnsMax, line)
  scanner.push(text, isWhole)
  return rowsOf(scanner, most)
}

function headerOf(row: Row | null): readonly string[] {
  if (!row)
    throw unreadable(null, 'The file has no rows.', 'Its first row must have the names of the columns.')
  if (row.problem !== undefined) {
    const hint = `The first row must name the columns; there may be ${columnsMax}.`
    throw unreadableRow(row.line, row.problem, hint)
  }
  return row.cells as string[]
}

/**
 * The delimiter with which most records have as many cells as the first one, and the most of them. A record
 * of one cell may be a title.
 */
function delimiterOf(text: string, isWhole: boolean): string {
  let [best, most] = [',', 0]
  for (const delimiter of delimiters) {
    const rows = headOf(text, isWhole, delimiter, 1, headRecords)
    const counts = rows.map(({ problem, cells }) => (problem === undefined ? cells.length : 0))
    const width = counts.find(count => count > 1) ?? 0
    const alike = counts.filter(count => count === width).length / (counts.length || 1)
    const score = width > 1 ? alike + width / (columnsMax * 10) : 0
    if (score > most) [best, most] = [delimiter, score]
  }
  return best
}
