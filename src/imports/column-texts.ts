/** The different texts of each column, while there are few: those of options, stages or people. */
import { isNumber } from '../json.ts'
import { plainText } from './cell-values.ts'
import type { Cell } from './read.ts'

const [textsMax, lengthMax, columnsMax] = [200, 100, 200]

export class ColumnTexts {
  /** by column; null: too many, or too long, to be those of a list */
  readonly #columns: (Set<string> | null)[] = []

  add(cells: readonly Cell[]): void {
    for (let column = 0; column < cells.length && column < columnsMax; column++) {
      const texts = this.#columns[column] === undefined ? new Set<string>() : this.#columns[column]!
      const cell = cells[column]
      if (texts === null || cell === '' || cell === null || cell === undefined) continue
      this.#columns[column] = texts
      const text = isNumber(cell) ? plainText(cell) : cell
      if (typeof text !== 'string' || text.length > lengthMax) this.#columns[column] = null
      else texts.add(text)
      if (texts.size > textsMax) this.#columns[column] = null
    }
  }

  of(column: number): string[] | null {
    const texts = this.#columns[column]
    return texts ? [...texts] : null
  }
}
