/**
 * Finds the header row of a file: the first row, the first below a title, or the one that was requested.
 * Knows no format.
 */
import type { Row } from './read.ts'
import { unreadable } from './read-limits.ts'
import { dayOf, numberOf } from './texts.ts'

/** How many rows are looked at. */
export const headRows = 20

/**
 * How many of the first rows stand above the names; -1: there are no names. `requested`: the line that
 * has them, 0: none has. Throws a Refusal where the first row is one of values.
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

/** The names of columns where no row has them. */
export function unnamed(rows: readonly Row[]): string[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: width }, (_, index) => `Column ${index + 1}`)
}

/** A title stands alone in its row, and has several words or room below it; so may others after it. */
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

/** Whether a text is an address, a date or an amount, which no column is called. */
function isValue(text: string): boolean {
  if (text.length > 100) return false
  if (/^[^\s@<>]+@[^\s@<>]+\.[a-z]{2,}$/i.test(text.trim())) return true
  const isNumber =
    /^\D{0,4}\d+[.,]\d+\D{0,4}$|^\d{5,}$/.test(text.trim()) && numberOf(text, undefined) !== null
  return isNumber || (/\d{4}/.test(text) && dayOf(text.trim(), undefined) !== null)
}

const footer =
  /^(?:(?:grand )?totals?\s*(?:$|[:(\d])|summe\s*(?:$|:)|copyright\b|confidential information|generated (?:by|on)\b|report (?:run|generated)\b)/i

/** What the file of the refused rows has behind the columns of the file (refused-file.ts). */
export const ofRefused: readonly string[] = ['line', 'problems']

export function isRefusedFile(columns: readonly string[]): boolean {
  return String(columns.slice(-ofRefused.length)) === String(ofRefused)
}

/** Whether a row is what a report puts below its rows: a sum, or who made it; also where it was refused. */
export function isFooter({ cells }: Row, columns: readonly string[]): boolean {
  const [first, ...others] = isRefusedFile(columns) ? cells.slice(0, -2) : cells
  return typeof first === 'string' && footer.test(first.trim()) && others.every(cell => cell === '')
}
