/**
 * Detects rows of CSV that have lost a cell (D80), so the cells behind it are in the wrong columns. A writer
 * that omits empty cells at the end of a row omits all of them, so a short row that ends with an empty cell
 * is suspect. Excel is an exception: it pads each block of sixteen rows to the width of its longest row.
 */
import type { Row } from './read.ts'
import { isRefusedFile } from './read-header.ts'
import { placeText } from './read-limits.ts'

const rowsOfExcel = 16

export class LostCells {
  readonly #width: number
  /** true for our file of refused rows, in which undamaged rows have all cells */
  readonly #isOfRefused: boolean
  /** the number of the last row checked */
  #place: number
  /** the most cells of a row in the current block of Excel */
  #most: number

  /** `header`: the names of the columns. `line`: their line. */
  constructor(header: readonly string[], line: number) {
    this.#width = header.findLastIndex(name => name.trim() !== '') + 1
    this.#isOfRefused = isRefusedFile(header)
    this.#place = line
    this.#most = line > 0 ? header.length : 0
  }

  /** The row, with a problem if it has lost a cell. */
  judged(row: Row): Row {
    if (this.#place++ % rowsOfExcel === 0) this.#most = 0
    const { cells, problem } = row
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
