/**
 * Finds the header row of a file: the first row, the first below a title, or the requested one. Knows no
 * format.
 */
import type { Row } from './read.ts'
import { unreadable } from './read-limits.ts'
import { dayOf, numberOf } from './texts.ts'

/** Number of rows that are searched. */
export const headRows = 20

/**
 * The number of rows above the names; -1: there are no names. `requested`: the line of the names, 0: none.
 * Throws a Refusal if the first row has values instead of names.
 */
export function rowsAbove(rows: readonly Row[], requested: number | undefined): number {
  if (requested === 0) return -1
  if (requested !== undefined) {
    const place = rows.findIndex(({ line }) => line === requested)
    if (place >= 0) return place
    const what = 'there are no names of columns.'
    throw unreadable(
      { line: requested },
      what,
      `Name a line with text, one of the first ${headRows}, as header.`,
    )
  }
  const place = belowTitles(rows)
  const value = rows[place] && textsOf(rows[place]).find(isValue)
  if (value === undefined) return place
  const what = `${JSON.stringify(value.slice(0, 100))} is no name of a column.`
  const hint =
    'Put a row with the names of the columns before the others, or say with header=0 that there is none.'
  throw unreadable({ line: rows[place]!.line }, what, hint)
}

/** Names of columns for a file without a header. */
export function unnamed(rows: readonly Row[]): string[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: width }, (_, index) => `Column ${index + 1}`)
}

/** A title is alone in its row, and has several words or an empty line below it; more may follow. */
function belowTitles(rows: readonly Row[]): number {
  const place = rows.findIndex(row => row.problem !== undefined || textsOf(row).length > 1)
  if (place <= 0 || rows[place]!.problem !== undefined) return 0
  const [names, first] = [textsOf(rows[place]!), rows[0]!]
  const isApart = rows[place]!.line - first.line > place || /\s/.test(textsOf(first)[0]!.trim())
  const areNames = new Set(names).size === names.length && !names.some(isValue)
  return areNames && (isApart || names.length > 2) ? place : 0
}

/** The texts of a row that are not empty. */
function textsOf({ cells }: Row): string[] {
  return cells
    .map(cell => (typeof cell === 'string' ? cell : JSON.stringify(cell)))
    .filter(text => text.trim() !== '')
}

/** True if a text is an address, a date or an amount, so it is no column name. */
function isValue(text: string): boolean {
  if (text.length > 100) return false
  if (/^[^\s@<>]+@[^\s@<>]+\.[a-z]{2,}$/i.test(text.trim())) return true
  const isNumber =
    /^\D{0,4}\d+[.,]\d+\D{0,4}$|^\d{5,}$/.test(text.trim()) && numberOf(text, undefined) !== null
  return isNumber || (/\d{4}/.test(text) && dayOf(text.trim(), undefined) !== null)
}

const footer =
  /^(?:(?:grand )?totals?\s*(?:$|[:(\d])|summe\s*(?:$|:)|copyright\b|confidential information|generated (?:by|on)\b|report (?:run|generated)\b)/i

/** The columns that the file of refused rows has after those of the original file (refused-file.ts). */
export const ofRefused: readonly string[] = ['line', 'problems']

export function isRefusedFile(columns: readonly string[]): boolean {
  return String(columns.slice(-ofRefused.length)) === String(ofRefused)
}

/** True for the footer of a report: a sum, or its author; also in the file of refused rows. */
export function isFooter({ cells }: Row, columns: readonly string[]): boolean {
  const [first, ...others] = isRefusedFile(columns) ? cells.slice(0, -2) : cells
  return typeof first === 'string' && footer.test(first.trim()) && others.every(cell => cell === '')
}
