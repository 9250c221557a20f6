/** Cells of a file as texts. Pure. */

/** A cell as a text; one of JSON or Excel may be a number, or a list. */
export function textOf(cell: unknown): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}
