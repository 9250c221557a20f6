/**
 * Records out of CSV text that comes in chunks (RFC 4180, any delimiter, any line break). It is written by
 * hand because csv-parse (npm) can't go on after a quotation mark that is never closed: it takes the rest of
 * the file for one cell, and what it skips has no cells that could be shown. This one gives such a record as
 * a row with a problem, and goes on with the next line. Each character is looked at a few times at most.
 */
import type { Row } from './read.ts'
import { cellMax, columnsMax, placeText, recordMax } from './read-limits.ts'

const [quote, lineFeed, carriageReturn] = [34, 10, 13]
/** How much of a record that can't be read is shown. */
const shownMax = 1000

/** Where a text stands next, looked for once. */
class Finder {
  readonly #what: string
  #from = Number.POSITIVE_INFINITY
  #at = -1

  constructor(what: string) {
    this.#what = what
  }

  /** The first place from `from` on; Infinity when there is none. */
  in(text: string, from: number): number {
    if (from >= this.#from && from <= this.#at) return this.#at
    const found = text.indexOf(this.#what, from)
    this.#from = from
    this.#at = found < 0 ? Number.POSITIVE_INFINITY : found
    return this.#at
  }

  forget(): void {
    this.#from = Number.POSITIVE_INFINITY
  }
}

export class CsvScanner {
  readonly #delimiter: string
  readonly #finders: { readonly [name in 'feed' | 'return' | 'quote' | 'nul' | 'delimiter']: Finder }
  #text = ''
  #at = 0
  #isLast = false
  /** how long the text must be until a record that was not whole is looked at again */
  #needed = 0
  #isSkipping = false
  /** the line of the next record */
  line: number
  /** how many cells a record may have that are not empty */
  width: number

  constructor(delimiter: string, width: number, line = 1) {
    this.#delimiter = delimiter
    this.width = width
    this.line = line
    this.#finders = {
      feed: new Finder('\n'),
      return: new Finder('\r'),
      quote: new Finder('"'),
      nul: new Finder('\0'),
      delimiter: new Finder(delimiter),
    }
  }

  /** More text. `isLast`: nothing comes after it. */
  push(text: string, isLast: boolean): void {
    this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    this.#isLast = isLast
    for (const finder of Object.values(this.#finders)) finder.forget()
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
    const row = this.#record()
    if (row) {
      this.#needed = 0
      return row
    }
    if (rest > recordMax) return this.#tooLong()
    this.#needed = 2 * rest
    return null
  }

  /** Leaves out the rest of a line. */
  #skip(): boolean {
    const end = this.#lineEnd(this.#at)
    if (end < 0) {
      // A carriage return at the end may be half of a line break.
      this.#at = Math.max(this.#at, this.#text.length - 1)
      return false
    }
    this.#isSkipping = false
    this.#goOn(end)
    return true
  }

  #record(): Row | null {
    const [text, at] = [this.#text, this.#at]
    const end = this.#lineEnd(at)
    const mark = this.#finders.quote.in(text, at)
    if (end < 0 && mark === Number.POSITIVE_INFINITY) return null
    if (end < 0 || mark < end) return this.#quoted()
    return this.#row(divided(text.slice(at, end), this.#delimiter, this.#most), end)
  }

  /** A record in which there is a quotation mark. */
  #quoted(): Row | null {
    const text = this.#text
    const cells: string[] = []
    let from = this.#at
    for (;;) {
      if (text.charCodeAt(from) === quote) {
        const end = this.#closing(from + 1)
        if (end < 0) return this.#isLast ? this.#broken(from, 'the quotation mark is never closed') : null
        cells.push(unquoted(text.slice(from + 1, end)))
        from = end + 1
        if (from === text.length) return this.#isLast ? this.#row(cells, from) : null
        const code = text.charCodeAt(from)
        if (code === lineFeed || code === carriageReturn)
          return this.#lineEnd(from) < 0 ? null : this.#row(cells, from)
        if (!text.startsWith(this.#delimiter, from))
          return this.#broken(from, 'something stands between a closing quotation mark and the delimiter')
      } else {
        const end = this.#lineEnd(from)
        const next = this.#finders.delimiter.in(text, from)
        if (next === Number.POSITIVE_INFINITY && end < 0) return null
        const isCell = end < 0 || next < end
        cells.push(text.slice(from, isCell ? next : end))
        if (!isCell) return this.#row(cells, end)
        from = next
      }
      from += this.#delimiter.length
    }
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
    const { feed, return: back } = this.#finders
    const end = Math.min(feed.in(text, from), back.in(text, from))
    if (end === Number.POSITIVE_INFINITY) return this.#isLast ? text.length : -1
    return end === text.length - 1 && text.charCodeAt(end) === carriageReturn && !this.#isLast ? -1 : end
  }

  /** Goes to the line after the one that ends at `end`. Counts the lines up to there. */
  #goOn(end: number): void {
    const text = this.#text
    const isTwo = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed
    this.#at = Math.min(text.length, end + (isTwo ? 2 : 1))
    this.line++
  }

  /** How many cells of a record are told apart: those that there may be, and as many as may be shown. */
  get #most(): number {
    return this.width + columnsMax
  }

  /** A record that ends at `end`. */
  #row(cells: string[], end: number): Row {
    const { line } = this
    const [text, begin] = [this.#text, this.#at]
    const hasNul = this.#finders.nul.in(text, begin) < end
    // Line breaks stand in cells with quotation marks only.
    if (this.#finders.quote.in(text, begin) < end) this.line += breaksIn(text.slice(begin, end))
    this.#goOn(end)
    const broken = (hasNul && nulProblem(line, cells)) || longCell(line, cells, this.#most, end - begin)
    if (broken) return { line, cells: cells.slice(0, this.width).map(shown), problem: broken }
    const excess = this.#excess(line, cells)
    // All of it is kept: without what is too much it would pass when it is sent again.
    if (excess) return { line, cells: this.#bounded(cells), problem: excess }
    if (cells.length > this.width) cells.length = this.width
    return { line, cells }
  }

  /** The cells that are told apart, and the others as one text. */
  #bounded(cells: readonly string[]): readonly string[] {
    const most = this.#most
    if (cells.length <= most) return cells
    const rest = cells.slice(most).join(this.#delimiter)
    return [...cells.slice(0, most), rest.length > cellMax ? shown(rest) : rest]
  }

  #excess(line: number, cells: readonly string[]): string | undefined {
    const isBlank = (cell: string) => cell.replaceAll(this.#delimiter, '').trim() === ''
    if (cells.slice(this.width).every(isBlank)) return undefined
    const count = cells.length > this.#most ? `more than ${this.#most}` : cells.length
    return (
      `${placeText({ line })}: the row has ${count} cells, but there are ${this.width} columns. ` +
      'Put text that has the delimiter in it between quotation marks.'
    )
  }

  /** A record that can't be read: the next line is the next one. */
  #broken(at: number, what: string): Row {
    const { line } = this
    const text = this.#text
    const before = text.slice(this.#at, at)
    const begin = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
    const place = { line: line + breaksIn(before), column: before.length - begin + 1 }
    const problem = `${placeText(place)}: ${what}. Write a quotation mark within quotation marks twice.`
    const from = this.#at
    this.#isSkipping = true
    const end = this.#lineEnd(from)
    this.#skip()
    return { line, cells: [shown(text.slice(from, end < 0 ? undefined : end))], problem }
  }

  #tooLong(): Row {
    const { line } = this
    const from = this.#at
    const mark = this.#quoteLeftOpen()
    if (mark !== null)
      return this.#broken(mark, `the quotation mark is not closed within ${recordMax} characters`)
    const problem =
      `${placeText({ line, column: recordMax })}: the row has more than ${recordMax} characters. ` +
      'Shorten its texts, or check the line breaks of the file.'
    this.#isSkipping = true
    const cells = [shown(this.#text.slice(from, from + shownMax + 1))]
    this.#skip()
    return { line, cells, problem }
  }

  /** Where the quotation mark is that opens the last cell of the text; null when that has none. */
  #quoteLeftOpen(): number | null {
    const text = this.#text
    for (let from = this.#at; ; ) {
      if (text.charCodeAt(from) === quote) {
        const end = this.#closing(from + 1)
        if (end < 0) return from
        from = end + 1
      }
      const next = this.#finders.delimiter.in(text, from)
      if (next === Number.POSITIVE_INFINITY) return null
      from = next + this.#delimiter.length
    }
  }
}

/** At most so many cells, and one more with the rest. */
function divided(text: string, delimiter: string, most: number): string[] {
  const cells = text.split(delimiter, most + 1)
  if (cells.length <= most) return cells
  const from = cells.slice(0, most).join(delimiter).length
  return [...cells.slice(0, most), text.slice(from + delimiter.length)]
}

function unquoted(text: string): string {
  return text.includes('"') ? text.replaceAll('""', '"') : text
}

function breaksIn(text: string): number {
  let count = 0
  for (let at = text.search(/[\r\n]/); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed || (code === carriageReturn && text.charCodeAt(at + 1) !== lineFeed)) count++
  }
  return count
}

function nulProblem(line: number, cells: readonly string[]): string {
  const index = cells.findIndex(cell => cell.includes('\0'))
  return `${placeText({ line })}: cell ${index + 1} has a NUL character. Remove it.`
}

/** `most`: how many cells are told apart. `length`: that of the row. */
function longCell(line: number, cells: readonly string[], most: number, length: number): string | undefined {
  const index = length > cellMax ? cells.slice(0, most).findIndex(cell => cell.length > cellMax) : -1
  if (index < 0) return undefined
  return `${placeText({ line })}: cell ${index + 1} has more than ${cellMax} characters. Shorten it.`
}

/** A cell of a row with a problem, as it is kept: databases take no NUL. */
function shown(cell: string): string {
  const text = cell.length > shownMax ? `${cell.slice(0, shownMax)}…` : cell
  // A copy: a piece of what was read would keep all of that in memory.
  return Buffer.from(text.replaceAll('\0', '\ufffd')).toString()
}
