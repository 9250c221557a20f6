/**
 * Rows of CSV that have lost a cell (D80): what is behind it stands in the wrong columns. Who leaves out the
 * empty cells at the end of a row leaves out all of them, so a row that is short and ends with one is not so.
 * Excel is: it looks at sixteen rows at a time, and each of them has as many cells as the one with the most.
 */
import type { Row } from './read.ts'
import { isRefusedFile } from './read-header.ts'
import { placeText } from './read-limits.ts'

const rowsOfExcel = 16

export class LostCells {
  readonly #width: number
  /** whether it is our file of refused rows, in which those that have lost nothing are whole */
  readonly #isOfRefused: boolean
  /** the number of the row that was judged last */
  #place: number
  /** the most cells of a row since Excel would have begun to look at rows anew */
  #most: number

  /** `header`: the names of the columns. `line`: where they are. */
  constructor(header: readonly string[], line: number) {
    this.#width = header.findLastIndex(name => name.trim() !== '') + 1
    this.#isOfRefused = isRefusedFile(header)
    this.#place = line
    this.#most = line > 0 ? header.length : 0
  }

  /** The row, with the problem that it has lost a cell. */
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
