/** Writes CSV: RFC 4180, for Excel; formulas are defused (D81). */
import type { RawNumber } from '../json.ts'
import { plainText } from './texts.ts'

/** The value of a cell; null: empty. */
export type Cell = string | number | RawNumber | null

/** A line of CSV; formulas in its texts are defused. */
export function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  // Imports and spreadsheets take an exponent for digits that a spreadsheet has lost.
  if (typeof cell !== 'string') return plainText(cell)
  const text = defused(cell)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Text that a spreadsheet may take for a formula, in full width too, after any apostrophes. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/**
 * Guards against CSV injection: a text that begins like a formula gets an apostrophe before it. So does one
 * that begins with apostrophes and then like a formula: else `restored` could not tell the two apart. Numbers
 * are no texts, and stay.
 */
export function defused(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** Inverse of `defused`. */
export function restored(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text
}
