/**
 * Detects rows of CSV that have lost a cell (D80), so the cells behind it are in the wrong columns. A writer
 * that omits empty cells at the end of a row omits all of them, so a short row that ends with an empty cell
 * is suspect. Excel is an exception: it pads each block of sixteen rows, empty ones among them, to the width
 * of its longest row.
 */
import type { Cell, Row } from './read.ts'
import { breaksIn } from './read-csv-row.ts'
import { isRefusedFile } from './read-header.ts'
import { placeText } from './read-limits.ts'

const rowsOfExcel = 16

export class LostCells {
  readonly #width: number
  /** true for our file of refused rows, in which undamaged rows have all cells */
  readonly #isOfRefused: boolean
  /** the number of rows up to the last one checked */
  #place: number
  /** the line of the next row, if none is empty before it */
  #line: number
  /** the most cells of a row in the current block of Excel */
  #most: number

  /** `header`: the names of the columns. `line`: their line. */
  constructor(header: readonly string[], line: number) {
    this.#width = header.findLastIndex(name => name.trim() !== '') + 1
    this.#isOfRefused = isRefusedFile(header)
    this.#place = line
    this.#line = line + 1 + breaksOf(header)
    this.#most = line > 0 ? header.length : 0
  }

  /** The row, with a problem if it has lost a cell. */
  judged(row: Row): Row {
    const { line, cells, problem } = row
    const block = blockOf(this.#place)
    this.#place += Math.max(line - this.#line, 0) + 1
    this.#line = line + 1 + breaksOf(cells)
    if (blockOf(this.#place) > block) this.#most = 0
    const { length } = cells
    const isShort = length > 1 && length < this.#width
    const isCut = isShort && length < this.#most && cells[length - 1] === ''
    this.#most = Math.max(this.#most, length)
    if (problem !== undefined || !(isCut || (isShort && this.#isOfRefused))) return row
    return {
      ...row,
      problem:
        `${placeText(row)}: the row has ${length} cells, but there are ${this.#width} columns, and what is ` +
        'missing is not the end of it. Put the cell in where it was, empty if there is no value.',
    }
  }
}

/** The number of the block of Excel that has the last of `rows` rows. */
function blockOf(rows: number): number {
  return Math.ceil(rows / rowsOfExcel)
}

function breaksOf(cells: readonly Cell[]): number {
  return cells.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? breaksIn(cell) : 0), 0)
}
