/** CSV: RFC 4180 in UTF-8 with a byte order mark, for Excel; formulas are defused (D81). */
import { type Cell, columnsOf } from './columns.ts'
import { type Source, written } from './source.ts'

/** The header, with internal names, and a line for each record. */
export async function* csv(source: Source): AsyncGenerator<Uint8Array> {
  const { shown, named } = source.request
  const columns = columnsOf(shown, named !== null)
  yield Buffer.from(`\ufeff${lineOf(columns.map(({ name }) => name))}`)
  yield* written(source, (record, naming) => lineOf(columns.map(({ cell }) => cell(record, naming))))
}

/** A line of CSV; formulas in its texts are defused. */
export function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return JSON.stringify(cell)
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
