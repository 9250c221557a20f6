/** Cells of a file, as they are shown. Pure. */

/** A cell as a text; one of JSON or Excel may be a number, or a list. */
export function textOf(cell: unknown): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}
