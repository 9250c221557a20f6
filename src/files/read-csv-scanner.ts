/**
 * Scans records in CSV text that arrives in chunks (RFC 4180, any delimiter, any line break). It is written
 * by hand because packages take the rest of the file for one cell after an unclosed quotation mark. This one
 * returns such a record as a row with a problem, and continues with the next line. Linear time: it visits
 * each character a few times at most, also where each line begins a record that can't be read.
 */
import type { Row } from './read.ts'
import { breaksIn, brokenRow, divided, rowOf, tooLongRow, unquoted } from './read-csv-row.ts'
import { columnsMax, type Place, recordMax } from './read-limits.ts'

const [quote, lineFeed, carriageReturn] = [34, 10, 13]

/** Position of a sign from a place on; Infinity: none. Searched once, as there may be none. */
function finder(text: string, sign: string): (from: number) => number {
  let [begin, at] = [0, -1]
  return from => {
    if (from >= begin && from <= at) return at
    const found = text.indexOf(sign, from)
    begin = from
    at = found < 0 ? Number.POSITIVE_INFINITY : found
    return at
  }
}

/** A record with its cells and its end: a line break, or the end of the text. */
type CompleteRecord = { readonly cells: string[]; readonly end: number }
/** A faulty quotation mark and its place in the file. An open one may be closed in the next chunk. */
type QuoteFault = { readonly place: Place; readonly what: string; readonly isOpen?: boolean }

export class CsvScanner {
  readonly #delimiter: string
  #text = ''
  #feed = finder('', '\n')
  #return = finder('', '\r')
  #mark = finder('', '"')
  #limit = finder('', '')
  #at = 0
  #isLast = false
  #hasNul = false
  /** length of text from which an incomplete record is scanned again */
  #needed = 0
  /**
   * Position of a quotation mark that opens a cell → the reason why no record with this cell can be read;
   * null: it has no end yet.
   */
  #unreadable = new Map<number, QuoteFault | null>()
  /** true while the rest of the line is skipped */
  #isSkipping = false
  /** the line of the next record */
  line: number
  /** maximum number of cells of a record that are not empty */
  width: number

  constructor(delimiter: string, width: number, line: number) {
    this.#delimiter = delimiter
    this.width = width
    this.line = line
  }

  /** Adds text. `isLast`: it is the last chunk. */
  push(text: string, isLast: boolean): void {
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    this.#isLast = isLast
    this.#hasNul ||= text.includes('\0')
    this.#unreadable.clear()
    this.#feed = finder(this.#text, '\n')
    this.#return = finder(this.#text, '\r')
    this.#mark = finder(this.#text, '"')
    this.#limit = finder(this.#text, this.#delimiter)
  }

