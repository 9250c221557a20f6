/** The rows of a sheet of a workbook, as a stream. Knows no file. */
import type { Cell, Row } from './read.ts'
import type { Batches } from './read-csv.ts'
import { cellMax, columnsMax, recordMax } from './read-limits.ts'
import { type NumberFormat, numberCell } from './read-number-formats.ts'
import { parsed } from './read-xml.ts'

export type SheetContext = {
  readonly strings: readonly string[]
  /** the formats of cells, by style number */
  readonly styles: readonly NumberFormat[]
  readonly is1904: boolean
}

type CellState = { column: number; type: string; style: number; text: string; isFormula: boolean }

/** Rows of texts and numbers. A row ends with its last cell that is not empty; empty rows are left out. */
export async function* sheetRows(content: AsyncIterable<Uint8Array>, context: SheetContext): Batches {
  const reader = new SheetReader(context)
  for await (const _ of parsed(content, reader)) {
    const { rows } = reader
    reader.rows = []
    if (rows.length) yield rows
  }
}

class SheetReader {
  rows: Row[] = []
  readonly #context: SheetContext
  #line = 0
  #cells: Cell[] = []
  #size = 0
  #problem: string | null = null
  #cell: CellState | null = null
  #column = -1
  /** true while the parsed text belongs to the cell's value */
  #isValue = false
  /** true within a phonetic text, which is not part of the value */
  #isSpoken = false

  constructor(context: SheetContext) {
    this.#context = context
  }

  open(name: string, attributes: { readonly [name: string]: string }): void {
    if (name === 'row') this.#beginRow(attributes.r)
    else if (name === 'c') {
      const at = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r)
      this.#column = at
      const [type, style] = [attributes.t ?? 'n', Number(attributes.s ?? 0)]
      this.#cell = { column: at, type, style, text: '', isFormula: false }
    } else if (name === 'v' || name === 't') this.#isValue = this.#cell !== null && !this.#isSpoken
    else if (name === 'rPh') this.#isSpoken = true
    else if (name === 'f' && this.#cell) this.#cell.isFormula = true
  }

  text(text: string): void {
    const cell = this.#cell
    if (!cell || !this.#isValue) return
    if (cell.text.length + text.length > cellMax)
      this.#problem ??= `has more than ${cellMax} characters in a cell. Shorten it.`
    else cell.text += text
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isSpoken = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#endRow()
  }

  #beginRow(number: string | undefined): void {
    const line = Number(number ?? this.#line + 1)
    this.#line = Number.isSafeInteger(line) ? line : this.#line + 1
    this.#cells = []
    this.#size = 0
    this.#column = -1
    this.#problem = null
  }

  #endCell(): void {
    const cell = this.#cell
    this.#cell = null
    // A formula may have an empty text, but it must have a number.
    if (cell?.isFormula && cell.text === '' && cell.type !== 'str')
      this.#problem ??= `has a formula without a result in column ${cell.column + 1}. Open the file in a spreadsheet, and save it.`
    if (!cell || cell.text === '') return
    const value = this.#value(cell)
    if (value === '') return
    if (cell.column >= columnsMax || cell.column < 0) {
      this.#problem ??= `has more than ${columnsMax} columns. Remove some.`
      return
    }
    this.#size += typeof value === 'string' ? value.length : cell.text.length
    if (this.#size > recordMax) {
      this.#problem ??= `has more than ${recordMax} characters. Shorten its texts.`
      return
    }
    while (this.#cells.length < cell.column) this.#cells.push('')
    this.#cells[cell.column] = value
  }

  #value({ type, text, style, column }: CellState): Exclude<Cell, null> {
    const { strings, styles, is1904 } = this.#context
    switch (type) {
      case 's':
        if (strings[Number(text)] === undefined)
          this.#problem ??= `names a text that the workbook does not have, in column ${column + 1}. Save the file again.`
        return this.#sound(strings[Number(text)] ?? '')
      case 'b':
        return text === '1' || text === 'true' ? 'TRUE' : 'FALSE'
      case 'e':
        this.#problem ??= `has the error ${text.slice(0, 20).toWellFormed()} in column ${column + 1}. Correct the formula.`
        return ''
      case 'n':
        return numberCell(text, styles[style] ?? 'number', is1904)
      default:
        return this.#sound(unescaped(text))
    }
  }

  /** Reports a text that the database can't store. */
  #sound(text: string): string {
    if (text.isWellFormed() && !text.includes('\0')) return text
    this.#problem ??= text.includes('\0')
      ? 'has a NUL character. Remove it.'
      : 'has half of a surrogate pair, which is no character. Remove it.'
    return text.replaceAll('\0', '\ufffd').toWellFormed()
  }

  #endRow(): void {
    const [line, cells] = [this.#line, this.#cells]
    if (this.#problem !== null)
      this.rows.push({ line, cells, problem: `Line ${line}: the row ${this.#problem}` })
    else if (cells.length) this.rows.push({ line, cells })
  }
}

/** "AB12" → 27 */
function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < reference.length && at < 4; at++) {
    const letter = reference.charCodeAt(at) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  return column - 1
}

/** Decodes `_x000D_`: workbooks write characters that XML can't contain by their code. */
export function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9a-fA-F]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
}
