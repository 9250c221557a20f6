/** Limits of a file of records, and the refusal of a file that can't be read. Knows no format. */
import { type ErrorSlug, problemAt, Refusal } from '../errors.ts'

export const columnsMax = 1000
/** in characters */
export const cellMax = 1_000_000
export const recordMax = 2_000_000
export const rowsMax = 5_000_000
/** in characters; a longer name of a column is cut */
export const columnNameMax = 255

/** A place in a file; both numbers begin with 1. */
export type Place = { readonly line: number; readonly column?: number }

/** "Line 7, column 3" */
export function placeText({ line, column }: Place): string {
  return column === undefined ? `Line ${line}` : `Line ${line}, column ${column}`
}

/** The refusal of a whole file. `what`: a sentence after the place; `hint`: the remedy. */
export function unreadable(
  place: Place | null,
  what: string,
  hint: string,
  slug: ErrorSlug = 'malformed_request',
): Refusal {
  return refusal(slug, place ? `${placeText(place)}: ${what}` : what, hint, place)
}

/** The refusal of a file for a row's problem, whose message includes its place. */
export function unreadableRow(line: number, message: string, hint: string): Refusal {
  return refusal('malformed_request', message, hint, { line })
}

function refusal(slug: ErrorSlug, message: string, hint: string, place: Place | null): Refusal {
  const problem = { ...problemAt('', 'unreadable_file', message), hint, ...place }
  return new Refusal(slug, `${message} ${hint}`, [problem])
}
