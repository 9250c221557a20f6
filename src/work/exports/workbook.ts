/**
 * XLSX: a workbook with one sheet (Office Open XML, ECMA-376), as a stream (D81). Numbers are numbers and
 * dates are dates; a text is never a formula.
 */
import { plainText } from '../../files/texts.ts'
import type { Cell } from '../../files/write-csv.ts'
import { zipped } from '../../files/write-zip.ts'
import { isNumber } from '../../json.ts'
import { type Column, columnsOf } from './columns.ts'
import { renderRecords, type Source } from './source.ts'

/** A sheet has 1 048 576 rows, one of them the header. */
export const workbookRecordsMax = 1_048_575
/** Maximum characters of a cell; a longer text ends with an ellipsis. */
const textMax = 32_767
/** Excel has no more digits of a number, and no earlier days: such values stay texts. */
const digitsMax = 15
const firstDay = Date.UTC(1900, 2, 1)
const dayZero = Date.UTC(1899, 11, 30)
const dayMs = 86_400_000

export async function* workbook(source: Source): AsyncGenerator<Uint8Array> {
  const { shown, named } = source.request
  const columns = columnsOf(shown, named !== null)
  const fixed = parts.map(([name, xml]) => ({ name, content: once(xml) }))
  yield* zipped([...fixed, { name: 'xl/worksheets/sheet1.xml', content: sheet(source, columns) }])
}

async function* once(xml: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${declaration}${xml}`)
}

async function* sheet(source: Source, columns: readonly Column[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`,
  )
  const letters = columns.map((_, index) => lettersOf(index))
  let row = 1
  const rowOf = (cells: readonly string[]) => `<row r="${row++}">${cells.join('')}</row>`
  yield Buffer.from(rowOf(columns.map(({ name }, index) => textXml(name, `${letters[index]}1`))))
  yield* renderRecords(source, (record, naming) => {
    const at = String(row)
    return rowOf(
      columns.map(({ cell, format }, index) => cellXml(cell(record, naming), format, letters[index]! + at)),
    )
  })
  yield Buffer.from('</sheetData></worksheet>')
}

/** 0 → A, 26 → AA */
function lettersOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : lettersOf(Math.floor(index / 26) - 1) + last
}

function cellXml(cell: Cell, format: string | null, at: string): string {
  if (cell === null) return ''
  if (isNumber(cell)) {
    const text = plainText(cell)
    const digits = text.replace(/\D/g, '').replace(/^0+|0+$/g, '')
    return digits.length > digitsMax ? textXml(text, at) : `<c r="${at}"><v>${text}</v></c>`
  }
  const style = format === null ? undefined : styles[format]
  const moment = style === undefined ? Number.NaN : Date.parse(cell)
  // A text that is no date stays a text.
  if (!(moment >= firstDay)) return textXml(cell, at)
  return `<c r="${at}" s="${style}"><v>${(moment - dayZero) / dayMs}</v></c>`
}

/** The styles of cells, by the format of their texts. */
const styles: { readonly [format: string]: number } = { date: 1, 'date-time': 2 }

function textXml(text: string, at: string): string {
  const cut = text.length > textMax ? `${text.slice(0, textMax - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escaped(cut)}</t></is></c>`
}

const entities: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes text for XML. Characters that XML can't represent are encoded as in Office: `_x0001_`; and so is a
 * text that looks like that.
 */
function escaped(text: string): string {
  if (!unusual.test(text)) return text
  return text
    .replace(/_(?=x[0-9a-fA-F]{4}_)/g, '_x005F_')
    .replace(
      unsayable,
      character => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replace(/[&<>]/g, character => entities[character]!)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const unsayable = /[\0-\x08\x0b\x0c\r\x0e-\x1f\ufffe\uffff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const unusual = /[\0-\x1f&<>\ufffe\uffff]|_x/

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** All parts of the workbook except the sheet, by name. */
const parts: readonly [name: string, xml: string][] = [
  [
    '[Content_Types].xml',
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
  ],
  [
    '_rels/.rels',
    `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
  [
    'xl/workbook.xml',
    `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Records" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  ],
  [
    'xl/_rels/workbook.xml.rels',
    `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
  ],
  [
    'xl/styles.xml',
    `<styleSheet xmlns="${main}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss\\Z"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`,
  ],
]