  /** Number of line breaks in the text that has not been read. */
  get breaksAhead(): number {
    return breaksIn(this.#text.slice(this.#at))
  }

  /** The next record; null until there is more text, or at the end. */
  next(): Row | null {
    if (this.#isSkipping && !this.#skip()) return null
    const rest = this.#text.length - this.#at
    if (rest === 0 || (rest < this.#needed && !this.#isLast)) return null
    const found = this.#found()
    const isWaiting = found === null || ('isOpen' in found && found.isOpen)
    if (isWaiting && !this.#isLast && rest <= recordMax) {
      this.#needed = 2 * rest
      return null
    }
    this.#needed = 0
    return found && 'cells' in found ? this.#row(found) : this.#refused(found)
  }

  /** Null: the end of the record isn't known yet, and it has no open quotation mark. */
  #found(): CompleteRecord | QuoteFault | null {
    const [text, at] = [this.#text, this.#at]
    const end = this.#lineEnd(at)
    const mark = this.#mark(at)
    if (mark < (end < 0 ? text.length : end)) return this.#quoted()
    return end < 0 ? null : { cells: divided(text.slice(at, end), this.#delimiter, this.#most), end }
  }

  /** A record with a quotation mark in it. */
  #quoted(): CompleteRecord | QuoteFault | null {
    const opened: number[] = []
    const found = this.#read(opened)
    if (found === null || 'what' in found) for (const at of opened) this.#unreadable.set(at, found)
    return found
  }

  /** Adds the quotation marks that open cells to `opened`. */
  #read(opened: number[]): CompleteRecord | QuoteFault | null {
    const text = this.#text
    const cells: string[] = []
    for (let from = this.#at; ; from += this.#delimiter.length) {
      if (text.charCodeAt(from) !== quote) {
        const [next, end] = [this.#limit(from), this.#lineEnd(from)]
        const isLastCell = end >= 0 && end <= next
        if (next > text.length && !isLastCell) return null
        cells.push(text.slice(from, isLastCell ? end : next))
        if (isLastCell) return { cells, end }
        from = next
        continue
      }
      const known = this.#unreadable.get(from)
      if (known !== undefined) return known
      opened.push(from)
      const closed = this.#closing(from + 1)
      if (closed < 0)
        return { place: this.#place(from), what: `the quotation mark is ${this.#howOpen}`, isOpen: true }
      cells.push(unquoted(text.slice(from + 1, closed)))
      from = closed + 1
      if (text.startsWith(this.#delimiter, from)) continue
      const code = text.charCodeAt(from)
      if (from < text.length && code !== lineFeed && code !== carriageReturn)
        return {
          place: this.#place(from),
          what: 'something stands between a closing quotation mark and the delimiter',
        }
      const end = this.#lineEnd(from)
      return end < 0 ? null : { cells, end }
    }
  }

  /** The place of a position in the record that is being read. */
  #place(at: number): Required<Place> {
    const before = this.#text.slice(this.#at, at)
    const begin = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
    return { line: this.line + breaksIn(before), column: before.length - begin + 1 }
  }

  get #howOpen(): string {
    return this.#isLast ? 'never closed' : `not closed within ${recordMax} characters`
  }

  /** The quotation mark that closes a cell; -1 if the text doesn't have it. */
  #closing(from: number): number {
    const text = this.#text
    for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
      if (at + 1 === text.length) return this.#isLast ? at : -1
      if (text.charCodeAt(at + 1) !== quote) return at
    }
    return -1
  }

  /** The next line break from `from` on; the end after the last chunk; -1 if it isn't known yet. */
  #lineEnd(from: number): number {
    const text = this.#text
    const end = Math.min(this.#feed(from), this.#return(from), text.length)
    // A carriage return at the end may be half of a line break.
    const isKnown = end < text.length - 1 || text.charCodeAt(end) === lineFeed || this.#isLast
    return isKnown ? end : -1
  }

  /** Moves to the line after the one that ends at `end`. */
  #goOn(end: number): void {
    const text = this.#text
    const isTwo = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed
    this.#at = Math.min(text.length, end + (isTwo ? 2 : 1))
    this.line++
  }

  /** Skips the rest of a line. */
  #skip(): boolean {
    const end = this.#lineEnd(this.#at)
    if (end < 0) {
      this.#at = Math.max(this.#at, this.#text.length - 1)
      return false
    }
    this.#isSkipping = false
    this.#goOn(end)
    return true
  }

  /** Maximum number of cells split in a record: all columns, and as many as a problem may show. */
  get #most(): number {
    return this.width + columnsMax
  }

  #row({ cells, end }: CompleteRecord): Row {
    const { line, width } = this
    const text = this.#text.slice(this.#at, end)
    // Only quoted cells contain line breaks.
    if (this.#mark(this.#at) < end) this.line += breaksIn(text)
    this.#goOn(end)
    const hasNul = this.#hasNul && text.includes('\0')
    return rowOf(cells, { line, width, most: this.#most, delimiter: this.#delimiter, text, hasNul })
  }

  /** The row of a record that can't be read. The next line is the next record. */
  #refused(faulty: QuoteFault | null): Row {
    this.#isSkipping = true
    const text = this.#text.slice(this.#at)
    if (faulty === null) return tooLongRow(text, this.line)
    return brokenRow(text, this.line, faulty.place, faulty.what)
  }
}
