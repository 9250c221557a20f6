/** Makes a row of a record of CSV, or a row with a problem that states the place and the remedy. */
import type { Row } from './read.ts'
import { cellMax, type Place, placeText, recordMax } from './read-limits.ts'

/** Shown characters of a cell that can't be used. */
const shownMax = 1000

export type RowContext = {
  readonly line: number
  /** maximum number of cells of a record that are not empty */
  readonly width: number
  /** maximum number of cells that are split */
  readonly most: number
  readonly delimiter: string
  readonly text: string
  readonly hasNul: boolean
}

/** The row of a record. Empty cells beyond the columns are dropped. */
export function rowOf(cells: string[], found: RowContext): Row {
  const { line, width, text, hasNul } = found
  const unusable = (hasNul && nulProblem(line, cells)) || (text.length > cellMax && longCell(cells, found))
  if (unusable) return { line, cells: cells.slice(0, width).map(shown), problem: unusable }
  const isBlank = (cell: string) => cell.replaceAll(found.delimiter, '').trim() === ''
  if (cells.length > width && !cells.slice(width).every(isBlank)) return excessRow(cells, found)
  if (cells.length > width) cells.length = width
  return { line, cells }
}

function nulProblem(line: number, cells: readonly string[]): string {
  const index = cells.findIndex(cell => cell.includes('\0'))
  return `${placeText({ line })}: cell ${index + 1} has a NUL character. Remove it.`
}

function longCell(cells: readonly string[], { line, most }: RowContext): string | false {
  const index = cells.slice(0, most).findIndex(cell => cell.length > cellMax)
  if (index < 0) return false
  return `${placeText({ line })}: cell ${index + 1} has more than ${cellMax} characters. Shorten it.`
}

/** Keeps all cells: without the excess, the row would pass when it is sent again. */
function excessRow(cells: readonly string[], { line, width, most, delimiter }: RowContext): Row {
  const count = cells.length > most ? `more than ${most}` : cells.length
  const rest = cells.slice(most).join(delimiter)
  const cut = rest.length > cellMax ? shown(rest) : rest
  return {
    line,
    cells: cells.length > most ? [...cells.slice(0, most), cut] : cells,
    problem:
      `${placeText({ line })}: the row has ${count} cells, but there are ${width} columns. ` +
      'Put text that has the delimiter in it between quotation marks.',
  }
}

/** The row of a record with a faulty quotation mark at `place`. Its first line is shown. */
export function brokenRow(text: string, line: number, place: Place, what: string): Row {
  const problem = `${placeText(place)}: ${what}. Write a quotation mark within quotation marks twice.`
  return { line, cells: [shown(text.slice(0, shownMax + 1).split(/[\r\n]/, 1)[0]!)], problem }
}

/** The row of a record that has no end. */
export function tooLongRow(text: string, line: number): Row {
  const problem =
    `${placeText({ line, column: recordMax })}: the row has more than ${recordMax} characters. ` +
    'Shorten its texts, or check the line breaks of the file.'
  return { line, cells: [shown(text.slice(0, shownMax + 1))], problem }
}

/** Splits a text into at most `most` cells, and one more with the rest. */
export function divided(text: string, delimiter: string, most: number): string[] {
  const cells = text.split(delimiter, most + 1)
  if (cells.length <= most) return cells
  const from = cells.slice(0, most).join(delimiter).length
  return [...cells.slice(0, most), text.slice(from + delimiter.length)]
}

/** Unescapes the text between quotation marks. */
export function unquoted(text: string): string {
  return text.includes('"') ? text.replaceAll('""', '"') : text
}

export function breaksIn(text: string): number {
  let count = 0
  for (let at = text.search(/[\r\n]/); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed || (code === carriageReturn && text.charCodeAt(at + 1) !== lineFeed)) count++
  }
  return count
}
const [lineFeed, carriageReturn] = [10, 13]

/** A cell of a row with a problem, as stored: databases take no NUL. */
function shown(cell: string): string {
  const text = cell.length > shownMax ? `${cell.slice(0, shownMax)}…` : cell
  // A copy: a slice would keep the whole text that was read in memory.
  return Buffer.from(text.replaceAll('\0', '\ufffd')).toString()
}
