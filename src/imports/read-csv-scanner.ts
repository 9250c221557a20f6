/**
 * Records out of CSV text that comes in chunks (RFC 4180, any delimiter, any line break). It is written by
 * hand because packages take the rest of the file for one cell after a quotation mark that is never closed.
 * This one gives such a record as a row with a problem, and goes on with the next line. Each character is
 * looked at a few times at most.
 */
import type { Row } from './read.ts'
import { breaksIn, brokenRow, divided, rowOf, tooLongRow, unquoted } from './read-csv-row.ts'
import { columnsMax, recordMax } from './read-limits.ts'

const [quote, lineFeed, carriageReturn] = [34, 10, 13]

/** Where a sign stands from a place on; Infinity: nowhere. It is looked for once, as there may be none. */
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

/** A record with its cells, and where it ends: at a line break, or at the end of all. */
type Whole = { readonly cells: string[]; readonly end: number }
/** What is wrong with a quotation mark, and where. One that is open may be closed in what comes yet. */
type Faulty = { readonly at: number; readonly what: string; readonly isOpen?: boolean }

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
  /** how long the text must be until a record that was not whole is looked at again */
  #needed = 0
  /** whether the rest of the line is left out */
  #isSkipping = false
  /** the line of the next record */
  line: number
  /** how many cells a record may have that are not empty */
  width: number

  constructor(delimiter: string, width: number, line = 1) {
    this.#delimiter = delimiter
    this.width = width
    this.line = line
  }

  /** More text. `isLast`: nothing comes after it. */
  push(text: string, isLast: boolean): void {
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    this.#isLast = isLast
    this.#hasNul ||= text.includes('\0')
    this.#feed = finder(this.#text, '\n')
    this.#return = finder(this.#text, '\r')
    this.#mark = finder(this.#text, '"')
    this.#limit = finder(this.#text, this.#delimiter)
  }

  /** How many line breaks there are in the text that has not been read. */
  get breaksAhead(): number {
    return breaksIn(this.#text.slice(this.#at))
  }

  /** The next record; null until there is more text, or when there is no more. */
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

  /** Null: it isn't known where the record ends, and it has no quotation mark that is open. */
  #found(): Whole | Faulty | null {
    const [text, at] = [this.#text, this.#at]
    const end = this.#lineEnd(at)
    const mark = this.#mark(at)
    if (mark < (end < 0 ? text.length : end)) return this.#quoted()
    return end < 0 ? null : { cells: divided(text.slice(at, end), this.#delimiter, this.#most), end }
  }

  /** A record in which there is a quotation mark. */
  #quoted(): Whole | Faulty | null {
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
      const closed = this.#closing(from + 1)
      if (closed < 0) return { at: from, what: `the quotation mark is ${this.#howOpen}`, isOpen: true }
      cells.push(unquoted(text.slice(from + 1, closed)))
      from = closed + 1
      if (text.startsWith(this.#delimiter, from)) continue
      const code = text.charCodeAt(from)
      if (from < text.length && code !== lineFeed && code !== carriageReturn)
        return { at: from, what: 'something stands between a closing quotation mark and the delimiter' }
      const end = this.#lineEnd(from)
      return end < 0 ? null : { cells, end }
    }
  }

  get #howOpen(): string {
    return this.#isLast ? 'never closed' : `not closed within ${recordMax} characters`
  }

  /** The quotation mark that closes a cell; -1 when it is not in the text. */
  #closing(from: number): number {
    const text = this.#text
    for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
      if (at + 1 === text.length) return this.#isLast ? at : -1
      if (text.charCodeAt(at + 1) !== quote) return at
    }
    return -1
  }

  /** The next line break from `from` on; at the end of all, the end; -1 when that is not known yet. */
  #lineEnd(from: number): number {
    const text = this.#text
    const end = Math.min(this.#feed(from), this.#return(from), text.length)
    // A carriage return at the end may be half of a line break.
    const isKnown = end < text.length - 1 || text.charCodeAt(end) === lineFeed || this.#isLast
    return isKnown ? end : -1
  }

  /** Goes to the line after the one that ends at `end`. */
  #goOn(end: number): void {
    const text = this.#text
    const isTwo = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed
    this.#at = Math.min(text.length, end + (isTwo ? 2 : 1))
    this.line++
  }

  /** Leaves out the rest of a line. */
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

  /** How many cells of a record are told apart: those that there may be, and as many as may be shown. */
  get #most(): number {
    return this.width + columnsMax
  }

  #row({ cells, end }: Whole): Row {
    const { line, width } = this
    const text = this.#text.slice(this.#at, end)
    // Line breaks stand in cells with quotation marks only.
    if (this.#mark(this.#at) < end) this.line += breaksIn(text)
    this.#goOn(end)
    const hasNul = this.#hasNul && text.includes('\0')
    return rowOf(cells, { line, width, most: this.#most, delimiter: this.#delimiter, text, hasNul })
  }

  /** A record that can't be read. The next line is the next one. */
  #refused(faulty: Faulty | null): Row {
    this.#isSkipping = true
    const text = this.#text.slice(this.#at)
    if (faulty === null) return tooLongRow(text, this.line)
    return brokenRow(text, faulty.at - this.#at, this.line, faulty.what)
  }
}
