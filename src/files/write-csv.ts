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

/**
 * A line that can call nothing, as an item of a list, and that no next cell continues. It is looked for once
 * in a line.
 */
const words = /[^(|!#[{"\r\n]*(?:[\r\n]|(?<=[\p{L}\p{N}.])$)/uy
const places = [
  /^'*[=+\-@\t\r\n＝＋－＠]/u,
  /(?<=[;\t])["']*[=+\-@＝＋－＠]/u,
  RegExp(`(?<=[\\r\\n])["']*(?:[=＝＋－＠]|[+\\-@](?!${words.source}))`, 'u'),
]
/**
 * The beginning of a formula, in full width too, after any apostrophes: of a text, or within it behind a
 * semicolon, a tab or a line break. Excel begins a cell there where lists are separated by semicolons, as in
 * German or French: a quotation mark in the middle of such a cell is a character like others.
 */
const formula = RegExp(places.map(({ source }) => source).join('|'), 'gu')

/**
 * Guards against CSV injection: each beginning of a formula gets an apostrophe before it, also one that has
 * apostrophes already: else `restored` could not tell the two apart. Numbers are no texts, and stay.
 */
export function defused(text: string): string {
  return text.replace(formula, "'$&")
}

/** Inverse of `defused`. */
export function restored(text: string): string {
  if (!text.includes("'")) return text
  return text.replace(formula, found => (found.startsWith("'") ? found.slice(1) : found))
}
