/** The distinct texts of each column, as long as there are few: those of options, stages or people. */
import { isBlank } from '../../fields/blank.ts'
import type { Cell } from '../../files/read.ts'
import { copied, isWritten, plainText, shownNumber } from '../../files/texts.ts'
import { isNumber, type Json } from '../../json.ts'

const [textsMax, lengthMax, columnsMax] = [200, 100, 200]

export class ColumnTexts {
  /** columns that have a value in any row */
  readonly #given = new Set<number>()
  /** by column; null: too many or too long for a list of options */
  readonly #columns: (Set<string> | null)[] = []

  add(cells: readonly Cell[]): void {
    for (const [column, cell] of cells.entries())
      if (!this.#given.has(column) && !isBlank(cell)) this.#given.add(column)
    for (let column = 0; column < cells.length && column < columnsMax; column++) {
      const texts = this.#columns[column] === undefined ? new Set<string>() : this.#columns[column]!
      const cell = cells[column]
      if (texts === null || cell === '' || cell === null || cell === undefined) continue
      this.#columns[column] = texts
      for (const text of Array.isArray(cell) ? cell.map(itemOf) : [textOf(cell)])
        if (text === null || text.length > lengthMax) this.#columns[column] = null
        else if (!texts.has(text)) texts.add(copied(text))
      if (texts.size > textsMax) this.#columns[column] = null
    }
  }

  isEmpty(column: number): boolean {
    return !this.#given.has(column)
  }

  of(column: number): string[] | null {
    const texts = this.#columns[column]
    return texts ? [...texts] : null
  }
}

function textOf(cell: Json): string | null {
  const text = isNumber(cell) ? plainText(cell) : isWritten(cell) ? shownNumber(cell) : cell
  return typeof text === 'string' ? text : null
}

/** An item of a list as JSON, in quotation marks if it would be split otherwise. */
function itemOf(item: Json): string | null {
  return typeof item === 'string' && /[",;\r\n]|:::/.test(item) ? JSON.stringify(item) : textOf(item)
}
