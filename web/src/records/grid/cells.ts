/** Cells in the clipboard format of spreadsheets: rows of texts between tabs. Pure. */
import type { Range } from './grid.ts'

/** A text with a tab, a line break or a quote is enclosed in double quotes, which are doubled inside. */
export function printCells(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return rows.map(row => row.map(cell).join('\t')).join('\n')
}

export function parseCells(text: string): string[][] {
  const rows: string[][] = [[]]
  const pattern = /(?:"((?:[^"]|"")*)"|([^\t\n\r]*))(\t|\r\n|\n|\r|$)/gy
  const whole = text.replace(/(\r\n|\n|\r)$/, '')
  for (let at = 0; at <= whole.length; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const [, quoted, bare = '', end] = pattern.exec(whole) ?? [undefined, undefined, whole.slice(at), '']
    rows.at(-1)!.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'))
    if (end === '') break
    if (end !== '\t') rows.push([])
  }
  return rows
}

/** A text and its target cell. */
type PastedCell = { readonly row: number; readonly column: number; readonly text: string }

/** One text fills the range; several begin at its first cell, and are cut at the grid's edge. */
export function pasteTargets(
  cells: readonly (readonly string[])[],
  range: Range,
  rows: number,
  columns: number,
): PastedCell[] {
  const isOne = cells.length === 1 && cells[0]!.length === 1
  const height = isOne ? range.bottom - range.top + 1 : cells.length
  const found: PastedCell[] = []
  for (let down = 0; down < height; down++) {
    const width = isOne ? range.right - range.left + 1 : cells[down]!.length
    for (let across = 0; across < width; across++) {
      const [row, column] = [range.top + down, range.left + across]
      const text = isOne ? cells[0]![0]! : cells[down]![across]!
      if (row < rows && column < columns) found.push({ row, column, text })
    }
  }
  return found
}
